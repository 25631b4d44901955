//! Loop scheduling at stage 2: loads of a product's operands become fills of a ring, ahead of the products.
//!
//! *Before:* a loop loads tiles from views, stores them to shared memory, and multiplies them. *After:* the first items are filled before
//! the loop; each turn waits for its item, fills the slot of a later one, and multiplies what it waited for. Loads are never peeled: a
//! fill is issued only if the loop comes to its item.
//!
//! With `slots` slots, `slots − 1` items are in flight when a turn waits. Each turn has one barrier, between the wait and the fill: it
//! publishes the item, and ends the reads of the one before, whose slot is filled next. This is software pipelining by `cp.async` as
//! Triton does it, without a second barrier; the order is that of CUTLASS's multistage mainloop. For a product of tensor cores `carry`
//! moves the wait and the barrier before the last step along K. A product of warpgroups goes on over the back edge: the fill follows when
//! the one before it is done, and a second barrier, behind the wait, publishes what threads copied.
//!
//! A load is taken if nothing but a store to shared memory uses it, and nothing but products what was stored; if its indices follow from
//! the loop's counter, from what the loop does not change, and from views that nothing writes, such as a table of blocks; if out of bounds
//! it yields 0; and if nothing writes the view ([`ReadOnly`]). So is a gather by whole vectors: its addresses are computed again for the
//! item that is filled. A rounding to tf32 may be between load and store, which bulk copies do. A tile whose axes
//! are permuted, or that is reshaped, is filled as it is loaded, and products see the slot in the other shape. A ring has as
//! many slots as `num_stages`, or the number of stages of its loop, and the memory of a block allow, and is not made for less than two.
//! A loop that asks for two or more itself has two where they do not fit: that is then an error.

use super::carry::{self, Pipelined};
use super::multicast::{NEIGHBOURS, Neighbours};
use super::{Env, allocate, persist, sync};
use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::analysis::read_only::ReadOnly;
use crate::analysis::remat::{self, Divisions, Remat, Supply};
use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, LayoutId, Ring, RingBuffer, Value};
use crate::layout::{Mem, access};
use crate::ops::kinds::{BinaryKind, CompareKind, UnaryKind};
use crate::ops::{DotKind, Location, Op, Scope};
use crate::span::Span;
use crate::types::{Constant, DType};
use std::collections::HashMap;

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn schedule(func: &mut Function, env: &Env) -> Result<(), String> {
    if most_stages(func) < 2 {
        return Ok(());
    }
    let defs = Defs::of(func);
    let facts = axis::analyse(func, env.specialization);
    let read_only = ReadOnly::of(func);
    let mut loops: Vec<Loop> = loops(func)
        .into_iter()
        .map(|(block, inst)| {
            let region = func.insts[inst].regions[0];
            let copies = copies(func, &defs, &facts, &read_only, env, region);
            let in_flight = product_in_flight(func, &defs, inst, &copies);
            Loop { block, inst, copies, in_flight }
        })
        .collect();
    loops.retain(|of| func.stages(of.inst) > 1 && !of.copies.is_empty());
    if loops.is_empty() {
        return Ok(());
    }
    if let [of] = &mut loops[..] {
        share(func, &defs, env, of);
    }
    let pipeline = |func: &mut Function, loops: &[Loop], slots: u32| {
        loops.iter().try_for_each(|of| {
            let slots = slots.min(func.stages(of.inst));
            let scheduler = Scheduler { func: &mut *func, span: Span::NONE, insts: Vec::new() };
            let pipelined = scheduler.pipeline(of, slots)?;
            carry::carry(func, &pipelined)
        })
    };
    let bytes = |func: &Function| func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum::<u64>();
    // What rings of this many slots add.
    let added = |func: &Function, slots: u32| {
        let of = |of: &Loop| {
            let item: u64 = of.copies.iter().map(|copy| func.buffer_bytes(copy.buffer)).sum();
            item * u64::from(slots.min(func.stages(of.inst)) - 1)
        };
        loops.iter().map(of).sum::<u64>()
    };
    // A block that runs several programs stores the result of one while it fills the ring for the next one, if as many blocks are resident as
    // where these share bytes.
    if let [of] = &loops[..]
        && env.persistent
        && func.neighbours == 1
        && of.block == func.body
        && of.copies.iter().all(|copy| copy.bulk)
        && of.in_flight.is_some()
    {
        let item: u64 = of.copies.iter().map(|copy| func.buffer_bytes(copy.buffer)).sum();
        let most = u64::from(most_stages(func)).min(u64::from(env.target.shared_bytes()) / item.max(1));
        let beside = |slots: &u32| persist::fits(func, env, item * most, bytes(func) + added(func, *slots));
        if let Some(slots) = (persist::FEWEST_SLOTS..=most_stages(func)).rev().find(beside) {
            return pipeline(func, &loops, slots);
        }
    }
    for slots in (2..=most_stages(func)).rev() {
        // Mostly all buffers fit beside each other.
        if bytes(func) + added(func, slots) <= env.target.shared_bytes().into() {
            return pipeline(func, &loops, slots);
        }
        let mut scheduled = func.clone();
        pipeline(&mut scheduled, &loops, slots)?;
        let mut allocated = scheduled.clone();
        sync::sync(&mut allocated, env)?;
        if allocate::allocate(&mut allocated, env)? <= env.target.shared_bytes().into() {
            *func = scheduled;
            return Ok(());
        }
    }
    loops.retain(|of| func.stages_of[of.inst].is_some());
    // Neighbours share the copies of a ring, and there is none.
    if !loops.iter().any(|of| of.copies.iter().any(|copy| copy.shared)) {
        func.neighbours = 1;
    }
    pipeline(func, &loops, 2)
}

