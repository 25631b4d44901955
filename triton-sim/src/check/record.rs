//! Accesses, their agents, and when two of them conflict.

use super::thread::{Layer, Thread};
use super::{AccessKind, VectorClock, lanes_of};
use std::ops::RangeInclusive;

/// The scope of a strong operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Those of the block.
    Cta,
    /// Those of the cluster.
    Cluster,
    /// Those of the device.
    Gpu,
    /// All.
    Sys,
}

/// The path by which memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Loads, stores and atomics.
    Generic,
    /// Bulk and tensor copies, `wgmma`.
    Async,
}

/// An access of an instruction to memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Read or write.
    pub kind: AccessKind,
    /// Of a strong operation (relaxed or stronger); none of a weak one.
    pub scope: Option<Scope>,
    /// How.
    pub proxy: Proxy,
    /// The instruction, by a number of the caller's.
    pub site: u32,
    /// Lanes that write the same bytes write the same value to them.
    pub value_equal: bool,
    /// Lanes that write what is there already.
    pub repeats: u32,
    /// A load through the read-only path (`ld.global.nc`): no access may write these bytes, before or after.
    pub read_only: bool,
}

/// What is wrong with two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A race: one of them writes, and neither happens before the other.
    Race,
    /// The later is of the asynchronous proxy, the earlier a write of the generic one, and no proxy fence is between them.
    ProxyFence,
    /// One was read through the read-only path, the other writes: whatever orders them.
    ReadOnly,
}

/// Who performs the access of a thread, and with which epoch.
#[derive(Clone, Copy, Debug)]
pub enum Performer {
    /// The thread itself, before its next instruction.
    Thread,
    /// One asynchronous agent, for all lanes.
    Async {
        /// The agent.
        agent: u32,
        /// Its clock.
        clock: u32,
    },
    /// An asynchronous agent for each lane, from `Causality::new_agents`.
    AsyncLanes {
        /// That of lane 0.
        first: u32,
        /// The clock of each.
        clock: u32,
    },
}

/// Some lanes of a warp, at one point of the program. Asynchronous work knows what they knew there.
#[derive(Clone, Copy, Debug)]
pub struct Accessor<'a> {
    /// The cluster.
    pub cluster: u32,
    /// The rank of the block in it.
    pub block: u8,
    /// The warp in the cluster.
    pub warp: u32,
    /// The lanes.
    pub lanes: u32,
    /// The warp's clock.
    pub clock: u32,
    /// What each lane knows; or one for all.
    pub(super) threads: &'a [Thread],
    /// Who performs the access.
    pub performer: Performer,
}

/// An access that memory remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The cluster.
    pub cluster: u32,
    /// The agents, of 32 beginning with `32 * group`.
    pub lanes: u32,
    /// Their clock; 0 once a conflict with it was reported: the epoch counts as ordered.
    pub clock: u32,
    /// The instruction.
    pub site: u32,
    /// Which 32 agents of the cluster: a warp, or asynchronous ones.
    pub group: u16,
    /// The lowest thread of the cluster that it was done by or for.
    pub thread: u16,
    /// The rank of its block.
    pub block: u8,
    /// Read or written.
    pub kind: AccessKind,
    /// Of a strong operation.
    pub scope: Option<Scope>,
    /// How.
    pub proxy: Proxy,
}

impl Scope {
    /// The block, the cluster and the device as 0, 1 and 2. There is one device, so the system is not a level.
    pub fn level(self) -> usize {
        self.min(Scope::Gpu) as usize
    }

    /// All levels that the scope includes.
    pub fn levels(self) -> RangeInclusive<usize> {
        0..=self.level()
    }

    /// Whether the threads of one record are in this scope as seen from those of the other.
    fn joins(self, a: &Record, b: &Record) -> bool {
        match self {
            Scope::Cta => a.cluster == b.cluster && a.block == b.block,
            Scope::Cluster => a.cluster == b.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }
}

impl Record {
    /// Whether both are strong, each in a scope that includes the other: then they need no order.
    pub fn strong_with(&self, other: &Record) -> bool {
        match (self.scope, other.scope) {
            (Some(a), Some(b)) => a.joins(self, other) && b.joins(self, other),
            (Some(_) | None, _) => false,
        }
    }

    /// Whether both are weak writes by one instruction and one block: they leave what either would if the values are equal.
    pub(super) fn same_store(&self, other: &Record) -> bool {
        let weak_write = |r: &Record| r.kind == AccessKind::Write && r.scope.is_none() && r.proxy == Proxy::Generic;
        let block = self.cluster == other.cluster && self.block == other.block;
        weak_write(self) && weak_write(other) && self.site == other.site && block
    }

    /// Whether what conflicts with an earlier record, and knows this one, would conflict with this one too. Strong ones
    /// excuse more than weak ones.
    pub(super) fn as_strict_as(&self, earlier: &Record) -> bool {
        let near = self.cluster == earlier.cluster && self.block == earlier.block;
        self.scope.is_none() || (earlier.scope >= self.scope && near)
    }

