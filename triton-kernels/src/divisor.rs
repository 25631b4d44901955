//! Division by a number that a launch knows: a multiplication and a shift.

use triton::prelude::*;

/// A number that is divided by, as `mul_hi` and a shift divide: exact for dividends below 2³¹ (Granlund and Montgomery, "Division by
/// invariant integers using multiplication", 1994, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    /// 0 if the quotient is the dividend.
    pub(crate) magic: u32,
    pub(crate) shift: u32,
}

impl Divisor {
    pub(crate) fn new(divisor: usize) -> Divisor {
        if divisor <= 1 {
            return Divisor { magic: 0, shift: 0 };
        }
        let bits = usize::BITS - (divisor - 1).leading_zeros();
        let magic = (1u64 << (31 + bits)).div_ceil(divisor as u64);
        Divisor { magic: magic as u32, shift: bits - 1 }
    }

    #[cfg(test)]
    fn quotient(self, dividend: u32) -> u32 {
        if self.magic == 0 {
            return dividend;
        }
        ((u64::from(dividend) * u64::from(self.magic)) >> 32) as u32 >> self.shift
    }
}

/// n / d, by the magic number and the shift of d.
#[triton::function]
pub fn quotient(n: Tile<i32>, magic: u32, shift: u32) -> Tile<i32> {
    let n = n.to::<u32>();
    select(magic == 0u32, n, mul_hi(n, magic) >> shift).to::<i32>()
}

/// The same of a scalar.
#[triton::function]
pub fn scalar_quotient(n: i32, magic: u32, shift: u32) -> i32 {
    let n = n.to::<u32>();
    select(magic == 0u32, n, mul_hi(n, magic) >> shift).to::<i32>()
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn divisors_are_exact() {
        let top = i32::MAX as u32;
        for divisor in (1..2000).chain([4095, 4096, 4097, 65_535, 65_537, 1 << 20, (1 << 30) - 1, 1 << 30]) {
            let by = Divisor::new(divisor);
            let near = |multiple: u32| [multiple.saturating_sub(1), multiple, multiple.saturating_add(1).min(top)];
            let last = top / divisor as u32 * divisor as u32;
            for dividend in [0, 1, 2, 12_345, top].into_iter().chain(near(divisor as u32)).chain(near(last)) {
                assert_eq!(by.quotient(dividend), dividend / divisor as u32, "{dividend} / {divisor}");
            }
        }
    }
}
