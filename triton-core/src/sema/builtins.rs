//! Functions of the language: how a call becomes operations.

use super::Checker;
use super::memory::{load, store};
use super::shape::too_odd;
use super::value::{Arg, Known, Val};
use crate::ast::{Expr, Path, Target};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::kinds::{AtomicKind, BinaryKind, CompareKind, HintKind, TernaryKind, UnaryKind};
use crate::ops::{DotKind, FoldKind, GridAxis, MemoryOrder, Op, accumulator, product};
use crate::span::Span;
use crate::types::{DType, Elem, MAX_ODD, MAX_TILE, Shape};

/// A function of the language.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its parameters' names; the documented stub has the same.
    pub params: &'static [&'static str],
    kind: BuiltinKind,
}

/// How two elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// One operation.
    Binary(BinaryKind),
    /// The lowest index of the greatest or the least number.
    Arg(CompareKind),
}

impl Builtin {
    /// Of a function that is computed element by element, how many ulp its result may be away from the exact one; 0: it is
    /// exact, or correctly rounded. Of `f32` for every type but `f64`, and the half types are rounded once more; `f64` counts
    /// its own. `None` for every other function.
    pub fn ulps(&self) -> Option<u32> {
        match self.kind {
            BuiltinKind::Unary(kind) => Some(kind.ulps()),
            BuiltinKind::Binary(kind) => Some(kind.ulps()),
            BuiltinKind::Ternary(kind) => Some(kind.ulps()),
            BuiltinKind::Library(ulps, _) => Some(ulps),
            BuiltinKind::ProgramId
            | BuiltinKind::NumPrograms
            | BuiltinKind::Arange
            | BuiltinKind::Load
            | BuiltinKind::LoadOr
            | BuiltinKind::Store
            | BuiltinKind::Atomic(_)
            | BuiltinKind::AtomicCas
            | BuiltinKind::Fence
            | BuiltinKind::Select
            | BuiltinKind::Zeros
            | BuiltinKind::Full
            | BuiltinKind::Fold(_)
            | BuiltinKind::FoldAxis(_)
            | BuiltinKind::Reduce
            | BuiltinKind::ReduceAxis
            | BuiltinKind::Scan(_)
            | BuiltinKind::Cumulative(_)
            | BuiltinKind::Join
            | BuiltinKind::Interleave
            | BuiltinKind::Split
            | BuiltinKind::Unroll
            | BuiltinKind::Hint(_)
            | BuiltinKind::Dot => None,
        }
    }

    /// Whether it is written in the language itself, in the library that the parser of kernels carries.
    pub fn is_library(&self) -> bool {
        matches!(self.kind, BuiltinKind::Library(..))
    }
}

#[derive(Clone, Copy, Debug)]
enum BuiltinKind {
    ProgramId,
    NumPrograms,
    Arange,
    Load,
    LoadOr,
    Store,
    Atomic(AtomicKind),
    AtomicCas,
    Fence,
    Select,
    Zeros,
    Full,
    Fold(Fold),
    FoldAxis(Fold),
    Reduce,
    ReduceAxis,
    Scan(FoldKind),
    Cumulative(BinaryKind),
    Join,
    Interleave,
    Split,
    /// In the head of a `for` alone, where the parser finds it.
    Unroll,
    Hint(HintKind),
    Dot,
    Unary(UnaryKind),
    Binary(BinaryKind),
    Ternary(TernaryKind),
    /// A function of [`crate::ast::Kernel::functions`]: its error bound in ulp, and its element types.
    Library(u32, fn(DType) -> bool),
}

/// What has an order.
const ORDERED: fn(DType) -> bool = |dtype| dtype != DType::Bool;

const UPDATE: &[&str] = &["p", "value", "mask"];
const SCAN: &[&str] = &["x", "axis", "f"];

