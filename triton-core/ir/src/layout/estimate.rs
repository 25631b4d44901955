//! The cost of a conversion, without its plan: for comparing many, of which few are emitted.
//!
//! Within a thread and within a warp this is the cost of [`super::convert::plan`]. Through shared memory it is that of a map
//! without bank conflicts ([`super::shared`]), which there is whenever each side can have its vectors.

use super::convert;
use super::gather::Gather;
use super::linear::{Basis, intersect};
use super::{Layout, access, cost, shuffle};

/// Cycles of all warps; infinite where no conversion is possible. `stmatrix` is that of [`convert::plan`].
pub fn cycles(src: &Layout, dst: &Layout, bits: u32, stmatrix: bool) -> f64 {
    if src == dst {
        return 0.0;
    }
    let Some(gather) = Gather::new(src, dst) else { return f64::INFINITY };
    if !gather.leaves_thread() {
        return convert::plan(src, dst, bits, stmatrix).map_or(f64::INFINITY, |plan| plan.cost);
    }
    let warps = f64::from(1u32 << dst.warp.len());
    let near = !gather.leaves_warp();
    let shuffle = if near { shuffle::shuffle(src, dst, &gather, bits) } else { None };
    let direct = shuffle.map_or(f64::INFINITY, |s| s.cycles() * warps);
    if direct <= cost::WARP_ROUND_TRIP { direct } else { direct.min(shared(src, dst, bits, near, warps)) }
}

fn shared(src: &Layout, dst: &Layout, bits: u32, near: bool, warps: f64) -> f64 {
    let size = (bits / 8).max(1);
    let most = (access::WIDEST / size).ilog2() as usize;
    let both = intersect(&src.reg, &dst.reg).len();
    let bytes = u64::from(size) << src.bits().max(dst.bits());
    let halvings = (bytes / cost::SCRATCH_BYTES).max(1).ilog2() as usize;
    // The parts are told apart by what both sides have in registers.
    let parts = halvings.min(both);
    if bytes >> parts > cost::SHARED_BYTES {
        return f64::INFINITY;
    }
    let common = both.min(most);
    let vectors = |l: &Layout, log: usize| {
        let registers = l.reg.len().saturating_sub(parts);
        let log = log.min(registers);
        let instructions = f64::from(1u32 << (registers - log));
        let words = f64::from(size << log) / 4.0;
        instructions * (words.max(1.0) * cost::WAVEFRONT + cost::ISSUE)
    };
    let wide = |l: &Layout| l.reg.len().min(most);
    let mut best = vectors(src, common) + vectors(dst, common);
    best = best.min(vectors(src, common) + vectors(dst, wide(dst)));
    let load = if matrices(src, dst, bits) {
        let words = f64::from(1u32 << dst.reg.len().saturating_sub(parts)) * f64::from(size) / 4.0;
        words * cost::WAVEFRONT + (words / 4.0).max(1.0) * cost::ISSUE
    } else {
        vectors(dst, common)
    };
    best = best.min(vectors(src, wide(src)) + load);
    // Of warps that hold the same elements one stores them, and the others wait for it.
    let wait = if near && src.replicated().1 == 0 { cost::WARP_ROUND_TRIP } else { cost::ROUND_TRIP };
    f64::from(1u32 << parts) * (best * warps + wait)
}

/// Whether `ldmatrix` loads what the threads of `src` store by 16 bytes: a row of 16 bytes is shared out to four lanes, or,
/// transposed, its elements go to the lanes of eight rows.
fn matrices(src: &Layout, dst: &Layout, bits: u32) -> bool {
    let registers = Basis::of(src.reg.iter().copied());
    let pack = match bits {
        8 => 2,
        16 => 1,
        _ => return false,
    };
    let all = |columns: &[u32]| columns.iter().all(|&c| c != 0 && registers.has(c));
    let plain = dst.reg.len() >= pack && all(&dst.reg[..pack]) && all(&dst.lane[..2]);
    // The plan of a transposing load keeps the vectors in which the threads have the elements.
    let vector = Basis::of(src.reg.iter().copied().take(3));
    plain || (bits == 16 && dst.lane[2..].iter().all(|&c| c != 0 && vector.has(c)))
}
