//! Lowering of accesses to shared memory: which instructions store and load a tile is a division of its layout by the
//! memory's ([`crate::layout::access`]).

use crate::hash::WordMap;
use crate::ir::{InstData, Value};
use crate::layout::Mem;
use crate::layout::access::{self, Access, Form};
use crate::layout::linear::apply;
use crate::ops::{self, Scope};
use crate::ptx::arithmetic::thread::Threads;
use crate::ptx::arithmetic::words::Held;
use crate::ptx::code::emitter::class_type;
use crate::ptx::lower::Lower;
use crate::ptx::lower::at_entry::SharedThread;
use crate::ptx::lower::buffers::Place;
use crate::ptx::{Address, Class, Op, Opcode, Operand, Reg, Special, Ty};
use std::ops::Range;

impl Lower<'_> {
    /// Makes room for a buffer at its offset.
    pub fn shared_alloc(&mut self, buffer: Value, at: Option<u32>) -> Result<(), String> {
        let at = at.ok_or("a buffer that is not allocated")?;
        let bytes = self.func.buffer_bytes(buffer);
        // `lower` has compared it with the limit.
        self.buffers.reach((u64::from(at) + bytes) as u32);
        self.buffers.put(buffer, Place { at, slot: None });
        Ok(())
    }

    /// Stores one part of a tile; of threads that hold the same element, one stores it.
    pub fn shared_store(&mut self, buffer: Value, part: u32, value: Value) -> Result<(), String> {
        let (layout, mem) = self.func.layout(value).zip(self.func.mem(buffer)).ok_or("a tile without a layout")?;
        let stmatrix = self.target.info().stmatrix && layout.replicated().0 == 0;
        let access = access::shared(layout, mem, stmatrix).ok_or("a layout that its memory does not fit")?;
        let held = Held::of(self.func.ty(value).elem);
        let guard = self.store_guard(value);
        let (copies, registers) = (mem.copies_of_part(part, self.func.copies(value)), layout.registers());
        let before = self.regs(value).to_vec();
        let before = self.numbers(held, &before);
        if part == 0 && held == Held::Half && self.bulk.drains() {
            self.pack_all(&before);
        }
        let addresses = self.addresses(buffer, &access, held);
        for (instruction, copy, address) in of_copies(&access, addresses, mem, copies) {
            let of_copy = |r: u32| before[copy * registers + r as usize];
            let numbers: Vec<Reg> = access.registers(instruction, part).map(of_copy).collect();
            if let Form::Matrix { trans, .. } = access.form {
                let srcs = numbers.chunks(held.per_word()).map(|some| self.pack_word(held, some)).collect();
                self.emit_if(guard, Op::StMatrix { trans, srcs, address });
                continue;
            }
            let (ty, words) = held.words(numbers.len());
            let srcs = numbers.chunks(numbers.len().div_ceil(words)).map(|some| self.pack_word(held, some)).collect();
            self.emit_if(guard, Op::StShared { ty, srcs, address });
        }
        Ok(())
    }

    /// Packs the numbers of all parts of a tile before the first of them is copied to global memory: where sums of `wgmma` in a loop are read
    /// after an instruction that one thread executes, the assembler has each product wait for the one before (`ptxas` C7514).
    fn pack_all(&mut self, numbers: &[Reg]) {
        for pair in numbers.chunks_exact(2) {
            let halves = [pair[0], pair[1]];
            let word = self.pack_word(Held::Half, &halves);
            self.code.unpacked(halves, word);
        }
    }

    /// The registers of a tile of which one part is loaded; the others are those of `rest`.
    pub fn shared_load(
        &mut self,
        buffer: Value,
        part: u32,
        rest: Option<Value>,
        result: Value,
    ) -> Result<Vec<Reg>, String> {
        let (layout, mem) = self.func.layout(result).zip(self.func.mem(buffer)).ok_or("a tile without a layout")?;
        let access = access::shared(layout, mem, true).ok_or("a layout that its memory does not fit")?;
        let held = Held::of(self.func.ty(result).elem);
        let addresses = self.addresses(buffer, &access, held);
        let (copies, registers) = (mem.copies_of_part(part, self.func.copies(result)), layout.registers());
        let mut after: Vec<Option<Reg>> = match rest {
            Some(rest) => self.regs(rest).iter().copied().map(Some).collect(),
            None => vec![None; self.registers(result)],
        };
        for (instruction, copy, address) in of_copies(&access, addresses, mem, copies) {
            let numbers = self.load_shared(held, &access, address);
            let elements = self.elements(held, &numbers);
            access
                .registers(instruction, part)
                .zip(elements)
                .for_each(|(r, element)| after[copy * registers + r as usize] = Some(element));
        }
        // A part that is loaded later has no register yet: any will do.
        let any = after.iter().flatten().next().copied().ok_or("a tile of which nothing is loaded")?;
        Ok(after.into_iter().map(|reg| reg.unwrap_or(any)).collect())
    }

    /// Waits for the other threads of the warp, or of the block.
    pub fn sync(&mut self, scope: Scope) {
        let warp = scope == Scope::Warp || self.func.num_warps == 1;
        // A warp copies what its threads have stored.
        if (!warp || self.bulk.drains()) && self.proxy.fence() {
            self.emit(Op::FenceProxyAsync);
        }
        let threads = self.func.producer.map(|_| self.func.threads());
        match threads {
            _ if warp => self.emit(Op::BarWarpSync),
            Some(threads) if self.func.teams > 1 => self.team_barrier(threads),
            Some(_) | None => self.emit(Op::BarSync { threads }),
        }
    }

    /// One instruction's elements.
    fn load_shared(&mut self, held: Held, access: &Access, address: Address) -> Vec<Reg> {
        let (words, packed) = self.load_shared_words(held, access, address);
        words.into_iter().flat_map(|word| self.unpack_word(held, packed, word)).collect()
    }

    /// The registers of a slice; if there is a condition and it does not hold, those of the tile beside it. A load under a predicate
    /// needs no branch, so that it may be issued among products.
    pub fn shared_slice(&mut self, inst: &InstData, other: Option<(Value, Value)>) -> Result<Vec<Reg>, String> {
        let func = self.func;
        let ops::Op::SharedSlice { buffer, .. } = inst.op else { return Err("no slice".into()) };
        let ((slice, layout), mem) = func.slice(inst).zip(func.mem(buffer)).ok_or("a tile without a layout")?;
        let access = access::shared(&layout, mem, true).ok_or("a layout that its memory does not fit")?;
        let held = Held::of(func.ty(buffer).elem);
        let slot = self.buffers.slot(buffer);
        let addresses = self.addresses_from(buffer, slot, &access, held.bits() / 8, mem.offset(slice.first()));
        let copies = 0..func.copies(buffer);
        let mut after = vec![Reg::NONE; layout.registers() * copies.len()];
        for (instruction, copy, address) in of_copies(&access, addresses, mem, copies) {
            let of_copy = |r: u32| copy * layout.registers() + r as usize;
            let registers: Vec<usize> = access.registers(instruction, 0).map(of_copy).collect();
            let (load, words, packed) = self.shared_words(held, &access, address);
            let guard = other.map(|(when, _)| self.regs(when)[0]);
            if let Some((_, rest)) = other {
                let before = self.regs(rest).to_vec();
                let before = self.numbers(held, &before);
                for (registers, &dst) in registers.chunks(packed).zip(&words) {
                    let numbers: Vec<Reg> = registers.iter().map(|&r| before[r]).collect();
                    let src = self.pack_word(held, &numbers);
                    let src = if src.class == dst.class { src } else { self.parts(src)[0] };
                    self.emit(Op::Mov { ty: class_type(dst.class), dst, src: src.into() });
                }
            }
            self.emit_if(guard, load);
            let numbers: Vec<Reg> = words.into_iter().flat_map(|word| self.unpack_word(held, packed, word)).collect();
            let elements = self.elements(held, &numbers);
            registers.into_iter().zip(elements).for_each(|(r, element)| after[r] = element);
        }
        Ok(after)
    }

    /// One instruction's words, and the elements in each.
    pub(crate) fn load_shared_words(&mut self, held: Held, access: &Access, address: Address) -> (Vec<Reg>, usize) {
        let (load, words, packed) = self.shared_words(held, access, address);
        self.emit(load);
        (words, packed)
    }

    /// An instruction that loads, the words that it writes, and the elements in each.
    fn shared_words(&mut self, held: Held, access: &Access, address: Address) -> (Op, Vec<Reg>, usize) {
        let elements = access.elements as usize;
        match access.form {
            Form::Vector => {
                let (ty, words) = held.words(elements);
                // Two bytes are taken apart in a register of 32 bits, so they go there; the access fills it up with zeros.
                let class = match (ty, held) {
                    (Ty::B64, _) => Class::B64,
                    (Ty::B32, _) | (Ty::B16, Held::Pred | Held::Byte { .. }) => Class::B32,
                    (_, _) => Class::B16,
                };
                let dsts: Vec<Reg> = (0..words).map(|_| self.reg(class)).collect();
                (Op::LdShared { ty, dsts: dsts.clone(), address }, dsts, elements / words)
            }
            Form::Matrix { trans, count, .. } => {
                let dsts: Vec<Reg> = (0..count).map(|_| self.reg(Class::B32)).collect();
                (Op::LdMatrix { trans, dsts: dsts.clone(), address }, dsts, held.per_word())
            }
        }
    }

    /// The address that each instruction of an access takes. A thread's part and an instruction's are added by xor; where they
    /// have no bit in common that is a sum, and the instruction's part an immediate offset.
    pub(crate) fn addresses(&mut self, buffer: Value, access: &Access, held: Held) -> Vec<Address> {
        self.addresses_from(buffer, self.buffers.slot(buffer), access, held.bits() / 8, 0)
    }

    /// The same of a slot, whose offset in the buffer is in a register, for elements of `bytes` bytes; `further` elements further, by xor.
    pub(crate) fn addresses_from(
        &mut self,
        buffer: Value,
        slot: Option<Reg>,
        access: &Access,
        bytes: u32,
        further: u32,
    ) -> Vec<Address> {
        let at = self.buffers.place(buffer).map_or(0, |place| place.at);
        let columns: Vec<u32> = access.lanes().iter().chain(&access.warp).map(|c| c * bytes).collect();
        let touched = columns.iter().fold(0, |all, c| all | c);
        let (base, thread) = self.shared_thread(&columns);
        let mut bases: WordMap<u32, Reg> = WordMap::default();
        let mut addresses = Vec::new();
        for instruction in 0..access.instructions() {
            let own = (apply(&access.reg, instruction * access.elements) ^ further) * bytes;
            let common = own & touched;
            let base = *bases.entry(common).or_insert_with(|| {
                let base = match thread {
                    None => base,
                    Some((_, address)) if common == 0 => address,
                    Some((offset, _)) => {
                        let offset = self.arith(Opcode::Xor, Ty::B32, &[offset.into(), i64::from(common).into()]);
                        self.arith(Opcode::Add, Ty::S32, &[base.into(), offset.into()])
                    }
                };
                slot.map_or(base, |slot| self.arith(Opcode::Add, Ty::S32, &[base.into(), slot.into()]))
            });
            addresses.push(Address { base, offset: (at + (own & !touched)) as i32 });
        }
        addresses
    }

    /// The address of shared memory; and a linear function of the thread, in bytes, alone and as an address, unless it is 0 in every
    /// thread. In a loop they are those of the entry, computed once for all accesses by the same threads; elsewhere they would take
    /// registers for longer than they are needed.
    pub(crate) fn shared_thread(&mut self, columns: &[u32]) -> SharedThread {
        let compute = |cx: &mut Self, mut threads: Threads| {
            let base = cx.mov(Ty::U32, Operand::Special(Special::Shared));
            let offset = threads.linear(cx, columns);
            (base, offset.map(|offset| (offset, cx.arith(Opcode::Add, Ty::S32, &[base.into(), offset.into()]))))
        };
        if !self.loops.is_inside() && self.entry.shared_threads.get(columns).is_none() {
            return compute(self, Threads::default());
        }
        let at_entry = |cx: &mut Self| {
            let threads = Threads::at_entry(cx);
            compute(cx, threads)
        };
        self.once(|entry| &mut entry.shared_threads, columns, at_entry)
    }
}

/// The instructions of an access for each of these copies of a base tile, whose addresses for the first of them are these: their number,
/// the copy, and the address.
pub(crate) fn of_copies(
    access: &Access,
    addresses: Vec<Address>,
    mem: &Mem,
    copies: Range<usize>,
) -> impl Iterator<Item = (u32, usize, Address)> + use<> {
    let (instructions, bytes, first) = (access.instructions(), mem.copy_bytes() as usize, copies.start);
    copies.flat_map(move |copy| {
        let further = ((copy - first) * bytes) as i32;
        let addresses = addresses.clone();
        (0..instructions).zip(addresses).map(move |(instruction, Address { base, offset })| {
            (instruction, copy, Address { base, offset: offset + further })
        })
    })
}
