//! Rings at stage 2: copies that are in flight while the program runs on.
//!
//! Every copy is an agent of its own, which nothing follows until it is waited for. So whatever reads or writes its slot before is
//! unordered with it, in the one run that there is. A wait is as weak as code makes it: of what threads copy it leaves the newest
//! `lead − 1` items in flight, whichever item it names; then the thread that issued a copy has written what it copied, and other threads
//! follow by a barrier. Of bulk copies it is for its item alone, and every thread has waited. A thread of the first warp issues them,
//! after what that did; or a producer, which does nothing else, and knows what it was told by the releases of items in the slots that it has
//! filled again: what every warp did before its last barrier, and the products that it had waited for.
//!
//! Where the blocks of a cluster fill a ring together, one that fills an item waits there until all others do. So a
//! copy of another block follows what this one did before its own fill, as its own copy does, and is taken for it. What
//! is left to check is that all of them fill the same items of the same elements: otherwise they would wait for ever,
//! or have the tiles of others.
//!
//! Each slot knows its item, and how far that is: in flight, landed, released. Nothing but these steps in this order is right.

use super::Machine;
use super::clock::{Clocks, Now};
use super::copies::{Copy, Rings, Slot, Source, State, Together};
use super::fault::ProgramFault;
use super::location::Reached;
use super::positions::{By, Position, Tile};
use super::shadow::AccessKind;
use super::threads::{Threads, check_agent};
use crate::ir::{Fill, InstData, Ring, RingId, Value};
use crate::layout::Mem;
use crate::ops::kinds::UnaryKind;
use crate::ops::{Location, Op, beside_rings, eval};
use crate::span::Span;
use crate::types::{Constant, DType};

