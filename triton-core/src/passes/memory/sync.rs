//! Barrier insertion, at stage 2.
//!
//! *Before:* accesses to memory in the order of the program, each by the threads that the layout says. *After:* a
//! `sync` stands between two accesses of which one writes, which may touch the same bytes, and which different threads
//! may make; so a program sees its own writes, as in the interpreter. It is a barrier of each warp only if no two warps
//! can conflict.
//!
//! Two accesses to global memory cannot alias if their pointers come from different parameters: memory reached through
//! a `PtrMut` is not reachable through another argument (guaranteed by borrows for buffers, by the launch's contract
//! for raw addresses); nor if constants say that they are disjoint parts of one parameter's memory
//! ([`crate::analysis::interval`]). The elements of a view are reached as its tiles, and by gathers and scatters
//! through pointers made from its parameter, any of which may alias any tile of it. Accesses are made by the same
//! thread if they are at the very same location, or in rows of a view that differ along axes of one element alone, no two threads hold an
//! element, and no two elements are at one address, which is so of every view that is written; of atomic updates, one thread makes those of an element anyway.
//! Updates of one kind may come in any order if the old values are unused. Accesses to shared memory alias within one
//! buffer, where the layouts say by whom ([`crate::layout::Layout::reach`]); buffers share bytes only where the
//! barriers that are written here allow it ([`crate::passes::memory::allocate`]). Slots of a ring are told apart by
//! their items, as far as these differ by a constant: what is item `i + 1` in one turn of a loop is item `i` in the
//! next. A copy writes its slot when it is issued, and again when it is waited for, so that a barrier after the wait
//! publishes it; but every thread waits for bulk copies, and needs no barrier then. Nor does a producer that fills a slot, which waits until
//! every warp has released it: the lanes of a warp meet before that if they have read it. A slot that warps drain each of them reads where it has
//! stored, from the drain to the release, so that barriers of the warp are enough; what a drain writes nothing else in the program accesses.
//!
//! An update that releases orders all accesses to global memory that the program made before, so that a barrier precedes it, whatever
//! they were; one that acquires, all that follow.
//!
//! The walk is the forward data-flow over read-after-write and write-after-read of Tillet 2020, §5.3.2: the accesses since
//! the last barrier are the state. A loop is walked twice, the second time from the state at its end, which is all that a
//! further iteration can add: SSA values defined in the loop differ between iterations. In that second walk the inner
//! loops are walked once: their own iterations already have all barriers between them. After a `while`, the last code
//! executed is its condition. Branches are joined. Conditions are scalars, the same in all threads, so that all of them
//! meet at a barrier in a branch.

use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::defs::Defs;
use crate::analysis::interval::{self, Interval};
use crate::entity::SideTable;
use crate::ir::rings::WARPGROUP;
use crate::ir::{Block, Function, Inst, Item, LayoutId, RingBuffer, RingId, Value};
use crate::layout::shared::Reach;
use crate::layout::{Layout, access};
use crate::ops::kinds::{AtomicKind, BinaryKind};
use crate::ops::{self, AccessEffect, Agent, Control, Location, Op, RingStep, Scope, ShapeChange, Values};
use crate::passes::Env;
use crate::types::DType;
use std::ops::Range;

/// An access since the last barrier of the program.
#[derive(Clone, PartialEq)]
struct Pending {
    memory: Memory,
    kind: AccessKind,
    /// Whether there was a barrier of each warp since.
    warp_waited: bool,
    /// Whether a product of a warpgroup makes it, and not threads.
    by_product: bool,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq)]
enum AccessKind {
    Read,
    Write,
    /// A copy that fills a slot of a ring: by the threads that the layout says, and never by rows of matrices.
    Copy,
    /// An atomic update; of this kind, if those of it commute.
    Update(Option<AtomicKind>),
}

