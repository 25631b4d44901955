//! The attribute `#[triton::kernel]`: syntax and glue between rustc and the compiler.
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

/// Compiles a function over tiles to GPU code and turns it into a typed launcher.
///
/// ```text
/// #[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
/// pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) { .. }
/// ```
///
/// | option | meaning |
/// |---|---|
/// | `NAME = [a, b]` | the values of the type or const parameter `NAME`; several lists give every combination |
/// | `configs = [(BM = 64, num_warps = 4), ..]` | combinations written out, each with its own options |
/// | `num_warps = 4` | warps of 32 threads that run one program: 1, 2, 4, 8, 16 or 32 |
/// | `debug_asserts = false` | leaves out what `assert!` checks at run time |
/// | `deterministic = true` | sums are added in one order, by halves, neighbours first: the same bits on every device, with any number of warps (but for the sums inside `dot`) |
/// | `crate = path` | where the façade is, if it is reached through another crate |
///
/// A kernel stands in a module or in a function, not in an `impl`.
///
/// A parameter may carry `#[multiple_of(16)]` (a promise, checked at launch: the integer, or the pointer's address in
/// bytes, is a multiple of it) and `#[general]` (no code of its own for values divisible by 16).
///
/// The function's own parameters are the launcher's: `add::<f32, 1024>(&x, &y, &mut out, n)` gives a launch, and
/// `.launch(&stream, grid)` enqueues it. Launching is `unsafe` if a parameter is a `Ptr` or `PtrMut`;
/// with views (`Tensor`, `TensorMut`) and scalars alone it is safe.
#[proc_macro_attribute]
pub fn kernel(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    kernel_tokens(args.into(), item.into()).into()
}

fn kernel_tokens(args: TokenStream, item: TokenStream) -> TokenStream {
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
