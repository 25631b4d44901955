//! Modifiers, special numbers and forms that PTX does not have, as known answers.

use super::super::{Compare, Flags, Float, FloatOp, Int, Num, Round, Test, compare, convert, float_op, testp};

const ONE: u64 = 0x3f80_0000;
const NAN: u64 = 0x7fff_ffff;
const INF: u64 = 0x7f80_0000;
const MINUS: u64 = 0x8000_0000;

const NONE: Flags = Flags {
    round: Round::Nearest,
    integral: false,
    ftz: false,
    sat: false,
    satfinite: false,
    relu: false,
    approx: false,
    full: false,
    nan: false,
    xorsign: false,
};
const FTZ: Flags = Flags { ftz: true, ..NONE };
const SAT: Flags = Flags { sat: true, ..NONE };
const RELU: Flags = Flags { relu: true, ..NONE };
const APPROX: Flags = Flags { approx: true, ..NONE };
const DOWN: Flags = Flags { round: Round::Down, ..NONE };
const WITH_NAN: Flags = Flags { nan: true, ..NONE };
const XORSIGN: Flags = Flags { xorsign: true, ..NONE };

#[test]
fn operations() {
    let (f16, bf16, f32, f64) = (Float::F16, Float::Bf16, Float::F32, Float::F64);
    let quiet = 0x7ff8_0000_0000_0001;
    let cases = [
        (FloatOp::Add, f32, NONE, [INF, INF | MINUS, 0], NAN),
        (FloatOp::Add, f32, NONE, [0xff80_0001, 0, 0], NAN),
        (FloatOp::Add, f16, NONE, [0x7c00, 0xfc00, 0], 0x7fff),
        (FloatOp::Add, bf16, NONE, [0x7f80, 0xff80, 0], 0x7fff),
        (FloatOp::Add, f64, NONE, [0x7ff0 << 48, 0xfff0 << 48, 0], 0xfff8 << 48),
        (FloatOp::Add, f64, NONE, [0, 0x7ff0_0000_0000_0001, 0], quiet),
        (FloatOp::Add, f64, DOWN, [0, 0x7ff0_0000_0000_0001, 0], quiet),
        (FloatOp::Mul, f64, NONE, [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0001, 0], 0xfff8_0000_0000_0001),
        (FloatOp::Div, f64, NONE, [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0001, 0], quiet),
        (FloatOp::Max, f64, NONE, [0xfff0_0000_0000_0001, 0x7ff0_0000_0000_0001, 0], quiet),
        (FloatOp::Neg, f64, NONE, [0x7ff0_0000_0000_0001, 0, 0], quiet),
        (FloatOp::Neg, f32, NONE, [0xff80_0001, 0, 0], NAN),
        (FloatOp::Abs, bf16, NONE, [0xff81, 0, 0], 0x7fff),
        (FloatOp::Sub, f32, NONE, [ONE, ONE, 0], 0),
        (FloatOp::Sub, f32, DOWN, [ONE, ONE, 0], MINUS),
        (FloatOp::Add, f32, FTZ, [1, 1 | MINUS, 0], 0),
        (FloatOp::Add, f32, FTZ, [0x8000_0001, 0x8000_0001, 0], MINUS),
        (FloatOp::Add, f32, NONE, [1, 1, 0], 2),
        (FloatOp::Mul, f32, FTZ, [0x8080_0000, 0x3f00_0000, 0], MINUS),
        (FloatOp::Add, f32, SAT, [ONE, ONE, 0], ONE),
        (FloatOp::Add, f32, SAT, [ONE | MINUS, 0, 0], 0),
        (FloatOp::Mul, f32, SAT, [MINUS, ONE, 0], 0),
        (FloatOp::Add, f32, SAT, [NAN, 0, 0], 0),
        (FloatOp::Fma, f16, SAT, [0x4000, 0x4000, 0], 0x3c00),
        (FloatOp::Fma, f16, RELU, [0xc000, 0x4000, 0], 0),
        (FloatOp::Fma, bf16, RELU, [0x7fc1, 0, 0], 0x7fff),
        (FloatOp::Fma, f16, NONE, [0x3c01, 0x3c01, 0xbc02], 0x0010),
        // Measured: the NaN of elements out of bounds makes everything +0, as a factor and of either sign.
        (FloatOp::FmaOob, f16, NONE, [0x7ff7, 0x7c00, 0x7fff], 0),
        (FloatOp::FmaOob, bf16, RELU, [0xbf80, 0xfff7, 0x3f80], 0),
        (FloatOp::FmaOob, bf16, NONE, [0x3f80, 0x3f80, 0x7ff7], 0x7fff),
        (FloatOp::FmaOob, f16, NONE, [0x7ff6, 0, 0], 0x7fff),
        (FloatOp::FmaOob, f16, NONE, [0x3c01, 0x3c01, 0xbc02], 0x0010),
        (FloatOp::Div, f32, NONE, [ONE, MINUS, 0], INF | MINUS),
        (FloatOp::Div, f32, NONE, [0, 0, 0], NAN),
        (FloatOp::Div, f32, APPROX, [INF, 0x7e80_0000, 0], NAN),
        (FloatOp::Div, f32, APPROX, [ONE, 0xfe80_0000, 0], MINUS),
        (FloatOp::Sqrt, f32, NONE, [MINUS, 0, 0], MINUS),
        (FloatOp::Sqrt, f32, DOWN, [ONE | MINUS, 0, 0], NAN),
        (FloatOp::Rcp, f64, Flags { ftz: true, ..APPROX }, [0x4008_0000_0000_0000, 0, 0], 0x3fd5_5555_0000_0000),
        (FloatOp::Rsqrt, f32, APPROX, [0x4080_0000, 0, 0], 0x3f00_0000),
        (FloatOp::Min, f32, NONE, [0, MINUS, 0], MINUS),
        (FloatOp::Min, f32, NONE, [MINUS, 0, 0], MINUS),
        (FloatOp::Max, f32, NONE, [MINUS, 0, 0], 0),
        (FloatOp::Max, f32, NONE, [0, MINUS, 0], 0),
        (FloatOp::Min, f32, NONE, [NAN, ONE, 0], ONE),
        (FloatOp::Max, f32, NONE, [0x7f80_0001, 0xffff_ffff, 0], NAN),
        (FloatOp::Max, f32, WITH_NAN, [ONE, 0x7f80_0001, 0], NAN),
        (FloatOp::Max, f16, WITH_NAN, [0x7e00, 0x3c00, 0], 0x7fff),
        (FloatOp::Max, f32, XORSIGN, [0xc000_0000, ONE, 0], 0xc000_0000),
        (FloatOp::Min, f32, XORSIGN, [0xc000_0000, ONE | MINUS, 0], ONE),
        (FloatOp::Min, bf16, NONE, [0xbf80, 0x3f80, 0], 0xbf80),
        (FloatOp::Neg, f32, FTZ, [1, 0, 0], MINUS),
        (FloatOp::Abs, f16, NONE, [0xbc00, 0, 0], 0x3c00),
        (FloatOp::Copysign, f32, NONE, [MINUS, ONE, 0], ONE | MINUS),
        (FloatOp::Ex2, f32, APPROX, [0x4040_0000, 0, 0], 0x4100_0000),
        (FloatOp::Ex2, f32, APPROX, [INF | MINUS, 0, 0], 0),
        (FloatOp::Ex2, f16, APPROX, [0x4200, 0, 0], 0x4800),
        (FloatOp::Lg2, f32, APPROX, [MINUS, 0, 0], INF | MINUS),
        (FloatOp::Lg2, f32, APPROX, [ONE | MINUS, 0, 0], NAN),
        (FloatOp::Sin, f32, APPROX, [INF, 0, 0], NAN),
        (FloatOp::Cos, f32, APPROX, [0, 0, 0], ONE),
        (FloatOp::Tanh, bf16, APPROX, [0xff80, 0, 0], 0xbf80),
    ];
    for (op, ty, flags, [a, b, c], expected) in cases {
        let result = float_op(op, ty, flags).map(|function| function(a, b, c));
        assert_eq!(result, Some(expected), "{op:?} {ty:?} {flags:?} {a:x} {b:x} {c:x}: {result:x?}");
    }
}

