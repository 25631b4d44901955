//! Whether warps of their own fill the rings of a function.

use super::Loop;
use crate::analysis::{axis, pressure};
use crate::ir::rings::WARPGROUP;
use crate::ir::{Fill, Function, Producer, Role};
use crate::ops::Op;
use crate::passes::Env;
use std::borrow::Cow;

/// Registers of a thread, as estimated, beyond which a producer gives its own to the consumers: in a block of 9 warps the assembler
/// gives a thread 168, as in one of 12. Code of 128 sums a thread, for which 173 are estimated, takes 154.
const MOST_BESIDE_WARP: u32 = 176;

/// Why a function at stage 2 whose rings bulk copies fill has no producer. With one warpgroup of consumers nothing multiplies while it
/// converts or stores, and a producer takes the place of other blocks that would.
pub(super) fn refusal(func: &Function) -> Option<Cow<'static, str>> {
    let others = func.rings.keys().any(|ring| func.rings[ring].fill != Fill::Bulk);
    if func.num_warps < 2 * WARPGROUP {
        return Some("one warpgroup alone would multiply".into());
    }
    if func.cluster > 1 {
        return Some("the blocks of a cluster exchange tiles".into());
    }
    if others {
        return Some("threads fill a ring of it, too".into());
    }
    if func.contains(func.body, |op| matches!(op, Op::Assert { .. })) {
        return Some("it has assertions".into());
    }
    func.projection(Role::Producer).err().map(Cow::Owned)
}

/// Who fills the rings of a scheduled function by bulk copies, and why not a producer; empty if no ring is filled so.
pub(super) fn explain(func: &Function) -> String {
    let bulk = func.rings.keys().any(|ring| func.rings[ring].fill.is_bulk());
    match func.producer {
        Some(Producer::Warp) => "a producer of one warp fills them, ahead of the warps that multiply\n".into(),
        Some(Producer::Warpgroup) => {
            "a producer of one warp fills them, and gives registers to the warps that multiply\n".into()
        }
        None if bulk => {
            let why = refusal(func).unwrap_or("fewer blocks would be resident, or there are more loops".into());
            format!("a thread that multiplies fills them, as {why}\n")
        }
        None => String::new(),
    }
}

/// Which producer loops may have, as far as is known before rings are written.
pub(super) fn candidate(func: &Function, loops: &[Loop]) -> Option<Producer> {
    let [of] = loops else { return None };
    let filled = of.copies.iter().all(|copy| copy.bulk) && of.stored.is_empty();
    (filled && func.rings.is_empty() && refusal(func).is_none()).then_some(Producer::Warp)
}

/// The producer that a function has in which rings are written as if it had one; `None` if it has a reason, or fewer blocks would be
/// resident.
pub(super) fn decide(written: &Function, env: &Env) -> Option<Producer> {
    if refusal(written).is_some() {
        return None;
    }
    let of = |in_ring: bool| -> u64 {
        let buffers = written.buffers();
        let those = buffers.iter().filter(|&&(_, buffer)| written.ring_of(buffer).is_some() == in_ring);
        those.map(|&(_, buffer)| written.buffer_bytes(buffer)).sum()
    };
    // A ring and what is stored after it mostly share bytes.
    let bytes = of(true).max(of(false));
    let needed = pressure::registers(written, &axis::analyse(written, env.specialization)) + descriptors(written);
    let registers = written.max_registers.unwrap_or(needed);
    let wanted = pressure::wanted_blocks(written, env.target);
    let resident = |threads: u32| env.target.resident_blocks(threads, registers, bytes as u32).min(wanted);
    let producer = if needed > MOST_BESIDE_WARP { Producer::Warpgroup } else { Producer::Warp };
    match producer {
        Producer::Warp if resident(written.block_threads()) < resident(written.threads()) => None,
        // Of more warpgroups none could have more than it has, and a bound of the user's stays one.
        Producer::Warpgroup if written.num_warps > 2 * WARPGROUP || written.max_registers.is_some() => None,
        Producer::Warp | Producer::Warpgroup => Some(producer),
    }
}

/// Registers of the descriptors of the longest product, which the assembler keeps for steps along K beyond the usual four of 32 bytes.
/// Without them a product of 144 x 128 x 256 spills 376 bytes at 168.
fn descriptors(func: &Function) -> u32 {
    let steps = func.walk().into_iter().filter_map(|inst| {
        let Op::Dot { a, .. } = func.insts[inst].op else { return None };
        let ty = func.ty(a);
        Some(ty.shape.dims().last()? * ty.elem.bits() / 256)
    });
    2 * steps.max().unwrap_or(0).saturating_sub(4)
}
