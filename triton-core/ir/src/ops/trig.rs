//! Sine and cosine, written once for the interpreter and for the code.
//!
//! The target's `sin.approx` has an absolute error of about 2⁻²⁰, and more the larger x is: too much near a multiple of
//! π, where the sine vanishes. So x is taken apart into q · π/2 + r with |r| a hair above π/4 at most; q says which of ±sin r
//! and ±cos r is wanted, and each is a polynomial in r².
//!
//! Up to 2¹⁷, q · π/2 is subtracted in three parts, each by one `fma`; the first subtraction is exact (W. J. Cody and W. Waite,
//! "Software Manual for the Elementary Functions", 1980, chapter 8). Beyond that only those bits of x · 2/π are computed that
//! are not whole turns, and enough after them, from a window of the bits of 2/π that x's exponent chooses (M. H. Payne
//! and R. N. Hanek, "Radian reduction for trigonometric functions", 1983; J.-M. Muller et al., "Handbook of
//! Floating-Point Arithmetic", 2nd edition, section 10.2). That path is behind a branch, one for all numbers that are
//! given at once: the straight-line code of the others stays contiguous.
//!
//! The coefficients are minimax fits (Remez) for |r| ≤ 0.7886, rounded to `f32` one after the other from the lowest, the rest
//! fitted anew each time: with an error of 2⁻²⁷·⁸ of the sine and 2⁻³²·⁹ of the cosine. Over every `f32`, both are within
//! 1.56 ulp, and within 0.88 ulp where nothing has to be subtracted from x.

use super::steps::Steps;

/// Up to here q is exact, and r hardly exceeds π/4.
const MOST: f32 = 131_072.0;

/// −π/2, in three parts: two of 24 bits, cut off, and the rest. They have one sign, so that −0 stays −0.
const MINUS_HALF_PI: [u32; 3] = [0xbfc9_0fda, 0xb3a2_2168, 0xa7c2_34c5];

/// The bits of 2/π, after 8 zeros.
const TWO_OVER_PI: [u32; 7] =
    [0x00a2_f983, 0x6e4e_4415, 0x29fc_2757, 0xd1f5_34dd, 0xc0db_6295, 0x993c_4390, 0x41fe_5163];

/// (sin r − r) / r³ in powers of r², the highest first.
const SINE: [f32; 3] = [-0.000_195_078_83, 0.008_332_106, -0.166_666_54];

/// (cos r − 1) / r² in powers of r², the highest first.
const COSINE: [f32; 4] = [2.443_165e-5, -0.001_388_730_6, 0.041_666_646, -0.5];

/// The sines. `small`: no x is finite and beyond 2¹⁷.
pub fn sin<S: Steps, const N: usize>(s: &mut S, x: [S::Reg; N], small: bool) -> [S::Reg; N] {
    ahead(s, x, 0, small)
}

/// The cosines: the sines a quarter of a turn ahead.
pub fn cos<S: Steps, const N: usize>(s: &mut S, x: [S::Reg; N], small: bool) -> [S::Reg; N] {
    ahead(s, x, 1, small)
}

/// The sines this many quarters of a turn ahead.
fn ahead<S: Steps, const N: usize>(s: &mut S, x: [S::Reg; N], by: u8, small: bool) -> [S::Reg; N] {
    let usual = x.map(|x| subtracted(s, x, by));
    let (size, most) = (x.map(|x| s.and(x, 0x7fff_ffff)), s.number(MOST));
    let huge = size.map(|size| s.less(most, size));
    let any = huge.into_iter().reduce(|a, b| s.either(a, b));
    let reduced = match any.filter(|_| !small) {
        None => usual,
        Some(any) => s.rare_branch(any, usual, |s| {
            std::array::from_fn(|i| {
                let [q, r] = reduced_huge(s, x[i], size[i]);
                let by = s.word(by.into());
                let q = s.int_add(q, by);
                [s.choose(huge[i], q, usual[i][0]), s.choose(huge[i], r, usual[i][1])]
            })
        }),
    };
    reduced.map(|[q, r]| quarter(s, q, r))
}

/// q, of which the lower two bits are right, and r, of |x| up to 2¹⁷; r is NaN if x is infinite. What q is to be ahead by is in
/// it, at no cost.
fn subtracted<S: Steps>(s: &mut S, x: S::Reg, by: u8) -> [S::Reg; 2] {
    // The addition pushes every fraction bit out of the number, and leaves the integer in the lower bits.
    let whole = 12_582_912.0 + f32::from(by);
    let (plus, minus, one) = (s.number(whole), s.number(-whole), s.number(1.0));
    let two_over_pi = s.number(std::f32::consts::FRAC_2_PI);
    let q = s.fma(x, two_over_pi, plus);
    let turns = s.fma(q, one, minus);
    let mut r = x;
    for part in MINUS_HALF_PI {
        let part = s.word(part);
        r = s.fma(turns, part, r);
    }
    [q, r]
}

