//! Exchanges through shared memory, stage 1 → 2.
//!
//! *Before:* `convert`s, of which some move elements between warps, or are cheaper through memory than by shuffles. *After:*
//! each of those is a buffer in shared memory, a store and a load, in the layout of memory that
//! [`crate::layout::convert::plan`] has found; a tile that is larger than a buffer goes through it part by part. Every
//! buffer is memory of its own: [`crate::passes::memory::sync`] writes the barriers, then
//! [`crate::passes::memory::allocate`] the offsets. Where all of them are more than a block has, a buffer that is dead
//! is reused for another tile in the same layout of memory: often by the same threads, which need not wait for one
//! another.
//!
//! An operand of a product stays in the buffer, from which the product reads it ([`Function::shared_operands`]): its
//! registers are needed for a step along K at a time, not for the tile; where sums take most registers, the memory is
//! one from which a thread loads single steps ([`access::step_by_step`]). One whose axes are permuted, before the
//! conversion or after it, is stored as it is, and the product reads an alias of the buffer with its axes in the other
//! order: no element moves. So is one that is reshaped after it, as a matrix that is divided along K into a batch.
//!
//! Blocks of a cluster exchange tiles by messages to one another's buffers. They arrive at the start, and wait for each other before the
//! first message. Messages are received where something needs them, so that those of several tiles are under way together.
//!
//! The old value of an atomic update is broadcast in the same way by the one thread that made it.
//!
//! A conversion waits until something needs it; several that wait then go together, all stores before all loads, so that
//! one barrier serves them.

use crate::analysis::defs::Defs;
use crate::analysis::liveness::{self, LiveInterval};
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, InstData, Stage, Value};
use crate::layout::convert::{self, PlanKind};
use crate::layout::{Layout, Mem, access, cost};
use crate::ops::{AccessEffect, DotKind, LayoutRule, Op};
use crate::passes::Env;
use crate::passes::memory::{drain, warpgroup};
use crate::span::Span;
use crate::types::{Shape, Type};

/// See the [module's page](self).
///
/// # Errors
/// A conversion between layouts of different tiles: a bug in another pass.
pub fn exchange(func: &mut Function, env: &Env) -> Result<(), String> {
    func.stage = Stage::Synchronized;
    warpgroup::stage_operands(func, env)?;
    drain::drain(func, env)?;
    let context = Context::of(func, env);
    block(func, func.body, &context)?;
    reuse_buffers(func);
    meet(func)
}

/// What holds for every block.
struct Context {
    stmatrix: bool,
    /// Results of conversions that may stay in shared memory.
    stays: SideTable<Value, bool>,
    /// Of those whose registers are dear, the axis along which a product takes one step after the other.
    steps: SideTable<Value, Option<usize>>,
    /// Tiles that a permutation of axes makes for one use.
    permuted: SideTable<Value, Option<Inst>>,
}

impl Context {
    /// Conversions that products alone use may stay, for products of their own block: beyond it, registers would be loaded once and not in
    /// every turn of a loop.
    fn of(func: &Function, env: &Env) -> Context {
        let (mut stays, mut permuted, mut steps) = (SideTable::new(false), SideTable::new(None), SideTable::new(None));
        let defs = Defs::of(func);
        for block in func.blocks.keys() {
            for (inst, data) in func.block(block) {
                if let (Op::Permute { .. }, &[result]) = (data.op, &data.results[..]) {
                    permuted[result] = Some(inst).filter(|_| defs.is_used_once(result));
                }
                let Op::Dot { kind: kind @ (DotKind::Fma | DotKind::Mma | DotKind::MmaM8), a, b, acc } = data.op else {
                    continue;
                };
                let sums = func.registers(acc) as u32;
                let dear = kind == DotKind::Fma && sums >= cost::MANY_SUMS;
                let last = func.ty(acc).shape.rank() - 1;
                for (operand, axis) in [(a, last), (b, last - 1)] {
                    if operand != acc
                        && let Some((conversion, axis)) = conversion(func, &defs, block, operand, axis)
                    {
                        stays[conversion] = true;
                        steps[conversion] = Some(axis).filter(|_| dear);
                    }
                }
            }
        }
        Context { stmatrix: env.target.info().stmatrix, stays, steps, permuted }
    }
}

