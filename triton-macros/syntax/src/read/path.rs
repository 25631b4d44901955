//! What a path or a name may mean, as far as its spelling shows: a function of the language, a constant, a struct.

use quote::ToTokens;
use syn::{Path, Type};
use triton_core::sema::BUILTINS;
use triton_core::types::DType;

/// How a path is looked up.
pub(crate) fn key(path: &Path) -> String {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|segment| segment.arguments = syn::PathArguments::None);
    path.to_token_stream().to_string()
}

/// Whether a path can mean a built-in: it is its name, or goes through the façade's `lang` or `prelude`.
pub(crate) fn names_built_in(path: &Path) -> bool {
    match path.segments.iter().rev().nth(1) {
        None => path.leading_colon.is_none(),
        Some(module) => module.ident == "lang" || module.ident == "prelude",
    }
}

/// Whether a path resolves to a function of the language.
pub(crate) fn is_built_in(path: &Path) -> bool {
    names_built_in(path) && path.segments.last().is_some_and(|last| BUILTINS.iter().any(|b| last.ident == b.name))
}

/// The path to `unroll`, if that is called, with one argument.
pub(crate) fn unroll(call: &syn::ExprCall) -> Option<&Path> {
    let syn::Expr::Path(function) = &*call.func else { return None };
    let named = function.path.segments.last().is_some_and(|last| last.ident == "unroll");
    (named && is_built_in(&function.path) && call.args.len() == 1).then_some(&function.path)
}

/// Whether a name is spelled as constants are.
pub(crate) fn is_screaming(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(char::is_lowercase)
}

/// Whether a path that is an argument may be a function of the user's, if nothing in the body has its name.
pub(crate) fn may_be_function(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(|c: char| c.is_lowercase() || c == '_'))
}

/// Whether a path may be a constant of the user's, if nothing in the body has its name.
pub(crate) fn names_constant(path: &Path) -> bool {
    let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let standard = match segments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // Of an element type: `f32::MAX`; of `std::f32::consts`.
        [.., ty, name] if DType::from_name(ty).is_some() => triton_core::sema::is_associated(name),
        [.., ty, "consts", _] => DType::from_name(ty).is_some(),
        _ => false,
    };
    !standard && segments.last().is_some_and(|last| is_screaming(last))
}

/// The path of a type that may be a struct of the user's: a name of no type of the language, written as structs are.
pub(crate) fn struct_path<'a>(written: &'a Type, generics: &[String]) -> Option<&'a Path> {
    let Type::Path(syn::TypePath { qself: None, path, .. }) = written else { return None };
    let last = path.segments.last()?;
    let name = last.ident.to_string();
    let known = ["Ptr", "PtrMut", "Tile", "Tensor", "TensorMut", "Vec", "Buffer", "String", "Option", "Box", "Self"];
    let plain = last.arguments.is_none() && !known.contains(&name.as_str()) && !generics.contains(&name);
    (plain && name.starts_with(char::is_uppercase) && DType::from_name(&name).is_none()).then_some(path)
}
