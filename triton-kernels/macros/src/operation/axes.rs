//! `#[axes(.., c)]`: what each axis of an operand is.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Token};

/// An axis of an operand.
pub(crate) enum Axis {
    /// `..`: any number of axes, which are merged.
    Rest,
    /// A letter: the same extent wherever it stands.
    Letter(syn::Ident),
    /// An extent that follows from letters and options: `w / 2`, `groups`, `1`.
    Extent(Expr),
}

/// The axes of an operand.
pub(crate) struct Axes(pub(crate) Vec<Axis>);

impl Axes {
    /// The number of `..` among them.
    pub(crate) fn rest(&self) -> Option<usize> {
        self.0.iter().position(|axis| matches!(axis, Axis::Rest))
    }

    /// As messages and documentation have it: `[.., c]`.
    pub(crate) fn text(&self) -> String {
        let text = |axis: &Axis| match axis {
            Axis::Rest => "..".to_string(),
            Axis::Letter(letter) => letter.to_string(),
            Axis::Extent(extent) => extent.to_token_stream().to_string(),
        };
        format!("[{}]", self.0.iter().map(text).collect::<Vec<_>>().join(", "))
    }
}

impl Parse for Axes {
    fn parse(input: ParseStream<'_>) -> syn::Result<Axes> {
        let axes = Punctuated::<Axis, Token![,]>::parse_terminated(input)?;
        let several = axes.iter().filter(|axis| matches!(axis, Axis::Rest)).count() > 1;
        if several { Err(input.error("`..` stands for one run of axes")) } else { Ok(Axes(axes.into_iter().collect())) }
    }
}

impl Parse for Axis {
    fn parse(input: ParseStream<'_>) -> syn::Result<Axis> {
        if input.peek(Token![..]) {
            input.parse::<Token![..]>()?;
            return Ok(Axis::Rest);
        }
        let extent: Expr = input.parse()?;
        let letter = if let Expr::Path(path) = &extent { path.path.get_ident() } else { None };
        let letter = letter.filter(|name| name.to_string().len() == 1).cloned();
        Ok(letter.map_or(Axis::Extent(extent), Axis::Letter))
    }
}

/// Whether an identifier stands in some tokens.
pub(crate) fn names(tokens: TokenStream, name: &syn::Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(found) => found == *name,
        proc_macro2::TokenTree::Group(group) => names(group.stream(), name),
        proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
    })
}
