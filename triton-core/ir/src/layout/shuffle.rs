//! Conversions within a warp: selects and shuffles.
//!
//! # A shuffle in rounds
//! In one `shfl` every lane publishes one register and reads the one that some lane publishes. The gather map reads for
//! word `r` of lane `l` word `C·r ⊕ D·l` of lane `A·r ⊕ B·l`. If two lanes read different words of one lane, it cannot
//! publish both; so not all lanes fill the same word at once. In round `d` lane `l` fills word `d ⊕ φ(l)`. Then it reads lane
//! `S·l ⊕ A·d`, with `S = B ⊕ A·φ`, and a linear φ that makes `S` one-to-one serves every lane in every round. It exists
//! exactly if there are enough columns of A outside the span of B: one for each independent lane difference that B forgets
//! (other than those that G forgets altogether, for then both lanes read the same word).
//!
//! Seen from the lane `s = S·l ⊕ A·d` that publishes, the word is `P·s ⊕ Q·d`, as `S` has an inverse. So the whole is
//! 1. *before*: in each thread, word `x` goes to `x ⊕ P·lane`: a few stages of selects;
//! 2. 2ʳ rounds of `shfl.idx` of word `Q·d`, which is the same for all lanes; those that read the thread's own lane
//!    need no shuffle;
//! 3. *after*: in each thread, what round `d` read goes to word `d ⊕ φ(lane)`: selects again.
//!
//! (Zhou et al., "Linear Layouts", arXiv 2505.23819, §5.4 exchange one subspace at a time; this needs no such restriction.
//! Warps may shift lanes and words, too: they only add to what is known to each thread.)
//!
//! Elements narrower than 32 bits travel as [`Words`] of those that stay together; wider ones in two parts.

use super::gather::Gather;
use super::linear::{Basis, apply, independent, intersect, invert, kernel, rank, units};
use super::{Layout, cost};

/// Registers grouped into 32-bit words of elements that stay together.
///
/// Word `x` holds at position `i` the former register `apply(from, x << pack | i)`, and when all is done the new register
/// `apply(to, x << pack | i)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// log2 of the elements of a word.
    pub pack: usize,
    /// Instructions that move an element: 2 for those of 64 bits.
    pub parts: u32,
    /// A basis of the former registers.
    pub from: Vec<u32>,
    /// A basis of the new registers.
    pub to: Vec<u32>,
    /// Instructions that a thread needs to bring elements into words and out of them, where they are not already.
    pub repacks: u32,
}

/// The former word of each bit of a new word, lane and warp, and the former lane.
struct Blocks {
    words: Words,
    reg: [Vec<u32>; 3],
    lane: [Vec<u32>; 3],
}

impl Blocks {
    fn new(src: &Layout, dst: &Layout, gather: &Gather, bits: u32) -> Option<Blocks> {
        let (regs, lanes) = (gather.registers(), gather.lanes());
        let (of_reg, of_thread) = regs.split_at(gather.to);
        let most = (32 / bits).max(1).ilog2() as usize;
        // Elements can stay together if both layouts have them in a thread, and the thread does not choose between them.
        let common = Basis::of(intersect(&src.reg, &dst.reg));
        let (old, new) = (Basis::of(src.reg.iter().copied()), Basis::of(dst.reg.iter().copied()));
        let mut apart = Basis::of(of_thread.iter().copied());
        let mut together = Vec::new();
        let candidates = src.reg.iter().chain(&dst.reg).copied().filter(|&c| common.has(c)).chain(common.vectors());
        for element in candidates {
            let (from, to) = (old.solve(element)? as u32, new.solve(element)? as u32);
            if together.len() < most && apart.add(from) {
                together.push((from, to));
            }
        }
        let pack = together.len();
        let (mut from, mut to): (Vec<u32>, Vec<u32>) = together.into_iter().unzip();
        if pack > 0 {
            let first = from.clone();
            from.extend(independent(of_thread.iter().copied().chain(units(gather.from)), &first));
        } else {
            from.extend(units(gather.from));
        }
        let inverse = invert(&from)?;
        let split = |register: u32| {
            let x = apply(&inverse, register);
            (x >> pack, x & ((1 << pack) - 1))
        };
        for unit in independent(units(gather.to), &to.clone()) {
            // Two words that differ by this bit alone must have their elements in the same order.
            let (_, position) = split(apply(of_reg, unit));
            to.push(unit ^ apply(&to[..pack], position));
        }
        let word = |registers: &[u32]| registers.iter().map(|&r| split(r).0).collect::<Vec<u32>>();
        let new_words = &to[pack..];
        let reg = [
            word(&new_words.iter().map(|&r| apply(of_reg, r)).collect::<Vec<u32>>()),
            word(&of_thread[..5]),
            word(&of_thread[5..]),
        ];
        let lane_of_reg = new_words.iter().map(|&r| apply(&lanes[..gather.to], r)).collect();
        let lane = [lane_of_reg, lanes[gather.to..gather.to + 5].to_vec(), lanes[gather.to + 5..].to_vec()];
        let packs = |of: &[u32], n: usize| if of[..pack].iter().copied().eq(units(pack)) { 0 } else { 1 << (n - pack) };
        let repacks = packs(&from, gather.from) + packs(&to, gather.to);
        Some(Blocks { words: Words { pack, parts: bits.div_ceil(32), from, to, repacks }, reg, lane })
    }
}

