//! What bulk copies need in registers.
//!
//! - All registers are written before the function's first operation. So they hold for the whole kernel but its entry.
//! - The issuer and the addresses of maps never change.
//! - The parities of a ring change with every wait for an item of it, in place.
//! - Whether the other blocks of a cluster have been waited for is of the current position. The first copy to them in
//!   the text waits; so it has
//!   to come before all others on every path.

use crate::hash::WordMap;
use crate::ir::{Mbarrier, RingId};
use crate::metadata::TensorMap;
use crate::ptx::Reg;

/// See the [module's page](self).
pub(crate) struct Bulk {
    issuer: Reg,
    drainer: Reg,
    drains: bool,
    maps: WordMap<TensorMap, Reg>,
    rings: WordMap<RingId, RingState>,
    has_arrived: bool,
}

/// What is kept of a ring that bulk copies fill.
pub(crate) struct RingState {
    /// The first mbarrier, as an offset in shared memory.
    pub first: u32,
    /// As of [`Function::mbarriers`](crate::ir::Function::mbarriers): those of a kind lie together, one for each slot.
    pub mbarriers: Vec<(Mbarrier, u32)>,
    /// The parities of its slots' phases, of what is waited for.
    pub parities: Reg,
    /// As of [`Function::warps_of_release`](crate::ir::Function::warps_of_release).
    pub warps: Option<u32>,
}

impl Default for Bulk {
    fn default() -> Bulk {
        Bulk {
            issuer: Reg::NONE,
            drainer: Reg::NONE,
            drains: false,
            maps: WordMap::default(),
            rings: WordMap::default(),
            has_arrived: false,
        }
    }
}

impl Bulk {
    /// Holds in the thread that issues copies.
    pub fn issuer(&self) -> Reg {
        self.issuer
    }

    pub fn set_issuer(&mut self, issuer: Reg) {
        self.issuer = issuer;
    }

    /// Holds in the thread of each warp that copies to global memory.
    pub fn drainer(&self) -> Reg {
        self.drainer
    }

    /// Whether anything is copied there.
    pub fn drains(&self) -> bool {
        self.drains
    }

    pub fn set_drains(&mut self, drains: bool) {
        self.drains = drains;
    }

    pub fn set_drainer(&mut self, drainer: Reg) {
        self.drainer = drainer;
    }

    /// The address of a map.
    pub fn map(&self, map: TensorMap) -> Option<Reg> {
        self.maps.get(&map).copied()
    }

    pub fn put_map(&mut self, map: TensorMap, address: Reg) {
        self.maps.insert(map, address);
    }

    /// What is kept of a ring.
    pub fn ring(&self, ring: RingId) -> Result<&RingState, String> {
        self.rings.get(&ring).ok_or_else(|| format!("{ring} has no mbarriers"))
    }

    pub fn put_ring(&mut self, ring: RingId, state: RingState) {
        self.rings.insert(ring, state);
    }

    /// That this block has arrived at the barrier of its cluster, and has to wait before it copies to other blocks.
    pub fn arrive(&mut self) {
        self.has_arrived = true;
    }

    /// Before a copy to other blocks: whether the wait for them has to come first. It has come then.
    pub fn meet(&mut self) -> bool {
        std::mem::take(&mut self.has_arrived)
    }
}
