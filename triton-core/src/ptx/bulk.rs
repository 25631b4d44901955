//! Lowering of rings that bulk copies fill: `cp.async.bulk.tensor`, one thread's work, and an mbarrier for each slot.
//!
//! A fill tells the slot's mbarrier how many bytes of the item will arrive, with the ring's first buffer, and issues a copy for each box.
//! The phase of an mbarrier ends when they have arrived. Threads wait for it by its parity. They keep the parities of a ring's slots in a
//! register, a bit each, so that a ring may be filled again and again. The barrier of the program that follows a wait ends the reads of the
//! item before; so the thread that fills its slot next comes after them. (PTX ISA, "Asynchronous data movement and conversion".)

use super::footprint::shared_memory;
use super::lower::Lower;
use super::{Address, Class, Op, Opcode, Operand, Reg, Special, Ty};
use crate::ir::{RingId, Value};
use crate::layout::Mem;
use crate::metadata::TensorMap;
use crate::ops::Location;

impl Lower<'_> {
    /// Initializes the mbarriers of all rings, behind the buffers. Returns the maps, which are parameters after the kernel's own.
    pub(super) fn begin_bulk(&mut self) -> Vec<TensorMap> {
        let (func, first) = (self.func, self.func.params.len());
        let maps = func.tensor_maps();
        for (number, &map) in maps.iter().enumerate() {
            let src = self.mov(Ty::B64, Operand::Special(Special::Param((first + number) as u32)));
            let dst = self.reg(Class::B64);
            self.emit(Op::FromParam { dst, src });
            self.bulk.maps.insert(map, dst);
        }
        let base = (!maps.is_empty()).then(|| self.mov(Ty::U32, Operand::Special(Special::Shared)));
        let Some(base) = base else { return maps };
        // A thread of the first warp.
        let first_warp = self.one_of((func.num_warps - 1) << 5);
        let elected = self.reg(Class::Pred);
        self.emit(Op::Elect { pred: elected });
        let all: Vec<Reg> = [elected].into_iter().chain(first_warp).collect();
        self.bulk.issuer = self.conjunction(&all);
        let one = Some(self.bulk.issuer);
        let mut at = shared_memory(func).0.next_multiple_of(8) as u32;
        for ring in func.rings.keys().filter(|&ring| func.rings[ring].bulk) {
            for slot in 0..func.rings[ring].slots {
                let address = Address { base, offset: (at + 8 * slot) as i32 };
                self.emit_if(one, Op::MbarrierInit { address, count: 1 });
            }
            let parities = self.mov(Ty::B32, 0);
            self.bulk.rings.insert(ring, (at, parities));
            at += func.mbarrier_bytes(ring) as u32;
        }
        self.shared = self.shared.max(at);
        self.emit_if(one, Op::FenceMbarrierInit);
        self.emit(Op::BarSync);
        maps
    }

    /// Issues the copies of an item to a slot.
    pub(super) fn bulk_fill(&mut self, buffer: Value, item: Value, from: Location, when: Value) -> Result<(), String> {
        let func = self.func;
        let missing = "a fill of a view that no bulk copy reads";
        let (ring, number) = func.ring_of(buffer).ok_or(missing)?;
        let (map, boxes) = func.bulk_fill(buffer, from).ok_or(missing)?;
        let (Location::View { at, .. }, Some(&map)) = (from, self.bulk.maps.get(&map)) else {
            return Err(missing.into());
        };
        let barrier = self.mbarrier(ring, item)?;
        let slot = self.slot(buffer, item)?;
        // An elected thread: assemblers know that it is one, and write no loop over threads with different operands around each copy.
        let issued = [self.bulk.issuer, self.regs(when)[0]];
        let issued = Some(self.conjunction(&issued));
        if number == 0 {
            let buffers = func.rings[ring].buffers.iter();
            let bytes: u64 = buffers.filter_map(|of| func.mem(of.buffer)).map(Mem::bytes).sum();
            self.emit_if(issued, Op::MbarrierExpectTx { address: barrier, bytes: bytes as u32 });
        }
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let base = self.arith(Opcode::Add, Ty::S32, &[base.into(), slot.into()]);
        let first = self.buffers.get(&buffer).copied().ok_or("a fill of no buffer")?;
        let panel = boxes.extent[1] * boxes.swizzle.bytes();
        // A map's coordinates begin with the contiguous axis.
        let indices: Vec<Reg> = at.as_slice().iter().rev().map(|&v| self.regs(v)[0]).collect();
        let (&column, rest) = indices.split_first().ok_or(missing)?;
        for number in 0..boxes.boxes {
            let dst = Address { base, offset: (first + number * panel) as i32 };
            let along = match i64::from(number * boxes.extent[0]) {
                0 => column,
                further => self.arith(Opcode::Add, Ty::S32, &[column.into(), further.into()]),
            };
            let coordinates = [along].into_iter().chain(rest.iter().copied()).collect();
            self.emit_if(issued, Op::BulkLoad { dst, map, coordinates, barrier });
        }
        Ok(())
    }

    /// Waits until an item has arrived.
    pub(super) fn bulk_wait(&mut self, ring: RingId, item: Value) -> Result<(), String> {
        let address = self.mbarrier(ring, item)?;
        let (_, parities) = self.bulk.rings.get(&ring).copied().ok_or("a wait for no ring")?;
        let number = self.slot_of(item, self.func.rings[ring].slots);
        let parity = self.arith(Opcode::Shr, Ty::U32, &[parities.into(), number.into()]);
        let parity = self.arith(Opcode::And, Ty::B32, &[parity.into(), 1.into()]);
        let (again, pred) = (self.label(), self.reg(Class::Pred));
        self.emit(Op::Label { label: again });
        self.emit(Op::MbarrierTryWait { pred, address, parity });
        self.emit(Op::Bra { label: again, pred: Some(pred), unless: true, uniform: false });
        let one = self.mov(Ty::B32, 1);
        let bit = self.arith(Opcode::Shl, Ty::B32, &[one.into(), number.into()]);
        let srcs = super::Operands::new(&[parities.into(), bit.into()]);
        self.emit(Op::Arith { op: Opcode::Xor, ty: Ty::B32, dst: parities, srcs });
        Ok(())
    }

    /// The mbarrier of an item's slot.
    fn mbarrier(&mut self, ring: RingId, item: Value) -> Result<Address, String> {
        let (at, _) = self.bulk.rings.get(&ring).copied().ok_or("an mbarrier of no ring")?;
        let number = self.slot_of(item, self.func.rings[ring].slots);
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let base = self.arith(Opcode::MadLo, Ty::S32, &[number.into(), 8.into(), base.into()]);
        Ok(Address { base, offset: at as i32 })
    }
}
