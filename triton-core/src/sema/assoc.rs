//! Associated constants of the element types: `f32::MAX`, `T::NEG_INFINITY`.

use crate::ir::types::{Class, Constant, DType};
use half::{bf16, f16};

/// The constant of this name, as Rust (and the crate `half`) define it.
pub(super) fn constant(dtype: DType, name: &str) -> Option<Constant> {
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
