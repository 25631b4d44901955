//! Rings: buffers in shared memory of several slots each, which are filled ahead of what reads them.
//!
//! Everything counts *items*: item `i` is what a turn of a loop reads, and is in slot `i mod slots` of every buffer. How many copies are
//! in flight, and what waits for which, is for code to say: `ring.fill`, `ring.wait` and `ring.release` name the item alone.

use super::{Function, Inst, LayoutId, Value};
use crate::entity::SideTable;
use crate::layout::hopper::{self, TmaBox, WarpBoxes};
use crate::layout::{Layout, Mem, Swizzle};
use crate::metadata::{MAX_RANK, MapElements, MapSwizzle, TensorMap};
use crate::ops::{Agent, Location, Memory, Op, RingOp, RingStep, Values};
use crate::types::{DType, RingId};
use std::fmt;

/// Warps that run a product by `wgmma` together.
pub const WARPGROUP: u32 = 4;

/// A ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Slots of each buffer.
    pub slots: u32,
    /// What fills it.
    pub fill: Fill,
    /// The buffers, in the order in which they are filled.
    pub buffers: Vec<RingBuffer>,
}

/// What fills the slots of a ring, and so what waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Threads store an item to its slot, and nothing waits for it but barriers.
    Stored,
    /// The same of a result, which bulk copies take to global memory.
    Drained,
    /// All threads, by `cp.async`. They wait for the oldest of the items in flight, whichever is named.
    CpAsync {
        /// How many items, of this ring and of rings that are filled after it, are filled when the first one is waited for, and from then
        /// on before each wait.
        lead: u32,
    },
    /// One thread, by bulk copies of boxes of views. The mbarrier of its slot says that an item is there; another one tells a
    /// [producer](Function::producer) that it is released.
    Bulk,
}

impl Fill {
    /// Whether bulk copies do it.
    pub fn is_bulk(self) -> bool {
        self == Fill::Bulk
    }

    /// Reads the words that it is printed as; `None` if they are of none.
    pub(super) fn of_words(words: &[&str]) -> Option<Fill> {
        match *words {
            ["lead", lead] => Some(Fill::CpAsync { lead: lead.parse().ok()? }),
            [word] => [Fill::Stored, Fill::Drained, Fill::Bulk].into_iter().find(|fill| fill.to_string() == word),
            _ => None,
        }
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Stored => f.write_str("stored"),
            Fill::Drained => f.write_str("drained"),
            Fill::CpAsync { lead } => write!(f, "lead {lead}"),
            Fill::Bulk => f.write_str("bulk"),
        }
    }
}

/// A buffer of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingBuffer {
    /// The buffer: of a slot, the type and the layout of memory are those of the buffer.
    pub buffer: Value,
    /// Which threads copy which elements.
    pub layout: LayoutId,
    /// Whether elements, of `f32`, are rounded to tf32 as they are copied. Bulk copies do that.
    pub tf32: bool,
    /// The bits of an element that is out of bounds. Bulk copies have 0 there; of other copies, none may be partly out
    /// of bounds if it is not 0.
    pub padding: u64,
    /// Whether the blocks of a cluster have the same in it: each copies its part of an item to all of them.
    pub shared: bool,
}

/// What an mbarrier of a slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mbarrier {
    /// That an item has arrived.
    Full,
    /// That the block has released it.
    Empty,
    /// That the other blocks of the cluster have, too.
    Free,
}

/// An item: a value, or 0, and a compile-time constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The value.
    pub base: Option<Value>,
    /// Items after it.
    pub offset: i128,
}

impl Item {
    /// Whether it is certain that it comes before item 0.
    pub fn is_before_all(self) -> bool {
        self.base.is_none() && self.offset < 0
    }
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
            let slot = if let Some(RingStep::Slot(buffer, _)) = data.op.ring_step() { Some(buffer) } else { None };
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

