//! The loops and the loads that rings could take: what allows it of each, and nothing of whether it pays or fits.

use super::{Copy, Flight, Kept, Loop, Stored, loops, most_stages};
use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::analysis::read_only::ReadOnly;
use crate::analysis::remat::{Divisions, Remat, Supply};
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Value, in_flight};
use crate::layout::access;
use crate::ops::kinds::UnaryKind;
use crate::ops::{Location, Op};
use crate::passes::Env;

/// The loops of a function that ask for stages and have loads for them.
pub(super) fn candidates(func: &Function, env: &Env, kept: &Kept) -> Vec<Loop> {
    if most_stages(func) < 2 {
        return Vec::new();
    }
    let defs = Defs::of(func);
    let facts = axis::analyse(func, env.specialization);
    let read_only = ReadOnly::of(func);
    let of = |(block, inst): (Block, Inst)| {
        let region = func.insts[inst].regions[0];
        let copies = copies(func, &defs, &facts, &read_only, env, (region, kept));
        // Where one thread fills the ring by bulk copies, the others have nothing to wait for but what they convert.
        let converts = kept.bulk && copies.iter().any(|copy| kept.staged.contains(&copy.buffer));
        let bulk = copies.iter().any(|copy| copy.bulk) && !converts;
        let stored = if bulk { Vec::new() } else { stored(func, &defs, region, &copies) };
        let in_ring = |v: Value| copies.iter().any(|copy| copy.buffer == v) || stored.iter().any(|of| of.buffer == v);
        let in_flight = product_in_flight(func, &defs, inst, in_ring);
        let once =
            if block == func.body && bulk { once(func, &defs, &facts, &read_only, env, inst) } else { Vec::new() };
        Loop { block, inst, stored: if in_flight.is_some() { stored } else { Vec::new() }, copies, in_flight, once }
    };
    let mut candidates: Vec<Loop> = loops(func).into_iter().map(of).collect();
    candidates.retain(|of| func.stages(of.inst) > 1 && !of.copies.is_empty());
    candidates
}

/// The loads of a loop's body that a ring can take.
fn copies(
    func: &Function,
    defs: &Defs,
    facts: &SideTable<Value, AxisInfo>,
    read_only: &ReadOnly,
    env: &Env,
    (region, kept): (Block, &Kept),
) -> Vec<Copy> {
    // What is computed for an item that the loop may not come to cannot fail.
    let remat = Remat { func, defs, tiles: true, divisions: Divisions::ByConstants, reads: Some(read_only) };
    let (counter, inside) = (func.blocks[region].params[0], func.defined_in(&[region]));
    let supply = |v: Value| if v == counter || !inside[v] { Supply::Available } else { Supply::Recomputed };
    // How often products of this block read a buffer, be it through an alias.
    let mut multiplied: SideTable<Value, u32> = SideTable::new(0);
    // Whether threads load it as fragments, ahead: `prefetch_fragments` then waits for items that are not filled, which
    // bulk copies never end.
    let mut fragments: SideTable<Value, bool> = SideTable::new(false);
    for &inst in func.blocks[region].insts.iter().rev() {
        let data = &func.insts[inst];
        let by_threads = !in_flight::is_product(&data.op);
        // Threads read what they copied.
        if let Op::SharedLoad { buffer, .. } = data.op
            && kept.staged.contains(&buffer)
        {
            (multiplied[buffer], fragments[buffer]) = (1, !kept.bulk);
        }
        for (operand, _) in func.shared_operands(&data.op) {
            multiplied[operand] += 1;
            fragments[operand] |= by_threads;
        }
        if let (Some((x, _)), &[alias]) = (func.aliased(data), &data.results[..]) {
            multiplied[x] += u32::from(multiplied[alias] > 0 && multiplied[alias] == defs.uses(alias));
            fragments[x] |= fragments[alias];
        }
    }
    let copy = |store: Inst| {
        let Op::SharedStore { buffer, part: 0, value } = func.insts[store].op else { return None };
        let (mut load, alloc) = (defs.definition_in(value, region)?, defs.definition_in(buffer, region)?);
        let mut rounding = None;
        if let Op::Unary { kind: UnaryKind::Tf32, x } = func.insts[load].op {
            rounding = Some(load);
            load = defs.definition_in(x, region).filter(|_| defs.is_used_once(x))?;
        }
        let Op::Load { from, other: None } = func.insts[load].op else { return None };
        let mut operands = Vec::new();
        func.insts[load].for_each_operand(|v| operands.push(v));
        let slice = remat.slice(operands, supply)?;
        let alone = defs.is_used_once(value) && multiplied[buffer] > 0 && multiplied[buffer] + 1 == defs.uses(buffer);
        let layout = func.layout_id(value)?;
        let aligned = axis::vector_width(func, facts, from);
        // Of a vector through pointers all elements are in bounds, or none is.
        let gathered = matches!(from, Location::Pointers { .. });
        if gathered && axis::is_cut(func, facts, from, aligned) {
            return None;
        }
        let width = aligned.min(func.layouts[layout].vector().into());
        let mem = func.mem(buffer)?;
        let copied = access::copies(&func.layouts[layout], mem, width as u32)?;
        let bytes = u64::from(copied.elements) * u64::from(mem.bits() / 8);
        let bulk = !fragments[buffer] && is_bulk(func, facts, env, (buffer, rounding.is_some()), from);
        let wide = bytes >= access::NARROWEST_COPY.into() && rounding.is_none();
        (alone && (wide || bulk) && read_only.is_constant(func, from)).then_some(Copy {
            load,
            rounding,
            store,
            alloc,
            from,
            slice,
            buffer,
            layout,
            bulk,
            wide,
            shared: false,
        })
    };
    let mut copies: Vec<Copy> = func.blocks[region].insts.iter().filter_map(|&inst| copy(inst)).collect();
    // One thread fills all buffers of a ring, or all threads do.
    if !copies.iter().all(|copy| copy.bulk) {
        copies.retain(|copy| copy.wide);
        copies.iter_mut().for_each(|copy| copy.bulk = false);
    }
    copies
}

