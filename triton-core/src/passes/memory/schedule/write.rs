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
    (func.peers, func.producer) = (plan.peers, plan.producer);
    plan.loops.iter().try_for_each(|of| {
        let slots = plan.slots.min(func.stages(of.inst));
        let scheduler = Scheduler { func: &mut *func, span: Span::NONE, insts: Vec::new() };
        if of.is_decoupled(scheduler.func) {
            scheduler.decouple(of, slots)?;
            return if plan.overlaps { overlap::overlap(func, of.block, of.inst) } else { Ok(()) };
        }
        match scheduler.pipeline(of, slots)? {
            Some(pipelined) => prefetch_fragments::prefetch_fragments(func, &pipelined),
            None => Ok(()),
        }
    })
}

impl Loop {
    /// Whether what fills its rings does so without a barrier of the block.
    fn is_decoupled(&self, func: &Function) -> bool {
        let by_one_warpgroup =
            || func.num_warps <= WARPGROUP && self.stored.is_empty() && self.copies.iter().all(|copy| copy.bulk);
        func.producer.is_some() || by_one_warpgroup()
    }
}

/// A ring of a loop, what fills it, and the wait after which nothing reads its item.
#[derive(Clone)]
struct OfRing<'a> {
    ring: RingId,
    copies: &'a [Copy],
    done: Option<Inst>,
}

/// An item that is filled, if a condition holds, in an iteration in which values have other names, such as the loop's counter.
struct Filled {
    item: Value,
    when: Value,
    renamed: WordMap<Value, Value>,
}

/// What is filled before a loop, and in its turns from then on.
struct First {
    /// The first item, and whether there is one.
    item: Value,
    any: Value,
    /// The end of the loop, less a step: whether there is a second turn.
    second: Value,
    /// How many items after its own a turn fills.
    lead: u32,
    /// How much more its counter is then, and what it is below in each turn that fills one.
    ahead: Value,
    limit: Value,
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
        let Loop { block, inst, ref copies, in_flight, ref stored } = *of;
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
        let counter = self.func.blocks[region].params[0];

        // Before the loop.
        self.insts.extend(copies.iter().map(|copy| copy.alloc).chain(stored.iter().map(|of| of.alloc)));
        let first = self.fill_first([start, end, step], counter, lead, &[copies])?;
        let (item, last) = self.count_items(block, inst)?;

