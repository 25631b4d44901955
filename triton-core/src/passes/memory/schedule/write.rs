//! Writes a plan: loads become fills of rings, ahead of the products.

use super::readers::Readers;
use super::{Copy, Flight, Loop, Plan, STORED, Stored, overlap};
use crate::analysis::remat;
use crate::hash::WordMap;
use crate::ir::rings::WARPGROUP;
use crate::ir::{Block, Fill, Function, Inst, Ring, RingBuffer, RingId, Value};
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{Op, Scope};
use crate::passes::memory::prefetch_fragments::{self, Pipelined};
use crate::span::Span;
use crate::types::{Constant, DType};

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub(super) fn write(func: &mut Function, plan: &Plan) -> Result<(), String> {
    (func.peers, func.producer, func.teams) = (plan.peers, plan.producer, plan.teams);
    plan.loops.iter().try_for_each(|of| {
        let slots = plan.slots.min(func.stages(of.inst));
        let scheduler = Scheduler { func: &mut *func, span: Span::NONE, insts: Vec::new() };
        if plan.producer.is_some() {
            scheduler.decouple(of, slots)?;
            if plan.overlaps {
                overlap::overlap(func, of.block, of.inst)?;
            }
            return of.once.iter().try_for_each(|copy| {
                Scheduler { func: &mut *func, span: Span::NONE, insts: Vec::new() }.fill_once(copy, plan.once, of.inst)
            });
        }
        match scheduler.pipeline(of, slots)? {
            Some(pipelined) => prefetch_fragments::prefetch_fragments(func, &pipelined),
            None => Ok(()),
        }
    })
}

struct Scheduler<'a> {
    func: &'a mut Function,
    span: Span,
    /// What is written so far.
    insts: Vec<Inst>,
}

