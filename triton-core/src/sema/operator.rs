//! Infix operators: literals take the other side's type, shapes broadcast, element types must agree.

use super::builtins::BROADCAST;
use super::value::{Known, Val};
use super::{Checker, unknown};
use crate::ast::{BinaryOp, Expr};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::kinds::{BinaryKind, CompareKind, UnaryKind};
use crate::ops::{Op, eval};
use crate::span::Span;
use crate::types::{Class, Constant, DType, Elem, Shape};

/// What pointers have.
const POINTERS: &str = "a pointer has `pointer + integer` and `pointer - integer`";

/// What an operator does to numbers.
#[derive(Clone, Copy)]
enum OperatorKind {
    Binary(BinaryKind),
    Compare(CompareKind),
}

impl OperatorKind {
    fn of(op: BinaryOp) -> OperatorKind {
        match op {
            BinaryOp::Add => OperatorKind::Binary(BinaryKind::Add),
            BinaryOp::Sub => OperatorKind::Binary(BinaryKind::Sub),
            BinaryOp::Mul => OperatorKind::Binary(BinaryKind::Mul),
            BinaryOp::Div => OperatorKind::Binary(BinaryKind::Div),
            BinaryOp::Rem => OperatorKind::Binary(BinaryKind::Rem),
            BinaryOp::BitAnd | BinaryOp::And => OperatorKind::Binary(BinaryKind::And),
            BinaryOp::BitOr | BinaryOp::Or => OperatorKind::Binary(BinaryKind::Or),
            BinaryOp::BitXor => OperatorKind::Binary(BinaryKind::Xor),
            BinaryOp::Shl => OperatorKind::Binary(BinaryKind::Shl),
            BinaryOp::Shr => OperatorKind::Binary(BinaryKind::Shr),
            BinaryOp::Eq => OperatorKind::Compare(CompareKind::Eq),
            BinaryOp::Ne => OperatorKind::Compare(CompareKind::Ne),
            BinaryOp::Lt => OperatorKind::Compare(CompareKind::Lt),
            BinaryOp::Le => OperatorKind::Compare(CompareKind::Le),
            BinaryOp::Gt => OperatorKind::Compare(CompareKind::Gt),
            BinaryOp::Ge => OperatorKind::Compare(CompareKind::Ge),
        }
    }

    fn accepts(self, dtype: DType) -> bool {
        match self {
            OperatorKind::Binary(kind) => kind.accepts(dtype.class()),
            OperatorKind::Compare(kind) => kind.accepts(dtype.class()),
        }
    }
}

/// How a sentence says what an operator does: `cannot add ..`.
pub(super) fn verb(op: BinaryOp) -> String {
    let word = match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "subtract",
        BinaryOp::Mul => "multiply",
        BinaryOp::Div => "divide",
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => "compare",
        BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or => return format!("use `{}` on", op.symbol()),
    };
    word.into()
}

