//! `#[triton::function]`, `#[triton::constant]` and `#[triton::params]`: the external items of kernels.
//!
//! Each leaves the item for rustc and a macro of the same name for kernels ([`mod@crate::link`]). A function's body becomes its
//! twin, since nothing but a kernel calls it.

use crate::context::Context;
use crate::emit::twin;
use crate::emit::types::Qualifier;
use crate::environment;
use crate::link::collect::Mentioned;
use crate::link::{self, Linked};
use crate::read::items::{self, Writer};
use crate::read::path::{key, struct_path};
use crate::read::{configure, depth, scope, surroundings};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, Item, ItemConst, ItemFn, ItemStruct, Path, Stmt};
use triton_core::diag::Code;
use triton_core::sema::{BUILTINS, reserved};

/// What `#[triton::function]` makes of an item.
pub fn function(args: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(error) = depth::refuse(&item) {
        return error;
    }
    let mut cx = Context::default();
    let Ok(written) = syn::parse2::<ItemFn>(item.clone()) else {
        return refuse(&mut cx, item, "`#[triton::function]` is for a function with a body, and for nothing else");
    };
    no_options(&mut cx, "function", &args);
    if let Some(receiver) = written.sig.receiver() {
        let problem =
            cx.diagnostic(Code::T0002, receiver, "a function for kernels takes no `self`: it is not a method");
        cx.report(problem.help("move it out of the `impl`"));
        return cx.errors();
    }
    if surroundings::refuse_associated(&mut cx, &written, "a function for kernels") {
        return cx.errors();
    }
    let root = environment::root();
    if let Some(both) = configure::both(&written, &quote!(#root::function)) {
        return both;
    }
    let name = &written.sig.ident;
    if BUILTINS.iter().any(|builtin| name == builtin.name) || reserved(&name.to_string()).is_some() {
        let message = format!("`{name}` is a name of the language");
        let problem = cx.diagnostic(Code::T0129, name, message);
        cx.report(problem.help("choose another name: in a kernel this one is the language's"));
        return cx.errors();
    }
    let editor = environment::in_editor();
    let names = items::generic_names(&written);
    let mut mentioned = Mentioned::in_block(&written.block, names.iter().cloned().chain(parameter_names(&written)));
    // A function that it is given is called by its name, too, and comes from no macro.
    let given = parameter_names(&written);
    mentioned.calls.retain(|path| !path.get_ident().is_some_and(|name| given.iter().any(|given| name == given)));
    let own = |path: &Path| path.is_ident(&written.sig.ident);
    if let Some(path) = mentioned.calls.iter().find(|path| own(path)) {
        let message = format!("`{}` calls itself", written.sig.ident);
        let problem = cx.diagnostic(Code::T0015, path, message);
        cx.report(problem.help("calls are inlined, so a function cannot call itself: write a loop"));
    }
    let mut paths = needs(&written, &names, mentioned, own);
    if !editor {
        items::function(&mut cx, &written, Writer::User);
        surroundings::refuse_plain_uses(&mut cx, &written, &mut paths);
        scope::refuse_unknown(&mut cx, &mut paths);
    }
    let errors = cx.errors();
    let twin = if cx.failed() { head(&written, &root, editor) } else { twin_of(&written, &root, editor) };
    if editor {
        return quote!(#twin #errors);
    }
    let mut bare = written.clone();
    bare.attrs.clear();
    if cx.failed() {
        // Kernels that call it are silent if its body cannot be read.
        *bare.block = syn::parse_quote!({ async {} });
        paths.clear();
    }
    let link = leave(&root, &paths, &quote!(#bare));
    quote!(#twin #errors #link)
}

/// What `#[triton::constant]` makes of an item.
pub fn constant(args: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(error) = depth::refuse(&item) {
        return error;
    }
    let mut cx = Context::default();
    let Ok(written) = syn::parse2::<ItemConst>(item.clone()) else {
        return refuse(&mut cx, item, "`#[triton::constant]` is for a `const`, and for nothing else");
    };
    no_options(&mut cx, "constant", &args);
    items::constant(&mut cx, &written);
    let mentioned = Mentioned::in_expr(&written.expr);
    let mut paths: Vec<Path> = mentioned.calls.into_iter().chain(mentioned.constants).collect();
    surroundings::refuse_plain_uses_of_constant(&mut cx, &written, &mut paths);
    let errors = cx.errors();
    if environment::in_editor() {
        return quote!(#item #errors);
    }
    let mut bare = written.clone();
    bare.attrs.clear();
    let link = leave(&environment::root(), &paths, &quote!(#bare));
    quote!(#item #errors #link)
}

/// What `#[triton::params]` makes of an item.
pub fn params(args: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(error) = depth::refuse(&item) {
        return error;
    }
    let mut cx = Context::default();
    let Ok(written) = syn::parse2::<ItemStruct>(item.clone()) else {
        return refuse(&mut cx, item, "`#[triton::params]` is for a struct, and for nothing else");
    };
    no_options(&mut cx, "params", &args);
    let fields = items::structure(&mut cx, &written);
    let errors = cx.errors();
    let Some(_) = fields else { return quote!(#item #errors) };
    let root = environment::root();
    let (name, count) = (&written.ident, written.fields.len());
    let fields = written.fields.iter().map(|field| &field.ident);
    let passed = quote! {
        impl #root::__private::Params for #name {
            const COUNT: usize = #count;
            fn pass(self, to: &mut #root::__private::Slots<'_, '_>) {
                #(to.put(#root::__private::LaunchArg::scalar(self.#fields));)*
            }
        }
    };
    if environment::in_editor() {
        return quote!(#item #passed #errors);
    }
    let mut bare = written.clone();
    bare.attrs.clear();
    let link = leave(&root, &[], &quote!(#bare));
    quote!(#item #passed #errors #link)
}

/// What `link!` makes of a function whose paths are known: the macro that it leaves.
pub(crate) fn finish(item: TokenStream, linked: &Linked) -> TokenStream {
    let (vis, name) = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(item)) => (item.vis, item.sig.ident),
        Ok(Item::Const(item)) => (item.vis, item.ident),
        Ok(Item::Struct(item)) => (item.vis, item.ident),
        Ok(_) | Err(_) => return TokenStream::new(),
    };
    link::macro_of(&vis, &name, &item, linked)
}

fn leave(root: &TokenStream, paths: &[Path], item: &TokenStream) -> TokenStream {
    if paths.is_empty() {
        finish(item.clone(), &Linked::default())
    } else {
        link::ask(root, paths, quote!(function { #item }))
    }
}

/// What a function needs: functions, constants, and structs of its parameters.
fn needs(written: &ItemFn, generics: &[String], mentioned: Mentioned, own: impl Fn(&Path) -> bool) -> Vec<Path> {
    let typed =
        written.sig.inputs.iter().filter_map(|arg| if let FnArg::Typed(arg) = arg { Some(&*arg.ty) } else { None });
    let mut paths: Vec<Path> =
        mentioned.calls.into_iter().filter(|path| !own(path)).chain(mentioned.constants).collect();
    for path in typed.filter_map(|ty| struct_path(ty, generics)) {
        if !paths.iter().any(|known| key(known) == key(path)) {
            paths.push(path.clone());
        }
    }
    paths
}

fn refuse(cx: &mut Context, item: TokenStream, message: &str) -> TokenStream {
    cx.error(Code::T0001, &item, message);
    let errors = cx.errors();
    quote!(#item #errors)
}

fn no_options(cx: &mut Context, name: &str, args: &TokenStream) {
    if !args.is_empty() {
        cx.error(Code::T0007, args, format!("`#[triton::{name}]` has no options"));
    }
}

fn parameter_names(written: &ItemFn) -> Vec<String> {
    let names = written.sig.inputs.iter().filter_map(|arg| {
        let FnArg::Typed(arg) = arg else { return None };
        if let syn::Pat::Ident(pat) = &*arg.pat { Some(pat.ident.to_string()) } else { None }
    });
    names.collect()
}

/// The function as rustc sees it.
fn twin_of(written: &ItemFn, root: &TokenStream, editor: bool) -> TokenStream {
    let mut twin = written.clone();
    twin.sig = Qualifier { root, editor }.signature(&written.sig);
    let body = twin::of(&written.block, root, editor, &[]);
    *twin.block = body.block;
    // The functions of the language are in scope in the body, and not in the user's module. Those that it calls: others may
    // be names of its parameters.
    let called = body.called.iter().filter_map(Path::get_ident);
    let functions = if editor { quote!(*) } else { quote!({#(#called),*}) };
    let imports = quote!(#[allow(unused_imports)] use #root::lang::{Scalar as _, functions::#functions};);
    twin.block.stmts.insert(0, Stmt::Item(Item::Verbatim(imports)));
    if !editor {
        // A public function has code, and a call of a stub must not: rustc checks the body as that of a closure that nothing calls.
        let (body, result) = (&twin.block, &twin.sig.output);
        let result = if let syn::ReturnType::Type(_, ty) = result { quote!(#ty) } else { quote!(()) };
        *twin.block = syn::parse_quote!({
            let _twin = move || -> #result #body;
            #root::__private::not_compiled()
        });
    }
    let allow = quote!(#[allow(overflowing_literals, clippy::all, clippy::pedantic, clippy::nursery)]);
    quote!(#allow #twin)
}

/// The function without its body, which has errors.
fn head(written: &ItemFn, root: &TokenStream, editor: bool) -> TokenStream {
    let (attrs, vis) = (&written.attrs, &written.vis);
    let sig = Qualifier { root, editor }.signature(&written.sig);
    quote!(#(#attrs)* #[allow(unused, clippy::all)] #vis #sig { ::core::unreachable!() })
}
