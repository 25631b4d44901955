//! Functions that kernels call: each call is inlined, checked with the types and shapes of its arguments.
//!
//! A function knows nothing of its caller: its variables and types are its own. An error in it names the calls that
//! led there; an error in a function of the language is reported at its call.

use super::value::{Known, Val};
use super::{Checker, unknown};
use crate::ast::{Expr, Function, GenericKind, Param as AstParam, Path, Type as AstType};
use crate::diag::{Code, Diagnostic};
use crate::ir::Inst;
use crate::metadata::Promised;
use crate::span::{self, Span};
use crate::types::{DType, Elem, Shape, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// The deepest nesting of calls.
const MAX_CALLS: usize = 64;

/// A call that the checker is in.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub function: &'a Function,
    /// The path that was called.
    pub span: Span,
}

/// The arguments of a function's generic parameters, as far as they are inferred.
#[derive(Default)]
struct Generics {
    types: HashMap<String, DType>,
    constants: HashMap<String, Val>,
}

impl<'a> Checker<'a> {
    /// `path(args)`, or a constant's `path`.
    pub(super) fn call_function(&mut self, index: usize, path: &Path, args: &[Expr], span: Span) -> Option<Val> {
        let functions = self.functions;
        let wanted = |i: usize| functions.get(index).and_then(|function| function.params.get(i)).map(|(_, ty)| ty);
        let values: Vec<_> = args
            .iter()
            .enumerate()
            .map(|(i, arg)| self.argument(arg, wanted(i)).map(|value| (value, arg.span)))
            .collect();
        self.call_with(index, path, values.into_iter().collect::<Option<_>>()?, span)
    }

    /// Whether a function is one of the language.
    pub(super) fn is_library(&self, index: usize) -> bool {
        self.functions.get(index).is_some_and(|function| function.library)
    }

    /// The function of the language that is one for `f64`: of its own, if it is computed in `f32` for others.
    pub(super) fn of_f64(&self, index: usize) -> usize {
        let name = self.functions.get(index).map(|function| format!("{}_f64", function.name.name));
        let own = self.functions.iter().position(|other| other.library && Some(&other.name.name) == name.as_ref());
        own.unwrap_or(index)
    }

