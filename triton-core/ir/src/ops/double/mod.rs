//! Functions of `f64`, written once for the interpreter and for the code.
//!
//! The target has no instructions for them. Each is over [`WideSteps`], of which every step is exact or
//! rounded once, so that it has the same bits on every device. Coefficients are weighted least-squares fits at Chebyshev nodes, which
//! are minimax ones but for a few percent; they are rounded to `f64` one after the other from the lowest, the rest fitted anew each time.
//! The bounds that the files state were measured against arithmetic of 300 bits and more (mpmath), at random numbers of every
//! exponent and near the worst cases.

pub mod exp;
pub mod log;
pub mod trig;

use super::steps::WideSteps;

/// A polynomial by Horner's rule, the coefficients from the lowest.
fn polynomial<S: WideSteps>(s: &mut S, coefficients: &[f64], x: S::Wide) -> S::Wide {
    let mut sum = s.wide(coefficients.last().copied().unwrap_or_default());
    for &c in coefficients.iter().rev().skip(1) {
        let c = s.wide(c);
        sum = s.wide_fma(sum, x, c);
    }
    sum
}

#[cfg(test)]
pub(super) mod tests {
    /// A multiplicative generator: numbers of every exponent and sign.
    pub fn numbers() -> impl Iterator<Item = f64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            f64::from_bits(state ^ state >> 29)
        })
    }

    /// Units in the last place between what was found and what is right; NaN and infinities are right or infinitely wrong.
    pub fn ulps(found: f64, exact: f64) -> f64 {
        if found.to_bits() == exact.to_bits() || found.is_nan() && exact.is_nan() {
            return 0.0;
        }
        if !found.is_finite() || !exact.is_finite() {
            return f64::INFINITY;
        }
        let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1023;
        // In two factors: the unit itself may be subnormal.
        (found - exact).abs() * 2f64.powi(52 - exponent.max(-900)) * 2f64.powi(-(exponent.min(-900) + 900))
    }
}