/// The result of a conversion that an operand of a product is, be it in another shape, and its axis along which the
/// operand's elements along `axis` are; `None` if anything else uses it, or another block converts it.
fn conversion(
    func: &Function,
    defs: &Defs,
    block: Block,
    mut operand: Value,
    mut axis: usize,
) -> Option<(Value, usize)> {
    loop {
        let inst = defs.definition_in(operand, block).filter(|_| defs.is_used_once(operand))?;
        if let Op::Convert { .. } = func.insts[inst].op {
            return Some((operand, axis));
        }
        let (x, change) = func.insts[inst].op.shape_change()?;
        if !change.keeps_copies(func.ty(x).shape, func.ty(operand).shape) {
            return None;
        }
        axis = change.operand_axis(func.ty(x).shape, axis)?;
        operand = x;
    }
}

/// A conversion that waits: the instruction, the tile, its layout in shared memory, and whether the result stays there, as itself or
/// as what this permutation makes of the tile.
struct PendingConvert {
    inst: Inst,
    x: Value,
    /// Copies of the base tile.
    copies: usize,
    mem: Mem,
    stays: bool,
    permute: Option<Inst>,
}

fn block(func: &mut Function, id: Block, context: &Context) -> Result<(), String> {
    let mut insts = Vec::new();
    let mut pending: Vec<PendingConvert> = Vec::new();
    // What receives messages that have been sent, and loads them.
    let mut sent: Vec<[Inst; 2]> = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        let data = &func.insts[inst];
        // Loops, branches, and the end, before which unused conversions still go.
        let carried = data.op.layout_rule() == LayoutRule::Carried;
        let (mut needs, mut receives) = (carried, carried);
        data.for_each_operand(|v| {
            needs |= pending.iter().any(|w| func.insts[w.inst].results[0] == v);
            receives |= sent.iter().any(|&[_, load]| func.insts[load].results[0] == v);
        });
        let regions = data.regions.clone();
        if receives {
            insts.extend(sent.drain(..).flatten());
        }
        if needs {
            through_buffers(func, std::mem::take(&mut pending), &mut insts)?;
        }
        match through_memory(func, inst, context)? {
            Some(exchange) => {
                insts.retain(|&before| Some(before) != exchange.permute);
                pending.push(exchange);
            }
            None if func.exchange(&func.insts[inst]).is_some() => sent.push(messages(func, inst, &mut insts)?),
            None => {
                alias(func, inst);
                regions.into_iter().try_for_each(|region| block(func, region, context))?;
                insts.push(inst);
                exchange_result(func, inst, &mut insts)?;
            }
        }
    }
    // Nothing in the kernel's own block, which has no end, needs these.
    insts.extend(sent.into_iter().flatten());
    through_buffers(func, pending, &mut insts)?;
    func.blocks[id].insts = insts;
    Ok(())
}

/// How a conversion uses shared memory; `None` if it does not, or is none.
fn through_memory(func: &mut Function, inst: Inst, context: &Context) -> Result<Option<PendingConvert>, String> {
    let data = &func.insts[inst];
    let Op::Convert { x } = data.op else { return Ok(None) };
    let result = data.results[0];
    let (Some(src), Some(dst)) = (func.layout_id(x), func.layout_id(result)) else { return Ok(None) };
    let plan = func.layouts.plan(src, dst, func.ty(x).elem.bits(), context.stmatrix);
    let (from, to) = (&func.layouts[src], &func.layouts[dst]);
    let plan = plan.ok_or_else(|| format!("{result} is not of the elements of {x}: {from} to {to}"))?;
    // Both operands of a product fit a block.
    let copies = func.copies(x);
    let stays = |mem: &Mem| mem.is_whole(copies) && mem.bytes() <= cost::SCRATCH_BYTES;
    let whole = |mem: Mem| mem.with_copies(copies as u32);
    if context.stays[result]
        && let PlanKind::Shared(_) | PlanKind::Shuffle(_) = plan.kind
        && let Some(mem) = access::operand(from, to, func.ty(x).shape, func.ty(x).elem.bits()).filter(stays)
    {
        return Ok(Some(staying(func, context, inst, x, mem)));
    }
    let mem = match &plan.kind {
        PlanKind::Shared(shared) => {
            let all = whole(shared.mem.clone());
            Some(if context.stays[result] && stays(&all) { all } else { in_turns(all, copies) })
        }
        // What a product reads from memory needs no shuffles.
        PlanKind::Shuffle(_) if context.stays[result] => {
            let shared = convert::through_memory(from, to, func.ty(x).elem.bits(), context.stmatrix);
            shared.map(|shared| whole(shared.mem)).filter(stays)
        }
        PlanKind::None | PlanKind::Rename { .. } | PlanKind::Select(_) | PlanKind::Shuffle(_) => None,
    };
    let Some(mem) = mem else { return Ok(None) };
    if context.stays[result] && stays(&mem) {
        let (from, to) = (&func.layouts[src], &func.layouts[dst]);
        let shape = func.ty(x).shape;
        let better = || access::copied(from, to, shape, &mem);
        let better = if access::takes_whole_copies(from, &mem) { None } else { better() };
        let mem = better.unwrap_or(mem);
        let step_by_step = context.steps[result].and_then(|k| access::step_by_step(from, to, shape, k, &mem));
        let mem = step_by_step.unwrap_or(mem);
        return Ok(Some(staying(func, context, inst, x, mem)));
    }
    Ok(Some(PendingConvert { inst, x, copies, mem, stays: false, permute: None }))
}