/// What is accessed.
#[derive(Clone, PartialEq)]
enum Memory {
    /// At this location, by the threads that this layout says. It is `None` once a later iteration of a loop
    /// has another one instead, and where two elements may be at one address. The bytes, and how many each element has, are
    /// the same in every iteration.
    Global { at: Option<(Location, Option<LayoutId>)>, replicated: bool, bytes: u32, region: Region },
    /// All of global memory, of which an update orders every access.
    Ordered,
    /// This buffer, by the threads that hold a tile in this layout; of a ring, the slot of an item, if it is known.
    Shared { buffer: Value, layout: Option<LayoutId>, item: Option<Item> },
}

/// Which part of global memory an access is in, whatever the iteration.
#[derive(Clone, PartialEq)]
enum Region {
    /// These bytes.
    Pointers(Interval),
    /// Of this view, elements whose indices along each axis are in this range, if it is known.
    View { base: Value, indices: Vec<Option<Range<u64>>> },
}

impl Region {
    /// Whether accesses of this many bytes an element may have a byte in common.
    fn may_alias(&self, bytes: u32, other: &Region, others: u32) -> bool {
        match (self, other) {
            (Region::Pointers(a), Region::Pointers(b)) => a.may_alias(bytes, *b, others),
            // A view that is written has each element at an address of its own.
            (Region::View { base: a, indices }, Region::View { base: b, indices: theirs }) => {
                let meet = |(a, b): (&Range<u64>, &Range<u64>)| a.start < b.end && b.start < a.end;
                a == b && indices.iter().zip(theirs).all(|(a, b)| a.as_ref().zip(b.as_ref()).is_none_or(meet))
            }
            // Gathers, scatters and `get` reach elements of a view through pointers made from its parameter.
            (Region::View { base, .. }, Region::Pointers(pointers))
            | (Region::Pointers(pointers), Region::View { base, .. }) => {
                pointers.base().is_none_or(|param| param == *base)
            }
        }
    }
}

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn sync(func: &mut Function, env: &Env) -> Result<(), String> {
    let (body, defs) = (func.body, Defs::of(func));
    let facts = axis::analyse(func, env.specialization);
    let intervals = interval::analyse(func);
    let items = Items::of(func);
    let stmatrix = env.target.info().stmatrix;
    Sync { func, facts, intervals, defs, items, stmatrix, repeated: false }.block(body, Vec::new()).map(|_| ())
}

struct Sync<'a> {
    func: &'a mut Function,
    facts: SideTable<Value, AxisInfo>,
    intervals: SideTable<Value, Interval>,
    /// Definitions and uses as they were at first.
    defs: Defs,
    items: Items,
    stmatrix: bool,
    /// Whether this is the second walk of an enclosing loop.
    repeated: bool,
}

