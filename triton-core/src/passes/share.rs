//! Exchanges through shared memory, stage 1 → 2.
//!
//! *Before:* `convert`s, of which some move elements between warps, or are cheaper through memory than by shuffles. *After:*
//! each of those is a buffer in shared memory, a store and a load, in the layout of memory that [`crate::layout::convert::plan`] has found;
//! a tile that is larger than a buffer goes through it part by part. All buffers have an offset: large ones that live at
//! different times share bytes ([`storage`]), small ones and those of one loop only if necessary.
//!
//! The old value of an atomic update is broadcast in the same way by the one thread that made it.
//!
//! A conversion waits until something needs it; several that wait then go together, all stores before all loads, so that
//! one barrier serves them. Barriers are written by [`super::sync`].

use super::Env;
use crate::analysis::liveness::{self, LiveInterval};
use crate::analysis::storage::{self, Buffer};
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Stage, Value};
use crate::layout::convert::PlanKind;
use crate::layout::{Layout, Mem, cost};
use crate::ops::Op;
use crate::span::Span;
use crate::types::{Shape, Type};

/// The alignment of a buffer in bytes: that of the widest access.
const ALIGN: u64 = 16;

/// Bytes of a buffer that shares none: a barrier would cost more than they do.
const SMALL: u64 = 1024;

/// See the [module's page](self).
///
/// # Errors
/// A conversion between layouts of different tiles: a bug in another pass.
pub fn share(func: &mut Function, env: &Env) -> Result<(), String> {
    func.stage = Stage::Synchronized;
    block(func, func.body, env)?;
    assign_offsets(func);
    Ok(())
}

/// A conversion that waits: the instruction, and the layout in shared memory.
struct Waiting {
    inst: Inst,
    x: Value,
    mem: Mem,
}

fn block(func: &mut Function, id: Block, env: &Env) -> Result<(), String> {
    let mut insts = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        let data = &func.insts[inst];
        let mut needs = !data.regions.is_empty() && !matches!(data.op, Op::Reduce { .. });
        // Unused conversions still go before the end.
        needs |= data.op == Op::Yield {};
        data.for_each_operand(|v| needs |= waiting.iter().any(|w| func.insts[w.inst].results[0] == v));
        let regions = data.regions.clone();
        if needs {
            exchange(func, std::mem::take(&mut waiting), &mut insts)?;
        }
        match through_memory(func, inst, env)? {
            Some(exchange) => waiting.push(exchange),
            None => {
                regions.into_iter().try_for_each(|region| block(func, region, env))?;
                insts.push(inst);
                exchange_result(func, inst, &mut insts)?;
            }
        }
    }
    // Nothing in the kernel's own block, which has no end, needs these.
    exchange(func, waiting, &mut insts)?;
    func.blocks[id].insts = insts;
    Ok(())
}

/// How a conversion uses shared memory; `None` if it does not, or is none.
fn through_memory(func: &mut Function, inst: Inst, env: &Env) -> Result<Option<Waiting>, String> {
    let data = &func.insts[inst];
    let Op::Convert { x } = data.op else { return Ok(None) };
    let result = data.results[0];
    let (Some(src), Some(dst)) = (func.layout_id(x), func.layout_id(result)) else { return Ok(None) };
    let plan = func.layouts.plan(src, dst, func.ty(x).elem.bits(), env.target.info().stmatrix);
    let (from, to) = (&func.layouts[src], &func.layouts[dst]);
    let plan = plan.ok_or_else(|| format!("{result} is not of the elements of {x}: {from} to {to}"))?;
    let PlanKind::Shared(shared) = &plan.kind else { return Ok(None) };
    Ok(Some(Waiting { inst, x, mem: shared.mem.clone() }))
}

/// The conversions as buffers, stores and loads: as many at once as do not need more memory than one alone may.
fn exchange(func: &mut Function, waiting: Vec<Waiting>, insts: &mut Vec<Inst>) -> Result<(), String> {
    let mut waiting = &waiting[..];
    while !waiting.is_empty() {
        let mut bytes = 0;
        let fits = waiting.iter().take_while(|w| {
            bytes += w.mem.bytes();
            bytes <= cost::SCRATCH_BYTES
        });
        let (now, later) = waiting.split_at(fits.count().max(1));
        waiting = later;
        let room = |w: &Waiting| allocate(func, func.ty(w.x), w.mem.clone(), func.insts[w.inst].span, insts);
        let buffers = now.iter().map(room).collect::<Result<Vec<Value>, String>>()?;
        let mut rest = vec![None; now.len()];
        for part in 0..now.iter().map(|w| 1 << w.mem.parts()).max().unwrap_or(0) {
            let has_part = |w: &Waiting| part >> w.mem.parts() == 0;
            for (w, &buffer) in now.iter().zip(&buffers).filter(|(w, _)| has_part(w)) {
                let store = Op::SharedStore { buffer, part, value: w.x };
                insts.push(func.make(store, func.insts[w.inst].span)?);
            }
            for ((w, &buffer), rest) in now.iter().zip(&buffers).zip(&mut rest).filter(|((w, _), _)| has_part(w)) {
                let load = Op::SharedLoad { buffer, part, rest: *rest };
                let result = func.insts[w.inst].results[0];
                if part + 1 == 1 << w.mem.parts() {
                    func.insts[w.inst].op = load;
                    insts.push(w.inst);
                } else {
                    let inst = func.make(load, func.insts[w.inst].span)?;
                    let loaded = func.insts[inst].results[0];
                    func.place_of[loaded] = func.place_of[result];
                    *rest = Some(loaded);
                    insts.push(inst);
                }
            }
        }
    }
    Ok(())
}

