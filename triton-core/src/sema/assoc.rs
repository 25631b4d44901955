//! Associated constants of the element types: `f32::MAX`, `T::NEG_INFINITY`.

use crate::types::{Class, Constant, DType};

/// Whether some element type has an associated constant of this name.
pub fn is_associated(name: &str) -> bool {
    DType::ALL.iter().any(|&dtype| constant(dtype, name).is_some())
}

/// The constant of `core::f32::consts` or `core::f64::consts`.
pub(super) fn mathematical(dtype: DType, name: &str) -> Option<Constant> {
    use std::f64::consts as c;
    let value = match name {
        "PI" => c::PI,
        "TAU" => c::TAU,
        "E" => c::E,
        "LN_2" => c::LN_2,
        "LN_10" => c::LN_10,
        "LOG2_E" => c::LOG2_E,
        "LOG2_10" => c::LOG2_10,
        "LOG10_2" => c::LOG10_2,
        "LOG10_E" => c::LOG10_E,
        "SQRT_2" => c::SQRT_2,
        "FRAC_1_PI" => c::FRAC_1_PI,
        "FRAC_2_PI" => c::FRAC_2_PI,
        "FRAC_1_SQRT_2" => c::FRAC_1_SQRT_2,
        "FRAC_2_SQRT_PI" => c::FRAC_2_SQRT_PI,
        "FRAC_PI_2" => c::FRAC_PI_2,
        "FRAC_PI_3" => c::FRAC_PI_3,
        "FRAC_PI_4" => c::FRAC_PI_4,
        "FRAC_PI_6" => c::FRAC_PI_6,
        "FRAC_PI_8" => c::FRAC_PI_8,
        _ => return None,
    };
    // Each of `f32` is that of `f64`, rounded.
    let bits = match dtype {
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F64 => value.to_bits(),
        DType::Bool
        | DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::F16
        | DType::BF16 => return None,
    };
    Some(Constant { dtype, bits })
}

/// The constant of this name, as Rust (and the crate `half`) define it, or the trait `Num`.
pub(super) fn constant(dtype: DType, name: &str) -> Option<Constant> {
    // Of the trait `Num`, for type parameters.
    match (name, dtype.class()) {
        ("ZERO" | "ONE", Class::Bool) => return None,
        ("ZERO" | "ONE", Class::Signed | Class::Unsigned) => return Some(Constant::int(dtype, (name == "ONE").into())),
        ("ZERO", Class::Float) => return Constant::parse_float(dtype, "0.0"),
        ("ONE", Class::Float) => return Constant::parse_float(dtype, "1.0"),
        (_, _) => {}
    }
    match dtype.class() {
        Class::Bool => None,
        Class::Signed => match name {
            "MAX" => Some(Constant::int(dtype, (1 << (dtype.bits() - 1)) - 1)),
            "MIN" => Some(Constant::int(dtype, -(1 << (dtype.bits() - 1)))),
            _ => None,
        },
        Class::Unsigned => match name {
            "MAX" => Some(Constant::int(dtype, (1 << dtype.bits()) - 1)),
            "MIN" => Some(Constant::int(dtype, 0)),
            _ => None,
        },
        Class::Float => float(dtype, name),
    }
}

/// The constants of a binary interchange format (IEEE 754, 3.4), from the bits of its significand alone.
fn float(dtype: DType, name: &str) -> Option<Constant> {
    let significand = match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        DType::F64 => 52,
        DType::Bool
        | DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64 => return None,
    };
    let sign = 1u64 << (dtype.bits() - 1);
    let infinity = sign - (1 << significand);
    let bias = (sign >> (significand + 1)) - 1;
    let bits = match name {
        "MAX" => infinity - 1,
        "MIN" => sign | (infinity - 1),
        "INFINITY" => infinity,
        "NEG_INFINITY" => sign | infinity,
        "NAN" => infinity | (1 << (significand - 1)),
        "EPSILON" => (bias - significand) << significand,
        "MIN_POSITIVE" => 1 << significand,
        _ => return None,
    };
    Some(Constant { dtype, bits })
}

#[cfg(test)]
mod tests {
    use super::{constant, mathematical};
    use crate::types::DType;

    #[test]
    fn constants_of_floats_are_those_of_rust() {
        macro_rules! check {
            ($dtype:ident $t:ty: $($name:ident)*) => {
                $( assert_eq!(
                    constant(DType::$dtype, stringify!($name)).map(|c| c.bits),
                    Some(u64::from(<$t>::$name.to_bits())),
                    stringify!($t $name),
                ); )*
            };
        }
        check!(F16 half::f16: MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE);
        check!(BF16 half::bf16: MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE);
        check!(F32 f32: MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE);
        check!(F64 f64: MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE);
    }

    #[test]
    fn constants_of_f32_are_those_of_f64_rounded() {
        use std::f32::consts as c;
        let named = [
            ("PI", c::PI),
            ("TAU", c::TAU),
            ("E", c::E),
            ("LN_2", c::LN_2),
            ("LN_10", c::LN_10),
            ("LOG2_E", c::LOG2_E),
            ("LOG2_10", c::LOG2_10),
            ("LOG10_2", c::LOG10_2),
            ("LOG10_E", c::LOG10_E),
            ("SQRT_2", c::SQRT_2),
            ("FRAC_1_PI", c::FRAC_1_PI),
            ("FRAC_2_PI", c::FRAC_2_PI),
            ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
            ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
            ("FRAC_PI_2", c::FRAC_PI_2),
            ("FRAC_PI_3", c::FRAC_PI_3),
            ("FRAC_PI_4", c::FRAC_PI_4),
            ("FRAC_PI_6", c::FRAC_PI_6),
            ("FRAC_PI_8", c::FRAC_PI_8),
        ];
        for (name, value) in named {
            let bits = mathematical(DType::F32, name).map(|constant| constant.bits);
            assert_eq!(bits, Some(u64::from(value.to_bits())), "{name}");
        }
        assert_eq!(mathematical(DType::F16, "PI"), None);
    }
}
