//! Single steps of arithmetic: evaluated, or emitted as instructions.
//!
//! A function that is written over [`Steps`] is the interpreter's and the code's in one, and every step is exact or rounded as
//! IEEE has it, so that it gives the same bits on every device.

/// Arithmetic on words of 32 bits. Each step says whether it reads them as `f32`, as integers (which wrap) or as bits.
pub trait Steps {
    /// A word.
    type Reg: Copy;
    /// A condition.
    type Pred: Copy;
    /// A known word.
    fn word(&mut self, bits: u32) -> Self::Reg;
    /// A known number.
    fn number(&mut self, x: f32) -> Self::Reg {
        self.word(x.to_bits())
    }
    /// a · b of numbers.
    fn mul(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// a · b + c of numbers, rounded once.
    fn fma(&mut self, a: Self::Reg, b: Self::Reg, c: Self::Reg) -> Self::Reg;
    /// a < b of numbers.
    fn less(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Pred;
    /// a = b of numbers.
    fn equal(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Pred;
    /// A signed integer as a number.
    fn int_to_number(&mut self, a: Self::Reg) -> Self::Reg;
    /// The signed integer of 64 bits with this upper and this lower half, as a number of these units: to `f64`, times
    /// the unit, to `f32`, each rounded.
    fn scaled(&mut self, high: Self::Reg, low: Self::Reg, unit: f64) -> Self::Reg;
    /// a + b of integers.
    fn int_add(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// a − b of integers.
    fn int_sub(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// a · b + c of integers.
    fn int_fma(&mut self, a: Self::Reg, b: Self::Reg, c: Self::Reg) -> Self::Reg;
    /// The upper and the lower half of a · b + c of unsigned integers.
    fn int_fma_wide(&mut self, a: Self::Reg, b: Self::Reg, c: Self::Reg) -> (Self::Reg, Self::Reg);
    /// The bits of a mask.
    fn and(&mut self, a: Self::Reg, mask: u32) -> Self::Reg;
    /// Bitwise or.
    fn or(&mut self, a: Self::Reg, bits: u32) -> Self::Reg;
    /// Bitwise exclusive or.
    fn xor(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// The bits shifted left, by less than 32.
    fn shl(&mut self, a: Self::Reg, by: u32) -> Self::Reg;
    /// The bits shifted right, by less than 32; zeros are shifted in.
    fn shr(&mut self, a: Self::Reg, by: u32) -> Self::Reg;
    /// The upper half of `high:low`, the concatenation, shifted left by the lower five bits of `by`.
    fn funnel(&mut self, high: Self::Reg, low: Self::Reg, by: Self::Reg) -> Self::Reg;
    /// Whether it has a bit of the mask.
    fn has(&mut self, a: Self::Reg, mask: u32) -> Self::Pred;
    /// Whether one of them holds, or both.
    fn either(&mut self, a: Self::Pred, b: Self::Pred) -> Self::Pred;
    /// `a` if the condition holds, else `b`.
    fn choose(&mut self, cond: Self::Pred, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// The words of `other` where the condition holds, which is rare, and otherwise costs nothing; otherwise the usual ones, whose
    /// registers are given up to it.
    fn rare_branch<const M: usize, const N: usize>(
        &mut self,
        cond: Self::Pred,
        usual: [[Self::Reg; M]; N],
        other: impl FnOnce(&mut Self) -> [[Self::Reg; M]; N],
    ) -> [[Self::Reg; M]; N];
}

/// Arithmetic on numbers of `f64`, and on unsigned integers of 64 bits, beside that on words: a [`Wide`](Self::Wide) is either, as a
/// step reads it.
pub trait WideSteps: Steps {
    /// 64 bits.
    type Wide: Copy;
    /// A known number.
    fn wide(&mut self, x: f64) -> Self::Wide;
    /// The bits with this upper and this lower half.
    fn whole(&mut self, high: Self::Reg, low: Self::Reg) -> Self::Wide;
    /// The upper and the lower half of the bits.
    fn halves(&mut self, a: Self::Wide) -> (Self::Reg, Self::Reg);
    /// a + b of numbers.
    fn wide_add(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// a · b of numbers.
    fn wide_mul(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// a · b + c of numbers, rounded once.
    fn wide_fma(&mut self, a: Self::Wide, b: Self::Wide, c: Self::Wide) -> Self::Wide;
    /// a / b of numbers.
    fn wide_div(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// a < b of numbers.
    fn wide_less(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Pred;
    /// a = b of numbers.
    fn wide_equal(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Pred;
    /// A signed integer as a number.
    fn int_to_wide(&mut self, a: Self::Reg) -> Self::Wide;
    /// An unsigned integer as a number.
    fn word_to_wide(&mut self, a: Self::Reg) -> Self::Wide;
    /// a + b of integers, modulo 2⁶⁴.
    fn wide_int_add(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// a · b of integers, modulo 2⁶⁴.
    fn wide_int_mul(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// The upper 64 bits of a · b of integers.
    fn wide_int_mul_high(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// a < b of integers.
    fn wide_int_less(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Pred;
    /// `a` if the condition holds, else `b`.
    fn wide_choose(&mut self, cond: Self::Pred, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// [`Steps::rare_branch`] of words and numbers.
    fn rare_wide_branch<const M: usize, const N: usize>(
        &mut self,
        cond: Self::Pred,
        usual: [(Self::Reg, [Self::Wide; M]); N],
        other: impl FnOnce(&mut Self) -> [(Self::Reg, [Self::Wide; M]); N],
    ) -> [(Self::Reg, [Self::Wide; M]); N];
}

/// Evaluates every step.
pub struct Now;

impl Now {
    /// A function of one number.
    pub fn function(f: fn(&mut Now, u32) -> u32, x: f32) -> f32 {
        f32::from_bits(f(&mut Now, x.to_bits()))
    }

    /// A function of one number of `f64`.
    pub fn wide_function(f: fn(&mut Now, u64) -> u64, x: f64) -> f64 {
        f64::from_bits(f(&mut Now, x.to_bits()))
    }
}

impl Steps for Now {
    type Reg = u32;
    type Pred = bool;
    fn word(&mut self, bits: u32) -> u32 {
        bits
    }
    fn mul(&mut self, a: u32, b: u32) -> u32 {
        (f32::from_bits(a) * f32::from_bits(b)).to_bits()
    }
    fn fma(&mut self, a: u32, b: u32, c: u32) -> u32 {
        f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)).to_bits()
    }
    fn less(&mut self, a: u32, b: u32) -> bool {
        f32::from_bits(a) < f32::from_bits(b)
    }
    fn equal(&mut self, a: u32, b: u32) -> bool {
        f32::from_bits(a) == f32::from_bits(b)
    }
    fn int_to_number(&mut self, a: u32) -> u32 {
        (a as i32 as f32).to_bits()
    }
    fn scaled(&mut self, high: u32, low: u32, unit: f64) -> u32 {
        let int = (u64::from(high) << 32 | u64::from(low)) as i64;
        ((int as f64 * unit) as f32).to_bits()
    }
    fn int_add(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }
    fn int_sub(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }
    fn int_fma(&mut self, a: u32, b: u32, c: u32) -> u32 {
        a.wrapping_mul(b).wrapping_add(c)
    }
    fn int_fma_wide(&mut self, a: u32, b: u32, c: u32) -> (u32, u32) {
        let wide = u64::from(a) * u64::from(b) + u64::from(c);
        ((wide >> 32) as u32, wide as u32)
    }
    fn and(&mut self, a: u32, mask: u32) -> u32 {
        a & mask
    }
    fn or(&mut self, a: u32, bits: u32) -> u32 {
        a | bits
    }
    fn xor(&mut self, a: u32, b: u32) -> u32 {
        a ^ b
    }
    fn shl(&mut self, a: u32, by: u32) -> u32 {
        a << by
    }
    fn shr(&mut self, a: u32, by: u32) -> u32 {
        a >> by
    }
    fn funnel(&mut self, high: u32, low: u32, by: u32) -> u32 {
        ((u64::from(high) << 32 | u64::from(low)) << (by & 31) >> 32) as u32
    }
    fn has(&mut self, a: u32, mask: u32) -> bool {
        a & mask != 0
    }
    fn either(&mut self, a: bool, b: bool) -> bool {
        a || b
    }
    fn choose(&mut self, cond: bool, a: u32, b: u32) -> u32 {
        if cond { a } else { b }
    }
    fn rare_branch<const M: usize, const N: usize>(
        &mut self,
        cond: bool,
        usual: [[u32; M]; N],
        other: impl FnOnce(&mut Self) -> [[u32; M]; N],
    ) -> [[u32; M]; N] {
        if cond { other(self) } else { usual }
    }
}

impl WideSteps for Now {
    type Wide = u64;
    fn wide(&mut self, x: f64) -> u64 {
        x.to_bits()
    }
    fn whole(&mut self, high: u32, low: u32) -> u64 {
        u64::from(high) << 32 | u64::from(low)
    }
    fn halves(&mut self, a: u64) -> (u32, u32) {
        ((a >> 32) as u32, a as u32)
    }
    fn wide_add(&mut self, a: u64, b: u64) -> u64 {
        (f64::from_bits(a) + f64::from_bits(b)).to_bits()
    }
    fn wide_mul(&mut self, a: u64, b: u64) -> u64 {
        (f64::from_bits(a) * f64::from_bits(b)).to_bits()
    }
    fn wide_fma(&mut self, a: u64, b: u64, c: u64) -> u64 {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    }
    fn wide_div(&mut self, a: u64, b: u64) -> u64 {
        (f64::from_bits(a) / f64::from_bits(b)).to_bits()
    }
    fn wide_less(&mut self, a: u64, b: u64) -> bool {
        f64::from_bits(a) < f64::from_bits(b)
    }
    fn wide_equal(&mut self, a: u64, b: u64) -> bool {
        f64::from_bits(a) == f64::from_bits(b)
    }
    fn int_to_wide(&mut self, a: u32) -> u64 {
        f64::from(a as i32).to_bits()
    }
    fn word_to_wide(&mut self, a: u32) -> u64 {
        f64::from(a).to_bits()
    }
    fn wide_int_add(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    fn wide_int_mul(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }
    fn wide_int_mul_high(&mut self, a: u64, b: u64) -> u64 {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
    fn wide_int_less(&mut self, a: u64, b: u64) -> bool {
        a < b
    }
    fn wide_choose(&mut self, cond: bool, a: u64, b: u64) -> u64 {
        if cond { a } else { b }
    }
    fn rare_wide_branch<const M: usize, const N: usize>(
        &mut self,
        cond: bool,
        usual: [(u32, [u64; M]); N],
        other: impl FnOnce(&mut Self) -> [(u32, [u64; M]); N],
    ) -> [(u32, [u64; M]); N] {
        if cond { other(self) } else { usual }
    }
}

#[cfg(test)]
pub(super) mod tests {
    /// Units in the last place of `f32` between what was found and what is right.
    pub fn ulps(found: f32, exact: f64) -> f64 {
        if exact == 0.0 {
            return if found == 0.0 { 0.0 } else { f64::INFINITY };
        }
        let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-126);
        (f64::from(found) - exact).abs() / 2f64.powi(exponent - 23)
    }
}
