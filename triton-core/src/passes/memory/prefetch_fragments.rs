//! Fragments of a product over the back edge of its loop, at stage 2; a step of [`crate::passes::memory::schedule`].
//!
//! *Before:* a turn waits for its item, and multiplies it: what the first step along K needs is loaded when nothing else is left to do.
//! *After:* the product is one of each slice along K, as deep as the instruction, and the operands of each slice are loaded before the
//! product of the one before. Those of the first slice are loaded in the turn before, once that has loaded its own last slice: there
//! the wait and the barrier stand, and the last product follows them. So tensor cores have work while threads wait and load, as in the
//! main loop of CUTLASS's multistage kernels, and of Triton's prefetch pass.
//!
//! The last turn has no next item; it loads nothing, under a predicate.
//!
//! It is done for products by tensor cores of two slots of one ring, if nothing else reads them, if the slices take as many loads as
//! the tile, and if a thread has registers for the slices of two steps. Elements of 8 bits stay as they were, as they are carried apart.

use crate::analysis::defs::Defs;
use crate::ir::{Block, Function, Inst, InstData, RingId, Value};
use crate::layout::{Layout, access, products};
use crate::ops::kinds::CompareKind;
use crate::ops::{DotKind, Op};
use crate::span::Span;
use crate::types::{Constant, Slice};

/// The most registers of a sum and of slices: addresses, counters and masks take the rest of 255. At 224 a product by
/// tf32 spills on `sm_80`.
const MAX_REGISTERS: usize = 208;

/// A loop with a ring.
pub(crate) struct Pipelined {
    /// The block that it is in, and its instruction.
    pub block: Block,
    pub inst: Inst,
    pub ring: RingId,
    pub counter: Value,
    /// The wait for the item of a turn, the barrier after it, the release, and what counts it.
    pub wait: Inst,
    pub sync: Inst,
    pub release: Inst,
    pub count: [Inst; 2],
    /// The first item, and whether there is one.
    pub first: Value,
    pub any: Value,
    /// The end, less a step.
    pub limit: Value,
}

/// An operand of a product.
struct Operand {
    /// The slot, and what makes the operand of it, in order.
    slot: Inst,
    aliases: Vec<Inst>,
    value: Value,
    axis: usize,
    /// The layout of a slice, and its extent.
    layout: Layout,
    depth: u32,
}

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub(crate) fn prefetch_fragments(func: &mut Function, of: &Pipelined) -> Result<(), String> {
    let body = func.insts[of.inst].regions[0];
    let Some((dot, operands)) = product(func, of, body) else { return Ok(()) };
    Carrier { func, insts: Vec::new(), span: Span::NONE }.carry(of, body, dot, &operands)
}

