//! Rings: buffers in shared memory of several slots each, which are filled ahead of what reads them.
//!
//! Everything counts *items*: item `i` is what a turn of a loop reads, and is in slot `i mod slots` of every buffer. How many copies are
//! in flight, and what waits for which, is for code to say: `ring.fill`, `ring.wait` and `ring.release` name the item alone.

use super::{Function, Inst, LayoutId, Value};
use crate::entity::SideTable;
use crate::layout::Mem;
use crate::ops::Op;
use crate::types::RingId;

/// A ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Slots of each buffer.
    pub slots: u32,
    /// How many items are filled when the first one is waited for, and from then on before each wait.
    pub lead: u32,
    /// The buffers, in the order in which they are filled.
    pub buffers: Vec<RingBuffer>,
}

/// A buffer of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingBuffer {
    /// The buffer: of a slot, the type and the layout of memory are those of the buffer.
    pub buffer: Value,
    /// Which threads copy which elements.
    pub layout: LayoutId,
}

/// An item: a value, or 0, and a compile-time constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The value.
    pub base: Option<Value>,
    /// Items after it.
    pub offset: i128,
}

impl Function {
    /// The most slots of the rings of a `for`.
    pub fn stages(&self, inst: Inst) -> u32 {
        self.stages_of[inst].unwrap_or(self.num_stages)
    }

    /// The buffers in shared memory: what defines each, and its value.
    pub fn buffers(&self) -> Vec<(Inst, Value)> {
        let is_buffer = |&inst: &Inst| matches!(self.insts[inst].op, Op::SharedAlloc { .. });
        self.walk().into_iter().filter(is_buffer).map(|inst| (inst, self.insts[inst].results[0])).collect()
    }

    /// The ring that a buffer belongs to, and its number there.
    pub fn ring_of(&self, buffer: Value) -> Option<(RingId, usize)> {
        let position = |ring: &Ring| ring.buffers.iter().position(|of| of.buffer == buffer);
        self.rings.keys().find_map(|id| position(&self.rings[id]).map(|at| (id, at)))
    }

    /// Slots of a buffer: 1 if it belongs to no ring.
    pub fn slots(&self, buffer: Value) -> u32 {
        self.ring_of(buffer).map_or(1, |(ring, _)| self.rings[ring].slots)
    }

    /// Of each slot of a buffer and each alias, the buffer.
    pub fn buffer_of(&self) -> SideTable<Value, Option<Value>> {
        let mut buffers = SideTable::new(None);
        for inst in self.walk() {
            let data = &self.insts[inst];
            let slot = if let Op::RingSlot { buffer, .. } = data.op { Some(buffer) } else { None };
            if let (Some(x), &[alias]) = (slot.or(self.aliased(data).map(|(x, _)| x)), &data.results[..]) {
                buffers[alias] = Some(buffers[x].unwrap_or(x));
            }
        }
        buffers
    }

    /// Bytes of a buffer with all of its slots.
    pub fn buffer_bytes(&self, buffer: Value) -> u64 {
        self.mem(buffer).map_or(0, Mem::bytes) * u64::from(self.slots(buffer))
    }

    /// Which threads fill a buffer of a ring.
    pub fn fill_layout(&self, buffer: Value) -> Option<LayoutId> {
        let (ring, at) = self.ring_of(buffer)?;
        Some(self.rings[ring].buffers[at].layout)
    }

    /// Which threads make an instruction's access to global memory, unless it is to scalars.
    pub fn access_layout(&self, data: &super::InstData) -> Option<LayoutId> {
        if let Op::RingFill { buffer, .. } = data.op {
            return self.fill_layout(buffer);
        }
        data.accessed_tile().and_then(|tile| self.layout_id(tile))
    }
}