    /// Which threads make an instruction's access to global memory, unless it is to scalars or a bulk copy.
    pub fn access_layout(&self, data: &super::InstData) -> Option<LayoutId> {
        if let Some(RingStep::Fill(buffer, _)) = data.op.ring_step() {
            return self.fill_layout(buffer).filter(|_| !self.is_bulk(buffer));
        }
        data.accessed_tile().and_then(|tile| self.layout_id(tile))
    }
    /// The tensor map by which bulk copies of a number of blocks fill a buffer from a view, and the boxes of each
    /// block; `None` if they cannot.
    ///
    /// They can if the tile is a matrix that lies in panels of swizzled rows along the view's last axis, and is at an
    /// `i32` index along each axis.
    pub fn bulk_copy(&self, buffer: Value, tf32: bool, blocks: u32, from: Location) -> Option<(TensorMap, TmaBox)> {
        let Location::View { base, at, .. } = from else { return None };
        let boxes = hopper::tma_box(self.mem(buffer)?, self.ty(buffer).shape).filter(|boxes| boxes.major == 1)?;
        let boxes = boxes.part(blocks)?;
        let elements = if tf32 { MapElements::Tf32 } else { MapElements::Bits };
        Some((self.tensor_map(base, at, boxes, elements)?, boxes))
    }

    /// The tensor map by which warps drain a buffer of a ring of results that has a panel of a tile at a time to a view, and the boxes of each;
    /// `None` if they cannot.
    pub fn bulk_drain(&self, buffer: Value, to: Location) -> Option<(TensorMap, WarpBoxes)> {
        self.ring_of(buffer).filter(|&(ring, _)| self.is_of_results(ring))?;
        let Location::View { base, at, shape } = to else { return None };
        let ty = self.ty(buffer);
        let boxes = WarpBoxes::of(&self.layouts[self.fill_layout(buffer)?], self.mem(buffer)?, ty.shape)?;
        let [across, _] = boxes.of.extent;
        let rows = ty.shape.base().elements() as u32 / ty.shape.base().dims().last()?;
        let is_panel = shape.dims().iter().rev().take(2).eq(&[across, rows]);
        let map = self.tensor_map(base, at, boxes.of, MapElements::Bits).filter(|_| is_panel)?;
        Some((map, boxes))
    }

    /// By which threads a slot of a ring is read that warps drain: each warp reads what it has stored.
    pub fn drained_by(&self, of: RingBuffer) -> Layout {
        let Layout { reg, lane, warp } = self.layouts[of.layout].clone();
        Layout { reg: reg.into_iter().chain(lane).collect(), lane: [0; 5], warp }
    }

    /// The tensor map for boxes of a view at these indices.
    fn tensor_map(&self, base: Value, at: Values, boxes: TmaBox, elements: MapElements) -> Option<TensorMap> {
        let [across, rows] = boxes.extent;
        let is_index = |&v: &Value| self.ty(v).elem.num() == Some(DType::I32);
        if rows > hopper::BOX || !at.as_slice().iter().all(is_index) {
            return None;
        }
        let swizzle = match boxes.swizzle {
            Swizzle::B32 => MapSwizzle::B32,
            Swizzle::B64 => MapSwizzle::B64,
            Swizzle::B128 => MapSwizzle::B128,
        };
        let mut extents = [1; MAX_RANK];
        extents[..at.as_slice().len()].last_chunk_mut::<2>()?.copy_from_slice(&[rows, across]);
        Some(TensorMap::new(self.user_param(base)?, extents, swizzle, elements))
    }

    /// The number of the parameter, as the user counts them, that arrives in this one and those after it.
    fn user_param(&self, first: Value) -> Option<u32> {
        let (mut number, mut words) = (0, self.params.iter());
        while let Some(param) = words.next() {
            if param.value == first {
                return Some(number);
            }
            // An address is followed by extents and strides.
            let view = self.views.iter().find(|view| view.base == param.value);
            view.into_iter().flat_map(|view| view.extents.iter().chain(&view.strides)).for_each(|_| _ = words.next());
            number += 1;
        }
        None
    }

    /// The tensor maps that code takes, in order.
    pub fn tensor_maps(&self) -> Vec<TensorMap> {
        let mut maps = Vec::new();
        for of in self.walk().into_iter().filter_map(|inst| self.insts[inst].op.ring()) {
            maps.extend(self.bulk_map(of).filter(|map| !maps.contains(map)));
        }
        maps
    }

