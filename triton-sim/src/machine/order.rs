//! Happens-before tracking: race-checks every access of the machine, and merges vector clocks at barriers.

use super::address::Location;
use super::warp::lanes;
use super::{Block, Cluster, Cx, Origin, Run, Stop};
use crate::check::{self, Accessor, Causality, Conflict, ConflictKind, Ordering, Performer, Proxy, Shadow, SyncMap};
use crate::code::{Fence, MbarrierOrder, MbarrierScope, Order, ProxySpaces, Scope};
use crate::faults::{AccessKind, Fault, Space};
use std::collections::HashMap;

pub(super) use crate::check::{ClockSnapshot, View};

/// An access of a warp's lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpAccess {
    /// Bytes of each lane.
    pub bytes: u32,
    pub access: AccessKind,
    /// How far it is strong; weak ones race with others.
    pub scope: Option<Scope>,
    /// Lanes that write to one address write the same value.
    pub same: bool,
    /// Lanes that write what is there already.
    pub repeats: u32,
    /// A load through the read-only path.
    pub read_only: bool,
}

/// An access of asynchronous work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asynchronous {
    /// Agent and clock.
    pub stamp: (u32, u32),
    /// Whether it goes through the async proxy.
    pub proxy: bool,
}

impl Asynchronous {
    fn performer(self) -> Performer {
        Performer::Async { agent: self.stamp.0, clock: self.stamp.1 }
    }

    fn access(self, access: AccessKind, site: u32) -> check::Access {
        let proxy = if self.proxy { Proxy::Async } else { Proxy::Generic };
        // The engine's reductions are relaxed at the scope of the device.
        let scope = (access == AccessKind::Atomic).then_some(Scope::Gpu);
        check::Access { kind: access, scope, proxy, site, value_equal: false, repeats: 0, read_only: false }
    }
}

/// A thread at a moment, as what it did then is known by.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoch {
    /// Agent and clock.
    stamp: (u32, u32),
    pc: u32,
    access: Option<AccessKind>,
}

impl Epoch {
    /// An atomic access of a thread.
    pub(super) fn of(thread: u32, clock: u32, pc: u32) -> Epoch {
        Epoch { stamp: (thread, clock), pc, access: Some(AccessKind::Atomic) }
    }

    /// Whether it is of this lane of a warp.
    pub(super) fn is_of(&self, thread: u32) -> bool {
        self.stamp.0 == thread
    }
}

/// An access of another block, or of a copy, to a block's memory.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    stamp: (u32, u32),
    pc: u32,
    /// Of an arrival, the mbarrier and the phase that it counts for.
    arrival: Option<(u32, u64)>,
}

impl Block {
    /// The block must not end before this, which may be an arrival at an mbarrier of its own, for this phase.
    pub(super) fn expect_end_after(&mut self, stamp: (u32, u32), pc: u32, arrival: Option<(u32, u64)>) {
        let of = |remote: &Remote| (remote.stamp.0, remote.arrival.map(|(offset, _)| offset));
        let remote = Remote { stamp, pc, arrival };
        match self.remote.iter_mut().find(|other| of(other) == of(&remote)) {
            Some(last) => *last = remote,
            None => self.remote.push(remote),
        }
    }

    /// A thread of the block has seen that phases of an mbarrier are over, up to this one: their arrivals are done, whatever else it knows.
    pub(super) fn saw_phases(&mut self, offset: u32, now: u64) {
        self.remote.retain(|remote| remote.arrival.is_none_or(|(of, phase)| of != offset || phase >= now));
    }
}

/// Accesses to global memory during a launch.
#[derive(Debug, Default)]
pub(super) struct Globals {
    /// By allocation.
    shadows: HashMap<usize, Shadow>,
    sync: SyncMap,
}

/// Addresses of shared memory in [`SyncMap`]: block by block, far below those of global memory.
fn shared_key(cluster: u32, rank: u32, offset: u32) -> u64 {
    (u64::from(cluster) * 16 + u64::from(rank)) << 24 | u64::from(offset)
}

impl Cx<'_, '_> {
    /// The warp's number in the cluster.
    fn warp_number(&self) -> u32 {
        self.b as u32 * self.run.warps + self.warp.index
    }

    /// A lane's number in the cluster.
    pub(super) fn thread(&self, lane: usize) -> u32 {
        self.warp_number() * 32 + lane as u32
    }

