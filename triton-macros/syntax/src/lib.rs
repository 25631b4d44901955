//! Kernels as Rust tokens: syntax and glue between rustc and the compiler.
//!
//! A library, so that tests and tools can do what the attributes of `triton-macros` do.
//!
//! ```text
//! #[kernel] fn
//!   read/  ─▶ options, signature, body (syn → ast, with tokens for every span)
//!   link/  ─▶ if it uses functions, constants or structs: hidden macros gather them, and then
//!   emit/  ─▶ launcher fn + instance trait                     always, so that callers resolve even if the body is wrong
//!          ─▶ compile every instance
//!               all compiled   ─▶ the twin (rustc's own checks of the body) + one impl of the trait for each instance
//!               errors         ─▶ compile_error!s + an impl for every instance; no twin, so nothing is reported twice
//!               rustc's to say ─▶ the twin as a closure, followed by a panic in case rustc accepts it
//!             in an editor: launcher + twin, nothing is compiled
//! ```
//!
//! Beside the folders: `build_cache`, what was compiled before; `deflate`, texts as they are embedded; `context`, spans and errors, and `environment`, rustc or an editor, which all of them know; `function`, the
//! attributes of what kernels use, which, like this file, knows all of them; `source`, kernels of a text that is read at run time.
//!
//! **Invariant:** no typing decision is made here, and no message is about a type of this crate or of the compiler.

extern crate proc_macro;

mod build_cache;
mod context;
mod deflate;
mod emit;
mod environment;
mod function;
mod link;
mod manifest;
mod read;
mod source;

use context::Context;
use emit::compile::{self, Outcome};
use emit::kernel::Kernel;
use link::library;
use link::parts::{self, Parts};
use link::{Head, Linked, Request};
use proc_macro2::TokenStream;
use quote::quote;
use read::tune::Tune;
use read::{body, configure, depth, instances, options, path, scope, signature, surroundings};
use triton_core::diag::Code;

pub use function::{constant, function, params};
pub use source::Source;

