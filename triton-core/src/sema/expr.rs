//! Expressions.

use super::builtins::not_defined;
use super::value::{Arg, Known, Val};
use super::{Checker, assoc, builtins, unknown};
use crate::ast::{BinaryOp, Expr, ExprKind, Ident, Path, Target, Type as AstType, UnaryOp};
use crate::diag::{Code, Diagnostic};
use crate::ops::kinds::UnaryKind;
use crate::ops::{Op, bitcasts, eval};
use crate::span::Span;
use crate::types::{Class, Constant, DType, Elem, Shape};

/// Deepest nesting of an expression.
const MAX_DEPTH: usize = 256;

impl Checker<'_> {
    /// The value of an expression; `None` if it was reported or deferred.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<Val> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            // Both operands of the deepest operator come here: one report is enough.
            if self.failure.diagnostics.iter().any(|d| d.code == Code::T0118) {
                return None;
            }
            let message = format!("an expression nested more than {MAX_DEPTH} deep");
            return self.report(Diagnostic::new(Code::T0118, expr.span, message).help("bind parts of it with `let`"));
        }
        let value = self.expr_inner(expr);
        self.depth -= 1;
        value
    }

    fn expr_inner(&mut self, expr: &Expr) -> Option<Val> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value, suffix) => {
                let Ok(value) = i128::try_from(*value) else {
                    return self.report(Diagnostic::new(Code::T0112, span, "this literal fits no integer type"));
                };
                match suffix {
                    Some(dtype) if dtype.is_float() => self.float(&value.to_string(), Some(*dtype), span),
                    dtype => self.literal_as(Val::Known(Known::Int(value)), *dtype, span),
                }
            }
            ExprKind::Float(digits, suffix) => self.float(digits, *suffix, span),
            ExprKind::Bool(value) => Some(Val::Known(Known::bool(*value))),
            ExprKind::Path(path) => self.path(path),
            ExprKind::Unary(op, operand) => self.unary_expr(*op, operand, span),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), op_span, a, b) => self.logical(*op, *op_span, a, b),
            ExprKind::Binary(op, op_span, a, b) => {
                let (left, right) = (self.expr(a), self.expr(b));
                self.binary(*op, *op_span, (left?, a.span), (right?, b.span))
            }
            ExprKind::Call(path, args) => builtins::call(self, path, args, span),
            ExprKind::Method { receiver, name, generics, args } => self.method(receiver, name, generics, args),
            ExprKind::Field(base, name) => self.field(base, name),
            ExprKind::Cast(operand, ty) => {
                let value = self.expr(operand)?;
                let dtype = self.dtype(ty)?;
                if let Some(found) = value.ty(&self.func).filter(|t| t.shape != Shape::SCALAR) {
                    let message = format!("`as` converts scalars, this is `{}`", found.describe());
                    return self
                        .report(Diagnostic::new(Code::T0114, span, message).help(format!("write `.to::<{dtype}>()`")));
                }
                self.convert(value, dtype, operand.span)
            }
            // An array is an index or a shape: several values, like a tuple.
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                let values: Vec<Option<Val>> = parts.iter().map(|part| self.expr(part)).collect();
                let values: Option<Vec<Val>> = values.into_iter().collect();
                values.map(|values| if values.is_empty() { Val::Unit } else { Val::Tuple(values) })
            }
            ExprKind::Block(stmts, tail) => {
                self.scopes.push(Default::default());
                stmts.iter().for_each(|stmt| self.stmt(stmt));
                let value = match tail {
                    Some(tail) => self.expr(tail),
                    None => Some(Val::Unit),
                };
                self.scopes.pop();
                value
            }
            ExprKind::If(cond, then, otherwise) => self.if_expr(cond, then, otherwise.as_deref(), span),
            ExprKind::Closure(..) => {
                let message =
                    "a closure is only allowed as an argument of `reduce`, of `scan`, or of a function that takes one";
                self.report(Diagnostic::new(Code::T0016, span, message).help("bind values with `let`"))
            }
        }
    }

    fn float(&mut self, digits: &str, dtype: Option<DType>, span: Span) -> Option<Val> {
        self.literal_as(Val::Known(Known::Float(digits.to_string())), dtype, span)
    }

    /// Whether a path is the name of a variable.
    pub(super) fn is_bound(&self, path: &Path) -> bool {
        matches!(&path.segments[..], [name] if self.scopes.iter().any(|scope| scope.contains_key(name)))
    }

    /// A variable, a constant parameter, or an associated constant of an element type.
    fn path(&mut self, path: &Path) -> Option<Val> {
        match path.target {
            Target::Name => {}
            // A variable shadows what is outside.
            Target::Function(_) | Target::Outer(_) if self.is_bound(path) => {}
            Target::Function(index) => return self.call_function(index, path, &[], path.span),
            Target::Outer(index) => return self.outer_path(index, path.span),
        }
        match &path.segments[..] {
            [name] => match self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
                Some(value) => value.clone(),
                None => self.defer(
                    path.span,
                    format!("the kernel uses `{name}`, which is defined outside it: make it a parameter or a const parameter"),
                ),
            },
            [ty, name] => {
                let dtype = self.types.get(ty).copied().or_else(|| DType::from_name(ty));
                match dtype.and_then(|dtype| assoc::constant(dtype, name)) {
                    Some(constant) => Some(Val::Known(Known::Typed(constant))),
                    None => self.defer(path.span, format!("`{ty}::{name}` is not a constant of the kernel language")),
                }
            }
            [.., ty, module, name] if module == "consts" => {
                let constant = DType::from_name(ty).and_then(|dtype| assoc::mathematical(dtype, name));
                match constant {
                    Some(constant) => Some(Val::Known(Known::Typed(constant))),
                    None => self.defer(path.span, format!("`{ty}::consts::{name}` is not a constant of the kernel language")),
                }
            }
            segments => self.defer(path.span, format!("`{}` is not a value of the kernel language", segments.join("::"))),
        }
    }

    fn unary_expr(&mut self, op: UnaryOp, operand: &Expr, span: Span) -> Option<Val> {
        let value = self.expr(operand)?;
        let (symbol, kind) = match op {
            UnaryOp::Neg => ("-", UnaryKind::Neg),
            UnaryOp::Not => ("!", UnaryKind::Not),
        };
        match (op, value) {
            (UnaryOp::Neg, Val::Known(Known::Int(int))) => match int.checked_neg() {
                Some(int) => Some(Val::Known(Known::Int(int))),
                None => self.no_literal(BinaryOp::Sub, span, 0, int),
            },
            (UnaryOp::Neg, Val::Known(Known::Float(digits))) => {
                let digits = digits.strip_prefix('-').map_or_else(|| format!("-{digits}"), str::to_string);
                Some(Val::Known(Known::Float(digits)))
            }
            (_, value) => {
                let what = self.describe(&value);
                let accepts = value.ty(&self.func).and_then(|t| t.elem.num()).is_some_and(|d| kind.defined_on(d));
                if !accepts {
                    self.untyped(&value);
                    return self.report(not_defined(symbol, &what, span, |dtype| kind.defined_on(dtype)));
                }
                self.unary(kind, value, span)
            }
        }
    }

    /// An elementwise function of one operand whose type accepts it.
    pub(super) fn unary(&mut self, kind: UnaryKind, value: Val, span: Span) -> Option<Val> {
        if let Val::Known(Known::Typed(Constant { dtype, bits })) = value {
            let bits = eval::unary(kind, dtype, &[bits])[0];
            return Some(Val::Known(Known::Typed(Constant { dtype, bits })));
        }
        let x = self.materialise(value, None, span)?;
        self.append(Op::Unary { kind, x }, span).map(Val::Ir)
    }

    /// The values of arguments.
    pub(super) fn values<'e>(&mut self, args: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<Arg>> {
        let values: Vec<Option<Arg>> = args.into_iter().map(|a| self.expr(a).map(|v| (v, a.span))).collect();
        let values: Option<Vec<Arg>> = values.into_iter().collect();
        values?.into_iter().map(|(v, at)| Some((self.not_unit(v, at)?, at))).collect()
    }

    /// What a method was called on that is a word beside an operand, as in `a.precision(Tf32)`, and which of its words
    /// it was given. The outer `None`: it was reported.
    pub(super) fn marked<'e>(
        &mut self,
        operand: &'e Expr,
        method: &str,
        words: &[&str],
    ) -> Option<Option<(&'e Expr, usize)>> {
        let ExprKind::Method { receiver, name, args, .. } = &operand.kind else { return Some(None) };
        if name.name != method {
            return Some(None);
        }
        let [written] = &args[..] else { return self.wrong_count(name, &words[words.len() - 1..], args.len()) };
        let last = if let ExprKind::Path(path) = &written.kind { path.segments.last() } else { None };
        match words.iter().position(|word| last.is_some_and(|last| last == word)) {
            Some(number) => Some(Some((receiver, number))),
            // Of other words rustc says what they are.
            None => self.defer(written.span, format!("the {method} must be one of `{}`", words.join("`, `"))),
        }
    }

    fn method(&mut self, receiver: &Expr, name: &Ident, generics: &[AstType], args: &[Expr]) -> Option<Val> {
        if let Some(module) = self.python_module(receiver) {
            let message = format!("`{module}.{}(..)` is not Rust", name.name);
            let help = unknown::attribute(&name.name);
            return self.report(Diagnostic::new(Code::T0129, receiver.span, message).help(help));
        }
        if let Some((of, order)) = self.ordered(receiver)? {
            let updated = match self.expr(of) {
                Some(Val::View(view)) => self.view_update(&view, name, order, args),
                _ => None,
            };
            return updated.unwrap_or_else(|| self.order_of_nothing(name));
        }
        let value = self.expr(receiver);
        if name.name == "order" {
            return self.order_of_nothing(name);
        }
        if let Some(Val::View(view)) = &value {
            return self.view_method(view, name, args);
        }
        if name.name == "precision" {
            let message = "`precision` is only allowed on the first operand of `dot`";
            let help = "write `dot(a.precision(Tf32), b, acc)`";
            return self.report(Diagnostic::new(Code::T0001, name.span, message).help(help));
        }
        if let Some(result) = self.shape_method(value.clone(), receiver, name, args) {
            return result;
        }
        match name.name.as_str() {
            "to" | "bitcast" => {
                let value = value.and_then(|v| self.not_unit(v, receiver.span))?;
                let dtype = self.type_of_method(name, generics, args)?;
                match name.name.as_str() {
                    "to" => self.convert(value, dtype, receiver.span),
                    _ => self.bitcast(value, dtype, receiver.span),
                }
            }
            _ => {
                let value = value?;
                let what = self.describe(&value);
                self.unknown_method(&what, name, args, "numbers and tiles have `to` and `bitcast`; tiles have `reshape`, `transpose`, `permute`, `expand_dims` and `broadcast_to`, too")
            }
        }
    }

    /// The Python module that an expression seems to name.
    pub(super) fn python_module<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        let ExprKind::Path(path) = &expr.kind else { return None };
        let [name] = &path.segments[..] else { return None };
        let bound = self.scopes.iter().any(|scope| scope.contains_key(name));
        (path.target == Target::Name && !bound && unknown::MODULES.contains(&name.as_str())).then_some(name)
    }

    /// A method that `what` does not have.
    pub(super) fn unknown_method<T>(&mut self, what: &str, name: &Ident, args: &[Expr], methods: &str) -> Option<T> {
        let message = format!("`{what}` has no method `{}`", name.name);
        let problem = Diagnostic::new(Code::T0129, name.span, message);
        self.report(match unknown::method(what, &name.name, args) {
            Some(help) => problem.help(help),
            None => problem.help(methods),
        })
    }

    /// The element type that a conversion is given.
    fn type_of_method(&mut self, name: &Ident, generics: &[AstType], args: &[Expr]) -> Option<DType> {
        let method = &name.name;
        if !args.is_empty() {
            let message = format!("`{method}` takes no arguments, {} given", args.len());
            let help = format!("write `.{method}::<f32>()`");
            return self.report(Diagnostic::new(Code::T0101, name.span, message).help(help));
        }
        let [ty] = generics else {
            let message = format!("`{method}` needs one element type, found {}", generics.len());
            let help = format!("write `.{method}::<f32>()`");
            return self.report(Diagnostic::new(Code::T0119, name.span, message).help(help));
        };
        if !ty.args.is_empty() {
            let message = format!("`{method}` needs an element type, found `{}<..>`", ty.name);
            let help = format!("name only the element type, as in `.{method}::<f32>()`: the shape stays");
            return self.report(Diagnostic::new(Code::T0119, ty.span, message).help(help));
        }
        self.dtype(ty)
    }

    /// A number in another element type.
    fn convert(&mut self, value: Val, to: DType, span: Span) -> Option<Val> {
        let value = value.with_default_type();
        let ty = value.ty(&self.func);
        let from = match ty.map(|t| t.elem) {
            Some(Elem::Num(from)) => from,
            Some(Elem::Ptr { .. }) | None => {
                self.untyped(&value);
                let what = self.describe(&value);
                return self.report(Diagnostic::new(
                    Code::T0114,
                    span,
                    format!("`{what}` cannot be converted to `{to}`"),
                ));
            }
        };
        if from == to {
            return Some(value);
        }
        if to.class() == Class::Bool {
            let what = self.describe(&value);
            let message = format!("`{what}` cannot be converted to `bool`");
            return self.report(Diagnostic::new(Code::T0114, span, message).help("compare it, as in `x != 0`"));
        }
        if let Val::Known(Known::Typed(constant)) = value {
            let bits = eval::cast(from, to, &[constant.bits])[0];
            return Some(Val::Known(Known::Typed(Constant { dtype: to, bits })));
        }
        let x = self.materialise(value, None, span)?;
        self.append(Op::Cast { x, to }, span).map(Val::Ir)
    }

    /// The bits of a number as a number of another element type.
    fn bitcast(&mut self, value: Val, to: DType, span: Span) -> Option<Val> {
        let value = value.with_default_type();
        let what = self.describe(&value);
        let from = value.ty(&self.func).and_then(|ty| ty.elem.num());
        let Some(from) = from.filter(|&from| bitcasts(from, to)) else {
            let (message, help) = match from {
                Some(from) if from != DType::Bool && to != DType::Bool => {
                    let fitting = DType::ALL.iter().filter(|&&d| d != from && bitcasts(from, d));
                    let fitting: Vec<String> = fitting.map(|d| format!("`{d}`")).collect();
                    let message = format!("`{what}` has {} bits an element, `{to}` has {}", from.bits(), to.bits());
                    (
                        message,
                        format!(
                            "`bitcast` keeps the bits: `{from}` has those of {}; `to` converts",
                            fitting.join(", ")
                        ),
                    )
                }
                Some(DType::Bool) => (no_bits(&what, to), format!("convert it: `x.to::<{to}>()` is 0 or 1")),
                Some(_) => (no_bits(&what, to), "compare it, as in `x != 0`".to_owned()),
                None => (no_bits(&what, to), "only numbers and tiles of them have `bitcast`".to_owned()),
            };
            return self.report(Diagnostic::new(Code::T0114, span, message).help(help));
        };
        if let Val::Known(Known::Typed(Constant { bits, .. })) = value {
            return Some(Val::Known(Known::Typed(Constant { dtype: to, bits })));
        }
        let x = self.materialise(value, None, span)?;
        // Integers of one width are the same modulo 2ⁿ, which is what a conversion gives, and analyses know more of.
        let op = if from.is_int() && to.is_int() { Op::Cast { x, to } } else { Op::Bitcast { x, to } };
        if from == to { Some(Val::Ir(x)) } else { self.append(op, span).map(Val::Ir) }
    }
}

fn no_bits(what: &str, to: DType) -> String {
    format!("the bits of `{what}` are not those of a `{to}`")
}
