//! Results by bulk copies, at stage 2.
//!
//! *Before:* the tile that a program stores to a view is converted, through shared memory, to a layout of whole vectors, and threads store
//! these. *After:* threads store panels of it to a ring of shared memory, rows of 32 to 128 bytes in the pattern of bulk copies, and each warp begins a
//! copy of the rows that it has stored: `ring.drain`. Before it stores to a slot again, it has waited for its copies from there: no warp waits for
//! another. Nothing is loaded again, nothing is masked, as a copy leaves out what is out of bounds, and the program ends, or the block goes
//! on with the next one ([`super::persist`]), while its last panels are copied.
//!
//! It is done for what a program with products by `wgmma` stores once, in the kernel's own block, where warps have whole rows of the result, the
//! rows of the view are aligned, and nothing else accesses the view: what a copy writes is there at the end of the program, and no barrier orders it.
//! A program that tells others what it has done stores by threads.

use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::ir::{Fill, Function, Inst, Ring, RingBuffer, Value, in_flight};
use crate::layout::hopper::WarpBoxes;
use crate::layout::{Mem, Swizzle, access};
use crate::ops::kinds::BinaryKind;
use crate::ops::{AccessEffect, Control, Location, Op, Values};
use crate::passes::Env;
use crate::span::Span;
use crate::types::{Constant, DType, Shape};

/// Slots of a ring of panels with rows of 128 bytes: one is stored to while the other is read. Of narrower panels there are as many more.
const SLOTS: u32 = 2;

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub(super) fn drain(func: &mut Function, env: &Env) -> Result<(), String> {
    if !env.target.info().bulk_copies || !func.contains(func.body, in_flight::is_product) || tells(func) {
        return Ok(());
    }
    let (defs, facts) = (Defs::of(func), axis::analyse(func, env.specialization));
    let insts = func.blocks[func.body].insts.clone();
    let results: Vec<Drained> = insts.into_iter().filter_map(|inst| Drained::of(func, &defs, &facts, inst)).collect();
    results.into_iter().try_for_each(|of| of.write(func))
}

/// Whether a program tells others what it has done, or learns it from them.
fn tells(func: &Function) -> bool {
    func.contains(func.body, |op| {
        let updates = op.access().is_some_and(|access| access.effect == AccessEffect::Update);
        updates || matches!(op, Op::Fence {}) || op.control().is_some_and(Control::may_wait)
    })
}

/// A store, and what is drained in its place.
struct Drained {
    store: Inst,
    tile: Value,
    mem: Mem,
    to: Location,
    span: Span,
    /// What made the stored value of the tile.
    changes: Vec<Inst>,
}

impl Drained {
    fn of(func: &Function, defs: &Defs, facts: &SideTable<Value, AxisInfo>, store: Inst) -> Option<Drained> {
        let Op::Store { to: to @ Location::View { base, at, shape }, value } = func.insts[store].op else {
            return None;
        };
        // What is stored, in the layout in which it was computed.
        let (mut tile, mut changes, mut converted) = (value, Vec::new(), false);
        while let Some(inst) = defs.definition_in(tile, func.body).filter(|_| defs.is_used_once(tile))
            && let Op::Convert { x } | Op::Reshape { x, .. } = func.insts[inst].op
        {
            converted |= matches!(func.insts[inst].op, Op::Convert { .. });
            changes.push(inst);
            tile = x;
        }
        // Sums that are stored as they are would be read after a copy has begun: `ptxas` C7514, see `pack_all` of `ptx::memory::shared`.
        let made = func.insts[defs.definition(tile)?].op;
        let ty = func.ty(tile);
        let is_matrix = ty.shape.rank() == 2 && shape.dims().ends_with(ty.shape.dims());
        let leading = shape.rank().checked_sub(2)?;
        let is_one = shape.dims()[..leading].iter().all(|&extent| extent == 1);
        let is_index = |&v: &Value| func.ty(v).elem.num() == Some(DType::I32);
        let (bits, columns) = (ty.elem.bits(), *ty.shape.base().dims().last()?);
        let swizzle = Swizzle::ALL.into_iter().find(|of| of.bytes() <= columns * bits / 8)?;
        let across = swizzle.bytes() * 8 / bits;
        let aligned = axis::vector_width(func, facts, to) * u64::from(bits / 8) >= access::WIDEST.into();
        // Of a narrow tile threads store whole rows as well.
        let is_wide = ty.shape.dims().last()? * bits / 8 >= Swizzle::B128.bytes();
        let alone = defs.uses(base) == 1 && at.as_slice().iter().all(is_index);
        let rounded = matches!(made, Op::Cast { .. }) && bits == 16;
        if !(converted && is_matrix && is_one && aligned && alone && rounded && is_wide) {
            return None;
        }
        let mem = Mem::swizzled(ty.shape.base(), bits, swizzle, 1)?.in_parts((columns / across).ilog2())?;
        WarpBoxes::of(func.layout(tile)?, &mem, ty.shape)?;
        access::shared(func.layout(tile)?, &mem, true)?;
        Some(Drained { store, tile, mem, to, span: func.insts[store].span, changes })
    }

