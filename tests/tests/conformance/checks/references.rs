//! The references themselves: arithmetic against the processor's, bounds, inputs.

use crate::float::{Float, Format, power};
use crate::inputs::{all, columns, divides, edges};
use crate::reference::{cast, greater, lesser};
use crate::value::{Expected, integer, is_nan, mask, range, show, wrap};
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// What is checked here.
pub const CHECKS: &[(&str, fn())] = &[
    ("singles_as_the_processor", singles_as_the_processor),
    ("doubles_as_the_processor", doubles_as_the_processor),
    ("units", units),
    ("integers", integers),
    ("bounds", bounds),
    ("least_and_greatest", least_and_greatest),
    ("casts", casts),
    ("ends_of_the_range_are_inputs", ends_of_the_range_are_inputs),
    ("operands_are_paired", operands_are_paired),
];

const F32: Format = Format { fraction: 23, exponent: 8 };
const F64: Format = Format { fraction: 52, exponent: 11 };

/// Bits of every kind: uniform ones have exponents far apart, so half of the pairs are brought together.
fn pairs(bits: u32) -> impl Iterator<Item = (u64, u64)> {
    let mut random = Random::new(bits.into());
    (0..100_000).map(move |i| {
        let (a, b) = (random.bits() >> (64 - bits), random.bits() >> (64 - bits));
        if i % 2 == 0 { (a, b) } else { (a, a ^ (b >> (bits / 3))) }
    })
}

fn singles_as_the_processor() {
    for (a, b) in pairs(32) {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let (p, q) = (Float::decode(F32, a), Float::decode(F32, b));
        let same = |found: Float, expected: f32, what: &str| {
            let found = f32::from_bits(found.round(F32) as u32);
            let is = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(is, "{x} {what} {y}: {found}, not {expected}");
        };
        same(p + q, x + y, "+");
        same(p * q, x * y, "·");
        same(p / q, x / y, "/");
        same(p.sqrt(), x.sqrt(), "√");
        assert_eq!(p.compare(q), x.partial_cmp(&y), "{x} {y}");
        let whole = p.truncate().map(|n| n.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
        assert_eq!(whole.unwrap_or(0), x as i64, "{x}");
        assert!(x.is_nan() || p.round(F64) == f64::from(x).to_bits(), "{x}");
    }
}

fn doubles_as_the_processor() {
    for (a, b) in pairs(64) {
        let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(a.rotate_left(17) ^ b));
        let [p, q, r] = [x, y, z].map(|x| Float::decode(F64, x.to_bits()));
        let same = |found: Float, expected: f64, what: &str| {
            let found = f64::from_bits(found.round(F64));
            let is = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(is, "{x} {what} {y}: {found}, not {expected}");
        };
        same(p + q, x + y, "+");
        same(p * q, x * y, "·");
        same(p / q, x / y, "/");
        same(p.sqrt(), x.sqrt(), "√");
        same(p * q + r, x.mul_add(y, z), "fma");
        // Close to what it is added to.
        same(p * q + Float::decode(F64, (-x * y).to_bits()), x.mul_add(y, -x * y), "fma");
        same(Float::decode(F32, p.round(F32)), f64::from(x as f32), "as f32");
    }
    for n in [0i64, 1, -1, 1 << 53, (1 << 53) + 1, (1 << 54) + 2, (1 << 54) + 6, i64::MAX, i64::MIN] {
        assert_eq!(Float::integer(n.into()).round(F64), (n as f64).to_bits());
        assert_eq!(Float::integer(n.into()).round(F32), u64::from((n as f32).to_bits()));
    }
}

fn units() {
    let half = Format { fraction: 10, exponent: 5 };
    assert_eq!((half.least(), half.most(), half.infinity()), (-14, 15, 0x7c00));
    assert_eq!((half.unit(1.0), half.unit(0.0), half.unit(1e9)), (power(-10), power(-24), power(5)));
    assert_eq!(half.unit(-3.0), power(-9));
    assert_eq!((power(-1074), power(-1080), power(1023)), (f64::from_bits(1), 0.0, f64::MAX / (2.0 - power(-52))));
    // Halfway between the largest number and what would come after it.
    let largest = |n: u128| Float::Finite { negative: false, magnitude: n, exponent: 0 }.round(half);
    assert_eq!((largest(65504), largest(65519), largest(65520)), (0x7bff, 0x7bff, 0x7c00));
}

fn integers() {
    let all_ones = [(DType::I8, 0xff), (DType::U8, 0xff), (DType::I64, 1 << 63)].map(|(t, bits)| integer(t, bits));
    assert_eq!(all_ones, [-1, 255, i64::MIN.into()]);
    assert_eq!((wrap(DType::I8, -129), wrap(DType::U64, -1), wrap(DType::I16, 1 << 15)), (0x7f, u64::MAX, 1 << 15));
    assert_eq!((range(DType::I8), range(DType::U16)), ((-128, 127), (0, 65535)));
}

