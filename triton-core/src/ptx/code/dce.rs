//! Removal of instructions whose results nothing reads.

use crate::ptx::code::registers::Registers;
use crate::ptx::{Inst, Reg};

/// Removes instructions that write registers which nothing reads, and then those that only they have read.
pub(crate) fn remove_dead(body: &mut Vec<Inst>, registers: [u32; 4]) {
    // How often each is read.
    let mut reads: Registers<i32> = Registers::new(registers);
    let add = |reads: &mut Registers<i32>, reg: Reg, more: i32| reads.set(reg, reads.get(reg) + more);
    for inst in &*body {
        inst.op.for_each_read(|reg| add(&mut reads, reg, 1));
        inst.guard.iter().for_each(|&guard| add(&mut reads, guard, 1));
    }
    // What is read follows what writes it, but for what a loop carries, which stays.
    let mut kept = vec![true; body.len()];
    for (inst, kept) in body.iter().zip(&mut kept).rev() {
        let mut is_read = false;
        inst.op.for_each_write(|reg| is_read |= reads.get(reg) > 0);
        if is_read || !inst.op.is_pure() {
            continue;
        }
        *kept = false;
        inst.op.for_each_read(|reg| add(&mut reads, reg, -1));
        inst.guard.iter().for_each(|&guard| add(&mut reads, guard, -1));
    }
    let mut kept = kept.into_iter();
    body.retain(|_| kept.next().unwrap_or(true));
}
