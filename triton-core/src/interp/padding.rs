//! Where an element that made an operation fail comes from: memory, or the padding of a load.

use super::Machine;
use crate::ir::Value;
use crate::ops::Op;

impl Machine<'_> {
    /// Whether the first 0 of a value is what a load yields for an element that its mask leaves out.
    pub(super) fn is_padding(&self, value: Value) -> bool {
        let element = self.value(value).iter().position(|&bits| bits == 0);
        element.is_some_and(|element| self.padded(value, element))
    }

    /// Follows an element through conversions and changes of shape to its load.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other operations compute elements of their own")]
    fn padded(&self, value: Value, element: usize) -> bool {
        let func = self.func;
        let source = func.walk().into_iter().find(|&inst| func.insts[inst].results.contains(&value));
        let Some(inst) = source else { return false };
        let shape = |v: Value| func.ty(v).shape;
        match func.insts[inst].op {
            Op::Load { mask: Some(mask), .. } => self.value(mask).get(element) == Some(&0),
            Op::Cast { x, .. } | Op::Reshape { x, .. } | Op::Convert { x } => self.padded(x, element),
            Op::Splat { x, .. } => self.padded(x, 0),
            Op::Broadcast { x, shape: to } => self.padded(x, shape(x).broadcast_index(to, element as u64) as usize),
            Op::Permute { x, order } => {
                let from = shape(x);
                let at = (0..from.elements()).find(|&i| from.permute_index(order, i) == element as u64);
                at.is_some_and(|at| self.padded(x, at as usize))
            }
            _ => false,
        }
    }
}
