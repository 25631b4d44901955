//! The external items of kernels, from `syn` to the compiler's tree: functions, constants, structs of scalars.

use crate::context::{self, Context, Held};
use crate::read::body::{self, types};
use crate::read::{reject, signature};
use syn::{Fields, FnArg, GenericParam, ItemConst, ItemFn, ItemStruct, ReturnType};
use triton_core::ast;
use triton_core::diag::{Code, Diagnostic};
use triton_core::sema::{BUILTINS, reserved};
use triton_core::span::Span;
use triton_core::types::DType;

/// Who wrote a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A user, for kernels.
    User,
    /// We did, as a function of the language.
    Library,
}

/// A function in the compiler's tree, or `None` after an error.
pub(crate) fn function(cx: &mut Context, written: &ItemFn, writer: Writer) -> Option<ast::Function> {
    let sig = &written.sig;
    signature::qualifiers(cx, written, signature::Head::Function);
    let generics: Vec<_> = sig.generics.params.iter().map(|param| signature::generic(cx, param)).collect();
    let names = generic_names(written);
    let params = sig.inputs.iter().map(|arg| {
        let FnArg::Typed(arg) = arg else { return None };
        reject::attributes(cx, &arg.attrs);
        let pattern = body::pattern::convert(cx, &arg.pat);
        let ty = types::of_parameter(cx, &arg.ty).filter(|ty| known_type(cx, ty, &names, writer));
        let (pattern, ty) = (pattern?, ty?);
        if ty.name == ast::Type::FUNCTION {
            own_name(cx, &pattern);
        }
        if let ast::Pattern::Name { name, .. } = &pattern {
            let held = match ty.name.as_str() {
                "Ptr" | "PtrMut" => Some(Held::Pointer),
                "Tensor" | "TensorMut" => Some(Held::View),
                _ => None,
            };
            cx.held.extend(held.map(|held| (name.name.clone(), held)));
        }
        Some((pattern, ty))
    });
    let params: Vec<_> = params.collect();
    let result = match &sig.output {
        ReturnType::Default => Some(ast::Type::named(ast::Type::TUPLE, Span::NONE)),
        ReturnType::Type(_, ty) => types::convert(cx, ty).filter(|ty| known_type(cx, ty, &names, writer)),
    };
    let name = cx.ident(&sig.ident);
    let (body, value) = body::convert_function(cx, &written.block)?;
    if cx.failed() {
        return None;
    }
    let generics = generics.into_iter().collect::<Option<_>>()?;
    let params = params.into_iter().collect::<Option<_>>()?;
    Some(ast::Function { name, generics, params, result: result?, body, value, library: writer == Writer::Library })
}

/// A function as an argument is called by its name, which is not that of a function of the language.
fn own_name(cx: &mut Context, pattern: &ast::Pattern) {
    let ast::Pattern::Name { name, .. } = pattern else { return };
    if BUILTINS.iter().any(|builtin| builtin.name == name.name) || reserved(&name.name).is_some() {
        let message = format!("`{}` is a name of the language", name.name);
        let help = "choose another name: a call of this one is a call of the language's function";
        cx.report(Diagnostic::new(Code::T0129, name.span, message).help(help));
    }
}

/// Whether a parameter of a function can be of this type; otherwise it is reported.
fn known_type(cx: &mut Context, ty: &ast::Type, generics: &[String], writer: Writer) -> bool {
    let element =
        |ty: &ast::Type| ty.args.is_empty() && (DType::from_name(&ty.name).is_some() || generics.contains(&ty.name));
    let good = match (ty.name.as_str(), &ty.args[..]) {
        (ast::Type::TUPLE, parts) => return parts.iter().all(|part| known_type(cx, part, generics, writer)),
        (ast::Type::FUNCTION, parts) => {
            // Structs come by the macros of a function's own parameters.
            let structure = |part: &&ast::Type| {
                part.args.is_empty()
                    && part.name != ast::Type::TUPLE
                    && !element(part)
                    && part.name.starts_with(char::is_uppercase)
            };
            match parts.iter().find(structure) {
                None => return parts.iter().all(|part| known_type(cx, part, generics, writer)),
                Some(_) => false,
            }
        }
        ("Tile", [pointer]) if matches!(pointer.name.as_str(), "Ptr" | "PtrMut") => pointer.args.iter().all(element),
        ("Tile" | "Ptr" | "PtrMut", [elem]) => element(elem),
        // A number or a tile.
        ("Value", [elem]) if writer == Writer::Library => element(elem),
        ("Tensor" | "TensorMut", [elem, _]) => element(elem),
        // Whether it is a struct for kernels, its macro tells.
        (name, []) => element(ty) || ty.structure.is_some() || name.starts_with(char::is_uppercase),
        _ => false,
    };
    if !good {
        let message = format!("a function for kernels cannot take or return `{}`", ty.describe());
        let note = "there are numbers, `bool`, `Tile<T>`, pointers, views, tuples of these, structs with `#[triton::params]`, and functions of these as parameters, `impl Fn(..) -> ..`";
        cx.report(Diagnostic::new(Code::T0005, ty.span, message).note(note));
    }
    good
}

/// A constant is a function of nothing.
pub(crate) fn constant(cx: &mut Context, written: &ItemConst) -> Option<ast::Function> {
    let result = types::convert(cx, &written.ty)?;
    let value = body::expression(cx, &written.expr)?;
    let name = cx.ident(&written.ident);
    let (generics, params, body) = (Vec::new(), Vec::new(), Vec::new());
    Some(ast::Function { name, generics, params, result, body, value: Some(Box::new(value)), library: false })
}

/// A struct of scalars, or `None` after an error.
pub(crate) fn structure(cx: &mut Context, written: &ItemStruct) -> Option<ast::Struct> {
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
        if DType::from_name(&ty.name).is_none() || !ty.args.is_empty() {
            let text = context::spell(&field.ty);
            let message = format!("a field of a struct for kernels is a number or `bool`, not `{text}`");
            cx.error(Code::T0005, &field.ty, message);
            return None;
        }
        fields.push((field.ident.as_ref()?.to_string(), ty));
    }
    Some(ast::Struct { name: written.ident.to_string(), fields })
}

/// The names of a function's generic parameters.
pub(crate) fn generic_names(written: &ItemFn) -> Vec<String> {
    let name = |param: &GenericParam| match param {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(ty) => Some(ty.ident.to_string()),
        GenericParam::Const(constant) => Some(constant.ident.to_string()),
    };
    written.sig.generics.params.iter().filter_map(name).collect()
}