/// A step of a permutation of the words of a thread that depends on the thread: in threads for which
/// `lane & lanes` and `warp & warps` have together an odd number of bits, word `x` and word `x ⊕ swap` are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What the numbers of words that are swapped differ by.
    pub swap: u32,
    /// Lane bits that decide.
    pub lanes: u32,
    /// Warp bits that decide.
    pub warps: u32,
}

impl Stage {
    /// Whether a thread swaps.
    pub fn swaps(&self, lane: u32, warp: u32) -> bool {
        ((lane & self.lanes).count_ones() + (warp & self.warps).count_ones()) & 1 == 1
    }
}

/// The stages that together move word `x` to word `x ⊕ shift(thread)`, where `shift` is linear: as many as its rank, one
/// select a word each, like a barrel shifter.
fn stages(lane: &[u32], warp: &[u32]) -> Vec<Stage> {
    let shifts: Vec<u32> = lane.iter().chain(warp).copied().collect();
    let swaps = independent(shifts.iter().copied(), &[]);
    let basis = Basis::of(swaps.iter().copied());
    let uses: Vec<u64> = shifts.iter().map(|&s| basis.solve(s).unwrap_or(0)).collect();
    let mask = |stage: usize, of: &[u64]| of.iter().enumerate().fold(0, |m, (i, u)| m | ((u >> stage & 1) as u32) << i);
    let (lanes, warps) = uses.split_at(lane.len());
    let stage = |(i, &swap): (usize, &u32)| Stage { swap, lanes: mask(i, lanes), warps: mask(i, warps) };
    swaps.iter().enumerate().map(stage).collect()
}

/// Words that the stages compute, if after them only words `apply(read, ..)` are used.
fn selects(stages: &[Stage], read: &[u32]) -> u32 {
    let after = |i: usize| 1 << rank(read.iter().copied().chain(stages[i + 1..].iter().map(|s| s.swap)));
    (0..stages.len()).map(after).sum()
}

/// A permutation of a thread's words that depends on the thread: the stages, then word `x` is the former word
/// `apply(map, x)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// What moves together.
    pub words: Words,
    /// The part that depends on the thread.
    pub stages: Vec<Stage>,
    /// Former word of each bit of a word.
    pub map: Vec<u32>,
}

/// Plans a conversion that stays in each thread.
pub(super) fn select(src: &Layout, dst: &Layout, gather: &Gather, bits: u32) -> Option<Select> {
    let Blocks { words, reg: [map, of_lane, of_warp], .. } = Blocks::new(src, dst, gather, bits)?;
    Some(Select { words, stages: stages(&of_lane, &of_warp), map })
}

impl Select {
    /// Selects of a thread.
    pub fn selects(&self) -> u32 {
        selects(&self.stages, &self.map) * self.words.parts
    }

    /// Cycles of one warp.
    pub(super) fn cycles(&self) -> f64 {
        f64::from(self.selects() + self.words.repacks) * cost::ISSUE
    }
}