impl Sync<'_> {
    /// Inserts the barriers of a block, and returns what is pending at its end.
    fn block(&mut self, id: Block, mut pending: Vec<Pending>) -> Result<Vec<Pending>, String> {
        let mut insts = Vec::new();
        for inst in self.func.blocks[id].insts.clone() {
            let op = self.func.insts[inst].op;
            if let Op::Sync { scope } = op {
                wait(&mut pending, scope);
            }
            if let Some(RingStep::Wait(ring, item)) = op.ring_step()
                && self.func.rings[ring].fill.is_bulk()
            {
                self.arrive(&mut pending, ring, item);
            }
            if let Some(RingStep::Release(ring, item)) = op.ring_step()
                && self.is_told(ring)
                && self.release(&mut pending, ring, item)
            {
                let span = self.func.insts[inst].span;
                insts.push(self.func.make(Op::Sync { scope: Scope::Warp }, span)?);
                wait(&mut pending, Scope::Warp);
            }
            let new = self.accesses(inst);
            let ordered =
                Pending { memory: Memory::Ordered, kind: AccessKind::Write, warp_waited: false, by_product: false };
            let released = Some(&ordered).filter(|_| op.order().releases());
            let all = || new.iter().chain(released);
            let conflicts = all().flat_map(|new| pending.iter().filter_map(|old| self.conflict(old, new)));
            // A release accesses nothing itself.
            if let Some(scope) = conflicts.max().filter(|_| !matches!(op.ring_step(), Some(RingStep::Release(..)))) {
                let span = self.func.insts[inst].span;
                insts.push(self.func.make(Op::Sync { scope }, span)?);
                wait(&mut pending, scope);
            }
            merge(&mut pending, new);
            if op.order().acquires() {
                merge(&mut pending, vec![ordered]);
            }
            let regions = self.func.insts[inst].regions.clone();
            if let Some(Control::If(_)) = op.control() {
                let mut after = Vec::new();
                for region in regions {
                    merge(&mut after, self.block(region, pending.clone())?);
                }
                pending = after;
            } else if op.control().is_some_and(Control::repeats)
                && let Some((body, test)) = regions.split_last()
            {
                let tested = |cx: &mut Self, pending| test.iter().try_fold(pending, |state, &r| cx.block(r, state));
                let around = self.repeated;
                for access in &mut pending {
                    access.memory.with_item(|item| Some(self.items.in_first_turn(inst, item)));
                }
                for repeated in if around { &[true][..] } else { &[false, true] } {
                    self.repeated = *repeated;
                    // Not running at all leaves what was pending.
                    let start = tested(self, pending.clone())?;
                    let mut turn = self.block(*body, start)?;
                    self.forget(inst, &regions, &mut turn);
                    merge(&mut pending, turn);
                }
                self.repeated = around;
                // The condition is tested once more than the body runs.
                pending = tested(self, pending)?;
                let inside = self.func.defined_in(&regions);
                for access in &mut pending {
                    access.memory.with_item(|item| self.items.after_loop(inst, item, &inside));
                }
            }
            insts.push(inst);
        }
        self.func.blocks[id].insts = insts;
        Ok(pending)
    }

    /// What an instruction accesses: what its operation does, and operands that it reads from where they are.
    fn accesses(&mut self, inst: Inst) -> Vec<Pending> {
        let mut all: Vec<Pending> = self.access(inst).into_iter().collect();
        // A product goes on reading until it is waited for.
        let product = if let Op::DotWait { sum } = self.func.insts[inst].op { self.defs.definition(sum) } else { None };
        let read = self.func.insts[product.unwrap_or(inst)].op;
        for (operand, layout) in self.func.shared_operands(&read) {
            let (operand, layout) = self.items.origin(self.func, operand, layout);
            let (buffer, item) = self.items.buffer(operand);
            let memory = Memory::Shared { buffer, layout: layout.map(|layout| self.func.layouts.intern(layout)), item };
            let by_product = read.agent() == Agent::AsyncProxy;
            all.push(Pending { memory, kind: AccessKind::Read, warp_waited: false, by_product });
        }
        // A copy writes from its fill on, until it is waited for.
        let written = |of: RingBuffer, item: Value| Pending {
            memory: Memory::Shared {
                buffer: of.buffer,
                layout: Some(of.layout),
                item: Some(self.items.of_value(item)),
            },
            kind: AccessKind::Copy,
            warp_waited: false,
            by_product: false,
        };
        // What reads a slot may do so until then, products that are in flight across a barrier among them.
        let released = |of: RingBuffer, item: Value| Pending {
            memory: Memory::Shared { buffer: of.buffer, layout: None, item: Some(self.items.of_value(item)) },
            kind: AccessKind::Read,
            warp_waited: false,
            by_product: false,
        };
        match self.func.insts[inst].op.ring_step() {
            Some(RingStep::Fill(buffer, item)) => {
                let ring = self.func.ring_of(buffer);
                all.extend(ring.map(|(ring, at)| written(self.func.rings[ring].buffers[at], item)));
            }
            Some(RingStep::Drain(buffer, item)) => {
                let ring = self.func.ring_of(buffer);
                let of = ring.map(|(ring, at)| self.func.rings[ring].buffers[at]);
                all.extend(of.map(|of| self.drained(of, item)));
            }
            // Before item 0 there is none.
            Some(RingStep::Release(_, item)) if self.items.of_value(item).is_before_all() => {}
            Some(RingStep::Release(ring, item)) if self.func.is_of_results(ring) => {
                let buffers = self.func.rings[ring].buffers.clone();
                all.extend(buffers.into_iter().map(|of| self.drained(of, item)));
            }
            Some(RingStep::Release(ring, item)) if !self.is_told(ring) => {
                all.extend(self.func.rings[ring].buffers.iter().map(|&of| released(of, item)));
            }
            Some(RingStep::Wait(ring, item)) if !self.func.rings[ring].fill.is_bulk() => {
                all.extend(self.func.rings[ring].buffers.iter().map(|&of| written(of, item)));
            }
            Some(RingStep::Wait(..) | RingStep::Release(..) | RingStep::Slot(..)) | None => {}
        }
        all
    }

    /// What warps read that copy from a slot, from then on until it is released.
    fn drained(&mut self, of: RingBuffer, item: Value) -> Pending {
        let layout = self.func.drained_by(of);
        let layout = Some(self.func.layouts.intern(layout));
        let memory = Memory::Shared { buffer: of.buffer, layout, item: Some(self.items.of_value(item)) };
        Pending { memory, kind: AccessKind::Read, warp_waited: false, by_product: false }
    }

    /// Every thread has waited for the bulk copies of an item, and needs no barrier after them.
    fn arrive(&self, pending: &mut Vec<Pending>, ring: RingId, item: Value) {
        pending.retain(|access| access.kind != AccessKind::Copy || !self.is_of(access, ring, item));
    }

    /// Whether what fills a ring by bulk copies knows without a barrier that an item is released: every warp tells a producer so; without
    /// one, the thread that fills has waited for the product if there is one warpgroup.
    fn is_told(&self, ring: RingId) -> bool {
        self.func.rings[ring].fill.is_bulk() && (self.func.producer.is_some() || self.func.num_warps <= WARPGROUP)
    }

    /// An item is released to what fills its slot. Whether the lanes of a warp have to meet before, as one of them tells it.
    fn release(&self, pending: &mut Vec<Pending>, ring: RingId, item: Value) -> bool {
        let mut meet = false;
        pending.retain(|access| {
            let told = self.func.producer.is_some() || access.by_product;
            let released = told && self.is_of(access, ring, item);
            meet |= released && !access.by_product && !access.warp_waited;
            !released
        });
        meet
    }

    /// Whether an access is to this item.
    fn is_of(&self, access: &Pending, ring: RingId, item: Value) -> bool {
        let (buffers, item) = (&self.func.rings[ring].buffers, self.items.of_value(item));
        match access.memory {
            Memory::Shared { buffer, item: Some(of), .. } => of == item && buffers.iter().any(|of| of.buffer == buffer),
            Memory::Shared { .. } | Memory::Global { .. } | Memory::Ordered => false,
        }
    }

    fn access(&self, inst: Inst) -> Option<Pending> {
        let data = &self.func.insts[inst];
        // What bulk copies write nothing else accesses, and no barrier would order it.
        let access = data.op.access().filter(|_| data.op.takes().is_none())?;
        let layout = self.func.access_layout(data);
        let memory = match access.memory {
            ops::Memory::Global(at) => {
                let replicated = layout.is_none_or(|id| self.func.layouts[id].replicated() != (0, 0));
                let bytes = self.func.pointee(at).map_or(0, DType::bytes);
                let region = self.region(at);
                Memory::Global { at: self.distinct(at).then_some((within(at), layout)), replicated, bytes, region }
            }
            ops::Memory::Shared(accessed) => {
                let aliased = self.items.aliased(accessed);
                let (buffer, item) = self.items.buffer(aliased);
                // Of a slice, or through an alias, the layout is not one of elements of the buffer.
                let whole = aliased == accessed && !matches!(data.op, Op::SharedSlice { .. });
                Memory::Shared { buffer, layout: layout.filter(|_| whole), item }
            }
        };
        let kind = match access.effect {
            AccessEffect::Read => AccessKind::Read,
            AccessEffect::Write => AccessKind::Write,
            AccessEffect::Update => {
                AccessKind::Update(data.op.commutes(data.results.iter().any(|&v| self.defs.uses(v) > 0)))
            }
        };
        Some(Pending { memory, kind, warp_waited: false, by_product: false })
    }

    /// Whether no two elements at a location are at one address: all of them are one run, or of a view.
    fn distinct(&self, at: Location) -> bool {
        match at {
            Location::Pointers { ptr, .. } => self.facts[ptr].contiguity >= self.func.ty(ptr).shape.elements(),
            Location::View { .. } => true,
        }
    }

    fn region(&self, at: Location) -> Region {
        match at {
            Location::Pointers { ptr, .. } => Region::Pointers(self.intervals[ptr]),
            Location::View { base, at, shape } => {
                let of = |(&start, &extent): (&Value, &u32)| {
                    let (first, last) = self.intervals[start].numbers()?;
                    Some(first..last + u64::from(extent))
                };
                Region::View { base, indices: at.as_slice().iter().zip(shape.dims()).map(of).collect() }
            }
        }
    }

    /// An iteration of a loop is over: the next one has other pointers for those that are defined in it, and other items.
    fn forget(&self, inst: Inst, regions: &[Block], pending: &mut Vec<Pending>) {
        let inside = self.func.defined_in(regions);
        // The next program waits for nothing that this one does to global memory.
        if self.func.is_over_programs(inst) {
            pending.retain(|access| matches!(access.memory, Memory::Shared { .. }));
        }
        for access in pending {
            if let Memory::Global { at, .. } = &mut access.memory {
                *at = at.filter(|(at, _)| !at.any(|v| inside[v]));
            }
            access.memory.with_item(|item| self.items.in_next_turn(inst, item, &inside));
        }
    }

    /// The scope of the barrier that is needed between two accesses.
    fn conflict(&self, a: &Pending, b: &Pending) -> Option<Scope> {
        // Whether one thread makes the accesses of an element, even if several hold it.
        let one_of_all = match (a.kind, b.kind) {
            (AccessKind::Read, AccessKind::Read) => return None,
            (AccessKind::Update(Some(a)), AccessKind::Update(Some(b))) if a == b => return None,
            (AccessKind::Update(_), AccessKind::Update(_)) => true,
            (AccessKind::Read | AccessKind::Write | AccessKind::Copy | AccessKind::Update(_), _) => false,
        };
        let reach = match (&a.memory, &b.memory) {
            (
                Memory::Global { at: p, replicated, bytes: m, region: s },
                Memory::Global { at: q, bytes: n, region: t, .. },
            ) => {
                let same = p.zip(*q).is_some_and(|((p, x), (q, y))| x == y && p.same_elements(&q));
                if s.may_alias(*m, t, *n) && (!same || *replicated && !one_of_all) {
                    Reach::Block
                } else {
                    Reach::Thread
                }
            }
            (Memory::Shared { buffer: x, item: Some(i), .. }, Memory::Shared { buffer: y, item: Some(j), .. })
                if x == y && i.base == j.base && (i.offset - j.offset) % i128::from(self.func.slots(*x)) != 0 =>
            {
                Reach::Thread
            }
            (Memory::Shared { buffer: x, layout: p, .. }, Memory::Shared { buffer: y, layout: q, .. }) => {
                // The one that writes comes first in the question.
                let writes = |kind| matches!(kind, AccessKind::Write | AccessKind::Copy);
                let both = [(p, a.kind), (q, b.kind)];
                let [(first, made), (second, kind)] = if writes(a.kind) { both } else { [both[1], both[0]] };
                let of = |id: &Option<LayoutId>| id.map(|id| &self.func.layouts[id]);
                let layouts = of(first).zip(of(second));
                match layouts.zip(self.func.mem(*x)) {
                    _ if x != y => Reach::Thread,
                    None => Reach::Block,
                    // Of the threads that hold an element, the same one writes it.
                    Some(_) if p == q && a.kind == b.kind && writes(a.kind) => Reach::Thread,
                    Some(((first, second), mem)) => {
                        // Lanes store rows of matrices as they load them.
                        let by = |layout: &Layout, kind: AccessKind| {
                            let in_rows = kind == AccessKind::Read || self.stmatrix && kind != AccessKind::Copy;
                            if in_rows { access::readers(layout, mem) } else { layout.clone() }
                        };
                        by(first, made).reach(&by(second, kind), mem)
                    }
                }
            }
            (Memory::Ordered, Memory::Ordered | Memory::Global { .. }) | (Memory::Global { .. }, Memory::Ordered) => {
                Reach::Block
            }
            (Memory::Global { .. } | Memory::Ordered, Memory::Shared { .. })
            | (Memory::Shared { .. }, Memory::Global { .. } | Memory::Ordered) => Reach::Thread,
        };
        match reach {
            Reach::Thread => None,
            Reach::Block if self.func.num_warps > 1 => Some(Scope::Block),
            Reach::Warp | Reach::Block => Some(Scope::Warp).filter(|_| !a.warp_waited),
        }
    }
}