impl Checker<'_> {
    /// `a op b`, each with its span.
    pub(super) fn binary(&mut self, op: BinaryOp, span: Span, a: (Val, Span), b: (Val, Span)) -> Option<Val> {
        let ((a, a_span), (b, b_span)) = (a, b);
        let (a, b) = (self.not_unit(a, a_span)?, self.not_unit(b, b_span)?);
        if let Some(pointer) = self.pointer_arithmetic(op, span, (&a, a_span), (&b, b_span)) {
            return pointer;
        }
        if let (Val::Known(x), Val::Known(y)) = (&a, &b)
            && let Some(literal) = literals(op, x, y)
        {
            return Some(Val::Known(literal));
        }
        if let (Val::Known(Known::Int(x)), Val::Known(Known::Int(y))) = (&a, &b) {
            return self.no_literal(op, span, *x, *y);
        }
        let a = self.beside_literal(a, &b, a_span)?;
        let b = self.beside_literal(b, &a, b_span)?;
        // A literal takes the type of the other operand.
        let of = |v: &Val, func: &crate::ir::Function| v.ty(func).and_then(|t| t.elem.num());
        let (a_type, b_type) = (of(&a, &self.func), of(&b, &self.func));
        // Whether the operator exists for that type comes before whether the literal fits it.
        match (a_type, b_type) {
            (Some(dtype), None) | (None, Some(dtype)) if !OperatorKind::of(op).accepts(dtype) => {
                return self.not_accepted(op, span, &a, &b, dtype);
            }
            _ => {}
        }
        let a = self.literal_as(a, b_type, a_span)?;
        let b = self.literal_as(b, a_type, b_span)?;
        if let (Val::Outer(_), Val::Outer(_)) = (&a, &b) {
            self.materialise(a, None, a_span)?;
            return None;
        }
        self.check_elements(op, span, &a, &b)?;
        if let (Val::Known(Known::Typed(x)), Val::Known(Known::Typed(y))) = (&a, &b) {
            return self.known_binary(op, span, *x, *y);
        }
        let (a, b) = (self.materialise(a, None, a_span)?, self.materialise(b, None, b_span)?);
        let (a, b) = self.broadcast_pair(op, span, a, b)?;
        let op = match OperatorKind::of(op) {
            OperatorKind::Binary(kind) => Op::Binary { kind, a, b },
            OperatorKind::Compare(kind) => Op::Compare { kind, a, b },
        };
        self.append(op, span).map(Val::Ir)
    }

    /// An external constant beside a literal is of the type that such a literal has by itself.
    fn beside_literal(&mut self, value: Val, other: &Val, span: Span) -> Option<Val> {
        match other {
            Val::Known(Known::Int(_)) => self.open_as(value, DType::I32, span),
            Val::Known(Known::Float(_)) => self.open_as(value, DType::F32, span),
            Val::Known(Known::Typed(_))
            | Val::Ir(_)
            | Val::Tuple(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Outer(_)
            | Val::Unit => Some(value),
        }
    }

    /// The result of two open literals is not a number.
    pub(super) fn no_literal(&mut self, op: BinaryOp, span: Span, x: i128, y: i128) -> Option<Val> {
        let symbol = op.symbol();
        let by_zero = matches!(op, BinaryOp::Div | BinaryOp::Rem) && y == 0;
        let message =
            if by_zero { "this divides by zero".into() } else { format!("`{x} {symbol} {y}` fits no integer type") };
        let problem = Diagnostic::new(Code::T0112, span, message);
        let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        self.report(match (shifts, by_zero) {
            (true, _) => problem.help("shift by 0 to 63 bits"),
            (_, true) => problem.help("divide by another number"),
            (false, false) => problem.help("compute it in smaller parts, or in floats"),
        })
    }

    /// Rejects an operand of `&&` or `||` that is not a scalar condition; `other` is the left side, for the right one.
    fn check_logical(&mut self, op: BinaryOp, span: Span, value: &Val, other: Option<&Val>) -> Option<()> {
        let ty = value.ty(&self.func);
        if ty.is_some_and(|t| t.elem == Elem::Num(DType::Bool) && t.shape == Shape::SCALAR) {
            return Some(());
        }
        let (found, symbol) = (self.describe(value), op.symbol());
        let found = match other {
            Some(left) => format!("`{}` and `{found}`", self.describe(left)),
            None => format!("`{found}` on the left"),
        };
        let message = format!("`{symbol}` takes two `bool`, found {found}");
        let help = format!("write `{}` to combine tiles element by element", &symbol[..1]);
        self.report(Diagnostic::new(Code::T0104, span, message).help(help))
    }

    /// `a && b`, which is `if a { b } else { false }`, and `a || b`, which is `if a { true } else { b }`.
    pub(super) fn logical(&mut self, op: BinaryOp, span: Span, a: &Expr, b: &Expr) -> Option<Val> {
        let left = self.expr(a).and_then(|v| self.not_unit(v, a.span))?;
        let left = self.open_as(left, DType::Bool, a.span)?;
        self.check_logical(op, span, &left, None)?;
        if self.combining {
            // No branch: a closure's operations can be speculated.
            let right = self.expr(b).and_then(|v| self.not_unit(v, b.span))?;
            let right = self.open_as(right, DType::Bool, b.span)?;
            self.check_logical(op, span, &right, Some(&left))?;
            let bitwise = if op == BinaryOp::And { BinaryOp::BitAnd } else { BinaryOp::BitOr };
            return self.binary(bitwise, span, (left, a.span), (right, b.span));
        }
        let names = self.assigned_names([b]);
        let right = |cx: &mut Checker<'_>| {
            let right = cx.expr(b).and_then(|v| cx.not_unit(v, b.span))?;
            let right = cx.open_as(right, DType::Bool, b.span)?;
            cx.check_logical(op, span, &right, Some(&left))?;
            Some(right)
        };
        let decided = |_: &mut Checker<'_>| Some(Val::Known(Known::bool(op == BinaryOp::Or)));
        let cond = left.clone();
        if op == BinaryOp::Or {
            self.branch(cond, &names, span, decided, right)
        } else {
            self.branch(cond, &names, span, right, decided)
        }
    }

    fn check_elements(&mut self, op: BinaryOp, span: Span, a: &Val, b: &Val) -> Option<()> {
        let (Some(ty_a), Some(ty_b)) = (a.ty(&self.func), b.ty(&self.func)) else {
            let (x, y) = (self.describe(a), self.describe(b));
            let problem = Diagnostic::new(Code::T0104, span, format!("cannot {} `{x}` and `{y}`", verb(op)));
            let pointer = [a, b].into_iter().any(|v| v.ty(&self.func).is_some_and(|ty| ty.elem.num().is_none()));
            return self.report(if pointer {
                problem.help(POINTERS)
            } else {
                problem.help("both sides are numbers or tiles")
            });
        };
        let message = format!("cannot {} `{}` and `{}`", verb(op), ty_a.describe(), ty_b.describe());
        match (ty_a.elem, ty_b.elem) {
            (Elem::Num(x), Elem::Num(y)) if x == y && OperatorKind::of(op).accepts(x) => Some(()),
            (Elem::Num(x), Elem::Num(y)) if x == y => self.not_accepted(op, span, a, b, x),
            (Elem::Num(x), Elem::Num(y)) => {
                let help = self.conversion(x, y);
                self.report(Diagnostic::new(Code::T0102, span, message).help(help))
            }
            (Elem::Ptr { .. }, _) | (_, Elem::Ptr { .. }) => {
                self.report(Diagnostic::new(Code::T0104, span, message).help(POINTERS))
            }
        }
    }

    /// The operator has no meaning on numbers of this type.
    fn not_accepted<T>(&mut self, op: BinaryOp, span: Span, a: &Val, b: &Val, dtype: DType) -> Option<T> {
        let message = format!("cannot {} `{}` and `{}`", verb(op), self.describe(a), self.describe(b));
        let diagnostic = Diagnostic::new(Code::T0104, span, message);
        self.report(match dtype.class() {
            Class::Bool => diagnostic.help("`bool` has `&`, `|`, `^`, `!`, `==` and `!=`"),
            Class::Float if op == BinaryOp::Rem => diagnostic.help(unknown::REMAINDER),
            Class::Float => {
                let bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
                let on = if bits { "integers and `bool`" } else { "integers" };
                diagnostic.help(format!("`{}` is defined on {on}", op.symbol()))
            }
            Class::Signed | Class::Unsigned => {
                diagnostic.help("integers have arithmetic, bitwise operators and shifts")
            }
        })
    }

    fn known_binary(&mut self, op: BinaryOp, span: Span, x: Constant, y: Constant) -> Option<Val> {
        let dtype = x.dtype;
        match OperatorKind::of(op) {
            OperatorKind::Binary(kind) => match eval::binary(kind, dtype, &[x.bits], &[y.bits]) {
                Ok(bits) => Some(Val::Known(Known::Typed(Constant { dtype, bits: bits[0] }))),
                Err((_, eval::DivisionError::ByZero)) => {
                    let problem = Diagnostic::new(Code::T0112, span, "this divides by zero");
                    self.report(problem.help("divide by another number"))
                }
                Err((_, eval::DivisionError::Overflow)) => {
                    let problem = Diagnostic::new(Code::T0112, span, format!("this quotient does not fit `{dtype}`"));
                    self.report(problem.help("convert the dividend to a wider type with `.to::<..>()`"))
                }
            },
            OperatorKind::Compare(kind) => {
                Some(Val::Known(Known::int(DType::Bool, eval::compare(kind, dtype, &[x.bits], &[y.bits])[0].into())))
            }
        }
    }

    /// Both values in their common shape.
    fn broadcast_pair(&mut self, op: BinaryOp, span: Span, a: Value, b: Value) -> Option<(Value, Value)> {
        let (ty_a, ty_b) = (self.func.ty(a), self.func.ty(b));
        match Shape::broadcast(ty_a.shape, ty_b.shape) {
            Some(shape) => Some((self.replicate(a, shape, span)?, self.replicate(b, shape, span)?)),
            None => {
                let message = format!("cannot {} `{}` and `{}`", verb(op), ty_a.describe(), ty_b.describe());
                self.report(Diagnostic::new(Code::T0103, span, message).help(BROADCAST))
            }
        }
    }

    /// `pointer + integer`, `pointer - integer`; the outer `None` if neither side is a pointer or the operator is another.
    fn pointer_arithmetic(
        &mut self,
        op: BinaryOp,
        span: Span,
        a: (&Val, Span),
        b: (&Val, Span),
    ) -> Option<Option<Val>> {
        let is_ptr = |cx: &Checker<'_>, v: &Val| v.ty(&cx.func).is_some_and(|t| t.elem.num().is_none());
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) || !is_ptr(self, a.0) || is_ptr(self, b.0) {
            return None;
        }
        Some(self.offset(op, span, a, b))
    }

    fn offset(&mut self, op: BinaryOp, span: Span, ptr: (&Val, Span), index: (&Val, Span)) -> Option<Val> {
        let ptr = self.materialise(ptr.0.clone(), None, ptr.1)?;
        let (what, index_span) = (self.describe(index.0), index.1);
        let index = self.open_as(index.0.clone(), DType::I32, index_span)?;
        let index = self.materialise(index, None, index_span)?;
        let dtype = self.num(index)?;
        let fits = dtype.is_int() && (op == BinaryOp::Add || dtype.is_signed());
        if !fits {
            let integer = if op == BinaryOp::Add { "an integer" } else { "a signed integer" };
            let message = format!("a pointer moves by {integer}, found `{what}`");
            let problem = Diagnostic::new(Code::T0104, index_span, message);
            return self.report(if dtype.is_int() {
                problem.help("its negative is not an unsigned number: write `p - n.to::<i64>()`")
            } else {
                problem.help("index by integers, as in `p + arange(0, 64)`")
            });
        }
        let index = if op == BinaryOp::Sub {
            self.append(Op::Unary { kind: UnaryKind::Neg, x: index }, index_span)?
        } else {
            index
        };
        let (ptr, index) = self.broadcast_pair(op, span, ptr, index)?;
        self.append(Op::Offset { ptr, index }, span).map(Val::Ir)
    }
}

