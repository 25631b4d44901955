//! Lowering of rings that `cp.async` fills.
//!
//! A fill is a copy for each vector of a thread, under the fill's condition, with as many bytes as are in bounds and 0
//! for the rest, or a store where what is out of bounds is not 0; and with the last buffer of the ring a commit, under
//! no condition: so that a wait for an item is one for all groups but the newest `distance − 1`. A release is nothing:
//! the barrier that publishes a later item also ends the reads of this one.

use crate::ir::{Fill, InstData, RingId, Value};
use crate::layout::{Mem, access};
use crate::ops::{self, Location};
use crate::ptx::lower::Lower;
use crate::ptx::lower::buffers::Place;
use crate::ptx::lower::run::{Run, copies};
use crate::ptx::memory::shared::of_copies;
use crate::ptx::memory::view::Tile;
use crate::ptx::{Address, Op, Opcode, Reg, Ty};
use crate::types::Elem;

/// Where the vectors of a thread are copied to.
struct Vectors {
    elem: Elem,
    /// Elements and bytes of each.
    width: usize,
    bytes: u32,
    addresses: Vec<Address>,
    /// Holds in the threads that copy.
    issued: Reg,
}

impl Lower<'_> {
    /// The code of an operation on a ring.
    pub fn ring(&mut self, inst: &InstData) -> Result<(), String> {
        match inst.op {
            ops::Op::RingFill { buffer, item, from, when } => self.ring_fill(buffer, item, from, when),
            ops::Op::RingWait { ring, item } => self.ring_wait(ring, item),
            ops::Op::RingSlot { buffer, item } => {
                let result = inst.results.first().copied().ok_or("a slot without a result")?;
                self.ring_slot(buffer, item, result)
            }
            ops::Op::RingDrain { buffer, item, to } => self.bulk_drain(buffer, item, to),
            ops::Op::RingRelease { ring, item, first } => self.ring_release(ring, item, first),
            ops::beside_rings!() => Err(format!("`{}` is of no ring", inst.op.mnemonic())),
        }
    }

    /// Issues the copies of a thread to a slot.
    fn ring_fill(&mut self, buffer: Value, item: Value, from: Location, when: Value) -> Result<(), String> {
        let func = self.func;
        if func.is_bulk(buffer) {
            return self.bulk_fill(buffer, item, from, when);
        }
        let (ring, number) = func.ring_of(buffer).ok_or("a fill of no ring")?;
        let (ring, mem) = (&func.rings[ring], func.mem(buffer).ok_or("a ring without a layout of memory")?);
        let layout = ring.buffers[number].layout;
        let widest = match from {
            Location::View { .. } => Tile::new(self, from, layout, usize::MAX, None)?.width,
            Location::Pointers { ptr, mask } => Run::of(func, &self.analyses.facts, ptr, mask)?.width,
        };
        let width = copies(func, buffer, widest)?.elements as usize;
        let copies = copies(func, buffer, width)?;
        let bytes = width as u32 * (mem.bits() / 8);
        if bytes < access::NARROWEST_COPY {
            return Err("copies of less than 4 bytes".into());
        }
        let slot = self.slot(buffer, item)?;
        let addresses = self.addresses_from(buffer, Some(slot), &copies, mem.bits() / 8, 0);
        let addresses = of_copies(&copies, addresses, mem, 0..func.copies(buffer));
        let addresses = addresses.map(|(.., address)| address).collect();
        let (lanes, warps) = func.layouts[layout].replicated();
        let issued: Vec<Reg> = self.one_of(lanes | warps << 5).into_iter().chain([self.regs(when)[0]]).collect();
        let issued = self.conjunction(&issued);
        let to = Vectors { elem: func.ty(buffer).elem, width, bytes, addresses, issued };
        let padding = ring.buffers[number].padding;
        match from {
            Location::View { .. } => {
                let tile = Tile::new(self, from, layout, width, None)?;
                self.copy_tile(tile, padding, to)?;
            }
            Location::Pointers { ptr, mask } => self.copy_gathered(ptr, mask, padding, to)?,
        }
        if number + 1 == ring.buffers.len() {
            self.emit(Op::CpAsyncCommit);
        }
        Ok(())
    }

    /// Copies the vectors of a tile of a view.
    fn copy_tile(&mut self, mut tile: Tile<'_>, padding: u64, to: Vectors) -> Result<(), String> {
        let Vectors { elem, bytes, addresses, issued, .. } = to;
        let padding = match padding {
            0 => None,
            _ if tile.is_cut => return Err("padding of a part of a copy".into()),
            bits => Some(self.padding(elem, bits, bytes)),
        };
        for (run, dst) in tile.runs().zip(addresses) {
            let src = tile.address(self, run);
            let Some((ty, words)) = &padding else {
                let in_bounds = tile.bytes_in_bounds(self, run);
                self.emit_if(Some(issued), Op::CpAsync { bytes, dst, src, in_bounds });
                continue;
            };
            let inside = tile.guard(self, run);
            let outside = self.arith(Opcode::Not, Ty::Pred, &[inside.into()]);
            let [copied, stored] = [inside, outside].map(|pred| self.conjunction(&[issued, pred]));
            let in_bounds = self.mov(Ty::B32, i64::from(bytes));
            self.emit_if(Some(copied), Op::CpAsync { bytes, dst, src, in_bounds });
            self.emit_if(Some(stored), Op::StShared { ty: *ty, srcs: words.clone(), address: dst });
        }
        Ok(())
    }

    /// Copies the vectors that pointers begin, each of which is in bounds as a whole, or not.
    fn copy_gathered(&mut self, ptr: Value, mask: Option<Value>, padding: u64, to: Vectors) -> Result<(), String> {
        let Vectors { width, bytes, addresses, issued, .. } = to;
        if padding != 0 || mask.is_some_and(|mask| self.analyses.facts[mask].constancy < width as u64) {
            return Err("a gather of a part of a copy, or with padding".into());
        }
        for (first, dst) in (0..).step_by(width).zip(addresses) {
            let src = Address { base: self.element(ptr, first)?, offset: 0 };
            let in_bounds = match mask {
                Some(mask) => {
                    let guard = self.element(mask, first)?;
                    self.selp(Ty::B32, i64::from(bytes), 0, guard)
                }
                None => self.mov(Ty::B32, i64::from(bytes)),
            };
            self.emit_if(Some(issued), Op::CpAsync { bytes, dst, src, in_bounds });
        }
        Ok(())
    }

    /// Bytes of elements with these bits, as words.
    fn padding(&mut self, elem: Elem, bits: u64, bytes: u32) -> (Ty, Vec<Reg>) {
        let (ty, word, size) = match elem.bits() {
            8 => (Ty::B32, bits * 0x0101_0101, 4),
            16 => (Ty::B32, bits * 0x0001_0001, 4),
            32 => (Ty::B32, bits, 4),
            _ => (Ty::B64, bits, 8),
        };
        let word = self.mov(ty, word as i64);
        (ty, vec![word; (bytes / size) as usize])
    }

    /// Waits for an item: for this thread's copies, or for all where they are bulk copies.
    fn ring_wait(&mut self, ring: RingId, item: Value) -> Result<(), String> {
        match self.func.rings[ring].fill {
            Fill::Bulk => self.bulk_wait(ring, item),
            Fill::CpAsync { lead } => {
                self.emit(Op::CpAsyncWait { groups: lead - 1 });
                Ok(())
            }
            Fill::Stored | Fill::Drained => Err(format!("a wait for {ring}, which threads store to")),
        }
    }

    /// Releases an item: nothing where the barriers of the program do.
    fn ring_release(&mut self, ring: RingId, item: Value, first: Option<Value>) -> Result<(), String> {
        match self.func.rings[ring].fill {
            Fill::Bulk => self.bulk_release(ring, item, first),
            Fill::Drained => {
                self.drained(ring, item);
                Ok(())
            }
            Fill::CpAsync { .. } | Fill::Stored => Ok(()),
        }
    }

    /// Makes a slot what its buffer is.
    fn ring_slot(&mut self, buffer: Value, item: Value, result: Value) -> Result<(), String> {
        let slot = self.slot(buffer, item)?;
        let place = self.buffers.place(buffer).ok_or("a slot of no buffer")?;
        self.buffers.put(result, Place { slot: Some(slot), ..place });
        Ok(())
    }

    /// Makes a value an alias of shared memory.
    pub fn alias(&mut self, x: Value, result: Value) -> Result<(), String> {
        let place = self.buffers.place(x).ok_or("a permutation of no buffer")?;
        self.buffers.put(result, place);
        Ok(())
    }

    /// The bytes before an item's slot in its buffer.
    pub(crate) fn slot(&mut self, buffer: Value, item: Value) -> Result<Reg, String> {
        let slots = self.func.slots(buffer);
        let bytes = self.func.mem(buffer).map(Mem::bytes).ok_or("a ring without a layout of memory")?;
        let number = self.slot_of(item, slots);
        Ok(self.arith(Opcode::MulLo, Ty::S32, &[number.into(), (bytes as i64).into()]))
    }

    /// The number of an item's slot among this many.
    pub(crate) fn slot_of(&mut self, item: Value, slots: u32) -> Reg {
        if let Some(number) = self.buffers.slot_number(item, slots) {
            return number;
        }
        let number = self.slot_number(self.regs(item)[0], slots);
        self.buffers.keep_slot_number(item, slots, number);
        number
    }

    /// An item's number, modulo the number of slots. Assemblers divide by a constant as by anything else, so that it is done here: for
    /// numbers below 2³¹ a multiplication is exact (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI
    /// 1994).
    fn slot_number(&mut self, item: Reg, slots: u32) -> Reg {
        if slots.is_power_of_two() {
            return self.arith(Opcode::And, Ty::B32, &[item.into(), i64::from(slots - 1).into()]);
        }
        let quotient = self.round_of(item, slots);
        self.arith(Opcode::MadLo, Ty::S32, &[quotient.into(), (-i64::from(slots)).into(), item.into()])
    }

    /// How often the slot of an item was used before: its number, divided by the number of slots.
    pub(crate) fn round_of(&mut self, item: Reg, slots: u32) -> Reg {
        let shift = slots.ilog2();
        if slots.is_power_of_two() {
            return self.arith(Opcode::Shr, Ty::U32, &[item.into(), i64::from(shift).into()]);
        }
        let inverse = (1u64 << (32 + shift)).div_ceil(u64::from(slots));
        let product = self.arith(Opcode::MulHi, Ty::U32, &[item.into(), i64::from(inverse as u32).into()]);
        self.arith(Opcode::Shr, Ty::U32, &[product.into(), i64::from(shift).into()])
    }
}
