//! Random numbers that are the same in every run.

/// A generator of numbers that needs no crate: the constants are Knuth's.
pub struct Random(pub u64);

impl Random {
    /// A number before `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}
