//! Conversions through shared memory, and the memory layout that makes them free of bank conflicts.
//!
//! # Choosing the map
//! A [`Mem`] is a list of elements, one for each bit of the offset. From the lowest:
//! 1. *Vector* bits V: elements that both sides, or one of them, have in registers of a thread, up to 16 bytes, so that one
//!    instruction moves many. Words of less than 4 bytes are filled up with what lanes hold.
//! 2. *Bank* bits, up to 128 bytes: any that are left over by
//! 3. *Segment* bits, above: these decide. What one wavefront of a side asks for spans a space F: the vector's words and the
//!    lanes that are served together, dimension ≤ 5. **No two lanes meet in a bank exactly if Seg ∩ F = 0**, as then no two
//!    elements of F differ in segment bits alone. So each segment vector is taken outside of span(F ∪ Seg) of both sides.
//!    Two proper subspaces never cover a space, so there is one while both are proper, and it is a sum of at most two of any
//!    basis' vectors. Single ones come first: a swizzle appears only where it is needed.
//!
//! (Zhou et al., "Linear Layouts", arXiv 2505.23819, §5.5, derive the same bound from tiles of banks.) A vector that one
//! side alone has in registers asks for more than the two spaces; then conflicts can remain. They are counted
//! ([`Access::ways`]), and the cheapest of all choices of V is taken.
//!
//! # Passes
//! A tile larger than [`cost::SCRATCH_BYTES`] is moved in several passes, if both sides have elements in registers that tell
//! the passes apart.

use super::access::{self, Access};
use super::linear::{Basis, apply, independent, intersect, invert, rank, units};
use super::{Layout, Mem, cost};

/// A conversion through shared memory: in each pass all threads store, wait for each other, and load; and wait again before
/// the next pass stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Where elements of one pass lie; its elements have numbers of their own where there are several passes.
    pub mem: Mem,
    /// How they are stored.
    pub store: Access,
    /// How they are loaded.
    pub load: Access,
    /// For each bit of the pass, what it adds to the number of the register stored and of the one loaded.
    pub passes: Vec<(u32, u32)>,
    /// Whether each warp loads only what it alone has stored, so that waiting means the warp and not the program.
    pub warp_local: bool,
}

impl Shared {
    /// Cycles of all warps.
    pub(super) fn cycles(&self, warps: f64) -> f64 {
        let each = |a: &Access| f64::from(a.wavefronts) * cost::WAVEFRONT + f64::from(a.instructions()) * cost::ISSUE;
        let wait = if self.warp_local { cost::WARP_ROUND_TRIP } else { cost::ROUND_TRIP };
        f64::from(1u32 << self.passes.len()) * ((each(&self.store) + each(&self.load)) * warps + wait)
    }

    /// Bytes of scratch.
    pub fn bytes(&self) -> u64 {
        self.mem.bytes()
    }
}

/// Plans a conversion; `near` says that warps read only what they hold themselves.
pub(super) fn plan(src: &Layout, dst: &Layout, bits: u32, stmatrix: bool, near: bool) -> Option<Shared> {
    let n = src.bits().max(dst.bits());
    let halvings = ((u64::from(bits / 8) << n) / cost::SCRATCH_BYTES).max(1).ilog2() as usize;
    let (src_part, dst_part) = parts(src, dst, n, halvings)?;
    let (src_layout, dst_layout) = (&src_part.layout, &dst_part.layout);
    let n = n - src_part.passes.len();
    let mut best: Option<(u32, u32, Mem, Access, Access)> = None;
    for vector in vectors(src_layout, dst_layout, bits) {
        let mem = memory(src_layout, dst_layout, n, bits, &vector)?;
        let store = access::shared(src_layout, &mem, stmatrix)?;
        let load = access::shared(dst_layout, &mem, true)?;
        let price = (store.wavefronts + load.wavefronts, store.instructions() + load.instructions());
        if best.as_ref().is_none_or(|&(waves, count, ..)| price < (waves, count)) {
            best = Some((price.0, price.1, mem, store, load));
        }
    }
    let (_, _, mem, mut store, mut load) = best?;
    store.order.iter_mut().for_each(|r| *r = apply(&src_part.registers, *r));
    load.order.iter_mut().for_each(|r| *r = apply(&dst_part.registers, *r));
    // Warps that hold the same elements store them at the same offsets, and could do so late.
    let own = rank(src.reg.iter().chain(&src.lane).copied()) + src.warp.len() == rank(src.columns());
    let passes = src_part.passes.into_iter().zip(dst_part.passes).collect();
    Some(Shared { mem, store, load, passes, warp_local: near && own })
}

/// A layout less what tells passes apart.
struct Part {
    layout: Layout,
    /// Register of each register bit of `layout`.
    registers: Vec<u32>,
    /// Register of each bit of the pass.
    passes: Vec<u32>,
}

