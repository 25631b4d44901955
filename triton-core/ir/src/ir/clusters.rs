//! Exchanges between the blocks of a cluster: the layouts of what is sent and received, at stage 1 those of registers, at stage 2 those of
//! the buffers that receive messages.

use super::{Function, InstData, Value};
use crate::layout::linear::Basis;
use crate::layout::{Layout, Mem};
use crate::ops::Op;
use crate::ops::cluster::Exchange;
use crate::types::Shape;

impl Exchange {
    /// The shape of a block's part of a tile; `None` if the tile has no such axis.
    fn part_shape(&self, tile: Shape, axis: u32) -> Option<Shape> {
        if self.receiver_bits() == 0 {
            return Some(tile);
        }
        let mut dims = tile.dims().to_vec();
        *dims.get_mut(axis as usize)? /= self.blocks;
        Shape::new(&dims)
    }

    /// The layout of a block's part of a tile in this layout; `None` if threads hold elements for different blocks.
    pub fn part_layout(&self, layout: &Layout, tile: Shape, axis: u32) -> Option<Layout> {
        let bits = self.receiver_bits();
        if bits == 0 {
            return Some(layout.clone());
        }
        let alone = layout.reg.iter().all(|c| c & bits == 0 || c.is_power_of_two())
            && layout.lane.iter().chain(&layout.warp).all(|c| c & bits == 0);
        let extent = *tile.dims().get(axis as usize)?;
        alone.then(|| layout.fold_axis(tile, axis as usize, extent - extent / self.blocks)).flatten()
    }

    /// A layout of a tile in which each thread has the same elements of all blocks' parts; `None` where blocks receive the whole tile.
    pub fn tile_layout(&self, tile: Shape, axis: u32, num_warps: u32) -> Option<Layout> {
        let bits = self.receiver_bits();
        let part = self.part_shape(tile, axis).filter(|_| bits != 0)?;
        let order: Vec<usize> = (0..part.rank()).rev().collect();
        let layout = Layout::blocked(part, &order, [1, 1], num_warps, &order);
        let low = (bits & bits.wrapping_neg()) - 1;
        let mut layout = layout.map(|c| c & low | (c & !low) << self.blocks.ilog2());
        layout.reg.extend((0..self.blocks.ilog2()).map(|bit| (low + 1) << bit));
        Some(layout)
    }

    /// The layout of what is received: a thread has what all blocks sent for each element of the part that it has.
    pub fn result_layout(&self, layout: &Layout, tile: Shape, axis: u32) -> Option<Layout> {
        let part = self.part_layout(layout, tile, axis)?;
        part.insert_axis(self.part_shape(tile, axis)?, axis as usize, self.blocks)
    }

    /// Memory for what is received of tiles whose parts have this layout: vectors of a thread are neighbours, then what the other threads
    /// have, so that neighbouring threads write neighbouring vectors; block after block.
    pub fn memory(&self, part: &Layout, bits: u32) -> Option<Mem> {
        let most = (16 * 8 / bits.max(8)).ilog2() as usize;
        let (vector, rest) = part.reg.split_at(part.reg.len().min(most));
        let mut off = Vec::new();
        let mut basis = Basis::default();
        for &column in vector.iter().chain(&part.lane).chain(&part.warp).chain(rest) {
            if basis.add(column) {
                off.push(self.received(column, 0));
            }
        }
        off.extend((0..self.blocks.ilog2()).map(|bit| self.received(0, 1 << bit)));
        Mem::new(off, bits)
    }

    /// Where a block's part is in such memory; `None` if parts are not one after the other there.
    pub fn part_memory(&self, mem: &Mem) -> Option<Mem> {
        let bits = self.blocks.ilog2() as usize;
        let (of_part, of_block) = mem.off().split_at_checked(mem.off().len().checked_sub(bits)?)?;
        let apart = of_block.iter().enumerate().all(|(bit, &column)| column == self.received(0, 1 << bit));
        let own: Option<Vec<u32>> =
            of_part.iter().map(|&c| Some(self.sent(c)).filter(|s| s.1 == 0).map(|s| s.0)).collect();
        Mem::new(own.filter(|_| apart)?, mem.bits())
    }
}

impl Function {
    /// Blocks of a cluster: those that run a program, or those of multicast peers.
    pub fn blocks_of_cluster(&self) -> u32 {
        self.cluster * self.peers
    }

    /// The exchange that an instruction makes, and its axis.
    pub fn exchange(&self, data: &InstData) -> Option<(Exchange, u32)> {
        let (tile, result, axis) = if let Op::ClusterSend { buffer, value, axis } = data.op {
            (value, buffer, axis)
        } else if let Op::ClusterGather { x, axis, .. } | Op::ClusterScatter { x, axis, .. } = data.op {
            (x, *data.results.first()?, axis)
        } else {
            return None;
        };
        Some((Exchange::of(self.ty(tile).shape, self.ty(result).shape, axis)?, axis))
    }

    /// The buffers that receive messages, in the order in which these are sent: each has an mbarrier.
    pub fn mailboxes(&self) -> Vec<Value> {
        let buffer =
            |(_, data): (_, &InstData)| if let Op::ClusterSend { buffer, .. } = data.op { Some(buffer) } else { None };
        self.block(self.body).filter_map(buffer).collect()
    }

    /// Bytes of all mbarriers: of the slots of rings, then of the buffers that receive messages.
    pub fn all_mbarrier_bytes(&self) -> u64 {
        self.rings.keys().map(|ring| self.mbarrier_bytes(ring)).sum::<u64>() + 8 * self.mailboxes().len() as u64
    }
}