/// The product of a loop's two slots, if it is one whose fragments can be carried.
fn product(func: &Function, of: &Pipelined, body: Block) -> Option<(Inst, [Operand; 2])> {
    let insts = &func.blocks[body].insts;
    let is_product = |&&inst: &&Inst| matches!(func.insts[inst].op, Op::Dot { kind: DotKind::Mma, .. });
    let mut products = insts.iter().filter(is_product);
    let (&dot, None) = (products.next()?, products.next()) else { return None };
    let Op::Dot { a, b, acc, .. } = func.insts[dot].op else { return None };
    let (ty, shape) = (func.ty(a), func.ty(acc).shape);
    let (_, [_, k]) = ty.shape.matrices()?;
    let (atom, [.., depth]) = products::atom(ty.elem.num()?)?;
    let (steps, bits) = (k / depth, ty.elem.bits());
    if steps < 2 || bits < 16 || a == b || func.rings[of.ring].buffers.len() != 2 {
        return None;
    }
    let whole = func.operand_layouts(&func.insts[dot].op)?;
    let slices = products::mma(func.layout(acc)?, shape, depth, bits, atom)?;
    // The sum, and the slices of two steps; what is rounded is in registers once more.
    let copies = if DotKind::Mma.rounds(ty.elem.num()?) { 3 } else { 2 };
    // K is of one copy (`Slice`).
    let of_slices = slices.iter().zip([a, b]).map(|(slice, operand)| slice.registers() * func.copies(operand));
    let words: usize = of_slices.map(|registers| registers * bits as usize / 32).sum();
    let sum = func.registers(acc) * func.ty(acc).elem.bits() as usize / 32;
    if sum + copies * words > MAX_REGISTERS {
        return None;
    }
    let defs = Defs::of(func);
    let operand = |value: Value, axis: usize, whole: &Layout, layout: &Layout| {
        let (slot, aliases) = source(func, &defs, body, value)?;
        let mem = func.mem(value)?;
        let slice = Slice::new(func.ty(value).shape, axis, 0, depth)?;
        let loads = |layout: &Layout| access::shared(layout, mem, true).map(|access| access.instructions());
        let as_many = loads(&layout.compose(&slice.columns()))? * steps == loads(whole)?;
        as_many.then(|| Operand { slot, aliases, value, axis, layout: layout.clone(), depth })
    };
    let [last, before] = [ty.shape.rank() - 1, ty.shape.rank() - 2];
    let operands = [operand(a, last, &whole[0].1, &slices[0])?, operand(b, before, &whole[1].1, &slices[1])?];
    (operands[0].slot != operands[1].slot).then_some((dot, operands))
}

/// The slot that an operand is of, and the changes of its shape, if nothing else reads any of them.
fn source(func: &Function, defs: &Defs, body: Block, mut value: Value) -> Option<(Inst, Vec<Inst>)> {
    let mut aliases = Vec::new();
    loop {
        let inst = defs.definition_in(value, body).filter(|_| defs.is_used_once(value))?;
        let op = func.insts[inst].op;
        if let Op::RingSlot { .. } = op {
            return Some((inst, aliases));
        }
        let (Op::Permute { x, .. } | Op::Reshape { x, .. }) = op else { return None };
        aliases.insert(0, inst);
        value = x;
    }
}

struct Carrier<'a> {
    func: &'a mut Function,
    /// What is written so far.
    insts: Vec<Inst>,
    span: Span,
}

