//! The signature of a kernel: generic parameters and parameters.

use crate::context::{Context, Held, spell};
use crate::read::body::types;
use crate::read::path::struct_path;
use crate::read::suggest::quoted;
use proc_macro2::Ident;
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, ExprLit, FnArg, GenericArgument, GenericParam, ItemFn, Lit, Pat, PatType, PathArguments,
    ReturnType, Safety, Type,
};
use triton_core::ast::{self, GenericKind, ParamKind};
use triton_core::diag::{Code, Diagnostic};
use triton_core::types::DType;

/// The types that a generic constant can have.
const CONSTANTS: [DType; 5] = [DType::I32, DType::I64, DType::U32, DType::U64, DType::Bool];

/// The signature of a kernel.
pub(crate) struct Signature {
    /// Type and const parameters.
    pub(crate) generics: Vec<ast::Generic>,
    /// The names of those that are wrong, which is reported.
    pub(crate) wrong_generics: Vec<String>,
    /// Parameters.
    pub(crate) params: Vec<Parameter>,
}

impl Signature {
    /// The kinds of the generic parameters.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = GenericKind> {
        self.generics.iter().map(|generic| generic.kind)
    }

    /// The names that can have lists of values.
    pub(crate) fn generic_names(&self) -> Vec<&str> {
        let good = self.generics.iter().map(|generic| generic.name.name.as_str());
        good.chain(self.wrong_generics.iter().map(String::as_str)).collect()
    }
}

/// One parameter.
pub(crate) struct Parameter {
    /// Its name, or a generated one, so that the launcher can be emitted.
    pub(crate) name: Ident,
    /// What it is, unless that is wrong (and reported).
    pub(crate) ast: Option<ast::Param>,
}

/// Reads the signature of a kernel. `None` if not even a launcher can be generated; the reason is reported.
pub(crate) fn read(cx: &mut Context, function: &ItemFn) -> Option<Signature> {
    let sig = &function.sig;
    if let Some(receiver) = sig.receiver() {
        let problem = cx.diagnostic(Code::T0002, receiver, "a kernel takes no `self`: it is a function, not a method");
        cx.report(problem.help("move it out of the `impl`"));
        return None;
    }
    qualifiers(cx, function, Head::Kernel);
    let (mut generics, mut wrong_generics) = (Vec::<ast::Generic>::new(), Vec::new());
    for param in &sig.generics.params {
        match (generic(cx, param), param) {
            (Some(generic), _) => generics.push(generic),
            (None, GenericParam::Const(constant)) => wrong_generics.push(constant.ident.unraw().to_string()),
            (None, GenericParam::Type(_) | GenericParam::Lifetime(_)) => {}
        }
    }
    let names: Vec<String> =
        generics.iter().filter(|g| g.kind == GenericKind::Type).map(|g| g.name.name.clone()).collect();
    let mut params = Vec::new();
    for (index, arg) in sig.inputs.iter().enumerate() {
        let FnArg::Typed(arg) = arg else { continue };
        let name =
            if let Pat::Ident(pat) = &*arg.pat { pat.ident.clone() } else { format_ident!("argument_{}", index) };
        params.push(Parameter { name, ast: param(cx, arg, &names) });
    }
    Some(Signature { generics, wrong_generics, params })
}

/// What a signature belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// A kernel.
    Kernel,
    /// A function that kernels call.
    Function,
}

/// Reports what a signature may not have.
pub(crate) fn qualifiers(cx: &mut Context, function: &ItemFn, head: Head) {
    let sig = &function.sig;
    let (what_it_is, help) = match head {
        Head::Kernel => ("a kernel", "a kernel is a plain function: `fn name(..) { .. }`"),
        Head::Function => ("a function for kernels", "write a plain function: `fn name(..) -> Tile<f32> { .. }`"),
    };
    let mut wrong = |node: &dyn ToTokens, what: &str| {
        let tokens = node.to_token_stream();
        let problem = cx.diagnostic(Code::T0003, &tokens, format!("{what_it_is} cannot be {what}")).help(help);
        cx.report(problem);
    };
    if let Some(token) = &sig.asyncness {
        wrong(token, "`async`: launching one returns at once");
    }
    if let Some(token) = &sig.constness {
        wrong(token, "`const`");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        wrong(token, "`unsafe`: launching one is, if it takes raw pointers");
    }
    if let Some(abi) = &sig.abi {
        wrong(abi, "`extern`");
    }
    if let Some(variadic) = &sig.variadic {
        wrong(variadic, "variadic");
    }
    if let (ReturnType::Type(_, _), Head::Kernel) = (&sig.output, head) {
        let problem = cx.diagnostic(Code::T0003, &sig.output, "a kernel returns nothing");
        cx.report(
            problem.help("write results through a parameter: `PtrMut<T>` with `store(..)`, or `TensorMut<T, RANK>`"),
        );
    }
}