/// What `#[triton::kernel(args)]` makes of an item.
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(error) = depth::refuse(&args).or_else(|| depth::refuse(&item)) {
        return error;
    }
    let mut cx = Context::default();
    let options = options::read(&mut cx, args.clone());
    let function = match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let message = "`#[triton::kernel]` is for a function with a body, and for nothing else";
            let problem = cx.diagnostic(Code::T0001, &item, message);
            cx.report(problem.help("write `fn name(..) { .. }`"));
            let errors = cx.errors();
            return quote!(#item #errors);
        }
    };
    let root = options.root.clone().unwrap_or_else(environment::root);
    if let Some(both) = configure::both(&function, &quote!(#root::kernel(#args))) {
        return both;
    }
    let Some(signature) = signature::read(&mut cx, &function) else { return cx.errors() };
    if surroundings::refuse_associated(&mut cx, &function, "a kernel") {
        return cx.errors();
    }
    let instances = instances::list(&mut cx, &options, &signature, &function.sig.ident);
    let tune = Tune::read(&mut cx, &options, &signature, &function.sig.ident);
    let editor = environment::in_editor();
    let mut kernel = Kernel::new(&root, &function, &signature, &instances, editor);
    kernel.warnings = options.warnings;
    kernel.tune = tune;
    let launcher = kernel.launcher();
    if editor {
        let errors = cx.errors();
        let twin = kernel.twin(&[]);
        return quote!(#launcher #twin #errors);
    }
    let request = Request { asked: Vec::new(), args, item };
    let mut uses = kernel.uses();
    if uses.is_empty() || cx.failed() {
        let rest = code(cx, &kernel, &Linked::default(), Some(Parts::default()), &request);
        return quote!(#launcher #rest);
    }
    if surroundings::refuse_plain_uses(&mut cx, &function, &mut uses) {
        return cx.errors();
    }
    scope::refuse_unknown(&mut cx, &mut uses);
    // Syntax errors are reported now, and not hidden by a function that cannot be found.
    if body::convert(&mut cx, &function.block).is_none() || cx.failed() {
        let (any, errors) = (kernel.accept_every_instance(), cx.errors());
        return quote!(#launcher #any #errors);
    }
    let (head, link) = (kernel.head(), request.ask(&root, &uses));
    quote!(#launcher #head #link)
}

/// What the calls of hidden macros end in, which gather what a kernel or function uses: `link! { .. }`.
pub fn link(tokens: TokenStream) -> TokenStream {
    if let Some(error) = depth::refuse(&tokens) {
        return error;
    }
    let whole = link::read(tokens.clone()).and_then(|(head, linked)| Some((link::head(head)?, linked)));
    match whole {
        Some((Head::Kernel(request), linked)) => linked_kernel(request, &linked),
        Some((Head::Function(item), linked)) => function::finish(item, &linked),
        None => {
            let mut cx = Context::default();
            cx.error(Code::T0001, &tokens, "this is called by the attributes of `triton`, not by hand");
            cx.errors()
        }
    }
}

/// The hidden macros of the functions of the language, for the module that declares these.
pub fn built_ins() -> TokenStream {
    link::macros_of_built_ins()
}

/// The second half of [`kernel`], when what it uses is known.
fn linked_kernel(mut request: Request, linked: &Linked) -> TokenStream {
    let mut cx = Context::default();
    let parts = parts::read(&mut cx, linked, library::functions().len());
    let options = options::read(&mut cx, request.args.clone());
    let Ok(function) = syn::parse2::<syn::ItemFn>(request.item.clone()) else { return TokenStream::new() };
    let root = options.root.clone().unwrap_or_else(environment::root);
    let Some(signature) = signature::read(&mut cx, &function) else { return TokenStream::new() };
    let instances = instances::list(&mut cx, &options, &signature, &function.sig.ident);
    let structs = parts.as_ref().map_or(Vec::new(), |parts| parts.structs.clone());
    let mut kernel = Kernel::new(&root, &function, &signature, &instances, false);
    kernel.structs = &structs;
    kernel.warnings = options.warnings;
    kernel.tune = Tune::read(&mut cx, &options, &signature, &function.sig.ident);
    // A path that is not a constant has been reported.
    request.asked.retain(|path| linked.paths.contains_key(&path::key(path)));
    code(cx, &kernel, linked, parts, &request)
}

/// Everything but the launcher.
fn code(mut cx: Context, kernel: &Kernel<'_>, linked: &Linked, parts: Option<Parts>, request: &Request) -> TokenStream {
    // Errors in a function are reported at its definition.
    let Some(parts) = parts else { return kernel.accept_every_instance() };
    cx.names.outers = kernel.outers(linked);
    let body = body::convert(&mut cx, &kernel.function.block);
    let (Some(body), false) = (body, cx.failed()) else {
        let (any, errors) = (kernel.accept_every_instance(), cx.errors());
        return quote!(#any #errors);
    };
    let has_type = |path: &syn::Path| surroundings::may_be_for_kernels(kernel.function, path);
    match compile::all(&mut cx, kernel, body, parts, has_type) {
        Outcome::Compiled(compiled) => {
            let (code, warnings) = (kernel.compiled(&cx.names.outers, &compiled), cx.warnings());
            quote!(#code #warnings)
        }
        Outcome::Needed(needed) => {
            let mut request = request.clone();
            request.asked.extend(needed.iter().filter_map(|&index| cx.names.outers.get(index).cloned()));
            surroundings::refuse_plain_uses(&mut cx, kernel.function, &mut request.asked);
            if cx.failed() {
                let (any, errors) = (kernel.accept_every_instance(), cx.errors());
                return quote!(#any #errors);
            }
            let uses: Vec<_> = kernel.uses().into_iter().chain(request.asked.iter().cloned()).collect();
            let (head, link) = (kernel.head(), request.ask(kernel.root, &uses));
            quote!(#head #link)
        }
        Outcome::Wrong => {
            let (any, errors) = (kernel.accept_every_instance(), cx.errors());
            quote!(#any #errors)
        }
        Outcome::Deferred { instance, text, span } => {
            let twin = kernel.twin_of(&cx, &kernel.instances[instance], &text, span);
            let any = kernel.accept_every_instance();
            quote!(#twin #any)
        }
    }
}
