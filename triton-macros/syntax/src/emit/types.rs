//! The language's `Tensor` in what rustc sees: `Tensor<T, 2>` becomes `::triton::lang::Tensor<T, 2>`.
//!
//! The reader knows a type by its name alone. So does rustc now, whatever `Tensor` is in the user's scope: the host's of the prelude, or
//! another library's. No other library has the names of the language's other types, which are looked up as they are written: an
//! import that nothing but them needs is then used.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, ReturnType, Signature, Type, TypePath};

/// Writes the language's path of the type.
pub(crate) struct Qualifier<'a> {
    pub(crate) root: &'a TokenStream,
    pub(crate) editor: bool,
}

impl Qualifier<'_> {
    /// A type of a parameter.
    pub(crate) fn of(&self, written: &Type) -> Type {
        let mut ty = written.clone();
        Qualifier { root: self.root, editor: self.editor }.visit_type_mut(&mut ty);
        ty
    }

    /// The types of parameters and of the result.
    pub(crate) fn signature(&self, written: &Signature) -> Signature {
        let mut signature = written.clone();
        for input in &mut signature.inputs {
            if let FnArg::Typed(input) = input {
                *input.ty = self.of(&input.ty);
            }
        }
        if let ReturnType::Type(_, ty) = &mut signature.output {
            **ty = self.of(ty);
        }
        signature
    }

    /// The path of a type, if it is the bare name.
    pub(crate) fn qualify(&self, ty: &mut TypePath) {
        let Some(segment) = ty.path.segments.first().filter(|segment| segment.ident == "Tensor") else { return };
        if ty.qself.is_some() || ty.path.leading_colon.is_some() || ty.path.segments.len() > 1 {
            return;
        }
        // The name itself keeps its span, so that an editor shows what it is.
        let span = if self.editor { Span::call_site() } else { segment.ident.span() };
        let root = respan(self.root.clone(), span);
        let Ok(mut path) = syn::parse2::<syn::Path>(quote_spanned!(span=> #root::lang)) else { return };
        path.segments.push(segment.clone());
        ty.path = path;
    }
}

impl VisitMut for Qualifier<'_> {
    fn visit_type_path_mut(&mut self, ty: &mut TypePath) {
        visit_mut::visit_type_path_mut(self, ty);
        self.qualify(ty);
    }
}

/// The same tokens, all with one span.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    moved.collect()
}