/// A generic parameter, or `None` after an error.
pub(crate) fn generic(cx: &mut Context, param: &GenericParam) -> Option<ast::Generic> {
    match param {
        GenericParam::Lifetime(lifetime) => {
            let problem = cx.diagnostic(
                Code::T0006,
                lifetime,
                format!("the lifetime parameter `{}` is not part of the kernel language", lifetime.lifetime),
            );
            cx.report(
                problem.help("remove it: nothing in a kernel is borrowed, and a launch borrows its buffers by itself"),
            );
            None
        }
        GenericParam::Type(ty) => Some(ast::Generic { name: cx.ident(&ty.ident), kind: GenericKind::Type }),
        GenericParam::Const(constant) => {
            let name = cx.ident(&constant.ident);
            let found =
                if let Type::Path(path) = &constant.ty { path.path.get_ident().map(ToString::to_string) } else { None };
            let dtype = found.as_deref().and_then(DType::from_name).filter(|d| CONSTANTS.contains(d));
            if dtype.is_none() {
                let text = spell(&constant.ty);
                let problem =
                    cx.diagnostic(Code::T0014, &constant.ty, format!("a generic constant cannot be of type `{text}`"));
                cx.report(problem.help(format!("use one of {}", quoted(CONSTANTS.map(DType::name)))));
            }
            Some(ast::Generic { name, kind: GenericKind::Const(dtype?) })
        }
    }
}

fn param(cx: &mut Context, arg: &PatType, generics: &[String]) -> Option<ast::Param> {
    let plain = if let Pat::Ident(pat) = &*arg.pat { pat.by_ref.is_none() && pat.subpat.is_none() } else { false };
    let mutable = if let Pat::Ident(pat) = &*arg.pat { pat.mutability } else { None };
    if !plain {
        let text = spell(&arg.pat);
        let problem =
            cx.diagnostic(Code::T0004, &arg.pat, format!("a kernel's parameter is a plain name, not `{text}`"));
        cx.report(problem.help("give it a name, and destructure it in the body"));
    } else if mutable.is_some() {
        let problem = cx.diagnostic(Code::T0004, &arg.pat, "a kernel's parameter cannot be `mut`");
        cx.report(problem.help("shadow it in the body: `let mut x = x;`"));
    }
    // The parts of a pattern have types of their own.
    let ty = if plain { parameter_type(cx, &arg.ty, generics) } else { None };
    let (multiple_of, general) = attributes(cx, &arg.attrs, ty.as_ref());
    let Pat::Ident(pat) = &*arg.pat else { return None };
    let (kind, elem) = ty?;
    let held = match kind {
        ParamKind::Ptr | ParamKind::PtrMut => Some(Held::Pointer),
        ParamKind::Tensor(_) | ParamKind::TensorMut(_) => Some(Held::View),
        ParamKind::Scalar | ParamKind::Struct => None,
    };
    cx.held.extend(held.map(|held| (pat.ident.to_string(), held)));
    (plain && mutable.is_none()).then(|| ast::Param { name: cx.ident(&pat.ident), kind, elem, multiple_of, general })
}

