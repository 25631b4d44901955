//! Orientation of accesses: tiles of pointers that run along memory along another axis than the last one.
//!
//! *Before:* a load or a store through pointers whose neighbours in memory are along another axis of the tile, such as the columns of a
//! matrix that is stored by columns. *After:* the same access with that axis last, and a permutation of what is loaded or stored. What is
//! known of accesses is known along the last axis: runs of neighbours, their alignment and masks ([`crate::analysis::axis`]). So vectors,
//! rings and operands of `wgmma` that are transposed come of it as they do of a view's tile that is transposed.
//!
//! The pointers, masks and paddings are computed again in the other orientation, next to where they were; what is left of the old ones is
//! dead. Requires stage 0. Atomic updates stay as they are, and gathers of views, whose tiles have the order that they were asked for in.

use crate::analysis::defs::Defs;
use crate::analysis::stride::{self, Strides};
use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, Function, Inst, Value};
use crate::ops::{Effect, LayoutRule, Location, Op};
use crate::span::Span;
use crate::types::{Elem, Shape};

/// See the [module's page](self).
///
/// # Errors
/// A bug in this pass.
pub fn orient(func: &mut Function) -> Result<(), String> {
    let through_tiles = |op: &Op| {
        let (Op::Load { from: at, .. } | Op::Store { to: at, .. }) = *op else { return false };
        matches!(at, Location::Pointers { ptr, .. } if func.ty(ptr).shape.rank() > 1)
    };
    if !func.takes_pointers() || !func.contains(func.body, through_tiles) {
        return Ok(());
    }
    let (strides, defs) = (stride::analyse(func), Defs::of(func));
    let found: Vec<(Block, Inst, Shape)> = accesses(func, &strides);
    let mut turned = Turned { func, defs, known: WordMap::default() };
    found.into_iter().try_for_each(|(block, inst, order)| turned.access(block, inst, order))
}

/// The accesses that are to be turned, and the orders of axes in which their pointers run along memory.
fn accesses(func: &Function, strides: &SideTable<Value, Strides>) -> Vec<(Block, Inst, Shape)> {
    let order = |op: &Op| {
        let (Op::Load { from: at, .. } | Op::Store { to: at, .. }) = *op else { return None };
        let Location::Pointers { ptr, .. } = at else { return None };
        let shape = func.ty(ptr).shape;
        let along = strides[ptr].contiguous(shape).filter(|&axis| axis + 1 < shape.rank())?;
        let others = (0..shape.rank() as u32).filter(|&axis| axis != along as u32);
        Shape::new(&others.chain([along as u32]).collect::<Vec<_>>())
    };
    let of = |block: Block| func.blocks[block].insts.iter().map(move |&inst| (block, inst));
    let all = func.blocks.keys().flat_map(of);
    all.filter_map(|(block, inst)| Some((block, inst, order(&func.insts[inst].op)?))).collect()
}

struct Turned<'a> {
    func: &'a mut Function,
    defs: Defs,
    /// Values in other orders.
    known: WordMap<(Value, Shape), Value>,
}

