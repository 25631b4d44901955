//! The accumulation of products.

use super::super::{Accumulate, Float, accumulate_f16, accumulate_f32, accumulate_f64, accumulate_s32, to_f64};

#[test]
fn small_integers_are_exact() {
    let mut random = fastrand::Rng::with_seed(30);
    for (ty, wgmma) in [(Float::F16, false), (Float::Bf16, true), (Float::Tf32, false), (Float::E4m3, false)] {
        for sm in [70, 80, 90] {
            let model = Accumulate::of(sm, ty, wgmma);
            for _ in 0..2000 {
                let [a, b] = [(); 2].map(|()| std::array::from_fn::<f64, 32, _>(|_| f64::from(random.i32(-8..9))));
                let start = random.i32(-1000..1000) as f32;
                let exact = f64::from(start) + a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>();
                let sum = accumulate_f32(start.to_bits(), &a, &b, model);
                assert_eq!(f64::from(f32::from_bits(sum)), exact);
                let sum = accumulate_f16(0, &a[..4], &b[..4], model);
                assert_eq!(to_f64(Float::F16, sum.into()), a[..4].iter().zip(&b).map(|(a, b)| a * b).sum::<f64>());
            }
        }
    }
}

#[test]
fn low_bits_are_cut_off() {
    let power = |exponent: i32| f64::powi(2.0, exponent);
    let hopper = Accumulate::of(90, Float::F16, false);
    let brain = Accumulate::of(90, Float::Bf16, false);
    let ampere = Accumulate::of(80, Float::F16, false);
    let small = Accumulate::of(90, Float::E4m3, true);
    let volta = Accumulate::of(70, Float::F16, false);
    let one = 1_f32;
    let third = f32::from_bits(0x3eaa_aaab);
    // The accumulator, the products, and the sum.
    let cases: [(Accumulate, f32, &[f64], f64); 14] = [
        // Four quarters of a unit in the last place together count only if two bits below it are kept.
        (hopper, one, &[power(-25); 4], 1.0 + power(-23)),
        (ampere, one, &[power(-25); 4], 1.0),
        (ampere, one, &[power(-24); 2], 1.0 + power(-23)),
        (volta, one, &[power(-24); 2], 1.0),
        // Toward zero, not to nearest.
        (hopper, one, &[power(-24), power(-25)], 1.0),
        (hopper, -one, &[-power(-24), -power(-25)], -1.0),
        (hopper, one, &[-power(-26)], 1.0),
        (hopper, one, &[-power(-25)], 1.0 - power(-24)),
        // A later group does not see what an earlier one lost.
        (volta, one, &[0.0, 0.0, 0.0, 0.0, power(-23)], 1.0 + power(-23)),
        (small, one, &[power(-14)], 1.0),
        (small, one, &[power(-13)], 1.0 + power(-13)),
        (small, third, &[], third as f64),
        (brain, 0.0, &[power(-130)], power(-130)),
        (brain, 0.0, &[power(-130), power(-130)], power(-129)),
    ];
    for (model, acc, products, expected) in cases {
        let sum = accumulate_f32(acc.to_bits(), products, &vec![1.0; products.len()], model);
        assert_eq!(f64::from(f32::from_bits(sum)), expected, "{model:?} {acc} {products:?}");
    }
}

#[test]
fn special_numbers() {
    let model = Accumulate::of(90, Float::Bf16, false);
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cases: [(f32, &[f64], &[f64], u32); 8] = [
        (0.0, &[inf, 1.0], &[1.0, 1.0], 0x7f80_0000),
        (0.0, &[inf, inf], &[1.0, -1.0], 0x7fff_ffff),
        (0.0, &[inf], &[0.0], 0x7fff_ffff),
        (f32::INFINITY, &[inf], &[-1.0], 0x7fff_ffff),
        (1.0, &[nan], &[0.0], 0x7fff_ffff),
        (1.0, &[0.0], &[0.0], 0x3f80_0000),
        (1.0, &[1.0], &[-1.0], 0),
        (0.0, &[], &[], 0),
    ];
    for (acc, a, b, expected) in cases {
        assert_eq!(accumulate_f32(acc.to_bits(), a, b, model), expected, "{acc} {a:?} {b:?}");
    }
    assert_eq!(accumulate_f16(0x7bff, &[65504.0], &[1.0], model), 0x7c00);
}