impl Machine<'_> {
    /// An operation on a ring.
    pub(super) fn ring(&mut self, inst: &InstData) -> Result<Vec<u64>, String> {
        match inst.op {
            Op::RingFill { buffer, item, from, when } => self.fill(inst, buffer, self.item(item), from, when)?,
            Op::RingWait { ring, item } => self.wait(ring, self.item(item))?,
            Op::RingSlot { buffer, item } => return self.slot(buffer, self.item(item), inst.results[0]),
            Op::RingDrain { buffer, item, to } => self.drain(buffer, self.item(item), to)?,
            Op::RingRelease { ring, item, first } => {
                self.release(ring, self.item(item), first.map_or(0, |first| self.item(first)))?;
            }
            beside_rings!() => return Err(format!("`{}` is of no ring", inst.op.mnemonic())),
        }
        Ok(Vec::new())
    }

    fn release(&mut self, ring: RingId, item: i128, first: i128) -> Result<(), String> {
        for of in self.func.rings[ring].buffers.iter().filter(|_| item >= first) {
            let source = Source { buffer: of.buffer, item };
            if self.threads.products.iter().flatten().any(|read| read.source == source) {
                return Err(format!("item {item} of {} is released while a product reads it", of.buffer));
            }
            self.drained(source)?;
            self.landed(of.buffer, item, "released")?.state = State::Released;
            if self.func.producer.is_some() {
                let slot = self.slot_of(of.buffer, item)?;
                self.threads.rings.released.insert((of.buffer, slot), self.threads.clocks.told());
            }
        }
        Ok(())
    }

    /// The address of an item's slot, which is named by a result.
    fn slot(&mut self, buffer: Value, item: i128, result: Value) -> Result<Vec<u64>, String> {
        let slot = self.slot_of(buffer, item)?;
        // What threads store is there when it is first named, in each run of the loop: a released item is of the run before.
        // Whether they have stored it, its bytes know.
        let is_named = |of: &Slot| of.item == item && of.state != State::Released;
        if self.func.ring_of(buffer).is_some_and(|(ring, _)| self.func.is_stored(ring))
            && !self.threads.rings.slots.get(&(buffer, slot)).is_some_and(is_named)
        {
            self.free_slot(buffer, item)?;
            self.threads.rings.slots.insert((buffer, slot), Slot { item, state: State::Landed });
        }
        let skipped = Slot { item, state: State::Skipped };
        // A slot that was not filled may be named: a read of it is under a condition, or finds no byte of the item.
        if self.threads.rings.slots.get(&(buffer, slot)) != Some(&skipped) {
            self.landed(buffer, item, "read")?;
        }
        let slot = u64::from(slot);
        let bytes = self.func.mem(buffer).map_or(0, Mem::bytes);
        self.threads.slots.insert(result, Source { buffer, item });
        Ok(vec![self.value(buffer)[0] + slot * bytes])
    }

    fn item(&self, item: Value) -> i128 {
        Constant { dtype: DType::I32, bits: self.value(item)[0] }.as_int().unwrap_or(0)
    }

    pub(super) fn slot_of(&self, buffer: Value, item: i128) -> Result<u32, String> {
        let slots = i128::from(self.func.slots(buffer));
        u32::try_from(item % slots).map_err(|_| format!("item {item} of {buffer}: items are counted from 0"))
    }

    /// The slot of an item that has landed and is not released.
    pub(super) fn landed(&mut self, buffer: Value, item: i128, done: &str) -> Result<&mut Slot, String> {
        let slot = self.slot_of(buffer, item)?;
        let found = self.threads.rings.slots.get_mut(&(buffer, slot)).filter(|slot| slot.item == item);
        let found = found.ok_or_else(|| format!("item {item} of {buffer} is {done}, but is not in its slot"))?;
        match found.state {
            State::InFlight => Err(format!("item {item} of {buffer} is {done}, but was not waited for")),
            State::Released => Err(format!("item {item} of {buffer} is {done} after its release")),
            State::Skipped => Err(format!("item {item} of {buffer} is {done}, but was not filled")),
            State::Landed => Ok(found),
        }
    }

    fn fill(&mut self, inst: &InstData, buffer: Value, item: i128, from: Location, when: Value) -> Result<(), String> {
        let func = self.func;
        let (ring, number) = func.ring_of(buffer).ok_or_else(|| format!("{buffer} belongs to no ring"))?;
        if func.is_shared(ring) {
            let at = match from {
                Location::View { at, .. } if func.rings[ring].buffers[number].shared => {
                    at.as_slice().iter().map(|&v| self.value(v)[0]).collect()
                }
                Location::View { .. } | Location::Pointers { .. } => Vec::new(),
            };
            let from = Some(at).filter(|_| self.value(when)[0] != 0);
            self.threads.rings.together.push(Together { buffer, item, from });
        }
        if self.value(when)[0] != 0 {
            self.global(inst)?;
            let copy = self.copy(buffer, item, from)?;
            let issuer = match func.producer {
                _ if !func.is_bulk(buffer) => Issuer::Threads,
                None => Issuer::FirstWarp,
                Some(_) => Issuer::Producer,
            };
            self.threads.issue(&copy, issuer)?;
            self.threads.rings.open.push(copy);
        } else {
            let slot = self.free_slot(buffer, item)?;
            self.threads.rings.slots.insert((buffer, slot), Slot { item, state: State::Skipped });
        }
        if number + 1 == func.rings[ring].buffers.len() {
            let Rings { open, flight, bulk, items, .. } = &mut self.threads.rings;
            let copies = std::mem::take(open);
            if func.is_bulk(buffer) {
                bulk.push(copies);
            } else {
                flight.push_back(copies);
            }
            *items += 1;
        }
        Ok(())
    }

    /// The slot of an item that is to be filled.
    fn free_slot(&self, buffer: Value, item: i128) -> Result<u32, String> {
        let slot = self.slot_of(buffer, item)?;
        let before = self.threads.rings.slots.get(&(buffer, slot));
        match before.filter(|slot| !matches!(slot.state, State::Released | State::Skipped)) {
            Some(Slot { item: before, .. }) => {
                Err(format!("item {item} of {buffer} is filled, but item {before} in its slot is not released"))
            }
            None => Ok(slot),
        }
    }

    fn copy(&mut self, buffer: Value, item: i128, from: Location) -> Result<Copy, String> {
        let func = self.func;
        let slot = self.free_slot(buffer, item)?;
        let (mem, layout) = func.mem_id(buffer).zip(func.fill_layout(buffer)).ok_or("a ring without layouts")?;
        let tile = Tile { shape: func.ty(buffer).shape, layout: Some(layout), mem: Some(mem), by: By::One };
        let positions = self.threads.positions.of(func, tile);
        let Reached { addresses, mask } = self.reach(from)?;
        let width = func.mems[mem].bits() / 8;
        let (ring, number) = func.ring_of(buffer).ok_or_else(|| format!("{buffer} belongs to no ring"))?;
        let of = func.rings[ring].buffers[number];
        let mut values = vec![of.padding; addresses.len()];
        let loaded = self.memory.load(width, &addresses, mask.as_deref(), &mut values);
        loaded.map_err(|fault| super::access_error("copy", width, &fault))?;
        if of.tf32 {
            values = eval::unary(UnaryKind::Tf32, DType::F32, &values);
        }
        let start = self.value(buffer)[0] + u64::from(slot) * func.mems[mem].bytes();
        let write = |position: &Position| {
            let first = start + u64::from(position.offset) * u64::from(width);
            (position.thread, first..first + u64::from(width), values[position.element as usize])
        };
        let writes = positions.iter().map(write).collect();
        Ok(Copy { source: Source { buffer, item }, slot, writes })
    }

    fn wait(&mut self, ring: RingId, item: i128) -> Result<(), String> {
        let ring = &self.func.rings[ring];
        let left = match ring.fill {
            Fill::Bulk => {
                let of_ring = |buffer: Value| ring.buffers.iter().any(|of| of.buffer == buffer);
                let is_of = |copy: &Copy| copy.source.item == item && of_ring(copy.source.buffer);
                let in_flight = std::mem::take(&mut self.threads.rings.bulk);
                let (done, left) = in_flight.into_iter().partition::<Vec<_>, _>(|copies| copies.iter().any(is_of));
                self.threads.rings.bulk = left;
                done.into_iter().try_for_each(|copies| self.threads.land(copies, |_, _| Now::BEFORE))?;
                self.phase_is_known(ring, item)?;
                0
            }
            Fill::CpAsync { lead } => {
                while self.threads.rings.flight.len() as u32 >= lead {
                    let done = self.threads.rings.flight.pop_front().unwrap_or_default();
                    self.threads.land(done, Clocks::now)?;
                }
                lead - 1
            }
            Fill::Stored | Fill::Drained => return Err("a wait for a ring that threads store to".into()),
        };
        for of in &ring.buffers {
            let slot = self.slot_of(of.buffer, item)?;
            let found = self.threads.rings.slots.get(&(of.buffer, slot)).filter(|slot| slot.item == item);
            let found =
                found.ok_or_else(|| format!("item {item} of {} is waited for, but was not filled", of.buffer))?;
            if found.state == State::InFlight {
                let of = of.buffer;
                return Err(format!("item {item} of {of} is still in flight after a wait that leaves {left}"));
            }
        }
        Ok(())
    }

    /// Teams wait for an item by the parity of its phase: each of them has to know that the item before it in its slot has arrived.
    fn phase_is_known(&mut self, ring: &Ring, item: i128) -> Result<(), String> {
        let Some(first) = ring.buffers.first().map(|of| of.buffer).filter(|_| self.func.teams > 1) else {
            return Ok(());
        };
        let slot = self.slot_of(first, item)?;
        let Threads { rings, clocks, .. } = &mut self.threads;
        match rings.waited.insert((first, slot), clocks.moments()) {
            Some(before) if !clocks.follow_any(&before) => Err(format!(
                "item {item} of {first} is waited for by a team that may take the one before it in its slot for it"
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Nothing may be in flight at the end of a program.
    pub(super) fn finish(&self) -> Result<(), ProgramFault> {
        if !self.threads.products.is_empty() {
            let message = "a product is in flight at the end of the program".to_string();
            return Err(ProgramFault::new(self.func, Span::NONE, self.program.id, message));
        }
        if let Some(buffer) = self.unreceived() {
            let message = format!("messages to {buffer} are in flight at the end of the program");
            return Err(ProgramFault::new(self.func, Span::NONE, self.program.id, message));
        }
        let Rings { flight, bulk, open, .. } = &self.threads.rings;
        let copy = flight.iter().chain(bulk).chain([open]).flatten().next();
        let Some(Copy { source: Source { buffer, item }, .. }) = copy else { return Ok(()) };
        let message = format!("item {item} of {buffer} is in flight at the end of the program");
        Err(ProgramFault::new(self.func, Span::NONE, self.program.id, message))
    }
}

/// Who issues a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Issuer {
    /// All threads, each its part.
    Threads,
    /// A thread of the first warp.
    FirstWarp,
    /// A thread of a producer.
    Producer,
}

impl Threads {
    /// Begins a copy: it may be done at any time from now on. A bulk copy is that of one thread: of the first warp, or of a producer, which
    /// waits until its slot is released.
    fn issue(&mut self, copy: &Copy, issuer: Issuer) -> Result<(), String> {
        let Threads { clocks, shared, rings, .. } = self;
        let Source { buffer, item } = copy.source;
        let time = rings.items + 1;
        if issuer == Issuer::Producer {
            let told = rings.released.remove(&(buffer, copy.slot)).unwrap_or_default();
            clocks.tell(&mut rings.producer, &told);
        }
        let now = |thread: u32| match issuer {
            Issuer::Threads => clocks.copying(thread, time),
            Issuer::FirstWarp => clocks.copying(0, time),
            Issuer::Producer => clocks.producing(&rings.producer, time),
        };
        for (thread, bytes, _) in &copy.writes {
            let checked = check_agent(clocks, shared, &now(*thread), bytes.clone(), AccessKind::Write);
            checked.map_err(|why| format!("item {item} of {buffer} in shared memory: {why}"))?;
        }
        for (thread, bytes, _) in &copy.writes {
            shared.remember(bytes.clone(), &now(*thread), AccessKind::Write);
        }
        rings.slots.insert((buffer, copy.slot), Slot { item, state: State::InFlight });
        Ok(())
    }

    /// The copies of an item are done: what they wrote, their threads have written now; or, of bulk copies, every thread follows it, as every
    /// thread has waited.
    fn land(&mut self, done: Vec<Copy>, now: impl Fn(&Clocks, u32) -> Now) -> Result<(), String> {
        for Copy { source, slot, writes } in done {
            for (thread, bytes, value) in writes {
                let now = now(&self.clocks, thread);
                self.shared.land(bytes.clone(), &now);
                self.write(bytes, value, source)?;
            }
            if let Some(slot) = self.rings.slots.get_mut(&(source.buffer, slot)) {
                slot.state = State::Landed;
            }
        }
        Ok(())
    }
}