/// `Ptr<T>`, `PtrMut<T>`, `Tensor<T, RANK>`, `TensorMut<T, RANK>`, or the type of a scalar.
fn parameter_type(cx: &mut Context, written: &Type, generics: &[String]) -> Option<(ParamKind, ast::Type)> {
    let text = spell(written);
    let problem = cx.diagnostic(Code::T0005, written, format!("a kernel cannot take a parameter of type `{text}`"));
    let problem = problem.note(
        "a parameter is a pointer (`Ptr<T>`, `PtrMut<T>`), a view (`Tensor<T, RANK>`, `TensorMut<T, RANK>`), a number or `bool`",
    );
    if let Some(arguments) = view_arguments(written) {
        return view(cx, arguments, problem, generics);
    }
    let Some(ty) = types::try_convert(cx, written) else {
        let Type::Reference(reference) = written else {
            let raw = matches!(written, Type::Ptr(_));
            cx.report(problem.help(if raw {
                "for memory of the device write `Ptr<T>` or `PtrMut<T>`"
            } else {
                "pass its parts, each as a parameter"
            }));
            return None;
        };
        let help = if view_arguments(&reference.elem).is_some() {
            "write it without `&`: a view is passed as it is"
        } else {
            "for memory of the device write `Ptr<T>` or `PtrMut<T>`, or a view, `Tensor<T, RANK>`"
        };
        cx.report(problem.help(help));
        return None;
    };
    if struct_path(written, generics).is_some() {
        return Some((ParamKind::Struct, ty));
    }
    let kind = match ty.name.as_str() {
        "Ptr" => ParamKind::Ptr,
        "PtrMut" => ParamKind::PtrMut,
        _ if is_element(&ty, generics) => return Some((ParamKind::Scalar, ty)),
        name => {
            let help = match name {
                "usize" => Some("sizes are `i32` or `i64` in a kernel"),
                "isize" | "i128" | "u128" => Some("the widest integers of a kernel are `i64` and `u64`"),
                "Tile" => Some("pass a pointer or a view, and make the tile in the body with `load`"),
                "Vec" | "Buffer" => Some("write `Ptr<T>` to read it, or `PtrMut<T>` to write it"),
                _ => None,
            };
            cx.report(match help {
                Some(help) => problem.help(help),
                None => problem,
            });
            return None;
        }
    };
    let [elem] = ty.args.as_slice() else {
        cx.report(problem.help(format!("write `{}<T>` with one element type", ty.name)));
        return None;
    };
    pointee(cx, elem, &format!("`{}` can point to", ty.name), problem, generics).then(|| (kind, elem.clone()))
}

fn is_element(ty: &ast::Type, generics: &[String]) -> bool {
    ty.args.is_empty() && (DType::from_name(&ty.name).is_some() || generics.contains(&ty.name))
}

/// Whether a type can be stored in memory; otherwise it is reported.
fn pointee(cx: &mut Context, elem: &ast::Type, what: &str, mut problem: Diagnostic, generics: &[String]) -> bool {
    let good = is_element(elem, generics);
    if !good {
        problem.span = elem.span;
        problem.message = format!("`{}` is not an element type that {what}", elem.name);
        problem.notes = vec![format!("the element types are {}", quoted(DType::ALL.iter().map(|d| d.name())))];
        let help = match elem.name.as_str() {
            "Ptr" | "PtrMut" => "pass one buffer, and where each part begins in it",
            "usize" | "isize" => "sizes are `i32` or `i64` in a kernel",
            "i128" | "u128" => "the widest integers of a kernel are `i64` and `u64`",
            "Tile" => "name the element type of the tile alone",
            _ => "pass a buffer for each part, with an element type of its own",
        };
        cx.report(problem.help(help));
    }
    good
}

/// A view's name, whether a kernel may write to it, and what stands between its angle brackets.
type View<'a> = (&'static str, bool, Vec<&'a GenericArgument>);

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn view_arguments(written: &Type) -> Option<View<'_>> {
    let path = match written {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Group(group) => return view_arguments(&group.elem),
        Type::Paren(paren) => return view_arguments(&paren.elem),
        _ => return None,
    };
    let last = path.segments.last()?;
    let views = [("Tensor", false), ("TensorMut", true)];
    let (name, mutable) = views.into_iter().find(|(name, _)| last.ident == name)?;
    let arguments = if let PathArguments::AngleBracketed(list) = &last.arguments { Some(&list.args) } else { None };
    Some((name, mutable, arguments.into_iter().flatten().collect()))
}