/// Every function of the language.
pub const BUILTINS: &[Builtin] = &[
    Builtin { name: "program_id", params: &["axis"], kind: BuiltinKind::ProgramId },
    Builtin { name: "num_programs", params: &["axis"], kind: BuiltinKind::NumPrograms },
    Builtin { name: "arange", params: &["lo", "hi"], kind: BuiltinKind::Arange },
    Builtin { name: "load", params: &["p", "mask"], kind: BuiltinKind::Load },
    Builtin { name: "load_or", params: &["p", "mask", "other"], kind: BuiltinKind::LoadOr },
    Builtin { name: "store", params: &["p", "value", "mask"], kind: BuiltinKind::Store },
    Builtin { name: "atomic_add", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::Add) },
    Builtin { name: "atomic_min", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::Min) },
    Builtin { name: "atomic_max", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::Max) },
    Builtin { name: "atomic_and", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::And) },
    Builtin { name: "atomic_or", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::Or) },
    Builtin { name: "atomic_xor", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::Xor) },
    Builtin { name: "atomic_xchg", params: UPDATE, kind: BuiltinKind::Atomic(AtomicKind::Xchg) },
    Builtin { name: "atomic_cas", params: &["p", "compare", "value"], kind: BuiltinKind::AtomicCas },
    Builtin { name: "fence", params: &[], kind: BuiltinKind::Fence },
    Builtin { name: "select", params: &["mask", "a", "b"], kind: BuiltinKind::Select },
    Builtin { name: "zeros", params: &["shape"], kind: BuiltinKind::Zeros },
    Builtin { name: "full", params: &["shape", "value"], kind: BuiltinKind::Full },
    Builtin { name: "sum", params: &["x"], kind: BuiltinKind::Fold(Fold::Binary(BinaryKind::Add)) },
    Builtin { name: "sum_axis", params: &["x", "axis"], kind: BuiltinKind::FoldAxis(Fold::Binary(BinaryKind::Add)) },
    Builtin { name: "max", params: &["x"], kind: BuiltinKind::Fold(Fold::Binary(BinaryKind::Max)) },
    Builtin { name: "max_axis", params: &["x", "axis"], kind: BuiltinKind::FoldAxis(Fold::Binary(BinaryKind::Max)) },
    Builtin { name: "min", params: &["x"], kind: BuiltinKind::Fold(Fold::Binary(BinaryKind::Min)) },
    Builtin { name: "min_axis", params: &["x", "axis"], kind: BuiltinKind::FoldAxis(Fold::Binary(BinaryKind::Min)) },
    Builtin { name: "argmax", params: &["x"], kind: BuiltinKind::Fold(Fold::Arg(CompareKind::Gt)) },
    Builtin { name: "argmax_axis", params: &["x", "axis"], kind: BuiltinKind::FoldAxis(Fold::Arg(CompareKind::Gt)) },
    Builtin { name: "argmin", params: &["x"], kind: BuiltinKind::Fold(Fold::Arg(CompareKind::Lt)) },
    Builtin { name: "argmin_axis", params: &["x", "axis"], kind: BuiltinKind::FoldAxis(Fold::Arg(CompareKind::Lt)) },
    Builtin { name: "any", params: &["mask"], kind: BuiltinKind::Fold(Fold::Binary(BinaryKind::Or)) },
    Builtin { name: "any_axis", params: &["mask", "axis"], kind: BuiltinKind::FoldAxis(Fold::Binary(BinaryKind::Or)) },
    Builtin { name: "all", params: &["mask"], kind: BuiltinKind::Fold(Fold::Binary(BinaryKind::And)) },
    Builtin { name: "all_axis", params: &["mask", "axis"], kind: BuiltinKind::FoldAxis(Fold::Binary(BinaryKind::And)) },
    Builtin { name: "reduce", params: &["x", "f"], kind: BuiltinKind::Reduce },
    Builtin { name: "reduce_axis", params: &["x", "axis", "f"], kind: BuiltinKind::ReduceAxis },
    Builtin { name: "scan", params: SCAN, kind: BuiltinKind::Scan(FoldKind::Scan) },
    Builtin { name: "scan_reverse", params: SCAN, kind: BuiltinKind::Scan(FoldKind::ScanReverse) },
    Builtin { name: "cumsum", params: &["x", "axis"], kind: BuiltinKind::Cumulative(BinaryKind::Add) },
    Builtin { name: "cumprod", params: &["x", "axis"], kind: BuiltinKind::Cumulative(BinaryKind::Mul) },
    Builtin { name: "cummax", params: &["x", "axis"], kind: BuiltinKind::Cumulative(BinaryKind::Max) },
    Builtin { name: "cummin", params: &["x", "axis"], kind: BuiltinKind::Cumulative(BinaryKind::Min) },
    Builtin { name: "join", params: &["a", "b"], kind: BuiltinKind::Join },
    Builtin { name: "interleave", params: &["a", "b"], kind: BuiltinKind::Interleave },
    Builtin { name: "split", params: &["x"], kind: BuiltinKind::Split },
    Builtin { name: "unroll", params: &["range"], kind: BuiltinKind::Unroll },
    Builtin { name: "multiple_of", params: &["x", "multiples"], kind: BuiltinKind::Hint(HintKind::MultipleOf) },
    Builtin { name: "max_contiguous", params: &["x", "lengths"], kind: BuiltinKind::Hint(HintKind::MaxContiguous) },
    Builtin { name: "max_constancy", params: &["x", "lengths"], kind: BuiltinKind::Hint(HintKind::MaxConstancy) },
    Builtin { name: "dot", params: &["a", "b", "acc"], kind: BuiltinKind::Dot },
    Builtin { name: "exp", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Exp) },
    Builtin { name: "exp2", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Exp2) },
    Builtin { name: "log", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Log) },
    Builtin { name: "log2", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Log2) },
    Builtin { name: "sin", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Sin) },
    Builtin { name: "cos", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Cos) },
    Builtin { name: "tanh_approx", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::TanhApprox) },
    Builtin { name: "floor", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Floor) },
    Builtin { name: "ceil", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Ceil) },
    Builtin { name: "trunc", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Trunc) },
    Builtin { name: "abs", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Abs) },
    Builtin { name: "sqrt", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Sqrt) },
    Builtin { name: "rsqrt", params: &["x"], kind: BuiltinKind::Unary(UnaryKind::Rsqrt) },
    Builtin { name: "minimum", params: &["a", "b"], kind: BuiltinKind::Binary(BinaryKind::Min) },
    Builtin { name: "maximum", params: &["a", "b"], kind: BuiltinKind::Binary(BinaryKind::Max) },
    Builtin { name: "mul_hi", params: &["a", "b"], kind: BuiltinKind::Binary(BinaryKind::MulHi) },
    Builtin { name: "fma", params: &["a", "b", "c"], kind: BuiltinKind::Ternary(TernaryKind::Fma) },
    Builtin { name: "round", params: &["x"], kind: BuiltinKind::Library(0, DType::is_float) },
    Builtin { name: "sigmoid", params: &["x"], kind: BuiltinKind::Library(5, DType::is_float) },
    Builtin { name: "tanh", params: &["x"], kind: BuiltinKind::Library(3, DType::is_float) },
    Builtin { name: "erf", params: &["x"], kind: BuiltinKind::Library(2, DType::is_float) },
    Builtin { name: "clamp", params: &["x", "lo", "hi"], kind: BuiltinKind::Library(0, ORDERED) },
];

