//! Stage 2: the threads of a program, and what orders their accesses to memory.
//!
//! A program is run once, in its order, but every access is remembered with the thread that makes it and with how many barriers
//! that thread has passed. One access *happens before* another if the same thread makes both, or a barrier of both threads
//! stands between (the clocks of Lamport, "Time, Clocks, and the Ordering of Events", CACM 1978; of all threads of a warp, and
//! of the program, one counter is enough, as all of them meet at every barrier). Two accesses of a byte, of which one writes,
//! must be ordered so: otherwise some run on a GPU could execute them in the other order. So one run finds the races of
//! all.

use super::Machine;
use crate::entity::SideTable;
use crate::ir::{Function, InstData, Stage, Value};
use crate::layout::{LANES, Layout, access};
use crate::ops::kinds::AtomicKind;
use crate::ops::{Access, AccessEffect, Memory, Op, Scope};
use crate::types::Elem;
use std::collections::HashMap;

/// A thread, and how many barriers of its program and of its warp it has passed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Moment {
    thread: u32,
    block: u32,
    warp: u32,
    /// The number of the operation: an operation's own accesses are simultaneous, and which of them comes last is
    /// unspecified.
    step: u64,
}

impl Moment {
    fn warp(self) -> u32 {
        self.thread / LANES as u32
    }

    fn happens_before(self, other: Moment) -> bool {
        let waited = self.block < other.block || (self.warp() == other.warp() && self.warp < other.warp);
        self.thread == other.thread || self.step == other.step || waited
    }
}

/// A byte.
#[derive(Default)]
struct Cell {
    /// What it holds, if it is shared.
    value: u8,
    /// The buffer through which it was written, if it is shared.
    buffer: Option<Value>,
    write: Option<Moment>,
    /// Since then.
    reads: Vec<Moment>,
    /// Since then: updates that commute with others of their kind.
    updates: Vec<(Moment, AtomicKind)>,
}

/// The kind of access to a byte.
#[derive(Clone, Copy, PartialEq)]
enum AccessKind {
    Read,
    Write,
    /// An update that commutes with others of its kind.
    Update(AtomicKind),
}

impl AccessKind {
    fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Update(_) => "updates",
        }
    }
}

impl Cell {
    /// The access that this one is not ordered with, and what it does.
    fn unordered(&self, now: Moment, does: AccessKind) -> Option<(Moment, AccessKind)> {
        let late = |before: &Moment| !before.happens_before(now);
        let write = self.write.filter(late).map(|w| (w, AccessKind::Write));
        let update = |&(moment, kind): &(Moment, AtomicKind)| {
            (late(&moment) && does != AccessKind::Update(kind)).then_some((moment, AccessKind::Update(kind)))
        };
        let read = |r: &Moment| (late(r) && does != AccessKind::Read).then_some((*r, AccessKind::Read));
        write.or_else(|| self.updates.iter().find_map(update)).or_else(|| self.reads.iter().find_map(read))
    }

    fn remember(&mut self, now: Moment, does: AccessKind) {
        // Two threads of a warp represent all: no third one is ordered with both. One thread twice does not.
        let few = |seen: &mut dyn Iterator<Item = Moment>| {
            let of_warp: Vec<Moment> = seen.filter(|m| m.warp() == now.warp() && m.warp == now.warp).collect();
            of_warp.len() < 2 && of_warp.iter().all(|m| m.thread != now.thread)
        };
        match does {
            AccessKind::Write => {
                self.write = Some(now);
                self.reads.clear();
                self.updates.clear();
            }
            AccessKind::Read => {
                self.reads.retain(|r| r.block == now.block);
                if few(&mut self.reads.iter().copied()) {
                    self.reads.push(now);
                }
            }
            AccessKind::Update(kind) => {
                self.updates.retain(|(u, _)| u.block == now.block);
                if few(&mut self.updates.iter().filter(|u| u.1 == kind).map(|u| u.0)) {
                    self.updates.push((now, kind));
                }
            }
        }
    }
}

/// Which kind of memory an address is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Space {
    Global,
    Shared,
}

/// The accesses of the threads of a program so far.
pub(super) struct Threads {
    /// The values that are needed.
    used: SideTable<Value, bool>,
    block: u32,
    warp: u32,
    step: u64,
    cells: HashMap<(Space, u64), Cell>,
}

impl Threads {
    /// At the start of a program.
    pub(super) fn new(func: &Function) -> Threads {
        let used = if func.stage == Stage::Synchronized { func.used() } else { SideTable::new(false) };
        Threads { used, block: 0, warp: 0, step: 0, cells: HashMap::new() }
    }

    fn wait(&mut self, scope: Scope) {
        match scope {
            Scope::Warp => self.warp += 1,
            Scope::Block => self.block += 1,
        }
    }

    /// An access of `width` bytes by one thread.
    fn access(
        &mut self,
        space: Space,
        address: u64,
        width: u32,
        thread: u32,
        does: AccessKind,
    ) -> Result<impl Iterator<Item = u64> + use<>, String> {
        let now = Moment { thread, block: self.block, warp: self.warp, step: self.step };
        let bytes = address..address.wrapping_add(width.into());
        for at in bytes.clone() {
            let cell = self.cells.entry((space, at)).or_default();
            if let Some((other, did)) = cell.unordered(now, does) {
                let (one, two) = (describe(thread), describe(other.thread));
                let (does, did) = (does.word(), did.word());
                return Err(format!("{one} {does} it, {two} {did} it, and no barrier is in between"));
            }
            cell.remember(now, does);
        }
        Ok(bytes)
    }
}

