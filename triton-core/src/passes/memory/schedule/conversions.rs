//! Loads whose elements are converted, scaled or combined with others before a product takes them.
//!
//! *Before:* a loop loads a tile, computes an operand of a product from it, element by element, and stores that to shared memory: the turn
//! waits for the load. *After:* the raw tile is stored to a buffer of its own, and loaded again in the same layout: a load that a ring
//! takes. Each thread copies what it holds, so that what it reads there needs no barrier; what several threads hold, one of them copies.
//! Where the raw tile goes through shared memory anyhow, to threads that convert it in another layout, the ring takes that buffer.
//!
//! Bulk copies take such a tile from a view, too, where a loop's products go on while threads convert: the raw tile then is in a pattern of
//! theirs. So nothing but threads' own loads and stores of it, and what the products read, takes the time of shared memory's pipe.
//!
//! It is written for rings alone: without one it is a detour through shared memory, and [`super::schedule`] leaves the function as it was.

use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Value};
use crate::layout::access::{self, Access};
use crate::layout::{Layout, Mem, Swizzle, hopper};
use crate::ops::kinds::UnaryKind;
use crate::ops::{Effect, LayoutRule, Location, Op};

/// What of a function a ring can read ahead for conversions.
#[derive(Default)]
pub(super) struct Conversions {
    /// Loads whose elements are converted as they were loaded.
    pub loads: Vec<Inst>,
    /// Buffers to which a load is stored, and from which threads that convert it read it.
    pub buffers: Vec<Value>,
}

impl Conversions {
    pub fn is_empty(&self) -> bool {
        self.loads.is_empty() && self.buffers.is_empty()
    }
}

/// The loads of converted operands in the loops that have stages, in the order of the program.
pub(super) fn find(func: &Function) -> Conversions {
    let defs = Defs::of(func);
    let mut found = Conversions::default();
    for (_, inst) in super::loops(func) {
        if func.stages(inst) > 1 {
            of_region(func, &defs, func.insts[inst].regions[0], &mut found);
        }
    }
    found
}

/// Walks from the operands of a region's products to the loads that they are computed from.
fn of_region(func: &Function, defs: &Defs, region: Block, found: &mut Conversions) {
    let mut multiplied: SideTable<Value, bool> = SideTable::new(false);
    let mut stored: SideTable<Value, Option<Value>> = SideTable::new(None);
    // Values, and whether an operation on elements is between them and the product.
    let mut open = Vec::new();
    for &inst in func.blocks[region].insts.iter().rev() {
        let data = &func.insts[inst];
        func.shared_operands(&data.op).into_iter().for_each(|(operand, _)| multiplied[operand] = true);
        if let (Some((x, _)), &[alias]) = (func.aliased(data), &data.results[..]) {
            multiplied[x] |= multiplied[alias];
        }
        if let Op::SharedStore { buffer, value, part: 0 } = data.op {
            stored[buffer] = Some(value);
            open.extend(Some((value, false)).filter(|_| multiplied[buffer]));
        }
        // Operands in registers.
        if let Op::Dot { a, b, .. } = data.op {
            open.extend([a, b].into_iter().filter(|&v| func.mem(v).is_none()).map(|v| (v, false)));
        }
    }
    let mut seen: Vec<(Value, bool)> = Vec::new();
    let (mut loads, mut buffers) = (SideTable::new(false), SideTable::new(false));
    while let Some((value, converted)) = open.pop() {
        let Some(inst) = defs.definition_in(value, region).filter(|_| !seen.contains(&(value, converted))) else {
            continue;
        };
        seen.push((value, converted));
        let op = &func.insts[inst].op;
        if let Op::SharedLoad { buffer, part: 0, .. } = *op
            && let Some(value) = stored[buffer]
        {
            if converted && defs.definition_in(value, region).is_some_and(|inst| is_load(func, inst)) {
                buffers[buffer] = true;
            } else {
                open.push((value, converted));
            }
        }
        loads[inst] |= converted && is_load(func, inst);
        let rule = op.layout_rule();
        // Copies round to tf32 themselves, or no ring is made.
        let converts = rule == LayoutRule::Elementwise && !matches!(op, Op::Unary { kind: UnaryKind::Tf32, .. });
        if op.effect() == Effect::Pure
            && (rule == LayoutRule::Elementwise || rule == LayoutRule::ShapeChange || matches!(op, Op::Convert { .. }))
        {
            op.for_each_operand(|v| open.push((v, converted || converts)));
        }
    }
    for &inst in &func.blocks[region].insts {
        let data = &func.insts[inst];
        if loads[inst] && memory(func, data.results[0]).is_some() {
            found.loads.push(inst);
        }
        found.buffers.extend(data.results.iter().copied().filter(|&v| buffers[v]));
    }
}