/// Whether bulk copies can fill a buffer, with elements rounded to tf32 or not: a tensor map wants rows that begin aligned, and an index that
/// does.
fn is_bulk(
    func: &Function,
    facts: &SideTable<Value, AxisInfo>,
    env: &Env,
    (buffer, tf32): (Value, bool),
    from: Location,
) -> bool {
    let bytes = func.mem(buffer).map_or(0, |mem| u64::from(mem.bits() / 8));
    env.target.info().bulk_copies
        && axis::vector_width(func, facts, from) * bytes >= access::WIDEST.into()
        && func.bulk_copy(buffer, tf32, 1, from).is_some()
}

/// The loads of the kernel's own block that bulk copies can store to buffers which nothing but products of a loop reads.
fn once(
    func: &Function,
    defs: &Defs,
    facts: &SideTable<Value, AxisInfo>,
    read_only: &ReadOnly,
    env: &Env,
    around: Inst,
) -> Vec<Copy> {
    let own = func.body;
    let mut inside = Vec::new();
    func.walk_inst(around, &mut inside);
    let of = |&store: &Inst| {
        let Op::SharedStore { buffer, part: 0, value } = func.insts[store].op else { return None };
        let (load, alloc) = (defs.definition_in(value, own)?, defs.definition_in(buffer, own)?);
        let Op::Load { from, other: None } = func.insts[load].op else { return None };
        let multiplied = |user: Inst| in_flight::is_product(&func.insts[user].op) && inside.contains(&user);
        let alone = defs.is_used_once(value)
            && users(func, defs, buffer).into_iter().all(|user| user == store || multiplied(user));
        let layout = func.layout_id(value)?;
        let bulk = is_bulk(func, facts, env, (buffer, false), from);
        (alone && bulk && read_only.is_constant(func, from)).then_some(Copy {
            load,
            rounding: None,
            store,
            alloc,
            from,
            slice: Vec::new(),
            buffer,
            layout,
            bulk,
            wide: false,
            shared: false,
        })
    };
    func.blocks[own].insts.iter().filter_map(of).collect()
}

/// What uses a buffer, be it through an alias.
fn users(func: &Function, defs: &Defs, buffer: Value) -> Vec<Inst> {
    let (mut open, mut users) = (defs.users(buffer).collect::<Vec<_>>(), Vec::new());
    while let Some(user) = open.pop() {
        let data = &func.insts[user];
        match data.results[..] {
            [alias] if func.aliased(data).is_some() => open.extend(defs.users(alias)),
            _ => users.push(user),
        }
    }
    users
}

/// The buffers in a loop's body to which threads store a whole tile, once a turn, for products alone.
fn stored(func: &Function, defs: &Defs, region: Block, copies: &[Copy]) -> Vec<Stored> {
    let of = |&inst: &Inst| {
        let Op::SharedStore { buffer, value, part: 0 } = func.insts[inst].op else { return None };
        let alloc = defs.definition_in(buffer, region)?;
        let is_whole = func.mem(buffer)?.is_whole(func.copies(buffer));
        let is_product = |user: Inst| in_flight::is_product(&func.insts[user].op);
        let multiplied = users(func, defs, buffer).into_iter().all(|user| user == inst || is_product(user));
        let taken = copies.iter().any(|copy| copy.buffer == buffer);
        let layout = func.layout_id(value)?;
        (is_whole && multiplied && !taken).then_some(Stored { alloc, buffer, layout })
    };
    func.blocks[region].insts.iter().filter_map(of).collect()
}

/// The one product of a loop, if it may go on over the back edge: its operands are in rings, and its sum is what the loop carries,
/// which nothing else in the loop takes.
fn product_in_flight(func: &Function, defs: &Defs, around: Inst, in_ring: impl Fn(Value) -> bool) -> Option<Flight> {
    let region = func.insts[around].regions[0];
    let insts = &func.blocks[region].insts;
    let is_product = |inst: &&Inst| in_flight::is_product(&func.insts[**inst].op);
    let inside: Vec<Inst> = insts
        .iter()
        .flat_map(|&inst| {
            let mut all = Vec::new();
            func.walk_inst(inst, &mut all);
            all
        })
        .collect();
    let mut products = inside.iter().filter(is_product);
    let product = *products.next().filter(|_| products.next().is_none())?;
    let Op::Dot { a, b, acc, .. } = func.insts[product].op else { return None };
    let &[sum] = &func.insts[product].results[..] else { return None };
    let wait = defs.only_user(sum).filter(|&user| matches!(func.insts[user].op, Op::DotWait { .. }))?;
    let &[done] = &func.insts[wait].results[..] else { return None };
    let buffers = func.buffer_of();
    let in_ring = |v: Value| in_ring(buffers[v].unwrap_or(v));
    let carried = func.blocks[region].params[1..].iter().position(|&param| param == acc)?;
    let yielded = func.yielded(region).get(carried) == Some(&done);
    let alone = defs.block_of(wait) == Some(region) && defs.is_used_once(done) && defs.is_used_once(acc);
    let last = *func.insts[around].results.get(carried)?;
    (in_ring(a) && in_ring(b) && yielded && alone).then_some(Flight { wait, done, acc, sum, last })
}