    /// The empty view.
    pub(super) fn empty_view(&self) -> View {
        View::new(self.cluster.index)
    }

    /// A release of lanes; what they do from now on is not part of it.
    pub(super) fn release(&mut self, mask: u32) -> View {
        let mut view = self.empty_view();
        let warp = self.warp_number();
        self.cluster.agents.arrive(warp, mask, &mut view);
        view
    }

    /// An acquire of lanes.
    pub(super) fn acquire(&mut self, mask: u32, view: &View) {
        let warp = self.warp_number();
        self.cluster.agents.acquire(warp, mask, view);
    }

    /// The release of a lane that arrives at an mbarrier of its block or a `remote` one: what others can acquire there.
    pub(super) fn release_arrival(&mut self, lane: usize, remote: bool, order: MbarrierOrder) -> Option<View> {
        let level = match order.scope {
            MbarrierScope::Block if remote => return None,
            MbarrierScope::Block => Scope::Cta.level(),
            MbarrierScope::Cluster => Scope::Cluster.level(),
        };
        if order.relaxed { self.fenced_release(lane, level) } else { Some(self.release(1 << lane)) }
    }

    /// The acquire of a lane that waited for an mbarrier, from threads of its block or `remote` ones.
    pub(super) fn acquire_phase(&mut self, lane: usize, remote: bool, order: MbarrierOrder, view: &View) {
        let level = match order.scope {
            MbarrierScope::Block if remote => return,
            MbarrierScope::Block => Scope::Cta.level(),
            MbarrierScope::Cluster => Scope::Cluster.level(),
        };
        if order.relaxed {
            let thread = self.thread(lane);
            self.cluster.agents.relaxed_acquire(thread, level, view);
        } else {
            self.acquire(1 << lane, view);
        }
    }

    /// What fences of a lane release through what it does relaxed at a level of [`Scope::levels`].
    pub(super) fn fenced_release(&self, lane: usize, level: usize) -> Option<View> {
        self.cluster.agents.fenced_release(self.thread(lane), level)
    }

    /// Merges the clocks of lanes of the warp.
    pub(super) fn synchronise(&mut self, mask: u32) {
        let warp = self.warp_number();
        self.cluster.agents.barrier(&[(warp, mask)]);
    }

    /// Orders completed asynchronous work before a lane.
    pub(super) fn join_epoch(&mut self, lane: usize, (agent, clock): (u32, u32)) {
        let thread = self.thread(lane);
        self.cluster.agents.join_epoch(thread, agent, clock);
    }

    /// A snapshot of a lane, for asynchronous work.
    pub(super) fn snapshot(&mut self, lane: usize) -> ClockSnapshot {
        let thread = self.thread(lane);
        self.cluster.agents.snapshot(thread)
    }

    /// The clock of a lane.
    pub(super) fn clock(&self, lane: usize) -> u32 {
        self.cluster.agents.accessor(self.thread(lane) / 32, 1 << lane).clock
    }

    /// A lane and its clock.
    pub(super) fn epoch(&mut self, lane: usize) -> Epoch {
        let (thread, clock) = (self.thread(lane), self.clock(lane));
        Epoch { stamp: (thread, clock), pc: self.pc, access: Some(AccessKind::Write) }
    }

    /// Reports that a write of shared memory of a block does not happen before an access of a lane.
    pub(super) fn order_after(&mut self, lane: usize, (rank, offset): (u32, u32), before: &Epoch) -> Result<(), Stop> {
        let thread = self.thread(lane);
        let (agent, clock) = before.stamp;
        if agent == thread || self.cluster.agents.happened_before(thread, rank as u8, agent, clock) {
            return Ok(());
        }
        let address = u64::from(offset);
        let fault = Fault::Race {
            space: Space::Shared,
            address,
            access: AccessKind::Atomic,
            other: before.access.unwrap_or(AccessKind::Write),
            site: self.run.site(before.pc),
            thread: thread_location(self.cluster, self.run.warps, agent),
        };
        self.report(lane, fault)
    }

    /// Records that a lane has accessed memory of another block, which must not end before.
    pub(super) fn remote_access(&mut self, lane: usize, rank: u32, arrival: Option<(u32, u64)>) {
        if rank as usize == self.b {
            return;
        }
        let Epoch { stamp, pc, .. } = self.epoch(lane);
        self.cluster.blocks[rank as usize].expect_end_after(stamp, pc, arrival);
    }

