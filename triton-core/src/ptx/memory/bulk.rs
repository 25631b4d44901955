//! Lowering of rings that bulk copies fill: `cp.async.bulk.tensor`, one thread's work, and an mbarrier for each slot.
//!
//! Each slot has an mbarrier, *full*. A fill tells it how many bytes of the item will arrive, with the ring's first buffer, and issues a copy
//! for each box. Its phase ends when they have arrived. Threads wait for it by its parity. They keep the parities of a ring's slots in a
//! register, a bit each, so that a ring may be filled again and again; where teams take turns, parities follow from the numbers of items. For
//! a [producer](crate::ir::Function::producer) a slot has a second one, *empty*: one thread of each warpgroup arrives where the item is
//! released, or of each warp if threads read the slot, and the producer waits for that phase before it fills the slot again. Without a
//! producer one of the threads that read fills, and a barrier of the program ends the reads of the others, or its own wait for the product of
//! the one warpgroup that there is. (PTX ISA, "Asynchronous data movement and conversion"; CUTLASS calls it an asynchronous pipeline.)
//!
//! Where the blocks of a cluster [fill a ring together](crate::ir::Function::is_shared), a slot has another one, *free*,
//! at which the other blocks arrive when it is empty there. The thread that is to fill it arrives at theirs, and waits
//! for its own: relaxed, between fences for shared memory alone, so that nothing waits for global memory. A block ends
//! after all items have arrived that others copy to it, so that nothing of the cluster is to be waited for at the end.

use crate::ir::{Mbarrier, RingId, Value};
use crate::layout::{LANES, Mem, hopper};
use crate::metadata::TensorMap;
use crate::ops::Location;
use crate::ptx::lower::Lower;
use crate::ptx::lower::bulk_state::RingState;
use crate::ptx::text::footprint::shared_memory;
use crate::ptx::{Address, Class, Cmp, Op, Opcode, Operand, Reg, Special, Ty};

