//! Reductions: which there are, and their arithmetic on the host.

use half::{bf16, f16};
use std::fmt;
use triton::DType;

/// How the elements of the ranks become one.
///
/// | | integers | floats | `bool` |
/// |---|---|---|---|
/// | `Sum`, `Product` | modulo 2ⁿ | yes | |
/// | `Max`, `Min` | yes | yes | any, all |
/// | `Average` | | the sum, divided by the world size | |
///
/// What is not defined is [`Error::Type`](crate::Error::Type); so are all reductions of `i16` and `u16`, which NCCL has not.
///
/// On the CPU and the simulator elements are combined in the order of the ranks, `f16` and `bf16` in `f32`, rounded once at the end; each rank has the same bits.
/// NCCL chooses the order by the topology, and may round `f16` and `bf16` after each step.
///
/// `Max` and `Min` of floats leave out NaNs: they are NaN only if the elements of all ranks are. Of −0 and +0 it is the one of the lower rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
    /// The sum divided by the world size.
    Average,
}

impl Reduce {
    /// All of them.
    pub const ALL: [Reduce; 5] = [Reduce::Sum, Reduce::Product, Reduce::Max, Reduce::Min, Reduce::Average];

    /// Whether it is defined for an element type.
    pub fn is_defined(self, dtype: DType) -> bool {
        match self {
            _ if matches!(dtype, DType::I16 | DType::U16) => false,
            Reduce::Max | Reduce::Min => true,
            Reduce::Sum | Reduce::Product => dtype != DType::Bool,
            Reduce::Average => matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64),
        }
    }
}

impl fmt::Display for Reduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reduce::Sum => "the sum",
            Reduce::Product => "the product",
            Reduce::Max => "the maximum",
            Reduce::Min => "the minimum",
            Reduce::Average => "the average",
        })
    }
}

/// The elements of all ranks as one, in the order of the ranks; `None` if that is not defined. Bytes are little-endian, and of equal lengths.
pub(crate) fn combine(reduce: Reduce, dtype: DType, parts: &[&[u8]]) -> Option<Vec<u8>> {
    macro_rules! integer {
        ($ty:ty) => {{
            let step: fn($ty, $ty) -> $ty = match reduce {
                Reduce::Sum => |a, b| a.wrapping_add(b),
                Reduce::Product => |a, b| a.wrapping_mul(b),
                Reduce::Max => |a, b| a.max(b),
                Reduce::Min => |a, b| a.min(b),
                Reduce::Average => return None,
            };
            Some(fold(parts, <$ty>::from_le_bytes, step, <$ty>::to_le_bytes))
        }};
    }
    macro_rules! float {
        ($sum:ty, $read:expr, $write:expr) => {{
            let step: fn($sum, $sum) -> $sum = match reduce {
                Reduce::Sum | Reduce::Average => |a, b| a + b,
                Reduce::Product => |a, b| a * b,
                Reduce::Max => |a, b| if b > a || a.is_nan() { b } else { a },
                Reduce::Min => |a, b| if b < a || a.is_nan() { b } else { a },
            };
            // At most 2¹⁶ ranks, exactly.
            let ranks = parts.len() as $sum;
            let end = |sum| if reduce == Reduce::Average { sum / ranks } else { sum };
            Some(fold(parts, $read, step, |sum| $write(end(sum))))
        }};
    }
    match dtype {
        DType::Bool => {
            let step: fn(bool, bool) -> bool = match reduce {
                Reduce::Max => |a, b| a | b,
                Reduce::Min => |a, b| a & b,
                Reduce::Sum | Reduce::Product | Reduce::Average => return None,
            };
            Some(fold(parts, |[byte]: [u8; 1]| byte != 0, step, |value| [u8::from(value)]))
        }
        DType::I16 | DType::U16 => None,
        DType::I8 => integer!(i8),
        DType::I32 => integer!(i32),
        DType::I64 => integer!(i64),
        DType::U8 => integer!(u8),
        DType::U32 => integer!(u32),
        DType::U64 => integer!(u64),
        DType::F16 => float!(f32, |bytes| f16::from_le_bytes(bytes).to_f32(), |sum| f16::from_f32(sum).to_le_bytes()),
        DType::BF16 => {
            float!(f32, |bytes| bf16::from_le_bytes(bytes).to_f32(), |sum| bf16::from_f32(sum).to_le_bytes())
        }
        DType::F32 => float!(f32, f32::from_le_bytes, f32::to_le_bytes),
        DType::F64 => float!(f64, f64::from_le_bytes, f64::to_le_bytes),
    }
}

/// Each element of the first rank, then those of the others stepped onto it.
fn fold<A: Copy, const N: usize>(
    parts: &[&[u8]],
    read: impl Fn([u8; N]) -> A,
    step: fn(A, A) -> A,
    write: impl Fn(A) -> [u8; N],
) -> Vec<u8> {
    let Some((first, others)) = parts.split_first() else { return Vec::new() };
    let mut sums: Vec<A> = first.as_chunks().0.iter().map(|element| read(*element)).collect();
    for other in others {
        for (sum, element) in sums.iter_mut().zip(other.as_chunks().0) {
            *sum = step(*sum, read(*element));
        }
    }
    let mut bytes = Vec::with_capacity(sums.len() * N);
    sums.into_iter().for_each(|sum| bytes.extend_from_slice(&write(sum)));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(reduce: Reduce, parts: &[f32]) -> f32 {
        let bytes: Vec<[u8; 4]> = parts.iter().map(|part| part.to_le_bytes()).collect();
        let parts: Vec<&[u8]> = bytes.iter().map(|part| part.as_slice()).collect();
        let sum = combine(reduce, DType::F32, &parts).expect("a reduction of floats");
        f32::from_le_bytes(sum.try_into().expect("one element"))
    }

    #[test]
    fn nans_are_left_out_of_extremes() {
        assert_eq!(floats(Reduce::Max, &[f32::NAN, 1.0, f32::NAN, 3.0, 2.0, f32::NAN]), 3.0);
        assert_eq!(floats(Reduce::Min, &[f32::NAN, 1.0, -f32::INFINITY, 3.0]), -f32::INFINITY);
        assert!(floats(Reduce::Max, &[f32::NAN, f32::NAN]).is_nan());
        assert!(floats(Reduce::Sum, &[1.0, f32::NAN, 2.0]).is_nan());
        assert!(floats(Reduce::Max, &[-0.0, 0.0]).is_sign_negative(), "of the lower rank");
        assert!(floats(Reduce::Min, &[0.0, -0.0]).is_sign_positive(), "of the lower rank");
    }

    #[test]
    fn what_is_defined_has_a_result() {
        for &dtype in DType::ALL {
            let element = vec![1; dtype.bytes() as usize];
            for reduce in Reduce::ALL {
                let sum = combine(reduce, dtype, &[&element, &element]);
                assert_eq!(sum.is_some(), reduce.is_defined(dtype), "{reduce} of {dtype}");
                assert!(sum.is_none_or(|sum| sum.len() == element.len()));
            }
        }
    }
}
