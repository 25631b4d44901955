//! The trait of a kernel's instances: what the launcher is bounded by, and generic host code can name.

use crate::emit::kernel::{Kernel, name_of};
use proc_macro2::TokenStream;
use quote::quote;

/// How many instances an error message names.
const NAMED: usize = 12;

impl Kernel<'_> {
    /// The generic parameters of the instance trait, and its arguments. Of a kernel without any it is a lifetime: with it the bound
    /// on the launcher is checked at calls only; without it a kernel that failed to compile would be reported once more where
    /// it is defined.
    pub(crate) fn trait_generics(&self) -> (TokenStream, TokenStream) {
        let Kernel { declarations, arguments, .. } = self;
        if declarations.is_empty() {
            (quote!(<'a>), quote!(<'a>))
        } else {
            (quote!(<#declarations>), arguments.clone())
        }
    }

    /// The type that stands for the kernels of all programs.
    pub(crate) fn marker(&self) -> TokenStream {
        let root = self.root;
        quote!(#root::Compiled)
    }

    /// rustc's message for an instance that is not in the lists.
    pub(crate) fn unlisted(&self) -> TokenStream {
        let name = self.name();
        let message = format!("kernel `{name}` was not compiled for this instance");
        if self.arguments.is_empty() {
            return quote!(#[diagnostic::on_unimplemented(message = #message)]);
        }
        let names: Vec<String> =
            self.function.sig.generics.params.iter().filter_map(name_of).map(|n| format!("{{{n}}}")).collect();
        let label = format!("`{name}::<{}>` is not in the list", names.join(", "));
        let mut listed: Vec<String> =
            self.instances.iter().take(NAMED).map(|instance| self.spelling(instance)).collect();
        if self.instances.len() > NAMED {
            listed.push(format!("and {} more", self.instances.len() - NAMED));
        }
        let listed = format!("compiled instances of `{name}`: {}", listed.join(", "));
        let extend = format!("add it to the list in `#[triton::kernel(..)]` on `{name}`");
        let plain: Vec<String> =
            self.function.sig.generics.params.iter().filter_map(name_of).map(|n| n.to_string()).collect();
        let generic = format!(
            "generic code asks for it by a bound: `where triton::Compiled: {}<{}>`",
            self.compiled,
            plain.join(", ")
        );
        quote!(#[diagnostic::on_unimplemented(
            message = #message,
            label = #label,
            note = #listed,
            note = #extend,
            note = #generic
        )])
    }
}