    fn write(self, func: &mut Function) -> Result<(), String> {
        let Drained { store, tile, mem, to, span, changes } = self;
        let Location::View { base, at, shape } = to else { return Ok(()) };
        let (ty, mut insts) = (func.ty(tile), Vec::new());
        let layout = func.layout_id(tile).ok_or("a tile without a layout")?;
        let (parts, copies) = (mem.parts_of(ty.shape.num_copies()), 1 << mem.parts());
        let buffer = func.compute(Op::SharedAlloc { ty, at: None }, span, &mut insts)?;
        func.set_mem(buffer, mem);
        let row = ty.shape.base().dims()[1] * ty.elem.bits() / 8 / copies;
        let slots = (SLOTS * Swizzle::B128.bytes() / row).min(parts);
        let of = RingBuffer { buffer, layout, tf32: false, padding: 0, shared: false };
        let ring = func.rings.push(Ring { slots, fill: Fill::Drained, buffers: vec![of] });
        let number = |func: &mut Function, value: i128, insts: &mut Vec<Inst>| {
            func.compute(Op::Const { value: Constant::int(DType::I32, value) }, span, insts)
        };
        let add = |func: &mut Function, a: Value, more: i128, insts: &mut Vec<Inst>| {
            let b = number(func, more, insts)?;
            func.compute(Op::Binary { kind: BinaryKind::Add, a, b }, span, insts)
        };
        let first = number(func, 0, &mut insts)?;
        let [rows, across] = [ty.shape.base().dims()[0], ty.shape.base().dims()[1] / copies];
        for part in 0..parts {
            let item = add(func, first, part.into(), &mut insts)?;
            let before = add(func, item, -i128::from(slots), &mut insts)?;
            insts.push(func.make(Op::RingRelease { ring, item: before, first: None }, span)?);
            let slot = func.compute(Op::RingSlot { buffer, item }, span, &mut insts)?;
            func.place_of[slot] = func.place_of[buffer];
            insts.push(func.make(Op::SharedStore { buffer: slot, part, value: tile }, span)?);
            let (copy, panel) = ((part / copies) as usize, part % copies);
            let mut at = at.as_slice().to_vec();
            let mut dims = shape.dims().to_vec();
            let further = [ty.shape.origin(copy, 0), ty.shape.origin(copy, 1) + panel * across];
            for (axis, (further, extent)) in (at.len() - 2..).zip(further.into_iter().zip([rows, across])) {
                dims[axis] = extent;
                if further > 0 {
                    at[axis] = add(func, at[axis], further.into(), &mut insts)?;
                }
            }
            let (at, shape) = Values::new(&at).zip(Shape::new(&dims)).ok_or("a panel of no view")?;
            insts.push(func.make(Op::RingDrain { buffer, item, to: Location::View { base, at, shape } }, span)?);
        }
        let position = func.blocks[func.body].insts.iter().position(|&inst| inst == store).ok_or("a lost store")?;
        func.blocks[func.body].insts.splice(position..=position, insts);
        func.blocks[func.body].insts.retain(|inst| !changes.contains(inst));
        Ok(())
    }
}