    /// Checks that no other block may still access the memory of a block whose last threads end.
    pub(super) fn ended(&mut self, ended: u32) -> Result<(), Stop> {
        let mut last = std::mem::replace(&mut self.block_mut().last, View::new(0));
        if last.known.is_empty() {
            last = self.empty_view();
        }
        let warp = self.warp_number();
        self.cluster.agents.arrive(warp, ended, &mut last);
        if self.block().live == 0 {
            self.whole_warpgroups()?;
            self.unfinished_loads()?;
            let index = self.cluster.index;
            for remote in std::mem::take(&mut self.block_mut().remote) {
                let (agent, clock) = remote.stamp;
                if !last.knows_shared(index, self.b as u8, agent, clock) {
                    let what = format!("an access by another block, {}", self.run.site(remote.pc));
                    self.report(ended.trailing_zeros() as usize, Fault::UnfinishedAtExit { what })?;
                }
            }
        }
        self.block_mut().last = last;
        Ok(())
    }

    /// Reports copies to the memory of a block that ends.
    fn unfinished_loads(&mut self) -> Result<(), Stop> {
        let rank = self.b as u32;
        let Some(pending) = self.cluster.pending.iter().find(|p| p.writes_to(rank)) else { return Ok(()) };
        let (origin, what) = (pending.origin, format!("{} to its shared memory", pending.work.name()));
        self.run.report_at_origin(self.cluster, origin, Fault::UnfinishedAtExit { what })
    }

    /// Checks and records an access of the lanes of the mask.
    pub(super) fn check_warp_access(
        &mut self,
        locations: &[Location; 32],
        check_warp_access: WarpAccess,
    ) -> Result<(), Stop> {
        let mut groups: Vec<(Region, Vec<(u32, u64)>)> = Vec::new();
        for lane in lanes(self.mask) {
            let (region, offset) = match locations[lane] {
                Location::Global(index, offset) => (Region::Global(index), offset as u64),
                Location::Shared(rank, offset) => (Region::Shared(rank), u64::from(offset)),
                Location::Local(_) | Location::Param(_) => continue,
            };
            match groups.last_mut() {
                Some((last, list)) if *last == region => list.push((lane as u32, offset)),
                Some(_) | None => groups.push((region, vec![(lane as u32, offset)])),
            }
        }
        let WarpAccess { bytes, access, scope, same, repeats, read_only } = check_warp_access;
        let access = check::Access {
            kind: access,
            scope,
            proxy: Proxy::Generic,
            site: self.pc,
            value_equal: same,
            repeats,
            read_only,
        };
        let warp = self.warp_number();
        for (region, list) in groups {
            let mut missing = None;
            if let Region::Shared(rank) = region {
                for &(lane, offset) in &list {
                    self.check_mbarrier(lane as usize, rank, offset as u32, bytes)?;
                    self.remote_access(lane as usize, rank, None);
                }
                if access.kind != AccessKind::Write {
                    let shadow = &self.cluster.blocks[rank as usize].shadow;
                    missing =
                        list.iter().find_map(|&(lane, at)| Some((lane, shadow.first_unwritten(at, u64::from(bytes))?)));
                }
            }
            if let Some((lane, address)) = missing {
                self.report(lane as usize, Fault::UninitializedMemory { space: Space::Shared, address })?;
            }
            let accessor = self.cluster.agents.accessor(warp, self.mask);
            let result = match region {
                Region::Global(index) => self.run.globals.shadow(index, self.run.memory.size(index)).access_warp(
                    &list,
                    u64::from(bytes),
                    &accessor,
                    &access,
                ),
                Region::Shared(rank) => {
                    self.cluster.blocks[rank as usize].shadow.access_warp(&list, u64::from(bytes), &accessor, &access)
                }
            };
            if let Err(conflict) = result {
                let lane = conflict.current.lanes.trailing_zeros().min(31) as usize;
                let fault = self.run.conflict(self.cluster, region, &conflict);
                self.report(lane, fault)?;
            }
            if access.scope.is_none() && access.kind == AccessKind::Write {
                for &(_, offset) in &list {
                    let key = self.run.key(self.cluster.index, region, offset);
                    self.run.globals.sync.forget(key, u64::from(bytes));
                }
            }
        }
        Ok(())
    }