/// The most slots of the rings of any loop.
fn most_stages(func: &Function) -> u32 {
    loops(func).into_iter().map(|(_, inst)| func.stages(inst)).max().unwrap_or(1)
}

/// The rings of a scheduled function, a line each: how many stages, and what each of them holds.
pub(super) fn explain(func: &Function) -> String {
    let line = |ring: &Ring| {
        let tile =
            |of: &RingBuffer| format!("{} of {} bytes", func.ty(of.buffer), func.mem(of.buffer).map_or(0, Mem::bytes));
        let tiles: Vec<String> = ring.buffers.iter().map(tile).collect();
        match ring.slots {
            1 => format!("copied ahead of reductions: {}\n", tiles.join(", ")),
            slots => format!("{slots} stages of {}{}\n", tiles.join(", "), if ring.bulk { ", by TMA" } else { "" }),
        }
    };
    func.rings.keys().map(|id| line(&func.rings[id])).collect()
}

/// Every `for`, and the block it is in.
fn loops(func: &Function) -> Vec<(Block, Inst)> {
    let of = |block: Block| func.blocks[block].insts.iter().map(move |&inst| (block, inst));
    func.blocks.keys().flat_map(of).filter(|&(_, inst)| matches!(func.insts[inst].op, Op::For { .. })).collect()
}

/// A loop with loads that a ring can take.
struct Loop {
    /// The block that it is in, and its instruction.
    block: Block,
    inst: Inst,
    copies: Vec<Copy>,
    /// See [`product_in_flight`].
    in_flight: Option<Flight>,
}

/// A load whose tile goes to a buffer that products read.
struct Copy {
    load: Inst,
    /// What rounds the tile to tf32 before it is stored: bulk copies do so, too.
    rounding: Option<Inst>,
    store: Inst,
    alloc: Inst,
    from: Location,
    /// What computes the location for another iteration.
    slice: Vec<Inst>,
    buffer: Value,
    layout: LayoutId,
    /// Whether bulk copies can fill the buffer.
    bulk: bool,
    /// Whether threads can, by copies that are wide enough.
    wide: bool,
    /// Whether neighbouring programs share it.
    shared: bool,
}

