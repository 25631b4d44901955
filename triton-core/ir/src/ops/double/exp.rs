//! Exponentials of `f64`.
//!
//! x is taken apart into n · ln 2 + r with |r| ≤ ½ ln 2; eʳ is a polynomial, and 2ⁿ is multiplied in two factors, so that a result
//! which is subnormal is rounded once, and one that is infinite becomes so. The subtraction of n · ln 2 is exact in its first step
//! (W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980, chapter 6). Within 0.9 ulp.

use super::polynomial;
use crate::ops::steps::WideSteps;

/// The addition of this pushes every fraction bit out of a number, and leaves the integer in the lower bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// ln 2, in two parts.
const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];

/// (eʳ − 1 − r) / r² for |r| ≤ 0.3466: an error of 2⁻⁵⁷·⁹ of eʳ.
const EXP: [f64; 10] = [
    0.500_000_000_000_001_3,
    0.166_666_666_666_666_85,
    0.041_666_666_666_511_57,
    0.008_333_333_333_315_953,
    0.001_388_888_894_786_592_3,
    0.000_198_412_698_986_649_48,
    2.480_148_917_255_337e-5,
    2.755_723_286_511_884_6e-6,
    2.763_152_623_514_934_7e-7,
    2.511_265_862_269_313_3e-8,
];

/// (2ʳ − 1) / r for |r| ≤ ½: an error of 2⁻⁵⁷·⁵ of 2ʳ.
const EXP2: [f64; 11] = [
    std::f64::consts::LN_2,
    0.240_226_506_959_101_36,
    0.055_504_108_664_822_936,
    0.009_618_129_107_592_435,
    0.001_333_355_814_616_431_9,
    0.000_154_035_304_590_405_13,
    1.525_273_403_701_791_5e-5,
    1.321_543_439_628_624_5e-6,
    1.017_798_550_145_482_6e-7,
    7.073_925_070_299_364e-9,
    4.465_566_261_044_877_6e-10,
];

/// eˣ.
pub fn exp<S: WideSteps>(s: &mut S, x: S::Wide) -> S::Wide {
    let x = within(s, x);
    let (log2e, one) = (s.wide(std::f64::consts::LOG2_E), s.wide(1.0));
    let (plus, minus) = (s.wide(WHOLE), s.wide(-WHOLE));
    let shifted = s.wide_fma(x, log2e, plus);
    let n = s.wide_add(shifted, minus);
    let mut r = x;
    for part in LN_2 {
        let part = s.wide(-part);
        r = s.wide_fma(n, part, r);
    }
    let p = polynomial(s, &EXP, r);
    let p = s.wide_fma(p, r, one);
    let p = s.wide_fma(p, r, one);
    scaled(s, p, shifted)
}

/// 2ˣ.
pub fn exp2<S: WideSteps>(s: &mut S, x: S::Wide) -> S::Wide {
    let x = within(s, x);
    let (plus, minus, one, minus_one) = (s.wide(WHOLE), s.wide(-WHOLE), s.wide(1.0), s.wide(-1.0));
    let shifted = s.wide_add(x, plus);
    let n = s.wide_add(shifted, minus);
    let r = s.wide_fma(n, minus_one, x);
    let p = polynomial(s, &EXP2, r);
    let p = s.wide_fma(p, r, one);
    scaled(s, p, shifted)
}

/// Numbers beyond ±1200, whose exponentials are 0 and infinite as those of the ends are; NaN stays.
fn within<S: WideSteps>(s: &mut S, x: S::Wide) -> S::Wide {
    let (least, most) = (s.wide(-1200.0), s.wide(1200.0));
    let (below, above) = (s.wide_less(x, least), s.wide_less(most, x));
    let x = s.wide_choose(below, least, x);
    s.wide_choose(above, most, x)
}

/// p · 2ⁿ, where n is in the lower bits of a word: as p · 2ᵐ · 2ⁿ⁻ᵐ with m = ⌊n / 2⌋, both powers normal numbers.
fn scaled<S: WideSteps>(s: &mut S, p: S::Wide, n: S::Wide) -> S::Wide {
    // An even number more, so that what is halved is positive.
    const MORE: u32 = 4096;
    let (_, n) = s.halves(n);
    let (more, less) = (s.word(MORE), s.word(MORE / 2 - 1023));
    let sum = s.int_add(n, more);
    let half = s.shr(sum, 1);
    let rest = s.int_sub(sum, half);
    let mut p = p;
    for exponent in [half, rest] {
        let exponent = s.int_sub(exponent, less);
        let (high, low) = (s.shl(exponent, 20), s.word(0));
        let power = s.whole(high, low);
        p = s.wide_mul(p, power);
    }
    p
}

#[cfg(test)]
mod tests {
    use super::super::tests::{numbers, ulps};
    use super::*;
    use crate::ops::steps::Now;

    #[test]
    fn close_to_the_exponential() {
        for x in numbers().take(20_000) {
            // Of all exponents, and of those whose exponentials are finite.
            let inside = (x.to_bits() >> 11) as f64 / 2f64.powi(53) * 1460.0 - 748.0;
            for x in [x, inside, inside * 1e-3] {
                // The library of the host is within 0.52 ulp.
                let (e, two) = (ulps(Now::wide_function(exp, x), x.exp()), ulps(Now::wide_function(exp2, x), x.exp2()));
                assert!(e < 1.5 && two < 1.5, "{x:e}: {e} and {two} ulp");
            }
        }
    }

    #[test]
    fn ends_of_the_range() {
        let (e, two) = (|x| Now::wide_function(exp, x), |x| Now::wide_function(exp2, x));
        for f in [e, two] as [fn(f64) -> f64; 2] {
            assert_eq!([f(0.0), f(-0.0), f(5e-324), f(-5e-324)], [1.0; 4]);
            assert_eq!([f(f64::INFINITY), f(f64::MAX), f(1100.0)], [f64::INFINITY; 3]);
            assert_eq!([f(f64::NEG_INFINITY), f(f64::MIN), f(-1100.0)].map(f64::to_bits), [0; 3]);
            assert!(f(f64::NAN).is_nan());
        }
        assert_eq!([two(1023.0), two(-1022.0), two(-1074.0)], [2f64.powi(1023), f64::MIN_POSITIVE, 5e-324]);
        assert_eq!([two(1024.0), two(-1076.0)], [f64::INFINITY, 0.0]);
        // The largest whose exponential is finite and the least whose one is not 0, and those next to them.
        let (most, least) = (709.782_712_893_384, -745.133_219_101_941_1_f64);
        assert_eq!([e(most).is_finite(), e(most.next_up()).is_finite()], [true, false]);
        assert_eq!([e(least), e(least.next_down())], [5e-324, 0.0]);
    }
}
