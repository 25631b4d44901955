//! Enqueues the kernel of a convolution or of one phase of its transpose.

use super::geometry::{MULTIPROCESSORS, Taps, Window, splits};
use super::kernels::{ConvChoice, ConvPool, conv_pool, conv_tuned};
use crate::Result;
use crate::gemm::kernels::epilogue::Epilogue;
use crate::pool::choose;
use triton::prelude::*;

/// What the kernel takes: see [`conv`](super::kernels::conv).
pub(super) struct Product<'a, T> {
    pub(super) x: View<'a, T, 4>,
    /// `[K, R, S, C]`, with `transposed` `[C, R, S, K]`: C is the channels of x.
    pub(super) w: View<'a, T, 4>,
    pub(super) transposed: bool,
    pub(super) y: ViewMut<'a, T, 4>,
    pub(super) bias: View<'a, T, 1>,
    pub(super) options: Epilogue,
    /// Images, and places along both axes.
    pub(super) places: [usize; 3],
    pub(super) stride: [usize; 2],
    pub(super) taps: [Taps; 2],
    /// The first place in the output, and how far apart places are there.
    pub(super) out: [[usize; 2]; 2],
    pub(super) splits: Option<usize>,
    /// The name of the instance that was asked for.
    pub(super) instance: Option<&'a str>,
    pub(super) op: &'static str,
}

/// Whether W is contiguous, and C is not.
pub(super) fn is_columns(shape: [usize; 4], strides: [isize; 4]) -> bool {
    shape[3] > 1 && strides[3] != 1 && (strides[2] == 1 || shape[2] <= 1)
}

/// The kernels of all orders, for code that is generic over the element type.
pub(super) trait Kernels<T>:
    ConvPool<T, false, false, false>
    + ConvPool<T, false, false, true>
    + ConvPool<T, false, true, false>
    + ConvPool<T, false, true, true>
    + ConvPool<T, true, false, false>
    + ConvPool<T, true, false, true>
    + ConvPool<T, true, true, false>
    + ConvPool<T, true, true, true>
{
}

impl Kernels<f32> for triton::Compiled {}
impl Kernels<f16> for triton::Compiled {}
impl Kernels<bf16> for triton::Compiled {}

/// Whether a step along the channels of one element of the window would be mostly empty, so that steps go over all elements.
pub(super) fn is_flat(channels: usize, step: usize) -> bool {
    4 * channels < 3 * channels.next_multiple_of(step)
}

/// Whether large tiles fill the multiprocessors.
pub(super) fn is_large(m: usize, n: usize) -> bool {
    m.div_ceil(128) * n.div_ceil(128) >= MULTIPROCESSORS && n > 64
}

impl<T: Float> Product<'_, T> {
    /// Enqueues it.
    pub(super) fn launch(self, stream: &Stream) -> Result<()>
    where
        triton::Compiled: Kernels<T>,
    {
        let columns = is_columns(self.x.shape(), self.x.strides());
        let step = conv_pool::<T, false, true, false>().members()[0].choice().BK as usize;
        let flat = is_flat(self.x.shape()[3], step);
        match (columns, !self.transposed, flat) {
            (false, false, false) => self.enqueue::<false, false, false>(stream),
            (false, false, true) => self.enqueue::<false, false, true>(stream),
            (false, true, false) => self.enqueue::<false, true, false>(stream),
            (false, true, true) => self.enqueue::<false, true, true>(stream),
            (true, false, false) => self.enqueue::<true, false, false>(stream),
            (true, false, true) => self.enqueue::<true, false, true>(stream),
            (true, true, false) => self.enqueue::<true, true, false>(stream),
            (true, true, true) => self.enqueue::<true, true, true>(stream),
        }
    }

    fn enqueue<const COLUMNS: bool, const TB: bool, const FLAT: bool>(self, stream: &Stream) -> Result<()>
    where
        triton::Compiled: ConvPool<T, COLUMNS, TB, FLAT>,
    {
        let Product { x, w, y, bias, options, places, stride, taps, out, splits: asked, instance, op, .. } = self;
        let (channels, filters) = (x.shape()[3], if TB { w.shape()[0] } else { w.shape()[3] });
        let [images, down, across] = places;
        let m = images * down * across;
        if m * filters == 0 {
            return Ok(());
        }
        let step = conv_pool::<T, COLUMNS, TB, FLAT>().members()[0].choice().BK as usize;
        let deep = if FLAT { channels } else { channels.div_ceil(step) };
        let elements = taps[0].count * taps[1].count * deep;
        let steps = if FLAT { elements.div_ceil(step) } else { elements };
        let large = is_large(m, filters);
        let tiles = |side: usize| m.div_ceil(side) * filters.div_ceil(side);
        let (count, chunk) = splits(asked, tiles(if large { 128 } else { 64 }), steps);
        // The order of the output is its own.
        let to_columns = is_columns(y.shape(), y.strides());
        let y = if to_columns { y.permute([0, 3, 1, 2])? } else { y };
        let x = if COLUMNS { x.permute([0, 3, 1, 2])? } else { x };
        let [[out_h, out_w], [out_step_h, out_step_w]] = out.map(|pair| pair.map(|number| number as i32));
        let window = Window {
            out_h,
            out_w,
            out_step_h,
            out_step_w,
            steps: steps as i32,
            chunk: chunk as i32,
            columns: i32::from(to_columns),
            ..Window::new([down, across], stride, taps, deep)
        };
        let shape = if count > 1 { [count, m, filters] } else { [0; 3] };
        let of_done = if count > 1 { tiles(64) } else { 0 };
        let (mut parts, mut done) = (stream.scratch::<f32>(shape.iter().product())?, stream.scratch::<i32>(of_done)?);
        let (parts, done) = (parts.view_mut(shape)?, done.view_mut([of_done])?);
        let tuned = conv_tuned::<T, COLUMNS, TB, FLAT>(x, w, y, bias, parts, done, window, options);
        let tuned = choose(op, tuned, instance, stream, |of: &ConvChoice| large || instance.is_some() || of.BM < 128)?;
        let grid = |of: &ConvChoice| (m.div_ceil(of.BM as usize), filters.div_ceil(of.BN as usize), count);
        Ok(tuned.launch(stream, grid)?)
    }
}
