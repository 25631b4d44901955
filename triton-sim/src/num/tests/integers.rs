//! Integer instructions against 128-bit arithmetic and bit-by-bit definitions.

use super::super::{BitOp, Int, IntOp, Permute, Scalar, add_carry, bfi, bit_op, int_op, lop3, prmt, sub_borrow};
use super::super::{IntOp as Op, undefined_division};

const INTS: [(Int, u32, bool); 6] = [
    (Int::U16, 16, false),
    (Int::S16, 16, true),
    (Int::U32, 32, false),
    (Int::S32, 32, true),
    (Int::U64, 64, false),
    (Int::S64, 64, true),
];

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Any bits of a width: small, large, or all of them random.
fn sample(random: &mut fastrand::Rng, width: u32) -> u64 {
    let small = random.u64(..) >> random.u32(0..64);
    (if random.bool() { small } else { !small }) & mask(width)
}

/// The number that bits of an integer type mean.
fn number(bits: u64, width: u32, signed: bool) -> i128 {
    let unused = 128 - width;
    if signed { (i128::from(bits) << unused) >> unused } else { bits.into() }
}

#[test]
fn arithmetic_is_that_of_the_integers() {
    type Exact = fn(i128, i128, i128, u32) -> i128;
    let cases: [(Op, Exact); 13] = [
        (IntOp::Add, |a, b, _, _| a + b),
        (IntOp::Sub, |a, b, _, _| a - b),
        (IntOp::MulLo, |a, b, _, _| a.wrapping_mul(b)),
        (IntOp::MadLo, |a, b, c, _| a.wrapping_mul(b).wrapping_add(c)),
        (IntOp::MulHi, |a, b, _, width| a.wrapping_mul(b) >> width),
        (IntOp::MadHi, |a, b, c, width| (a.wrapping_mul(b) >> width) + c),
        (IntOp::Sad, |a, b, c, _| (a - b).abs() + c),
        (IntOp::Div, |a, b, _, _| a / b),
        (IntOp::Rem, |a, b, _, _| a % b),
        (IntOp::Min, |a, b, _, _| a.min(b)),
        (IntOp::Max, |a, b, _, _| a.max(b)),
        (IntOp::Abs, |a, _, _, _| a.abs()),
        (IntOp::Neg, |a, _, _, _| -a),
    ];
    let mut random = fastrand::Rng::with_seed(20);
    for ((op, exact), (ty, width, signed)) in cases.into_iter().flat_map(|case| INTS.map(|int| (case, int))) {
        let Some(function) = int_op(op, ty) else {
            assert!(matches!(op, IntOp::Abs | IntOp::Neg) && !signed, "{op:?} {ty:?}");
            continue;
        };
        for _ in 0..5000 {
            let [a, b, c] = [(); 3].map(|()| sample(&mut random, width));
            if matches!(op, IntOp::Div | IntOp::Rem) && undefined_division(ty, a, b) {
                continue;
            }
            let [x, y, z] = [a, b, c].map(|bits| number(bits, width, signed));
            let expected = exact(x, y, z, width) as u64 & mask(width);
            assert_eq!(function(a, b, c), expected, "{op:?}.{ty:?} {x} {y} {z}");
        }
    }
    for (ty, width, signed) in INTS {
        let wide = [IntOp::MulWide, IntOp::MadWide].map(|op| int_op(op, ty));
        if width == 64 {
            assert_eq!(wide, [None, None]);
            continue;
        }
        let [mul, mad] = wide.map(|function| function.expect("exists"));
        for _ in 0..5000 {
            let ([a, b], c) = ([(); 2].map(|()| sample(&mut random, width)), sample(&mut random, 2 * width));
            let product = number(a, width, signed) * number(b, width, signed);
            assert_eq!(mul(a, b, 0), product as u64 & mask(2 * width));
            assert_eq!(mad(a, b, c), (product + i128::from(c)) as u64 & mask(2 * width));
        }
    }
}