    /// The same for bytes of shared memory and one lane.
    pub(super) fn check_lane_access(
        &mut self,
        lane: usize,
        rank: u32,
        offset: u32,
        bytes: u32,
        access: AccessKind,
    ) -> Result<(), Stop> {
        let mut locations = [Location::Param(0); 32];
        locations[lane] = Location::Shared(rank, offset);
        let mask = std::mem::replace(&mut self.mask, 1 << lane);
        let result = self.check_warp_access(
            &locations,
            WarpAccess { bytes, access, scope: None, same: false, repeats: 0, read_only: false },
        );
        self.mask = mask;
        result
    }

    /// Checks and records that asynchronous work of this warp reads shared memory of its block.
    pub(super) fn check_async_read(
        &mut self,
        snapshot: &ClockSnapshot,
        offset: u32,
        bytes: u32,
        by: Asynchronous,
    ) -> Result<(), Stop> {
        let b = self.b;
        if let Some(address) = self.cluster.blocks[b].shadow.first_unwritten(u64::from(offset), u64::from(bytes)) {
            self.report(0, Fault::UninitializedMemory { space: Space::Shared, address })?;
        }
        let accessor = snapshot.accessor(by.performer());
        let access = by.access(AccessKind::Read, self.pc);
        let result = self.cluster.blocks[b].shadow.access(u64::from(offset), u64::from(bytes), &accessor, &access);
        match result {
            Ok(()) => Ok(()),
            Err(conflict) => {
                let region = Region::Shared(b as u32);
                let fault = self.run.conflict(self.cluster, region, &conflict);
                self.report(0, fault)
            }
        }
    }

    /// The acquire of strong loads.
    pub(super) fn observe(&mut self, locations: &[Location; 32], order: Order) {
        for lane in lanes(self.mask) {
            self.strong(lane, locations[lane], order, |sync, agents, thread, key, ordering, scope| {
                sync.load(agents, thread, key, ordering, scope);
            });
        }
    }

    /// The release of strong stores.
    pub(super) fn publish(&mut self, locations: &[Location; 32], order: Order) {
        for lane in lanes(self.mask) {
            self.strong(lane, locations[lane], order, |sync, agents, thread, key, ordering, scope| {
                sync.store(agents, thread, key, ordering, scope);
            });
        }
    }

    /// The acquire and release of an atomic update.
    pub(super) fn order_atomic(&mut self, lane: usize, location: Location, order: Order) {
        self.strong(lane, location, order, |sync, agents, thread, key, ordering, scope| {
            sync.update(agents, thread, key, ordering, scope);
        });
    }

    fn strong(
        &mut self,
        lane: usize,
        location: Location,
        order: Order,
        act: impl FnOnce(&mut SyncMap, &mut Causality, u32, u64, Ordering, Scope),
    ) {
        let (region, offset) = match location {
            Location::Global(index, offset) => (Region::Global(index), offset as u64),
            Location::Shared(rank, offset) => (Region::Shared(rank), u64::from(offset)),
            Location::Local(_) | Location::Param(_) => return,
        };
        let key = self.run.key(self.cluster.index, region, offset);
        let thread = self.thread(lane);
        let ordering = match order {
            Order::Weak | Order::Relaxed(_) => Ordering::Relaxed,
            Order::Acquire(_) => Ordering::Acquire,
            Order::Release(_) => Ordering::Release,
            Order::AcqRel(_) => Ordering::AcqRel,
        };
        let scope = order.scope().unwrap_or(Scope::Gpu);
        act(&mut self.run.globals.sync, &mut self.cluster.agents, thread, key, ordering, scope);
    }

    pub(super) fn fence(&mut self, fence: Fence) {
        let warp = self.warp_number();
        self.cluster.agents.fence(warp, self.mask, fence);
    }

    pub(super) fn proxy_fence(&mut self, spaces: ProxySpaces) {
        let mut list = Vec::new();
        if spaces.shared {
            list.push(check::Space::Shared);
        }
        if spaces.global {
            list.push(check::Space::Global);
        }
        let warp = self.warp_number();
        self.cluster.agents.fence_proxy(warp, self.mask, &list);
        // Making an mbarrier is a write of the generic proxy, too.
        if spaces.shared {
            self.mbarrier_init_fence();
        }
    }
}

/// Memory that one [`Shadow`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    Global(usize),
    Shared(u32),
}