    /// Stands for another one too that differs in its lanes alone.
    pub(super) fn merge(&mut self, other: &Record) {
        self.lanes |= other.lanes;
        self.thread = self.thread.min(other.thread);
    }

    /// Whether it is of the agents of a later one, and no younger: who knows that one knows this one.
    pub(super) fn precedes(&self, later: &Record) -> bool {
        let group = self.cluster == later.cluster && self.group == later.group;
        group && self.lanes & !later.lanes == 0 && self.clock <= later.clock
    }

    /// Whether they differ in their lanes alone.
    pub(super) fn differs_in_lanes(&self, other: &Record) -> bool {
        Record { lanes: other.lanes, thread: other.thread, ..*self } == *other
    }
}

/// The lanes of a record of which some, or all, of those who act do not know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown {
    pub to_some: u32,
    pub to_all: u32,
}

impl Accessor<'_> {
    /// The same at fewer lanes.
    #[inline(always)]
    pub(super) fn at(&self, lanes: u32) -> Self {
        let mut threads = self.threads;
        if lanes.is_power_of_two() {
            let lane = lanes.trailing_zeros() as usize;
            threads = threads.get(lane..=lane).unwrap_or(threads);
        }
        Accessor { lanes, threads, ..*self }
    }

    /// What memory remembers of an access.
    #[inline(always)]
    pub(super) fn record(&self, access: &Access) -> Record {
        let lowest = self.lanes.trailing_zeros() % 32;
        let (group, lanes, clock) = match self.performer {
            Performer::Thread => (self.warp, self.lanes, self.clock),
            Performer::Async { agent, clock } => (agent / 32, 1 << (agent % 32), clock),
            Performer::AsyncLanes { first, clock } => (first / 32, self.lanes, clock),
        };
        let Access { kind, scope, proxy, site, value_equal: _, repeats: _, read_only: _ } = *access;
        let (group, thread) = (group as u16, (self.warp * 32 + lowest) as u16);
        Record { cluster: self.cluster, lanes, clock, site, group, thread, block: self.block, kind, scope, proxy }
    }

    /// The lanes of a record that are not known to have happened before, in one layer of what is known; with the rank of
    /// the block whose shared memory was accessed.
    #[inline(always)]
    pub(super) fn unknown(&self, layer: Layer, rank: Option<u8>, record: &Record) -> Unknown {
        match self.threads {
            [thread] if self.lanes.is_power_of_two() => {
                let mut left = self.other_lanes(thread, self.lanes, layer, record);
                if left != 0 {
                    let vector_clock = thread.vector_clock(layer);
                    left = vector_clock.unknown(record.cluster, record.group.into(), left, record.clock);
                }
                if left != 0 {
                    left &= !self.copies(thread, layer, record);
                }
                left = unrestricted(thread, layer, rank, record, left);
                Unknown { to_some: left, to_all: left }
            }
            _ => self.unknown_to_many(layer, rank, record),
        }
    }

    fn unknown_to_many(&self, layer: Layer, rank: Option<u8>, record: &Record) -> Unknown {
        let mut unknown = Unknown { to_some: 0, to_all: record.lanes };
        // Most lanes share their vectors: the last one, and what is not in it.
        let mut last: Option<(&VectorClock, u32)> = None;
        for lane in lanes_of(self.lanes) {
            // A slice of one stands for any lane.
            let Some(thread) = self.threads.get(lane as usize).or(self.threads.first()) else { continue };
            let vector_clock = thread.vector_clock(layer);
            let all = match last {
                Some((shared, all)) if vector_clock.ptr_eq(shared) => all,
                Some(_) | None => vector_clock.unknown(record.cluster, record.group.into(), record.lanes, record.clock),
            };
            last = Some((vector_clock, all));
            let mut left = all;
            if left != 0 {
                left &= self.other_lanes(thread, 1 << lane, layer, record) & !self.copies(thread, layer, record);
                left = unrestricted(thread, layer, rank, record, left);
            }
            unknown.to_some |= left;
            unknown.to_all &= left;
        }
        unknown
    }

    /// The lanes of a record without the thread's own.
    #[inline(always)]
    fn other_lanes(&self, thread: &Thread, lane: u32, layer: Layer, record: &Record) -> u32 {
        let warp = record.cluster == self.cluster && u32::from(record.group) == self.warp;
        if warp && record.clock <= thread.own(layer, self.clock) { record.lanes & !lane } else { record.lanes }
    }

    /// The lane of a record that is asynchronous work which the thread waited for.
    fn copies(&self, thread: &Thread, layer: Layer, record: &Record) -> u32 {
        if record.cluster == self.cluster { thread.copies(layer, record.group.into(), record.clock) } else { 0 }
    }
}

/// Those of the lanes of a record that no fence for shared memory alone ordered before a thread either.
#[inline(always)]
fn unrestricted(thread: &Thread, layer: Layer, rank: Option<u8>, record: &Record, lanes: u32) -> u32 {
    match thread.restricted(layer, rank) {
        Some(known) if lanes != 0 => known.unknown(record.cluster, record.group.into(), lanes, record.clock),
        Some(_) | None => lanes,
    }
}
