//! Sine and cosine of `f64`.
//!
//! As [those of `f32`](crate::ops::trig): x is taken apart into q · π/2 + r with |r| a hair above π/4 at most, q says which of ±sin r
//! and ±cos r is wanted, and each is a polynomial in r². Here r is the sum of two numbers, of which the second is what the first's
//! rounding left out, since an error of r is one of the sine.
//!
//! Up to 2³⁰, q · π/2 is subtracted in three parts; the first subtraction, an `fma`, is exact (Cody and Waite 1980,
//! chapter 8). Beyond that, by Payne's and Hanek's method (1983), from a window of 192 bits of 2/π, of which the bits
//! before give whole turns, and those after change r by 2⁻⁷⁰ of it at most, as no `f64` is nearer than 2⁻⁶² to a multiple of π/2
//! (J.-M. Muller et al., "Handbook of Floating-Point Arithmetic", 2nd edition, section 10.2). That path is behind a branch.
//! Both functions are within 0.8 ulp.

use super::polynomial;
use crate::ops::steps::WideSteps;

/// Up to here q is exact, and r hardly exceeds π/4.
const MOST: f64 = 1_073_741_824.0;

/// π/2, in three parts.
const HALF_PI: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// The bits of 2/π, after 24 zeros: as many as the largest exponent needs.
const TWO_OVER_PI: [u32; 38] = [
    0x0000_00a2,
    0xf983_6e4e,
    0x4415_29fc,
    0x2757_d1f5,
    0x34dd_c0db,
    0x6295_993c,
    0x4390_41fe,
    0x5163_abde,
    0xbbc5_61b7,
    0x246e_3a42,
    0x4dd2_e006,
    0x492e_ea09,
    0xd192_1cfe,
    0x1deb_1cb1,
    0x29a7_3ee8,
    0x8235_f52e,
    0xbb44_84e9,
    0x9c70_26b4,
    0x5f7e_4139,
    0x91d6_3983,
    0x5339_f49c,
    0x845f_8bbd,
    0xf928_3b1f,
    0xf897_ffde,
    0x0598_0fef,
    0x2f11_8b5a,
    0x0a6d_1f6d,
    0x367e_cf27,
    0xcb09_b74f,
    0x463f_669e,
    0x5fea_2d75,
    0x27ba_c7eb,
    0xe5f1_7b3d,
    0x0739_f78a,
    0x5292_ea6b,
    0xfb5f_b11f,
    0x8d5d_0856,
    0x0330_46fc,
];

/// (sin r − r) / r³ in powers of r²: an error of 2⁻⁵⁷·⁹ of the sine.
const SINE: [f64; 6] = [
    -0.166_666_666_666_666_3,
    0.008_333_333_333_321_976,
    -0.000_198_412_698_295_251_02,
    2.755_731_360_898_962_4e-6,
    -2.505_074_680_125_749_6e-8,
    1.589_621_215_068_324_7e-10,
];

/// (cos r − 1 + r²/2) / r⁴ in powers of r²: an error of 2⁻⁶⁴ of the cosine.
const COSINE: [f64; 6] = [
    0.041_666_666_666_666_595,
    -0.001_388_888_888_887_346_1,
    2.480_158_728_911_981_7e-5,
    -2.755_731_425_868_323e-7,
    2.087_571_170_743_933_3e-9,
    -1.135_909_732_810_255_6e-11,
];

/// q, of which the lower two bits are right, and r in two parts.
pub type Reduced<S> = (<S as crate::ops::steps::Steps>::Reg, [<S as WideSteps>::Wide; 2]);

/// The sines.
pub fn sin<S: WideSteps, const N: usize>(s: &mut S, x: [S::Wide; N]) -> [S::Wide; N] {
    let results = ahead(s, x, 0);
    // The sum of r and what its rounding left out has lost the sign of −0.
    let zero = s.wide(0.0);
    std::array::from_fn(|i| {
        let is_zero = s.wide_equal(x[i], zero);
        s.wide_choose(is_zero, x[i], results[i])
    })
}

