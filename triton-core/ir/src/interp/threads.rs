//! Stage 2: the threads of a program, and what orders their accesses to memory.
//!
//! A program is run once, in its order, but every access is remembered with the thread that makes it and the time of its warp. One
//! access *happens before* another if the same thread makes both, or a barrier of both threads stands between (Lamport, "Time,
//! Clocks, and the Ordering of Events", CACM 1978; `clock`). Two accesses of a byte, of which one writes, must be ordered so
//! (`shadow`): otherwise some run on a GPU could execute them in the other order. So one run finds the races of all.

use super::Machine;
use super::clock::{Clocks, Now};
use super::copies::{Mailbox, Rings, Source};
use super::location::Reached;
use super::order::Order;
use super::pages::Pages;
use super::positions::{By, Position, Positions, Tile};
use super::shadow::{AccessKind, Shadow};
use crate::entity::SideTable;
use crate::ir::{Function, InstData, LayoutId, MemId, Stage, Value};
use crate::layout::Layout;
use crate::ops::{Access, AccessEffect, Location, Memory, MemoryOrder, Op, Scope};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// A byte of shared memory.
#[derive(Clone, Default)]
struct Byte {
    value: u8,
    /// That through which it was written.
    source: Option<Source>,
}

/// The threads of a program, and their accesses so far.
pub(super) struct Threads {
    /// The values that are needed.
    used: SideTable<Value, bool>,
    pub(super) clocks: Clocks,
    pub(super) positions: Positions,
    pub(super) global: Shadow,
    order: Order,
    pub(super) shared: Shadow,
    pub(super) rings: Rings,
    /// What other blocks of the cluster have sent.
    pub(super) mailbox: Mailbox,
    /// What slots of rings stand for.
    pub(super) slots: HashMap<Value, Source>,
    /// Products in flight, the oldest first: what each of them reads.
    pub(super) products: VecDeque<Vec<OperandRead>>,
    /// Whose turn it is, where teams take turns.
    turn: Turn,
    /// How many products are done.
    done: u64,
    /// Which product a sum is of, by how many began before it.
    sums: HashMap<Value, u64>,
    /// What shared memory holds.
    bytes: Pages<Byte>,
}

/// Whose turn it is to take items of rings.
enum Turn {
    /// The next program's, whose team is told this.
    Passed(Vec<u32>),
    /// This program's.
    Taken,
}

/// Who reads shared memory.
#[derive(Clone, Copy)]
enum Reader {
    /// The threads that the layout says.
    Threads,
    /// The product of this number, for their warps, until it is waited for.
    Product(u64),
}

/// An operand that a product in flight reads.
pub(super) struct OperandRead {
    pub(super) source: Source,
    accesses: Vec<ElementAccess>,
    values: Vec<u64>,
}

impl Threads {
    /// At the start of a program.
    pub(super) fn new(func: &Function) -> Threads {
        let synchronized = func.stage == Stage::Synchronized;
        Threads {
            used: if synchronized { func.used() } else { SideTable::new(false) },
            clocks: if synchronized { Clocks::new(func.num_warps, func.teams) } else { Clocks::new(0, 1) },
            positions: Positions::default(),
            global: Shadow::default(),
            order: Order::default(),
            shared: Shadow::default(),
            rings: Rings::default(),
            mailbox: Mailbox::default(),
            slots: HashMap::new(),
            products: VecDeque::new(),
            turn: Turn::Passed(Vec::new()),
            done: 0,
            sums: HashMap::new(),
            bytes: Pages::default(),
        }
    }
}

/// The bytes that a thread accesses as an element of a tile.
type ElementAccess = (u32, u32, Range<u64>);

/// Checks that earlier accesses are ordered before this one of a thread.
pub(super) fn check(
    clocks: &Clocks,
    shadow: &mut Shadow,
    thread: u32,
    bytes: Range<u64>,
    does: AccessKind,
) -> Result<(), String> {
    check_agent(clocks, shadow, &clocks.now(thread), bytes, does)
}

/// The same of what an agent does now.
pub(super) fn check_agent(
    clocks: &Clocks,
    shadow: &mut Shadow,
    now: &Now<'_>,
    bytes: Range<u64>,
    does: AccessKind,
) -> Result<(), String> {
    shadow.check(bytes, now, does).map_err(|other| {
        let (one, two) = (clocks.name(now.epoch), clocks.name(other.epoch()));
        format!("{one} {} it, {two} {} it, and no barrier is in between", does.word(), other.kind.word())
    })
}