impl Carrier<'_> {
    fn carry(mut self, of: &Pipelined, body: Block, dot: Inst, operands: &[Operand; 2]) -> Result<(), String> {
        let InstData { op: Op::Dot { kind, mut acc, .. }, span, .. } = self.func.insts[dot] else { return Ok(()) };
        self.span = span;

        // Before the loop.
        self.insts.extend([of.wait, of.sync].map(|inst| self.func.copy_inst(inst)));
        let Op::RingWait { ring, .. } = self.func.insts[of.wait].op else { return Ok(()) };
        self.func.insts[self.insts[0]].op = Op::RingWait { ring, item: of.first };
        let mut slices = Vec::new();
        for operand in operands {
            let zeros = self.zeros(operand)?;
            let tile = self.slot(operand, of.first)?;
            slices.push(self.slice(operand, tile, 0, Some((of.any, zeros)))?);
        }
        let before = std::mem::take(&mut self.insts);
        let at = self.func.blocks[of.block].insts.iter().position(|&i| i == of.inst);
        let at = at.ok_or("a loop that is in no block")?;
        self.func.blocks[of.block].insts.splice(at..at, before);

        // The loop carries the first slices.
        let mut carried = Vec::new();
        for slice in slices {
            let [param, last] = [(); 2].map(|()| self.func.copy_value(slice));
            self.func.blocks[body].params.push(param);
            self.func.insts[of.inst].args.push(slice);
            self.func.insts[of.inst].results.push(last);
            carried.push(param);
        }

        // In the loop. The loads of the second slice are before the fills, beyond which no assembler moves them.
        let slots = operands.iter().flat_map(|of| [of.slot].into_iter().chain(of.aliases.clone()));
        self.insts.extend(slots);
        let mut moved = self.insts.clone();
        moved.extend([of.wait, of.sync, of.release].into_iter().chain(of.count));
        let (mut slices, mut ahead) = (carried.clone(), Vec::new());
        let mut next = self.slices(operands, 1)?;
        for inst in self.func.blocks[body].insts.clone() {
            if moved.contains(&inst) {
                continue;
            }
            if inst == dot {
                let steps = self.func.ty(operands[0].value).shape.dims()[operands[0].axis] / operands[0].depth;
                for step in 2..=steps {
                    acc = self.op(Op::Dot { kind, a: slices[0], b: slices[1], acc })?;
                    slices = next;
                    next = if step < steps { self.slices(operands, step)? } else { Vec::new() };
                }
                self.insts.push(of.release);
                self.insts.extend(of.count);
                let item = self.func.insts[of.count[1]].results[0];
                let more = self.op(Op::Compare { kind: CompareKind::Lt, a: of.counter, b: of.limit })?;
                self.func.insts[of.wait].op = Op::RingWait { ring, item };
                self.insts.extend([of.wait, of.sync]);
                for (operand, &param) in operands.iter().zip(&carried) {
                    let tile = self.slot(operand, item)?;
                    ahead.push(self.slice(operand, tile, 0, Some((more, param)))?);
                }
                self.func.insts[dot].op = Op::Dot { kind, a: slices[0], b: slices[1], acc };
            }
            self.insts.push(inst);
        }
        let end = *self.insts.last().ok_or("a loop without an end")?;
        self.func.insts[end].args.extend(ahead);
        self.func.blocks[body].insts = self.insts;
        Ok(())
    }

    /// The tile that an operand is of another item.
    fn slot(&mut self, operand: &Operand, item: Value) -> Result<Value, String> {
        let mut tile = None;
        for &made in [operand.slot].iter().chain(&operand.aliases) {
            let inst = self.func.copy_inst(made);
            let op = &mut self.func.insts[inst].op;
            if let Op::RingSlot { buffer, .. } = *op {
                *op = Op::RingSlot { buffer, item };
            } else if let Some(tile) = tile {
                op.map_operands(|_| tile);
            }
            tile = self.func.insts[inst].results.first().copied();
            self.insts.push(inst);
        }
        tile.ok_or_else(|| "an operand of nothing".into())
    }

    /// The slices of a step along K of the item of a turn.
    fn slices(&mut self, operands: &[Operand; 2], step: u32) -> Result<Vec<Value>, String> {
        let slice = |of: &Operand| self.slice(of, of.value, step * of.depth, None);
        operands.iter().map(slice).collect()
    }

    /// A slice of an operand from an index along K on; if there is a condition and it does not hold, the tile beside it.
    fn slice(
        &mut self,
        operand: &Operand,
        buffer: Value,
        start: u32,
        other: Option<(Value, Value)>,
    ) -> Result<Value, String> {
        let (axis, extent) = (operand.axis as u32, operand.depth);
        let (when, rest) = other.unzip();
        let slice = self.op(Op::SharedSlice { buffer, axis, start, extent, when, rest })?;
        self.func.set_layout(slice, operand.layout.clone());
        Ok(slice)
    }

    /// A slice of zeros.
    fn zeros(&mut self, operand: &Operand) -> Result<Value, String> {
        let ty = self.func.ty(operand.value);
        let slice = Slice::new(ty.shape, operand.axis, 0, operand.depth).ok_or("no slice")?;
        let dtype = ty.elem.num().ok_or("a product of pointers")?;
        let zero = self.op(Op::Const { value: Constant { dtype, bits: 0 } })?;
        let zeros = self.op(Op::Splat { x: zero, shape: slice.shape() })?;
        self.func.set_layout(zeros, operand.layout.clone());
        Ok(zeros)
    }

    fn op(&mut self, op: Op) -> Result<Value, String> {
        let value = self.func.compute(op, self.span, &mut self.insts)?;
        if let Op::Dot { acc, .. } = op {
            self.func.place_of[value] = self.func.place_of[acc];
        }
        Ok(value)
    }
}