impl Lower<'_> {
    /// Initializes the mbarriers of all rings, behind the buffers. Returns the maps, which are parameters after the kernel's own.
    pub(crate) fn begin_bulk(&mut self) -> Vec<TensorMap> {
        let (func, first) = (self.func, self.func.params.len());
        let maps = func.tensor_maps();
        for (number, &map) in maps.iter().enumerate() {
            let src = self.mov(Ty::B64, Operand::Special(Special::Param((first + number) as u32)));
            let dst = self.reg(Class::B64);
            self.emit(Op::FromParam { dst, src });
            self.bulk.put_map(map, dst);
        }
        let base = (!maps.is_empty()).then(|| self.mov(Ty::U32, Operand::Special(Special::Shared)));
        let Some(base) = base else { return maps };
        // A thread of the first warp.
        let first_warp = self.in_first_warp();
        let elected = self.reg(Class::Pred);
        self.emit(Op::Elect { pred: elected });
        let all: Vec<Reg> = [elected].into_iter().chain(first_warp).collect();
        let issuer = self.conjunction(&all);
        self.bulk.set_issuer(if func.producer.is_some() { elected } else { issuer });
        self.bulk.set_drainer(elected);
        self.bulk.set_drains(func.rings.keys().any(|ring| func.is_of_results(ring)));
        let one = Some(issuer);
        let mut at = shared_memory(func).0.next_multiple_of(8) as u32;
        for ring in func.rings.keys().filter(|&ring| func.rings[ring].fill.is_bulk()) {
            let (mbarriers, first) = (func.mbarriers(ring), at);
            for &(_, count) in &mbarriers {
                for _ in 0..func.rings[ring].slots {
                    self.emit_if(one, Op::MbarrierInit { address: Address { base, offset: at as i32 }, count });
                    at += 8;
                }
            }
            let parities = self.mov(Ty::B32, 0);
            self.bulk.put_ring(ring, RingState { first, mbarriers, parities, warps: func.warps_of_release(ring) });
        }
        self.buffers.reach(at);
        self.emit_if(one, Op::FenceMbarrierInit);
        // The block's own mbarriers. That of the cluster orders them as well, but race detectors do not take it to.
        self.emit(Op::BarSync { threads: None });
        if func.peers > 1 {
            self.emit(Op::ClusterArrive);
            self.bulk.arrive();
        }
        maps
    }

    /// Holds in the first warp of the block; `None` if there is no other.
    fn in_first_warp(&mut self) -> Option<Reg> {
        let warps = self.func.block_threads() / 32;
        let bits = (warps.next_power_of_two() - 1) << 5;
        if self.func.teams == 1 {
            return self.one_of(bits);
        }
        Some(self.at_entry(|cx| {
            let thread = cx.thread_of_block();
            let warp = cx.arith(Opcode::And, Ty::B32, &[thread.into(), i64::from(bits).into()]);
            cx.setp(Cmp::Eq, Ty::U32, warp, 0)
        }))
    }

    /// Arrives where an item is released, in one thread of those that have nothing left to read in its slot.
    pub(crate) fn bulk_release(&mut self, ring: RingId, item: Value, first: Option<Value>) -> Result<(), String> {
        let Some(warps) = self.bulk.ring(ring)?.warps else { return Ok(()) };
        let address = self.mbarrier(ring, item, Mbarrier::Empty)?;
        // Before the first item there is none.
        let exists = match (self.analyses.facts[item].constant, first) {
            (Some(item), None) if item >= 0 => None,
            (_, None) => Some(self.setp(Cmp::Ge, Ty::S32, self.regs(item)[0], 0)),
            (_, Some(first)) => Some(self.setp(Cmp::Ge, Ty::S32, self.regs(item)[0], self.regs(first)[0])),
        };
        let arrives: Vec<Reg> = self.one_of(warps * LANES as u32 - 1).into_iter().chain(exists).collect();
        let arrives = self.conjunction(&arrives);
        self.emit_if(Some(arrives), Op::MbarrierArrive { address });
        Ok(())
    }

    /// Waits until the slot of an item is empty, in the thread that is to fill it: in all blocks of the cluster where they fill it together.
    fn wait_until_empty(&mut self, ring: RingId, item: Value, issued: Option<Reg>) -> Result<(), String> {
        let (slots, among_warps) = (self.func.rings[ring].slots, self.bulk.ring(ring)?.warps.is_some());
        if !among_warps && !self.func.is_shared(ring) {
            return Ok(());
        }
        // The first items find their slots empty.
        if self.analyses.facts[item].constant.is_some_and(|item| item < slots.into()) {
            return Ok(());
        }
        let number = self.regs(item)[0];
        let round = self.round_of(number, slots);
        let used = self.setp(Cmp::Ge, Ty::U32, round, 1);
        let waits: Vec<Reg> = issued.into_iter().chain([used]).collect();
        let (empty, pred) = (self.label(), self.conjunction(&waits));
        self.emit(Op::Bra { label: empty, pred: Some(pred), unless: true, uniform: false });
        // It has been empty as often as it was filled but once.
        let before = self.arith(Opcode::Add, Ty::S32, &[round.into(), (-1).into()]);
        let parity = self.arith(Opcode::And, Ty::B32, &[before.into(), 1.into()]);
        if among_warps {
            let address = self.mbarrier(ring, item, Mbarrier::Empty)?;
            self.wait_for_phase(address, parity, false);
        }
        if self.func.is_shared(ring) {
            self.emit(Op::FenceRelease);
            let address = self.mbarrier(ring, item, Mbarrier::Free)?;
            let rank = self.cluster_rank();
            for other in 1..self.func.peers {
                let rank = self.arith(Opcode::Xor, Ty::B32, &[rank.into(), i64::from(other).into()]);
                let base = self.reg(Class::B32);
                self.emit(Op::Mapa { dst: base, src: address.base, rank: rank.into() });
                self.emit(Op::MbarrierArriveRelaxed { address: Address { base, ..address } });
            }
            self.wait_for_phase(address, parity, true);
            self.emit(Op::FenceMessages);
        }
        self.emit(Op::Label { label: empty });
        // The copies are one instruction of the warp, and only one of its lanes has waited. Without this, code of a producer of 32 threads
        // stopped with an illegal instruction at an mbarrier on an H100.
        if issued.is_some() {
            self.emit(Op::BarWarpSync);
        }
        Ok(())
    }

    /// Issues the copies of an item to a slot.
    pub(crate) fn bulk_fill(&mut self, buffer: Value, item: Value, from: Location, when: Value) -> Result<(), String> {
        let func = self.func;
        let missing = "a fill of a view that no bulk copy reads";
        let (ring, number) = func.ring_of(buffer).ok_or(missing)?;
        let (map, boxes) = func.bulk_fill(buffer, from).ok_or(missing)?;
        let (Location::View { at, .. }, Some(map)) = (from, self.bulk.map(map)) else {
            return Err(missing.into());
        };
        let barrier = self.mbarrier(ring, item, Mbarrier::Full)?;
        let slot = self.slot(buffer, item)?;
        // An elected thread: assemblers know that it is one, and write no loop over threads with different operands around each copy. A
        // producer is that thread alone.
        let always = self.analyses.facts[when].constant == Some(1);
        let issuer = func.producer.is_none().then(|| self.bulk.issuer());
        let issued: Vec<Reg> = issuer.into_iter().chain((!always).then(|| self.regs(when)[0])).collect();
        let issued = if issued.is_empty() { None } else { Some(self.conjunction(&issued)) };
        if number == 0 {
            self.wait_until_empty(ring, item, issued)?;
            let buffers = func.rings[ring].buffers.iter();
            let bytes: u64 = buffers.filter_map(|of| func.mem(of.buffer)).map(Mem::bytes).sum();
            self.emit_if(issued, Op::MbarrierExpectTx { address: barrier, bytes: bytes as u32 });
        }
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let base = self.arith(Opcode::Add, Ty::S32, &[base.into(), slot.into()]);
        let first = self.buffers.place(buffer).ok_or("a fill of no buffer")?.at;
        let whole = func.mem(buffer).and_then(|mem| hopper::tma_box(mem, func.ty(buffer).shape)).ok_or(missing)?;
        let panel = whole.extent[1] * boxes.swizzle.bytes();
        // A map's coordinates begin with the contiguous axis.
        let mut indices: Vec<Reg> = at.as_slice().iter().rev().map(|&v| self.regs(v)[0]).collect();
        let multicast = func.rings[ring].buffers[number].shared.then_some(func.peers);
        let mut base = base;
        if multicast.is_some() {
            // What is a block's own is on its way while it waits for the mbarriers of others, before the loop.
            if self.bulk.meet() {
                self.emit(Op::ClusterWait);
            }
            // This block's part: boxes, or rows of one.
            let (axis, further, bytes) = if boxes.boxes < whole.boxes {
                (0, boxes.boxes * boxes.extent[0], boxes.boxes * panel)
            } else {
                (1, boxes.extent[1], boxes.extent[1] * boxes.swizzle.bytes())
            };
            let rank = self.cluster_rank();
            let index = indices.get_mut(axis).ok_or(missing)?;
            *index = self.arith(Opcode::MadLo, Ty::S32, &[rank.into(), i64::from(further).into(), (*index).into()]);
            base = self.arith(Opcode::MadLo, Ty::S32, &[rank.into(), i64::from(bytes).into(), base.into()]);
        }
        let (&column, rest) = indices.split_first().ok_or(missing)?;
        for number in 0..boxes.boxes {
            let dst = Address { base, offset: (first + number * panel) as i32 };
            let along = match i64::from(number * boxes.extent[0]) {
                0 => column,
                further => self.arith(Opcode::Add, Ty::S32, &[column.into(), further.into()]),
            };
            let coordinates = [along].into_iter().chain(rest.iter().copied()).collect();
            self.emit_if(issued, Op::BulkLoad { dst, map, coordinates, barrier, multicast });
        }
        Ok(())
    }

    /// Begins to copy a slot to global memory, in a thread of each warp. Each item is a group of copies.
    pub(crate) fn bulk_drain(&mut self, buffer: Value, item: Value, to: Location) -> Result<(), String> {
        let missing = "a drain to a view that no bulk copy writes";
        let (map, boxes) = self.func.bulk_drain(buffer, to).ok_or(missing)?;
        let (Location::View { at, .. }, Some(map)) = (to, self.bulk.map(map)) else { return Err(missing.into()) };
        let (slot, place) = (self.slot(buffer, item)?, self.buffers.place(buffer).ok_or(missing)?);
        // The rows of a warp.
        let bytes = boxes.of.swizzle.bytes();
        let columns: Vec<u32> = [0; 5].into_iter().chain(boxes.warp.iter().map(|row| row * bytes)).collect();
        let (base, warp) = self.shared_thread(&columns);
        let base = warp.map_or(base, |(_, address)| address);
        let base = self.arith(Opcode::Add, Ty::S32, &[base.into(), slot.into()]);
        let mut indices: Vec<Reg> = at.as_slice().iter().rev().map(|&v| self.regs(v)[0]).collect();
        let first = indices.get_mut(1).ok_or(missing)?;
        if let Some((offset, _)) = warp {
            let row = self.arith(Opcode::Shr, Ty::U32, &[offset.into(), i64::from(bytes.ilog2()).into()]);
            *first = self.arith(Opcode::Add, Ty::S32, &[(*first).into(), row.into()]);
        }
        let (first, one) = (*first, Some(self.bulk.drainer()));
        for row in boxes.rows {
            let mut coordinates = indices.clone();
            if row > 0 {
                coordinates[1] = self.arith(Opcode::Add, Ty::S32, &[first.into(), i64::from(row).into()]);
            }
            let src = Address { base, offset: (place.at + row * bytes) as i32 };
            self.emit_if(one, Op::BulkStore { src, map, coordinates });
        }
        // A group of no copies, in the other threads, is none to wait for: without a predicate there is no branch.
        self.emit(Op::BulkCommit);
        Ok(())
    }

    /// Waits, in the threads that copy to global memory, until an item has been read: all but those that threads have stored since.
    pub(crate) fn drained(&mut self, ring: RingId, item: Value) {
        // Before the first item there is none.
        if self.analyses.facts[item].constant.is_none_or(|item| item >= 0) {
            let groups = self.func.rings[ring].slots / self.func.teams - 1;
            self.emit(Op::BulkWaitRead { groups });
        }
    }

    /// Shared memory is there until all copies have read it.
    pub(crate) fn end_drains(&mut self) {
        if self.bulk.drains() {
            self.emit(Op::BulkWaitRead { groups: 0 });
        }
    }

    /// Waits until an item has arrived.
    pub(crate) fn bulk_wait(&mut self, ring: RingId, item: Value) -> Result<(), String> {
        let address = self.mbarrier(ring, item, Mbarrier::Full)?;
        let slots = self.func.rings[ring].slots;
        // A team does not wait for each item.
        if self.func.teams > 1 {
            let round = self.round_of(self.regs(item)[0], slots);
            let parity = self.arith(Opcode::And, Ty::B32, &[round.into(), 1.into()]);
            self.wait_for_phase(address, parity, false);
            return Ok(());
        }
        let parities = self.bulk.ring(ring)?.parities;
        let number = self.slot_of(item, slots);
        let parity = self.arith(Opcode::Shr, Ty::U32, &[parities.into(), number.into()]);
        let parity = self.arith(Opcode::And, Ty::B32, &[parity.into(), 1.into()]);
        self.wait_for_phase(address, parity, false);
        let one = self.mov(Ty::B32, 1);
        let bit = self.arith(Opcode::Shl, Ty::B32, &[one.into(), number.into()]);
        let srcs = crate::ptx::Operands::new(&[parities.into(), bit.into()]);
        self.emit(Op::Arith { op: Opcode::Xor, ty: Ty::B32, dst: parities, srcs });
        Ok(())
    }

    /// Waits until the phase of an mbarrier with this parity has ended.
    pub(crate) fn wait_for_phase(&mut self, address: Address, parity: Reg, of_cluster: bool) {
        let (again, pred) = (self.label(), self.reg(Class::Pred));
        self.emit(Op::Label { label: again });
        self.emit(Op::MbarrierTryWait { pred, address, parity, of_cluster });
        self.emit(Op::Bra { label: again, pred: Some(pred), unless: true, uniform: false });
    }

    /// An mbarrier of an item's slot.
    fn mbarrier(&mut self, ring: RingId, item: Value, mbarrier: Mbarrier) -> Result<Address, String> {
        let (slots, state) = (self.func.rings[ring].slots, self.bulk.ring(ring)?);
        let kind = state.mbarriers.iter().position(|&(of, _)| of == mbarrier).ok_or("an mbarrier that no slot has")?;
        let offset = (state.first + 8 * kind as u32 * slots) as i32;
        let number = self.slot_of(item, slots);
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let base = self.arith(Opcode::MadLo, Ty::S32, &[number.into(), 8.into(), base.into()]);
        Ok(Address { base, offset })
    }
}