/// A location for which the indices along axes of one element say nothing: they tell which row of a view a tile is, and in each row the thread that has an
/// element follows from the others. So rows that a loop writes one after the other are those of one location.
fn within(at: Location) -> Location {
    let Location::View { base, at: starts, shape } = at else { return at };
    let of = |(&start, &extent): (&Value, &u32)| if extent == 1 { base } else { start };
    let starts = Values::new(&starts.as_slice().iter().zip(shape.dims()).map(of).collect::<Vec<_>>());
    starts.map_or(at, |at| Location::View { base, at, shape })
}

/// What is still pending after a barrier.
fn wait(pending: &mut Vec<Pending>, scope: Scope) {
    match scope {
        Scope::Block => pending.clear(),
        Scope::Warp => pending.iter_mut().for_each(|access| access.warp_waited = true),
    }
}

fn merge(into: &mut Vec<Pending>, from: Vec<Pending>) {
    for access in from {
        if !into.contains(&access) {
            into.push(access);
        }
    }
}

impl Memory {
    /// Replaces the item that is accessed, if it is known.
    fn with_item(&mut self, f: impl FnOnce(Item) -> Option<Item>) {
        if let Memory::Shared { item, .. } = self {
            *item = item.and_then(f);
        }
    }
}

/// The items of a function's rings.
struct Items {
    /// What a slot is of.
    slots: SideTable<Value, Option<(Value, Item)>>,
    /// What values are aliases of.
    aliases: SideTable<Value, Option<(Value, ShapeChange)>>,
    /// Sums of a value and a constant.
    sums: SideTable<Value, Option<Item>>,
    /// Of a loop, what counts items.
    counters: SideTable<Inst, Vec<Counter>>,
}

