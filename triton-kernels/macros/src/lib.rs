//! The macros of `triton-kernels`.

mod elementwise;
// The file of `triton-kernels`, so that programs and the macro read a notation alike.
#[allow(unreachable_pub, reason = "what is public in a library is not in a crate of macros")]
mod notation;
mod operation;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Path, Token};

/// A contraction whose notation, and whose numbers of axes, are checked while the program is compiled.
///
/// `contract!("icaq,qbjk->abcijk", x, y => z)` is `contract("icaq,qbjk->abcijk", x, y, z)`: a builder, whose `launch` checks the extents. Operands are views
/// of as many axes as letters, or `Modes` and `ModesMut` of any number.
///
/// `crate = path` in front says where `triton-kernels` is, if it is reached through another crate.
#[proc_macro]
pub fn contract(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse::<Contract>(input).and_then(|contract| contract.expand());
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// An operation of elements, which are broadcast as NumPy does: a closure over tiles becomes a function of operands of any number of axes, types and
/// strides.
///
/// ```text
/// elementwise!(pub axpy, |x: bf16, y: bf16; factor: f32| -> bf16 { x.to::<f32>() * factor + y.to::<f32>() });
/// ```
///
/// What it declares is described in the module `elementwise` of `triton-kernels`.
#[proc_macro]
pub fn elementwise(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse::<elementwise::Elementwise>(input).map(|elementwise| elementwise.expand());
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// An operation of `triton-kernels` as one function: its parameters declare operands and options, its body launches it. The library's own, whose
/// module `operation` the code names.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn operation(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(item).and_then(|function| operation::operation(attribute.into(), function));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// What is written between the parentheses.
struct Contract {
    library: Option<Path>,
    text: LitStr,
    x: Expr,
    y: Expr,
    z: Expr,
}

impl Parse for Contract {
    fn parse(input: ParseStream<'_>) -> syn::Result<Contract> {
        let mut library = None;
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            library = Some(input.call(Path::parse_mod_style)?);
            input.parse::<Token![,]>()?;
        }
        let text = input.parse()?;
        input.parse::<Token![,]>()?;
        let x = input.parse()?;
        input.parse::<Token![,]>()?;
        let y = input.parse()?;
        if !input.peek(Token![=>]) {
            return Err(input.error("the output is expected after `=>`: `contract!(\"ik,kj->ij\", x, y => z)`"));
        }
        input.parse::<Token![=>]>()?;
        let z = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Contract { library, text, x, y, z })
    }
}

impl Contract {
    fn expand(&self) -> syn::Result<TokenStream> {
        let Contract { library, text, x, y, z } = self;
        let fault = |fault: notation::Fault| syn::Error::new(text.span(), fault.to_string());
        let notation = notation::parse(&text.value()).map_err(fault)?;
        let library = match library {
            Some(path) => quote::quote!(#path),
            None => quote::quote!(::triton_kernels),
        };
        let of_rank = |operand: &Expr, name: &str, rank: usize| {
            // What does not fit is an error at the operand.
            let (name, span) = (syn::Ident::new(name, Span::call_site()), operand.span());
            quote_spanned!(span=> #library::contract::#name::<_, #rank>(#operand))
        };
        let [of_x, of_y] = &notation.operands;
        let x = of_rank(x, "of_rank", of_x.len());
        let y = of_rank(y, "of_rank", of_y.len());
        let z = of_rank(z, "of_rank_mut", notation.output.len());
        Ok(quote_spanned!(Span::mixed_site()=> #library::contract::contract(#text, #x, #y, #z)))
    }
}