/// `Tensor<T, RANK>` or `TensorMut<T, RANK>`.
fn view(
    cx: &mut Context,
    (name, mutable, arguments): View<'_>,
    problem: Diagnostic,
    generics: &[String],
) -> Option<(ParamKind, ast::Type)> {
    let [GenericArgument::Type(elem), rank] = arguments.as_slice() else {
        let help = format!("write `{name}<T, 2>` with an element type and the number of axes");
        cx.report(problem.help(help));
        return None;
    };
    let kind = if mutable { ParamKind::TensorMut } else { ParamKind::Tensor };
    let axes = self::rank(rank);
    if axes.is_none() {
        let text = spell(rank);
        let problem =
            cx.diagnostic(Code::T0005, rank, format!("`{text}` is not a number of axes that a view can have"));
        cx.report(problem.help("write 1, 2, 3, 4 or 5"));
    }
    // What is not a path is not an element type either; its text stands for its name.
    let elem = types::try_convert(cx, elem).unwrap_or_else(|| ast::Type::named(spell(elem), cx.span_of(elem)));
    let elem = pointee(cx, &elem, "a view can have", problem, generics).then_some(elem);
    Some((kind(axes?), elem?))
}

/// The number of axes, as a literal.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn rank(written: &GenericArgument) -> Option<u8> {
    let GenericArgument::Const(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) = written else { return None };
    number.base10_parse().ok().filter(|rank| (1..=5).contains(rank))
}

/// `#[multiple_of(16)]` and `#[no_specialize]`.
fn attributes(cx: &mut Context, attrs: &[Attribute], ty: Option<&(ParamKind, ast::Type)>) -> (u32, bool) {
    let (mut multiple_of, mut general) = (None, false);
    let structure = ty.is_some_and(|(kind, _)| *kind == ParamKind::Struct);
    let pointer = ty.is_some_and(|(kind, _)| *kind != ParamKind::Scalar);
    let number = ty.and_then(|(_, elem)| DType::from_name(&elem.name)).filter(|_| !pointer);
    let fits = number.is_none_or(DType::is_int);
    for attr in attrs {
        let is = |name: &str| attr.path().is_ident(name);
        let refuse = |cx: &mut Context, message: String| cx.error(Code::T0013, attr, message);
        if !is("multiple_of") && !is("no_specialize") {
            let text = spell(attr.path());
            let problem = cx.diagnostic(Code::T0013, attr, format!("a kernel's parameter has no attribute `{text}`"));
            let help = match text.as_str() {
                "constexpr" => "a compile-time constant is a const parameter: `fn name<const N: i32>(..)`",
                "general" => "write `#[no_specialize]`",
                _ => "there are `#[multiple_of(16)]` and `#[no_specialize]`",
            };
            cx.report(problem.help(help));
        } else if let (false, Some(number)) = (fits, number) {
            refuse(cx, format!("the attribute is for pointers and integers, not for `{number}`"));
        } else if structure && is("multiple_of") {
            refuse(cx, "the attribute is for pointers and integers, not for a struct".into());
        } else if is("no_specialize") {
            if general || !matches!(attr.meta, syn::Meta::Path(_)) {
                refuse(cx, "`#[no_specialize]` is given once and takes no value".into());
            }
            general = true;
        } else {
            let value = attr.parse_args::<syn::LitInt>().ok().and_then(|n| n.base10_parse::<u32>().ok());
            match value {
                Some(_) if multiple_of.is_some() => refuse(cx, "`#[multiple_of(..)]` is given once".into()),
                Some(value) if pointer && !value.is_power_of_two() => {
                    refuse(cx, format!("an address is a multiple of a power of two, not of {value}"));
                }
                Some(value) if value > 0 => multiple_of = Some(value),
                Some(_) | None => {
                    let problem = cx.diagnostic(Code::T0013, attr, "`multiple_of` takes a positive integer");
                    cx.report(problem.help("write `#[multiple_of(16)]`"));
                }
            }
        }
    }
    (multiple_of.unwrap_or(1), general)
}