/// How shapes meet.
pub(super) const BROADCAST: &str =
    "shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one";

pub(super) fn call(cx: &mut Checker<'_>, path: &Path, args: &[Expr], span: Span) -> Option<Val> {
    match path.target {
        Target::Function(index) if !cx.is_library(index) => return cx.call_function(index, path, args, span),
        Target::Function(_) | Target::Name | Target::Outer(_) => {}
    }
    if let Some(callable) = cx.callable(path) {
        return cx.call_value(&callable, path, args, span);
    }
    let builtin = match &path.segments[..] {
        [name] => BUILTINS.iter().find(|b| b.name == name),
        _ => None,
    };
    let Some(builtin) = builtin else {
        args.iter().for_each(|arg| {
            cx.expr(arg);
        });
        return cx.defer(path.span, format!("`{}` is not a function of the kernel language", path.segments.join("::")));
    };
    let name = builtin.name;
    if args.len() != builtin.params.len() {
        return cx.wrong_arity(builtin, args, span);
    }
    // Shapes, axes and closures are not values.
    match (builtin.kind, args) {
        (BuiltinKind::Zeros, [shape]) => return cx.zeros(path, shape, span),
        (BuiltinKind::Full, [shape, value]) => return cx.full(path, shape, value, span),
        _ => {}
    }
    if !path.generics.is_empty() {
        return cx.report(Diagnostic::new(Code::T0119, path.span, format!("`{name}` takes no type arguments")));
    }
    match (builtin.kind, args) {
        (BuiltinKind::FoldAxis(fold), [x, axis]) => {
            let value = cx.expr(x)?;
            return cx.fold(name, (FoldKind::Reduce, fold), (value, x.span), Some(axis), span);
        }
        (BuiltinKind::Reduce, [x, f]) => return cx.fold_by(name, FoldKind::Reduce, [x, f], None, span),
        (BuiltinKind::ReduceAxis, [x, axis, f]) => {
            return cx.fold_by(name, FoldKind::Reduce, [x, f], Some(axis), span);
        }
        (BuiltinKind::Cumulative(kind), [x, axis]) => {
            let value = cx.expr(x)?;
            return cx.fold(name, (FoldKind::Scan, Fold::Binary(kind)), (value, x.span), Some(axis), span);
        }
        (BuiltinKind::Hint(kind), [x, along]) => return cx.hint(kind, x, along, span),
        (BuiltinKind::Scan(kind), [x, axis, f]) => return cx.fold_by(name, kind, [x, f], Some(axis), span),
        _ => {}
    }
    let (mut args, mut tf32, mut order) = (args.iter().collect::<Vec<_>>(), false, MemoryOrder::Relaxed);
    if let BuiltinKind::Dot = builtin.kind
        && let Some((a, _)) = cx.marked(args[0], "precision", &["Tf32"])?
    {
        (args[0], tf32) = (a, true);
    }
    if let BuiltinKind::Atomic(_) | BuiltinKind::AtomicCas = builtin.kind
        && let Some((ptr, written)) = cx.ordered(args[0])?
    {
        (args[0], order) = (ptr, written);
    }
    let values = cx.values(args)?;
    match (builtin.kind, &values[..]) {
        (BuiltinKind::ProgramId, [axis]) => {
            let axis = grid_axis(cx, axis)?;
            cx.append(Op::ProgramId { axis }, span).map(Val::Ir)
        }
        (BuiltinKind::NumPrograms, [axis]) => {
            let axis = grid_axis(cx, axis)?;
            cx.append(Op::NumPrograms { axis }, span).map(Val::Ir)
        }
        (BuiltinKind::Fence, []) => {
            cx.append(Op::Fence {}, span);
            Some(Val::Unit)
        }
        (BuiltinKind::Arange, [lo, hi]) => arange(cx, lo, hi, span),
        (BuiltinKind::Load, [ptr, mask]) => load(cx, ptr, mask, None, span),
        (BuiltinKind::LoadOr, [ptr, mask, other]) => load(cx, ptr, mask, Some(other), span),
        (BuiltinKind::Store, [ptr, value, mask]) => store(cx, ptr, value, mask, span),
        (BuiltinKind::Atomic(kind), [ptr, value, mask]) => cx.atomic(name, (kind, order), [ptr, value, mask], span),
        (BuiltinKind::AtomicCas, [ptr, compare, value]) => cx.atomic_cas(name, order, [ptr, compare, value], span),
        (BuiltinKind::Join, [a, b]) => cx.join(name, a, b, span).map(Val::Ir),
        (BuiltinKind::Interleave, [a, b]) => cx.interleave(name, a, b, span),
        (BuiltinKind::Split, [x]) => cx.split(x, span),
        (BuiltinKind::Select, [cond, a, b]) => select(cx, cond, a, b, span),
        (BuiltinKind::Dot, [a, b, acc]) => dot(cx, a, b, acc, tf32, span),
        (BuiltinKind::Fold(fold), [x]) => cx.fold(name, (FoldKind::Reduce, fold), x.clone(), None, span),
        (BuiltinKind::Unary(kind), [x]) => {
            let x = (x.0.clone().with_default_type(), x.1);
            check_class(cx, name, &x, |d| kind.defined_on(d))?;
            cx.unary(kind, x.0, span)
        }
        (BuiltinKind::Binary(kind), [_, _]) => {
            let [a, b] = broadcast_args(cx, name, &values, |d| kind.accepts(d.class()), span)?[..] else { return None };
            cx.append(Op::Binary { kind, a, b }, span).map(Val::Ir)
        }
        (BuiltinKind::Ternary(kind), [_, _, _]) => {
            let [a, b, c] = broadcast_args(cx, name, &values, |d| kind.accepts(d.class()), span)?[..] else {
                return None;
            };
            cx.append(Op::Ternary { kind, a, b, c }, span).map(Val::Ir)
        }
        (BuiltinKind::Library(_, accepts), values) => {
            let Target::Function(index) = path.target else {
                return cx.report(Diagnostic::new(Code::T0199, span, format!("`{name}` is not in the library")));
            };
            for value in values {
                // A literal becomes what the others are.
                if value.0.ty(&cx.func).is_some() {
                    check_class(cx, name, value, accepts)?;
                }
            }
            let double =
                values.iter().any(|(value, _)| value.ty(&cx.func).is_some_and(|ty| ty.elem == Elem::Num(DType::F64)));
            let index = if double { cx.of_f64(index) } else { index };
            cx.call_with(index, path, values.to_vec(), span)
        }
        // The number of arguments was compared with the table above.
        (_, _) => cx.report(Diagnostic::new(Code::T0199, span, format!("`{name}` has a wrong row"))),
    }
}

