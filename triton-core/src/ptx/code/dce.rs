//! Removal of instructions whose results nothing reads.

use crate::ptx::{Inst, Reg};

/// How often each register is read, by class and number.
struct Reads([Vec<i32>; 4]);

impl Reads {
    fn of(&self, reg: Reg) -> i32 {
        self.0[reg.class as usize].get(reg.index as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, reg: Reg, more: i32) {
        if let Some(count) = self.0[reg.class as usize].get_mut(reg.index as usize) {
            *count += more;
        }
    }
}

/// Removes instructions that write registers which nothing reads, and then those that only they have read.
pub(crate) fn remove_dead(body: &mut Vec<Inst>, registers: [u32; 4]) {
    let mut reads = Reads(registers.map(|count| vec![0; count as usize]));
    for inst in &*body {
        inst.op.for_each_read(|reg| reads.add(reg, 1));
        inst.guard.iter().for_each(|&guard| reads.add(guard, 1));
    }
    // What is read follows what writes it, but for what a loop carries, which stays.
    let mut kept = vec![true; body.len()];
    for (inst, kept) in body.iter().zip(&mut kept).rev() {
        let mut is_read = false;
        inst.op.for_each_write(|reg| is_read |= reads.of(reg) > 0);
        if is_read || !inst.op.is_pure() {
            continue;
        }
        *kept = false;
        inst.op.for_each_read(|reg| reads.add(reg, -1));
        inst.guard.iter().for_each(|&guard| reads.add(guard, -1));
    }
    let mut kept = kept.into_iter();
    body.retain(|_| kept.next().unwrap_or(true));
}