/// The memory in which the copies of a base tile are converted: as many at a time as one exchange may need memory for.
fn in_turns(mem: Mem, copies: usize) -> Mem {
    let most = if mem.parts() > 0 { 1 } else { (cost::SCRATCH_BYTES / mem.copy_bytes()).max(1) as usize };
    let turns = copies.div_ceil(most);
    mem.with_copies(copies.div_ceil(turns) as u32)
}

/// A conversion whose result stays in this memory: of a tile that was permuted, the one before.
fn staying(func: &Function, context: &Context, inst: Inst, x: Value, mem: Mem) -> PendingConvert {
    let copies = func.copies(x);
    let permuted = context.permuted[x].and_then(|permute| {
        let (tile, change) = func.insts[permute].op.shape_change()?;
        Some((permute, tile, change.operand_mem(func.ty(tile).shape, &mem)?))
    });
    match permuted {
        Some((permute, x, mem)) => PendingConvert { inst, x, copies, mem, stays: true, permute: Some(permute) },
        None => PendingConvert { inst, x, copies, mem, stays: true, permute: None },
    }
}

/// A change of shape of a tile in shared memory is an alias of it.
fn alias(func: &mut Function, inst: Inst) {
    let data = &func.insts[inst];
    if let (Some((x, change)), &[result]) = (func.aliased(data), &data.results[..])
        && let Some(mem) = func.mem(x).and_then(|mem| change.result_mem(func.ty(x).shape, mem))
    {
        func.set_mem(result, mem);
    }
}