/// The cosines: the sines a quarter of a turn ahead.
pub fn cos<S: WideSteps, const N: usize>(s: &mut S, x: [S::Wide; N]) -> [S::Wide; N] {
    ahead(s, x, 1)
}

/// The sines this many quarters of a turn ahead.
fn ahead<S: WideSteps, const N: usize>(s: &mut S, x: [S::Wide; N], by: u8) -> [S::Wide; N] {
    let usual = x.map(|x| subtracted(s, x, by));
    let most = s.wide(MOST);
    let size = x.map(|x| {
        let (high, low) = s.halves(x);
        let high = s.and(high, 0x7fff_ffff);
        s.whole(high, low)
    });
    let huge = size.map(|size| s.wide_less(most, size));
    let any = huge.into_iter().reduce(|a, b| s.either(a, b));
    let reduced = match any {
        None => usual,
        Some(any) => s.rare_wide_branch(any, usual, |s| {
            std::array::from_fn(|i| {
                let (q, [r, rest]) = reduced_huge(s, x[i], size[i]);
                let by = s.word(by.into());
                let q = s.int_add(q, by);
                let (q_usual, [r_usual, rest_usual]) = usual[i];
                let q = s.choose(huge[i], q, q_usual);
                (q, [s.wide_choose(huge[i], r, r_usual), s.wide_choose(huge[i], rest, rest_usual)])
            })
        }),
    };
    reduced.map(|(q, [r, rest])| quarter(s, q, r, rest))
}

/// Of |x| up to 2³⁰; r is NaN if x is infinite. What q is to be ahead by is in it, at no cost.
fn subtracted<S: WideSteps>(s: &mut S, x: S::Wide, by: u8) -> Reduced<S> {
    // The addition pushes every fraction bit out of the number, and leaves the integer in the lower bits.
    let whole = 6_755_399_441_055_744.0 + f64::from(by);
    let (plus, minus, two_over_pi) = (s.wide(whole), s.wide(-whole), s.wide(std::f64::consts::FRAC_2_PI));
    let shifted = s.wide_fma(x, two_over_pi, plus);
    let turns = s.wide_add(shifted, minus);
    let (_, q) = s.halves(shifted);
    let [first, second, third] = HALF_PI.map(|part| s.wide(-part));
    let minus_one = s.wide(-1.0);
    let exact = s.wide_fma(turns, first, x);
    // The second product as a sum of two numbers, and what is lost where the first of them is added: near a multiple of π/2 it is
    // larger than what it is added to, or cancels it (D. E. Knuth's sum, "Seminumerical Algorithms", section 4.2.2).
    let product = s.wide_mul(turns, second);
    let negated = s.wide_mul(product, minus_one);
    let left = s.wide_fma(turns, second, negated);
    let r = s.wide_add(exact, product);
    let added = s.wide_fma(exact, minus_one, r);
    let kept = s.wide_fma(added, minus_one, r);
    let lost_exact = s.wide_fma(kept, minus_one, exact);
    let lost_product = s.wide_fma(added, minus_one, product);
    let lost = s.wide_add(lost_exact, lost_product);
    let rest = s.wide_add(lost, left);
    let rest = s.wide_fma(turns, third, rest);
    (q, [r, rest])
}

