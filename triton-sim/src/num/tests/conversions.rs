//! Conversions between all types.

use super::super::{Flags, Float, Int, Num, Round, convert, convert_packed, convert_pair, from_f64, to_f64};
use super::{is_rounded, sample};

const FLOATS: [Float; 4] = [Float::F16, Float::Bf16, Float::F32, Float::F64];
const INTS: [(Int, u32, bool); 8] = [
    (Int::U8, 8, false),
    (Int::S8, 8, true),
    (Int::U16, 16, false),
    (Int::S16, 16, true),
    (Int::U32, 32, false),
    (Int::S32, 32, true),
    (Int::U64, 64, false),
    (Int::S64, 64, true),
];
const ROUNDS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];

/// The number that bits of an integer type mean.
fn integer(bits: u64, width: u32, signed: bool) -> i128 {
    let unused = 128 - width;
    if signed { (i128::from(bits) << unused) >> unused } else { bits.into() }
}

#[test]
fn every_8_bit_number_is_itself() {
    for bits in 0..=255_u64 {
        let (sign, magnitude) = (if bits < 128 { 1.0 } else { -1.0 }, bits & 127);
        for (ty, fraction_bits, bias) in [(Float::E4m3, 3, 7), (Float::E5m2, 2, 15)] {
            let (field, fraction) = ((magnitude >> fraction_bits) as i32, magnitude & ((1 << fraction_bits) - 1));
            let fraction = fraction as f64 / f64::from(1 << fraction_bits);
            let number = match field {
                0 => fraction * f64::powi(2.0, 1 - bias),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                15 if ty == Float::E4m3 && magnitude == 127 => f64::NAN,
                _ => (1.0 + fraction) * f64::powi(2.0, field - bias),
            };
            let ours = to_f64(ty, bits);
            if number.is_nan() {
                assert!(ours.is_nan(), "{ty:?} {bits:x}");
                continue;
            }
            assert_eq!(ours.to_bits(), (sign * number).to_bits(), "{ty:?} {bits:x}");
            assert_eq!(from_f64(ty, ours, Round::Nearest), bits, "{ty:?} {bits:x}");
        }
    }
}

#[test]
fn between_floats() {
    let mut random = fastrand::Rng::with_seed(10);
    let narrow = [Float::F16, Float::Bf16, Float::F32, Float::Tf32];
    for (to, from, round) in
        narrow.into_iter().flat_map(|to| FLOATS.into_iter().flat_map(move |from| ROUNDS.map(|round| (to, from, round))))
    {
        let Some(function) = convert(Num::Float(to), Num::Float(from), Flags { round, ..Flags::default() }) else {
            continue;
        };
        for _ in 0..5000 {
            let a = sample(&mut random, from);
            let (x, result) = (to_f64(from, a), function(a, 0, 0));
            let nan = x.is_nan() && to.layout().is_nan(result);
            assert!(nan || is_rounded(to, round, x, result), "{to:?} {round:?} of {x:e}: {result:x}");
        }
    }
    for from in [Float::F16, Float::Bf16, Float::F32] {
        let function = convert(Num::Float(Float::F64), Num::Float(from), Flags::default()).expect("exists");
        for _ in 0..5000 {
            let a = sample(&mut random, from);
            let x = to_f64(from, a);
            assert!(x.is_nan() || function(a, 0, 0) == x.to_bits(), "{x:e}");
        }
    }
}

