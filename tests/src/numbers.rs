//! Random numbers for all tests, the same in every run. The inputs of cases are made of them, and results are recorded for
//! those: the sequence of a seed does not change.

use triton_core::ops::eval;
use triton_core::types::{Class, Constant, DType};

/// A linear congruential generator with the constants of MMIX (Knuth, TAOCP 2, 3.3.4), of which the upper 31 bits are used.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn step(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0
    }

    /// A number below `n`, which is from 1 to 2^31.
    pub fn below(&mut self, n: usize) -> usize {
        (self.step() >> 33) as usize % n
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        (self.below(1 << 31) as u64) << 33 ^ (self.below(1 << 31) as u64) << 11 ^ self.below(1 << 11) as u64
    }

    /// An integer from `-bound` to `bound`.
    pub fn within(&mut self, bound: i64) -> i64 {
        (self.bits() % (2 * bound as u64 + 1)) as i64 - bound
    }

    /// A number from -1 to 1, which is not 1.
    pub fn signed_unit(&mut self) -> f32 {
        (self.step() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Shuffles them.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// The largest magnitude among [`small`] numbers.
pub const SMALL: u32 = 4;

/// The bits of whole numbers from −4 to 4; of unsigned ones and `bool` from 0.
pub fn small(dtype: DType, seed: u64, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let number = |_| {
        let number = random.below(2 * SMALL as usize + 1) as i64 - i64::from(SMALL);
        match dtype.class() {
            Class::Bool => number as u64 & 1,
            Class::Unsigned => number.unsigned_abs(),
            Class::Signed | Class::Float => {
                eval::cast(DType::I64, dtype, &[number as u64]).first().copied().unwrap_or_default()
            }
        }
    };
    (0..count).map(number).collect()
}

/// The bits of whole `f32` of 12 significant bits: every other one is halfway between two of tf32.
pub fn ties(seed: u64, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let number = |_| {
        let (magnitude, is_negative) = ((2048 + random.below(2048)) as f32, random.below(2) == 1);
        u64::from((if is_negative { -magnitude } else { magnitude }).to_bits())
    };
    (0..count).map(number).collect()
}

/// The bits of numbers of every kind: small ones, large ones, ends of the range, infinities, NaN.
pub fn any(dtype: DType, seed: u64, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let number = |_| {
        let bits = random.bits();
        let whole = (bits & 0xff) as i64 - 128;
        match dtype.class() {
            Class::Bool => bits & 1,
            Class::Signed | Class::Unsigned => {
                let low = if dtype.is_signed() { 1u64 << (dtype.bits() - 1) } else { 0 };
                let number = match random.below(16) {
                    0 => low,
                    1 => low.wrapping_sub(1),
                    2 => 0,
                    3..6 => whole as u64,
                    _ => bits,
                };
                Constant::int(dtype, number.into()).bits
            }
            Class::Float => {
                let number = match random.below(64) {
                    0 => f64::INFINITY,
                    1 => f64::NAN,
                    2 => -0.0,
                    3 => f64::NEG_INFINITY,
                    4..8 => whole as f64 * 2f64.powi(random.below(280) as i32 - 140),
                    8..16 => whole as f64 * 2f64.powi(random.below(34) as i32 - 24),
                    16..32 => whole as f64,
                    _ => (bits >> 20) as i32 as f64 / 2f64.powi(28),
                };
                eval::cast(DType::F64, dtype, &[number.to_bits()]).first().copied().unwrap_or_default()
            }
        }
    };
    (0..count).map(number).collect()
}
