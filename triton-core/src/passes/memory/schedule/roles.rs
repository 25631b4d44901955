//! Whether warps of their own fill the rings of a function.

use super::Loop;
use crate::analysis::{axis, pressure};
use crate::ir::rings::WARPGROUP;
use crate::ir::{Function, Inst, Producer, Role, Value, in_flight};
use crate::ops::Op;
use crate::passes::Env;
use std::borrow::Cow;

/// Registers of a thread beyond which a producer gives its own to the consumers: the assembler gives a thread of a block of 9 warps 168, as of
/// one of 12.
const MOST_BESIDE_WARP: u32 = 168;

/// Why a function at stage 2 whose rings bulk copies fill has no producer. With one warpgroup of consumers nothing multiplies while it
/// converts or stores, and a producer takes the place of other blocks that would.
pub(super) fn refusal(func: &Function) -> Option<Cow<'static, str>> {
    if func.consumer_warps() < 2 * WARPGROUP {
        return Some("one warpgroup alone would multiply".into());
    }
    no_producer(func)
}

/// The same, however many warpgroups there are.
fn no_producer(func: &Function) -> Option<Cow<'static, str>> {
    let others = func.rings.keys().any(|ring| !func.rings[ring].fill.is_bulk() && !func.is_of_results(ring));
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

/// Who fills the rings of a scheduled function by bulk copies, and why not a producer; empty if no ring is filled so. Then which products go
/// on beside others.
pub(super) fn explain(func: &Function) -> String {
    let bulk = func.rings.keys().any(|ring| func.rings[ring].fill.is_bulk());
    let filled = match func.producer {
        Some(Producer::Warp) => "a producer of one warp fills them, ahead of the warps that multiply\n".into(),
        Some(Producer::Warpgroup) => {
            "a producer of one warp fills them, and gives registers to the warps that multiply\n".into()
        }
        None if bulk => {
            let why = refusal(func).unwrap_or("fewer blocks would be resident, or there are more loops".into());
            let teams = if func.consumer_warps() == WARPGROUP { why_no_turns(func) } else { String::new() };
            format!("a thread that multiplies fills them, as {why}\n{teams}")
        }
        None => String::new(),
    };
    let turns = if func.teams > 1 { "teams of a warpgroup take turns, each with a program of its own\n" } else { "" };
    filled + turns + beside(func)
}

/// Why two teams of the one warpgroup that multiplies do not take turns, in a scheduled function: see [`takes_turns`].
fn why_no_turns(func: &Function) -> String {
    let products = func.walk().into_iter().filter(|&inst| in_flight::is_product(&func.insts[inst].op));
    let sums = products.flat_map(|inst| &func.insts[inst].results).map(|&sum| func.registers(sum)).max().unwrap_or(0);
    let why = no_turns(func, sums, |buffer| func.ring_of(buffer).is_some());
    let room = "there is no room for three stages and the results of both, or the loop is not the same in each program";
    format!("two teams of it do not take turns, as {}\n", why.unwrap_or(room.into()))
}

/// Why two teams would not take turns, whatever the memory that there is: threads of one have this many sums, and some buffers are of rings.
fn no_turns(func: &Function, sums: usize, is_of_ring: impl Fn(Value) -> bool) -> Option<Cow<'static, str>> {
    if sums < FEWEST_SUMS {
        return Some(format!("a thread has {sums} sums, fewer than {FEWEST_SUMS}").into());
    }
    if !func.buffers().iter().all(|&(_, buffer)| is_of_ring(buffer)) {
        return Some("threads exchange tiles through shared memory".into());
    }
    no_producer(func)
}

/// Whether a product goes on beside the first one of a turn: that is waited for, and not the other one.
fn beside(func: &Function) -> &'static str {
    let newer = in_flight::InFlight::of(func).newer;
    let goes_on = |inst: Inst| {
        let Op::For { .. } = func.insts[inst].op else { return false };
        let mut begun = Vec::new();
        func.block(func.insts[inst].regions[0]).any(|(_, data)| {
            begun.extend(data.results.iter().filter(|_| in_flight::is_product(&data.op)));
            let Op::DotWait { sum } = data.op else { return false };
            begun.contains(&sum) && data.results.iter().any(|&done| newer[done].is_some_and(|newer| newer > 0))
        })
    };
    if func.walk().into_iter().any(goes_on) {
        "the second product of a turn goes on beside the first one of the next turn\n"
    } else {
        ""
    }
}

