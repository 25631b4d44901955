//! Functions as arguments of functions: closures, and the names of others.
//!
//! A function that takes one says so, `f: impl Fn(Tile<f32>) -> Tile<f32>`, and calls it as `f(x)`. Like every call that is inlined: the
//! body of the closure is checked anew for each call, with the arguments of that call and the variables of the place where it was
//! written. Those have the values that they had there, since a closure that is `Fn` borrows them: nothing is assigned to them while it
//! lives.

use super::Checker;
use super::builtins::BUILTINS;
use super::value::{Callable, Callee, Val};
use crate::ast::{Expr, ExprKind, Path, Target, Type as AstType};
use crate::diag::{Code, Diagnostic};
use crate::span::Span;
use std::collections::HashMap;
use std::rc::Rc;

impl Checker<'_> {
    /// An argument of a function whose parameter has this type: a closure, the name of a function, or any value.
    pub(super) fn argument(&mut self, arg: &Expr, wanted: Option<&AstType>) -> Option<Val> {
        if wanted.is_none_or(|wanted| wanted.name != AstType::FUNCTION) {
            return self.expr(arg);
        }
        let callee = match &arg.kind {
            ExprKind::Closure(params, body) => Callee::Closure { params: params.clone(), body: (**body).clone() },
            ExprKind::Path(path) if self.is_bound(path) => return self.expr(arg),
            ExprKind::Path(path) => match path.target {
                // A constant is a function of nothing.
                Target::Function(index) if self.functions.get(index).is_some_and(|f| !f.params.is_empty()) => {
                    let params = self.functions.get(index).map_or(0, |function| function.params.len());
                    Callee::Named { index, path: path.clone(), params }
                }
                Target::Function(_) | Target::Name | Target::Outer(_) => {
                    if let Some(problem) = self.built_in(path, arg.span) {
                        return self.report(problem);
                    }
                    return self.expr(arg);
                }
            },
            ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Call(..)
            | ExprKind::Method { .. }
            | ExprKind::Field(..)
            | ExprKind::Cast(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Block(..)
            | ExprKind::If(..) => return self.expr(arg),
        };
        let (scopes, types) = (self.scopes.clone(), self.types.clone());
        Some(Val::Function(Rc::new(Callable { callee, scopes, types, signature: Vec::new() })))
    }

    /// A function of the language has no name that could be passed: which one is meant depends on its arguments.
    fn built_in(&self, path: &Path, span: Span) -> Option<Diagnostic> {
        let [name] = &path.segments[..] else { return None };
        let builtin = BUILTINS.iter().find(|builtin| builtin.name == name)?;
        let params = builtin.params.join(", ");
        let message = format!("`{name}` is a function of the language, which cannot be passed by its name");
        Some(Diagnostic::new(Code::T0016, span, message).help(format!("write `|{params}| {name}({params})`")))
    }

    /// The function that a name stands for, if it is a variable that holds one.
    pub(super) fn callable(&self, path: &Path) -> Option<Rc<Callable>> {
        let ([name], Target::Name) = (&path.segments[..], path.target) else { return None };
        let value = self.scopes.iter().rev().find_map(|scope| scope.get(name))?;
        if let Some(Val::Function(callable)) = value { Some(callable.clone()) } else { None }
    }

    /// `f(args)` of a function that is an argument.
    pub(super) fn call_value(&mut self, callable: &Callable, path: &Path, args: &[Expr], span: Span) -> Option<Val> {
        let name = path.segments.join("::");
        let Some((result, wanted)) = callable.signature.split_last() else {
            return self.report(Diagnostic::new(Code::T0199, span, format!("`{name}` has no type")));
        };
        if args.len() != wanted.len() {
            let (n, s) = (wanted.len(), if wanted.len() == 1 { "" } else { "s" });
            let message = format!("`{name}` takes {n} argument{s}, {} given", args.len());
            return self.report(Diagnostic::new(Code::T0101, span, message));
        }
        let values: Vec<_> = args.iter().zip(wanted).map(|(arg, wanted)| self.argument(arg, Some(wanted))).collect();
        let mut passed = Vec::new();
        for ((value, arg), wanted) in values.into_iter().zip(args).zip(wanted) {
            let value = self.not_unit(value?, arg.span)?;
            passed.push((self.declared(&name, value, wanted, arg.span)?, arg.span));
        }
        let known = self.failure.diagnostics.len();
        let scopes = std::mem::replace(&mut self.scopes, callable.scopes.clone());
        let types = std::mem::replace(&mut self.types, callable.types.clone());
        let loops = std::mem::take(&mut self.loops);
        let (value, at) = match &callable.callee {
            Callee::Named { index, path, .. } => (self.call_with(*index, path, passed, span), path.span),
            Callee::Closure { params, body } => {
                self.scopes.push(HashMap::new());
                for (pattern, (value, _)) in params.iter().zip(passed) {
                    self.bind_pattern(pattern, Some(value));
                }
                (self.inline("{closure}", span, |cx| cx.expr(body)), body.span)
            }
        };
        (self.scopes, self.types, self.loops) = (scopes, types, loops);
        let value = value.and_then(|value| self.yielded(&name, value, result, at));
        self.without_repetitions(known);
        value
    }

    /// A closure is checked once for each of its calls: what is wrong with it is said once.
    fn without_repetitions(&mut self, known: usize) {
        let new = self.failure.diagnostics.split_off(known);
        for problem in new {
            let same = |other: &Diagnostic| {
                (other.code, other.span, &other.message) == (problem.code, problem.span, &problem.message)
            };
            if !self.failure.diagnostics.iter().any(same) {
                self.failure.diagnostics.push(problem);
            }
        }
    }
}