impl Threads {
    /// Every thread orders its accesses.
    pub(super) fn fence(&mut self) -> Result<(), String> {
        let Threads { clocks, order, .. } = self;
        for thread in 0..clocks.threads() {
            order.check(clocks, thread, MemoryOrder::AcqRel)?;
        }
        for thread in 0..clocks.threads() {
            order.remember(&clocks.now(thread), MemoryOrder::AcqRel);
        }
        Ok(())
    }
}

impl Threads {
    /// A program takes its turn.
    pub(super) fn wait_for_turn(&mut self) -> Result<(), String> {
        let Turn::Passed(told) = std::mem::replace(&mut self.turn, Turn::Taken) else {
            return Err("a turn that the program before has not passed on is waited for".into());
        };
        self.clocks.told_team(&told);
        Ok(())
    }

    /// A program passes its turn on.
    pub(super) fn pass_turn(&mut self) -> Result<(), String> {
        let Turn::Taken = self.turn else { return Err("a turn that the program has not is passed on".into()) };
        self.turn = Turn::Passed(self.clocks.tell_team());
        Ok(())
    }
}

impl Machine<'_> {
    /// The threads that make an access to global memory: checks that earlier accesses are ordered before it.
    pub(super) fn global(&mut self, inst: &InstData) -> Result<(), String> {
        let access = inst.op.access();
        let Some(Access { memory: Memory::Global(at), effect, .. }) = access else { return Ok(()) };
        let does = match effect {
            AccessEffect::Read => AccessKind::Read,
            AccessEffect::Write => AccessKind::Write,
            AccessEffect::Update => {
                let is_used = inst.results.iter().any(|&v| self.threads.used[v]);
                inst.op.commutes(is_used).map_or(AccessKind::Write, AccessKind::Update)
            }
        };
        let Some(pointee) = self.func.pointee(at) else { return Ok(()) };
        let by = if does == AccessKind::Read { By::All } else { By::One };
        let layout = self.func.access_layout(inst);
        let shape = match at {
            Location::Pointers { ptr, .. } => self.func.ty(ptr).shape,
            Location::View { shape, .. } => shape,
        };
        let positions = self.threads.positions.of(self.func, Tile { shape, layout, mem: None, by });
        let Reached { addresses, mask } = self.reach(at)?;
        let (addresses, mask) = (addresses.into_owned(), mask.map(Cow::into_owned));
        let included = |position: &&Position| mask.as_ref().is_none_or(|mask| mask[position.element as usize] != 0);
        let accesses = positions.iter().filter(included).map(|&Position { thread, element, .. }| {
            let address = addresses[element as usize];
            (thread, element, address..address.wrapping_add(pointee.bytes().into()))
        });
        let Threads { clocks, global, order, .. } = &mut self.threads;
        for (thread, element, bytes) in accesses.clone() {
            let checked = check(clocks, global, thread, bytes.clone(), does);
            let checked = checked.and_then(|()| order.check(clocks, thread, inst.op.order()));
            checked.map_err(|why| format!("element {element} at {:#x}: {why}", bytes.start))?;
        }
        for (thread, _, bytes) in accesses {
            global.remember(bytes, &clocks.now(thread), does);
            order.remember(&clocks.now(thread), inst.op.order());
        }
        Ok(())
    }

    /// An operation on shared memory.
    pub(super) fn shared(&mut self, inst: &InstData) -> Result<Vec<u64>, String> {
        let func = self.func;
        if let Op::SharedAlloc { at, .. } = inst.op {
            // Without an offset yet, it is beyond all that have one, and apart from the others.
            let apart = || u64::from(inst.results[0].0 + 1) << 32;
            return Ok(vec![at.map_or_else(apart, u64::from)]);
        }
        if let Op::Sync { scope } = inst.op {
            self.threads.clocks.wait(scope);
            if scope == Scope::Block {
                self.threads.order = Order::default();
            }
        }
        if let Op::DotWait { sum } = inst.op {
            // Products are done in the order in which they began.
            while self.threads.sums.get(&sum).is_some_and(|&number| number >= self.threads.done) {
                self.threads.retire()?;
            }
            return Ok(self.value(sum).to_vec());
        }
        if let Op::SharedStore { buffer, part, value } = inst.op {
            let accesses = self.accesses(buffer, part, func.layout_id(value), By::One)?;
            self.threads.store(self.source(buffer), accesses, &self.values[value.0 as usize])?;
        }
        if let Op::SharedSlice { buffer, when, rest, .. } = inst.op {
            return self.slice(inst, buffer, when.zip(rest));
        }
        let Op::SharedLoad { buffer, part, rest } = inst.op else { return Ok(Vec::new()) };
        let result = inst.results[0];
        let accesses = self.accesses(buffer, part, func.layout_id(result), By::Readers)?;
        let count = func.ty(result).shape.elements() as usize;
        let mut out = rest.map_or_else(|| vec![0; count], |rest| self.value(rest).to_vec());
        self.threads.load(self.source(buffer), accesses, &mut out)?;
        Ok(out)
    }

    /// Makes a value an alias of shared memory, with its axes in another order.
    pub(super) fn alias(&mut self, x: Value, result: Value) {
        self.threads.slots.insert(result, self.source(x));
        let start = self.value(x).to_vec();
        self.bind(&[result], vec![start]);
    }

    /// What is read through a buffer, or a slot of one.
    fn source(&self, buffer: Value) -> Source {
        self.threads.slots.get(&buffer).copied().unwrap_or(Source { buffer, item: 0 })
    }

    /// A slice of a tile in shared memory; if there is a condition and it does not hold, the tile beside it.
    fn slice(&mut self, inst: &InstData, buffer: Value, other: Option<(Value, Value)>) -> Result<Vec<u64>, String> {
        if let Some((_, rest)) = other.filter(|&(when, _)| self.value(when)[0] == 0) {
            return Ok(self.value(rest).to_vec());
        }
        let func = self.func;
        let (slice, layout) = func.slice(inst).ok_or("a slice without a layout")?;
        let mem = func.mem_id(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
        let further = func.mems[mem].offset(slice.first());
        let of_slice = |at: &Position| {
            let element = slice.shape().index(at.copy, slice.element(at.of_base)) as u32;
            Position { offset: at.offset ^ further, element, ..*at }
        };
        let positions = self.threads.positions.of_operand(func, func.ty(buffer).shape, &layout, mem);
        let positions = positions.iter().map(of_slice).collect();
        let accesses = self.in_memory(buffer, mem, positions, 0);
        let mut out = vec![0; slice.shape().elements() as usize];
        self.threads.load(self.source(buffer), accesses, &mut out)?;
        Ok(out)
    }

    /// The operand of a product that threads read from a buffer, or from a slot of one, in this layout; `in_flight` if
    /// the newest product in flight does, which reads it until it is waited for.
    pub(super) fn operand(&mut self, buffer: Value, layout: &Layout, in_flight: bool) -> Result<Vec<u64>, String> {
        let mem = self.func.mem_id(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
        let shape = self.func.ty(buffer).shape;
        let positions = self.threads.positions.of_operand(self.func, shape, layout, mem);
        let accesses: Vec<ElementAccess> = self.in_memory(buffer, mem, positions, 0).collect();
        let mut out = vec![0; self.func.ty(buffer).shape.elements() as usize];
        let source = self.source(buffer);
        let reader = match self.threads.products.len() {
            newest @ 1.. if in_flight => Reader::Product(self.threads.done + newest as u64 - 1),
            _ => Reader::Threads,
        };
        self.threads.load_by(reader, source, accesses.iter().cloned(), &mut out)?;
        if in_flight && let Some(reads) = self.threads.products.back_mut() {
            reads.push(OperandRead { source, accesses, values: out.clone() });
        }
        Ok(out)
    }

    /// The accesses to a part of a buffer, of a tile in this layout.
    fn accesses(
        &mut self,
        buffer: Value,
        part: u32,
        layout: Option<LayoutId>,
        by: By,
    ) -> Result<impl Iterator<Item = ElementAccess> + Clone + use<>, String> {
        let mem = self.func.mem_id(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
        let shape = self.func.ty(buffer).shape;
        let positions = self.threads.positions.of(self.func, Tile { shape, layout, mem: Some(mem), by });
        Ok(self.in_memory(buffer, mem, positions, part))
    }

    /// What these positions access in a part of a buffer.
    fn in_memory(
        &self,
        buffer: Value,
        mem: MemId,
        positions: Rc<[Position]>,
        part: u32,
    ) -> impl Iterator<Item = ElementAccess> + Clone + use<> {
        let (start, width) = (self.value(buffer)[0], u64::from(self.func.mems[mem].bits() / 8));
        (0..positions.len()).map(move |i| positions[i]).filter(move |position| position.part == part).map(
            move |Position { thread, element, offset, .. }| {
                let address = start + u64::from(offset) * width;
                (thread, element, address..address + width)
            },
        )
    }
}

impl Threads {
    /// Stores elements of a tile to a buffer in shared memory.
    fn store(
        &mut self,
        source: Source,
        accesses: impl Iterator<Item = ElementAccess> + Clone,
        tile: &[u64],
    ) -> Result<(), String> {
        for (thread, element, bytes) in accesses.clone() {
            let checked = check(&self.clocks, &mut self.shared, thread, bytes, AccessKind::Write);
            checked.map_err(|why| racing(source.buffer, element, &why))?;
        }
        for (thread, element, bytes) in accesses {
            self.shared.remember(bytes.clone(), &self.clocks.now(thread), AccessKind::Write);
            self.write(bytes, tile[element as usize], source)?;
        }
        Ok(())
    }

    /// A product begins, whose sum this is.
    pub(super) fn begin_product(&mut self, sum: Option<&Value>) {
        sum.map(|&sum| self.sums.insert(sum, self.done + self.products.len() as u64));
        self.products.push_back(Vec::new());
    }

    /// Sums go by other names in a turn of a loop, or after it.
    pub(super) fn carry_sums(&mut self, from: &[Value], to: &[Value]) {
        if self.sums.is_empty() {
            return;
        }
        let numbers: Vec<Option<u64>> = from.iter().map(|sum| self.sums.get(sum).copied()).collect();
        for (&to, number) in to.iter().zip(numbers) {
            match number {
                Some(number) => self.sums.insert(to, number),
                None => self.sums.remove(&to),
            };
        }
    }

    /// The oldest product in flight is done: what it reads is still what it was, and nothing has written it meanwhile.
    fn retire(&mut self) -> Result<(), String> {
        let number = self.done;
        self.done += 1;
        for OperandRead { source, accesses, values } in self.products.pop_front().unwrap_or_default() {
            let mut now = values.clone();
            self.load_by(Reader::Product(number), source, accesses.into_iter(), &mut now)?;
            if now != values {
                return Err(format!("{} in shared memory is written while a product reads it", source.buffer));
            }
        }
        self.clocks.multiplied(number);
        Ok(())
    }

    /// Writes an element.
    pub(super) fn write(&mut self, bytes: Range<u64>, mut bits: u64, source: Source) -> Result<(), String> {
        self.bytes.each(bytes, |byte| {
            *byte = Byte { value: bits as u8, source: Some(source) };
            bits >>= 8;
            Ok(())
        })
    }

    /// Loads elements of a tile from a buffer in shared memory.
    pub(super) fn load(
        &mut self,
        source: Source,
        accesses: impl Iterator<Item = ElementAccess>,
        tile: &mut [u64],
    ) -> Result<(), String> {
        self.load_by(Reader::Threads, source, accesses, tile)
    }

    fn load_by(
        &mut self,
        reader: Reader,
        source: Source,
        accesses: impl Iterator<Item = ElementAccess>,
        tile: &mut [u64],
    ) -> Result<(), String> {
        let buffer = source.buffer;
        for (thread, element, bytes) in accesses {
            let checked = check(&self.clocks, &mut self.shared, thread, bytes.clone(), AccessKind::Read);
            checked.map_err(|why| racing(buffer, element, &why))?;
            let now = match reader {
                Reader::Threads => self.clocks.now(thread),
                Reader::Product(number) => self.clocks.multiplying(thread, number),
            };
            self.shared.remember(bytes.clone(), &now, AccessKind::Read);
            let (mut bits, mut shift) = (0, 0);
            self.bytes.each(bytes, |byte| {
                if byte.source != Some(source) {
                    return Err(format!(
                        "element {element} of {buffer} in shared memory is read, but was never written"
                    ));
                }
                bits |= u64::from(byte.value) << shift;
                shift += 8;
                Ok(())
            })?;
            tile[element as usize] = bits;
        }
        Ok(())
    }
}

fn racing(buffer: Value, element: u32, why: &str) -> String {
    format!("element {element} of {buffer} in shared memory: {why}")
}