impl Turned<'_> {
    fn access(&mut self, block: Block, inst: Inst, order: Shape) -> Result<(), String> {
        let (op, span) = (self.func.insts[inst].op, self.func.insts[inst].span);
        if let Op::Store { to: Location::Pointers { ptr, mask }, value } = op {
            let mask = self.optional(mask, order)?;
            let to = Location::Pointers { ptr: self.value(ptr, order)?, mask };
            self.func.insts[inst].op = Op::Store { to, value: self.value(value, order)? };
            return Ok(());
        }
        let Op::Load { from: Location::Pointers { ptr, mask }, other } = op else { return Ok(()) };
        let [mask, other] = [self.optional(mask, order)?, self.optional(other, order)?];
        let from = Location::Pointers { ptr: self.value(ptr, order)?, mask };
        self.func.insts[inst].op = Op::Load { from, other };
        let result = self.func.insts[inst].results[0];
        let ty = self.func.ty(result);
        let shape = ty.shape.permute(order).ok_or("an order of other axes")?;
        let loaded = self.func.types.push(ty.with_shape(shape));
        self.func.insts[inst].results = vec![loaded];
        let back = self.func.make(Op::Permute { x: loaded, order: inverse(order)? }, span)?;
        self.func.insts[back].results = vec![result];
        self.defs.define(result, back);
        self.known.insert((result, order), loaded);
        let at = self.func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("an access in no block")?;
        self.func.blocks[block].insts.insert(at + 1, back);
        Ok(())
    }

    fn optional(&mut self, value: Option<Value>, order: Shape) -> Result<Option<Value>, String> {
        value.map(|value| self.value(value, order)).transpose()
    }

    /// A value with its axes in another order, computed where the value is.
    fn value(&mut self, value: Value, order: Shape) -> Result<Value, String> {
        if let Some(&known) = self.known.get(&(value, order)) {
            return Ok(known);
        }
        let shape = self.func.ty(value).shape.permute(order).ok_or("an order of other axes")?;
        let definition = self.defs.definition(value);
        let op = definition.map(|inst| self.func.insts[inst].op);
        let op = match op {
            Some(Op::Splat { x, .. }) => Op::Splat { x, shape },
            Some(Op::Broadcast { x, .. }) if self.func.ty(x).shape.rank() == shape.rank() => {
                Op::Broadcast { x: self.value(x, order)?, shape }
            }
            // Of one axis the elements have one order.
            Some(Op::Reshape { x, .. }) if shape.dims().iter().filter(|&&extent| extent > 1).count() <= 1 => {
                Op::Reshape { x, shape }
            }
            Some(op) if self.is_index(&op, value) => {
                let (mut failure, mut op) = (None, op);
                op.map_operands(|v| match self.func.ty(v).shape {
                    Shape::SCALAR => v,
                    _ => self.value(v, order).unwrap_or_else(|error| {
                        failure = Some(error);
                        v
                    }),
                });
                if let Op::Hint { along, .. } = &mut op {
                    *along = along.permute(order).ok_or("an order of other axes")?;
                }
                failure.map_or(Ok(op), Err)?
            }
            _ => Op::Permute { x: value, order },
        };
        let turned = self.beside(value, definition, op)?;
        self.known.insert((value, order), turned);
        Ok(turned)
    }

    /// Whether an operation is on indices, pointers or masks, element by element.
    fn is_index(&self, op: &Op, result: Value) -> bool {
        let is_index = match self.func.ty(result).elem {
            Elem::Ptr { .. } => true,
            Elem::Num(dtype) => !dtype.is_float(),
        };
        op.layout_rule() == LayoutRule::Elementwise && op.effect() == Effect::Pure && is_index
    }

    /// Makes an operation right after a value is defined.
    fn beside(&mut self, value: Value, definition: Option<Inst>, op: Op) -> Result<Value, String> {
        let span = definition.map_or(Span::NONE, |inst| self.func.insts[inst].span);
        let inst = self.func.make(op, span)?;
        let block = self.defs.home(value).unwrap_or(self.func.body);
        let insts = &mut self.func.blocks[block].insts;
        let at = definition.and_then(|inst| insts.iter().position(|&i| i == inst)).map_or(0, |at| at + 1);
        insts.insert(at, inst);
        Ok(self.func.insts[inst].results[0])
    }
}

/// The order that undoes another one.
fn inverse(order: Shape) -> Result<Shape, String> {
    let axes = 0..order.rank() as u32;
    let place = |axis: u32| order.dims().iter().position(|&of| of == axis).map(|at| at as u32);
    let inverse: Option<Vec<u32>> = axes.map(place).collect();
    inverse.and_then(|dims| Shape::new(&dims)).ok_or_else(|| "an order of other axes".into())
}