fn bits(x: f32) -> u64 {
    x.to_bits().into()
}

fn bounds() {
    let admits = |expected: Expected, x: f32| expected.admits(DType::F32, bits(x));
    let near = Expected::within(DType::F32, 1.0, 2.0);
    assert!(admits(near, 1.0 + 2.0 * f32::EPSILON) && !admits(near, 1.0 + 3.0 * f32::EPSILON));
    // ∞ is next to the largest number.
    let large = Expected::within(DType::F32, f32::MAX.into(), 1.0);
    assert!(admits(large, f32::INFINITY) && admits(large, f32::MAX));
    assert!(!admits(Expected::within(DType::F32, 1e38, 1.0), f32::INFINITY));
    assert!(admits(Expected::within(DType::F32, f64::INFINITY, 1.0), f32::INFINITY));
    let tiny = f32::from_bits(1);
    assert!(
        !admits(Expected::within(DType::F32, 1e-50, 0.5), tiny)
            && admits(Expected::within(DType::F32, 1e-50, 1.0), tiny)
    );
    let nan = Expected::Bits(bits(f32::NAN));
    assert!(nan.admits(DType::F32, 0xffc0_0001) && !admits(nan, f32::INFINITY));
    assert!(!admits(Expected::Bits(0), -0.0) && !Expected::Bits(1).admits(DType::Bool, 0));
    assert_eq!(nan.describe(DType::F32, 0), "NaN (0x7fc00000)");
    assert_eq!(Expected::Bits(bits(1.0)).describe(DType::F32, bits(1.0) + 2), "1e0 (0x3f800000), 2.000 ulp off");
}

fn least_and_greatest() {
    let [nan, zero, minus_zero, one] = [f32::NAN, 0.0, -0.0, 1.0].map(bits);
    for (a, b, least, most) in [(nan, one, one, one), (zero, minus_zero, minus_zero, zero), (one, zero, zero, one)] {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!((lesser(DType::F32, a, b), greater(DType::F32, a, b)), (least, most), "{a:x} {b:x}");
        }
    }
    assert!(is_nan(DType::F32, lesser(DType::F32, nan, nan)) && is_nan(DType::F32, greater(DType::F32, nan, nan)));
    assert_eq!((lesser(DType::I8, 0xff, 1), greater(DType::U8, 0xff, 1)), (0xff, 0xff));
}

fn casts() {
    assert_eq!(cast(DType::F32, DType::I8, bits(-1e9)), 0x80);
    assert_eq!(cast(DType::F32, DType::U64, bits(f32::INFINITY)), u64::MAX);
    assert_eq!(cast(DType::F32, DType::I32, bits(f32::NAN)), 0);
    assert_eq!(cast(DType::F32, DType::I32, bits(-2.9)), (-2i32) as u32 as u64);
    assert_eq!(cast(DType::I16, DType::U8, 0xfffe), 0xfe);
    assert_eq!(cast(DType::U64, DType::F32, u64::MAX), bits(18_446_744_073_709_551_616.0));
    assert_eq!(cast(DType::Bool, DType::F16, 1), 0x3c00);
}

fn ends_of_the_range_are_inputs() {
    for &dtype in DType::ALL {
        let edges = edges(dtype);
        assert!(edges.iter().all(|&bits| bits & !mask(dtype) == 0), "{dtype}");
        let shown: Vec<String> = edges.iter().map(|&bits| show(dtype, bits)).collect();
        if dtype.is_float() {
            for number in ["0e0 ", "-0e0 ", "inf ", "-inf ", "1e0 ", "NaN "] {
                assert!(shown.iter().any(|text| text.starts_with(number)), "{dtype}: no {number} in {shown:?}");
            }
            assert!(edges.contains(&1) && edges.iter().any(|&bits| is_nan(dtype, bits)), "{dtype}");
        } else if dtype != DType::Bool {
            let (least, most) = range(dtype);
            assert!(shown.contains(&least.to_string()) && shown.contains(&most.to_string()), "{dtype}: {shown:?}");
        }
    }
}

fn operands_are_paired() {
    let [a, b, _] = columns([DType::U8, DType::I8, DType::Bool], 2, 1 << 16, 1, all);
    let mut pairs: Vec<(u64, u64)> = a.into_iter().zip(b).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 1 << 16);
    let [mut a, _, _] = columns([DType::F16, DType::Bool, DType::Bool], 1, 1 << 16, 1, all);
    a.sort_unstable();
    assert!(a.into_iter().eq(0..1 << 16));
    let [a, b, _] = columns([DType::I64, DType::I64, DType::Bool], 2, 5000, 2, divides);
    assert!(a.len() == 5000 && !b.contains(&0) && a.contains(&(1 << 63)) && b.contains(&u64::MAX));
    assert!(a.iter().zip(&b).all(|pair| pair != (&(1 << 63), &u64::MAX)));
}
