//! Kernels as Rust tokens: syntax and glue between rustc and the compiler.
//!
//! A library, so that tests and tools can do what the attributes of `triton-macros` do.
//!
//! ```text
//! #[kernel] fn ─▶ options, signature, body (syn → ast, with a place for every span)
//!            ─▶ launcher fn + marker type + instance trait       always, so that callers resolve even if the body is wrong
//!            ─▶ compile every instance
//!                 all compiled   ─▶ the twin (rustc's own checks of the body) + one impl of the trait for each instance
//!                 errors         ─▶ compile_error!s + an impl for every instance; no twin, so nothing is said twice
//!                 rustc's to say ─▶ the twin as a closure, with a panic behind it in case rustc accepts it
//!            in an editor: launcher + twin, nothing is compiled
//! ```
//!
//! **Invariant:** no typing decision is made here, and no message is about a type of this crate or of the compiler.

extern crate proc_macro;

mod body;
mod compile;
mod context;
mod embed;
mod environment;
mod expand;
mod instances;
mod options;
mod reject;
mod signature;
mod suggest;
mod twin;

use context::Context;
use proc_macro2::TokenStream;
use quote::quote;
use triton_core::diag::Code;

/// What `#[triton::kernel(args)]` makes of an item.
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut cx = Context::default();
    let options = options::read(&mut cx, args);
    let function = match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            cx.error(Code::T0001, &item, "`#[triton::kernel]` stands on a function with a body, and on nothing else");
            let errors = cx.errors();
            return quote!(#item #errors);
        }
    };
    let root = options.root.clone().unwrap_or_else(environment::root);
    let Some(signature) = signature::read(&mut cx, &function) else { return cx.errors() };
    let instances = instances::list(&mut cx, &options, &signature, &function.sig.ident);
    let editor = environment::in_editor();
    let kernel = expand::Kernel::new(&root, &function, &signature, &instances, editor);
    let launcher = kernel.launcher();
    if editor {
        let errors = cx.errors();
        let twin = kernel.twin();
        return quote!(#launcher #twin #errors);
    }
    let body = body::convert(&mut cx, &function.block);
    let (Some(body), false) = (body, cx.failed()) else {
        let (any, errors) = (kernel.accept_every_instance(), cx.errors());
        return quote!(#launcher #any #errors);
    };
    let rest = match compile::all(&mut cx, &function.sig.ident, &signature, body, &instances) {
        compile::Outcome::Compiled(compiled) => {
            let impls = instances.iter().zip(&compiled).map(|(i, variants)| kernel.instance(i, variants));
            let twin = kernel.twin();
            quote!(#twin #(#impls)*)
        }
        compile::Outcome::Wrong => {
            let (any, errors) = (kernel.accept_every_instance(), cx.errors());
            quote!(#any #errors)
        }
        compile::Outcome::Deferred { instance, text, place } => {
            let (twin, any) = (kernel.twin_of(&cx, &instances[instance], &text, place), kernel.accept_every_instance());
            quote!(#twin #any)
        }
    };
    quote!(#launcher #rest)
}