/// A parameter of a loop that counts items.
#[derive(Clone, PartialEq)]
struct Counter {
    param: Value,
    /// What it is at first, what a turn makes of it for the next one, and what it is in the end.
    first: Item,
    next: Item,
    result: Value,
}

impl Items {
    fn of(func: &Function) -> Items {
        let none = || SideTable::new(None);
        let (slots, aliases) = (SideTable::new(None), SideTable::new(None));
        let mut items = Items { slots, aliases, sums: none(), counters: SideTable::new(Vec::new()) };
        let mut counts = SideTable::new(false);
        for inst in func.walk() {
            let data = &func.insts[inst];
            if let Op::Const { value } = data.op {
                items.sums[data.results[0]] = value.as_int().map(|offset| Item { base: None, offset });
            } else if let Op::Binary { kind: BinaryKind::Add, a, b } = data.op {
                let (a, b) = (items.of_value(a), items.of_value(b));
                let sum = |(a, b): (Item, Item)| Item { base: a.base.or(b.base), offset: a.offset + b.offset };
                items.sums[data.results[0]] =
                    Some((a, b)).filter(|(a, b)| a.base.is_none() || b.base.is_none()).map(sum);
            } else if let Some(RingStep::Slot(buffer, item)) = data.op.ring_step() {
                let item = items.of_value(item);
                items.slots[data.results[0]] = Some((buffer, item));
                item.base.into_iter().for_each(|base| counts[base] = true);
            } else if let Some(aliased) = func.aliased(data) {
                items.aliases[data.results[0]] = Some(aliased);
            }
        }
        // Inner loops first: what one counts from may be the counter of another one.
        for inst in func.walk().into_iter().rev() {
            for carried in func.carried(&func.insts[inst]).filter(|_| matches!(func.insts[inst].op, Op::For { .. })) {
                if let (Some(param), Some(next), Some(first)) = (carried.params[0], carried.yields[0], carried.init)
                    && counts[param]
                {
                    let (first, next) = (items.of_value(first), items.of_value(next));
                    first.base.into_iter().for_each(|base| counts[base] = true);
                    items.counters[inst].push(Counter { param, first, next, result: carried.result });
                }
            }
        }
        items
    }

