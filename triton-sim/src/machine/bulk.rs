//! Bulk copies: `cp.async.bulk`, with and without a tensor map, and their groups.

use super::address::{LaneAccess, Location};
use super::copy::{combine, no_mbarrier};
use super::order::Asynchronous;
use super::warp::lanes;
use super::{Cluster, Cx, Pending, Run, Stop, Work};
use crate::code::{Bulk, BulkCopy, Extent, MapReduce, Reduce, SHARED_BASE, Src, Window, dec, inc};
use crate::faults::{AccessKind, Fault, Space};
use crate::hopper::{DataType, TensorMap};
use crate::memory::Lookup;
use crate::num::{self, BitOp, Flags, Float, FloatOp, Int, IntOp, Num, Scalar};
use std::collections::VecDeque;

/// Bytes of a tensor map.
const MAP_BYTES: u32 = 128;

/// A bulk copy that was begun.
#[derive(Debug)]
pub(crate) struct PendingBulkCopy {
    /// Parts of it: shared address, the other side (none: outside the tensor), bytes.
    pieces: Vec<(u32, Option<Endpoint>, u32)>,
    kind: Bulk,
    /// Blocks whose shared memory takes part.
    ranks: Vec<u32>,
    /// All bytes of the box.
    bytes: u32,
    /// Where it completes: the address of an mbarrier in each of the blocks, or the lane's bulk group.
    mbarrier: Option<u32>,
    /// Agent and clock of reads and of writes of a group.
    stamps: [(u32, u32); 2],
    reduce: Option<(usize, Scalar)>,
    /// What elements outside the tensor are filled with.
    fill: Vec<u8>,
    /// Whether elements are rounded to `tf32`.
    round_tf32: bool,
    /// What was read, once it was.
    data: Option<Vec<u8>>,
}

impl PendingBulkCopy {
    /// Whether it writes to the shared memory of a block.
    pub(super) fn writes_to(&self, rank: u32) -> bool {
        self.kind != Bulk::Store && self.ranks.contains(&rank)
    }
}

/// The other side of a copy.
#[derive(Clone, Copy, Debug)]
enum Endpoint {
    /// An address of global memory.
    Global(u64),
    /// Shared memory of a block.
    Shared(u32, u32),
}

/// Bulk groups of one lane.
#[derive(Debug, Default)]
pub(crate) struct BulkQueue {
    /// Numbers of the copies of the group that is not committed.
    open: Vec<u64>,
    /// Committed groups with their clocks, and whether their sources are known to be read; the oldest first.
    groups: VecDeque<(u32, Vec<u64>, bool)>,
    clock: u32,
    /// Agents of reads and of writes.
    agents: Option<[u32; 2]>,
}

impl BulkQueue {
    /// Whether something may still read shared memory.
    pub(super) fn unread(&self) -> bool {
        !self.open.is_empty() || self.groups.iter().any(|(_, _, read)| !read)
    }
}