    /// The same with arguments that have been evaluated, each with its span.
    pub(super) fn call_with(&mut self, index: usize, path: &Path, values: Vec<(Val, Span)>, span: Span) -> Option<Val> {
        let functions = self.functions;
        let Some(function) = functions.get(index) else {
            return self.report(Diagnostic::new(Code::T0199, span, format!("there is no function {index}")));
        };
        let name = &function.name.name;
        if values.len() != function.params.len() {
            let (n, s) = (function.params.len(), if function.params.len() == 1 { "" } else { "s" });
            let message = format!("`{name}` takes {n} argument{s}, {} given", values.len());
            return self.report(Diagnostic::new(Code::T0101, span, message));
        }
        if self.calls.len() == MAX_CALLS {
            let message = format!("calls nested more than {MAX_CALLS} deep");
            return self.report(Diagnostic::new(Code::T0118, span, message));
        }
        let mut generics = self.turbofish(function, path)?;
        // A literal determines no type: another argument may.
        let literal = |value: &Val| value.ty(&self.func).is_none() && matches!(value, Val::Known(_) | Val::Outer(_));
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&i| literal(&values[i].0));
        let mut passed: Vec<Option<Val>> = vec![None; values.len()];
        let mut values: Vec<Option<(Val, Span)>> = values.into_iter().map(Some).collect();
        for i in order {
            let wanted = &function.params[i].1;
            let Some((value, at)) = values[i].take() else { continue };
            let value = self.not_unit(value, at)?;
            let found = self.describe(&value);
            passed[i] = match self.fit(value, wanted, &mut generics, at)? {
                Some(value) => Some(value),
                None => return self.wrong_argument(name, wanted, &found, &generics, at),
            };
        }
        self.enter(Call { function, span: path.span }, generics, passed, span)
    }

    fn wrong_argument<T>(
        &mut self,
        name: &str,
        wanted: &AstType,
        found: &str,
        generics: &Generics,
        span: Span,
    ) -> Option<T> {
        let message = format!("`{name}` takes `{}` here, found `{found}`", wanted.describe());
        let mut problem = Diagnostic::new(Code::T0127, span, message);
        let elem = wanted.args.first().unwrap_or(wanted);
        let known = generics.types.get(&elem.name).copied();
        if let Some(dtype) = known {
            problem = problem.note(format!("`{}` is `{dtype}` in this call", elem.name));
        }
        let is_tile = found.starts_with("tile of");
        if wanted.name == AstType::FUNCTION {
            let names: Vec<String> = ('a'..).take(wanted.args.len().saturating_sub(1)).map(String::from).collect();
            let help = format!("pass a closure, as in `|{}| ..`, or the name of such a function", names.join(", "));
            return self.report(problem.help(help));
        }
        let problem = match (wanted.name.as_str(), known.or_else(|| DType::from_name(&elem.name))) {
            ("Tile", Some(_)) if !is_tile => problem.help("make a tile of a number with `full(shape, number)`"),
            ("Tile", Some(dtype)) => problem.help(format!("write `.to::<{}>()`", self.spelled(dtype))),
            (_, Some(dtype)) if !is_tile => problem.help(format!("write `.to::<{}>()`", self.spelled(dtype))),
            (_, _) => problem,
        };
        self.report(problem)
    }

    /// The types and constants between the angle brackets of a call.
    fn turbofish(&mut self, function: &Function, path: &Path) -> Option<Generics> {
        let mut generics = Generics::default();
        if path.generics.is_empty() {
            return Some(generics);
        }
        let name = &function.name.name;
        if path.generics.len() != function.generics.len() {
            let (n, found) = (function.generics.len(), path.generics.len());
            let s = if n == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {n} generic argument{s}, {found} given");
            return self.report(Diagnostic::new(Code::T0119, path.span, message));
        }
        for (generic, written) in function.generics.iter().zip(&path.generics) {
            let own = generic.name.name.clone();
            match generic.kind {
                GenericKind::Type if written.name == "_" => {}
                GenericKind::Type => {
                    let dtype = self.dtype(written)?;
                    generics.types.insert(own, dtype);
                }
                GenericKind::Const(dtype) => {
                    let value = self.constant_argument(written)?;
                    let value = self.literal_as(value, Some(dtype), written.span)?;
                    generics.constants.insert(own, value);
                }
            }
        }
        Some(generics)
    }

    /// A generic constant as it is written: a literal, or the name of one that is known.
    fn constant_argument(&mut self, written: &AstType) -> Option<Val> {
        let text = written.name.as_str();
        let value = match text {
            "true" | "false" => Some(Val::Known(Known::bool(text == "true"))),
            _ => match text.parse::<i128>() {
                Ok(number) => Some(Val::Known(Known::Int(number))),
                Err(_) => self.scopes.iter().rev().find_map(|scope| scope.get(text)).cloned().flatten(),
            },
        };
        match value {
            Some(Val::Known(known)) => Some(Val::Known(known)),
            Some(other) => self.not_known(&other, written.span, "a generic argument"),
            None => self.defer(written.span, format!("`{text}` is not a constant of the kernel")),
        }
    }

    /// A value as one of a type that a function names; the inner `None` if it is not such a value.
    fn fit(&mut self, value: Val, wanted: &AstType, generics: &mut Generics, span: Span) -> Option<Option<Val>> {
        if let Some(index) = wanted.structure {
            return Some(Some(value).filter(|value| matches!(value, Val::Struct(found, _) if *found == index)));
        }
        match (wanted.name.as_str(), &wanted.args[..]) {
            (AstType::TUPLE, parts) => {
                let Val::Tuple(values) = value else { return Some(None) };
                if values.len() != parts.len() {
                    return Some(None);
                }
                let mut fitted = Vec::new();
                for (value, part) in values.into_iter().zip(parts) {
                    match self.fit(value, part, generics, span)? {
                        Some(value) => fitted.push(value),
                        None => return Some(None),
                    }
                }
                Some(Some(Val::Tuple(fitted)))
            }
            ("Tensor" | "TensorMut", [elem, rank]) => {
                let Val::View(view) = &value else { return Some(None) };
                let alike = view.mutable == (wanted.name == "TensorMut") && view.extents.len().to_string() == rank.name;
                let alike = alike && element_is(elem, Elem::Num(view.dtype), generics);
                Some(Some(value).filter(|_| alike))
            }
            ("Tile", [elem]) => {
                let Some(ty) = value.ty(&self.func).filter(|ty| ty.shape != Shape::SCALAR) else { return Some(None) };
                let alike = element_is(elem, ty.elem, generics);
                Some(Some(value).filter(|_| alike))
            }
            (AstType::FUNCTION, _) => {
                let Val::Function(callable) = &value else { return Some(None) };
                Some(callable.declared(wanted).map(|callable| Val::Function(Rc::new(callable))))
            }
            // Of the library: a number or a tile.
            ("Value", [elem]) => {
                let value = self.literal_as(value, generics.types.get(&elem.name).copied(), span)?.with_default_type();
                let Some(ty) = value.ty(&self.func) else { return Some(None) };
                let alike = element_is(elem, ty.elem, generics);
                Some(Some(value).filter(|_| alike))
            }
            _ => self.fit_scalar(value, wanted, generics, span),
        }
    }

    /// The same for a number, a `bool` or a pointer.
    fn fit_scalar(&mut self, value: Val, wanted: &AstType, generics: &mut Generics, span: Span) -> Option<Option<Val>> {
        let known = generics.types.get(&wanted.name).copied().or_else(|| DType::from_name(&wanted.name));
        // A literal whose type nothing else determines has its default type, as in Rust.
        let value = self.literal_as(value, known, span)?.with_default_type();
        let value = if let Val::Outer(_) = value { Val::Ir(self.materialise(value, known, span)?) } else { value };
        let Some(ty) = value.ty(&self.func).filter(|ty| ty.shape == Shape::SCALAR) else { return Some(None) };
        let alike = element_is(wanted, ty.elem, generics);
        Some(Some(value).filter(|_| alike))
    }

    /// The value of a function's body, in place of the call there. One that was passed by its name is not called where that is.
    fn enter(&mut self, call: Call<'a>, generics: Generics, passed: Vec<Option<Val>>, at: Span) -> Option<Val> {
        let function = call.function;
        let open = function.generics.iter().find(|generic| match generic.kind {
            GenericKind::Type => !generics.types.contains_key(&generic.name.name),
            GenericKind::Const(_) => !generics.constants.contains_key(&generic.name.name),
        });
        if let Some(generic) = open {
            let (name, open) = (&function.name.name, &generic.name.name);
            let message = format!("cannot infer `{open}` of `{name}` here");
            let help = format!("write `{name}::<..>(..)` with a value for each generic parameter");
            return self.report(Diagnostic::new(Code::T0119, call.span, message).help(help));
        }
        let first = self.func.insts.len();
        let mut result_types = Generics { types: generics.types.clone(), ..Generics::default() };
        let constants = generics.constants.into_iter().map(|(name, value)| (name, Some(value))).collect();
        let scopes = std::mem::replace(&mut self.scopes, vec![constants, HashMap::new()]);
        let types = std::mem::replace(&mut self.types, generics.types);
        let loops = std::mem::take(&mut self.loops);
        self.calls.push(call);
        for ((pattern, _), value) in function.params.iter().zip(passed) {
            self.bind_pattern(pattern, value);
        }
        let mut body = |cx: &mut Self| {
            function.body.iter().for_each(|stmt| cx.stmt(stmt));
            let value = match &function.value {
                Some(value) => cx.expr(value),
                None => Some(Val::Unit),
            };
            let result = function.value.as_ref().map_or(function.name.span, |value| value.span);
            cx.returned(value?, &function.result, &mut result_types, result)
        };
        let value = if function.library { body(self) } else { self.inline(&function.name.name, at, body) };
        self.calls.pop();
        self.types = types;
        self.scopes = scopes;
        self.loops = loops;
        if function.library {
            for inst in first..self.func.insts.len() {
                self.func.insts[Inst(inst as u32)].span = call.span;
            }
        }
        value
    }

    /// Has what is checked be the body of a function that is called there: its operations know that they are inlined.
    pub(super) fn inline<T>(&mut self, function: &str, at: Span, body: impl FnOnce(&mut Self) -> T) -> T {
        let first = self.func.insts.len();
        let at = self.inlined.map_or(at, |outer| self.func.sources.inline(at, outer));
        let call = self.func.sources.calls.intern(span::Call { function: function.into(), at });
        let outer = self.inlined.replace(call);
        let value = body(self);
        self.inlined = outer;
        for inst in (first..self.func.insts.len()).map(|inst| Inst(inst as u32)) {
            self.func.insts[inst].span = self.func.sources.inline(self.func.insts[inst].span, call);
        }
        value
    }

    /// An argument of a function that is one itself, as its declared type says. Type parameters are those of the function that calls it.
    pub(super) fn declared(&mut self, name: &str, value: Val, wanted: &AstType, span: Span) -> Option<Val> {
        let mut generics = Generics { types: self.types.clone(), ..Generics::default() };
        let found = self.describe(&value);
        match self.fit(value, wanted, &mut generics, span)? {
            Some(value) => Some(value),
            None => self.wrong_argument(name, wanted, &found, &generics, span),
        }
    }

    /// What such a function yields, likewise.
    pub(super) fn yielded(&mut self, name: &str, value: Val, result: &AstType, span: Span) -> Option<Val> {
        if result.name == AstType::TUPLE && result.args.is_empty() {
            return Some(Val::Unit);
        }
        let mut generics = Generics { types: self.types.clone(), ..Generics::default() };
        let found = self.describe(&value);
        match self.fit(value, result, &mut generics, span)? {
            Some(value) => Some(value),
            None => {
                let message = format!("`{name}` is declared to yield `{}`, this yields `{found}`", result.describe());
                self.report(Diagnostic::new(Code::T0115, span, message))
            }
        }
    }

    fn returned(&mut self, value: Val, result: &AstType, generics: &mut Generics, span: Span) -> Option<Val> {
        let nothing = result.name == AstType::TUPLE && result.args.is_empty();
        if nothing {
            return Some(Val::Unit);
        }
        let found = self.describe(&value);
        match self.fit(value, result, generics, span)? {
            Some(value) => Some(value),
            None => {
                let message = format!("a function that returns `{}` yields `{found}`", result.describe());
                self.report(Diagnostic::new(Code::T0115, span, message))
            }
        }
    }

    /// The parameters that a struct becomes: one for each field, in order.
    pub(super) fn struct_param(&mut self, param: &AstParam) -> Option<Val> {
        let index = param.elem.structure?;
        let fields = &self.structs.get(index)?.fields;
        let mut values = Vec::new();
        for (name, ty) in fields {
            let dtype = self.dtype(ty)?;
            let full = format!("{}.{name}", param.name.name);
            let promised = Promised::unless(param.general);
            values.push(Val::Ir(self.func.add_param(full, Type::scalar(dtype), 1, promised)));
        }
        Some(Val::Struct(index, values))
    }

    /// `base.name`.
    pub(super) fn field(&mut self, base: &Expr, name: &crate::ast::Ident) -> Option<Val> {
        if let Some(module) = self.python_module(base) {
            let message = format!("`{module}.{}` is not Rust", name.name);
            return self.report(Diagnostic::new(Code::T0129, base.span, message).help(unknown::attribute(&name.name)));
        }
        let value = self.expr(base)?;
        if let Val::Struct(index, values) = &value {
            let fields = self.structs.get(*index).map_or(&[][..], |structure| &structure.fields);
            let at = fields.iter().position(|(field, _)| *field == name.name);
            return match at.and_then(|at| values.get(at)) {
                Some(value) => Some(value.clone()),
                None => self.defer(name.span, format!("there is no field `{}`", name.name)),
            };
        }
        let message = format!("`{}` has no fields", self.describe(&value));
        self.report(Diagnostic::new(Code::T0104, base.span, message).help("destructure a tuple with `let (a, b) = ..`"))
    }
}

/// Whether elements are of the type that is written; a type parameter that is still open becomes theirs.
fn element_is(written: &AstType, found: Elem, generics: &mut Generics) -> bool {
    match (written.name.as_str(), &written.args[..], found) {
        ("Ptr", [elem], Elem::Ptr { pointee, mutable: false })
        | ("PtrMut", [elem], Elem::Ptr { pointee, mutable: true }) => element_is(elem, Elem::Num(pointee), generics),
        (name, [], Elem::Num(found)) => match (DType::from_name(name), generics.types.get(name)) {
            (_, Some(&dtype)) | (Some(dtype), None) => dtype == found,
            (None, None) => {
                generics.types.insert(name.to_owned(), found);
                true
            }
        },
        (_, _, _) => false,
    }
}
