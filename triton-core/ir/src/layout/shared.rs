//! Conversions through shared memory, and the memory layout that makes them free of bank conflicts.
//!
//! # Choosing the map
//! A [`Mem`] is a list of elements, one for each bit of the offset. From the lowest:
//! 1. *Vector* bits V: elements that both sides, or one of them, have in registers of a thread, up to 16 bytes, so that one
//!    instruction moves many. Words of less than 4 bytes are filled up with what lanes hold.
//! 2. *Bank* bits, up to 128 bytes: any that are left over by
//! 3. *Segment* bits, above: these decide. What one wavefront of a side asks for spans a space F: the vector's words and the
//!    lanes that are served together, dimension ≤ 5. **No two lanes meet in a bank exactly if Seg ∩ F = 0**, as then no two
//!    elements of F differ in segment bits alone. So each segment vector is taken outside span(F ∪ Seg) of both sides.
//!    Two proper subspaces never cover a space, so there is one while both are proper, and it is a sum of at most two of any
//!    basis' vectors. Single ones come first: a swizzle appears only where it is needed.
//!
//! (Zhou et al., "Linear Layouts", arXiv 2505.23819, §5.5, derive the same bound from tiles of banks.) A vector that one
//! side alone has in registers asks for more than the two spaces; then conflicts can remain. They are counted
//! ([`Access::ways`]), and the cheapest of all choices of V is taken.
//!
//! # Parts
//! A tile larger than [`cost::SCRATCH_BYTES`] is moved in several parts, if both sides have elements in registers that tell
//! the parts apart.

use super::access::{self, Access};
use super::linear::{self, Basis, apply, independent, intersect, invert, units};
use super::{LANES, Layout, Mem, cost};

/// A conversion through shared memory: for each part of the tile, all threads store, wait for each other, and load; and wait
/// again before the next part is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Where elements lie.
    pub mem: Mem,
    /// How they are stored.
    pub store: Access,
    /// How they are loaded.
    pub load: Access,
    /// Whether each warp loads only what it alone has stored, so that waiting means the warp and not the program.
    pub warp_local: bool,
}

impl Shared {
    /// Cycles of all warps.
    pub(super) fn cycles(&self, warps: f64) -> f64 {
        let each = |a: &Access| f64::from(a.wavefronts) * cost::WAVEFRONT + f64::from(a.instructions()) * cost::ISSUE;
        let wait = if self.warp_local { cost::WARP_ROUND_TRIP } else { cost::ROUND_TRIP };
        f64::from(1u32 << self.mem.parts()) * ((each(&self.store) + each(&self.load)) * warps + wait)
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
    let parts = Parts::of(src, dst, n, halvings)?;
    let (of_src, of_dst) = (parts.part(src), parts.part(dst));
    let mut best: Option<(u32, u32, Mem, Access, Access)> = None;
    for vector in vectors(&of_src, &of_dst, bits) {
        let mem = parts.whole(memory(&of_src, &of_dst, parts.elements.len(), &vector, bits, stmatrix)?, bits)?;
        let store = access::shared(src, &mem, stmatrix)?;
        let load = access::shared(dst, &mem, true)?;
        let price = (store.wavefronts + load.wavefronts, store.instructions() + load.instructions());
        if best.as_ref().is_none_or(|&(waves, count, ..)| price < (waves, count)) {
            best = Some((price.0, price.1, mem, store, load));
        }
    }
    let (_, _, mem, store, load) = best?;
    // Of warps that hold the same elements one stores them.
    Some(Shared { mem, store, load, warp_local: near && src.replicated().1 == 0 })
}

/// How far apart threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// All are the same.
    Thread,
    /// They are lanes of the same warp.
    Warp,
    /// They are in different warps.
    Block,
}

impl Layout {
    /// How far apart the threads can be that access the same offset of a memory, where one stores a tile in this layout
    /// and the other accesses one in the other layout. Of threads that hold the same element only one stores.
    pub fn reach(&self, other: &Layout, mem: &Mem) -> Reach {
        let (lanes, warps) = self.replicated();
        // Columns that stand for threads, each with its lane and its warp.
        let threads = |l: &Layout, lanes: u32, warps: u32| {
            let lane = l.lane.iter().enumerate().filter(|&(i, _)| lanes >> i & 1 == 0).map(|(i, &c)| (c, 1 << i));
            let warp = l.warp.iter().enumerate().filter(|&(i, _)| warps >> i & 1 == 0).map(|(i, &c)| (c, LANES << i));
            l.reg.iter().map(|&c| (c, 0)).chain(lane).chain(warp.collect::<Vec<_>>()).collect::<Vec<(u32, usize)>>()
        };
        let columns = [threads(self, lanes, warps), threads(other, 0, 0)].concat();
        let addresses: Vec<u32> = columns.iter().map(|&(c, _)| mem.offset_in_part(c).0).collect();
        // Pairs of positions at one address are the kernel; the threads of a pair differ by the sum of what they are.
        let apart = |pair: u64| {
            let set = columns.iter().enumerate().filter(|(i, _)| pair >> i & 1 == 1);
            set.fold(0, |sum, (_, &(_, thread))| sum ^ thread)
        };
        let reach = |apart: usize| match apart {
            0 => Reach::Thread,
            apart if apart < LANES => Reach::Warp,
            _ => Reach::Block,
        };
        linear::kernel(&addresses).into_iter().map(|pair| reach(apart(pair))).max().unwrap_or(Reach::Thread)
    }
}