#[test]
fn bits_are_those_of_the_definitions() {
    let mut random = fastrand::Rng::with_seed(21);
    let op = |op, ty| bit_op(op, ty).expect("exists");
    for (ty, width, signed) in INTS {
        for _ in 0..10_000 {
            let [a, b] = [(); 2].map(|()| sample(&mut random, width));
            let (start, len) = (random.u64(0..80), random.u64(0..80));
            let x = number(a, width, signed);
            assert_eq!(op(BitOp::Shr, ty)(a, start, 0), (x >> start) as u64 & mask(width), "{x} {start}");
            if !signed {
                assert_eq!(op(BitOp::Shl, ty)(a, start, 0), (x << (start.min(64))) as u64 & mask(width));
                assert_eq!(op(BitOp::Not, ty)(a, 0, 0), a ^ mask(width));
            }
            if width == 16 {
                continue;
            }
            let bit = |x: u64, i: u64| i < width.into() && x >> i & 1 != 0;
            let sign = signed && len != 0 && bit(a, (start + len - 1).min(u64::from(width) - 1));
            let field = (0..u64::from(width)).fold(0, |field, i| {
                let inside = i < len && start + i < width.into();
                field | u64::from(if inside { bit(a, start + i) } else { sign }) << i
            });
            assert_eq!(op(BitOp::Bfe, ty)(a, start, len), field, "{a:x} {start} {len}");
            let inserted = (0..u64::from(width)).fold(0, |all, i| {
                let from = if i >= start && i - start < len { bit(a, i - start) } else { bit(b, i) };
                all | u64::from(from) << i
            });
            assert_eq!(bfi(width == 64, a, b, start, len), inserted, "{a:x} {b:x} {start} {len}");
            let highest = (0..width).rev().find(|i| bit(a, (*i).into()) != (x < 0));
            let shift = highest.map(|i| width - 1 - i);
            assert_eq!(op(BitOp::Bfind, ty)(a, 0, 0), highest.unwrap_or(u32::MAX).into());
            assert_eq!(op(BitOp::BfindShiftamt, ty)(a, 0, 0), shift.unwrap_or(u32::MAX).into());
            if !signed {
                let ones = (0..u64::from(width)).filter(|i| bit(a, *i)).count() as u64;
                assert_eq!(op(BitOp::Popc, ty)(a, 0, 0), ones);
                assert_eq!(op(BitOp::Clz, ty)(a, 0, 0), u64::from(highest.map_or(width, |i| width - 1 - i)));
                let reversed =
                    (0..u64::from(width)).fold(0, |r, i| r | u64::from(bit(a, i)) << (u64::from(width) - 1 - i));
                assert_eq!(op(BitOp::Brev, ty)(a, 0, 0), reversed);
                let carry = random.bool();
                let sum = u128::from(a) + u128::from(b) + u128::from(carry);
                assert_eq!(add_carry(width == 64, a, b, carry), (sum as u64 & mask(width), sum >> width == 1));
                let difference = i128::from(a) - i128::from(b) - i128::from(carry);
                let expected = (difference as u64 & mask(width), difference < 0);
                assert_eq!(sub_borrow(width == 64, a, b, carry), expected);
            }
        }
    }
    for _ in 0..1000 {
        let [a, b, c] = [(); 3].map(|()| random.u64(..) & mask(32));
        for (table, expected) in [(0x80, a & b & c), (0xfe, a | b | c), (0x96, a ^ b ^ c), (0xca, a & b | !a & c)] {
            assert_eq!(lop3(a, b, c, table), expected & mask(32));
        }
    }
}

