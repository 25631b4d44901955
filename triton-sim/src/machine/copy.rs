//! Asynchronous copies: work that was started and is done at a seeded moment, at the latest when it is waited for; and
//! `cp.async`, the copies of one lane.

use super::access::number;
use super::address::{LaneAccess, Location};
use super::order::Asynchronous;
use super::warp::lanes;
use super::{Block, Cluster, Cx, Origin, Pending, Run, Stop, Work};
use crate::code::{Addr, Src, Window};
use crate::faults::{AccessKind, Fault, MbarrierProblem, Space};

/// The most work in flight in a cluster: some of it is done first.
const MAX_PENDING: usize = 4096;

/// A `cp.async` of one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// Destination: rank of the block and address.
    pub to: (u32, u32),
    /// Source, if anything is read.
    pub from: Option<(usize, usize)>,
    /// Bytes that are written.
    pub bytes: u32,
    /// Bytes that are read; the others are zero.
    pub read: u32,
    /// Agent and clock of the lane's copies.
    pub stamp: (u32, u32),
}

impl Run<'_> {
    /// Does a piece of work.
    pub(super) fn complete_at(&mut self, cluster: &mut Cluster, index: usize) -> Result<(), Stop> {
        let pending = cluster.pending.swap_remove(index);
        self.progress();
        match &pending.work {
            Work::Copy(copy) => {
                let copy = *copy;
                self.complete_lane_copy(cluster, &pending, copy)
            }
            Work::Bulk(_) => self.complete_bulk_copy(cluster, pending, false),
            Work::Store(store) => self.complete_store(cluster, &pending, store),
        }
    }

    /// Does the work of these numbers; with `read`, only so far that its sources are read.
    pub(super) fn complete_work(&mut self, cluster: &mut Cluster, ids: &[u64], read: bool) -> Result<(), Stop> {
        for id in ids {
            let Some(index) = cluster.pending.iter().position(|p| p.id == *id) else { continue };
            if read {
                let pending = cluster.pending.swap_remove(index);
                self.complete_bulk_copy(cluster, pending, true)?;
            } else {
                self.complete_at(cluster, index)?;
            }
        }
        Ok(())
    }

    fn complete_lane_copy(&mut self, cluster: &mut Cluster, pending: &Pending, copy: Copy) -> Result<(), Stop> {
        let Copy { to: (rank, offset), from, bytes, read, stamp } = copy;
        let by = Asynchronous { stamp, proxy: false };
        let mut data = vec![0; bytes as usize];
        if let Some((index, start)) = from {
            self.check_async_access(
                cluster,
                (&pending.snapshot, pending.origin),
                Location::Global(index, start),
                read,
                AccessKind::Read,
                by,
            )?;
            data[..read as usize].copy_from_slice(self.memory.bytes(index, start..start + read as usize));
        }
        self.check_async_access(
            cluster,
            (&pending.snapshot, pending.origin),
            Location::Shared(rank, offset),
            bytes,
            AccessKind::Write,
            by,
        )?;
        cluster.blocks[rank as usize].shared[offset as usize..][..bytes as usize].copy_from_slice(&data);
        self.statistics.copied += u64::from(bytes);
        Ok(())
    }

    /// Reports a fault of asynchronous work.
    pub(super) fn report_at_origin(&mut self, cluster: &Cluster, origin: Origin, fault: Fault) -> Result<(), Stop> {
        let block = cluster.blocks.get(origin.rank).map_or([0; 3], |b: &Block| b.id);
        self.note(block, origin.warp, origin.lane as u32, origin.pc, fault)
    }
}

impl Cx<'_, '_> {
    /// Numbers work and enqueues it.
    pub(super) fn enqueue(&mut self, lane: usize, work: Work) -> Result<u64, Stop> {
        if self.cluster.pending.len() >= MAX_PENDING {
            let pick = self.run.rng.usize(..MAX_PENDING);
            self.run.complete_at(self.cluster, pick)?;
        }
        let id = self.run.next;
        self.run.next += 1;
        let origin = Origin { rank: self.b, warp: self.warp.index, lane, pc: self.pc };
        let snapshot = self.snapshot(lane);
        self.cluster.pending.push(Pending { id, origin, snapshot, work });
        Ok(id)
    }

    pub(super) fn copy_async(
        &mut self,
        dst: Addr,
        src: Addr,
        bytes: u8,
        read: Option<Src>,
        ignore: Option<Src>,
    ) -> Result<(), Stop> {
        let (to, from) = (self.addresses(dst)?, self.addresses(src)?);
        let reads = match read {
            Some(src) => self.read(src)?,
            None => [u64::from(bytes); 32],
        };
        let ignored = match ignore {
            Some(src) => self.truth(src)?,
            None => 0,
        };
        let bytes = u32::from(bytes);
        let mut locations = [Location::Param(0); 32];
        for lane in lanes(self.mask) {
            let read = if ignored >> lane & 1 == 1 { 0 } else { reads[lane] as u32 };
            if read > bytes {
                let problem = format!("{read} bytes are to be read, but {bytes} copied");
                return Err(self.fatal_in(lane, Fault::Operand { problem }));
            }
            let write = LaneAccess::natural(bytes, AccessKind::Write);
            let to = self.locate_shared(lane, Window::Of(Space::Shared), to[lane], write)?;
            self.check_mbarrier(lane, to.0, to.1, bytes)?;
            let from = if read == 0 {
                None
            } else {
                let lane_access = LaneAccess { bytes: read, align: bytes, access: AccessKind::Read };
                match self.locate(lane, Window::Of(Space::Global), from[lane], lane_access)? {
                    Location::Global(index, offset) => {
                        locations[lane] = Location::Global(index, offset);
                        Some((index, offset))
                    }
                    Location::Shared(..) | Location::Local(_) | Location::Param(_) => None,
                }
            };
            let agent = self.copy_agent(lane);
            let queue = &mut self.warp.copies[lane];
            let stamp = (agent, queue.clock + 1);
            let id = self.enqueue(lane, Work::Copy(Copy { to, from, bytes, read, stamp }))?;
            self.warp.copies[lane].open.push(id);
        }
        self.count_access(&locations, bytes, false);
        Ok(())
    }