fn describe(thread: u32) -> String {
    format!("lane {} of warp {}", thread % LANES as u32, thread / LANES as u32)
}

/// The threads and registers of a program in a layout: `(thread, element)`. If `once`, only one of those that hold the same
/// element.
fn elements_by_thread(layout: Option<&Layout>, warps: u32, once: bool) -> Vec<(u32, u32)> {
    let Some(layout) = layout else {
        // All threads hold a scalar.
        return (0..if once { 1 } else { warps * LANES as u32 }).map(|thread| (thread, 0)).collect();
    };
    let (lanes, of_warps) = layout.replicated();
    let replicated = lanes | of_warps << LANES.ilog2();
    let threads = (0..warps * LANES as u32).filter(|thread| !once || thread & replicated == 0);
    let of = |thread: u32| {
        let (lane, warp) = (thread as usize % LANES, thread as usize / LANES);
        (0..layout.registers()).map(move |register| (thread, layout.element(register, lane, warp)))
    };
    threads.flat_map(of).collect()
}

impl Machine<'_> {
    /// The threads that make an access to global memory: checks that earlier accesses are ordered before it.
    pub(super) fn global(&mut self, inst: &InstData) -> Result<(), String> {
        let Some(Access { memory: Memory::Global(ptr), effect, mask, .. }) = inst.op.access() else { return Ok(()) };
        let does = match effect {
            AccessEffect::Read => AccessKind::Read,
            AccessEffect::Write => AccessKind::Write,
            AccessEffect::Update => {
                let asked = inst.results.iter().any(|&v| self.threads.used[v]);
                inst.op.commutes(asked).map_or(AccessKind::Write, AccessKind::Update)
            }
        };
        let Elem::Ptr { pointee, .. } = self.func.ty(ptr).elem else { return Ok(()) };
        self.threads.step += 1;
        for (thread, element) in
            elements_by_thread(self.func.layout(ptr), self.func.num_warps, does != AccessKind::Read)
        {
            let element = element as usize;
            if mask.is_some_and(|m| self.value(m)[element] == 0) {
                continue;
            }
            let address = self.value(ptr)[element];
            let done = self.threads.access(Space::Global, address, pointee.bytes(), thread, does);
            done.map(|_| ()).map_err(|why| format!("element {element} at {address:#x}: {why}"))?;
        }
        Ok(())
    }

    /// A load from shared memory.
    #[expect(clippy::wildcard_enum_match_arm, reason = "called for these operations alone")]
    pub(super) fn shared(&mut self, inst: &InstData) -> Result<Vec<u64>, String> {
        self.threads.step += 1;
        if let Op::Sync { scope } = inst.op {
            self.threads.wait(scope);
        }
        match inst.op {
            Op::SharedAlloc { at, .. } => Ok(vec![at.into()]),
            Op::SharedStore { buffer, part, value } => {
                for (thread, element) in elements_by_thread(self.func.layout(value), self.func.num_warps, true) {
                    let Some(bytes) = self.shared_access(buffer, part, element, thread, AccessKind::Write)? else {
                        continue;
                    };
                    let bits = self.value(value)[element as usize].to_le_bytes();
                    for (at, byte) in bytes.zip(bits) {
                        let cell = self.threads.cells.entry((Space::Shared, at)).or_default();
                        (cell.value, cell.buffer) = (byte, Some(buffer));
                    }
                }
                Ok(Vec::new())
            }
            Op::SharedLoad { buffer, part, rest } => {
                let result = inst.results[0];
                let count = self.func.ty(result).shape.elements() as usize;
                let mut out = rest.map_or_else(|| vec![0; count], |rest| self.value(rest).to_vec());
                let readers = self.func.layout(result).zip(self.func.mem(buffer));
                let readers = readers.map(|(layout, mem)| access::readers(layout, mem));
                for (thread, element) in elements_by_thread(readers.as_ref(), self.func.num_warps, false) {
                    let Some(bytes) = self.shared_access(buffer, part, element, thread, AccessKind::Read)? else {
                        continue;
                    };
                    let mut bits = [0; 8];
                    for (at, byte) in bytes.zip(&mut bits) {
                        let cell = self.threads.cells.get(&(Space::Shared, at));
                        let cell = cell.filter(|cell| cell.buffer == Some(buffer)).ok_or_else(|| {
                            format!("element {element} of {buffer} in shared memory is read, but was never written")
                        })?;
                        *byte = cell.value;
                    }
                    out[element as usize] = u64::from_le_bytes(bits);
                }
                Ok(out)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The bytes of an element of a part of a buffer; `None` if it is in another part.
    fn shared_access(
        &mut self,
        buffer: Value,
        part: u32,
        element: u32,
        thread: u32,
        does: AccessKind,
    ) -> Result<Option<impl Iterator<Item = u64> + use<>>, String> {
        let mem = self.func.mem(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
        let (offset, of_part) = mem.offset_in_part(element);
        if of_part != part {
            return Ok(None);
        }
        let width = mem.bits() / 8;
        let address = self.value(buffer)[0] + u64::from(offset * width);
        let done = self.threads.access(Space::Shared, address, width, thread, does);
        done.map(Some).map_err(|why| format!("element {element} of {buffer} in shared memory: {why}"))
    }
}
