//! Where an element that made an operation fail comes from: memory, or the padding of a load.

use super::Machine;
use crate::ir::Value;
use crate::ops::{Op, ShapeChange};

impl Machine<'_> {
    /// Whether the first 0 of a value is what a load yields for an element that its mask leaves out.
    pub(super) fn is_padding(&self, value: Value) -> bool {
        let element = self.value(value).iter().position(|&bits| bits == 0);
        element.is_some_and(|element| self.padded(value, element))
    }

    /// Follows an element through conversions and changes of shape to its load.
    fn padded(&self, value: Value, element: usize) -> bool {
        let func = self.func;
        let source = func.walk().into_iter().find(|&inst| func.insts[inst].results.contains(&value));
        let Some(inst) = source else { return false };
        let shape = |v: Value| func.ty(v).shape;
        let op = func.insts[inst].op;
        if let Op::Load { from, .. } = op {
            let mask = self.reach(from).ok().and_then(|reached| reached.mask);
            return mask.is_some_and(|mask| mask.get(element) == Some(&0));
        }
        if let Op::Cast { x, .. } | Op::Bitcast { x, .. } | Op::Convert { x } = op {
            return self.padded(x, element);
        }
        if let Op::Splat { x, .. } = op {
            return self.padded(x, 0);
        }
        // Other operations compute elements of their own.
        let Some((x, change)) = op.shape_change() else { return false };
        let from = shape(x);
        let at = match change {
            ShapeChange::Reshape(_) => Some(element as u64),
            ShapeChange::Broadcast(to) => Some(from.broadcast_index(to, element as u64)),
            ShapeChange::Permute(order) => {
                (0..from.elements()).find(|&i| from.permute_index(order, i) == element as u64)
            }
        };
        at.is_some_and(|at| self.padded(x, at as usize))
    }
}