impl Run<'_> {
    /// Performs a bulk copy, or with `read` only its first half.
    pub(super) fn complete_bulk_copy(
        &mut self,
        cluster: &mut Cluster,
        mut pending: Pending,
        read: bool,
    ) -> Result<(), Stop> {
        let data = match &mut pending.work {
            Work::Bulk(bulk) => bulk.data.take(),
            Work::Copy(_) | Work::Store(_) => None,
        };
        let snapshot = &pending.snapshot;
        let Work::Bulk(bulk) = &pending.work else { return Ok(()) };
        let origin = pending.origin;
        let stamp = match bulk.mbarrier {
            None => bulk.stamps,
            Some(offset) => {
                // A copy to several blocks is read in the first one's phase.
                let rank = bulk.ranks.first().copied().unwrap_or(0);
                match self.mbarrier_stamp(cluster, rank, offset) {
                    Some(stamp) => [stamp; 2],
                    None => return self.report_at_origin(cluster, origin, no_mbarrier(offset)),
                }
            }
        };
        let data = match data {
            Some(data) => data,
            None => {
                let by = Asynchronous { stamp: stamp[0], proxy: true };
                let mut data = Vec::with_capacity(bulk.bytes as usize);
                for &(shared, endpoint, bytes) in &bulk.pieces {
                    let source = match (bulk.kind, endpoint) {
                        (Bulk::Store | Bulk::Push, _) => Some(Location::Shared(origin.rank as u32, shared)),
                        (Bulk::Load, Some(Endpoint::Global(address))) => {
                            self.global(cluster, &pending, address, bytes, AccessKind::Read)?
                        }
                        (Bulk::Load, Some(Endpoint::Shared(..)) | None) => None,
                    };
                    match source {
                        Some(location) => {
                            self.check_async_access(
                                cluster,
                                (snapshot, origin),
                                location,
                                bytes,
                                AccessKind::Read,
                                by,
                            )?;
                            data.extend_from_slice(self.bytes_at(cluster, location, bytes));
                        }
                        None => data.extend(bulk.fill.iter().cycle().take(bytes as usize)),
                    }
                }
                if bulk.round_tf32 {
                    for word in data.chunks_exact_mut(4) {
                        let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                        word.copy_from_slice(&round_tf32(bits).to_le_bytes());
                    }
                }
                data
            }
        };
        if read {
            if let Work::Bulk(bulk) = &mut pending.work {
                bulk.data = Some(data);
            }
            cluster.pending.push(pending);
            return Ok(());
        }
        self.statistics.copied += data.len() as u64;
        let by = Asynchronous { stamp: stamp[1], proxy: true };
        match bulk.kind {
            Bulk::Store => self.write_pieces(cluster, &pending, &data, by, |_, endpoint| match endpoint {
                Some(Endpoint::Global(address)) => Some(Endpoint::Global(address)),
                Some(Endpoint::Shared(..)) | None => None,
            })?,
            Bulk::Push => self.write_pieces(cluster, &pending, &data, by, |_, endpoint| endpoint)?,
            Bulk::Load => {
                for &rank in &bulk.ranks {
                    let stamp = match bulk.mbarrier {
                        Some(offset) => self.mbarrier_stamp(cluster, rank, offset),
                        None => None,
                    };
                    let by = Asynchronous { stamp: stamp.unwrap_or(by.stamp), proxy: true };
                    self.write_pieces(cluster, &pending, &data, by, |shared, _| Some(Endpoint::Shared(rank, shared)))?;
                }
            }
        }
        if let Some(offset) = bulk.mbarrier {
            for &rank in &bulk.ranks {
                let Some(stamp) = self.mbarrier_stamp(cluster, rank, offset) else { continue };
                // The engine that writes is as near to every block.
                let remote = false;
                self.complete_tx(cluster, origin, (rank, offset), bulk.bytes, stamp, remote)?;
            }
        }
        Ok(())
    }

    /// Writes what was read to the other side of each piece.
    fn write_pieces(
        &mut self,
        cluster: &mut Cluster,
        pending: &Pending,
        data: &[u8],
        by: Asynchronous,
        to: impl Fn(u32, Option<Endpoint>) -> Option<Endpoint>,
    ) -> Result<(), Stop> {
        let Work::Bulk(bulk) = &pending.work else { return Ok(()) };
        let mut at = 0;
        for &(shared, endpoint, bytes) in &bulk.pieces {
            let part = &data[at..at + bytes as usize];
            at += bytes as usize;
            let location = match to(shared, endpoint) {
                None => continue,
                Some(Endpoint::Shared(rank, offset)) => Some(Location::Shared(rank, offset)),
                Some(Endpoint::Global(address)) => self.global(cluster, pending, address, bytes, AccessKind::Write)?,
            };
            let Some(location) = location else { continue };
            let access = if bulk.reduce.is_some() { AccessKind::Atomic } else { AccessKind::Write };
            self.check_async_access(cluster, (&pending.snapshot, pending.origin), location, bytes, access, by)?;
            let target = self.bytes_at_mut(cluster, location, bytes);
            match bulk.reduce {
                None => target.copy_from_slice(part),
                Some((size, f)) => combine(target, part, size, |old, new| f(old, new, 0)),
            }
        }
        Ok(())
    }

    /// Bytes of global memory that a copy accesses.
    fn global(
        &mut self,
        cluster: &Cluster,
        pending: &Pending,
        address: u64,
        bytes: u32,
        access: AccessKind,
    ) -> Result<Option<Location>, Stop> {
        let fault = match self.memory.find(address, u64::from(bytes)) {
            Lookup::Inside(index, offset) => return Ok(Some(Location::Global(index, offset))),
            Lookup::Freed => Fault::UseAfterFree { address, bytes, access },
            Lookup::Outside(near) => Fault::OutOfBounds { space: Space::Global, address, bytes, access, near },
        };
        self.report_at_origin(cluster, pending.origin, fault)?;
        Err(Stop)
    }

    fn bytes_at<'a>(&'a self, cluster: &'a Cluster, location: Location, bytes: u32) -> &'a [u8] {
        match location {
            Location::Global(index, offset) => self.memory.bytes(index, offset..offset + bytes as usize),
            Location::Shared(rank, offset) => {
                &cluster.blocks[rank as usize].shared[offset as usize..][..bytes as usize]
            }
            Location::Local(_) | Location::Param(_) => &[],
        }
    }

    fn bytes_at_mut<'a>(&'a mut self, cluster: &'a mut Cluster, location: Location, bytes: u32) -> &'a mut [u8] {
        match location {
            Location::Global(index, offset) => self.memory.bytes_mut(index, offset..offset + bytes as usize),
            Location::Shared(rank, offset) => {
                &mut cluster.blocks[rank as usize].shared[offset as usize..][..bytes as usize]
            }
            Location::Local(_) | Location::Param(_) => &mut [],
        }
    }
}

