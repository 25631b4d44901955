//! `#[operation(Builder)]`: an operation is one function, whose parameters declare its operands and options, and whose body launches it.

mod axes;
mod declaration;
mod expand;
mod launch;

use declaration::Declaration;
use proc_macro2::TokenStream;
use syn::ItemFn;

/// The builder, the function that returns it, and its launch.
pub(crate) fn operation(attribute: TokenStream, function: ItemFn) -> syn::Result<TokenStream> {
    let declaration = Declaration::new(syn::parse2(attribute)?, function)?;
    Ok(expand::expand(&declaration))
}
