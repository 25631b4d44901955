//! Products that are added to what is there, by kernels for that alone.

use super::operands::{is_aligned, ordered};
use super::pools::{GemmElement, Operands};
use crate::error::Result;
use triton::{Element, Stream, View, ViewMut};

/// Elements of c that a program computes.
const TILE: usize = 128 * 256;

/// Enqueues c += a · b where there is a kernel for it and enough tiles for the device, and says whether there is. Else it is
/// [`beta`](super::Gemm::beta) of a product.
pub(crate) fn add_product<T: GemmElement<T> + Element>(
    stream: &Stream,
    [a, b]: [View<'_, T, 2>; 2],
    c: ViewMut<'_, T, 2>,
) -> Result<bool> {
    let (mut a, mut b): (View<'_, T, 3>, View<'_, T, 3>) = (a.into(), b.into());
    let order = ordered(&mut a, &mut b);
    let [_, down, across] = View::<T, 3>::from(c.as_view()).strides();
    let aligned = is_aligned::<T>(a.address(), a.strides())
        && is_aligned::<T>(b.address(), b.strides())
        && is_aligned::<T>(c.address(), [0, down, across]);
    let [m, n] = c.shape();
    let multiprocessors = stream.device().machine().multiprocessors as usize;
    if !aligned || 2 * (m * n / TILE) < multiprocessors {
        return Ok(false);
    }
    let operands = Operands { a: a.select(0, 0)?, b: b.select(0, 0)?, c };
    Ok(T::enqueue_added(order, operands, stream)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::gemm;
    use crate::select::Order;
    use triton::{Device, bf16, f16};

    fn adds<T: GemmElement<T> + Element + PartialEq>(of: impl Fn(f32) -> T) -> Result<()> {
        let stream = Device::cpu().stream()?;
        // Neither is a whole number of tiles.
        let [m, n, k] = [136, 264, 72];
        let values = |len: usize| -> Vec<T> { (0..len).map(|i| of((i * 7 % 13) as f32 / 4.0 - 1.5)).collect() };
        let (a, b) = (stream.tensor(&values(m * k), [m, k])?, stream.tensor(&values(k * n), [k, n])?);
        let transposed = stream.tensor(&values(k * n), [n, k])?;
        for (order, b) in [(Order::NN, b.as_view()), (Order::NT, transposed.transpose())] {
            let [mut c, mut expected] =
                [stream.tensor(&values(m * n), [m, n])?, stream.tensor(&values(m * n), [m, n])?];
            gemm(&a, b, &mut expected).beta(1.0).launch(&stream)?;
            let stored = if order == Order::NN { b } else { b.transpose() };
            let operands = Operands { a: a.as_view(), b: stored, c: c.as_view_mut() };
            if !T::enqueue_added(order, operands, &stream)? {
                println!("SKIPPED: no kernel for the CPU");
                continue;
            }
            assert!(stream.download(&c)? == stream.download(&expected)?, "{order:?}");
        }
        Ok(())
    }

    #[test]
    fn a_product_is_added_to_what_is_there() -> Result<()> {
        adds(bf16::from_f32)?;
        adds(f16::from_f32)
    }
}
