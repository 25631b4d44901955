//! Random expressions that move the elements of a tile, or combine them along an axis.

use super::make::Maker;
use super::steps::boxed;
use super::tree::{Elem, Expr};
use crate::random::program::reshapes;
use triton_core::types::DType;

impl Maker<'_> {
    /// A tile of another shape with the same elements, or repeated.
    pub(super) fn moved(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        let count = shape.iter().product::<u32>();
        if shape[shape.len() - 1].is_multiple_of(2) && self.random.once_in(3) {
            return self.pairs(dtype, shape, depth);
        }
        match (shape, self.random.below(4)) {
            ([m, n], 0) => Expr::Transpose(boxed(self.named(dtype, &[*n, *m], depth))),
            ([m, 1], 1) => Expr::Expand(boxed(self.named(dtype, &[*m], depth)), 1),
            ([1, n], 1) => Expr::Expand(boxed(self.named(dtype, &[*n], depth)), 0),
            ([m, _], 2) => Expr::Reshaped("broadcast_to", boxed(self.named(dtype, &[*m, 1], depth)), shape.to_vec()),
            (_, 3) => Expr::Full(shape.to_vec(), boxed(self.named(dtype, &[], depth))),
            _ if !reshapes(&[count], shape) => Expr::Full(shape.to_vec(), boxed(self.named(dtype, &[], depth))),
            _ => Expr::Reshaped("reshape", boxed(self.named(dtype, &[count], depth)), shape.to_vec()),
        }
    }

    /// A tile whose last axis is made of pairs; the second operand may be repeated.
    fn pairs(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        let (name, mut half) = (if shape[1..].ends_with(&[2]) { "join" } else { "interleave" }, shape.to_vec());
        let last = half.pop().unwrap_or(2) / 2;
        half.extend((name == "interleave").then_some(last));
        let other = &half[usize::from(half.len() > 1 && self.random.once_in(3))..];
        let (a, b) = (self.named(dtype, &half, depth), self.named(dtype, other, depth));
        Expr::Pairs(name, boxed(a), boxed(b))
    }

    pub(super) fn reduced(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        let name = if dtype == DType::Bool {
            self.random.pick(&["any", "all"])
        } else {
            self.random.pick(&["sum", "max", "min"])
        };
        if shape.is_empty() {
            let from = if self.kernel {
                self.random.pick(&[&[16][..], &[4, 16], &[64], &[24], &[4, 10]]).to_vec()
            } else {
                vec![0]
            };
            return Expr::Reduce(name, boxed(self.named(dtype, &from, depth)), None);
        }
        if self.kernel && dtype != DType::Bool && self.random.once_in(2) {
            let name = match name {
                "sum" => "cumsum",
                "max" => "cummax",
                _ => "cummin",
            };
            let axis = self.random.below(shape.len());
            if !shape[axis].is_power_of_two() {
                return self.leaf(Elem::Of(dtype), shape);
            }
            return Expr::Scan(name, boxed(self.named(dtype, shape, depth)), axis);
        }
        if !self.kernel || shape.len() > 1 {
            return self.leaf(Elem::Of(dtype), shape);
        }
        let (axis, other) = (self.random.below(2), self.random.pick(&[2, 4, 8]));
        let from = if axis == 0 { [other, shape[0]] } else { [shape[0], other] };
        Expr::Reduce(name, boxed(self.named(dtype, &from, depth)), Some(axis))
    }
}
