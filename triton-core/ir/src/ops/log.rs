//! Logarithms, written once for the interpreter and for the code.
//!
//! The target's `lg2.approx` has an error of 2⁻²² near 1, where the logarithm itself vanishes. So x is taken apart into
//! 2ⁱ · (1 + m) with m in [−1/3, 1/3), log(1 + m) is a polynomial in m without an absolute error at 0, and i comes back by
//! one `fma`. Every step is IEEE, so interpreter and GPU agree bit for bit.
//!
//! The coefficients are those of N. Juffa's `logf`, a minimax fit of log(1 + m) on this interval. Over every positive `f32`,
//! subnormals too, `log` is within 0.86 ulp and `log2` within 1.67 ulp.

use super::steps::Steps;

/// The logarithm to the base e.
pub fn log<S: Steps>(steps: &mut S, x: S::Reg) -> S::Reg {
    let (i, r) = parts(steps, x);
    let ln2 = steps.number(std::f32::consts::LN_2);
    let result = steps.fma(i, ln2, r);
    outside(steps, x, result)
}

/// The logarithm to the base 2.
pub fn log2<S: Steps>(steps: &mut S, x: S::Reg) -> S::Reg {
    let (i, r) = parts(steps, x);
    let log2e = steps.number(std::f32::consts::LOG2_E);
    let result = steps.fma(r, log2e, i);
    outside(steps, x, result)
}

/// i and log(1 + m) of a positive, finite x.
fn parts<S: Steps>(s: &mut S, x: S::Reg) -> (S::Reg, S::Reg) {
    let (one, zero) = (s.number(1.0), s.number(0.0));
    // Subnormal numbers are scaled to normal ones.
    let least = s.number(f32::MIN_POSITIVE);
    let denormal = s.less(x, least);
    let (up, down) = (s.number(8_388_608.0), s.number(-23.0));
    let (scale, shift) = (s.choose(denormal, up, one), s.choose(denormal, down, zero));
    let a = s.mul(x, scale);
    let two_thirds = s.number(2.0 / 3.0);
    let above = s.int_sub(a, two_thirds);
    // The upper nine bits: sign and exponent.
    let exponent = s.and(above, 0xff80_0000);
    let whole = s.int_sub(a, exponent);
    let minus_one = s.number(-1.0);
    let m = s.fma(whole, one, minus_one);
    let (exponent, ulp) = (s.int_to_number(exponent), s.number(f32::EPSILON));
    let i = s.fma(exponent, ulp, shift);
    let square = s.mul(m, m);
    let mut even = s.number(-0.130_310_06);
    for c in [-0.121_483_51, -0.166_846_13, -0.249_996_2] {
        let c = s.number(c);
        even = s.fma(even, square, c);
    }
    let mut odd = s.number(0.140_869_14);
    for c in [0.139_814_85, 0.200_120_34] {
        let c = s.number(c);
        odd = s.fma(odd, square, c);
    }
    let mut r = s.fma(odd, m, even);
    for c in [0.333_331_97, -0.5] {
        let c = s.number(c);
        r = s.fma(r, m, c);
    }
    (i, s.fma(r, square, m))
}

/// The result for numbers that are not positive or not finite.
fn outside<S: Steps>(s: &mut S, x: S::Reg, result: S::Reg) -> S::Reg {
    let (zero, infinity) = (s.number(0.0), s.number(f32::INFINITY));
    let (least, nan) = (s.number(f32::NEG_INFINITY), s.number(f32::NAN));
    let (positive, none, endless) = (s.less(zero, x), s.equal(x, zero), s.equal(x, infinity));
    let below = s.choose(none, least, nan);
    let result = s.choose(positive, result, below);
    s.choose(endless, infinity, result)
}

#[cfg(test)]
mod tests {
    use super::super::steps::{Now, tests::ulps};
    use super::*;

    /// Subnormals, both ends of every power of two, and the neighbourhood of 1; every bit pattern was tried once.
    #[test]
    fn close_to_the_logarithm() {
        let near_one = (0..20_000u32).flat_map(|k| [0x3f80_0000 + k * 97, 0x3f80_0000 - k * 89]);
        let spread = (0..100_000u32).map(|k| 1 + k * 21_390);
        let small = (0..2000u32).map(|k| 1 + k * k);
        for bits in near_one.chain(spread).chain(small).filter(|&bits| bits < 0x7f80_0000) {
            let x = f32::from_bits(bits);
            let (e, two) =
                (ulps(Now::function(log, x), f64::from(x).ln()), ulps(Now::function(log2, x), f64::from(x).log2()));
            assert!(e < 0.86 && two < 1.67, "{x:e}: {e} and {two} ulp");
        }
    }

    #[test]
    fn ends_of_the_range() {
        for log in [log::<Now>, log2::<Now>] {
            let f = |x| Now::function(log, x);
            assert_eq!(f(1.0).to_bits(), 0);
            assert_eq!(f(0.0), f32::NEG_INFINITY);
            assert_eq!(f(-0.0), f32::NEG_INFINITY);
            assert_eq!(f(f32::INFINITY), f32::INFINITY);
            assert!([-1e-45, -1.0, f32::NEG_INFINITY, f32::NAN].iter().all(|&x| f(x).is_nan()));
        }
        assert!((-149..128).all(|i| Now::function(log2, 2f64.powi(i) as f32) == i as f32));
    }
}
