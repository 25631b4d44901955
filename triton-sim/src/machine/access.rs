//! Loads and stores of ordinary instructions.

use super::address::{LaneAccess, Location};
use super::alu::sign_extend;
use super::order::WarpAccess;
use super::warp::{Lanes, lanes};
use super::{Cx, Stop};
use crate::code::{Addr, Cell, Order, Reg, Scope, Src, Window};
use crate::faults::{AccessKind, Fault, Space};

/// Little-endian bytes as a number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

impl Order {
    /// Its scope, if it is strong.
    pub(super) fn scope(self) -> Option<Scope> {
        match self {
            Order::Weak => None,
            Order::Relaxed(s) | Order::Acquire(s) | Order::Release(s) | Order::AcqRel(s) => Some(s),
        }
    }
}

impl Cx<'_, '_> {
    /// Bytes that a lane can read.
    pub(super) fn peek(&mut self, lane: usize, location: Location, bytes: u32) -> &[u8] {
        let length = bytes as usize;
        match location {
            Location::Global(index, offset) => self.run.memory.bytes(index, offset..offset + length),
            Location::Shared(rank, offset) => &self.cluster.blocks[rank as usize].shared[offset as usize..][..length],
            Location::Param(offset) => &self.run.params[offset as usize..][..length],
            Location::Local(offset) => &self.local(lane).0[offset as usize..][..length],
        }
    }

    /// Bytes that a lane can write. Parameters are never written: [`Cx::locate`] refuses it.
    pub(super) fn poke(&mut self, lane: usize, location: Location, bytes: u32) -> &mut [u8] {
        let length = bytes as usize;
        match location {
            Location::Global(index, offset) => self.run.memory.bytes_mut(index, offset..offset + length),
            Location::Shared(rank, offset) => {
                &mut self.cluster.blocks[rank as usize].shared[offset as usize..][..length]
            }
            Location::Param(offset) => &mut self.run.params[offset as usize..][..length],
            Location::Local(offset) => {
                let (data, written) = self.local(lane);
                written[offset as usize..][..length].fill(true);
                &mut data[offset as usize..][..length]
            }
        }
    }

    pub(super) fn local(&mut self, lane: usize) -> &mut (Vec<u8>, Vec<bool>) {
        let size = self.run.kernel.local as usize;
        self.warp.local.resize_with(32, Default::default);
        let (data, written) = &mut self.warp.local[lane];
        data.resize(size, 0);
        written.resize(size, false);
        &mut self.warp.local[lane]
    }

    /// The spots of all lanes that run.
    pub(super) fn locations(
        &mut self,
        window: Window,
        addresses: &Lanes,
        lane_access: LaneAccess,
    ) -> Result<[Location; 32], Stop> {
        let mut locations = [Location::Param(0); 32];
        for lane in lanes(self.mask) {
            locations[lane] = self.locate(lane, window, addresses[lane], lane_access)?;
        }
        Ok(locations)
    }

