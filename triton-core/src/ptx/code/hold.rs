//! Waits for products stay behind what threads compute beside them.
//!
//! *Before:* a product by `wgmma` goes on, threads compute, and then wait for it. The assembler (`ptxas` 13.0) moves a wait up as far as it
//! can, ahead of all that does not depend on the product, so that nothing goes on beside it. *After:* in front of the wait is a branch on the
//! last number that was computed, over an instruction that does nothing; the assembler moves no wait across a branch. It is taken for no
//! number, but for one NaN, whose bits no operation yields; a thread that has it loses a nanosecond.

use crate::ptx::{Class, Cmp, Inst, Op, Operand, Reg, Ty};

/// Fewest operations on numbers that are worth a branch.
const FEWEST: u32 = 32;

/// The bits of a NaN with a payload: operations yield NaNs without one.
const PAYLOAD: i64 = 0x7fc0_dead;

/// See the [module's page](self); `registers` says how many there are of each class.
pub(crate) fn hold(body: &mut Vec<Inst>, registers: &mut [u32; 4]) {
    let waits = waits(body);
    if waits.is_empty() {
        return;
    }
    let count = &mut registers[Class::Pred as usize];
    let pred = Reg { class: Class::Pred, index: *count };
    *count += 1;
    for (at, number) in waits.into_iter().rev() {
        let span = body[at].span;
        let is_payload =
            Op::Setp { cmp: Cmp::Eq, ty: Ty::B32, dst: pred, a: Operand::Reg(number), b: Operand::Int(PAYLOAD) };
        let branch = [(None, is_payload), (Some(pred), Op::Nanosleep)];
        body.splice(at..at, branch.map(|(guard, op)| Inst { guard, op, span }));
    }
}

/// The waits with something beside their product, each with the last number that was computed by then. What branches lead to is not
/// computed by all threads.
fn waits(body: &[Inst]) -> Vec<(usize, Reg)> {
    let mut waits = Vec::new();
    let (mut in_flight, mut computed, mut last) = (false, 0, None);
    for (at, Inst { guard, op, .. }) in body.iter().enumerate() {
        if *op == Op::WgmmaCommit {
            (in_flight, computed, last) = (true, 0, None);
        } else if let Op::Label { .. } | Op::Bra { .. } | Op::BarSync { .. } | Op::BarOf { .. } = op {
            (computed, last) = (0, None);
        } else if let Op::WgmmaWait { groups } = op {
            waits.extend(last.filter(|_| in_flight && computed >= FEWEST).map(|last| (at, last)));
            (in_flight, computed, last) = (*groups > 0, 0, None);
        } else if let (Op::Arith { ty: Ty::F32 | Ty::F16x2 | Ty::BF16x2, dst, .. }, None) = (op, guard) {
            computed += 1;
            last = Some(*dst);
        }
    }
    waits
}