/// Gives what an atomic update yields to all threads that need it.
fn exchange_result(func: &mut Function, inst: Inst, insts: &mut Vec<Inst>) -> Result<(), String> {
    let data = &func.insts[inst];
    let (Op::Atomic { .. } | Op::AtomicCas { .. }, &[all]) = (&data.op, &data.results[..]) else { return Ok(()) };
    let (span, ty, layout) = (data.span, func.ty(all), func.layout(all).cloned());
    let known_to_all = layout.as_ref().is_some_and(|layout| layout.replicated() == (0, 0));
    if known_to_all || !func.used()[all] {
        return Ok(());
    }
    // A scalar goes through memory as a tile of one element.
    let one = Shape::new(&[1]).filter(|_| layout.is_none());
    let nowhere = || Layout { reg: Vec::new(), lane: [0; 5], warp: vec![0; func.num_warps.trailing_zeros() as usize] };
    let layout = layout.unwrap_or_else(nowhere);
    let found = func.types.push(ty);
    func.place_of[found] = func.place_of[all];
    func.insts[inst].results = vec![found];
    let mut value = found;
    if let Some(shape) = one {
        let reshaped = func.make(Op::Reshape { x: value, shape }, span)?;
        value = func.insts[reshaped].results[0];
        func.set_layout(value, layout.clone());
        insts.push(reshaped);
    }
    let tile = func.ty(value);
    let mem = Mem::row_major(tile.shape, tile.elem.bits()).ok_or("a tile that does not fit into shared memory")?;
    let buffer = allocate(func, tile, mem, span, insts)?;
    let store = func.make(Op::SharedStore { buffer, part: 0, value }, span)?;
    let load = func.make(Op::SharedLoad { buffer, part: 0, rest: None }, span)?;
    insts.extend([store, load]);
    let loaded = func.insts[load].results[0];
    func.set_layout(loaded, layout);
    let last = match one {
        None => load,
        Some(_) => {
            let scalar = func.make(Op::Reshape { x: loaded, shape: Shape::SCALAR }, span)?;
            insts.push(scalar);
            scalar
        }
    };
    func.insts[last].results = vec![all];
    Ok(())
}

/// A buffer for a tile; its offset is allocated later.
fn allocate(func: &mut Function, ty: Type, mem: Mem, span: Span, insts: &mut Vec<Inst>) -> Result<Value, String> {
    let inst = func.make(Op::SharedAlloc { ty, at: 0 }, span)?;
    let buffer = func.insts[inst].results[0];
    func.set_mem(buffer, mem);
    insts.push(inst);
    Ok(buffer)
}

/// Allocates every buffer. Small ones, and those of one loop or branch, lie beside one another, as barriers between them would
/// cost more than the memory; unless that is more than a block has.
fn assign_offsets(func: &mut Function) {
    let liveness = liveness::analyse(func, &SideTable::new(None));
    // The last instructions of loops and branches of the kernel's own block.
    let ends: Vec<u32> = func.block(func.body).map(|(inst, _)| liveness.numbers[inst].1).collect();
    let of = |apart: bool| {
        let (mut insts, mut buffers) = (Vec::new(), Vec::new());
        for inst in func.walk() {
            let (Op::SharedAlloc { .. }, &[buffer]) = (func.insts[inst].op, &func.insts[inst].results[..]) else {
                continue;
            };
            let LiveInterval { start, last } = liveness.intervals[buffer];
            let bytes = func.mem(buffer).map_or(0, Mem::bytes);
            let end = match apart {
                true if bytes <= SMALL => liveness.last,
                true if last > start => ends.get(ends.partition_point(|&end| end < last)).copied().unwrap_or(last),
                true | false => last,
            };
            insts.push(inst);
            buffers.push(Buffer { bytes, align: ALIGN, live: start..end + 1, role: None });
        }
        (insts, storage::allocate(&buffers))
    };
    let (mut insts, mut allocation) = of(true);
    if allocation.total > cost::SHARED_BYTES {
        (insts, allocation) = of(false);
    }
    for (inst, offset) in insts.into_iter().zip(allocation.offsets) {
        if let Op::SharedAlloc { at, .. } = &mut func.insts[inst].op {
            *at = offset as u32;
        }
    }
}
