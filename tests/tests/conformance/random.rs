//! A generator of random numbers with a seed.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer from `-bound` to `bound`.
    pub fn within(&mut self, bound: i64) -> i64 {
        (self.bits() % (2 * bound as u64 + 1)) as i64 - bound
    }

    /// One of the indices below `count`, which is not 0.
    pub fn index(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }
}
