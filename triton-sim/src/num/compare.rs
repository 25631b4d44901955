//! Comparisons (`set`, `setp`) and tests of one number (`testp`).

use super::format::{Bf16, F16, F32, F64, Format, flush};
use super::integer::Integer;
use super::{Float, Int, Num, to_f64};

/// A comparison. `Eq` to `Ge` are false of a NaN operand, `Equ` to `Geu` true. `lo` `ls` `hi` `hs` are those of an
/// unsigned type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Neither operand is NaN.
    Num,
    /// An operand is NaN.
    Nan,
}

/// A class of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum Test {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// The predicate of a comparison; `None` where PTX has no such form.
pub fn compare(compare: Compare, ty: Num, ftz: bool) -> Option<fn(u64, u64) -> bool> {
    match (ty, ftz) {
        (Num::Int(Int::U16), false) => integers::<u16>(compare),
        (Num::Int(Int::U32), false) => integers::<u32>(compare),
        (Num::Int(Int::U64), false) => integers::<u64>(compare),
        (Num::Int(Int::S16), false) => integers::<i16>(compare),
        (Num::Int(Int::S32), false) => integers::<i32>(compare),
        (Num::Int(Int::S64), false) => integers::<i64>(compare),
        (Num::Float(Float::F16), false) => Some(floats::<F16, false>(compare)),
        (Num::Float(Float::F16), true) => Some(floats::<F16, true>(compare)),
        (Num::Float(Float::F32), false) => Some(floats::<F32, false>(compare)),
        (Num::Float(Float::F32), true) => Some(floats::<F32, true>(compare)),
        (Num::Float(Float::Bf16), false) => Some(floats::<Bf16, false>(compare)),
        (Num::Float(Float::F64), false) => Some(floats::<F64, false>(compare)),
        (Num::Int(_) | Num::Float(_), _) => None,
    }
}

fn integers<T: Integer>(compare: Compare) -> Option<fn(u64, u64) -> bool> {
    Some(match compare {
        Compare::Eq => |a, b| T::of(a) == T::of(b),
        Compare::Ne => |a, b| T::of(a) != T::of(b),
        Compare::Lt => |a, b| T::of(a) < T::of(b),
        Compare::Le => |a, b| T::of(a) <= T::of(b),
        Compare::Gt => |a, b| T::of(a) > T::of(b),
        Compare::Ge => |a, b| T::of(a) >= T::of(b),
        Compare::Equ | Compare::Neu | Compare::Ltu | Compare::Leu | Compare::Gtu | Compare::Geu => return None,
        Compare::Num | Compare::Nan => return None,
    })
}

#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "the unordered comparisons are the opposites of ordered ones")]
fn floats<F: Format, const FTZ: bool>(compare: Compare) -> fn(u64, u64) -> bool {
    #[inline(always)]
    fn of<F: Format, const FTZ: bool>(bits: u64) -> f64 {
        to_f64(F::FLOAT, flush::<F, FTZ>(bits))
    }
    match compare {
        Compare::Eq => |a, b| of::<F, FTZ>(a) == of::<F, FTZ>(b),
        Compare::Ne => |a, b| of::<F, FTZ>(a) < of::<F, FTZ>(b) || of::<F, FTZ>(a) > of::<F, FTZ>(b),
        Compare::Lt => |a, b| of::<F, FTZ>(a) < of::<F, FTZ>(b),
        Compare::Le => |a, b| of::<F, FTZ>(a) <= of::<F, FTZ>(b),
        Compare::Gt => |a, b| of::<F, FTZ>(a) > of::<F, FTZ>(b),
        Compare::Ge => |a, b| of::<F, FTZ>(a) >= of::<F, FTZ>(b),
        Compare::Equ => |a, b| !(of::<F, FTZ>(a) < of::<F, FTZ>(b) || of::<F, FTZ>(a) > of::<F, FTZ>(b)),
        Compare::Neu => |a, b| of::<F, FTZ>(a) != of::<F, FTZ>(b),
        Compare::Ltu => |a, b| !(of::<F, FTZ>(a) >= of::<F, FTZ>(b)),
        Compare::Leu => |a, b| !(of::<F, FTZ>(a) > of::<F, FTZ>(b)),
        Compare::Gtu => |a, b| !(of::<F, FTZ>(a) <= of::<F, FTZ>(b)),
        Compare::Geu => |a, b| !(of::<F, FTZ>(a) < of::<F, FTZ>(b)),
        Compare::Num => |a, b| !of::<F, FTZ>(a).is_nan() && !of::<F, FTZ>(b).is_nan(),
        Compare::Nan => |a, b| of::<F, FTZ>(a).is_nan() || of::<F, FTZ>(b).is_nan(),
    }
}

/// The predicate of `testp`, of `f32` and `f64`. Zeros are normal.
pub fn testp(test: Test, ty: Float) -> Option<fn(u64) -> bool> {
    match ty {
        Float::F32 => Some(test_of::<F32>(test)),
        Float::F64 => Some(test_of::<F64>(test)),
        Float::F16 | Float::Bf16 | Float::Tf32 | Float::E4m3 | Float::E5m2 => None,
    }
}

fn test_of<F: Format>(test: Test) -> fn(u64) -> bool {
    #[inline(always)]
    fn magnitude<F: Format>(bits: u64) -> u64 {
        bits & (F::LAYOUT.sign() - 1)
    }
    match test {
        Test::Finite => |a| magnitude::<F>(a) < F::LAYOUT.infinity,
        Test::Infinite => |a| magnitude::<F>(a) == F::LAYOUT.infinity,
        Test::Number => |a| !F::LAYOUT.is_nan(a),
        Test::NotANumber => |a| F::LAYOUT.is_nan(a),
        Test::Normal => |a| magnitude::<F>(a) < F::LAYOUT.infinity && !F::LAYOUT.is_subnormal(a),
        Test::Subnormal => |a| F::LAYOUT.is_subnormal(a),
    }
}