/// Which producer loops may have, as far as is known before rings are written.
pub(super) fn candidate(func: &Function, loops: &[Loop]) -> Option<Producer> {
    let [of] = loops else { return None };
    let filled = of.copies.iter().all(|copy| copy.bulk) && of.stored.is_empty();
    let alone = func.rings.keys().all(|ring| func.is_of_results(ring));
    (filled && alone && refusal(func).is_none()).then_some(Producer::Warp)
}

/// Sums of a thread from which on two teams take turns. With fewer, blocks that are resident together hide each other's stores as well.
const FEWEST_SUMS: usize = 128;

/// Whether teams of a warpgroup, each with a program of its own, take turns at the items that a producer fills for both: one team's products
/// go on while the other one stores its results. (CUTLASS calls such a kernel "ping-pong".)
pub(super) fn takes_turns(func: &Function, of: &Loop) -> bool {
    let is_of_ring = |buffer: Value| {
        let is_of_results = func.ring_of(buffer).is_some_and(|(ring, _)| func.is_of_results(ring));
        is_of_results || of.copies.iter().any(|copy| copy.buffer == buffer)
    };
    let sums = of.in_flight.map_or(0, |flight| func.registers(flight.sum));
    func.num_warps == WARPGROUP
        && of.block == func.body
        && of.copies.iter().all(|copy| copy.bulk)
        && of.stored.is_empty()
        && of.once.is_empty()
        && no_turns(func, sums, is_of_ring).is_none()
}

/// The producer that a function has in which rings are written as if it had one; `None` if it has a reason, or fewer blocks would be
/// resident.
pub(super) fn decide(written: &Function, env: &Env) -> Option<Producer> {
    if refusal(written).is_some() {
        return None;
    }
    let needed = needed(written, env);
    let producer = if written.teams > 1 || needed > MOST_BESIDE_WARP { Producer::Warpgroup } else { Producer::Warp };
    let resident = |threads: u32| resident(written, env, threads, needed);
    match producer {
        Producer::Warp if resident(written.block_threads()) < resident(written.threads()) => None,
        // Of more warpgroups none could have more than it has, and a bound of the user's stays one.
        Producer::Warpgroup if written.consumer_warps() > 2 * WARPGROUP || written.max_registers.is_some() => None,
        Producer::Warp | Producer::Warpgroup => Some(producer),
    }
}

/// Registers that the second product of a turn may take beside the first one where the user bounds them: the bound is for code without.
const BESIDE: u32 = 8;

/// Whether threads have the registers for a product that goes on beside the next one, and as many blocks are resident.
pub(super) fn has_room(overlapping: &Function, producer: Producer, plain: &Function, env: &Env) -> bool {
    let [beside, alone] = [overlapping, plain].map(|func| needed(func, env));
    let of_consumers = producer.registers(overlapping.consumer_warps(), env.target.info().registers);
    let most = of_consumers.map(|[_, most]| most).or(overlapping.max_registers);
    let [of_beside, of_alone] =
        [(overlapping, beside), (plain, alone)].map(|(func, needed)| resident(func, env, func.threads(), needed));
    (most.is_none_or(|most| beside <= most) || beside <= alone + BESIDE) && of_beside >= of_alone
}

/// Registers of a thread, as estimated.
fn needed(func: &Function, env: &Env) -> u32 {
    pressure::registers(func, &axis::analyse(func, env.specialization)) + descriptors(func)
}

/// Blocks of this many threads that are resident together, as far as they are of use.
fn resident(func: &Function, env: &Env, threads: u32, needed: u32) -> u32 {
    let of = |in_ring: bool| -> u64 {
        let buffers = func.buffers();
        let those = buffers.iter().filter(|&&(_, buffer)| func.is_bulk(buffer) == in_ring);
        those.map(|&(_, buffer)| func.buffer_bytes(buffer)).sum()
    };
    // A ring and what is stored after it mostly share bytes.
    let bytes = of(true).max(of(false));
    let registers = func.max_registers.unwrap_or(needed);
    env.target.resident_blocks(threads, registers, bytes as u32).min(pressure::wanted_blocks(func, env.target))
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