        // In the loop.
        let wait = self.insert(Op::RingWait { ring, item })?;
        if in_flight.is_some() && !bulk && stored.is_empty() {
            self.insert(Op::Sync { scope: Scope::Block })?;
        }
        let next_fill = |cx: &mut Self| {
            // A thread of the one warpgroup that multiplies knows that its product is done.
            let needs_barrier = !bulk || !stored.is_empty() || cx.func.num_warps > WARPGROUP;
            let sync = needs_barrier.then(|| cx.insert(Op::Sync { scope: Scope::Block })).transpose()?;
            let mut later = cx.later(item, counter, &first)?;
            cx.fills(copies, &mut later)?;
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
                self.end_flight(flight, &rings, item)?;
                if stored.is_empty() {
                    sync = next_fill(&mut self)?;
                }
            }
        }
        let release = match in_flight {
            None => self.insert(Op::RingRelease { ring, item })?,
            Some(flight) => flight.wait,
        };
        let count = self.end_turn(inst, *end, item, in_flight)?;
        if let Some(flight) = in_flight {
            self.end_loop(block, inst, flight, if block == self.func.body && bulk { &[] } else { &rings }, last)?;
        }
        let First { item: first, any, second: limit, .. } = first;
        let of = |sync| Pipelined { block, inst, ring, counter, wait, sync, release, count, first, any, limit };
        Ok(sync.filter(|_| !bulk).map(of))
    }

    /// The same where who fills has not to meet those that read: where a producer does, or the one warpgroup that there is. What other
    /// products read is in a ring of its own, which is waited for where it is first read, and released where the last product that reads it
    /// is done. A producer fills an item in its own turn, without a condition. Else the slot that is released is filled again.
    fn decouple(mut self, of: &Loop, slots: u32) -> Result<(), String> {
        let Loop { block, inst, ref copies, in_flight, .. } = *of;
        let data = &self.func.insts[inst];
        let (Op::For { start, end, step }, region) = (data.op, data.regions[0]) else { return Err("no loop".into()) };
        self.span = self.func.insts[copies[0].load].span;
        let readers = Readers::of(self.func, region);
        let mut of_rings = Vec::new();
        for alike in copies.chunk_by(|a, b| readers.products(a.buffer) == readers.products(b.buffer)) {
            let done = readers.last_wait(self.func, region, alike[0].buffer);
            of_rings.push(OfRing { ring: self.ring(slots, Fill::Bulk, alike), copies: alike, done });
        }
        let rings: Vec<RingId> = of_rings.iter().map(|of| of.ring).collect();
        let body = self.func.blocks[region].insts.clone();
        let counter = self.func.blocks[region].params[0];

        self.insts.extend(copies.iter().map(|copy| copy.alloc));
        let mut next = None;
        if self.func.producer.is_none() {
            // A slot is filled again for the item that is as many later as there are slots: where a product goes on, that is the one before.
            let lead = slots - u32::from(in_flight.is_some());
            let copies: Vec<&[Copy]> = of_rings.iter().map(|of| of.copies).collect();
            next = Some(self.fill_first([start, end, step], counter, lead, &copies)?);
        }
        let always = Constant { dtype: DType::Bool, bits: 1 };
        let always = next.is_none().then(|| self.op(Op::Const { value: always })).transpose()?;
        let (item, last) = self.count_items(block, inst)?;
        if let Some(when) = always {
            for of in &of_rings {
                self.fills(of.copies, &mut Filled { item, when, renamed: WordMap::default() })?;
            }
        }
        let mut later = None;
        let mut slots: WordMap<Value, Value> = WordMap::default();
        let mut open = of_rings.clone();
        let (end, rest) = body.split_last().ok_or("a loop without an end")?;
        for &inst in rest.iter().filter(|inst| !of.replaces(inst)) {
            let mut operands = Vec::new();
            self.func.insts[inst].for_each_operand(|v| operands.push(v));
            let is_read = |of: &mut OfRing| of.copies.iter().any(|copy| operands.contains(&copy.buffer));
            for OfRing { ring, copies, .. } in open.extract_if(.., is_read).collect::<Vec<_>>() {
                self.insert(Op::RingWait { ring, item })?;
                copies.iter().try_for_each(|copy| self.slot(copy.buffer, item, &mut slots))?;
            }
            self.func.insts[inst].map_operands(|v| slots.get(&v).copied().unwrap_or(v));
            self.insts.push(inst);
            let mut released = Vec::new();
            if let Some(flight) = in_flight.filter(|flight| flight.wait == inst) {
                self.end_flight(flight, &rings, item)?;
                released.clone_from(&of_rings);
            } else if in_flight.is_none() {
                released = of_rings.iter().filter(|of| of.done == Some(inst)).cloned().collect();
                for of in &released {
                    self.insert(Op::RingRelease { ring: of.ring, item })?;
                }
            }
            if let Some(next) = next.as_ref().filter(|_| !released.is_empty()) {
                let mut filled = later.take().map_or_else(|| self.later(item, counter, next), Ok)?;
                released.iter().try_for_each(|of| self.fills(of.copies, &mut filled))?;
                later = Some(filled);
            }
        }
        self.end_turn(inst, *end, item, in_flight)?;
        if let Some(flight) = in_flight {
            self.end_loop(block, inst, flight, if block == self.func.body { &[] } else { &rings }, last)?;
        }
        Ok(())
    }

    /// Fills the first items of rings before a loop, as far as it comes to them: as many as are ahead of its turns.
    fn fill_first(
        &mut self,
        [start, end, step]: [Value; 3],
        counter: Value,
        lead: u32,
        of_rings: &[&[Copy]],
    ) -> Result<First, String> {
        let dtype = self.func.ty(counter).elem.num().ok_or("a loop that counts no numbers")?;
        let least = Constant::int(dtype, if dtype == DType::I64 { i64::MIN.into() } else { i32::MIN.into() });
        let least = self.op(Op::Const { value: least })?;
        let (mut at, mut limit) = (start, end);
        let (mut first, mut limits) = (None, Vec::new());
        for item in 0..lead {
            if item > 0 {
                at = self.binary(BinaryKind::Add, at, step)?;
                limit = self.limit(limit, step, least)?;
                limits.push(limit);
            }
            let item = self.op(Op::Const { value: Constant::int(DType::I32, item.into()) })?;
            let when = self.op(Op::Compare { kind: CompareKind::Lt, a: start, b: limit })?;
            let mut filled = Filled { item, when, renamed: WordMap::from_iter([(counter, at)]) };
            of_rings.iter().try_for_each(|copies| self.fills(copies, &mut filled))?;
            first.get_or_insert((item, when));
        }
        limit = self.limit(limit, step, least)?;
        limits.push(limit);
        let mut ahead = step;
        for _ in 1..lead {
            ahead = self.binary(BinaryKind::Add, ahead, step)?;
        }
        let (item, any) = first.ok_or("a ring that is not filled ahead")?;
        Ok(First { item, any, second: limits[0], lead, limit, ahead })
    }

    /// The item that a turn fills.
    fn later(&mut self, item: Value, counter: Value, first: &First) -> Result<Filled, String> {
        let items = self.op(Op::Const { value: Constant::int(DType::I32, first.lead.into()) })?;
        let later = self.binary(BinaryKind::Add, item, items)?;
        let when = self.op(Op::Compare { kind: CompareKind::Lt, a: counter, b: first.limit })?;
        let then = self.binary(BinaryKind::Add, counter, first.ahead)?;
        Ok(Filled { item: later, when, renamed: WordMap::from_iter([(counter, then)]) })
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

    /// Writes what was made before a loop, and has the loop count items: yields that of a turn, and the one after the last.
    fn count_items(&mut self, block: Block, inst: Inst) -> Result<(Value, Value), String> {
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
        Ok((item, last))
    }

    /// The slot of an item in a buffer.
    fn slot(&mut self, buffer: Value, item: Value, slots: &mut WordMap<Value, Value>) -> Result<(), String> {
        let slot = self.op(Op::RingSlot { buffer, item })?;
        self.func.place_of[slot] = self.func.place_of[buffer];
        slots.insert(buffer, slot);
        Ok(())
    }

    /// Where a product was waited for that goes on over the back edge: the one before it is done.
    fn end_flight(&mut self, flight: Flight, rings: &[RingId], item: Value) -> Result<(), String> {
        self.func.insts[flight.wait].op = Op::DotWait { sum: flight.acc };
        let before = self.before(item)?;
        rings.iter().try_for_each(|&ring| self.insert(Op::RingRelease { ring, item: before }).map(drop))
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

    /// After a loop whose last product goes on: waits for it, and releases what it reads of these rings.
    fn end_loop(
        &mut self,
        block: Block,
        inst: Inst,
        flight: Flight,
        rings: &[RingId],
        last: Value,
    ) -> Result<(), String> {
        let done = self.op(Op::DotWait { sum: flight.last })?;
        self.func.place_of[done] = self.func.place_of[flight.last];
        self.func.replace_uses(&WordMap::from_iter([(flight.last, done)]));
        if !rings.is_empty() {
            let before = self.before(last)?;
            for &ring in rings {
                self.insert(Op::RingRelease { ring, item: before })?;
            }
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

    /// The fills of an item.
    fn fills(&mut self, copies: &[Copy], filled: &mut Filled) -> Result<(), String> {
        let mut fills = Vec::new();
        for copy in copies {
            remat::repeat(self.func, &copy.slice, &mut filled.renamed, self.span, &mut self.insts)?;
            let mut fill = Op::RingFill { buffer: copy.buffer, item: filled.item, from: copy.from, when: filled.when };
            fill.map_operands(|v| filled.renamed.get(&v).copied().unwrap_or(v));
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
