//! Shapes: arrays of extents, and what changes the shape of a tile.

use super::Checker;
use super::value::{Known, Val};
use crate::ast::{Expr, ExprKind, Ident, Path};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::Op;
use crate::span::Span;
use crate::types::{Constant, MAX_ODD, MAX_RANK, MAX_TILE, Shape, Type};

impl Checker<'_> {
    /// The values of an array, each with its span.
    pub(super) fn entries(&mut self, expr: &Expr, what: &str) -> Option<Vec<(Val, Span)>> {
        if let ExprKind::Array(parts) = &expr.kind {
            return parts.iter().map(|part| Some((self.expr(part)?, part.span))).collect();
        }
        let value = self.expr(expr)?;
        if let Val::Tuple(values) = value {
            return Some(values.into_iter().map(|value| (value, expr.span)).collect());
        }
        let message = format!("{what} is an array, found `{}`", self.describe(&value));
        self.report(Diagnostic::new(Code::T0123, expr.span, message).help("write it as `[4, 128]`"))
    }

    /// An array of constant integers.
    pub(super) fn known_array(&mut self, expr: &Expr, what: &str) -> Option<Vec<i128>> {
        let mut known = Vec::new();
        for (value, span) in self.entries(expr, what)? {
            let number = if let Val::Known(number) = &value { number.as_int() } else { None };
            let Some(number) = number else {
                return self.not_known(&value, span, what);
            };
            known.push(number);
        }
        if known.is_empty() || known.len() > MAX_RANK {
            let message = format!("{what} has {} entries; a tile has 1 to {MAX_RANK} dimensions", known.len());
            return self.report(Diagnostic::new(Code::T0123, expr.span, message).help("write it as `[4, 128]`"));
        }
        Some(known)
    }

    /// A shape that a tile can have.
    pub(super) fn shape(&mut self, expr: &Expr) -> Option<Shape> {
        let extents = self.known_array(expr, "a shape")?;
        let span = expr.span;
        if let Some(wrong) = extents.iter().find(|&&d| d < 1) {
            let message = format!("an extent of {wrong}");
            return self.report(Diagnostic::new(Code::T0123, span, message).help("an extent is 1 or more"));
        }
        for &extent in &extents {
            if let Some((product, next)) = too_odd(extent) {
                let message = format!("an extent of {product}, whose odd factor is more than {MAX_ODD}");
                let help = format!(
                    "take {next}: a view masks off what is out of bounds; mask off the rest with `select(i < {extent}, x, 0.0)`"
                );
                return self.report(Diagnostic::new(Code::T0123, span, message).help(help));
            }
        }
        let elements = extents.iter().try_fold(1i128, |n, &d| n.checked_mul(d).filter(|&n| n <= i128::from(MAX_TILE)));
        if elements.is_none() {
            let message = format!("a tile of more than {MAX_TILE} elements");
            return self
                .report(Diagnostic::new(Code::T0108, span, message).help("let several programs share the work"));
        }
        let extents: Vec<u32> = extents.iter().map(|&d| d as u32).collect();
        Shape::new(&extents)
    }

    /// `zeros::<T>(shape)`.
    pub(super) fn zeros(&mut self, path: &Path, shape: &Expr, span: Span) -> Option<Val> {
        let [ty] = &path.generics[..] else {
            let message = format!("`zeros` needs one element type, found {}", path.generics.len());
            return self
                .report(Diagnostic::new(Code::T0119, path.span, message).help("write `zeros::<f32>([4, 128])`"));
        };
        let (dtype, shape) = (self.dtype(ty), self.shape(shape));
        let value = Constant { dtype: dtype?, bits: 0 };
        let x = self.append(Op::Const { value }, span)?;
        self.append(Op::Splat { x, shape: shape? }, span).map(Val::Ir)
    }

    /// `full(shape, value)`.
    pub(super) fn full(&mut self, path: &Path, shape: &Expr, value: &Expr, span: Span) -> Option<Val> {
        let dtype = match &path.generics[..] {
            [] => None,
            [ty] => Some(self.dtype(ty)?),
            generics => {
                let message = format!("`full` takes one element type, found {}", generics.len());
                return self.report(Diagnostic::new(Code::T0119, path.span, message));
            }
        };
        let (shape, filled) = (self.shape(shape), self.expr(value));
        let x = self.materialise(filled?, dtype, value.span)?;
        let ty = self.func.ty(x);
        if ty.shape != Shape::SCALAR {
            let message = format!("`full` repeats one number, found `{}`", ty.describe());
            return self.report(Diagnostic::new(Code::T0104, value.span, message));
        }
        self.append(Op::Splat { x, shape: shape? }, span).map(Val::Ir)
    }

    /// A method that changes the shape; `None` (the outer one) if it is none.
    pub(super) fn shape_method(
        &mut self,
        value: Option<Val>,
        receiver: &Expr,
        name: &Ident,
        args: &[Expr],
    ) -> Option<Option<Val>> {
        let wanted = match name.name.as_str() {
            "transpose" => 0,
            "expand_dims" | "reshape" | "permute" | "broadcast_to" => 1,
            _ => return None,
        };
        if args.len() != wanted {
            let message = format!(
                "`{}` takes {wanted} argument{}, {} given",
                name.name,
                if wanted == 1 { "" } else { "s" },
                args.len()
            );
            return Some(self.report(Diagnostic::new(Code::T0101, name.span, message)));
        }
        Some(value.and_then(|value| self.change_shape(value, receiver.span, name, args)))
    }

    fn change_shape(&mut self, value: Val, span: Span, name: &Ident, args: &[Expr]) -> Option<Val> {
        let ty = value.ty(&self.func);
        let (Val::Ir(x), Some(ty)) = (&value, ty.filter(|t| t.shape != Shape::SCALAR)) else {
            let found = self.describe(&value);
            let message = format!("`{}` is for tiles, found `{found}`", name.name);
            return self.report(
                Diagnostic::new(Code::T0104, span, message).help("make a tile of a number with `full(shape, number)`"),
            );
        };
        let (x, at) = (*x, name.span);
        match name.name.as_str() {
            "expand_dims" => {
                let axis = self.axis_below(&args[0], &ty.describe(), ty.shape.rank() + 1)?;
                let mut dims = ty.shape.dims().to_vec();
                dims.insert(axis, 1);
                let Some(shape) = Shape::new(&dims) else {
                    let message = format!("a tile with more than {MAX_RANK} dimensions");
                    return self
                        .report(Diagnostic::new(Code::T0123, at, message).help("remove an axis with `reshape`"));
                };
                self.append(Op::Reshape { x, shape }, at).map(Val::Ir)
            }
            "reshape" => {
                let shape = self.shape(&args[0])?;
                if shape.elements() != ty.shape.elements() {
                    let message = format!(
                        "`{}` has {} elements, the shape {shape} has {}",
                        ty.describe(),
                        ty.shape.elements(),
                        shape.elements()
                    );
                    let help = format!("the extents multiply to {}", ty.shape.elements());
                    return self.report(Diagnostic::new(Code::T0123, args[0].span, message).help(help));
                }
                if !ty.shape.has_digits_of(shape) {
                    let message =
                        format!("`{}` to {shape} reshapes across an extent that is not a power of two", ty.describe());
                    let help = "an odd factor stays the outermost part of its axis: `[2, 96]` can become `[2, 12, 8]`, \
                                but not `[192]`";
                    return self.report(Diagnostic::new(Code::T0123, args[0].span, message).help(help));
                }
                self.append(Op::Reshape { x, shape }, at).map(Val::Ir)
            }
            "broadcast_to" => {
                let shape = self.shape(&args[0])?;
                if !ty.shape.broadcasts_to(shape) {
                    let message = format!("`{}` does not broadcast to {shape}", ty.describe());
                    let note = "shapes broadcast from the right; an extent stays, or grows from 1";
                    return self.report(Diagnostic::new(Code::T0103, args[0].span, message).help(note));
                }
                self.replicate(x, shape, at).map(Val::Ir)
            }
            "permute" => {
                let axes = self.known_array(&args[0], "an order of axes")?;
                let axes: Vec<u32> = axes.iter().map(|&a| u32::try_from(a).unwrap_or(u32::MAX)).collect();
                let order = Shape::new(&axes).filter(|&order| ty.shape.permute(order).is_some());
                let Some(order) = order else {
                    let message =
                        format!("an order of `{}` names each of its {} axes once", ty.describe(), ty.shape.rank());
                    let axes: Vec<String> = (0..ty.shape.rank()).rev().map(|axis| axis.to_string()).collect();
                    let help = format!("write them in their new order, as in `[{}]`", axes.join(", "));
                    return self.report(Diagnostic::new(Code::T0124, args[0].span, message).help(help));
                };
                self.append(Op::Permute { x, order }, at).map(Val::Ir)
            }
            _ => self.transpose(x, ty, at),
        }
    }

    fn transpose(&mut self, x: Value, ty: Type, span: Span) -> Option<Val> {
        let rank = ty.shape.rank() as u32;
        if rank < 2 {
            let message = format!("`transpose` exchanges the last two axes, `{}` has one", ty.describe());
            let help = "insert one with `x.expand_dims(0)`";
            return self.report(Diagnostic::new(Code::T0124, span, message).help(help));
        }
        let axes: Vec<u32> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
        let order = Shape::new(&axes)?;
        self.append(Op::Permute { x, order }, span).map(Val::Ir)
    }

    /// An axis below `count`.
    pub(super) fn axis_below(&mut self, expr: &Expr, what: &str, count: usize) -> Option<usize> {
        let value = self.expr(expr)?;
        let known = if let Val::Known(known) = &value { Known::as_int(known) } else { None };
        let Some(axis) = known else {
            return self.not_known(&value, expr.span, "an axis");
        };
        match usize::try_from(axis) {
            Ok(axis) if axis < count => Some(axis),
            _ => {
                let message = format!("axis {axis} of `{what}`: it must be from 0 to {}", count - 1);
                let from_the_end = usize::try_from(axis + count as i128).ok().filter(|axis| *axis < count);
                let help = match from_the_end {
                    Some(meant) => format!("axes are counted from 0, outermost first: write {meant}"),
                    None => "axes are counted from 0, outermost first".to_owned(),
                };
                self.report(Diagnostic::new(Code::T0124, expr.span, message).help(help))
            }
        }
    }
}

/// An extent whose odd factor is too large, as a product, and the next one whose is not; `None` if it is not.
pub(super) fn too_odd(extent: i128) -> Option<(String, String)> {
    let (odd, base) = (extent >> extent.trailing_zeros(), 1i128 << extent.trailing_zeros());
    let next = u32::try_from(extent).ok().and_then(Shape::next_extent);
    let next = next.map_or_else(|| "fewer".to_owned(), |next| next.to_string());
    (odd > i128::from(MAX_ODD)).then(|| (format!("{extent} = {odd} · {base}"), next))
}