impl Cx<'_, '_> {
    pub(super) fn bulk_copy(&mut self, copy: &BulkCopy) -> Result<(), Stop> {
        let shared = self.addresses(copy.shared)?;
        let other = match copy.other {
            Some(addr) => Some(self.addresses(addr)?),
            None => None,
        };
        let mbarrier = match copy.mbarrier {
            Some(addr) => Some(self.addresses(addr)?),
            None => None,
        };
        let multicast = match copy.multicast {
            Some(src) => Some(self.read(src)?),
            None => None,
        };
        let all = self.mask;
        for lane in lanes(all) {
            self.mask = 1 << lane;
            self.bulk_lane(
                copy,
                lane,
                shared[lane],
                other.map(|v| v[lane]),
                mbarrier.map(|v| v[lane]),
                multicast.map(|v| v[lane]),
            )?;
        }
        self.mask = all;
        Ok(())
    }

    fn bulk_lane(
        &mut self,
        copy: &BulkCopy,
        lane: usize,
        shared: u64,
        other: Option<u64>,
        mbarrier: Option<u64>,
        multicast: Option<u64>,
    ) -> Result<(), Stop> {
        let window = Window::Cluster;
        let write = if copy.kind == Bulk::Load { AccessKind::Write } else { AccessKind::Read };
        let mut fill = vec![0];
        let mut round_tf32 = false;
        let mut of_map = None;
        let (rank, pieces, bytes) = match &copy.extent {
            Extent::Bytes(size) => {
                let bytes = self.read(*size)?[lane] as u32;
                if !bytes.is_multiple_of(16) {
                    let problem = format!("the size of a bulk copy must be a multiple of 16, but is {bytes}");
                    return Err(self.fatal_in(lane, Fault::Operand { problem }));
                }
                let lane_access = LaneAccess { bytes, align: 16, access: write };
                let (rank, offset) = self.locate_shared(lane, window, shared, lane_access)?;
                let address = other.unwrap_or(0);
                let endpoint = match copy.kind {
                    Bulk::Push => {
                        let lane_access = LaneAccess { bytes, align: 16, access: AccessKind::Write };
                        let (rank, offset) = self.locate_shared(lane, window, address, lane_access)?;
                        Endpoint::Shared(rank, offset)
                    }
                    Bulk::Load | Bulk::Store => {
                        let access = if copy.kind == Bulk::Load { AccessKind::Read } else { AccessKind::Write };
                        self.locate(lane, Window::Of(Space::Global), address, LaneAccess { bytes, align: 16, access })?;
                        Endpoint::Global(address)
                    }
                };
                (rank, vec![(offset, Some(endpoint), bytes)], bytes)
            }
            Extent::Tensor { map, coordinates } => {
                let map = self.tensor_map(lane, *map)?;
                let mut at = Vec::with_capacity(coordinates.len());
                for &coordinate in coordinates {
                    at.push(self.read(coordinate)?[lane] as i32);
                }
                if let (Bulk::Store, Some(first)) = (copy.kind, at.iter().find(|c| **c < 0)) {
                    // Measured on an H200, for stores and not for loads: illegal instruction.
                    let problem =
                        format!("a box that is stored must not begin at a negative coordinate, found {first}");
                    return Err(self.fatal_in(lane, Fault::TensorMap { problem }));
                }
                let bytes = map.box_bytes();
                let lane_access = LaneAccess { bytes: map.shared_bytes(), align: 128, access: write };
                let (rank, offset) = self.locate_shared(lane, window, shared, lane_access)?;
                let mut pieces = Vec::new();
                let each = |piece: crate::hopper::Piece| {
                    pieces.push((piece.shared, piece.global.map(Endpoint::Global), piece.bytes));
                };
                if let Err(problem) = map.for_each_piece(&at, offset, copy.kind == Bulk::Store, each) {
                    return Err(self.fatal_in(lane, Fault::TensorMap { problem: problem.to_string() }));
                }
                let end = self.block().shared.len() as u32;
                if let Some((out, ..)) = pieces.iter().find(|(at, _, n)| *at < SHARED_BASE || *at + *n > end) {
                    let problem = format!("the swizzled box reaches {out:#x}, outside shared memory");
                    return Err(self.fatal_in(lane, Fault::TensorMap { problem }));
                }
                fill = map.fill_pattern().to_le_bytes().to_vec();
                round_tf32 = copy.kind == Bulk::Load && map.rounds_to_tf32();
                of_map = Some(map);
                (rank, pieces, bytes)
            }
        };
        let reduce = match (copy.reduce, of_map) {
            (None, _) => None,
            (Some(Reduce::Typed(size, f)), _) => Some((usize::from(size), f)),
            (Some(Reduce::OfMap(op)), Some(map)) => match reduction(&map, op) {
                Some(reduction) => Some(reduction),
                None => {
                    let problem = format!("the map's elements cannot be combined by {op:?}").to_lowercase();
                    return Err(self.fatal_in(lane, Fault::TensorMap { problem }));
                }
            },
            (Some(Reduce::OfMap(_)), None) => None,
        };
        let ranks = match (copy.kind, multicast) {
            (Bulk::Load, Some(mask)) => {
                let count = self.cluster.blocks.len() as u32;
                if mask & 0xffff >> count << count != 0 || mask & 0xffff == 0 {
                    let problem =
                        format!("the multicast mask {:#x} must name blocks of the cluster of {count}", mask & 0xffff);
                    return Err(self.fatal_in(lane, Fault::Operand { problem }));
                }
                lanes(mask as u32 & 0xffff).map(|r| r as u32).collect()
            }
            (Bulk::Load, None) => vec![rank],
            (Bulk::Store | Bulk::Push, _) => match pieces.first() {
                Some((_, Some(Endpoint::Shared(rank, _)), _)) => vec![*rank],
                Some(_) | None => Vec::new(),
            },
        };
        let mbarrier = match mbarrier {
            None => None,
            Some(address) => {
                let owner = if multicast.is_some() { self.b as u32 } else { ranks.first().copied().unwrap_or(rank) };
                let at = self.completion_mbarrier(lane, window, address, owner, &ranks)?;
                for &rank in &ranks {
                    let fenced = self.cluster.blocks[rank as usize].mbarriers.get(&at).is_none_or(|m| m.fenced);
                    if !fenced {
                        let problem = crate::faults::MbarrierProblem::NotFenced;
                        return Err(self.fatal_in(lane, Fault::Mbarrier { address: u64::from(at), problem }));
                    }
                }
                Some(at)
            }
        };
        let mut stamps = [(0, 0); 2];
        if mbarrier.is_none() {
            let queue = &mut self.warp.bulk[lane];
            let agents = match queue.agents {
                Some(agents) => agents,
                None => *queue.agents.insert([self.cluster.agents.new_agent(), self.cluster.agents.new_agent()]),
            };
            stamps = agents.map(|agent| (agent, queue.clock + 1));
        }
        let bulk = PendingBulkCopy {
            pieces,
            kind: copy.kind,
            ranks,
            bytes,
            mbarrier,
            stamps,
            reduce,
            fill,
            round_tf32,
            data: None,
        };
        let group = mbarrier.is_none();
        let id = self.enqueue(lane, Work::Bulk(bulk))?;
        if group {
            self.warp.bulk[lane].open.push(id);
        }
        Ok(())
    }