#[test]
fn forms_that_do_not_exist() {
    let up = Flags { round: Round::Up, ..NONE };
    for (op, ty, flags) in [
        (FloatOp::Add, Float::F16, up),
        (FloatOp::Add, Float::Bf16, SAT),
        (FloatOp::Add, Float::F64, FTZ),
        (FloatOp::Add, Float::F32, RELU),
        (FloatOp::Add, Float::Tf32, NONE),
        (FloatOp::Div, Float::F16, NONE),
        (FloatOp::Div, Float::F64, APPROX),
        (FloatOp::Sin, Float::F16, APPROX),
        (FloatOp::Sqrt, Float::E4m3, NONE),
        (FloatOp::Tanh, Float::F32, Flags { ftz: true, ..APPROX }),
        (FloatOp::Ex2, Float::Bf16, APPROX),
        (FloatOp::Max, Float::F64, WITH_NAN),
        (FloatOp::Copysign, Float::F16, NONE),
    ] {
        assert!(float_op(op, ty, flags).is_none(), "{op:?} {ty:?} {flags:?}");
    }
    let integral = Flags { integral: true, ..NONE };
    for (to, from, flags) in [
        (Num::Int(Int::S32), Num::Float(Float::F32), NONE),
        (Num::Float(Float::F32), Num::Int(Int::S32), integral),
        (Num::Float(Float::F32), Num::Float(Float::F16), up),
        (Num::Float(Float::F16), Num::Float(Float::F32), integral),
        (Num::Float(Float::F64), Num::Float(Float::F16), FTZ),
        (Num::Float(Float::Tf32), Num::Float(Float::F64), NONE),
        (Num::Int(Int::S32), Num::Int(Int::S8), RELU),
    ] {
        assert!(convert(to, from, flags).is_none(), "{to:?} {from:?} {flags:?}");
    }
}

