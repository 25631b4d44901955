//! Axes of a tensor as fewer axes: which of them one stride walks through, and copies where none does.

use candle_core::{Result, Tensor};
use std::sync::atomic::{AtomicU64, Ordering};

static COPIES: AtomicU64 = AtomicU64::new(0);

/// How many tensors were copied in this process because an operation takes fewer axes than their strides leave.
///
/// ```
/// use candle_core::{Device, Tensor};
/// # fn main() -> candle_core::Result<()> {
/// let x = Tensor::arange(0f32, 24.0, &Device::Cpu)?.reshape((2, 3, 4))?;
/// let before = triton_candle::copies();
/// // Rows of a narrowed tensor are one stride apart.
/// triton_candle::softmax(&x.narrow(2, 1, 2)?)?;
/// assert_eq!(triton_candle::copies() - before, 0);
/// // Those of a tensor whose first two axes are exchanged are not.
/// triton_candle::softmax(&x.transpose(0, 1)?)?;
/// assert_eq!(triton_candle::copies() - before, 1);
/// # Ok(())
/// # }
/// ```
pub fn copies() -> u64 {
    COPIES.load(Ordering::Relaxed)
}

/// Shape and strides of the last `R` − 1 axes, and of those before as one. `None` if no stride walks through these.
pub(crate) fn merge<const R: usize>(dims: &[usize], strides: &[usize]) -> Option<([usize; R], [isize; R])> {
    let (mut shape, mut by) = ([1usize; R], [0isize; R]);
    let leading = dims.len().saturating_sub(R - 1);
    for (axis, (dim, stride)) in dims.iter().zip(strides).enumerate().skip(leading) {
        let to = axis + R - dims.len();
        (shape[to], by[to]) = (*dim, isize::try_from(*stride).ok()?);
    }
    if leading == 0 {
        return Some((shape, by));
    }
    let count = dims[..leading].iter().try_fold(1usize, |count, dim| count.checked_mul(*dim))?;
    (shape[0], by[0]) = (count, 1);
    if count == 0 {
        return Some((shape, by));
    }
    // From the last axis on: each stride is what the ones behind it walk through.
    let mut next = None;
    for (dim, stride) in dims[..leading].iter().zip(strides).rev().filter(|(dim, _)| **dim > 1) {
        match next {
            None => by[0] = isize::try_from(*stride).ok()?,
            Some(expected) if expected != *stride => return None,
            Some(_) => {}
        }
        next = Some(dim.checked_mul(*stride)?);
    }
    Some((shape, by))
}

/// Whether the axes of a tensor merge into `rank`.
pub(crate) fn merges(x: &Tensor, rank: usize) -> bool {
    let (dims, strides) = (x.dims(), x.stride());
    match rank {
        1 => merge::<1>(dims, strides).is_some(),
        2 => merge::<2>(dims, strides).is_some(),
        3 => merge::<3>(dims, strides).is_some(),
        4 => merge::<4>(dims, strides).is_some(),
        _ => merge::<5>(dims, strides).is_some(),
    }
}

/// The tensor, or a copy of it that has so few axes.
pub(crate) fn ready(x: &Tensor, rank: usize) -> Result<Tensor> {
    if merges(x, rank) {
        return Ok(x.clone());
    }
    COPIES.fetch_add(1, Ordering::Relaxed);
    x.contiguous()
}

#[cfg(test)]
mod tests {
    use super::merge;

    #[test]
    fn axes_merge_where_one_stride_walks_through_them() {
        assert_eq!(merge::<2>(&[2, 3, 4], &[12, 4, 1]), Some(([6, 4], [4, 1])));
        assert_eq!(merge::<2>(&[2, 3, 2], &[12, 4, 1]), Some(([6, 2], [4, 1])));
        assert_eq!(merge::<2>(&[3, 2, 4], &[4, 12, 1]), None);
        assert_eq!(merge::<2>(&[3, 1, 4], &[4, 77, 1]), Some(([3, 4], [4, 1])));
        assert_eq!(merge::<2>(&[5, 2, 4], &[0, 0, 1]), Some(([10, 4], [0, 1])));
        assert_eq!(merge::<2>(&[5, 2, 4], &[0, 4, 1]), None);
        assert_eq!(merge::<3>(&[4], &[2]), Some(([1, 1, 4], [0, 0, 2])));
        // Along an axis of one element any stride is the same.
        assert_eq!(merge::<1>(&[], &[]), Some(([1], [0])));
        assert_eq!(merge::<2>(&[3, 0, 4], &[4, 9, 1]), Some(([0, 4], [1, 1])));
    }
}