    /// The tensor map at a generic address.
    fn tensor_map(&mut self, lane: usize, map: Src) -> Result<TensorMap, Stop> {
        let address = self.read(map)?[lane];
        let lane_access = LaneAccess { bytes: MAP_BYTES, align: 64, access: AccessKind::Read };
        let location = self.locate(lane, Window::Generic, address, lane_access)?;
        match TensorMap::decode(self.peek(lane, location, MAP_BYTES)) {
            Some(map) => Ok(map),
            None => {
                let problem = format!("the {MAP_BYTES} bytes at {address:#x} are not a tensor map");
                Err(self.fatal_in(lane, Fault::TensorMap { problem }))
            }
        }
    }

    pub(super) fn bulk_commit(&mut self) {
        for lane in lanes(self.mask) {
            let queue = &mut self.warp.bulk[lane];
            queue.clock += 1;
            let group = (queue.clock, std::mem::take(&mut queue.open), false);
            queue.groups.push_back(group);
        }
    }

    /// Waits until at most this many groups are in flight, or with `read` until their sources are read.
    pub(super) fn bulk_wait(&mut self, most: u32, read: bool) -> Result<(), Stop> {
        for lane in lanes(self.mask) {
            let count = self.warp.bulk[lane].groups.len().saturating_sub(most as usize);
            for index in 0..count {
                let group = &mut self.warp.bulk[lane].groups[index];
                let was_read = std::mem::replace(&mut group.2, true);
                if !(read && was_read) {
                    let ids = group.1.clone();
                    self.run.complete_work(self.cluster, &ids, read)?;
                }
            }
            // Groups of which nothing is in flight need not be checked again.
            let pending = &self.cluster.pending;
            let queue = &mut self.warp.bulk[lane];
            while queue.groups.front().is_some_and(|g| g.2 && !pending.iter().any(|p| g.1.contains(&p.id))) {
                queue.groups.pop_front();
            }
            let done = queue.clock.saturating_sub(most);
            if let (Some([reads, writes]), true) = (queue.agents, done != 0) {
                self.join_epoch(lane, (reads, done));
                if !read {
                    self.join_epoch(lane, (writes, done));
                }
            }
        }
        Ok(())
    }
}