#[test]
fn conversions() {
    let (f16, bf16, f32, tf32) =
        (Num::Float(Float::F16), Num::Float(Float::Bf16), Num::Float(Float::F32), Num::Float(Float::Tf32));
    let away = Flags { round: Round::NearestAway, ..NONE };
    let finite = Flags { satfinite: true, ..NONE };
    let integral = Flags { integral: true, ..NONE };
    let (s32, f64) = (Num::Int(Int::S32), Num::Float(Float::F64));
    let cases = [
        (f16, f32, NONE, INF - 1, 0x7c00),
        (f16, f32, finite, INF - 1, 0x7bff),
        (f16, f32, finite, INF | MINUS, 0xfbff),
        (f16, f32, RELU, ONE | MINUS, 0),
        (bf16, f32, RELU, 0xffc0_0000, 0x7fff),
        (f16, f32, SAT, 0x4000_0000, 0x3c00),
        (f16, f32, NONE, 0xff80_0001, 0x7fff),
        (f32, bf16, NONE, 0xff81, 0xff81_0000),
        (f32, bf16, FTZ, 0xff81, NAN),
        (f32, f32, NONE, 0xff80_0001, 0xff80_0001),
        (f64, f32, NONE, 0x7f80_0001, 0x7ff8_0000_2000_0000),
        (f64, f32, FTZ, 0xff80_0001, 0x7fff_ffff_e000_0000),
        (f16, f64, NONE, 0xfff0_0000_0000_0001, 0xfe00),
        (f64, f64, NONE, 0xfff0_0000_0000_0001, 0xfff0_0000_0000_0001),
        (f64, f64, integral, 0xfff0_0000_0000_0001, 0xfff8_0000_0000_0001),
        (tf32, f32, NONE, 0xff80_0001, 0x7fff_e000),
        (f16, f32, FTZ, 0x8000_0001, 0x8000),
        (f32, f16, FTZ, 0x0001, 0x3380_0000),
        (f32, Num::Float(Float::F64), FTZ, 0x3800_0000_0000_0000, 0),
        (f32, f32, SAT, 0x4000_0000, ONE),
        (f32, f32, FTZ, 0x8000_0001, MINUS),
        (f32, f32, integral, 0x4020_0000, 0x4000_0000),
        (f32, f32, Flags { integral: true, ..DOWN }, 0xbf00_0000, ONE | MINUS),
        (f32, f32, integral, 0xbe80_0000, MINUS),
        (tf32, f32, NONE, 0x3f80_1000, 0x3f80_0000),
        (tf32, f32, away, 0x3f80_1000, 0x3f80_2000),
        (tf32, f32, Flags { round: Round::Zero, ..NONE }, 0x3f80_1fff, 0x3f80_0000),
        (tf32, f32, NONE, 0x7f7f_ffff, INF),
        (tf32, f32, finite, 0x7f7f_ffff, 0x7f7f_e000),
        (tf32, f32, RELU, ONE | MINUS, 0),
        (s32, f32, integral, INF, 0x7fff_ffff),
        (s32, f32, integral, NAN, 0),
        (Num::Int(Int::U8), f32, integral, 0x4380_0000, 0xff),
        (Num::Int(Int::S8), f32, integral, 0xc380_0000, 0x80),
        (Num::Int(Int::S32), f32, Flags { ftz: true, round: Round::Up, ..integral }, 1, 0),
        (Num::Int(Int::S32), f32, Flags { round: Round::Up, ..integral }, 1, 1),
        (Num::Int(Int::U16), s32, SAT, 0xffff_ffff, 0),
        (Num::Int(Int::S64), s32, NONE, 0xffff_ffff, u64::MAX),
    ];
    for (to, from, flags, a, expected) in cases {
        let result = convert(to, from, flags).map(|function| function(a, 0, 0));
        assert_eq!(result, Some(expected), "{to:?} {from:?} {flags:?} {a:x}: {result:x?}");
    }
}