/// `dot(a, b, acc)`.
fn dot(cx: &mut Checker<'_>, a: &Arg, b: &Arg, acc: &Arg, tf32: bool, span: Span) -> Option<Val> {
    let mut types = Vec::new();
    for (value, at) in [a, b, acc] {
        match value.ty(&cx.func).filter(|t| matches!(t.shape.rank(), 2 | 3) && t.elem.num().is_some()) {
            Some(ty) => types.push(ty),
            None => {
                let found = cx.describe(value);
                let message = format!("`dot` multiplies tiles with two axes, or batches with three, found `{found}`");
                return cx.report(Diagnostic::new(Code::T0104, *at, message));
            }
        }
    }
    let [ta, tb, tc] = types[..] else { return None };
    let dtype = ta.elem.num()?;
    let Some(sum) = accumulator(dtype) else {
        let message = format!("`dot` is not defined on `{}`", ta.describe());
        let help = "it multiplies `f16`, `bf16`, `f32`, `f64` and `i8`";
        return cx.report(Diagnostic::new(Code::T0104, a.1, message).help(help));
    };
    if tb.elem != ta.elem {
        let message = format!("`dot` of `{}` and `{}`", ta.describe(), tb.describe());
        return cx.report(Diagnostic::new(Code::T0102, b.1, message).help(match tb.elem.num() {
            Some(other) => cx.conversion_of_arguments(dtype, other),
            None => format!("write `.to::<{}>()` here", cx.spelled(dtype)),
        }));
    }
    if tc.elem != Elem::Num(sum) {
        let message = format!("products of `{dtype}` are added in `{sum}`, `acc` is `{}`", tc.describe());
        return cx
            .report(Diagnostic::new(Code::T0102, acc.1, message).help(format!("begin with `zeros::<{sum}>(..)`")));
    }
    let a_span = a.1;
    if product(ta.shape, tb.shape) != Some(tc.shape) {
        let message = format!("`dot` of `{}`, `{}` and `{}`", ta.describe(), tb.describe(), tc.describe());
        let rule = "the shapes are [M, K], [K, N] and [M, N], or [B, M, K], [B, K, N] and [B, M, N]";
        let transposed = |shape: Shape| {
            let rank = shape.rank() as u32;
            shape.permute(Shape::new(&(0..rank - 2).chain([rank - 1, rank - 2]).collect::<Vec<_>>())?)
        };
        // What fits if `acc` is of another shape, or the second operand transposed.
        let meant = match (product(ta.shape, tb.shape), transposed(tb.shape).and_then(|b| product(ta.shape, b))) {
            (Some(sum), _) => format!("; the product has the shape {sum}"),
            (None, Some(sum)) => format!("; `b.transpose()` fits, and the product has the shape {sum}"),
            (None, None) => String::new(),
        };
        return cx.report(Diagnostic::new(Code::T0103, span, message).help(format!("{rule}{meant}")));
    }
    let a = cx.materialise(a.0.clone(), None, a.1)?;
    let b = cx.materialise(b.0.clone(), None, b.1)?;
    let acc = cx.materialise(acc.0.clone(), None, acc.1)?;
    if !tf32 {
        return cx.append(Op::Dot { kind: DotKind::Any, a, b, acc }, span).map(Val::Ir);
    }
    if dtype != DType::F32 {
        let message = format!("`precision` on `{}`", ta.describe());
        let help = "only `f32` operands take a precision; leave it out";
        return cx.report(Diagnostic::new(Code::T0104, a_span, message).help(help));
    }
    cx.append(Op::Dot { kind: DotKind::Tf32, a, b, acc }, span).map(Val::Ir)
}