#[test]
fn doubles_and_integers() {
    let fused = accumulate_f64((-1_f64).to_bits(), &[1.0 + f64::EPSILON], &[1.0 - f64::EPSILON]);
    assert_eq!(f64::from_bits(fused), -(f64::EPSILON * f64::EPSILON));
    // Of the factors and the accumulator, the NaN of the last second factor is first, then the accumulator's.
    let nan = |payload: u64| f64::from_bits(0x7ff0_0000_0000_0000 | payload);
    let quiet = 0x7ff8_0000_0000_0000;
    assert_eq!(accumulate_f64(0, &[nan(1), nan(2)], &[1.0, 1.0]), quiet | 1);
    assert_eq!(accumulate_f64(nan(7).to_bits(), &[nan(1), nan(2)], &[nan(3), nan(4)]), quiet | 4);
    assert_eq!(accumulate_f64(0, &[f64::INFINITY], &[0.0]), quiet | 1 << 63);
    let (top, least) = (0x7fff_fff0, 0x8000_0000);
    assert_eq!(accumulate_s32(top, &[127, -128], &[127, 1], false), 0x8000_3e71);
    assert_eq!(accumulate_s32(top, &[127, -128], &[127, 1], true), 0x7fff_ffff);
    assert_eq!(accumulate_s32(least, &[255], &[-1], true), least);
    assert_eq!(accumulate_s32(1, &[2, 3], &[4, -5], true), 0xffff_fffa);
}

#[test]
fn rare_sums_are_those_of_the_chip() {
    use Float::{Bf16, E4m3, Tf32};
    let negative_zero = 1 << 31;
    // Type, K, the bits of every element of A and of B, the accumulator, and what an H200 gave.
    let cases: [(Float, usize, u64, u64, u32, u32); 14] = [
        // The low bits of a `tf32` do not make it a NaN.
        (Tf32, 4, 0xff80_1fff, 0x3f80_0000, 0, 0xff80_0000),
        (Tf32, 4, 0x7f80_0001, 0, 0, 0x7fff_ffff),
        (Tf32, 4, 0x7f80_2000, 0x3f80_0000, 0, 0x7fff_ffff),
        (Tf32, 4, 0x1fff, 0x3f80_0000, 0, 0),
        (E4m3, 32, 0, 0, negative_zero, 0),
        (E4m3, 32, 0x80, 0x38, negative_zero, 0),
        (E4m3, 32, 0, 0, negative_zero + 1, negative_zero + 1),
        (E4m3, 32, 1, 1, 1, 0x3900_0000),
        (E4m3, 32, 0, 0, 0x7f80_0001, 0x7fff_ffff),
        (E4m3, 32, 0x7f, 0, 0, 0x7fff_ffff),
        // Too small for `f32`.
        (Bf16, 16, 0x1a00, 0x9780, 0, 0),
        (Bf16, 16, 0, 0, negative_zero + 1, negative_zero + 1),
        (Bf16, 16, 1, 0x3f80, 0, 0x0010_0000),
        (Bf16, 16, 0x1a00, 0x9980, 1, negative_zero + 3),
    ];
    for (ty, k, a, b, acc, expected) in cases {
        let [x, y] = [a, b].map(|bits| vec![to_f64(ty, bits); k]);
        let sum = accumulate_f32(acc, &x, &y, Accumulate::of(90, ty, false));
        assert_eq!(sum, expected, "{ty:?} {a:x} {b:x} {acc:x}: {sum:x}");
    }
}