/// A conversion within each warp; see the [module's page](self). Round `d` of 2^`rounds` gives every lane `l` of warp `w` the
/// word `apply(publish, d)` of lane `apply(lane, l) ⊕ apply(lane_of_warp, w) ⊕ apply(lane_of_round, d)`, as `before` left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// What moves together.
    pub words: Words,
    /// Moves words so that all lanes publish the same one.
    pub before: Vec<Stage>,
    /// Word to publish, by bit of the round.
    pub publish: Vec<u32>,
    /// Lane to read, by bit of the lane.
    pub lane: [u32; 5],
    /// Lane to read, by bit of the warp.
    pub lane_of_warp: Vec<u32>,
    /// Lane to read, by bit of the round.
    pub lane_of_round: Vec<u32>,
    /// Moves words so that round `d` has filled word `d ⊕ φ(lane)`.
    pub after: Vec<Stage>,
    /// φ: the word that round 0 fills, by bit of the lane.
    pub phi: [u32; 5],
}

/// Plans a conversion that stays in each warp, if shuffles can do it.
pub(super) fn shuffle(src: &Layout, dst: &Layout, gather: &Gather, bits: u32) -> Option<Shuffle> {
    let Blocks { words, reg: [c, d, e], lane: [a, b, w] } = Blocks::new(src, dst, gather, bits)?;
    // Differences of lanes that G forgets, and those that only its lane part does.
    let both: Vec<u32> = b.iter().zip(&d).map(|(&lane, &word)| lane | word << 5).collect();
    let same: Vec<u32> = kernel(&both).into_iter().map(|k| k as u32).collect();
    let clash = independent(kernel(&b).into_iter().map(|k| k as u32), &same);
    let mut reached = Basis::of(b.iter().copied());
    let mut fills = Vec::with_capacity(clash.len());
    for _ in &clash {
        let round = a.iter().position(|&lane| reached.add(lane))?;
        fills.push(1u32 << round);
    }
    // φ is given on `clash` and is 0 on the rest of a basis of lanes.
    let mut basis = clash;
    basis.extend(independent(same.into_iter().chain(units(5)), &basis));
    let coordinates = invert(&basis)?;
    let phi: [u32; 5] = std::array::from_fn(|i| apply(&fills, coordinates[i]));
    let lane: [u32; 5] = std::array::from_fn(|i| b[i] ^ apply(&a, phi[i]));
    // A lane that is not read may publish anything: any linear inverse of `lane` will do.
    let images = independent(lane, &[]);
    let mut target = images.clone();
    target.extend(independent(units(5), &images));
    let to_basis = invert(&target)?;
    let readers = Basis::of(lane);
    let reader_of = images.iter().map(|&s| readers.solve(s).map(|l| l as u32)).collect::<Option<Vec<u32>>>()?;
    let word_of_reader: Vec<u32> = (0..5).map(|i| d[i] ^ apply(&c, phi[i])).collect();
    let word_of_source = |source: u32| apply(&word_of_reader, apply(&reader_of, apply(&to_basis, source)));
    let p: Vec<u32> = units(5).map(word_of_source).collect();
    let publish = c.iter().zip(&a).map(|(&word, &lane)| word ^ word_of_source(lane)).collect();
    let of_warp: Vec<u32> = e.iter().zip(&w).map(|(&word, &lane)| word ^ word_of_source(lane)).collect();
    let (before, after) = (stages(&p, &of_warp), stages(&phi, &[]));
    Some(Shuffle { words, before, publish, lane, lane_of_warp: w, lane_of_round: a, after, phi })
}

impl Shuffle {
    /// log2 of the rounds.
    pub fn rounds(&self) -> usize {
        self.publish.len()
    }

    /// Whether round `d` reads the thread's own lane, so that it needs no shuffle.
    pub fn stays(&self, round: u32) -> bool {
        let fixed = self.lane.iter().copied().eq(units(5)) && self.lane_of_warp.iter().all(|&l| l == 0);
        fixed && apply(&self.lane_of_round, round) == 0
    }

    /// `shfl` instructions of a thread.
    pub fn shuffles(&self) -> u32 {
        let all = 1u32 << self.rounds();
        let own = if self.stays(0) { all >> rank(self.lane_of_round.iter().copied()) } else { 0 };
        (all - own) * self.words.parts
    }

    /// Selects of a thread.
    pub fn selects(&self) -> u32 {
        let all: Vec<u32> = units(self.rounds()).collect();
        (selects(&self.before, &self.publish) + selects(&self.after, &all)) * self.words.parts
    }

    /// Cycles of one warp.
    pub(super) fn cycles(&self) -> f64 {
        let others = f64::from(self.selects() + self.words.repacks) * cost::ISSUE;
        f64::from(self.shuffles()) * cost::SHUFFLE + others
    }
}
