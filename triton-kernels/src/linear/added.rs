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
    operands: [View<'_, T, 2>; 2],
    c: ViewMut<'_, T, 2>,
) -> Result<bool> {
    let [m, n] = c.shape();
    let is_enough = 2 * (m * n / TILE) >= stream.device().machine().multiprocessors as usize;
    if is_enough { added(stream, operands, c) } else { Ok(false) }
}

/// The same of any number of tiles.
///
/// # Errors
/// Those of a launch.
pub fn added<T: GemmElement<T> + Element>(
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
    if !aligned {
        return Ok(false);
    }
    let operands = Operands { a: a.select(0, 0)?, b: b.select(0, 0)?, c };
    Ok(T::enqueue_added(order, operands, stream)?)
}