impl Scheduler<'_> {
    /// Makes the copies of a loop in a block fills of a ring. Yields the loop if fragments may be loaded ahead in it: not from what
    /// bulk copies fill, which `wgmma` reads.
    fn pipeline(mut self, of: &Loop, slots: u32) -> Result<Option<Pipelined>, String> {
        let Loop { block, inst, ref copies, in_flight, ref stored, .. } = *of;
        let data = &self.func.insts[inst];
        let (Op::For { start, end, step }, region) = (data.op, data.regions[0]) else { return Err("no loop".into()) };
        self.span = self.func.insts[copies[0].load].span;
        let lead = slots - 1;
        let bulk = copies.iter().all(|copy| copy.bulk);
        let fill = if bulk { Fill::Bulk } else { Fill::CpAsync { lead } };
        let ring = self.ring(slots + of.held(), fill, copies);
        let mut rings = vec![ring];
        if !stored.is_empty() {
            let buffer = |of: &Stored| RingBuffer {
                buffer: of.buffer,
                layout: of.layout,
                tf32: false,
                padding: 0,
                shared: false,
            };
            let buffers = stored.iter().map(buffer).collect();
            rings.push(self.func.rings.push(Ring { slots: STORED, fill: Fill::Stored, buffers }));
        }
        let body = self.func.blocks[region].insts.clone();

        // Before the loop.
        self.insts.extend(copies.iter().map(|copy| copy.alloc).chain(stored.iter().map(|of| of.alloc)));
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
            self.fills(copies, item, WordMap::from_iter([(counter, at)]), when)?;
            items.push((item, when));
        }
        limit = self.limit(limit, step, least)?;
        limits.push(limit);
        let mut ahead = step;
        for _ in 1..lead {
            ahead = self.binary(BinaryKind::Add, ahead, step)?;
        }
        let [first, item, last] = self.count_items(block, inst)?;

        // In the loop.
        let wait = self.insert(Op::RingWait { ring, item })?;
        if in_flight.is_some() && !bulk && stored.is_empty() {
            self.insert(Op::Sync { scope: Scope::Block })?;
        }
        let next_fill = |cx: &mut Self| {
            // A thread of the one warpgroup that multiplies knows that its product is done.
            let needs_barrier = !bulk || !stored.is_empty() || cx.func.num_warps > WARPGROUP;
            let sync = needs_barrier.then(|| cx.insert(Op::Sync { scope: Scope::Block })).transpose()?;
            let items = cx.op(Op::Const { value: Constant::int(DType::I32, lead.into()) })?;
            let later = cx.binary(BinaryKind::Add, item, items)?;
            let when = cx.op(Op::Compare { kind: CompareKind::Lt, a: counter, b: limit })?;
            let then = cx.binary(BinaryKind::Add, counter, ahead)?;
            cx.fills(copies, later, WordMap::from_iter([(counter, then)]), when)?;
            Ok::<Option<Inst>, String>(sync)
        };
        // Here the barrier serves the fill, too. A fill after the product would be issued later: that costs 8 % of a
        // bf16 product on an H200.
        let mut sync = if in_flight.is_none() { next_fill(&mut self)? } else { None };
        let mut slots: WordMap<Value, Value> = WordMap::default();
        for buffer in copies.iter().map(|copy| copy.buffer).chain(stored.iter().map(|of| of.buffer)) {
            self.slot(buffer, item, &mut slots)?;
        }
        let (end, rest) = body.split_last().ok_or("a loop without an end")?;
        for &inst in rest.iter().filter(|inst| !of.replaces(inst)) {
            // Threads have stored their part beside the product of the turn before, and meet: what they copied and stored is published, and
            // the slot of the item before that product's is free.
            if !stored.is_empty()
                && self.func.insts[inst].results.iter().any(|&v| in_flight.is_some_and(|f| f.sum == v))
            {
                sync = next_fill(&mut self)?;
            }
            self.func.insts[inst].map_operands(|v| slots.get(&v).copied().unwrap_or(v));
            self.insts.push(inst);
            if let Some(flight) = in_flight.filter(|flight| flight.wait == inst) {
                // The product of the item before is done, that of this one goes on: beside it, threads meet and one of them fills.
                self.end_flight(flight, &rings, [first, item])?;
                if stored.is_empty() {
                    sync = next_fill(&mut self)?;
                }
            }
        }
        let release = match in_flight {
            None => self.insert(Op::RingRelease { ring, item, first: None })?,
            Some(flight) => flight.wait,
        };
        let count = self.end_turn(inst, *end, item, in_flight)?;
        if let Some(flight) = in_flight {
            let next_releases = block == self.func.body && bulk;
            self.end_loop(block, inst, flight, if next_releases { &[] } else { &rings }, [first, last])?;
        }
        let (first, any) = items[0];
        let limit = limits[0];
        let of = |sync| Pipelined { block, inst, ring, counter, wait, sync, release, count, first, any, limit };
        Ok(sync.filter(|_| !bulk).map(of))
    }

    /// The same where a producer fills: an item is filled in its own turn, without a condition. What other products read is in a ring of
    /// its own, which is waited for where it is first read, and released where the last product that reads it is done.
    fn decouple(mut self, of: &Loop, slots: u32) -> Result<(), String> {
        let Loop { block, inst, ref copies, in_flight, .. } = *of;
        let region = self.func.insts[inst].regions[0];
        self.span = self.func.insts[copies[0].load].span;
        let readers = Readers::of(self.func, region);
        let mut open: Vec<(RingId, Vec<Copy>)> = Vec::new();
        for alike in copies.chunk_by(|a, b| readers.products(a.buffer) == readers.products(b.buffer)) {
            open.push((self.ring(slots, Fill::Bulk, alike), alike.to_vec()));
        }
        let rings: Vec<RingId> = open.iter().map(|&(ring, _)| ring).collect();
        let done: Vec<(RingId, Option<Inst>)> =
            open.iter().map(|(ring, of)| (*ring, readers.last_wait(self.func, region, of[0].buffer))).collect();
        let body = self.func.blocks[region].insts.clone();

        self.insts.extend(copies.iter().map(|copy| copy.alloc));
        let always = self.op(Op::Const { value: Constant { dtype: DType::Bool, bits: 1 } })?;
        let [first, item, last] = self.count_items(block, inst)?;
        for (_, copies) in &open {
            self.fills(copies, item, WordMap::default(), always)?;
        }
        let mut slots: WordMap<Value, Value> = WordMap::default();
        let (end, rest) = body.split_last().ok_or("a loop without an end")?;
        for &inst in rest.iter().filter(|inst| !of.replaces(inst)) {
            let mut operands = Vec::new();
            self.func.insts[inst].for_each_operand(|v| operands.push(v));
            let is_read = |copy: &Copy| operands.contains(&copy.buffer);
            for (ring, copies) in open.extract_if(.., |(_, copies)| copies.iter().any(is_read)).collect::<Vec<_>>() {
                self.insert(Op::RingWait { ring, item })?;
                copies.iter().try_for_each(|copy| self.slot(copy.buffer, item, &mut slots))?;
            }
            self.func.insts[inst].map_operands(|v| slots.get(&v).copied().unwrap_or(v));
            self.insts.push(inst);
            if let Some(flight) = in_flight.filter(|flight| flight.wait == inst) {
                self.end_flight(flight, &rings, [first, item])?;
            } else if in_flight.is_none() {
                for &(ring, _) in done.iter().filter(|&&(_, wait)| wait == Some(inst)) {
                    self.insert(Op::RingRelease { ring, item, first: None })?;
                }
            }
        }
        self.end_turn(inst, *end, item, in_flight)?;
        if let Some(flight) = in_flight {
            // The next program, if the block runs it, releases the last item: but not that of another team.
            let next_releases = block == self.func.body && self.func.teams == 1;
            self.end_loop(block, inst, flight, if next_releases { &[] } else { &rings }, [first, last])?;
        }
        Ok(())
    }

    /// Releases the item before one of some rings: where teams take turns, not that of another team, which is before the `first` one of the
    /// program.
    fn release_before(&mut self, rings: &[RingId], [first, item]: [Value; 2]) -> Result<(), String> {
        let (item, first) = (self.before(item)?, Some(first).filter(|_| self.func.teams > 1));
        rings.iter().try_for_each(|&ring| self.insert(Op::RingRelease { ring, item, first }).map(drop))
    }

    /// Has the producer fill what threads stored before a loop: an item of a ring of its own, which is waited for there, and released after
    /// the loop.
    fn fill_once(mut self, copy: &Copy, slots: u32, around: Inst) -> Result<(), String> {
        let own = self.func.body;
        self.span = self.func.insts[copy.load].span;
        let ring = self.ring(slots, Fill::Bulk, std::slice::from_ref(copy));
        let item = self.op(Op::Const { value: Constant::int(DType::I32, 0) })?;
        let mut slot = WordMap::default();
        self.slot(copy.buffer, item, &mut slot)?;
        self.func.replace_uses(&slot);
        let slotted = self.insts.pop();
        let when = self.op(Op::Const { value: Constant { dtype: DType::Bool, bits: 1 } })?;
        self.insert(Op::RingFill { buffer: copy.buffer, item, from: copy.from, when })?;
        self.insert(Op::RingWait { ring, item })?;
        self.insts.extend(slotted);
        let release = self.func.make(Op::RingRelease { ring, item, first: None }, self.span)?;
        let mut insts = std::mem::take(&mut self.func.blocks[own].insts);
        let has_loop = |&inst: &Inst| {
            let mut inside = Vec::new();
            self.func.walk_inst(inst, &mut inside);
            inside.contains(&around)
        };
        let after = insts.iter().position(has_loop).ok_or("a loop that is in no block")? + 1;
        insts.insert(after, release);
        insts.retain(|&inst| inst != copy.load);
        let at = insts.iter().position(|&inst| inst == copy.store).ok_or("a store that is in no block")?;
        insts.splice(at..=at, self.insts);
        self.func.blocks[own].insts = insts;
        Ok(())
    }

    /// A ring that copies fill.
    fn ring(&mut self, slots: u32, fill: Fill, copies: &[Copy]) -> RingId {
        let buffer = |copy: &Copy| RingBuffer {
            buffer: copy.buffer,
            layout: copy.layout,
            tf32: copy.rounding.is_some(),
            padding: 0,
            shared: copy.shared,
        };
        self.func.rings.push(Ring { slots, fill, buffers: copies.iter().map(buffer).collect() })
    }

    /// Writes what was made before a loop, and has the loop count items: yields the first one, that of a turn, and the one after the last.
    fn count_items(&mut self, block: Block, inst: Inst) -> Result<[Value; 3], String> {
        let first = self.op(Op::Const { value: Constant::int(DType::I32, 0) })?;
        let outside = std::mem::take(&mut self.insts);
        let position =
            self.func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("a loop that is in no block")?;
        self.func.blocks[block].insts.splice(position..position, outside);
        let region = self.func.insts[inst].regions[0];
        let item = self.func.types.push(self.func.types[first]);
        self.func.blocks[region].params.push(item);
        self.func.insts[inst].args.push(first);
        let last = self.func.types.push(self.func.types[first]);
        self.func.insts[inst].results.push(last);
        Ok([first, item, last])
    }

    /// The slot of an item in a buffer.
    fn slot(&mut self, buffer: Value, item: Value, slots: &mut WordMap<Value, Value>) -> Result<(), String> {
        let slot = self.op(Op::RingSlot { buffer, item })?;
        self.func.place_of[slot] = self.func.place_of[buffer];
        slots.insert(buffer, slot);
        Ok(())
    }

    /// Where a product was waited for that goes on over the back edge: the one before it is done, and its item of these rings is released.
    fn end_flight(&mut self, flight: Flight, rings: &[RingId], [first, item]: [Value; 2]) -> Result<(), String> {
        self.func.insts[flight.wait].op = Op::DotWait { sum: flight.acc };
        self.release_before(rings, [first, item])
    }

    /// Writes the body of a loop, which ends with this instruction. Yields what counts the item.
    fn end_turn(&mut self, inst: Inst, end: Inst, item: Value, in_flight: Option<Flight>) -> Result<[Inst; 2], String> {
        let one = self.op(Op::Const { value: Constant::int(DType::I32, 1) })?;
        let next = self.binary(BinaryKind::Add, item, one)?;
        let count = [self.insts.len() - 2, self.insts.len() - 1].map(|at| self.insts[at]);
        self.func.insts[end].args.push(next);
        self.insts.push(end);
        if let Some(flight) = in_flight {
            self.func.insts[end].map_operands(|v| if v == flight.done { flight.sum } else { v });
        }
        let region = self.func.insts[inst].regions[0];
        self.func.blocks[region].insts = std::mem::take(&mut self.insts);
        Ok(count)
    }

    /// After a loop whose last product goes on: waits for it, and releases its item of these rings, the one before the `last` of those that
    /// the loop would count.
    fn end_loop(
        &mut self,
        block: Block,
        inst: Inst,
        flight: Flight,
        rings: &[RingId],
        [first, last]: [Value; 2],
    ) -> Result<(), String> {
        let done = self.op(Op::DotWait { sum: flight.last })?;
        self.func.place_of[done] = self.func.place_of[flight.last];
        self.func.replace_uses(&WordMap::from_iter([(flight.last, done)]));
        if !rings.is_empty() {
            self.release_before(rings, [first, last])?;
        }
        let after =
            self.func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("a loop that is in no block")? + 1;
        self.func.blocks[block].insts.splice(after..after, std::mem::take(&mut self.insts));
        Ok(())
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
        mut renamed: WordMap<Value, Value>,
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
