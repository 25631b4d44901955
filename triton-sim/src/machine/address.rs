//! Addresses: windows of the generic address space, blocks of a cluster, and the bytes at an address.

use super::warp::{Lanes, lanes};
use super::{Cx, Stop};
use crate::code::{Addr, Reg, SHARED_BASE, Src, Window};
use crate::faults::{AccessKind, Fault, Space};
use crate::memory::Lookup;

/// Generic addresses of shared memory begin here.
const SHARED: u64 = 1 << 40;

/// Generic addresses of local memory begin here.
const LOCAL: u64 = 2 << 40;

/// Generic addresses of parameters begin here.
const PARAM: u64 = 3 << 40;

/// Global memory lies above all windows.
const WINDOW: u64 = 1 << 40;

/// An address in shared memory of a cluster of several blocks has a block's rank plus 1 above these bits. One that has 0 there is of the own
/// block.
const RANK: u32 = 24;

/// The highest rank that an address of 32 bits can have: far above that of any block.
const MAX_RANK: u64 = 254;

/// The bytes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// Allocation and first byte.
    Global(usize, usize),
    /// Rank of the block and address in its window.
    Shared(u32, u32),
    /// First byte.
    Local(u32),
    /// First byte.
    Param(u32),
}

/// An access of one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAccess {
    /// Bytes.
    pub bytes: u32,
    /// Needed alignment.
    pub align: u32,
    /// Read or written.
    pub access: AccessKind,
}

impl LaneAccess {
    /// An access that must be aligned to its size.
    pub fn natural(bytes: u32, access: AccessKind) -> LaneAccess {
        LaneAccess { bytes, align: bytes.next_power_of_two(), access }
    }
}

impl Cx<'_, '_> {
    /// Base plus offset in every lane.
    pub(super) fn addresses(&mut self, addr: Addr) -> Result<Lanes, Stop> {
        let base = self.read(addr.base)?;
        Ok(base.map(|b| b.wrapping_add_signed(addr.offset)))
    }

    /// The address of a variable of this block. As on a device, it has other bits than an offset where there are other blocks: a descriptor of
    /// `wgmma` must leave them out.
    pub(super) fn own_shared(&self, address: u32) -> u64 {
        let rank = if self.cluster.blocks.len() > 1 { self.b as u32 + 1 } else { 0 };
        (address + (rank << RANK)).into()
    }

    /// A shared address of one space of this block or another: rank of the block, address in its window.
    pub(super) fn shared_address(&self, address: u64) -> (u32, u32) {
        let address = address as u32;
        let rank = (address >> RANK).checked_sub(1).unwrap_or(self.b as u32);
        (rank, address & ((1 << RANK) - 1))
    }

    /// The bytes that a lane accesses.
    #[inline]
    pub(super) fn locate(
        &mut self,
        lane: usize,
        window: Window,
        address: u64,
        lane_access: LaneAccess,
    ) -> Result<Location, Stop> {
        let (space, address) = match window {
            Window::Of(space) => (space, address),
            Window::Cluster => (Space::Shared, address),
            Window::Generic => match address / WINDOW {
                1 => (Space::Shared, address - SHARED),
                2 => (Space::Local, address - LOCAL),
                3 => (Space::Param, address - PARAM),
                _ => (Space::Global, address),
            },
        };
        let LaneAccess { bytes, align, access } = lane_access;
        if !address.is_multiple_of(u64::from(align)) {
            return Err(self.fatal_in(lane, Fault::Misaligned { space, address, needed: align }));
        }
        let outside = |near: String| Fault::OutOfBounds { space, address, bytes, access, near };
        match space {
            Space::Const if access != AccessKind::Read => {
                Err(self.fatal_in(lane, outside("constants are only read".to_string())))
            }
            Space::Global | Space::Const => match self.run.memory.find(address, u64::from(bytes)) {
                Lookup::Inside(index, offset) => Ok(Location::Global(index, offset)),
                Lookup::Freed => Err(self.fatal_in(lane, Fault::UseAfterFree { address, bytes, access })),
                Lookup::Outside(near) => Err(self.fatal_in(lane, outside(near))),
            },
            Space::Shared => {
                // Addresses of shared memory have 32 bits, in registers of 64 too.
                let (rank, offset) = self.shared_address(address);
                let Some(block) = self.cluster.blocks.get(rank as usize) else {
                    let near =
                        format!("the cluster has {} blocks, and this is in number {rank}", self.cluster.blocks.len());
                    return Err(self.fatal_in(lane, outside(near)));
                };
                let end = block.shared.len() as u64;
                if address > u64::from(u32::MAX) || offset < SHARED_BASE || u64::from(offset) + u64::from(bytes) > end {
                    let near = format!("shared memory is {SHARED_BASE:#x} to {end:#x}");
                    return Err(self.fatal_in(lane, outside(near)));
                }
                if rank as usize != self.b && window == Window::Of(Space::Shared) {
                    let near = format!("it is of block {rank} of the cluster, which `.shared::cluster` alone reaches");
                    return Err(self.fatal_in(lane, outside(near)));
                }
                if rank as usize != self.b && block.live == 0 {
                    let near = format!("block {rank} of the cluster, which owns it, has ended");
                    return Err(self.fatal_in(lane, outside(near)));
                }
                Ok(Location::Shared(rank, offset))
            }
            Space::Local => {
                let end = u64::from(self.run.kernel.local);
                if address.checked_add(u64::from(bytes)).is_none_or(|last| last > end) {
                    return Err(self.fatal_in(lane, outside(format!("a thread has {end} bytes"))));
                }
                Ok(Location::Local(address as u32))
            }
            Space::Param => {
                let end = self.run.params.len() as u64;
                if address.checked_add(u64::from(bytes)).is_none_or(|last| last > end) || access != AccessKind::Read {
                    return Err(self.fatal_in(lane, outside(format!("the parameters have {end} bytes, to be read"))));
                }
                Ok(Location::Param(address as u32))
            }
        }
    }

