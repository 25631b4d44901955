//! Reductions, of a whole tile to a number or along an axis, and scans.

use super::Checker;
use super::builtins::{Fold, not_defined};
use super::value::Val;
use crate::ast::{Expr, ExprKind, Pattern};
use crate::diag::{Code, Diagnostic};
use crate::ir::{Block, Value};
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{BitOrder, FoldKind, Op};
use crate::span::Span;
use crate::types::{DType, Shape, Type};

/// What a fold is along.
#[derive(Clone, Copy)]
enum Axes {
    One(usize),
    /// All of them, one after the other.
    All,
}

impl Checker<'_> {
    /// `sum(x)`, `sum_axis(x, axis)`, `cumsum(x, axis)` and their like.
    pub(super) fn fold(
        &mut self,
        name: &str,
        (kind, fold): (FoldKind, Fold),
        x: (Val, Span),
        axis: Option<&Expr>,
        span: Span,
    ) -> Option<Val> {
        let (value, at) = x;
        let ty = self.tile(name, kind, &value, at)?;
        let accepts = |dtype: DType| match fold {
            // `any` and `all`.
            Fold::Binary(BinaryKind::And | BinaryKind::Or) => dtype == DType::Bool,
            Fold::Binary(kind) => kind.accepts(dtype.class()),
            Fold::Arg(_) => dtype != DType::Bool,
        };
        let Some(dtype) = ty.elem.num().filter(|&dtype| accepts(dtype)) else {
            return self.report(not_defined(name, &ty.describe(), at, accepts));
        };
        let x = self.materialise(value, None, at)?;
        let (args, axes) = self.along(name, kind, vec![x], axis, span)?;
        match fold {
            Fold::Binary(function) => {
                let region = self.region(&args);
                let [a, b] = self.func.blocks[region].params[..] else { return None };
                let both = self.func.append(region, Op::Binary { kind: function, a, b }, span).ok().flatten()?;
                self.finish(kind, args, axes, region, vec![both], span)
            }
            Fold::Arg(better) => {
                let Axes::One(axis) = axes else {
                    let message = format!("`{name}` of `{}`, which cannot be flattened", ty.describe());
                    let help = "an axis whose extent is not a power of two is flattened with those after it alone: \
                                take the index along one axis";
                    return self.report(Diagnostic::new(Code::T0124, span, message).help(help));
                };
                let index = self.index_along(args[0], axis, span)?;
                let args = vec![args[0], index];
                let region = self.region(&args);
                let combined = self.arg_combination(region, better, dtype, span)?;
                self.finish(kind, args, axes, region, combined, span)?.into_values().into_iter().nth(1)
            }
        }
    }

    /// `reduce(x, f)`, `reduce_axis(x, axis, f)`, `scan(x, axis, f)` with a closure over elements.
    pub(super) fn fold_by(
        &mut self,
        name: &str,
        kind: FoldKind,
        [x, f]: [&Expr; 2],
        axis: Option<&Expr>,
        span: Span,
    ) -> Option<Val> {
        let ExprKind::Closure(params, body) = &f.kind else {
            let message = format!("`{name}` takes a closure that combines two elements");
            let path = if let ExprKind::Path(path) = &f.kind { Some(path.segments.join("::")) } else { None };
            let help =
                path.map_or_else(|| "write it as `|a, b| a + b`".to_owned(), |f| format!("write `|a, b| {f}(a, b)`"));
            return self.report(Diagnostic::new(Code::T0016, f.span, message).help(help));
        };
        let value = self.expr(x)?;
        let values = value.into_values();
        let mut args = Vec::new();
        for value in values {
            self.tile(name, kind, &value, x.span)?;
            args.push(self.materialise(value, None, x.span)?);
        }
        let shape = self.func.ty(args[0]).shape;
        if let Some(&other) = args.iter().find(|&&v| self.func.ty(v).shape != shape) {
            let message = format!("`{name}` of shape {shape} and `{}`", self.func.ty(other).describe());
            return self.report(
                Diagnostic::new(Code::T0103, x.span, message)
                    .help(format!("tiles that are {} together have the same shape", participle(kind))),
            );
        }
        let [first, second] = &params[..] else {
            let message = format!("the closure must take two elements, found {}", params.len());
            return self.report(Diagnostic::new(Code::T0101, f.span, message).help("write it as `|a, b| a + b`"));
        };
        let (args, axes) = self.along(name, kind, args, axis, span)?;
        let region = self.region(&args);
        let outer = std::mem::replace(&mut self.block, region);
        self.scopes.push(Default::default());
        let elements = self.func.blocks[region].params.clone();
        let (a, b) = elements.split_at(args.len());
        self.bind_elements(first, a);
        self.bind_elements(second, b);
        self.combining = true;
        let result = self.expr(body);
        self.combining = false;
        self.scopes.pop();
        let combined = result.and_then(|value| self.combined(kind, value, &args, body.span));
        self.block = outer;
        let combined = combined?;
        self.check_region(region, body.span)?;
        self.finish(kind, args, axes, region, combined, span)
    }

    fn tile(&mut self, name: &str, kind: FoldKind, value: &Val, span: Span) -> Option<Type> {
        match value.ty(&self.func) {
            Some(ty) if ty.shape != Shape::SCALAR => Some(ty),
            _ => {
                let found = self.describe(value);
                let does = if kind == FoldKind::Reduce { "reduces" } else { "scans" };
                self.report(Diagnostic::new(Code::T0104, span, format!("`{name}` {does} a tile, found `{found}`")))
            }
        }
    }

    /// The operands and the axis: the given one, or the only one of the flattened tiles; all of them, of tiles that cannot be flattened.
    fn along(
        &mut self,
        name: &str,
        kind: FoldKind,
        args: Vec<Value>,
        axis: Option<&Expr>,
        span: Span,
    ) -> Option<(Vec<Value>, Axes)> {
        let ty = self.func.ty(args[0]);
        let scans_digit = |axis: usize| kind != FoldKind::Reduce && !ty.shape.dims()[axis].is_power_of_two();
        if let Some(axis) = axis {
            if kind == FoldKind::Reduce && ty.shape.rank() < 2 {
                let message = format!("`{name}` yields a tile, `{}` has one axis", ty.describe());
                let whole = name.strip_suffix("_axis").unwrap_or(name);
                return self.report(
                    Diagnostic::new(Code::T0124, span, message).help(format!("write `{whole}(..)` for a number")),
                );
            }
            let at = axis.span;
            let axis = self.axis_below(axis, &ty.describe(), ty.shape.rank())?;
            if scans_digit(axis) {
                let extent = ty.shape.dims()[axis];
                let message = format!(
                    "`{name}` along an axis of `{}` whose extent, {extent}, is not a power of two",
                    ty.describe()
                );
                let help = format!("scans are along extents of powers of two: take {}", extent.next_power_of_two());
                return self.report(Diagnostic::new(Code::T0124, at, message).help(help));
            }
            return Some((args, Axes::One(axis)));
        }
        if ty.shape.rank() == 1 {
            return Some((args, Axes::One(0)));
        }
        let flat = Shape::new(&[ty.shape.elements() as u32])?;
        if !ty.shape.has_digits_of(flat) {
            return Some((args, Axes::All));
        }
        let args: Option<Vec<Value>> =
            args.into_iter().map(|x| self.append(Op::Reshape { x, shape: flat }, span)).collect();
        Some((args?, Axes::One(0)))
    }

    /// A block that is given two elements of each argument.
    fn region(&mut self, args: &[Value]) -> Block {
        let scalars: Vec<Type> = args.iter().map(|&v| self.func.ty(v).with_shape(Shape::SCALAR)).collect();
        self.func.add_block(&[scalars.clone(), scalars].concat())
    }

    fn finish(
        &mut self,
        kind: FoldKind,
        mut args: Vec<Value>,
        axes: Axes,
        mut region: Block,
        combined: Vec<Value>,
        span: Span,
    ) -> Option<Val> {
        self.func.append_structured(region, Op::Yield {}, combined, Vec::new(), &[], span);
        let results = match axes {
            Axes::One(axis) => self.folded(kind, args, axis, region, span)?,
            Axes::All => {
                // The last axis first, whose elements are neighbours.
                for axis in (1..self.func.ty(args[0]).shape.rank()).rev() {
                    let next = self.func.copy_block(region);
                    args = self.folded(kind, args, axis, region, span)?;
                    region = next;
                }
                self.folded(kind, args, 0, region, span)?
            }
        };
        Some(match results[..] {
            [one] => Val::Ir(one),
            _ => Val::Tuple(results.into_iter().map(Val::Ir).collect()),
        })
    }

    /// What a fold along an axis leaves.
    fn folded(
        &mut self,
        kind: FoldKind,
        args: Vec<Value>,
        axis: usize,
        region: Block,
        span: Span,
    ) -> Option<Vec<Value>> {
        let shape = self.func.ty(args[0]).shape;
        let (left, ordered) = match kind {
            FoldKind::Reduce => (shape.without(axis)?, self.deterministic),
            // Its order is its own.
            FoldKind::Scan | FoldKind::ScanReverse => (shape, false),
        };
        let types: Vec<Type> = args.iter().map(|&v| self.func.ty(v).with_shape(left)).collect();
        let bits = shape.dims()[axis].trailing_zeros() as u8;
        let upwards: Vec<u8> = (0..bits).collect();
        let order = BitOrder::new(&upwards).filter(|_| ordered).unwrap_or(BitOrder::Any);
        let op = Op::Fold { kind, axis: axis as i32, order };
        Some(self.func.append_structured(self.block, op, args, vec![region], &types, span))
    }

    fn bind_elements(&mut self, pattern: &Pattern, elements: &[Value]) {
        let value = match elements {
            [one] => Val::Ir(*one),
            several => Val::Tuple(several.iter().copied().map(Val::Ir).collect()),
        };
        self.bind_pattern(pattern, Some(value));
    }

    /// What a closure yields, as one value for each argument, of its element type.
    fn combined(&mut self, kind: FoldKind, value: Val, args: &[Value], span: Span) -> Option<Vec<Value>> {
        let found = self.describe(&value);
        let values = value.into_values();
        if values.len() != args.len() {
            let message =
                format!("the closure yields {}, one value for each of {} tiles is needed", values.len(), args.len());
            return self
                .report(Diagnostic::new(Code::T0115, span, message).help("yield a tuple, as in `(a + c, b + d)`"));
        }
        let mut combined = Vec::new();
        for (value, &arg) in values.into_iter().zip(args) {
            let wanted = self.func.ty(arg).with_shape(Shape::SCALAR);
            let value = self.materialise(value, wanted.elem.num(), span)?;
            if self.func.ty(value) != wanted {
                let message = format!("the closure yields `{found}`, `{}` is {}", wanted.describe(), participle(kind));
                let help = "yield a number of the tile's element type: convert with `.to::<..>()`";
                return self.report(Diagnostic::new(Code::T0115, span, message).help(help));
            }
            combined.push(value);
        }
        Some(combined)
    }

    /// A combination computes with its two elements and constants, and does nothing else.
    fn check_region(&mut self, region: Block, span: Span) -> Option<()> {
        let mut known = self.func.blocks[region].params.clone();
        let mut wrong = None;
        for (_, inst) in self.func.block(region) {
            let elementwise = matches!(
                inst.op,
                Op::Const { .. }
                    | Op::Outer { .. }
                    | Op::Cast { .. }
                    | Op::Bitcast { .. }
                    | Op::Select { .. }
                    | Op::Unary { .. }
                    | Op::Binary { .. }
                    | Op::Compare { .. }
                    | Op::Ternary { .. }
            );
            if !elementwise {
                wrong = Some(format!("`{}` in a closure that combines two elements", inst.op.mnemonic()));
            }
            inst.for_each_operand(|v| {
                if !known.contains(&v) {
                    wrong = Some("a captured value in a closure that combines two elements".into());
                }
            });
            known.extend(&inst.results);
        }
        match wrong {
            None => Some(()),
            Some(message) => {
                let help = "it may use its two parameters and constants; choose with `select`";
                self.report(Diagnostic::new(Code::T0016, span, message).help(help))
            }
        }
    }

    /// The index along an axis, as a tile of the shape of `x`.
    fn index_along(&mut self, x: Value, axis: usize, span: Span) -> Option<Value> {
        let shape = self.func.ty(x).shape;
        let extent = shape.dims()[axis];
        let range = self.append(Op::Arange { start: 0, end: extent as i32 }, span)?;
        let mut dims = vec![1; shape.rank()];
        dims[axis] = extent;
        let line = self.append(Op::Reshape { x: range, shape: Shape::new(&dims)? }, span)?;
        self.replicate(line, shape, span)
    }

    /// The better of two numbers with its index; the lower index of equal ones; NaN is worse than any number.
    fn arg_combination(&mut self, region: Block, kind: CompareKind, dtype: DType, span: Span) -> Option<Vec<Value>> {
        let [x, i, y, j] = self.func.blocks[region].params[..] else { return None };
        let outer = std::mem::replace(&mut self.block, region);
        let chosen = (|| {
            let mut add = |op| self.append(op, span);
            let better = add(Op::Compare { kind, a: y, b: x })?;
            let equal = add(Op::Compare { kind: CompareKind::Eq, a: y, b: x })?;
            let (better, equal) = if dtype.is_float() {
                let x_nan = add(Op::Compare { kind: CompareKind::Ne, a: x, b: x })?;
                let y_nan = add(Op::Compare { kind: CompareKind::Ne, a: y, b: y })?;
                let y_number = add(Op::Compare { kind: CompareKind::Eq, a: y, b: y })?;
                let only_y = add(Op::Binary { kind: BinaryKind::And, a: x_nan, b: y_number })?;
                let neither = add(Op::Binary { kind: BinaryKind::And, a: x_nan, b: y_nan })?;
                let better = add(Op::Binary { kind: BinaryKind::Or, a: better, b: only_y })?;
                (better, add(Op::Binary { kind: BinaryKind::Or, a: equal, b: neither })?)
            } else {
                (better, equal)
            };
            let lower = add(Op::Compare { kind: CompareKind::Lt, a: j, b: i })?;
            let tie = add(Op::Binary { kind: BinaryKind::And, a: equal, b: lower })?;
            let cond = add(Op::Binary { kind: BinaryKind::Or, a: better, b: tie })?;
            let number = add(Op::Select { cond, a: y, b: x })?;
            let index = add(Op::Select { cond, a: j, b: i })?;
            Some(vec![number, index])
        })();
        self.block = outer;
        chosen
    }
}

/// What is done to tiles, in messages.
fn participle(kind: FoldKind) -> &'static str {
    match kind {
        FoldKind::Reduce => "reduced",
        FoldKind::Scan | FoldKind::ScanReverse => "scanned",
    }
}