impl Globals {
    /// Drops the releases of a cluster that has ended to its own threads.
    pub(super) fn end(&mut self, cluster: u32) {
        self.sync.end(cluster);
    }

    fn shadow(&mut self, index: usize, bytes: u64) -> &mut Shadow {
        self.shadows.entry(index).or_insert_with(|| Shadow::new(check::Space::Global, bytes))
    }
}

impl Run<'_> {
    /// An address in [`SyncMap`].
    fn key(&self, cluster: u32, region: Region, offset: u64) -> u64 {
        match region {
            Region::Global(index) => self.memory.start(index) + offset,
            Region::Shared(rank) => shared_key(cluster, rank, offset as u32),
        }
    }

    /// Checks and records an access of asynchronous work, which is ordered after what its thread did before its start.
    pub(super) fn check_async_access(
        &mut self,
        cluster: &mut Cluster,
        (snapshot, origin): (&ClockSnapshot, Origin),
        location: Location,
        bytes: u32,
        access: AccessKind,
        by: Asynchronous,
    ) -> Result<(), Stop> {
        let accessor: Accessor = snapshot.accessor(by.performer());
        let what = by.access(access, origin.pc);
        let (region, offset) = match location {
            Location::Global(index, offset) => (Region::Global(index), offset as u64),
            Location::Shared(rank, offset) => (Region::Shared(rank), u64::from(offset)),
            Location::Local(_) | Location::Param(_) => return Ok(()),
        };
        let result = match region {
            Region::Global(index) => {
                let bytes_of = self.memory.size(index);
                self.globals.shadow(index, bytes_of).access(offset, u64::from(bytes), &accessor, &what)
            }
            Region::Shared(rank) => {
                let block: &mut Block = &mut cluster.blocks[rank as usize];
                if access != AccessKind::Write
                    && let Some(address) = block.shadow.first_unwritten(offset, u64::from(bytes))
                {
                    self.report_at_origin(
                        cluster,
                        origin,
                        Fault::UninitializedMemory { space: Space::Shared, address },
                    )?;
                }
                let block: &mut Block = &mut cluster.blocks[rank as usize];
                if access != AccessKind::Read
                    && let Some(at) = block.mbarrier_at(offset as u32, bytes)
                {
                    let problem = crate::faults::MbarrierProblem::Overwritten;
                    self.report_at_origin(cluster, origin, Fault::Mbarrier { address: u64::from(at), problem })?;
                }
                let block: &mut Block = &mut cluster.blocks[rank as usize];
                block.shadow.access(offset, u64::from(bytes), &accessor, &what)
            }
        };
        if access != AccessKind::Read {
            let key = self.key(cluster.index, region, offset);
            self.globals.sync.forget(key, u64::from(bytes));
        }
        match result {
            Ok(()) => Ok(()),
            Err(conflict) => {
                let fault = self.conflict(cluster, region, &conflict);
                self.report_at_origin(cluster, origin, fault)
            }
        }
    }

    /// A conflict as a report tells it.
    fn conflict(&self, cluster: &Cluster, region: Region, conflict: &Conflict) -> Fault {
        let (space, address) = match region {
            Region::Global(index) => (Space::Global, self.memory.start(index) + conflict.offset),
            Region::Shared(_) => (Space::Shared, conflict.offset),
        };
        let other = &conflict.other;
        let site = self.site(other.site);
        match conflict.kind {
            ConflictKind::ProxyFence => Fault::ProxyFence { space, address, site },
            ConflictKind::Race | ConflictKind::ReadOnly => {
                let (mut block, warp, lane) = thread_location(cluster, self.warps, u32::from(other.thread));
                if other.cluster != cluster.index {
                    block = self.block_id(other.cluster, u32::from(other.block));
                }
                let (access, other) = (conflict.current.kind, other.kind);
                let thread = (block, warp, lane);
                if conflict.kind == ConflictKind::Race {
                    Fault::Race { space, address, access, other, site, thread }
                } else {
                    Fault::ReadOnly { address, access, other, site, thread }
                }
            }
        }
    }
}

/// The block, warp and lane of a thread of a cluster.
fn thread_location(cluster: &Cluster, warps: u32, thread: u32) -> ([u32; 3], u32, u32) {
    let per = (warps * 32).max(1);
    let block = cluster.blocks.get((thread / per) as usize).map_or([0; 3], |b| b.id);
    (block, thread % per / 32, thread % 32)
}