fn known_int(cx: &mut Checker<'_>, (value, span): &Arg, what: &str) -> Option<i128> {
    match value {
        Val::Known(known) if known.as_int().is_some() => known.as_int(),
        Val::Known(_)
        | Val::Ir(_)
        | Val::Tuple(_)
        | Val::View(_)
        | Val::Struct(..)
        | Val::Function(_)
        | Val::Outer(_)
        | Val::Unit => cx.not_known(value, *span, what),
    }
}

fn grid_axis(cx: &mut Checker<'_>, axis: &Arg) -> Option<GridAxis> {
    let int = known_int(cx, axis, "the axis of the grid")?;
    match u8::try_from(int) {
        Ok(int @ 0..=2) => Some(GridAxis(int)),
        _ => {
            let problem = Diagnostic::new(Code::T0113, axis.1, format!("the grid has axes 0, 1 and 2, found {int}"));
            cx.report(problem.help("write 0, 1 or 2; more axes are computed, as in `program_id(0) / n`"))
        }
    }
}

fn arange(cx: &mut Checker<'_>, lo: &Arg, hi: &Arg, span: Span) -> Option<Val> {
    let (start, end) = (known_int(cx, lo, "a bound of `arange`"), known_int(cx, hi, "a bound of `arange`"));
    let (start, end) = (start?, end?);
    let length = end - start;
    if length <= 0 {
        return cx.report(Diagnostic::new(Code::T0120, span, format!("`arange({start}, {end})` is empty")));
    }
    let (Ok(start), Ok(end)) = (i32::try_from(start), i32::try_from(end)) else {
        return cx.report(Diagnostic::new(Code::T0120, span, format!("`arange({start}, {end})` does not fit `i32`")));
    };
    if let Some((product, next)) = too_odd(length) {
        let message = format!("`arange({start}, {end})` has {product} elements: the odd factor is more than {MAX_ODD}");
        let help = format!("take {next} elements and mask off the rest, as in `load(p + i, i < {end})`");
        return cx.report(Diagnostic::new(Code::T0106, span, message).help(help));
    }
    if length as u64 > MAX_TILE {
        let message = format!("a tile of {length} elements; the maximum is {MAX_TILE}");
        return cx.report(Diagnostic::new(Code::T0108, span, message).help("let several programs share the work"));
    }
    cx.append(Op::Arange { start, end }, span).map(Val::Ir)
}

