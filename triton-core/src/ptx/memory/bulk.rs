//! Lowering of rings that bulk copies fill: `cp.async.bulk.tensor`, one thread's work, and an mbarrier for each slot.
//!
//! A fill tells the slot's mbarrier how many bytes of the item will arrive, with the ring's first buffer, and issues a copy for each box.
//! The phase of an mbarrier ends when they have arrived. Threads wait for it by its parity. They keep the parities of a ring's slots in a
//! register, a bit each, so that a ring may be filled again and again. The barrier of the program that follows a wait ends the reads of the
//! item before; so the thread that fills its slot next comes after them. (PTX ISA, "Asynchronous data movement and conversion".)
//!
//! Where the blocks of a cluster [fill a ring together](crate::ir::Function::is_shared), a slot has another mbarrier,
//! at which the other blocks arrive when it is free there. The thread that is to fill it arrives at theirs, and waits
//! for its own: relaxed, between fences for shared memory alone, so that nothing waits for global memory. A block ends
//! after all items have arrived that others copy to it, so that nothing of the cluster is to be waited for at the end.

use crate::ir::{RingId, Value};
use crate::layout::{Mem, hopper};
use crate::metadata::TensorMap;
use crate::ops::Location;
use crate::ptx::lower::Lower;
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
        let first_warp = self.one_of((func.num_warps - 1) << 5);
        let elected = self.reg(Class::Pred);
        self.emit(Op::Elect { pred: elected });
        let all: Vec<Reg> = [elected].into_iter().chain(first_warp).collect();
        let issuer = self.conjunction(&all);
        self.bulk.set_issuer(issuer);
        let one = Some(issuer);
        let mut at = shared_memory(func).0.next_multiple_of(8) as u32;
        for ring in func.rings.keys().filter(|&ring| func.rings[ring].fill.is_bulk()) {
            for slot in 0..func.rings[ring].slots {
                let address = Address { base, offset: (at + 8 * slot) as i32 };
                self.emit_if(one, Op::MbarrierInit { address, count: 1 });
                if func.is_shared(ring) {
                    let address = Address { offset: address.offset + self.free_bytes(ring), ..address };
                    self.emit_if(one, Op::MbarrierInit { address, count: func.peers - 1 });
                }
            }
            let parities = self.mov(Ty::B32, 0);
            self.bulk.put_ring(ring, at, parities);
            at += func.mbarrier_bytes(ring) as u32;
        }
        self.buffers.reach(at);
        self.emit_if(one, Op::FenceMbarrierInit);
        // The block's own mbarriers. That of the cluster orders them as well, but race detectors do not take it to.
        self.emit(Op::BarSync);
        if func.peers > 1 {
            self.emit(Op::ClusterArrive);
            self.bulk.arrive();
        }
        maps
    }

    /// From the mbarrier of a slot of a shared ring to that which other blocks arrive at.
    fn free_bytes(&self, ring: RingId) -> i32 {
        8 * self.func.rings[ring].slots as i32
    }

    /// Waits until the slot of an item is free in all blocks of the cluster, in the thread that is to fill it there.
    fn wait_until_free(&mut self, ring: RingId, item: Value, barrier: Address, issued: Reg) {
        let (slots, blocks) = (self.func.rings[ring].slots, self.func.peers);
        // The first items find their slots free.
        if self.analyses.facts[item].constant.is_some_and(|item| item < slots.into()) {
            return;
        }
        let number = self.regs(item)[0];
        let round = self.round_of(number, slots);
        let used = self.setp(Cmp::Ge, Ty::U32, round, 1);
        let (free, pred) = (self.label(), self.conjunction(&[issued, used]));
        self.emit(Op::Bra { label: free, pred: Some(pred), unless: true, uniform: false });
        self.emit(Op::FenceRelease);
        let address = Address { offset: barrier.offset + self.free_bytes(ring), ..barrier };
        let rank = self.cluster_rank();
        for other in 1..blocks {
            let rank = self.arith(Opcode::Xor, Ty::B32, &[rank.into(), i64::from(other).into()]);
            let base = self.reg(Class::B32);
            self.emit(Op::Mapa { dst: base, src: address.base, rank: rank.into() });
            self.emit(Op::MbarrierArriveRelaxed { address: Address { base, ..address } });
        }
        // It has been free as often as it was filled but once.
        let before = self.arith(Opcode::Add, Ty::S32, &[round.into(), (-1).into()]);
        let parity = self.arith(Opcode::And, Ty::B32, &[before.into(), 1.into()]);
        self.wait_for_phase(address, parity, true);
        self.emit(Op::FenceMessages);
        self.emit(Op::Label { label: free });
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
        let barrier = self.mbarrier(ring, item)?;
        let slot = self.slot(buffer, item)?;
        // An elected thread: assemblers know that it is one, and write no loop over threads with different operands around each copy.
        let issued = [self.bulk.issuer(), self.regs(when)[0]];
        let issued = self.conjunction(&issued);
        if number == 0 && func.is_shared(ring) {
            self.wait_until_free(ring, item, barrier, issued);
        }
        let issued = Some(issued);
        if number == 0 {
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

    /// Waits until an item has arrived.
    pub(crate) fn bulk_wait(&mut self, ring: RingId, item: Value) -> Result<(), String> {
        let address = self.mbarrier(ring, item)?;
        let (_, parities) = self.bulk.ring(ring).ok_or("a wait for no ring")?;
        let number = self.slot_of(item, self.func.rings[ring].slots);
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

    /// The mbarrier of an item's slot.
    fn mbarrier(&mut self, ring: RingId, item: Value) -> Result<Address, String> {
        let (at, _) = self.bulk.ring(ring).ok_or("an mbarrier of no ring")?;
        let number = self.slot_of(item, self.func.rings[ring].slots);
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let base = self.arith(Opcode::MadLo, Ty::S32, &[number.into(), 8.into(), base.into()]);
        Ok(Address { base, offset: at as i32 })
    }
}
