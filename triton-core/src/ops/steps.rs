//! Single steps of arithmetic: done at once, or written down as instructions.
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
    /// a − b of integers.
    fn int_sub(&mut self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// The bits of a mask.
    fn and(&mut self, a: Self::Reg, mask: u32) -> Self::Reg;
    /// `a` if the condition holds, else `b`.
    fn choose(&mut self, cond: Self::Pred, a: Self::Reg, b: Self::Reg) -> Self::Reg;
}

/// Does every step at once.
pub struct Now;

impl Now {
    /// A function of one number.
    pub fn function(f: fn(&mut Now, u32) -> u32, x: f32) -> f32 {
        f32::from_bits(f(&mut Now, x.to_bits()))
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
    fn int_sub(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }
    fn and(&mut self, a: u32, mask: u32) -> u32 {
        a & mask
    }
    fn choose(&mut self, cond: bool, a: u32, b: u32) -> u32 {
        if cond { a } else { b }
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