#[test]
fn known_answers() {
    let int = |op, ty| int_op(op, ty).expect("exists");
    let bit = |op| bit_op(op, Int::U32).expect("exists");
    let (min, max, minus) = (0x8000_0000, 0x7fff_ffff, 0xffff_ffff);
    let cases: [(Scalar, [u64; 3], u64); 50] = [
        (int(Op::Div, Int::U32), [7, 0, 0], minus),
        (int(Op::Div, Int::S32), [min, minus, 0], min),
        (int(Op::Rem, Int::S32), [min, minus, 0], 0),
        (int(Op::Abs, Int::S32), [min, 0, 0], min),
        (int(Op::Neg, Int::S16), [0x8000, 0, 0], 0x8000),
        (int(Op::AddSat, Int::S32), [max, 1, 0], max),
        (int(Op::AddSat, Int::S32), [min, minus, 0], min),
        (int(Op::AddSat, Int::S32), [5, minus, 0], 4),
        (int(Op::SubSat, Int::S32), [min, 1, 0], min),
        (int(Op::SubSat, Int::S32), [0, min, 0], max),
        (int(Op::MadHiSat, Int::S32), [min, min, max], max),
        (int(Op::MinRelu, Int::S32), [3, minus, 0], 0),
        (int(Op::MaxRelu, Int::S32), [min, minus, 0], 0),
        (int(Op::MaxRelu, Int::S32), [min, 4, 0], 4),
        (int(Op::Mul24Lo, Int::U32), [0xffff_ffff, 0xff00_0002, 0], 0x01ff_fffe),
        (int(Op::Mul24Lo, Int::S32), [0x00ff_ffff, 2, 0], 0xffff_fffe),
        (int(Op::Mul24Hi, Int::U32), [0x00ff_ffff, 0x00ff_ffff, 0], 0xffff_fe00),
        (int(Op::Mad24Lo, Int::U32), [3, 4, 5], 17),
        (int(Op::Mad24HiSat, Int::S32), [0x007f_ffff, 0x007f_ffff, max], max),
        (bit(BitOp::Cnot), [0, 0, 0], 1),
        (bit(BitOp::Cnot), [9, 0, 0], 0),
        (bit(BitOp::Shl), [1, 32, 0], 0),
        (bit(BitOp::Shl), [1, minus, 0], 0),
        (bit(BitOp::ShfLeftClamp), [0x89ab_cdef, 0x0123_4567, 8], 0x2345_6789),
        (bit(BitOp::ShfLeftClamp), [0x89ab_cdef, 0x0123_4567, 40], 0x89ab_cdef),
        (bit(BitOp::ShfLeftWrap), [0x89ab_cdef, 0x0123_4567, 40], 0x2345_6789),
        (bit(BitOp::ShfLeftWrap), [0x89ab_cdef, 0x0123_4567, 32], 0x0123_4567),
        (bit(BitOp::ShfRightClamp), [0x89ab_cdef, 0x0123_4567, 8], 0x6789_abcd),
        (bit(BitOp::ShfRightClamp), [0x89ab_cdef, 0x0123_4567, 40], 0x0123_4567),
        (bit(BitOp::ShfRightWrap), [0x89ab_cdef, 0x0123_4567, 40], 0x6789_abcd),
        (bit(BitOp::ShfRightWrap), [0x89ab_cdef, 0x0123_4567, 32], 0x89ab_cdef),
        (prmt(Permute::Index), [0x3322_1100, 0x7766_5544, 0x7531], 0x7755_3311),
        (prmt(Permute::Index), [0x0000_8001, 0, 0x1098], 0x8001_ff00),
        (prmt(Permute::F4e), [0x3322_1100, 0x7766_5544, 1], 0x4433_2211),
        (prmt(Permute::F4e), [0x3322_1100, 0x7766_5544, 7], 0x6655_4433),
        (prmt(Permute::B4e), [0x3322_1100, 0x7766_5544, 0], 0x5566_7700),
        (prmt(Permute::B4e), [0x3322_1100, 0x7766_5544, 3], 0x0011_2233),
        (prmt(Permute::Rc8), [0x3322_1100, 0x7766_5544, 2], 0x2222_2222),
        (prmt(Permute::Ecl), [0x3322_1100, 0x7766_5544, 1], 0x3322_1111),
        (prmt(Permute::Ecl), [0x3322_1100, 0x7766_5544, 2], 0x3322_2222),
        (prmt(Permute::Ecr), [0x3322_1100, 0x7766_5544, 1], 0x1111_1100),
        (prmt(Permute::Ecr), [0x3322_1100, 0x7766_5544, 2], 0x2222_1100),
        (prmt(Permute::Rc16), [0x3322_1100, 0x7766_5544, 0], 0x1100_1100),
        (prmt(Permute::Rc16), [0x3322_1100, 0x7766_5544, 3], 0x3322_3322),
        (super::super::dp4a(true, true), [0xff02_0304, 0x0102_0304, 10], 38),
        (super::super::dp4a(false, true), [0xff00_0000, 0xff00_0000, 0], 0xffff_ff01),
        (super::super::dp2a(false, true, false), [0xffff_0002, 0x0909_0503, 0], 1),
        (super::super::dp2a(true, true, false), [0xffff_0002, 0x0503_0909, 0], 1),
        (super::super::cvt_pack(16, true).expect("exists"), [0x7000_0000, 0x8000_0000, 0], 0x7fff_8000),
        (super::super::cvt_pack(8, false).expect("exists"), [300, 0xffff_ffff, 0xabcd_1234], 0x1234_ff00),
    ];
    for (i, (function, [a, b, c], expected)) in cases.into_iter().enumerate() {
        assert_eq!(function(a, b, c), expected, "case {i}: {:x}", function(a, b, c));
    }
    for (ty, a, b, undefined) in [
        (Int::U32, 5, 0, true),
        (Int::S32, min, minus, true),
        (Int::U32, min, minus, false),
        (Int::S16, 0x8000, 0xffff, true),
        (Int::S64, min, u64::MAX, false),
    ] {
        assert_eq!(undefined_division(ty, a, b), undefined, "{ty:?} {a:x} {b:x}");
    }
}