/// `f32` to `tf32` as a load does it: to nearest, any NaN to one.
fn round_tf32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    let convert = num::convert(Num::Float(Float::Tf32), Num::Float(Float::F32), Flags::default());
    convert.map_or(bits, |f| f(u64::from(bits), 0, 0) as u32)
}

/// How elements of a map are combined: their bytes, and the function; none if the type does not have it.
fn reduction(map: &TensorMap, op: MapReduce) -> Option<(usize, Scalar)> {
    let ty = match map.data_type() {
        DataType::U8 | DataType::U16 => return None,
        DataType::U32 => Num::Int(Int::U32),
        DataType::S32 => Num::Int(Int::S32),
        DataType::U64 => Num::Int(Int::U64),
        DataType::S64 => Num::Int(Int::S64),
        DataType::F16 => Num::Float(Float::F16),
        DataType::Bf16 => Num::Float(Float::Bf16),
        DataType::F32 | DataType::F32Ftz | DataType::Tf32 | DataType::Tf32Ftz => Num::Float(Float::F32),
        DataType::F64 => Num::Float(Float::F64),
    };
    let function = match (ty, op) {
        (Num::Int(int), MapReduce::Add) => num::int_op(IntOp::Add, int),
        (Num::Int(int), MapReduce::Min) => num::int_op(IntOp::Min, int),
        (Num::Int(int), MapReduce::Max) => num::int_op(IntOp::Max, int),
        (Num::Int(int), MapReduce::And) => num::bit_op(BitOp::And, int),
        (Num::Int(int), MapReduce::Or) => num::bit_op(BitOp::Or, int),
        (Num::Int(int), MapReduce::Xor) => num::bit_op(BitOp::Xor, int),
        (Num::Int(Int::U32), MapReduce::Inc) => Some(inc as Scalar),
        (Num::Int(Int::U32), MapReduce::Dec) => Some(dec as Scalar),
        (Num::Int(_), MapReduce::Inc | MapReduce::Dec) => None,
        (Num::Float(float), MapReduce::Add) => num::float_op(FloatOp::Add, float, Flags::default()),
        (Num::Float(float), MapReduce::Min) => num::float_op(FloatOp::Min, float, Flags::default()),
        (Num::Float(float), MapReduce::Max) => num::float_op(FloatOp::Max, float, Flags::default()),
        (Num::Float(_), MapReduce::And | MapReduce::Or | MapReduce::Xor | MapReduce::Inc | MapReduce::Dec) => None,
    };
    Some((map.data_type().bytes() as usize, function?))
}
