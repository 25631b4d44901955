//! `#[triton::function]`, `#[triton::constant]` and `#[triton::params]`: what kernels use besides their own bodies.
//!
//! Each leaves the item for rustc and a macro of the same name for kernels ([`crate::link`]). A function's body becomes its
//! twin, since nothing but a kernel calls it.

use crate::body::types;
use crate::collect::{self, Mentioned};
use crate::context::{Context, Names};
use crate::link::{self, Linked, Part};
use crate::{body, depth, environment, signature, twin};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Fields, FnArg, GenericParam, Item, ItemConst, ItemFn, ItemStruct, Path, ReturnType};
use triton_core::ast;
use triton_core::diag::Code;
use triton_core::span::Span;

/// What `#[triton::function]` makes of an item.
pub fn function(args: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(error) = depth::refuse(&item) {
        return error;
    }
    let mut cx = Context::default();
    let Ok(written) = syn::parse2::<ItemFn>(item.clone()) else {
        return refuse(&mut cx, item, "`#[triton::function]` stands on a function with a body, and on nothing else");
    };
    no_options(&mut cx, "function", &args);
    if let Some(receiver) = written.sig.receiver() {
        let problem = cx.diagnostic(Code::T0002, receiver, "a function for kernels takes no `self`: it is no method");
        cx.report(problem.help("move it out of the `impl`"));
        return cx.errors();
    }
    let root = environment::root();
    let editor = environment::in_editor();
    let names = generic_names(&written);
    let mentioned = Mentioned::in_block(&written.block, names.iter().cloned().chain(parameter_names(&written)));
    let own = |path: &Path| path.is_ident(&written.sig.ident);
    if let Some(path) = mentioned.calls.iter().find(|path| own(path)) {
        let message = format!("`{}` calls itself", written.sig.ident);
        let problem = cx.diagnostic(Code::T0001, path, message);
        cx.report(problem.help("a call is replaced by the function's body, so it cannot end in itself: write a loop"));
    }
    if !editor {
        convert(&mut cx, &written, false);
    }
    let errors = cx.errors();
    let twin = if cx.failed() { head(&written) } else { twin_of(&written, &root, editor) };
    if editor {
        return quote!(#twin #errors);
    }
    let paths = needs(&written, &names, mentioned, own);
    let mut bare = written.clone();
    bare.attrs.clear();
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
        return refuse(&mut cx, item, "`#[triton::constant]` stands on a `const`, and on nothing else");
    };
    no_options(&mut cx, "constant", &args);
    convert_constant(&mut cx, &written);
    let errors = cx.errors();
    if environment::in_editor() {
        return quote!(#item #errors);
    }
    let mentioned = Mentioned::in_expr(&written.expr);
    let paths: Vec<Path> = mentioned.calls.into_iter().chain(mentioned.constants).collect();
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
        return refuse(&mut cx, item, "`#[triton::params]` stands on a struct, and on nothing else");
    };
    no_options(&mut cx, "params", &args);
    let fields = convert_struct(&mut cx, &written);
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
    let cx = Context::default();
    let (vis, name) = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(item)) => (item.vis, item.sig.ident),
        Ok(Item::Const(item)) => (item.vis, item.ident),
        Ok(Item::Struct(item)) => (item.vis, item.ident),
        Ok(_) | Err(_) => return TokenStream::new(),
    };
    link::macro_of(&cx, &vis, &name, &item, linked)
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
    for path in typed.filter_map(|ty| collect::struct_path(ty, generics)) {
        if !paths.iter().any(|known| link::key(known) == link::key(path)) {
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

fn generic_names(written: &ItemFn) -> Vec<String> {
    let name = |param: &GenericParam| match param {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(ty) => Some(ty.ident.to_string()),
        GenericParam::Const(constant) => Some(constant.ident.to_string()),
    };
    written.sig.generics.params.iter().filter_map(name).collect()
}

fn parameter_names(written: &ItemFn) -> Vec<String> {
    let names = written.sig.inputs.iter().filter_map(|arg| {
        let FnArg::Typed(arg) = arg else { return None };
        if let syn::Pat::Ident(pat) = &*arg.pat { Some(pat.ident.to_string()) } else { None }
    });
    names.collect()
}

/// The function as rustc shall see it.
fn twin_of(written: &ItemFn, root: &TokenStream, editor: bool) -> TokenStream {
    let mut twin = written.clone();
    *twin.block = twin::of(&written.block, root, editor, &[]).block;
    let allow = quote!(#[allow(clippy::all, clippy::pedantic, clippy::nursery)]);
    quote!(#allow #twin)
}

/// The function without its body, which has errors.
fn head(written: &ItemFn) -> TokenStream {
    let (attrs, vis, sig) = (&written.attrs, &written.vis, &written.sig);
    quote!(#(#attrs)* #[allow(unused, clippy::all)] #vis #sig { ::core::unreachable!() })
}

/// What a kernel uses.
#[derive(Default)]
pub(crate) struct Parts {
    /// Functions and constants.
    pub(crate) functions: Vec<ast::Function>,
    /// Structs of its parameters.
    pub(crate) structs: Vec<ast::Struct>,
}

/// Reads what a kernel uses, functions numbered from `first`. `None` if something has errors, which were reported where it
/// stands.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn parts(cx: &mut Context, linked: &Linked, first: usize) -> Option<Parts> {
    let is_struct = |part: &&Part| matches!(part.item, Item::Struct(_));
    let numbers = |wanted: bool| linked.parts.iter().filter(move |part| is_struct(part) == wanted);
    let functions: Vec<&Part> = numbers(false).collect();
    let structs: Vec<&Part> = numbers(true).collect();
    let names = |paths: &link::Paths| {
        let mut names = Names::default();
        for (path, id) in paths {
            if let Some(index) = functions.iter().position(|part| part.id == *id) {
                names.functions.insert(path.clone(), first + index);
            } else if let Some(index) = structs.iter().position(|part| part.id == *id) {
                names.structs.insert(path.clone(), index);
            } else if let Some(name) = id.strip_prefix(link::BUILT_IN) {
                names.built_ins.insert(path.clone(), name.to_owned());
            }
        }
        names
    };
    let mut read = Parts::default();
    for part in &linked.parts {
        cx.enter(names(&part.paths), part.home != environment::home());
        match &part.item {
            Item::Fn(item) => read.functions.push(convert(cx, item, false)?),
            Item::Const(item) => read.functions.push(convert_constant(cx, item)?),
            Item::Struct(item) => read.structs.push(convert_struct(cx, item)?),
            _ => return None,
        }
    }
    cx.enter(names(&linked.paths), false);
    Some(read)
}

/// A function in the compiler's tree, or `None` after an error.
pub(crate) fn convert(cx: &mut Context, written: &ItemFn, library: bool) -> Option<ast::Function> {
    let sig = &written.sig;
    signature::qualifiers(cx, written, signature::Head::Function);
    let generics: Vec<_> = sig.generics.params.iter().map(|param| signature::generic(cx, param)).collect();
    let names = generic_names(written);
    let params = sig.inputs.iter().map(|arg| {
        let FnArg::Typed(arg) = arg else { return None };
        crate::reject::attributes(cx, &arg.attrs);
        let pattern = body::pattern::convert(cx, &arg.pat);
        let ty = types::convert(cx, &arg.ty).filter(|ty| known_type(cx, ty, &names));
        Some((pattern?, ty?))
    });
    let params: Vec<_> = params.collect();
    let result = match &sig.output {
        ReturnType::Default => Some(ast::Type::named(ast::Type::TUPLE, Span::NONE)),
        ReturnType::Type(_, ty) => types::convert(cx, ty).filter(|ty| known_type(cx, ty, &names)),
    };
    let name = signature::ident(cx, &sig.ident);
    let (body, value) = body::convert_function(cx, &written.block)?;
    if cx.failed() {
        return None;
    }
    let generics = generics.into_iter().collect::<Option<_>>()?;
    let params = params.into_iter().collect::<Option<_>>()?;
    Some(ast::Function { name, generics, params, result: result?, body, value, library })
}

/// Whether a parameter of a function can be of this type; otherwise it is reported.
fn known_type(cx: &mut Context, ty: &ast::Type, generics: &[String]) -> bool {
    let element = |ty: &ast::Type| {
        ty.args.is_empty()
            && (triton_core::ir::types::DType::from_name(&ty.name).is_some() || generics.contains(&ty.name))
    };
    let good = match (ty.name.as_str(), &ty.args[..]) {
        (ast::Type::TUPLE, parts) => return parts.iter().all(|part| known_type(cx, part, generics)),
        ("Tile", [pointer]) if matches!(pointer.name.as_str(), "Ptr" | "PtrMut") => pointer.args.iter().all(element),
        ("Tile" | "Value" | "Ptr" | "PtrMut", [elem]) => element(elem),
        ("Tensor" | "TensorMut", [elem, _]) => element(elem),
        // Whether it is a struct for kernels, its macro tells.
        (name, []) => element(ty) || ty.structure.is_some() || name.starts_with(char::is_uppercase),
        _ => false,
    };
    if !good {
        let message = format!("a function for kernels cannot take or return `{}`", ty.describe());
        let note = "there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, and structs with `#[triton::params]`";
        cx.report(triton_core::diag::Diagnostic::new(Code::T0005, ty.span, message).note(note));
    }
    good
}

/// A constant is a function of nothing.
fn convert_constant(cx: &mut Context, written: &ItemConst) -> Option<ast::Function> {
    let result = types::convert(cx, &written.ty)?;
    let value = body::expression(cx, &written.expr)?;
    let name = signature::ident(cx, &written.ident);
    let (generics, params, body) = (Vec::new(), Vec::new(), Vec::new());
    Some(ast::Function { name, generics, params, result, body, value: Some(Box::new(value)), library: false })
}

fn convert_struct(cx: &mut Context, written: &ItemStruct) -> Option<ast::Struct> {
    let help = "write `struct Name { field: f32, .. }`";
    if !written.generics.params.is_empty() {
        let problem = cx.diagnostic(Code::T0006, &written.generics, "a struct for kernels has no generic parameters");
        cx.report(problem);
        return None;
    }
    let Fields::Named(named) = &written.fields else {
        let problem = cx.diagnostic(Code::T0005, written, "a struct for kernels has fields with names");
        cx.report(problem.help(help));
        return None;
    };
    let mut fields = Vec::new();
    for field in &named.named {
        let ty = types::convert(cx, &field.ty)?;
        if triton_core::ir::types::DType::from_name(&ty.name).is_none() || !ty.args.is_empty() {
            let text = field.ty.to_token_stream().to_string();
            let message = format!("a field of a struct for kernels is a number or `bool`, not `{text}`");
            cx.error(Code::T0005, &field.ty, message);
            return None;
        }
        fields.push((field.ident.as_ref()?.to_string(), ty));
    }
    Some(ast::Struct { name: written.ident.to_string(), fields })
}