/// How a tile is cut into parts: as the sum of a subspace, whose elements get numbers of their own, and another one.
struct Parts {
    /// Element of each bit of a number within a part.
    elements: Vec<u32>,
    /// Element of each bit of a part's number.
    parts: Vec<u32>,
    /// Bits of both numbers, of each bit of an element.
    inverse: Vec<u32>,
}

impl Parts {
    /// Up to `halvings` elements that both sides have in registers tell parts apart.
    fn of(src: &Layout, dst: &Layout, n: usize, halvings: usize) -> Option<Parts> {
        let threads = [src, dst].into_iter().flat_map(|l| l.lane.iter().chain(&l.warp).copied());
        let threads: Vec<u32> = threads.filter(|_| halvings > 0).collect();
        // The last ones: the first make vectors.
        let mut parts =
            if halvings > 0 { independent(common(src, dst).into_iter().rev(), &threads) } else { Vec::new() };
        parts.truncate(halvings);
        let elements = independent(threads.into_iter().chain(units(n)), &parts);
        let inverse = invert(&[&elements[..], &parts].concat())?;
        Some(Parts { elements, parts, inverse })
    }

    /// A layout of one part.
    fn part(&self, layout: &Layout) -> Layout {
        let mask = (1u64 << self.elements.len()) - 1;
        layout.map(|element| (u64::from(apply(&self.inverse, element)) & mask) as u32).dedup()
    }

    /// The memory of all parts from that of one, given by its offsets' elements.
    fn whole(&self, of_part: Vec<u32>, bits: u32) -> Option<Mem> {
        let off = of_part.into_iter().map(|c| apply(&self.elements, c)).chain(self.parts.iter().copied()).collect();
        Mem::new(off, bits)?.in_parts(self.parts.len() as u32)
    }
}

/// Elements that both sides have in the registers of a thread, in the order in which they have them.
fn common(src: &Layout, dst: &Layout) -> Vec<u32> {
    let both = intersect(&src.reg, &dst.reg);
    let span = Basis::of(both.iter().copied());
    let named = src.reg.iter().chain(&dst.reg).copied().filter(|&c| span.has(c));
    independent(named.chain(both.iter().copied()), &[])
}

/// Vector bits to try: what both sides have in registers, alone, or widened to 16 bytes by what one of them has; first by
/// what the other side walks over with its lanes, for those then meet in no bank. And 16 bytes of what one side has in its
/// first registers, whatever the other one has: `ldmatrix` shares them out.
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
    for side in [src, dst] {
        let first: Vec<u32> = side.reg.iter().copied().take(most).collect();
        if !all.contains(&first) {
            all.push(first);
        }
    }
    all
}

/// The three columns that tell apart the rows of 16 bytes which a matrix instruction asks for at once, if the lowest offset
/// bits, of elements of `1 << size` bytes, are such rows for it.
fn rows(layout: &Layout, low: &[u32], size: usize) -> Option<[u32; 3]> {
    let row = low.get(..4usize.checked_sub(size)?)?;
    let (word, lanes) = row.split_at(row.len().checked_sub(2)?);
    let registers = Basis::of(layout.reg.iter().copied());
    let [a, b, c, d, e] = layout.lane;
    if lanes == [a, b] && word.iter().all(|&c| registers.has(c)) {
        return Some([c, d, e]);
    }
    (size == 1 && row == [c, d, e]).then_some([*layout.reg.first()?, a, b])
}

/// The element of each bit of an offset, with these vector bits; see the [module's page](self).
fn memory(src: &Layout, dst: &Layout, n: usize, vector: &[u32], bits: u32, stmatrix: bool) -> Option<Vec<u32>> {
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
    let wave = |l: &Layout, matrices: bool| {
        if let Some(rows) = rows(l, &low, size).filter(|_| matrices) {
            return low.iter().skip(below.len()).take(2).copied().chain(rows).collect();
        }
        let registers = Basis::of(l.reg.iter().copied());
        let prefix = low.iter().take_while(|&&c| registers.has(c)).count();
        let words = (prefix + size).saturating_sub(2);
        let of_vector = low.iter().skip(below.len()).take(words).copied();
        of_vector.chain(l.lane.iter().copied().take(5usize.saturating_sub(words))).collect::<Vec<u32>>()
    };
    let span = |more: Vec<u32>| Basis::of(below.iter().copied().chain(more));
    let (mut of_src, mut of_dst) = (span(wave(src, stmatrix)), span(wave(dst, true)));
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
    Some(low)
}
