//! Layouts of changes of shape: no element moves between threads, so that the layout of one side gives that of the other.

use super::{Function, InstData, Value};
use crate::layout::{Layout, Mem};
use crate::ops::ShapeChange;
use crate::types::Shape;

impl ShapeChange {
    /// The layout of the result, if the operand, of shape `from`, has this one; `None` for a broadcast, which leaves it open.
    pub fn result_layout(self, from: Shape, layout: &Layout) -> Option<Layout> {
        match self {
            ShapeChange::Reshape(_) => Some(layout.clone()),
            ShapeChange::Permute(order) => layout.trans(from, &axes(order)),
            ShapeChange::Broadcast(_) => None,
        }
    }

    /// The layout that the operand, of shape `from`, must have for the result to have this one.
    pub fn operand_layout(self, from: Shape, layout: &Layout) -> Option<Layout> {
        match self {
            ShapeChange::Reshape(_) => Some(layout.clone()),
            ShapeChange::Permute(order) => layout.trans(from.permute(order)?, &inverse(order)),
            ShapeChange::Broadcast(to) => slice(layout, from, to),
        }
    }
}

impl Function {
    /// What the result of an instruction is an alias of, and how its shape differs: a change of shape of a tile in shared memory moves
    /// nothing.
    pub fn aliased(&self, data: &InstData) -> Option<(Value, ShapeChange)> {
        data.op.shape_change().filter(|&(x, _)| self.mem(x).is_some())
    }
}

impl ShapeChange {
    /// The layout of memory of an alias of a tile of shape `from` in this one; `None` if the result cannot be an alias.
    pub fn result_mem(self, from: Shape, mem: &Mem) -> Option<Mem> {
        match self {
            ShapeChange::Reshape(_) => Some(mem.clone()),
            ShapeChange::Permute(order) => mem.trans(from, &axes(order)),
            ShapeChange::Broadcast(_) => None,
        }
    }

    /// The layout of memory of the operand, of shape `from`, of which this one is an alias.
    pub fn operand_mem(self, from: Shape, mem: &Mem) -> Option<Mem> {
        match self {
            ShapeChange::Reshape(_) => Some(mem.clone()),
            ShapeChange::Permute(order) => mem.trans(from.permute(order)?, &inverse(order)),
            ShapeChange::Broadcast(_) => None,
        }
    }

    /// The copy of the operand, of shape `from`, that each copy of the result, of shape `to`, is of.
    pub fn operand_copies(self, from: Shape, to: Shape) -> Vec<usize> {
        let (from, to) = (from.copies(), to.copies());
        let all = 0..to.elements();
        match self {
            ShapeChange::Reshape(_) => all.map(|copy| copy as usize).collect(),
            ShapeChange::Broadcast(_) => all.map(|copy| from.broadcast_index(to, copy) as usize).collect(),
            ShapeChange::Permute(order) => {
                let mut of_result = vec![0; to.elements() as usize];
                all.for_each(|copy| of_result[from.permute_index(order, copy) as usize] = copy as usize);
                of_result
            }
        }
    }

    /// Whether the copies of the result, of shape `to`, are those of the operand in the same order: in shared memory, one after the other.
    pub fn keeps_copies(self, from: Shape, to: Shape) -> bool {
        self.operand_copies(from, to).into_iter().eq(0..from.num_copies())
    }

    /// The axis of the operand, of shape `from`, along which are those elements that are neighbours along an axis of the result; `None`
    /// for a broadcast.
    pub fn operand_axis(self, from: Shape, axis: usize) -> Option<usize> {
        match self {
            ShapeChange::Permute(order) => order.dims().get(axis).map(|&axis| axis as usize),
            ShapeChange::Reshape(to) => {
                let below = |shape: Shape, axis: usize| shape.dims().iter().skip(axis + 1).product::<u32>();
                (0..from.rank()).find(|&of| below(from, of) <= below(to, axis))
            }
            ShapeChange::Broadcast(_) => None,
        }
    }
}

fn inverse(order: Shape) -> Vec<usize> {
    let mut inverse = vec![0; order.rank()];
    axes(order).into_iter().enumerate().for_each(|(i, axis)| inverse[axis] = i);
    inverse
}

fn axes(order: Shape) -> Vec<usize> {
    order.dims().iter().map(|&axis| axis as usize).collect()
}

/// The slice of a layout of `to` in which a tile of shape `from` is broadcast without moving.
fn slice(layout: &Layout, from: Shape, to: Shape) -> Option<Layout> {
    let (mut layout, mut shape) = (layout.clone(), to);
    let missing = to.rank() - from.rank();
    for axis in (0..to.rank()).rev() {
        let replicated = axis < missing || from.dims()[axis - missing] == 1;
        if replicated {
            layout = layout.slice_axis(shape, axis)?;
            shape = shape.without(axis)?;
        }
    }
    Some(layout)
}