fn is_load(func: &Function, inst: Inst) -> bool {
    matches!(func.insts[inst].op, Op::Load { other: None, .. })
}

/// The memory from which a tile is read as threads copied it.
fn memory(func: &Function, value: Value) -> Option<Mem> {
    let ty = func.ty(value);
    let layout = &func.layouts[func.layout_id(value)?];
    let mem = Mem::row_major(ty.shape, ty.elem.bits()).filter(|mem| mem.bits() >= 8)?;
    is_copied(layout, &mem).then_some(mem)
}

/// The memory from which a tile is read as bulk copies wrote it, if they do and threads read it without bank conflicts.
fn memory_of_bulk_copies(func: &Function, load: Inst) -> Option<Mem> {
    let Op::Load { from: Location::View { .. }, .. } = func.insts[load].op else { return None };
    let tile = func.insts[load].results[0];
    let (ty, layout) = (func.ty(tile), func.layout(tile)?);
    let mems =
        Swizzle::ALL.into_iter().filter_map(|of| Mem::swizzled(ty.shape, ty.elem.bits(), of, ty.shape.rank() - 1));
    let is_read = |mem: &Mem| access::vector(layout, mem).is_some_and(|read| read.ways == 1);
    mems.into_iter().find(|mem| hopper::tma_box(mem, ty.shape).is_some_and(|boxes| boxes.major == 1) && is_read(mem))
}

/// Whether threads copy what they hold to a memory without bank conflicts.
fn is_copied(layout: &Layout, mem: &Mem) -> bool {
    let wide = |of: Access| of.elements * mem.bits() / 8 >= access::NARROWEST_COPY && of.ways == 1;
    access::copies(layout, mem, access::WIDEST * 8 / mem.bits()).is_some_and(wide)
}

/// The memory of a buffer that threads copy a tile to, and others read, if it was to be written in another way.
fn read_by_others(func: &Function, defs: &Defs, buffer: Value) -> Option<Mem> {
    let (mut from, mut to) = (None, None);
    for user in defs.users(buffer) {
        if let Op::SharedStore { value, .. } = func.insts[user].op {
            from = func.layout(value);
        } else if let (Op::SharedLoad { .. }, &[result]) = (func.insts[user].op, &func.insts[user].results[..]) {
            to = func.layout(result);
        } else {
            return None;
        }
    }
    let ((from, to), mem) = (from.zip(to)?, func.mem(buffer)?);
    let is_whole = !is_copied(from, mem) && mem.is_whole(func.copies(buffer));
    let other = access::copied(from, to, func.ty(buffer).shape, mem).filter(|_| is_whole)?;
    Some(other)
}

/// Stores loads to buffers, and loads them again. Yields these buffers. Those from which others read are in a memory that takes copies. If it
/// is for bulk copies, all of them are in memories that these write; `None` if one cannot be.
///
/// # Errors
/// None for a function that the verifier accepts.
pub(super) fn stage(func: &mut Function, of: &Conversions, bulk: bool) -> Result<Option<Vec<Value>>, String> {
    let defs = Defs::of(func);
    let mut buffers = Vec::new();
    for &buffer in &of.buffers {
        if let Some(mem) = read_by_others(func, &defs, buffer) {
            func.set_mem(buffer, mem);
        }
    }
    for &load in &of.loads {
        let (span, result) = (func.insts[load].span, func.insts[load].results[0]);
        let mem = if bulk { memory_of_bulk_copies(func, load) } else { memory(func, result) };
        let Some(mem) = mem else { return if bulk { Ok(None) } else { Err("a load that is not copied".into()) } };
        let raw = func.copy_value(result);
        func.insts[load].results = vec![raw];
        let mut after = Vec::new();
        let buffer = func.compute(Op::SharedAlloc { ty: func.ty(result), at: None }, span, &mut after)?;
        func.set_mem(buffer, mem);
        after.push(func.make(Op::SharedStore { buffer, part: 0, value: raw }, span)?);
        let again = func.make(Op::SharedLoad { buffer, part: 0, rest: None }, span)?;
        func.insts[again].results = vec![result];
        after.push(again);
        let block = defs.block_of(load).ok_or("a load that is in no block")?;
        let at = func.blocks[block].insts.iter().position(|&inst| inst == load).ok_or("a load that is in no block")?;
        func.blocks[block].insts.splice(at + 1..at + 1, after);
        buffers.push(buffer);
    }
    Ok(Some(buffers))
}