/// The same for |x| = m · 2^(exponent) from 2¹⁷ on, m an integer of 24 bits; r is NaN if that is infinite.
///
/// A window of 96 bits of 2/π begins at the bit that becomes two quarters of a turn when it is multiplied by |x|: those before
/// it give whole turns, those after it change r by 2⁻³² of it at most, as no `f32` is nearer than 2⁻³⁰ to a multiple of
/// π/2.
fn reduced_huge<S: Steps>(s: &mut S, x: S::Reg, size: S::Reg) -> [S::Reg; 2] {
    let (exponent, zero) = (s.shr(size, 23), s.word(0));
    let first = s.word(127 + 17);
    let at = s.int_sub(exponent, first);
    let m = s.and(size, 0x7f_ffff);
    let m = s.or(m, 0x80_0000);
    // `at` is from 0 to 111: two bits choose the words, five move them.
    let bits = TWO_OVER_PI.map(|word| s.word(word));
    let (two_words, one_word) = (s.has(at, 64), s.has(at, 32));
    let near: [S::Reg; 5] = std::array::from_fn(|i| s.choose(two_words, bits[i + 2], bits[i]));
    let near: [S::Reg; 4] = std::array::from_fn(|i| s.choose(one_word, near[i + 1], near[i]));
    let window: [S::Reg; 3] = std::array::from_fn(|i| s.funnel(near[i], near[i + 1], at));
    // The upper 64 bits of the product, modulo 2⁹⁶: two of quarters, the others of a fraction of one.
    let (carried, _) = s.int_fma_wide(m, window[2], zero);
    let (middle, low) = s.int_fma_wide(m, window[1], carried);
    let high = s.int_fma(m, window[0], middle);
    // Half a quarter more rounds to the nearest; what is left then is a signed fraction.
    let half = s.word(1 << 29);
    let nearest = s.int_add(high, half);
    let (q, two) = (s.shr(nearest, 30), s.word(2));
    let (high, low) = (s.funnel(high, low, two), s.shl(low, 2));
    let r = s.scaled(high, low, std::f64::consts::FRAC_PI_2 / 18_446_744_073_709_551_616.0);
    // ∞ · 0 is NaN; any other number gives 0.
    let r = s.fma(size, zero, r);
    let (negative, sign) = (s.has(x, 1 << 31), s.and(x, 1 << 31));
    let (minus, r) = (s.int_sub(zero, q), s.xor(r, sign));
    [s.choose(negative, minus, q), r]
}

/// sin(q · π/2 + r).
fn quarter<S: Steps>(s: &mut S, q: S::Reg, r: S::Reg) -> S::Reg {
    let (square, one, zero) = (s.mul(r, r), s.number(1.0), s.number(0.0));
    let (sine, cosine) = (polynomial(s, &SINE, square), polynomial(s, &COSINE, square));
    let odd = s.has(q, 1);
    let (factor, first) = (s.choose(odd, cosine, sine), s.choose(odd, one, r));
    // The zero turns −0 into 0 here, so that it comes through where it is added.
    let rest = s.fma(square, first, zero);
    let result = s.fma(factor, rest, first);
    let below = s.and(q, 2);
    let sign = s.shl(below, 30);
    s.xor(result, sign)
}

fn polynomial<S: Steps>(s: &mut S, coefficients: &[f32], x: S::Reg) -> S::Reg {
    let mut sum = s.number(coefficients[0]);
    for &c in &coefficients[1..] {
        let c = s.number(c);
        sum = s.fma(sum, x, c);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::steps::{Now, tests::ulps};
    use super::*;

    fn both(x: f32) -> (f32, f32) {
        let bits = [x.to_bits()];
        let (sine, cosine) = (sin(&mut Now, bits, false), cos(&mut Now, bits, false));
        (f32::from_bits(sine[0]), f32::from_bits(cosine[0]))
    }

    /// Every scale from subnormal numbers to the largest, the neighbourhoods of multiples of π/2, and where one method
    /// of reduction takes over from the other; every bit pattern was tried once, with the same bound.
    #[test]
    fn close_to_sine_and_cosine() {
        let spread = (0..200_000u32).map(|k| 1 + k * 10_695);
        let near = |k: u32| (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32;
        let multiples = (1..20_000u32).chain((0..20_000).map(|k| k * 65_537)).map(|k| near(k).to_bits());
        let takes_over = MOST.to_bits() - 500..MOST.to_bits() + 500;
        // The worst that were found, and the one nearest to a multiple of π/2.
        let worst = [0x4626_ffcc, 0x741c_15c3, 0x47ad_a1bc, 0x708f_af6a, 0x6a17_76b4];
        for bits in spread.chain(multiples).chain(takes_over).chain(worst).filter(|&bits| bits < 0x7f80_0000) {
            let x = f32::from_bits(bits);
            let (sine, cosine) = both(x);
            let errors = (ulps(sine, f64::from(x).sin()), ulps(cosine, f64::from(x).cos()));
            assert!(errors.0 < 1.56 && errors.1 < 1.56, "{x:e}: {errors:?} ulp");
            assert_eq!(both(-x), (-sine, cosine), "sin is odd, cos is even");
        }
    }

    #[test]
    fn ends_of_the_range() {
        for zero in [0.0, -0.0] {
            let (sine, cosine) = both(zero);
            assert_eq!((sine.to_bits(), cosine), (f32::to_bits(zero), 1.0));
        }
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let (sine, cosine) = both(x);
            assert!(sine.is_nan() && cosine.is_nan());
        }
    }

    /// Several at once, and numbers known to be small, give what each gives alone.
    #[test]
    fn batches() {
        let x = [0.5f32, 1e30, -100.0, f32::INFINITY];
        let alone = x.map(|x| both(x).0.to_bits());
        assert_eq!(sin(&mut Now, x.map(f32::to_bits), false)[..3], alone[..3]);
        let small = [0.5f32, 65504.0, -100.0, f32::INFINITY].map(f32::to_bits);
        let (known, unknown) = (cos(&mut Now, small, true), cos(&mut Now, small, false));
        assert_eq!(known[..3], unknown[..3]);
        assert!(f32::from_bits(known[3]).is_nan() && f32::from_bits(unknown[3]).is_nan());
    }
}