    /// The same for an address of shared memory of the cluster, as 32 bits or generic.
    pub(super) fn locate_shared(
        &mut self,
        lane: usize,
        window: Window,
        address: u64,
        lane_access: LaneAccess,
    ) -> Result<(u32, u32), Stop> {
        match self.locate(lane, window, address, lane_access)? {
            Location::Shared(rank, offset) => Ok((rank, offset)),
            Location::Global(..) | Location::Local(_) | Location::Param(_) => {
                let problem = format!("{address:#x} must be an address of shared memory");
                Err(self.fatal_in(lane, Fault::Operand { problem }))
            }
        }
    }

    pub(super) fn enter_window(&mut self, space: Space, dst: Reg, src: Src) -> Result<(), Stop> {
        let base = base(space);
        let out = self.read(src)?.map(|a| a.wrapping_add(base));
        self.write(dst, &out)
    }

    pub(super) fn leave_window(&mut self, space: Space, dst: Reg, src: Src) -> Result<(), Stop> {
        let values = self.read(src)?;
        let base = base(space);
        for lane in lanes(self.mask) {
            if base != 0 && values[lane] / WINDOW != base / WINDOW {
                let problem = format!("{:#x} is not a generic address of {space} memory", values[lane]);
                self.report(lane, Fault::Operand { problem })?;
            }
        }
        self.write(dst, &values.map(|a| a.wrapping_sub(base)))
    }

    pub(super) fn is_space(&mut self, space: Space, dst: Reg, src: Src) -> Result<(), Stop> {
        let base = base(space);
        // Constants lie among other variables, and have no generic addresses of their own.
        let inside = |a: u64| match space {
            Space::Const => false,
            Space::Global => a / WINDOW > PARAM / WINDOW,
            Space::Shared | Space::Local | Space::Param => a / WINDOW == base / WINDOW,
        };
        let out = self.read(src)?.map(|a| u64::from(inside(a)));
        self.write(dst, &out)
    }

    pub(super) fn map_address(&mut self, generic: bool, dst: Reg, addr: Src, rank: Src) -> Result<(), Stop> {
        let (values, ranks) = (self.read(addr)?, self.read(rank)?);
        let mut out = [0; 32];
        for lane in lanes(self.mask) {
            // Lanes that use no address ask for those of blocks that do not exist: it is an access that is out of bounds then.
            let rank = ranks[lane].min(MAX_RANK);
            let window = if generic { SHARED } else { 0 };
            let offset = values[lane].wrapping_sub(window) & ((1 << RANK) - 1);
            out[lane] = window + offset + ((rank + 1) << RANK);
        }
        self.write(dst, &out)
    }

    pub(super) fn get_rank(&mut self, generic: bool, dst: Reg, src: Src) -> Result<(), Stop> {
        let window = if generic { SHARED } else { 0 };
        let out = self.read(src)?.map(|a| u64::from(self.shared_address(a.wrapping_sub(window)).0));
        self.write(dst, &out)
    }
}

/// Where the generic addresses of a space begin.
fn base(space: Space) -> u64 {
    match space {
        Space::Global | Space::Const => 0,
        Space::Shared => SHARED,
        Space::Local => LOCAL,
        Space::Param => PARAM,
    }
}