/// Takes up to `halvings` elements that both sides have in registers out of both layouts, and renumbers the others.
fn parts(src: &Layout, dst: &Layout, n: usize, halvings: usize) -> Option<(Part, Part)> {
    let whole = |l: &Layout| Part { layout: l.clone(), registers: units(l.reg.len()).collect(), passes: Vec::new() };
    if halvings == 0 {
        return Some((whole(src), whole(dst)));
    }
    let threads = [src, dst].into_iter().flat_map(|l| l.lane.iter().chain(&l.warp).copied());
    let threads: Vec<u32> = threads.collect();
    // The last ones: the first make vectors.
    let mut pass = independent(common(src, dst).into_iter().rev(), &threads);
    pass.truncate(halvings);
    let mut basis = independent(threads.into_iter().chain(units(n)), &pass);
    let left = basis.len();
    basis.extend(&pass);
    let inverse = invert(&basis)?;
    let rest = |element: u32| apply(&inverse, element) & ((1 << left) - 1);
    let part = |l: &Layout| {
        let own = Basis::of(l.reg.iter().copied());
        let passes = pass.iter().map(|&e| own.solve(e).map(|r| r as u32)).collect::<Option<Vec<u32>>>()?;
        let clear = |r: u32| r ^ apply(&passes, apply(&inverse, apply(&l.reg, r)) >> left);
        let registers: Vec<u32> = independent(units(l.reg.len()), &passes).into_iter().map(clear).collect();
        let reg = registers.iter().map(|&r| rest(apply(&l.reg, r))).collect();
        let layout = Layout { reg, lane: l.lane.map(rest), warp: l.warp.iter().map(|&w| rest(w)).collect() };
        Some(Part { layout, registers, passes })
    };
    Some((part(src)?, part(dst)?))
}

/// Elements that both sides have in the registers of a thread, in the order in which they have them.
fn common(src: &Layout, dst: &Layout) -> Vec<u32> {
    let both = intersect(&src.reg, &dst.reg);
    let span = Basis::of(both.iter().copied());
    let named = src.reg.iter().chain(&dst.reg).copied().filter(|&c| span.has(c));
    independent(named.chain(both.iter().copied()), &[])
}

/// Vector bits to try: what both sides have in registers, alone, or widened to 16 bytes by what one of them has; first by
/// what the other side walks over with its lanes, for those then meet in no bank.
fn vectors(src: &Layout, dst: &Layout, bits: u32) -> Vec<Vec<u32>> {
    let most = (access::WIDEST * 8 / bits).ilog2() as usize;
    let mut both = common(src, dst);
    both.truncate(most);
    let mut all = vec![both.clone()];
    for (side, other) in [(dst, src), (src, dst)] {
        let lanes = Basis::of(other.lane);
        let good = side.reg.iter().copied().filter(|&c| lanes.has(c));
        let mut add = |more: Vec<u32>| {
            let mut wide = both.clone();
            wide.extend(independent(more, &both));
            wide.truncate(most);
            if !all.contains(&wide) {
                all.push(wide);
            }
        };
        add(good.clone().collect());
        add(good.chain(side.reg.iter().copied()).collect());
    }
    all
}

/// The map with these vector bits; see the [module's page](self).
fn memory(src: &Layout, dst: &Layout, n: usize, bits: u32, vector: &[u32]) -> Option<Mem> {
    let size = (bits / 8).ilog2() as usize;
    // Below a word of 4 bytes.
    let fill = 2usize.saturating_sub(size).min(n);
    let mut below: Vec<u32> = vector.iter().copied().take(fill).collect();
    if below.len() < fill {
        let lanes = src.lane.iter().chain(&dst.lane).copied();
        below.extend(independent(lanes.chain(units(n)), vector).into_iter().take(fill - below.len()));
    }
    let mut low = below.clone();
    low.extend(vector.iter().copied().filter(|v| !below.contains(v)));

    // What one wavefront asks for.
    let wave = |l: &Layout| {
        let registers = Basis::of(l.reg.iter().copied());
        let prefix = low.iter().take_while(|&&c| registers.has(c)).count();
        let words = (prefix + size).saturating_sub(2);
        let of_vector = low.iter().skip(below.len()).take(words).copied();
        of_vector.chain(l.lane.iter().copied().take(5usize.saturating_sub(words))).collect::<Vec<u32>>()
    };
    let span = |more: Vec<u32>| Basis::of(below.iter().copied().chain(more));
    let (mut of_src, mut of_dst) = (span(wave(src)), span(wave(dst)));
    let mut taken = Basis::of(low.iter().copied());

    // Offsets above V are made of what the threads of the side that owns V hold: so its vectors are aligned.
    let registers = Basis::of(dst.reg.iter().copied());
    let owner = if low.iter().all(|&c| registers.has(c)) { dst } else { src };
    let threads = owner.lane.iter().chain(&owner.warp).chain(&owner.reg).copied();
    let rest = independent(threads.chain(units(n)), &low);
    let segments = n - (7 - size).min(n);
    let pairs = rest.iter().enumerate().flat_map(|(i, &x)| rest[..i].iter().map(move |&y| x ^ y));
    let pool: Vec<u32> = rest.iter().rev().copied().chain(pairs).collect();
    let mut segment = Vec::with_capacity(segments);
    for strict in [true, false] {
        for &v in &pool {
            let meets = strict && (of_src.has(v) || of_dst.has(v));
            if segment.len() < segments && !meets && taken.add(v) {
                of_src.add(v);
                of_dst.add(v);
                segment.push(v);
            }
        }
    }
    low.extend(&segment);
    let bank = independent(rest, &low);
    let at = low.len() - segment.len();
    low.splice(at..at, bank);
    Mem::new(low, bits)
}