    /// The agent of a lane's copies; the lanes of a warp have neighbouring ones.
    fn copy_agent(&mut self, lane: usize) -> u32 {
        if self.warp.copies[0].agent.is_none() {
            let first = self.cluster.agents.new_agents();
            for (i, queue) in self.warp.copies.iter_mut().enumerate() {
                queue.agent = Some(first + i as u32);
            }
        }
        self.warp.copies[lane].agent.unwrap_or(0)
    }

    pub(super) fn copy_commit(&mut self) {
        for lane in lanes(self.mask) {
            let queue = &mut self.warp.copies[lane];
            queue.clock += 1;
            let group = (queue.clock, std::mem::take(&mut queue.open));
            queue.groups.push_back(group);
        }
    }

    /// Waits until at most this many groups are in flight; without a number, for everything.
    pub(super) fn copy_wait(&mut self, most: Option<u32>) -> Result<(), Stop> {
        if most.is_none() {
            self.copy_commit();
        }
        for lane in lanes(self.mask) {
            let mut clock = 0;
            while self.warp.copies[lane].groups.len() > most.unwrap_or(0) as usize {
                let Some((group, ids)) = self.warp.copies[lane].groups.pop_front() else { break };
                self.run.complete_work(self.cluster, &ids, false)?;
                clock = group;
            }
            if let (Some(agent), true) = (self.warp.copies[lane].agent, clock != 0) {
                self.join_epoch(lane, (agent, clock));
            }
        }
        Ok(())
    }

    /// An arrival on an mbarrier when the lane's copies are done: they are done now.
    pub(super) fn copy_arrive(&mut self, lane: usize, rank: u32, offset: u32, noinc: bool) -> Result<(), Stop> {
        let queue = &mut self.warp.copies[lane];
        let mut ids: Vec<u64> = queue.groups.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
        ids.append(&mut queue.open);
        queue.groups.iter_mut().for_each(|(_, ids)| ids.clear());
        queue.clock += 1;
        let stamp = queue.agent.map(|agent| (agent, queue.clock));
        self.run.complete_work(self.cluster, &ids, false)?;
        let mut view = self.empty_view();
        if let Some((agent, clock)) = stamp {
            view.join_epoch(self.cluster.index, agent, clock);
        }
        if !noinc {
            // The arrival is one more than the count says.
            let Some(m) = self.cluster.blocks[rank as usize].mbarriers.get_mut(&offset) else { return Ok(()) };
            m.pending += 1;
        }
        self.arrive(lane, rank, offset, 1, false, Some(view))
    }

    /// Work that is still in flight when lanes end.
    pub(super) fn leave(&mut self, ended: u32) -> Result<(), Stop> {
        for lane in lanes(ended) {
            let copies = &self.warp.copies[lane];
            let mut ids: Vec<u64> = copies.groups.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
            ids.extend(&copies.open);
            if ids.iter().any(|id| self.cluster.pending.iter().any(|p| p.id == *id)) {
                let what = "a `cp.async`".to_string();
                self.report(lane, Fault::UnfinishedAtExit { what })?;
            }
            let bulk = &self.warp.bulk[lane];
            if bulk.unread() {
                let what = "a bulk copy that reads shared memory".to_string();
                self.report(lane, Fault::UnfinishedAtExit { what })?;
            }
            if self.warp.cluster_phase[lane] == Some(self.cluster.phase) {
                self.cluster.left += 1;
            }
        }
        if !self.warp.wgmma.is_empty() && self.warp.live() & !ended == 0 {
            let what = "a `wgmma`".to_string();
            self.report(ended.trailing_zeros() as usize, Fault::UnfinishedAtExit { what })?;
        }
        self.block_mut().live -= ended.count_ones();
        self.ended(ended)
    }
}

/// Combines elements of memory with others by a function of their bits.
pub(super) fn combine(target: &mut [u8], source: &[u8], bytes: usize, f: impl Fn(u64, u64) -> u64) {
    for (old, new) in target.chunks_exact_mut(bytes).zip(source.chunks_exact(bytes)) {
        let value = f(number(old), number(new)).to_le_bytes();
        old.copy_from_slice(&value[..bytes]);
    }
}

/// An mbarrier that is none.
pub(super) fn no_mbarrier(offset: u32) -> Fault {
    Fault::Mbarrier { address: u64::from(offset), problem: MbarrierProblem::NotInitialised }
}