/// The loads of a loop's body that a ring can take.
fn copies(
    func: &Function,
    defs: &Defs,
    facts: &SideTable<Value, AxisInfo>,
    read_only: &ReadOnly,
    env: &Env,
    region: Block,
) -> Vec<Copy> {
    // What is computed for an item that the loop may not come to cannot fail.
    let remat = Remat { func, defs, tiles: true, divisions: Divisions::ByConstants, reads: Some(read_only) };
    let (counter, inside) = (func.blocks[region].params[0], func.defined_in(&[region]));
    let supply = |v: Value| if v == counter || !inside[v] { Supply::Available } else { Supply::Recomputed };
    // How often products of this block read a buffer, be it through an alias.
    let mut multiplied: SideTable<Value, u32> = SideTable::new(0);
    // Whether threads load it as fragments, ahead: `carry` then waits for items that are not filled, which bulk copies never end.
    let mut fragments: SideTable<Value, bool> = SideTable::new(false);
    for &inst in func.blocks[region].insts.iter().rev() {
        let data = &func.insts[inst];
        let by_threads = !matches!(data.op, Op::Dot { kind: DotKind::Wgmma, .. });
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
        // A tensor map wants rows that begin aligned, and an index that does.
        let bulk = env.target.info().bulk_copies && aligned * u64::from(mem.bits() / 8) >= access::WIDEST.into();
        let bulk = bulk && !fragments[buffer] && func.bulk_copy(buffer, rounding.is_some(), 1, from).is_some();
        let wide = bytes >= access::NARROWEST_COPY.into() && rounding.is_none();
        (alone && (wide || bulk) && read_only.contains(func, from)).then_some(Copy {
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

/// Lets neighbouring programs share the copies of the one loop, where they load the same.
fn share(func: &mut Function, defs: &Defs, env: &Env, of: &mut Loop) {
    let Loop { block, inst, ref mut copies, in_flight } = *of;
    if block != func.body || !copies.iter().all(|copy| copy.bulk) || in_flight.is_none() {
        return;
    }
    let shared = Neighbours::of(func, defs, env, inst).and_then(|of| of.shared(copies.iter().map(|copy| copy.from)));
    let halves = |(copy, &shared): (&Copy, &bool)| {
        !shared || func.bulk_copy(copy.buffer, copy.rounding.is_some(), NEIGHBOURS, copy.from).is_some()
    };
    if let Some(shared) = shared.filter(|shared| copies.iter().zip(shared).all(halves)) {
        copies.iter_mut().zip(shared).for_each(|(copy, shared)| copy.shared = shared);
        func.neighbours = NEIGHBOURS;
    }
}

/// A product that goes on over the back edge of its loop.
#[derive(Clone, Copy)]
struct Flight {
    /// The wait for it, and what that yields.
    wait: Inst,
    done: Value,
    /// What it adds to, a parameter of the loop.
    acc: Value,
    sum: Value,
    /// The sum after the loop.
    last: Value,
}

/// The one product of a loop, if it may go on over the back edge: its operands are in the ring, and its sum is what the loop carries,
/// which nothing else in the loop takes.
fn product_in_flight(func: &Function, defs: &Defs, around: Inst, copies: &[Copy]) -> Option<Flight> {
    let region = func.insts[around].regions[0];
    let insts = &func.blocks[region].insts;
    let is_product = |inst: &&Inst| matches!(func.insts[**inst].op, Op::Dot { kind: DotKind::Wgmma, .. });
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
    let in_ring = |v: Value| copies.iter().any(|copy| copy.buffer == buffers[v].unwrap_or(v));
    let carried = func.blocks[region].params[1..].iter().position(|&param| param == acc)?;
    let yielded = func.yielded(region).get(carried) == Some(&done);
    let alone = defs.block_of(wait) == Some(region) && defs.is_used_once(done) && defs.is_used_once(acc);
    let last = *func.insts[around].results.get(carried)?;
    (in_ring(a) && in_ring(b) && yielded && alone).then_some(Flight { wait, done, acc, sum, last })
}

struct Scheduler<'a> {
    func: &'a mut Function,
    span: Span,
    /// What is written so far.
    insts: Vec<Inst>,
}

impl Scheduler<'_> {
    /// Makes the copies of a loop in a block fills of a ring.
    fn pipeline(mut self, of: &Loop, slots: u32) -> Result<Pipelined, String> {
        let Loop { block, inst, ref copies, in_flight } = *of;
        let data = &self.func.insts[inst];
        let (Op::For { start, end, step }, region) = (data.op, data.regions[0]) else { return Err("no loop".into()) };
        self.span = self.func.insts[copies[0].load].span;
        let lead = slots - 1;
        let buffers = copies
            .iter()
            .map(|copy| RingBuffer {
                buffer: copy.buffer,
                layout: copy.layout,
                tf32: copy.rounding.is_some(),
                padding: 0,
                shared: copy.shared,
            })
            .collect();
        let bulk = copies.iter().all(|copy| copy.bulk);
        let ring = self.func.rings.push(Ring { slots, lead, bulk, buffers });
        let body = self.func.blocks[region].insts.clone();

        // Before the loop.
        self.insts.extend(copies.iter().map(|copy| copy.alloc));
        let counter = self.func.blocks[region].params[0];
        let dtype = self.func.ty(counter).elem.num().ok_or("a loop that counts no numbers")?;
        let least = Constant::int(dtype, if dtype == DType::I64 { i64::MIN.into() } else { i32::MIN.into() });
        let least = self.op(Op::Const { value: least })?;
        let (mut at, mut limit) = (start, end);
        let (mut items, mut limits) = (Vec::new(), Vec::new());
        for item in 0..lead {
            if item > 0 {
                at = self.binary(BinaryKind::Add, at, step)?;
                limit = self.limit(limit, step, least)?;
                limits.push(limit);
            }
            let item = self.op(Op::Const { value: Constant::int(DType::I32, item.into()) })?;
            let when = self.op(Op::Compare { kind: CompareKind::Lt, a: start, b: limit })?;
            self.fills(copies, item, HashMap::from([(counter, at)]), when)?;
            items.push((item, when));
        }
        limit = self.limit(limit, step, least)?;
        limits.push(limit);
        let mut ahead = step;
        for _ in 1..lead {
            ahead = self.binary(BinaryKind::Add, ahead, step)?;
        }
        let first = self.op(Op::Const { value: Constant::int(DType::I32, 0) })?;
        let outside = std::mem::take(&mut self.insts);
        let position =
            self.func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("a loop that is in no block")?;
        self.func.blocks[block].insts.splice(position..position, outside);

        // The loop counts items.
        let item = self.func.types.push(self.func.types[first]);
        self.func.blocks[region].params.push(item);
        self.func.insts[inst].args.push(first);
        let last = self.func.types.push(self.func.types[first]);
        self.func.insts[inst].results.push(last);

        // In the loop.
        let wait = self.insert(Op::RingWait { ring, item })?;
        if in_flight.is_some() && !bulk {
            self.insert(Op::Sync { scope: Scope::Block })?;
        }
        let next_fill = |cx: &mut Self| {
            let sync = cx.insert(Op::Sync { scope: Scope::Block })?;
            let distance = cx.op(Op::Const { value: Constant::int(DType::I32, lead.into()) })?;
            let later = cx.binary(BinaryKind::Add, item, distance)?;
            let when = cx.op(Op::Compare { kind: CompareKind::Lt, a: counter, b: limit })?;
            let then = cx.binary(BinaryKind::Add, counter, ahead)?;
            cx.fills(copies, later, HashMap::from([(counter, then)]), when)?;
            Ok::<Inst, String>(sync)
        };
        // Here the barrier serves the fill, too. A fill after the product would be issued later: that costs 8 % of a bf16 product on an H200.
        let mut sync = if in_flight.is_none() { Some(next_fill(&mut self)?) } else { None };
        let mut slots: HashMap<Value, Value> = HashMap::new();
        for copy in copies {
            let slot = self.op(Op::RingSlot { buffer: copy.buffer, item })?;
            self.func.place_of[slot] = self.func.place_of[copy.buffer];
            slots.insert(copy.buffer, slot);
        }
        let (end, rest) = body.split_last().ok_or("a loop without an end")?;
        let taken =
            |inst: &Inst| copies.iter().any(|c| [c.load, c.store, c.alloc].contains(inst) || c.rounding == Some(*inst));
        for &inst in rest.iter().filter(|inst| !taken(inst)) {
            self.func.insts[inst].map_operands(|v| slots.get(&v).copied().unwrap_or(v));
            self.insts.push(inst);
            if let Some(flight) = in_flight.filter(|flight| flight.wait == inst) {
                // The product of the item before is done, that of this one goes on: beside it, threads meet and one of them fills.
                self.func.insts[inst].op = Op::DotWait { sum: flight.acc };
                let before = self.before(item)?;
                self.insert(Op::RingRelease { ring, item: before })?;
                sync = Some(next_fill(&mut self)?);
            }
        }
        let release = match in_flight {
            None => self.insert(Op::RingRelease { ring, item })?,
            Some(flight) => flight.wait,
        };
        let one = self.op(Op::Const { value: Constant::int(DType::I32, 1) })?;
        let next = self.binary(BinaryKind::Add, item, one)?;
        let count = [self.insts.len() - 2, self.insts.len() - 1].map(|at| self.insts[at]);
        self.func.insts[*end].args.push(next);
        self.insts.push(*end);
        self.func.blocks[region].insts = std::mem::take(&mut self.insts);
        if let Some(flight) = in_flight {
            self.func.insts[*end].map_operands(|v| if v == flight.done { flight.sum } else { v });
            let done = self.op(Op::DotWait { sum: flight.last })?;
            self.func.place_of[done] = self.func.place_of[flight.last];
            self.func.replace_uses(&HashMap::from([(flight.last, done)]));
            let before = self.before(last)?;
            self.insert(Op::RingRelease { ring, item: before })?;
            let after =
                self.func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("a loop that is in no block")? + 1;
            self.func.blocks[block].insts.splice(after..after, std::mem::take(&mut self.insts));
        }
        let sync = sync.ok_or("a loop without a barrier")?;
        let (first, any) = items[0];
        Ok(Pipelined { block, inst, ring, counter, wait, sync, release, count, first, any, limit: limits[0] })
    }

    /// The item before one.
    fn before(&mut self, item: Value) -> Result<Value, String> {
        let one = self.op(Op::Const { value: Constant::int(DType::I32, -1) })?;
        self.binary(BinaryKind::Add, item, one)
    }

    /// The fills of an item, in an iteration in which the loop's counter has another name.
    fn fills(
        &mut self,
        copies: &[Copy],
        item: Value,
        mut renamed: HashMap<Value, Value>,
        when: Value,
    ) -> Result<(), String> {
        let mut fills = Vec::new();
        for copy in copies {
            remat::repeat(self.func, &copy.slice, &mut renamed, self.span, &mut self.insts)?;
            let mut fill = Op::RingFill { buffer: copy.buffer, item, from: copy.from, when };
            fill.map_operands(|v| renamed.get(&v).copied().unwrap_or(v));
            fills.push((fill, self.func.insts[copy.load].span));
        }
        for (fill, span) in fills {
            self.span = span;
            self.insert(fill)?;
        }
        Ok(())
    }

    /// One step less than a limit; below every number where there is none.
    fn limit(&mut self, limit: Value, step: Value, least: Value) -> Result<Value, String> {
        let less = self.binary(BinaryKind::Sub, limit, step)?;
        let cond = self.op(Op::Compare { kind: CompareKind::Lt, a: less, b: limit })?;
        self.op(Op::Select { cond, a: less, b: least })
    }

    fn binary(&mut self, kind: BinaryKind, a: Value, b: Value) -> Result<Value, String> {
        self.op(Op::Binary { kind, a, b })
    }

    fn op(&mut self, op: Op) -> Result<Value, String> {
        self.func.compute(op, self.span, &mut self.insts)
    }

    /// An operation that yields nothing.
    fn insert(&mut self, op: Op) -> Result<Inst, String> {
        let inst = self.func.make(op, self.span)?;
        self.insts.push(inst);
        Ok(inst)
    }
}