    pub(super) fn load(
        &mut self,
        window: Window,
        order: Order,
        cell: Cell,
        dst: &[Option<Reg>],
        addr: Addr,
        read_only: bool,
    ) -> Result<(), Stop> {
        let size = u32::from(cell.bytes);
        let bytes = size * dst.len() as u32;
        let addresses = self.addresses(addr)?;
        let locations = self.locations(window, &addresses, LaneAccess::natural(bytes, AccessKind::Read))?;
        let (access, scope) = (AccessKind::Read, order.scope());
        self.check_warp_access(&locations, WarpAccess { bytes, access, scope, same: false, repeats: 0, read_only })?;
        self.count_access(&locations, bytes, false);
        let mut values = vec![[0; 32]; dst.len()];
        for lane in lanes(self.mask) {
            if let Location::Local(offset) = locations[lane] {
                self.check_local(lane, offset, bytes)?;
            }
            let data = self.peek(lane, locations[lane], bytes);
            for (value, part) in values.iter_mut().zip(data.chunks(size as usize)) {
                value[lane] = number(part);
            }
        }
        for (register, mut value) in dst.iter().zip(values) {
            if let Some(register) = register {
                if cell.signed {
                    value = value.map(|v| sign_extend(v, cell.bytes, cell.register_bytes));
                }
                self.write(*register, &value)?;
            }
        }
        if order.scope().is_some() {
            self.observe(&locations, order);
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        window: Window,
        order: Order,
        cell: Cell,
        src: &[Src],
        addr: Addr,
    ) -> Result<(), Stop> {
        let size = u32::from(cell.bytes);
        let bytes = size * src.len() as u32;
        let addresses = self.addresses(addr)?;
        let mut values = Vec::with_capacity(src.len());
        for &part in src {
            values.push(self.read(part)?);
        }
        let locations = self.locations(window, &addresses, LaneAccess::natural(bytes, AccessKind::Write))?;
        let same = self.agree(&locations, &values);
        let repeats = self.repeats(&locations, &values, size as usize);
        let (access, scope) = (AccessKind::Write, order.scope());
        self.check_warp_access(&locations, WarpAccess { bytes, access, scope, same, repeats, read_only: false })?;
        self.count_access(&locations, bytes, true);
        for lane in lanes(self.mask) {
            let target = self.poke(lane, locations[lane], bytes);
            for (part, value) in target.chunks_mut(size as usize).zip(&values) {
                part.copy_from_slice(&value[lane].to_le_bytes()[..size as usize]);
            }
        }
        if repeats != self.mask {
            self.run.progress();
        }
        if order.scope().is_some() {
            self.publish(&locations, order);
        }
        Ok(())
    }

    /// Lanes that write what is there already.
    fn repeats(&mut self, locations: &[Location; 32], values: &[Lanes], size: usize) -> u32 {
        let mut repeats = 0;
        for lane in lanes(self.mask) {
            let there = self.peek(lane, locations[lane], (size * values.len()) as u32);
            let same = there.chunks(size).zip(values).all(|(part, value)| *part == value[lane].to_le_bytes()[..size]);
            repeats |= u32::from(same) << lane;
        }
        repeats
    }

    /// Whether lanes that write to one address write the same.
    fn agree(&self, locations: &[Location; 32], values: &[Lanes]) -> bool {
        let mut seen: Vec<(Location, usize)> = lanes(self.mask).map(|lane| (locations[lane], lane)).collect();
        let key = |location: &Location| match *location {
            Location::Global(index, offset) => (index, offset),
            Location::Shared(rank, offset) => (rank as usize, offset as usize),
            Location::Local(offset) | Location::Param(offset) => (0, offset as usize),
        };
        seen.sort_unstable_by_key(|(location, lane)| (key(location), *lane));
        seen.windows(2).all(|pair| {
            let [(a, i), (b, j)] = [pair[0], pair[1]];
            a != b || values.iter().all(|v| v[i] == v[j])
        })
    }

    /// Reports local memory that is read before it was written.
    pub(super) fn check_local(&mut self, lane: usize, offset: u32, bytes: u32) -> Result<(), Stop> {
        let written = &self.local(lane).1[offset as usize..][..bytes as usize];
        match written.iter().position(|w| !w) {
            None => Ok(()),
            Some(first) => {
                let address = u64::from(offset) + first as u64;
                self.report(lane, Fault::UninitializedMemory { space: Space::Local, address })
            }
        }
    }

    /// Counts sectors of global memory and bank conflicts of shared memory.
    pub(super) fn count_access(&mut self, locations: &[Location; 32], bytes: u32, write: bool) {
        let mut sectors: Vec<(usize, usize)> = Vec::new();
        let mut words: Vec<u32> = Vec::new();
        let mut total = 0;
        // Vectors of 8 and 16 bytes are served in halves and quarters of a warp.
        let together = (128 / bytes.max(4)).clamp(8, 32) as usize;
        let mut conflicts = 0;
        let mut shared = false;
        for (lane, location) in locations.iter().enumerate() {
            if self.mask >> lane & 1 == 1 {
                match *location {
                    Location::Global(index, offset) => {
                        let start = self.run.memory.start(index) as usize + offset;
                        sectors.extend((start / 32..=(start + bytes as usize - 1) / 32).map(|s| (index, s)));
                        total += u64::from(bytes);
                    }
                    Location::Shared(_, offset) => {
                        shared = true;
                        words.extend(offset / 4..=(offset + bytes - 1) / 4);
                    }
                    Location::Local(_) | Location::Param(_) => {}
                }
            }
            if (lane + 1) % together == 0 && !words.is_empty() {
                words.sort_unstable();
                words.dedup();
                let mut banks = [0u64; 32];
                words.iter().for_each(|w| banks[(w % 32) as usize] += 1);
                conflicts += banks.iter().max().unwrap_or(&1).saturating_sub(1);
                words.clear();
            }
        }
        sectors.sort_unstable();
        sectors.dedup();
        let s = &mut self.run.statistics;
        s.shared_requests += u64::from(shared);
        s.bank_conflicts += conflicts;
        s.global_requests += u64::from(!sectors.is_empty());
        s.global_sectors += sectors.len() as u64;
        *(if write { &mut s.global_written } else { &mut s.global_read }) += total;
    }
}