/// Arithmetic between open literals stays open: `2 * 3` still takes the type of the other operand.
fn literals(op: BinaryOp, a: &Known, b: &Known) -> Option<Known> {
    let (x, y) = match (a, b) {
        (Known::Int(x), Known::Int(y)) => (*x, *y),
        (Known::Float(x), Known::Float(y)) => {
            let (x, y): (f64, f64) = (x.parse().ok()?, y.parse().ok()?);
            let z = match OperatorKind::of(op) {
                OperatorKind::Binary(BinaryKind::Add) => x + y,
                OperatorKind::Binary(BinaryKind::Sub) => x - y,
                OperatorKind::Binary(BinaryKind::Mul) => x * y,
                OperatorKind::Binary(BinaryKind::Div) => x / y,
                OperatorKind::Binary(_) | OperatorKind::Compare(_) => return None,
            };
            return Some(Known::Float(format!("{z:?}")));
        }
        (Known::Int(_) | Known::Float(_) | Known::Typed(_), _) => return None,
    };
    let int = match OperatorKind::of(op) {
        OperatorKind::Binary(BinaryKind::Add) => x.checked_add(y),
        OperatorKind::Binary(BinaryKind::Sub) => x.checked_sub(y),
        OperatorKind::Binary(BinaryKind::Mul) => x.checked_mul(y),
        OperatorKind::Binary(BinaryKind::Div) => x.checked_div(y),
        OperatorKind::Binary(BinaryKind::Rem) => x.checked_rem(y),
        OperatorKind::Binary(BinaryKind::Shl) => {
            u32::try_from(y).ok().filter(|&y| y < 64).and_then(|y| x.checked_mul(1 << y))
        }
        OperatorKind::Binary(BinaryKind::Shr) => u32::try_from(y).ok().and_then(|y| x.checked_shr(y)),
        OperatorKind::Binary(BinaryKind::And) => Some(x & y),
        OperatorKind::Binary(BinaryKind::Or) => Some(x | y),
        OperatorKind::Binary(BinaryKind::Xor) => Some(x ^ y),
        OperatorKind::Binary(BinaryKind::MulHi | BinaryKind::Min | BinaryKind::Max) => None,
        OperatorKind::Compare(kind) => {
            let bits = |v: i128| Constant::int(DType::I64, v).bits;
            // Literals may be larger than any type; how they compare is how their order compares with that of equal ones.
            let order = x.cmp(&y) as i8;
            return Some(Known::bool(eval::compare(kind, DType::I64, &[bits(order.into())], &[bits(0)])[0] != 0));
        }
    };
    int.map(Known::Int)
}