#[test]
fn floats_to_integers() {
    let mut random = fastrand::Rng::with_seed(11);
    for (from, (to, width, signed), round) in
        FLOATS.into_iter().flat_map(|f| INTS.into_iter().flat_map(move |i| ROUNDS.map(|r| (f, i, r))))
    {
        let flags = Flags { round, integral: true, ..Flags::default() };
        let function = convert(Num::Int(to), Num::Float(from), flags).expect("exists");
        let (least, most) = if signed { (-1 << (width - 1), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
        for _ in 0..2000 {
            let a = sample(&mut random, from);
            let x = to_f64(from, a);
            if x.is_nan() {
                let expected = if from == Float::F64 || width == 64 { 1 << (width - 1) } else { 0 };
                assert_eq!(function(a, 0, 0), expected, "{to:?} of NaN of {from:?}");
                continue;
            }
            let (floor, part) = (x.floor() as i128, x - x.floor());
            let up = match round {
                Round::Nearest => part > 0.5 || (part == 0.5 && floor % 2 != 0),
                Round::Up => part > 0.0,
                Round::Zero => x < 0.0 && part > 0.0,
                Round::Down | Round::NearestAway => false,
            };
            let expected = floor.saturating_add(i128::from(up)).clamp(least, most);
            assert_eq!(integer(function(a, 0, 0), width, signed), expected, "{to:?} {round:?} of {x:e}");
        }
    }
}

#[test]
fn integers_to_floats() {
    let mut random = fastrand::Rng::with_seed(12);
    for (to, (from, width, signed)) in FLOATS.into_iter().flat_map(|f| INTS.map(|i| (f, i))) {
        for _ in 0..2000 {
            let a = random.u64(..) >> random.u32(0..64) & u64::MAX >> (64 - width);
            let x = integer(a, width, signed);
            let in_round = |round| {
                let flags = Flags { round, ..Flags::default() };
                convert(Num::Float(to), Num::Int(from), flags).expect("exists")(a, 0, 0)
            };
            let [n, z, d, u] = ROUNDS.map(in_round);
            if x.unsigned_abs() < 1 << 53 {
                for (round, result) in ROUNDS.into_iter().zip([n, z, d, u]) {
                    assert!(is_rounded(to, round, x as f64, result), "{to:?} {round:?} of {x}: {result:x}");
                }
            } else if to == Float::F64 {
                let [n, z, d, u] = [n, z, d, u].map(f64::from_bits);
                assert_eq!((n, z), (x as f64, if x < 0 { u } else { d }));
                assert!(d as i128 <= x && u as i128 >= x && (d == u || d.next_up() == u), "{x}");
            } else if to == Float::F32 {
                assert_eq!(n, u64::from((x as f32).to_bits()));
            }
        }
    }
}

#[test]
fn between_integers() {
    let mut random = fastrand::Rng::with_seed(13);
    for ((to, to_width, to_signed), (from, width, signed)) in INTS.into_iter().flat_map(|t| INTS.map(|f| (t, f))) {
        let [plain, sat] = [false, true]
            .map(|sat| convert(Num::Int(to), Num::Int(from), Flags { sat, ..Flags::default() }).expect("exists"));
        for _ in 0..500 {
            let a = random.u64(..) >> random.u32(0..64) & u64::MAX >> (64 - width);
            let x = integer(a, width, signed);
            assert_eq!(plain(a, 0, 0), x as u64 & u64::MAX >> (64 - to_width), "{to:?} of {x}");
            let least = if to_signed { -1 << (to_width - 1) } else { 0 };
            let most = (1 << (to_width - u32::from(to_signed))) - 1;
            assert_eq!(integer(sat(a, 0, 0), to_width, to_signed), x.clamp(least, most), "{to:?} of {x}");
        }
    }
}

#[test]
fn pairs() {
    let mut random = fastrand::Rng::with_seed(14);
    let satfinite = Flags { satfinite: true, ..Flags::default() };
    for (to, flags) in [
        (Float::F16, Flags::default()),
        (Float::Bf16, Flags::default()),
        (Float::E4m3, satfinite),
        (Float::E5m2, satfinite),
    ] {
        let function = convert_pair(to, flags).expect("exists");
        let layout = to.layout();
        for _ in 0..20_000 {
            let [a, b] = [(); 2].map(|()| sample(&mut random, Float::F32));
            let result = function(a, b, 0);
            for (x, part) in [(a, result >> layout.bits), (b, result & (2 * layout.sign() - 1))] {
                let x = to_f64(Float::F32, x);
                let most = to_f64(to, layout.max);
                let x = if flags.satfinite { x.clamp(-most, most) } else { x };
                assert!(is_rounded(to, Round::Nearest, x, part), "{to:?} of {x:e}: {part:x}");
            }
        }
    }
    for small in [Float::E4m3, Float::E5m2] {
        let down = convert_packed(small, Float::F16, satfinite).expect("exists");
        let up = convert_packed(Float::F16, small, Flags::default()).expect("exists");
        for bits in 0..0x1_0000_u64 {
            let x = to_f64(Float::F16, bits);
            let most = to_f64(small, small.layout().max);
            let result = down(bits << 16, 0, 0) >> 8;
            assert!(is_rounded(small, Round::Nearest, x.clamp(-most, most), result), "{small:?} of {x:e}: {result:x}");
            for (part, byte) in [(up(bits, 0, 0) >> 16, bits >> 8), (up(bits, 0, 0) & 0xffff, bits & 0xff)] {
                let (wide, x) = (to_f64(Float::F16, part), to_f64(small, byte));
                assert!(wide.to_bits() == x.to_bits() || (x.is_nan() && part == 0x7fff), "{small:?} {byte:x}");
            }
        }
    }
}

/// Input, `cvt.rna.tf32.f32`, `cvt.rna.satfinite.tf32.f32`, as an H200 gives them.
const TF32: [[u64; 3]; 10] = [
    [0x3f80_1000, 0x3f80_2000, 0x3f80_2000],
    [0x7f7f_ffff, 0x7f80_0000, 0x7f7f_e000],
    [0x7f80_0000, 0x7f80_0000, 0x7f7f_e000],
    [0xff80_0001, 0xff80_0000, 0xff7f_e000],
    [0x7f80_1000, 0x7f80_0000, 0x7f7f_e000],
    [0x7f80_3000, 0x7f80_2000, 0x7f80_0000],
    [0x7fc0_0000, 0x7fc0_0000, 0x7fbf_e000],
    [0x7fff_dfff, 0x7fff_c000, 0x7fff_a000],
    [0x7fff_ffff, 0x7fff_e000, 0x7fff_c000],
    [0xffff_ffff, 0xffff_e000, 0xffff_c000],
];

#[test]
fn tf32_rounded_away() {
    let rna = Flags { round: Round::NearestAway, ..Flags::default() };
    let function = |flags| convert(Num::Float(Float::Tf32), Num::Float(Float::F32), flags).expect("exists");
    let (plain, finite) = (function(rna), function(Flags { satfinite: true, ..rna }));
    for [a, expected, clamped] in TF32 {
        assert_eq!([plain(a, 0, 0), finite(a, 0, 0)], [expected, clamped], "{a:x}");
    }
}
