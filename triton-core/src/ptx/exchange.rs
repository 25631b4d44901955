//! Code of conversions through shared memory ([`crate::layout::shared`]).
//!
//! All exchanges of a kernel use the same bytes, one after the other, so the first stores of each wait for the whole block:
//! which bytes of an earlier exchange a warp may still be reading says that exchange's map, not this one's. Between its own
//! stores and loads, and between its passes, an exchange within warps waits for the warp only.

use super::lower::Lower;
use super::thread::Threads;
use super::words::Held;
use super::{Address, Class, Op, Opcode, Operand, Reg, Special, Ty};
use crate::layout::access::{Access, Form};
use crate::layout::linear::apply;
use crate::layout::shared::Shared;
use std::collections::HashMap;

/// Bytes of shared memory that a block can have.
const MOST_BYTES: u64 = 227 * 1024;

impl Lower<'_> {
    /// The `count` registers after an exchange.
    pub fn exchange(
        &mut self,
        threads: &mut Threads,
        held: Held,
        shared: &Shared,
        before: &[Reg],
        count: usize,
    ) -> Result<Vec<Reg>, String> {
        let bytes = shared.bytes();
        if bytes > MOST_BYTES {
            return Err(format!(
                "a conversion between layouts needs {bytes} bytes of shared memory; a block has {MOST_BYTES}"
            ));
        }
        if shared.store.form != Form::Vector {
            return Err("a conversion between layouts stores matrices, which the target cannot".into());
        }
        self.shared = self.shared.max(bytes as u32);
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let stores = self.addresses(threads, base, &shared.store, held);
        let loads = self.addresses(threads, base, &shared.load, held);
        let mut after = vec![None; count];
        for part in 0..1 << shared.mem.parts() {
            self.wait(part > 0 && shared.warp_local);
            for (instruction, &address) in stores.iter().enumerate() {
                let numbers: Vec<Reg> =
                    shared.store.registers(instruction as u32, part).map(|r| before[r as usize]).collect();
                let (ty, words) = held.words(numbers.len());
                let srcs = numbers.chunks(numbers.len().div_ceil(words)).map(|some| self.join(held, some)).collect();
                self.emit(Op::StShared { ty, srcs, address });
            }
            self.wait(shared.warp_local);
            for (instruction, &address) in loads.iter().enumerate() {
                let numbers = self.load_shared(held, &shared.load, address);
                shared
                    .load
                    .registers(instruction as u32, part)
                    .zip(numbers)
                    .for_each(|(r, number)| after[r as usize] = Some(number));
            }
        }
        let found: Option<Vec<Reg>> = after.into_iter().collect();
        found.ok_or_else(|| "a conversion between layouts that does not load every register".into())
    }

    /// Waits for the other threads of the warp, or of the block.
    fn wait(&mut self, warp: bool) {
        self.emit(if warp || self.func.num_warps == 1 { Op::BarWarpSync } else { Op::BarSync });
    }

    /// One instruction's elements.
    fn load_shared(&mut self, held: Held, access: &Access, address: Address) -> Vec<Reg> {
        let elements = access.elements as usize;
        let (dsts, packed) = match access.form {
            Form::Vector => {
                let (ty, words) = held.words(elements);
                // Two bytes are taken apart in a register of 32 bits, so they go there; the access fills it up with zeros.
                let class = match (ty, held) {
                    (Ty::B64, _) => Class::B64,
                    (Ty::B32, _) | (Ty::B16, Held::Pred | Held::Byte { .. }) => Class::B32,
                    (_, _) => Class::B16,
                };
                let dsts: Vec<Reg> = (0..words).map(|_| self.reg(class)).collect();
                self.emit(Op::LdShared { ty, dsts: dsts.clone(), address });
                (dsts, elements / words)
            }
            Form::Matrix { trans, count, .. } => {
                let dsts: Vec<Reg> = (0..count).map(|_| self.reg(Class::B32)).collect();
                self.emit(Op::LdMatrix { trans, dsts: dsts.clone(), address });
                (dsts, held.per_word())
            }
        };
        dsts.into_iter().flat_map(|word| self.split(held, packed, word)).collect()
    }

    /// The address that each instruction of an access takes. A thread's part and an instruction's are added by xor; where they
    /// have no bit in common that is a sum, and the instruction's part an immediate offset.
    fn addresses(&mut self, threads: &mut Threads, base: Reg, access: &Access, held: Held) -> Vec<Address> {
        let bytes = held.bits() / 8;
        let lane = match access.form {
            Form::Vector => access.lane,
            Form::Matrix { count, rows: [a, b, c], .. } => {
                let packed = (access.elements / count).ilog2() as usize;
                let matrix = |bit: usize| if 1 << bit < count { access.reg[packed + bit] } else { 0 };
                [a, b, c, matrix(0), matrix(1)]
            }
        };
        let columns: Vec<u32> = lane.iter().chain(&access.warp).map(|c| c * bytes).collect();
        let touched = columns.iter().fold(0, |all, c| all | c);
        let thread = threads.linear(self, &columns);
        let mut bases: HashMap<u32, Reg> = HashMap::new();
        let mut addresses = Vec::new();
        for instruction in 0..access.instructions() {
            let own = apply(&access.reg, instruction * access.elements) * bytes;
            let common = own & touched;
            let base = *bases.entry(common).or_insert_with(|| {
                let Some(mut offset) = thread else { return base };
                if common != 0 {
                    offset = self.arith(Opcode::Xor, Ty::B32, &[offset.into(), i64::from(common).into()]);
                }
                self.arith(Opcode::Add, Ty::S32, &[base.into(), offset.into()])
            });
            addresses.push(Address { base, offset: (own & !touched) as i32 });
        }
        addresses
    }
}