#[test]
fn comparisons() {
    use Compare::{Eq, Equ, Ge, Geu, Gt, Gtu, Le, Leu, Lt, Ltu, Nan, Ne, Neu, Num as Number};
    let all = [Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Number, Nan];
    let cases: [(Num, bool, u64, u64, &[Compare]); 9] = [
        (Num::Float(Float::F32), false, ONE, ONE, &[Eq, Le, Ge, Equ, Leu, Geu, Number]),
        (Num::Float(Float::F32), false, 0, MINUS, &[Eq, Le, Ge, Equ, Leu, Geu, Number]),
        (Num::Float(Float::F32), false, ONE, NAN, &[Equ, Neu, Ltu, Leu, Gtu, Geu, Nan]),
        (Num::Float(Float::F32), false, 1, 2, &[Ne, Lt, Le, Neu, Ltu, Leu, Number]),
        (Num::Float(Float::F32), true, 1, 2, &[Eq, Le, Ge, Equ, Leu, Geu, Number]),
        (Num::Float(Float::Bf16), false, 0xbf80, 0xc000, &[Ne, Gt, Ge, Neu, Gtu, Geu, Number]),
        (Num::Float(Float::F64), false, 0, 1, &[Ne, Lt, Le, Neu, Ltu, Leu, Number]),
        (Num::Int(Int::S32), false, MINUS, 1, &[Ne, Lt, Le]),
        (Num::Int(Int::U32), false, MINUS, 1, &[Ne, Gt, Ge]),
    ];
    for (ty, ftz, a, b, holding) in cases {
        let found = all.into_iter().filter(|c| compare(*c, ty, ftz).is_some_and(|holds| holds(a, b)));
        assert_eq!(found.collect::<Vec<_>>(), holding, "{ty:?} {a:x} {b:x}");
    }
    let tests = [Test::Finite, Test::Infinite, Test::Number, Test::NotANumber, Test::Normal, Test::Subnormal];
    let classes: [(u64, &[Test]); 5] = [
        (MINUS, &[Test::Finite, Test::Number, Test::Normal]),
        (1, &[Test::Finite, Test::Number, Test::Subnormal]),
        (ONE, &[Test::Finite, Test::Number, Test::Normal]),
        (INF, &[Test::Infinite, Test::Number]),
        (0xff80_0001, &[Test::NotANumber]),
    ];
    for (a, expected) in classes {
        let found = tests.into_iter().filter(|t| testp(*t, Float::F32).expect("exists")(a));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{a:x}");
    }
}