/// The same for |x| = m · 2^(exponent) from 2³⁰ on, m an integer of 53 bits; r is NaN if that is infinite.
fn reduced_huge<S: WideSteps>(s: &mut S, x: S::Wide, size: S::Wide) -> Reduced<S> {
    let (high, low) = s.halves(size);
    let (exponent, first) = (s.shr(high, 20), s.word(1023 + 30));
    let at = s.int_sub(exponent, first);
    let high = s.and(high, 0xf_ffff);
    let high = s.or(high, 0x10_0000);
    let m = s.whole(high, low);
    // `at` is from 0 to 994: five bits choose the words, five move them.
    let mut near: Vec<S::Reg> = TWO_OVER_PI.iter().map(|&word| s.word(word)).collect();
    for words in [16, 8, 4, 2, 1] {
        let later = s.has(at, 32 * words as u32);
        let kept = 6 + words;
        near = (0..kept).map(|i| s.choose(later, near[i + words], near[i])).collect();
    }
    let [w0, w1, w2] = [0, 2, 4].map(|i| {
        let (high, low) = (s.funnel(near[i], near[i + 1], at), s.funnel(near[i + 1], near[i + 2], at));
        s.whole(high, low)
    });
    // The upper 128 bits of the product, modulo 2¹⁹²: two of quarters, the others of a fraction of one.
    let (carried, low) = (s.wide_int_mul_high(m, w2), s.wide_int_mul(m, w1));
    let low = s.wide_int_add(low, carried);
    let overflows = s.wide_int_less(low, carried);
    let (high, carried) = (s.wide_int_mul(m, w0), s.wide_int_mul_high(m, w1));
    let high = s.wide_int_add(high, carried);
    let (one, none) = (s.wide(f64::from_bits(1)), s.wide(0.0));
    let carried = s.wide_choose(overflows, one, none);
    let high = s.wide_int_add(high, carried);
    let ((w0, w1), (w2, w3)) = (s.halves(high), s.halves(low));
    // Half a quarter more rounds to the nearest; what is left then is a signed fraction.
    let half = s.word(1 << 29);
    let nearest = s.int_add(w0, half);
    let (q, two, zero) = (s.shr(nearest, 30), s.word(2), s.word(0));
    let words = [w0, w1, w2, w3];
    let [w0, w1, w2, w3] = std::array::from_fn(|i| s.funnel(words[i], words.get(i + 1).copied().unwrap_or(zero), two));
    let [f0, f1, f2, f3] = [s.int_to_wide(w0), s.word_to_wide(w1), s.word_to_wide(w2), s.word_to_wide(w3)];
    let [u0, u1, u2, u3] = [-32, -64, -96, -128].map(|exponent| s.wide(2f64.powi(exponent)));
    // The fraction as a sum of two numbers: where the first words vanish, or cancel, the others are exact.
    let minus_one = s.wide(-1.0);
    let first = s.wide_mul(f0, u0);
    let sum = s.wide_fma(f1, u1, first);
    let left = s.wide_fma(sum, minus_one, first);
    let left = s.wide_fma(f1, u1, left);
    let later = s.wide_mul(f2, u2);
    let later = s.wide_fma(f3, u3, later);
    let later = s.wide_add(left, later);
    let fraction = s.wide_add(sum, later);
    let lost = s.wide_fma(fraction, minus_one, sum);
    let lost = s.wide_add(lost, later);
    // Times π/2, likewise.
    let [half_pi, low_pi, _] = HALF_PI.map(|part| s.wide(part));
    let r = s.wide_mul(fraction, half_pi);
    let negated = s.wide_mul(r, minus_one);
    let rest = s.wide_fma(fraction, half_pi, negated);
    let rest = s.wide_fma(lost, half_pi, rest);
    let rest = s.wide_fma(fraction, low_pi, rest);
    // ∞ · 0 is NaN; any other number gives 0.
    let r = s.wide_fma(size, none, r);
    let ((high, _), minus) = (s.halves(x), s.int_sub(zero, q));
    let (negative, sign) = (s.has(high, 1 << 31), s.and(high, 1 << 31));
    let [r, rest] = [r, rest].map(|part| {
        let (high, low) = s.halves(part);
        let high = s.xor(high, sign);
        s.whole(high, low)
    });
    (s.choose(negative, minus, q), [r, rest])
}

