//! Logarithms of `f64`.
//!
//! x is taken apart into 2ᵏ · (1 + f) with 1 + f between √½ and √2. With s = f / (2 + f), log(1 + f) is 2 s + s³ · p(s²), which
//! is written as f − (½ f² − s · (½ f² + s² · p(s²))), so that what is rounded is small beside f (K. C. Ng, in fdlibm, 1993).
//! The logarithm to the base 2 multiplies that by log₂e as a sum of two numbers. `log` is within 0.9 ulp, `log2` within 0.8 ulp.

use super::polynomial;
use crate::ops::steps::WideSteps;

/// (log((1 + s) / (1 − s)) − 2 s) / s³ in powers of s²: an error of 2⁻⁵⁹·⁴ of the logarithm.
const LOG: [f64; 7] = [
    0.666_666_666_666_673_6,
    0.399_999_999_994_053_83,
    0.285_714_287_440_998_8,
    0.222_221_984_209_640_5,
    0.181_835_713_839_169,
    0.153_138_860_902_947_43,
    0.147_974_715_934_023_37,
];

/// ln 2, in two parts.
const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];

/// log₂e, in two parts.
const LOG2_E: [f64; 2] = [std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17];

/// The logarithm to the base e.
pub fn log<S: WideSteps>(s: &mut S, x: S::Wide) -> S::Wide {
    let Parts { k, f, square, rest } = parts(s, x);
    let [high, low] = LN_2.map(|part| s.wide(part));
    let minus_one = s.wide(-1.0);
    let rest = s.wide_fma(k, low, rest);
    let below = s.wide_fma(rest, minus_one, square);
    let y = s.wide_fma(below, minus_one, f);
    let result = s.wide_fma(k, high, y);
    outside(s, x, result)
}

/// The logarithm to the base 2.
pub fn log2<S: WideSteps>(s: &mut S, x: S::Wide) -> S::Wide {
    let Parts { k, f, square, rest } = parts(s, x);
    let [high, low] = LOG2_E.map(|part| s.wide(part));
    let minus_one = s.wide(-1.0);
    // log(1 + f) as y and what its rounding left out.
    let y = s.wide_fma(square, minus_one, f);
    let left = s.wide_fma(y, minus_one, f);
    let left = s.wide_fma(square, minus_one, left);
    let left = s.wide_add(left, rest);
    // Its product with log₂e, likewise.
    let product = s.wide_mul(y, high);
    let negated = s.wide_mul(product, minus_one);
    let lost = s.wide_fma(y, high, negated);
    let lost = s.wide_fma(y, low, lost);
    let lost = s.wide_fma(left, high, lost);
    // k is 0, or not less than the product.
    let sum = s.wide_add(k, product);
    let back = s.wide_fma(sum, minus_one, k);
    let back = s.wide_add(back, product);
    let lost = s.wide_add(lost, back);
    let result = s.wide_add(sum, lost);
    outside(s, x, result)
}

/// log x = k · ln 2 + f − (square − rest), for a positive, finite x.
struct Parts<W> {
    k: W,
    f: W,
    /// ½ f².
    square: W,
    rest: W,
}

fn parts<S: WideSteps>(s: &mut S, x: S::Wide) -> Parts<S::Wide> {
    // Subnormal numbers are scaled to normal ones.
    let (least, one, zero) = (s.wide(f64::MIN_POSITIVE), s.wide(1.0), s.wide(0.0));
    let subnormal = s.wide_less(x, least);
    let (up, down) = (s.wide(18_014_398_509_481_984.0), s.wide(-54.0));
    let (scale, shift) = (s.wide_choose(subnormal, up, one), s.wide_choose(subnormal, down, zero));
    let x = s.wide_mul(x, scale);
    let (high, low) = s.halves(x);
    // The upper half of √½.
    let root = s.word(0x3fe6_a09e);
    let above = s.int_sub(high, root);
    // Sign and exponent.
    let exponent = s.and(above, 0xfff0_0000);
    let high = s.int_sub(high, exponent);
    let whole = s.whole(high, low);
    let (exponent, unit) = (s.int_to_wide(exponent), s.wide(1.0 / 1_048_576.0));
    let k = s.wide_fma(exponent, unit, shift);
    let (minus_one, two, half) = (s.wide(-1.0), s.wide(2.0), s.wide(0.5));
    let f = s.wide_add(whole, minus_one);
    let over = s.wide_add(f, two);
    let quotient = s.wide_div(f, over);
    let z = s.wide_mul(quotient, quotient);
    let p = polynomial(s, &LOG, z);
    let halved = s.wide_mul(f, half);
    let square = s.wide_mul(halved, f);
    let sum = s.wide_fma(p, z, square);
    let rest = s.wide_mul(quotient, sum);
    Parts { k, f, square, rest }
}

/// The result for numbers that are not positive or not finite.
fn outside<S: WideSteps>(s: &mut S, x: S::Wide, result: S::Wide) -> S::Wide {
    let (zero, infinity) = (s.wide(0.0), s.wide(f64::INFINITY));
    let (least, nan) = (s.wide(f64::NEG_INFINITY), s.wide(f64::NAN));
    let (positive, none, endless) = (s.wide_less(zero, x), s.wide_equal(x, zero), s.wide_equal(x, infinity));
    let below = s.wide_choose(none, least, nan);
    let result = s.wide_choose(positive, result, below);
    s.wide_choose(endless, infinity, result)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{numbers, ulps};
    use super::*;
    use crate::ops::steps::Now;

    #[test]
    fn close_to_the_logarithm() {
        for x in numbers().take(20_000).map(f64::abs) {
            // Of all exponents, near 1, and subnormal.
            let fraction = (x.to_bits() >> 11 & 0xffff_ffff) as f64 / 2f64.powi(32) - 0.5;
            for x in [x, 1.0 + fraction, 1.0 + fraction * 1e-3, 1.0 + fraction * 1e-9, x.fract() * 1e-310] {
                // The library of the host is within 0.55 ulp.
                let (e, two) = (ulps(Now::wide_function(log, x), x.ln()), ulps(Now::wide_function(log2, x), x.log2()));
                assert!(e < 1.5 && two < 1.5, "{x:e}: {e} and {two} ulp");
            }
        }
    }

    #[test]
    fn ends_of_the_range() {
        for log in [log::<Now>, log2::<Now>] {
            let f = |x| Now::wide_function(log, x);
            assert_eq!(f(1.0).to_bits(), 0);
            assert_eq!([f(0.0), f(-0.0)], [f64::NEG_INFINITY; 2]);
            assert_eq!(f(f64::INFINITY), f64::INFINITY);
            assert!([-5e-324, -1.0, f64::NEG_INFINITY, f64::NAN].iter().all(|&x| f(x).is_nan()));
        }
        // 2⁻¹⁰⁷⁴ is out of reach of `powi`.
        let powers = (-1074..1024).map(|i| (i, if i < -1022 { 5e-324 * 2f64.powi(i + 1074) } else { 2f64.powi(i) }));
        assert!(powers.into_iter().all(|(i, x)| Now::wide_function(log2, x) == f64::from(i)));
    }
}
