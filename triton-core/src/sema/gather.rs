//! Gathers and scatters: accesses to a view at one index per element, which are accesses through pointers under a mask.
//!
//! Each axis adds its index times its stride to the address, and to the mask that the index is between 0 and the extent. An index
//! keeps its own shape for as long as it can: what depends on the row alone is computed once a row, and outside a loop that
//! does not change it. Where the last axis counts up by one, facts about axes find the vectors that a load of a tile has.

use super::Checker;
use super::memory::{element_for, mask};
use super::value::{Arg, Val, View};
use crate::ast::{Expr, ExprKind, Ident};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{Location, Op};
use crate::span::Span;
use crate::types::{DType, Elem, Shape};

/// The elements that an access reaches: pointers, and which of them are in bounds.
pub(super) struct Reached {
    ptr: Value,
    inside: Value,
    pub shape: Shape,
}

impl Reached {
    pub fn location(&self) -> Location {
        Location::Pointers { ptr: self.ptr, mask: Some(self.inside) }
    }
}

impl Checker<'_> {
    /// `x.get(at)`, `x.gather(at, mask)`, `x.gather_or(at, mask, other)`.
    pub(super) fn gathered(&mut self, view: &View, name: &Ident, args: &[Expr]) -> Option<Val> {
        let [at, rest @ ..] = args else { return None };
        let at = self.indices(view, at);
        let rest = self.values(rest)?;
        let reached = self.reached(view, &at?, rest.first(), name.span)?;
        if name.name == "get" && reached.shape != Shape::SCALAR {
            let message = format!("`get` reads one element, the index has shape {}", reached.shape);
            let help = "read a tile of elements by `gather(at, true)`";
            return self.report(Diagnostic::new(Code::T0123, args[0].span, message).help(help));
        }
        let other = match rest.get(1) {
            Some(other) => Some(element_for(self, "the padding", other, view.dtype, reached.shape)?),
            None => None,
        };
        self.append(Op::Load { from: reached.location(), other }, name.span).map(Val::Ir)
    }

    /// `x.scatter(at, value, mask)`.
    pub(super) fn scattered(&mut self, view: &View, name: &Ident, args: &[Expr]) -> Option<Val> {
        let [at, rest @ ..] = args else { return None };
        if !view.mutable {
            return self.read_only_view(view, "a scatter", name.span);
        }
        let at = self.indices(view, at);
        let rest = self.values(rest)?;
        let reached = self.reached(view, &at?, rest.get(1), name.span)?;
        let value = element_for(self, "the stored value", &rest[0], view.dtype, reached.shape)?;
        self.append(Op::Store { to: reached.location(), value }, name.span);
        Some(Val::Unit)
    }

    /// The index along each axis: `i32` or `i64`, a scalar or a tile.
    pub(super) fn indices(&mut self, view: &View, at: &Expr) -> Option<Vec<(Value, Span)>> {
        let entries = self.entries(at, "an index of a view")?;
        if entries.len() != view.extents.len() {
            return self.wrong_rank(view, entries.len(), at.span);
        }
        let written = if let ExprKind::Array(parts) | ExprKind::Tuple(parts) = &at.kind { &parts[..] } else { &[] };
        let mut indices = Vec::new();
        for (axis, (value, span)) in entries.into_iter().enumerate() {
            let Some(index) = self.index(value, span) else {
                // The next access by it has the same error.
                written.get(axis).into_iter().for_each(|index| self.forget(index));
                return None;
            };
            indices.push((index, span));
        }
        Some(indices)
    }

    /// The pointers that indices and a mask reach.
    pub(super) fn reached(
        &mut self,
        view: &View,
        at: &[(Value, Span)],
        mask_arg: Option<&Arg>,
        span: Span,
    ) -> Option<Reached> {
        let (mut ptr, mut inside, mut shape) = (view.ptr, None, Shape::SCALAR);
        for (axis, &(index, at)) in at.iter().enumerate() {
            let own = self.func.ty(index).shape;
            let Some(common) = Shape::broadcast(shape, own) else {
                let message = format!("indices of shapes {shape} and {own}");
                let help = "indices broadcast to one shape: write `rows.expand_dims(1)` for an index per row";
                return self.report(Diagnostic::new(Code::T0103, at, message).help(help));
            };
            shape = common;
            let within = self.within(index, view.extents[axis], span)?;
            inside = Some(self.both(inside, within, shape, span)?);
            let offset = self.distance(index, view.strides[axis], span)?;
            let (from, offset) = (self.replicate(ptr, shape, span)?, self.replicate(offset, shape, span)?);
            ptr = self.append(Op::Offset { ptr: from, index: offset }, span)?;
        }
        if let Some(written) = mask_arg
            && let Some(written) = mask(self, written, shape)?
        {
            inside = Some(self.both(inside, written, shape, span)?);
        }
        Some(Reached { ptr, inside: inside?, shape })
    }

    /// Whether an index is between 0 and an extent: one comparison of unsigned numbers.
    fn within(&mut self, index: Value, extent: Value, span: Span) -> Option<Value> {
        let shape = self.func.ty(index).shape;
        let (signed, unsigned) = match self.num(index) {
            Some(DType::I64) => (DType::I64, DType::U64),
            _ => (DType::I32, DType::U32),
        };
        let mut extent = extent;
        if signed == DType::I64 {
            extent = self.append(Op::Cast { x: extent, to: signed }, span)?;
        }
        let extent = self.append(Op::Cast { x: extent, to: unsigned }, span)?;
        let extent = self.replicate(extent, shape, span)?;
        let index = self.append(Op::Cast { x: index, to: unsigned }, span)?;
        self.append(Op::Compare { kind: CompareKind::Lt, a: index, b: extent }, span)
    }

    /// An index times a stride.
    fn distance(&mut self, index: Value, stride: Value, span: Span) -> Option<Value> {
        let shape = self.func.ty(index).shape;
        let wide = match self.num(index) {
            Some(DType::I64) => index,
            _ => self.append(Op::Cast { x: index, to: DType::I64 }, span)?,
        };
        let stride = self.replicate(stride, shape, span)?;
        self.append(Op::Binary { kind: BinaryKind::Mul, a: wide, b: stride }, span)
    }

    /// A mask, and another one of at most its shape.
    fn both(&mut self, mask: Option<Value>, other: Value, shape: Shape, span: Span) -> Option<Value> {
        let other = self.replicate(other, shape, span)?;
        let Some(mask) = mask else { return Some(other) };
        let mask = self.replicate(mask, shape, span)?;
        self.append(Op::Binary { kind: BinaryKind::And, a: mask, b: other }, span)
    }

    /// An index of a view: `i32` or `i64`.
    pub(super) fn index(&mut self, value: Val, span: Span) -> Option<Value> {
        let found = self.describe(&value);
        let value = self.open_as(value, DType::I32, span)?;
        let value = self.materialise(value, None, span)?;
        match self.func.ty(value).elem {
            Elem::Num(DType::I32 | DType::I64) => Some(value),
            Elem::Num(_) | Elem::Ptr { .. } => {
                let message = format!("an index of a view is `i32` or `i64`, found `{found}`");
                self.report(Diagnostic::new(Code::T0102, span, message).help("write `.to::<i32>()` or `.to::<i64>()`"))
            }
        }
    }

    /// An index with another number of entries than a view has axes.
    pub(super) fn wrong_rank<T>(&mut self, view: &View, found: usize, span: Span) -> Option<T> {
        let message = format!("an index with {found} entries for `{}`", view.describe());
        let n = view.extents.len();
        self.report(Diagnostic::new(Code::T0123, span, message).help(format!("write {n}, one for each axis")))
    }
}