/// sin(q · π/2 + r + rest).
fn quarter<S: WideSteps>(s: &mut S, q: S::Reg, r: S::Wide, rest: S::Wide) -> S::Wide {
    let (z, minus_half, minus_one, one) = (s.wide_mul(r, r), s.wide(-0.5), s.wide(-1.0), s.wide(1.0));
    let half = s.wide_mul(z, minus_half);
    // sin(r + rest) = r + (r³ · p(r²) + rest · (1 − r²/2)).
    let (p, cube) = (polynomial(s, &SINE, z), s.wide_mul(z, r));
    let more = s.wide_fma(rest, half, rest);
    let more = s.wide_fma(p, cube, more);
    let sine = s.wide_add(r, more);
    // cos(r + rest) = (1 − r²/2) + (what that lost + r⁴ · p(r²) − rest · r).
    let (p, fourth) = (polynomial(s, &COSINE, z), s.wide_mul(z, z));
    let near = s.wide_add(one, half);
    let lost = s.wide_fma(near, minus_one, one);
    let lost = s.wide_add(lost, half);
    let lost = s.wide_fma(p, fourth, lost);
    let turned = s.wide_mul(rest, minus_one);
    let lost = s.wide_fma(turned, r, lost);
    let cosine = s.wide_add(near, lost);
    let odd = s.has(q, 1);
    let result = s.wide_choose(odd, cosine, sine);
    let below = s.and(q, 2);
    let sign = s.shl(below, 30);
    let (high, low) = s.halves(result);
    let high = s.xor(high, sign);
    s.whole(high, low)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{numbers, ulps};
    use super::*;
    use crate::ops::steps::Now;

    fn both(x: f64) -> (f64, f64) {
        let bits = [x.to_bits()];
        let (sine, cosine) = (sin(&mut Now, bits), cos(&mut Now, bits));
        (f64::from_bits(sine[0]), f64::from_bits(cosine[0]))
    }

    /// Every exponent, the neighbourhoods of multiples of π/2, and where one method of reduction takes over from the other.
    #[test]
    fn close_to_sine_and_cosine() {
        let multiples =
            (1..20_000u32).chain((0..20_000).map(|k| k * 65_537)).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_2);
        let takes_over = (0..500u64).flat_map(|k| [MOST.to_bits() - k, MOST.to_bits() + k]).map(f64::from_bits);
        let moderate = numbers().take(20_000).map(|x| (x.to_bits() >> 11) as f64 / 2f64.powi(46));
        for x in numbers().take(20_000).chain(multiples).chain(takes_over).chain(moderate) {
            if !x.is_finite() {
                continue;
            }
            let (sine, cosine) = both(x);
            // The library of the host is within 0.55 ulp.
            let errors = (ulps(sine, x.sin()), ulps(cosine, x.cos()));
            assert!(errors.0 < 1.4 && errors.1 < 1.4, "{x:e}: {errors:?} ulp");
            assert_eq!(both(-x), (-sine, cosine), "sin is odd, cos is even");
        }
    }

    /// From arithmetic of 1700 bits. The first is the one nearest to a multiple of π/2 (Muller et al., table 10.2): libraries differ there.
    #[test]
    fn far_out_and_near_multiples() {
        let known = [
            (6_381_956_970_095_103.0 * 2f64.powi(797), 1.0, -4.687_165_924_254_628e-19),
            (1e22, -0.852_200_849_767_188_8, 0.523_214_785_395_139),
            (2f64.powi(1023), 0.563_127_779_850_884, -0.826_369_834_614_148),
            (f64::MAX, 0.004_961_954_789_184_062, -0.999_987_689_426_559_9),
            (1e5, 0.035_748_797_972_016_51, -0.999_360_807_438_212_4),
            (std::f64::consts::FRAC_PI_2, 1.0, 6.123_233_995_736_766e-17),
            (-std::f64::consts::PI, -1.224_646_799_147_353_2e-16, -1.0),
        ];
        for (x, sine, cosine) in known {
            let found = both(x);
            assert!(ulps(found.0, sine) <= 1.0 && ulps(found.1, cosine) <= 1.0, "{x:e}: {found:?}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        for zero in [0.0, -0.0] {
            let (sine, cosine) = both(zero);
            assert_eq!((sine.to_bits(), cosine), (f64::to_bits(zero), 1.0));
        }
        for tiny in [5e-324, f64::MIN_POSITIVE, 1e-300] {
            assert_eq!(both(tiny), (tiny, 1.0));
        }
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let (sine, cosine) = both(x);
            assert!(sine.is_nan() && cosine.is_nan());
        }
    }
}
