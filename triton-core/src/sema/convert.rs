//! Which conversion makes two element types one: the narrower operand is widened, so that no value is lost.

use super::Checker;
use super::operator::verb;
use super::value::Val;
use crate::ast::BinaryOp;
use crate::diag::{Code, Diagnostic};
use crate::span::Span;
use crate::types::DType;

/// Which operands to convert.
enum Side {
    Left,
    Right,
    Both,
}

/// Whether every value of one type is a value of another one.
fn holds(wide: DType, narrow: DType) -> bool {
    // The bits of a number apart from its sign: of floats those of a mantissa with its leading one.
    let digits = |dtype: DType| match dtype {
        DType::Bool => 1,
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        DType::F64 => 53,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            dtype.bits() - u32::from(dtype.is_signed())
        }
    };
    let same = wide == narrow;
    match (wide.is_float(), narrow.is_float()) {
        (true, true) => same || wide.bits() > narrow.bits(),
        (false, true) => same,
        (true, false) => digits(wide) >= digits(narrow),
        (false, false) => {
            let sign = !narrow.is_signed() || wide.is_signed();
            same || wide != DType::Bool && sign && digits(wide) >= digits(narrow)
        }
    }
}

/// What to convert to what; `None` if no type holds both.
fn widened(left: DType, right: DType) -> Option<(Side, DType)> {
    if holds(right, left) {
        return Some((Side::Left, right));
    }
    if holds(left, right) {
        return Some((Side::Right, left));
    }
    match (left.is_float(), right.is_float()) {
        // Of the other integers a float keeps the magnitude, and an integer loses the fraction of every float.
        (false, true) if right.bits() >= 32 => Some((Side::Left, right)),
        (true, false) if left.bits() >= 32 => Some((Side::Right, left)),
        (true, _) | (_, true) => Some((Side::Both, DType::F32)),
        (false, false) => {
            let both = DType::ALL.iter().find(|&&dtype| dtype.is_int() && holds(dtype, left) && holds(dtype, right));
            both.map(|&dtype| (Side::Both, dtype))
        }
    }
}

impl Checker<'_> {
    /// How to give the operands of an operator one element type.
    pub(super) fn conversion(&self, left: DType, right: DType) -> String {
        self.conversion_of(left, right, ["on the left", "on the right"])
    }

    /// Reports `a += b` of two element types: the variable keeps its own, so that the other operand is converted, or
    /// the variable is declared with the wider one.
    pub(super) fn assignable(&mut self, op: BinaryOp, span: Span, old: &Val, new: &Val, name: &str) -> Option<()> {
        let (Some(ty), Some(found)) = (old.ty(&self.func), new.ty(&self.func)) else { return Some(()) };
        let (Some(own), Some(other)) = (ty.elem.num(), found.elem.num()) else { return Some(()) };
        if own == other || matches!(widened(own, other), Some((Side::Right, _))) {
            return Some(());
        }
        let message = format!("cannot {} `{}` and `{}`", verb(op), ty.describe(), found.describe());
        let wider = widened(own, other).map(|(_, dtype)| format!(", or give `{name}` the type `{dtype}` at first"));
        let help = format!(
            "a variable keeps its element type: write `.to::<{}>()` on the right{}",
            self.spelled(own),
            wider.unwrap_or_default()
        );
        self.report(Diagnostic::new(Code::T0102, span, message).help(help))
    }

    /// How to give two arguments of a function one element type.
    pub(super) fn conversion_of_arguments(&self, first: DType, other: DType) -> String {
        self.conversion_of(first, other, [&format!("on the `{first}`"), &format!("on the `{other}`")])
    }

    fn conversion_of(&self, left: DType, right: DType, [on_left, on_right]: [&str; 2]) -> String {
        let Some((side, to)) = widened(left, right) else {
            let (left, right) = (self.spelled(left), self.spelled(right));
            return format!(
                "no type holds both: write `.to::<{left}>()` {on_right}, or `.to::<{right}>()` {on_left}, which wraps"
            );
        };
        let rounds = |from: DType| !holds(to, from);
        let (side, rounds) = match side {
            Side::Left => (on_left, rounds(left)),
            Side::Right => (on_right, rounds(right)),
            Side::Both => ("on both", rounds(left) || rounds(right)),
        };
        let digits = if to == DType::F64 { 53 } else { 24 };
        let large = if rounds { format!(", which rounds integers above 2^{digits}") } else { String::new() };
        format!("there is no implicit conversion: write `.to::<{}>()` {side}{large}", self.spelled(to))
    }
}

#[cfg(test)]
mod tests {
    use super::{Side, holds, widened};
    use crate::types::DType;

    #[test]
    fn no_value_of_a_narrower_type_is_lost() {
        for &wide in DType::ALL {
            for &narrow in DType::ALL {
                // 0 and 1 and the largest and the least number are there and back the same.
                let there_and_back = |bits: u64| {
                    let there = crate::ops::eval::cast(narrow, wide, &[bits])[0];
                    crate::ops::eval::cast(wide, narrow, &[there])[0] == bits
                };
                if holds(wide, narrow) && narrow.is_int() && wide != DType::Bool {
                    let all = u64::MAX >> (64 - narrow.bits());
                    for bits in [0, 1, all, all >> 1, (all >> 1) + 1] {
                        assert!(there_and_back(bits), "{bits:#x} of {narrow} as {wide}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_narrower_operand_is_converted() {
        let of = |left, right| match widened(left, right) {
            Some((Side::Left, to)) => format!("left {to}"),
            Some((Side::Right, to)) => format!("right {to}"),
            Some((Side::Both, to)) => format!("both {to}"),
            None => "none".to_owned(),
        };
        for (left, right, expected) in [
            (DType::I32, DType::I64, "left i64"),
            (DType::I64, DType::I32, "right i64"),
            (DType::I8, DType::F32, "left f32"),
            (DType::F32, DType::I8, "right f32"),
            (DType::I64, DType::F32, "left f32"),
            (DType::F16, DType::BF16, "both f32"),
            (DType::I32, DType::F16, "both f32"),
            (DType::I8, DType::F16, "left f16"),
            (DType::I32, DType::U32, "both i64"),
            (DType::U8, DType::I8, "both i16"),
            (DType::U32, DType::I64, "left i64"),
            (DType::U64, DType::I64, "none"),
            (DType::Bool, DType::I32, "left i32"),
        ] {
            assert_eq!(of(left, right), expected, "{left} and {right}");
        }
    }
}