    /// What is accessed through a value that may be an alias, and the layout of the threads that do.
    fn origin(&self, func: &Function, value: Value, layout: Layout) -> (Value, Option<Layout>) {
        let (mut value, mut layout) = (value, Some(layout));
        while let Some((x, change)) = self.aliases[value] {
            layout = layout.and_then(|layout| change.operand_layout(func.ty(x).shape, &layout));
            value = x;
        }
        (value, layout)
    }

    /// What a value is an alias of, or itself.
    fn aliased(&self, value: Value) -> Value {
        self.aliases[value].map_or(value, |(x, _)| self.aliased(x))
    }

    /// The buffer that is accessed through a value, and the item if it is a slot.
    fn buffer(&self, value: Value) -> (Value, Option<Item>) {
        self.slots[value].map_or((value, None), |(buffer, item)| (buffer, Some(item)))
    }

    fn of_value(&self, value: Value) -> Item {
        self.sums[value].unwrap_or(Item { base: Some(value), offset: 0 })
    }

    /// What the first turn of a loop calls an item of before it.
    fn in_first_turn(&self, inst: Inst, item: Item) -> Item {
        let counter = self.counters[inst].iter().find(|counter| counter.first.base == item.base);
        counter.map_or(item, |of| Item { base: Some(of.param), offset: item.offset - of.first.offset })
    }

    /// What the next turn of a loop calls an item of this one; `None` if that is not known.
    fn in_next_turn(&self, inst: Inst, item: Item, inside: &SideTable<Value, bool>) -> Option<Item> {
        if !item.base.is_some_and(|base| inside[base]) {
            return Some(item);
        }
        let counter = self.counters[inst].iter().find(|counter| counter.next.base == item.base)?;
        Some(Item { base: Some(counter.param), offset: item.offset - counter.next.offset })
    }

    /// What is called an item after a loop that the next turn, which does not come, would call so.
    fn after_loop(&self, inst: Inst, item: Item, inside: &SideTable<Value, bool>) -> Option<Item> {
        if !item.base.is_some_and(|base| inside[base]) {
            return Some(item);
        }
        let counter = self.counters[inst].iter().find(|counter| Some(counter.param) == item.base)?;
        Some(Item { base: Some(counter.result), offset: item.offset })
    }
}
