//! An order of the clusters of a grid that a seed chooses, without a list of them: a launch may have 2^31.

/// The numbers below a limit, each once, in an order that two keys choose.
///
/// A Feistel network permutes the numbers of an even count of bits (Luby and Rackoff, SIAM J. Comput. 17(2), 1988); those that
/// are not below the limit are permuted again until they are, which leaves a permutation of the others ("cycle walking", Black
/// and Rogaway, CT-RSA 2002). There are at most four times as many.
#[derive(Clone, Debug)]
pub(super) struct Shuffled {
    keys: [u64; ROUNDS],
    /// Bits of a half.
    half: u32,
    next: u32,
    limit: u32,
}

const ROUNDS: usize = 4;

impl Shuffled {
    /// The numbers below a limit.
    pub(super) fn new(limit: u32, rng: &mut fastrand::Rng) -> Shuffled {
        let bits = u32::BITS - limit.saturating_sub(1).leading_zeros();
        Shuffled { keys: std::array::from_fn(|_| rng.u64(..)), half: bits.div_ceil(2).max(1), next: 0, limit }
    }

    /// Whether none is left.
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.limit
    }

    fn permute(&self, number: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for key in self.keys {
            // The multiplier of SplitMix64.
            let mixed = (right ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (left, right) = (right, left ^ (mixed >> 32) & mask);
        }
        left << self.half | right
    }
}

impl Iterator for Shuffled {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let mut number = u64::from(self.next);
        self.next += 1;
        loop {
            number = self.permute(number);
            if number < u64::from(self.limit) {
                return Some(number as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shuffled;
    use std::collections::HashSet;

    #[test]
    fn each_number_comes_once() {
        for limit in [0, 1, 2, 3, 4, 5, 100, 1000, 1 << 14, (1 << 14) + 1] {
            let all: Vec<u32> = Shuffled::new(limit, &mut fastrand::Rng::with_seed(7)).collect();
            let set: HashSet<u32> = all.iter().copied().collect();
            assert_eq!((all.len(), set.len()), (limit as usize, limit as usize));
            assert!(all.iter().all(|&n| n < limit));
        }
    }

    #[test]
    fn seeds_choose_the_order() {
        let firsts = |limit| -> HashSet<u32> {
            (0..200).filter_map(|seed| Shuffled::new(limit, &mut fastrand::Rng::with_seed(seed)).next()).collect()
        };
        assert_eq!(firsts(2).len(), 2);
        assert_eq!(firsts(8).len(), 8);
        assert!(firsts(u32::MAX).len() > 190);
    }
}
