//! Associated constants of the element types: `f32::MAX`, `T::NEG_INFINITY`.

use crate::ir::types::{Class, Constant, DType};
use half::{bf16, f16};

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

/// The bits of `$t::NAME`, widened.
macro_rules! bits_of {
    ($t:ty, $name:expr; $($constant:ident)*) => {
        match $name { $( stringify!($constant) => Some(u64::from(<$t>::$constant.to_bits())), )* _ => None }
    };
}

fn float(dtype: DType, name: &str) -> Option<Constant> {
    let bits = match dtype {
        DType::F16 => bits_of!(f16, name; MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE),
        DType::BF16 => bits_of!(bf16, name; MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE),
        DType::F32 => bits_of!(f32, name; MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE),
        DType::F64 => bits_of!(f64, name; MAX MIN INFINITY NEG_INFINITY NAN EPSILON MIN_POSITIVE),
        DType::Bool
        | DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64 => None,
    };
    bits.map(|bits| Constant { dtype, bits })
}

#[cfg(test)]
mod tests {
    use super::mathematical;
    use crate::ir::types::DType;

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