    /// The tensor map by which bulk copies do what an operation of a ring does; `None` if they cannot, or if threads do it.
    pub fn bulk_map(&self, of: RingOp) -> Option<TensorMap> {
        let (at, _) = of.global?;
        match of.step {
            RingStep::Fill(buffer, _) => self.bulk_fill(buffer, at).map(|(map, _)| map),
            RingStep::Drain(buffer, _) => self.bulk_drain(buffer, at).map(|(map, _)| map),
            RingStep::Wait(..) | RingStep::Slot(..) | RingStep::Release(..) => None,
        }
    }

    /// The tensor map and the boxes of a fill of a ring's buffer; `None` if threads fill it.
    pub fn bulk_fill(&self, buffer: Value, from: Location) -> Option<(TensorMap, TmaBox)> {
        let (ring, at) = self.ring_of(buffer).filter(|&(ring, _)| self.rings[ring].fill.is_bulk())?;
        let of = self.rings[ring].buffers[at];
        self.bulk_copy(buffer, of.tf32, if of.shared { self.peers } else { 1 }, from)
    }

    /// Whether a ring is one of results: bulk copies take what is in it to global memory.
    pub fn is_of_results(&self, ring: RingId) -> bool {
        self.rings[ring].fill == Fill::Drained
    }

    /// Whether threads store what is in a ring.
    pub fn is_stored(&self, ring: RingId) -> bool {
        matches!(self.rings[ring].fill, Fill::Stored | Fill::Drained)
    }

    /// Whether a buffer belongs to a ring that bulk copies fill.
    pub fn is_bulk(&self, buffer: Value) -> bool {
        self.ring_of(buffer).is_some_and(|(ring, _)| self.rings[ring].fill.is_bulk())
    }

    /// Whether the blocks of a cluster fill a ring together: an item of it when the slot is free in all of them.
    pub fn is_shared(&self, ring: RingId) -> bool {
        self.rings[ring].buffers.iter().any(|of| of.shared)
    }

    /// For how many warps one thread says to a producer that a slot of a ring is empty: for a warpgroup where products alone read it, which
    /// are done for each of its warps when they are for all (PTX ISA, "wgmma.mma_async"). `None` without a producer: one of the threads that
    /// read fills the slot, and a barrier orders the others, or its own wait for the product of the one warpgroup that there is.
    pub fn warps_of_release(&self, ring: RingId) -> Option<u32> {
        self.producer?;
        let buffers = self.buffer_of();
        let of_ring = |v: Value| self.ring_of(buffers[v].unwrap_or(v)).is_some_and(|(of, _)| of == ring);
        let by_threads = |inst: Inst| {
            let data = &self.insts[inst];
            let accessed = data.op.access().and_then(|access| match access.memory {
                Memory::Shared(buffer) => Some(buffer),
                Memory::Global(_) => None,
            });
            data.op.agent() == Agent::Threads && accessed.is_some_and(of_ring)
        };
        Some(if self.walk().into_iter().any(by_threads) { 1 } else { WARPGROUP })
    }

    /// The mbarriers of each slot of a ring, and how many threads arrive at them in a phase.
    pub fn mbarriers(&self, ring: RingId) -> Vec<(Mbarrier, u32)> {
        if !self.rings[ring].fill.is_bulk() {
            return Vec::new();
        }
        let mut mbarriers = vec![(Mbarrier::Full, 1)];
        mbarriers.extend(self.warps_of_release(ring).map(|warps| (Mbarrier::Empty, self.num_warps / warps)));
        mbarriers.extend(self.is_shared(ring).then_some((Mbarrier::Free, self.peers - 1)));
        mbarriers
    }

    /// Bytes of the mbarriers of a ring's slots.
    pub fn mbarrier_bytes(&self, ring: RingId) -> u64 {
        8 * self.mbarriers(ring).len() as u64 * u64::from(self.rings[ring].slots)
    }
}