/// The conversions as buffers, stores and loads: as many at once as do not need more memory than one alone may.
fn through_buffers(func: &mut Function, pending: Vec<PendingConvert>, insts: &mut Vec<Inst>) -> Result<(), String> {
    let mut pending = &pending[..];
    while !pending.is_empty() {
        let mut bytes = 0;
        let fits = pending.iter().take_while(|w| {
            bytes += w.mem.bytes();
            bytes <= cost::SCRATCH_BYTES
        });
        let (now, later) = pending.split_at(fits.count().max(1));
        pending = later;
        let mut buffers = Vec::with_capacity(now.len());
        for w in now {
            let (span, result) = (func.insts[w.inst].span, func.insts[w.inst].results[0]);
            let name = Some(result).filter(|_| w.stays && w.permute.is_none());
            buffers.push(make_buffer(func, func.ty(w.x), w.mem.clone(), name, span, insts)?);
        }
        let mut rest = vec![None; now.len()];
        for part in 0..now.iter().map(|w| w.mem.parts_of(w.copies)).max().unwrap_or(0) {
            let has_part = |w: &PendingConvert| part < w.mem.parts_of(w.copies);
            for (w, &buffer) in now.iter().zip(&buffers).filter(|(w, _)| has_part(w)) {
                let store = Op::SharedStore { buffer, part, value: w.x };
                insts.push(func.make(store, func.insts[w.inst].span)?);
                if let Some(permute) = w.permute {
                    func.insts[permute].results = func.insts[w.inst].results.clone();
                    func.insts[permute].map_operands(|_| buffer);
                    alias(func, permute);
                    insts.push(permute);
                }
            }
            let is_loaded = |w: &PendingConvert| has_part(w) && !w.stays;
            for ((w, &buffer), rest) in now.iter().zip(&buffers).zip(&mut rest).filter(|((w, _), _)| is_loaded(w)) {
                let load = Op::SharedLoad { buffer, part, rest: *rest };
                let result = func.insts[w.inst].results[0];
                if part + 1 == w.mem.parts_of(w.copies) {
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
    let updates = data.op.access().is_some_and(|access| access.effect == AccessEffect::Update);
    let &[all] = &data.results[..] else { return Ok(()) };
    if !updates {
        return Ok(());
    }
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
    let buffer = make_buffer(func, tile, mem, None, span, insts)?;
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

/// An exchange between the blocks of a cluster: messages to a buffer of each of them. Yields what receives them, and
/// loads what has arrived.
fn messages(func: &mut Function, inst: Inst, insts: &mut Vec<Inst>) -> Result<[Inst; 2], String> {
    let (data, wrong) = (func.insts[inst].clone(), "an exchange of a tile without a layout");
    let (Op::ClusterGather { x: value, axis, .. } | Op::ClusterScatter { x: value, axis, .. }, &[result]) =
        (data.op, &data.results[..])
    else {
        return Err("an exchange without a result".into());
    };
    let ((exchange, _), layout) = func.exchange(&data).zip(func.layout(value)).ok_or(wrong)?;
    let part = exchange.part_layout(layout, func.ty(value).shape, axis).ok_or(wrong)?;
    let mem = exchange.memory(&part, func.ty(value).elem.bits()).ok_or(wrong)?;
    let buffer = make_buffer(func, func.ty(result), mem, None, data.span, insts)?;
    insts.push(func.make(Op::ClusterSend { buffer, value, axis }, data.span)?);
    func.insts[inst].op = Op::SharedLoad { buffer, part: 0, rest: None };
    Ok([func.make(Op::ClusterReceive { buffer }, data.span)?, inst])
}

/// The blocks of a cluster arrive first of all, and wait for each other before the first message.
fn meet(func: &mut Function) -> Result<(), String> {
    let sends = |inst: &Inst| matches!(func.insts[*inst].op, Op::ClusterSend { .. });
    let Some(first) = func.blocks[func.body].insts.iter().position(sends) else { return Ok(()) };
    let span = func.insts[func.blocks[func.body].insts[first]].span;
    let (arrive, wait) = (func.make(Op::ClusterArrive {}, span)?, func.make(Op::ClusterWait {}, span)?);
    let insts = &mut func.blocks[func.body].insts;
    insts.insert(first, wait);
    insts.insert(0, arrive);
    Ok(())
}

/// A buffer for a tile, by this name if it has one.
fn make_buffer(
    func: &mut Function,
    ty: Type,
    mem: Mem,
    name: Option<Value>,
    span: Span,
    insts: &mut Vec<Inst>,
) -> Result<Value, String> {
    let inst = func.make(Op::SharedAlloc { ty, at: None }, span)?;
    let buffer = name.unwrap_or(func.insts[inst].results[0]);
    func.insts[inst].results = vec![buffer];
    func.set_mem(buffer, mem);
    insts.push(inst);
    Ok(buffer)
}

/// Reuses buffers within a block, if all together are more than a block of threads has.
fn reuse_buffers(func: &mut Function) {
    if func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum::<u64>() <= cost::SHARED_BYTES {
        return;
    }
    let (liveness, mailboxes) = (liveness::analyse(func, &func.buffer_of()), func.mailboxes());
    let mut reused: SideTable<Value, Option<Value>> = SideTable::new(None);
    for block in func.blocks.keys().collect::<Vec<_>>() {
        // Buffers of this block, each with the last use of what it has held so far.
        let mut kept: Vec<(Value, u32)> = Vec::new();
        let mut insts = func.blocks[block].insts.clone();
        insts.retain(|&inst| {
            let InstData { op: Op::SharedAlloc { ty, .. }, ref results, .. } = func.insts[inst] else { return true };
            let LiveInterval { start, last } = liveness.intervals[results[0]];
            let received = mailboxes.contains(&results[0]);
            let same = |v: Value| !received && func.ty(v) == ty && func.place_of[v] == func.place_of[results[0]];
            match kept.iter_mut().find(|(buffer, end)| *end < start && same(*buffer)) {
                Some((buffer, end)) => (reused[results[0]], *end) = (Some(*buffer), last),
                None => kept.push((results[0], last)),
            }
            reused[results[0]].is_none()
        });
        func.blocks[block].insts = insts;
    }
    for inst in func.walk() {
        func.insts[inst].map_operands(|v| reused[v].unwrap_or(v));
    }
}
