//! Floating-point arithmetic in all roundings.

use super::super::real::{self, Value, pack, unpack};
use super::super::{Flags, Float, FloatOp, Round, float_op, packed_op, to_f64};
use super::{is_rounded, sample, sum_error, to_odd};

const ROUNDS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];
/// An operation, its exact result of numbers of up to 24 bits, rounded to odd, and the error of its `f64` result `n`.
type Case = (FloatOp, fn(f64, f64, f64) -> f64, Option<fn(f64, f64, f64) -> f64>);
const OPS: [Case; 7] = [
    (FloatOp::Add, |a, b, _| to_odd(a + b, sum_error(a, b)), Some(|a, b, _| sum_error(a, b))),
    (FloatOp::Sub, |a, b, _| to_odd(a - b, sum_error(a, -b)), Some(|a, b, _| sum_error(a, -b))),
    (FloatOp::Mul, |a, b, _| a * b, Some(|a, b, n| a.mul_add(b, -n))),
    (FloatOp::Fma, |a, b, c| to_odd(a * b + c, sum_error(a * b, c)), None),
    (FloatOp::Div, |a, b, _| to_odd(a / b, quotient_error(a, b, a / b)), Some(quotient_error)),
    (FloatOp::Sqrt, |a, _, _| to_odd(a.sqrt(), root_error(a, 0.0, a.sqrt())), Some(root_error)),
    (
        FloatOp::Rcp,
        |a, _, _| to_odd(1.0 / a, quotient_error(1.0, a, 1.0 / a)),
        Some(|a, _, n| quotient_error(1.0, a, n)),
    ),
];

fn quotient_error(a: f64, b: f64, quotient: f64) -> f64 {
    (-quotient).mul_add(b, a) * b.signum()
}

fn root_error(a: f64, _: f64, root: f64) -> f64 {
    (-root).mul_add(root, a)
}

#[test]
fn results_are_rounded_once() {
    let mut random = fastrand::Rng::with_seed(1);
    for ty in [Float::F16, Float::Bf16, Float::F32] {
        for ((op, reference, _), round) in OPS.into_iter().flat_map(|op| ROUNDS.map(|round| (op, round))) {
            let Some(function) = float_op(op, ty, Flags { round, ..Flags::default() }) else {
                assert!(
                    ty != Float::F32
                        && (round != Round::Nearest
                            || !matches!(op, FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma)),
                    "{op:?} {ty:?}"
                );
                continue;
            };
            for _ in 0..20_000 {
                let [a, b, c] = [(); 3].map(|()| sample(&mut random, ty));
                let exact = reference(to_f64(ty, a), to_f64(ty, b), to_f64(ty, c));
                // The sign of an exact zero sum is checked apart.
                let exact = if exact == 0.0 && round == Round::Down { to_f64(ty, function(a, b, c)) } else { exact };
                let result = function(a, b, c);
                assert!(
                    is_rounded(ty, round, exact, result),
                    "{op:?}.{round:?} {a:x} {b:x} {c:x}: {result:x} of {exact:e}"
                );
            }
        }
    }
}

#[test]
fn directed_f64_brackets_the_exact_result() {
    let mut random = fastrand::Rng::with_seed(2);
    for (op, _, error) in OPS {
        let in_round = |round| float_op(op, Float::F64, Flags { round, ..Flags::default() }).expect("f64 has it");
        let [nearest, zero, down, up] = ROUNDS.map(in_round);
        for _ in 0..20_000 {
            let [a, b, c] = [(); 3].map(|()| sample(&mut random, Float::F64));
            let values = [nearest, zero, down, up].map(|f| f64::from_bits(f(a, b, c)));
            let [n, z, d, u] = values;
            let context = format!("{op:?} {a:x} {b:x} {c:x}: {values:?}");
            if n.is_nan() {
                assert!(values.iter().all(|x| x.is_nan()), "{context}");
                continue;
            }
            assert!(n == d || n == u, "{context}");
            assert!(d == u || d.next_up() == u, "{context}");
            assert_eq!(z, if n.is_sign_negative() { u } else { d }, "{context}");
            // Errors are exact away from the ends of the range.
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let tame = |x: f64| x == 0.0 || (1e-100..1e100).contains(&x.abs());
            if !tame(x) || !tame(y) || !tame(n) {
                continue;
            }
            let Some(error) = error.map(|error| error(x, y, n)) else { continue };
            let expected = [if error < 0.0 { n.next_down() } else { n }, if error > 0.0 { n.next_up() } else { n }];
            assert_eq!([d, u], expected, "{context}");
        }
    }
}

#[test]
fn the_exact_path_agrees_with_the_host() {
    let mut random = fastrand::Rng::with_seed(3);
    let layout = Float::F64.layout();
    for _ in 0..100_000 {
        let bits = [(); 3].map(|()| sample(&mut random, Float::F64));
        let [a, b, c] = bits.map(f64::from_bits);
        let [x, y, z] = bits.map(|bits| unpack(layout, bits));
        let cases: [(f64, Value); 5] = [
            (a + b, real::add(x, y, Round::Nearest)),
            (a * b, real::mul(x, y)),
            (a.mul_add(b, c), real::add(real::mul(x, y), z, Round::Nearest)),
            (a / b, real::div(x, y)),
            (a.sqrt(), real::sqrt(x)),
        ];
        for (i, (host, exact)) in cases.into_iter().enumerate() {
            let ours = pack(layout, exact, Round::Nearest, false);
            let host = if host.is_nan() { layout.nan } else { host.to_bits() };
            assert_eq!(ours, host, "case {i} of {a:e} {b:e} {c:e}");
        }
    }
}

#[test]
fn packed_operations_are_those_of_the_halves() {
    let mut random = fastrand::Rng::with_seed(4);
    for ty in [Float::F16, Float::Bf16] {
        for op in [FloatOp::Add, FloatOp::Mul, FloatOp::Fma, FloatOp::Min, FloatOp::Neg, FloatOp::Tanh] {
            let (one, two) = (float_op(op, ty, Flags::default()), packed_op(op, ty, Flags::default()));
            let approx = Flags { approx: true, ..Flags::default() };
            let one = one.or_else(|| float_op(op, ty, approx)).expect("exists");
            let two = two.or_else(|| packed_op(op, ty, approx)).expect("exists");
            for _ in 0..1000 {
                let [a, b, c, d, e, f] = [(); 6].map(|()| sample(&mut random, ty));
                let packed = two(a << 16 | b, c << 16 | d, e << 16 | f);
                assert_eq!(packed, one(a, c, e) << 16 | one(b, d, f), "{op:?}");
            }
        }
    }
}

#[test]
fn small_formats_agree_with_another_implementation() {
    for bits in 0..=u16::MAX {
        let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
        let ours = [Float::F16, Float::Bf16].map(|ty| to_f64(ty, bits.into()).to_bits());
        let known = [f16.to_f64(), bf16.to_f64()];
        for (ours, known) in ours.into_iter().zip(known) {
            assert!(ours == known.to_bits() || (known.is_nan() && f64::from_bits(ours).is_nan()), "{bits:x}");
        }
    }
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..200_000 {
        let x = f32::from_bits(sample(&mut random, Float::F32) as u32);
        if !x.is_nan() {
            let round = |ty| super::super::from_f64(ty, x.into(), Round::Nearest) as u16;
            assert_eq!(round(Float::F16), half::f16::from_f32(x).to_bits(), "{x:e}");
            assert_eq!(round(Float::Bf16), half::bf16::from_f32(x).to_bits(), "{x:e}");
        }
    }
}
