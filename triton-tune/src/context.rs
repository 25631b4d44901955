//! Contexts of products: what data is recorded for.

use crate::error::{Error, Result};
use fastrand::Rng;

/// Where contexts are drawn: extents, work and memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Products {
    /// The most rows, columns, and steps of the reduction; the least is 1.
    pub extents: [i64; 3],
    /// The least and the most floating-point operations, 2·M·N·K.
    pub flops: [f64; 2],
    /// The most bytes of both operands and the result together.
    pub bytes: f64,
    /// Bytes of an element.
    pub size: f64,
    /// The share of contexts with extents within 1 of a power of two.
    pub near_powers: f64,
}

impl Default for Products {
    /// M, N to 8192 and K to 131,072; 10⁶ to 10¹² operations; 2 GB; two bytes; a tenth near powers of two.
    fn default() -> Self {
        Self { extents: [8192, 8192, 131_072], flops: [1e6, 1e12], bytes: 2e9, size: 2.0, near_powers: 0.1 }
    }
}

/// Draws before a distribution counts as empty.
const MOST_DRAWS: usize = 1_000_000;

impl Products {
    /// Draws M, N and K, each log-uniform, until work and memory are within their bounds.
    ///
    /// ```
    /// use triton_tune::context::Products;
    ///
    /// let [m, n, k] = Products::default().draw(&mut fastrand::Rng::with_seed(1))?;
    /// assert!((1e6..=1e12).contains(&(2.0 * m as f64 * n as f64 * k as f64)));
    /// # Ok::<(), triton_tune::Error>(())
    /// ```
    ///
    /// # Errors
    /// No context was found within the bounds.
    pub fn draw(&self, rng: &mut Rng) -> Result<[i64; 3]> {
        for _ in 0..MOST_DRAWS {
            let near = rng.f64() < self.near_powers;
            let extents = self.extents.map(|most| {
                let bits = rng.f64() * (most.max(1) as f64 + 1.0).log2();
                if near {
                    let power = 2f64.powi(bits.round() as i32) as i64;
                    (power + rng.i64(-1..=1)).clamp(1, most.max(1))
                } else {
                    (bits.exp2() as i64).clamp(1, most.max(1))
                }
            });
            let [m, n, k] = extents.map(|extent| extent as f64);
            let (flops, bytes) = (2.0 * m * n * k, self.size * (m * k + k * n + m * n));
            if (self.flops[0]..=self.flops[1]).contains(&flops) && bytes <= self.bytes {
                return Ok(extents);
            }
        }
        let found = format!("none in {MOST_DRAWS} draws");
        Err(Error::value("the number of contexts within the bounds", found, "at least one", "widen the bounds"))
    }
}