/// Values of one element type in their common shape; literals take the others' type.
fn broadcast_args(
    cx: &mut Checker<'_>,
    name: &str,
    args: &[Arg],
    accepts: impl Fn(DType) -> bool,
    span: Span,
) -> Option<Vec<Value>> {
    let dtype = args.iter().find_map(|(v, _)| v.ty(&cx.func)).and_then(|t| t.elem.num());
    // Beside a float literal an integer literal lacks its point.
    let float = args.iter().any(|(v, _)| matches!(v, Val::Known(Known::Float(_))));
    let dtype = dtype.or(float.then_some(DType::F32));
    let mut values = Vec::new();
    let mut shape = Shape::SCALAR;
    for (value, at) in args {
        let value = cx.literal_as(value.clone(), dtype, *at)?.with_default_type();
        check_class(cx, name, &(value.clone(), *at), &accepts)?;
        let value = cx.materialise(value, None, *at)?;
        if let Some(&(first, _)) = values.first() {
            let (first, this) = (cx.func.ty(first), cx.func.ty(value));
            if first.elem != this.elem {
                let message = format!("`{name}` of `{}` and `{}`", first.describe(), this.describe());
                let problem = Diagnostic::new(Code::T0102, *at, message);
                let help =
                    first.elem.num().zip(this.elem.num()).map(|(first, this)| cx.conversion_of_arguments(first, this));
                return cx.report(match help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
            }
        }
        match Shape::broadcast(shape, cx.func.ty(value).shape) {
            Some(common) => shape = common,
            None => {
                let message = format!("`{name}` of shape {shape} and `{}`", cx.func.ty(value).describe());
                return cx.report(Diagnostic::new(Code::T0103, *at, message).help(BROADCAST));
            }
        }
        values.push((value, *at));
    }
    values.into_iter().map(|(value, _)| cx.replicate(value, shape, span)).collect()
}

fn check_class(cx: &mut Checker<'_>, name: &str, (value, span): &Arg, accepts: impl Fn(DType) -> bool) -> Option<()> {
    if value.ty(&cx.func).and_then(|t| t.elem.num()).is_some_and(&accepts) {
        return Some(());
    }
    cx.untyped(value);
    let found = cx.describe(value);
    cx.report(not_defined(name, &found, *span, accepts))
}

/// A function on a type that it is not defined on, with those on which it is.
pub(super) fn not_defined(name: &str, found: &str, span: Span, accepts: impl Fn(DType) -> bool) -> Diagnostic {
    let types: Vec<String> = DType::ALL.iter().filter(|&&d| accepts(d)).map(|d| format!("`{d}`")).collect();
    let note = format!("it is defined on {}", types.join(", "));
    // The type that holds most of what was found, if it is a number.
    let meant = if found.ends_with("bool") || found.contains("bool[") { DType::I32 } else { DType::F32 };
    let help = match accepts(meant) {
        true if meant == DType::I32 => "write `.to::<i32>()`, which is 0 or 1".to_owned(),
        true => format!("write `.to::<{meant}>()`"),
        false => "convert with `.to::<..>()` where that is meant".to_owned(),
    };
    Diagnostic::new(Code::T0104, span, format!("`{name}` is not defined on `{found}`")).note(note).help(help)
}

fn select(cx: &mut Checker<'_>, cond: &Arg, a: &Arg, b: &Arg, span: Span) -> Option<Val> {
    let ty = cond.0.ty(&cx.func);
    let Some(ty) = ty.filter(|t| t.elem == Elem::Num(DType::Bool)) else {
        let found = cx.describe(&cond.0);
        let message = format!("a condition is `bool` or a tile of `bool`, found `{found}`");
        return cx.report(Diagnostic::new(Code::T0105, cond.1, message).help("compare, as in `x > 0.0`"));
    };
    let values = broadcast_args(cx, "select", &[a.clone(), b.clone()], |_| true, span)?;
    let common = Shape::broadcast(ty.shape, cx.func.ty(values[0]).shape);
    let Some(shape) = common else {
        let message = format!("a condition `{}` for values of shape {}", ty.describe(), cx.func.ty(values[0]).shape);
        return cx.report(Diagnostic::new(Code::T0103, cond.1, message).help(BROADCAST));
    };
    let cond = cx.materialise(cond.0.clone(), None, cond.1)?;
    let cond = cx.replicate(cond, shape, span)?;
    let a = cx.replicate(values[0], shape, span)?;
    let b = cx.replicate(values[1], shape, span)?;
    cx.append(Op::Select { cond, a, b }, span).map(Val::Ir)
}
