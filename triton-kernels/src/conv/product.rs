//! Enqueues the kernel of a convolution or of one phase of its transpose.

use super::copy::{CopyInstance, is_columns};
use super::geometry::{Taps, Window, splits};
use super::kernels::{ConvChoice, ConvPool, conv_pool, conv_tuned};
use crate::Result;
use crate::grid::parts;
use crate::linear::kernels::epilogue::Epilogue;
use crate::linear::kernels::finish::{FinishKernelInstance, finish};
use crate::operation::Call;
use triton::prelude::*;

/// What the kernel takes: see [`conv`](super::kernels::conv).
pub(super) struct Product<'a, T> {
    pub(super) x: View<'a, T, 4>,
    /// `[K, R, S, C]`, with `transposed` `[C, R, S, K]`: C is the channels of x.
    pub(super) w: View<'a, T, 4>,
    pub(super) transposed: bool,
    /// In the order of x.
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
    pub(super) call: Call<'a>,
}

/// The modes of [`conv`](super::kernels::conv).
const WIDE: i32 = 0;
const FLAT: i32 = 1;
const NARROW: i32 = 2;

/// The kernels of all orders, for code that is generic over the element type.
pub(super) trait Kernels<T>:
    ConvPool<T, false, false, WIDE>
    + ConvPool<T, false, false, FLAT>
    + ConvPool<T, false, false, NARROW>
    + ConvPool<T, false, true, WIDE>
    + ConvPool<T, false, true, FLAT>
    + ConvPool<T, false, true, NARROW>
    + ConvPool<T, true, false, WIDE>
    + ConvPool<T, true, false, FLAT>
    + ConvPool<T, true, false, NARROW>
    + ConvPool<T, true, true, WIDE>
    + ConvPool<T, true, true, FLAT>
    + ConvPool<T, true, true, NARROW>
    + CopyInstance<T>
    + FinishKernelInstance<T, 16, 128>
{
}

impl Kernels<f32> for triton::Compiled {}
impl Kernels<f16> for triton::Compiled {}
impl Kernels<bf16> for triton::Compiled {}

/// Whether a step along the channels of one element of the window would be mostly empty, so that steps go over all elements.
pub(super) fn is_flat(channels: usize, step: usize) -> bool {
    2 * channels < channels.next_multiple_of(step)
}

/// Whether large tiles fill the multiprocessors.
pub(super) fn is_large(m: usize, n: usize, multiprocessors: usize) -> bool {
    m.div_ceil(128) * n.div_ceil(128) >= multiprocessors && n > 64
}

/// Rows and columns of tiles, from the one that loads least to the one that fills the multiprocessors first.
fn tiles(m: usize, filters: usize, multiprocessors: usize) -> impl Iterator<Item = [usize; 2]> {
    let is_large = is_large(m, filters, multiprocessors);
    [(filters <= 32).then_some([128, 32]), is_large.then_some([128, 128])].into_iter().flatten()
}

fn sides(of: &ConvChoice) -> [usize; 2] {
    [of.BM as usize, of.BN as usize]
}

/// Channels of a step.
fn step<T: Float, const MODE: i32>() -> usize
where
    triton::Compiled: ConvPool<T, false, true, MODE>,
{
    conv_pool::<T, false, true, MODE>().members()[0].choice().BK as usize
}

impl<T: Float> Product<'_, T> {
    /// Enqueues it, of the narrowest tiles' filters as many as a grid has.
    pub(super) fn launch(mut self) -> Result<()>
    where
        triton::Compiled: Kernels<T>,
    {
        let all = parts(self.filters(), 32);
        if all.clone().count() <= 1 {
            return self.launch_part();
        }
        for of in all {
            let bias = if self.bias.shape() == [0] { self.bias } else { self.bias.narrow(0, of.clone())? };
            let w = self.w.narrow(if self.transposed { 3 } else { 0 }, of.clone())?;
            // A copy of the filters is padded.
            let channels = self.y.shape()[3];
            let y = self.y.reborrow().narrow(3, of.start.min(channels)..of.end.min(channels))?;
            Product { w, y, bias, ..self }.launch_part()?;
        }
        Ok(())
    }

    fn launch_part(self) -> Result<()>
    where
        triton::Compiled: Kernels<T>,
    {
        let columns = is_columns(self.x.shape(), self.x.strides());
        let (channels, filters) = (self.x.shape()[3], self.filters());
        let [wide, narrow] = [step::<T, WIDE>(), step::<T, NARROW>()];
        // The most channels of a step that are not mostly empty, if there is such a step.
        let mode = match (is_flat(channels, wide), is_flat(channels, narrow)) {
            (false, _) if filters > 32 || columns => WIDE,
            (_, false) => NARROW,
            (false, true) => WIDE,
            (true, true) => FLAT,
        };
        match (columns, !self.transposed, mode) {
            (false, false, WIDE) => self.enqueue::<false, false, WIDE>(),
            (false, false, FLAT) => self.enqueue::<false, false, FLAT>(),
            (false, false, _) => self.enqueue::<false, false, NARROW>(),
            (false, true, WIDE) => self.enqueue::<false, true, WIDE>(),
            (false, true, FLAT) => self.enqueue::<false, true, FLAT>(),
            (false, true, _) => self.enqueue::<false, true, NARROW>(),
            (true, false, WIDE) => self.enqueue::<true, false, WIDE>(),
            (true, false, FLAT) => self.enqueue::<true, false, FLAT>(),
            (true, false, _) => self.enqueue::<true, false, NARROW>(),
            (true, true, WIDE) => self.enqueue::<true, true, WIDE>(),
            (true, true, FLAT) => self.enqueue::<true, true, FLAT>(),
            (true, true, _) => self.enqueue::<true, true, NARROW>(),
        }
    }

    /// Channels of y.
    fn filters(&self) -> usize {
        if self.transposed { self.w.shape()[3] } else { self.w.shape()[0] }
    }

    fn enqueue<const COLUMNS: bool, const TB: bool, const MODE: i32>(self) -> Result<()>
    where
        triton::Compiled: ConvPool<T, COLUMNS, TB, MODE> + FinishKernelInstance<T, 16, 128>,
    {
        let filters = self.filters();
        let Product { x, w, y, bias, options, places, stride, taps, out, splits: asked, call, .. } = self;
        let channels = x.shape()[3];
        let [images, down, across] = places;
        let m = images * down * across;
        if m * filters == 0 {
            return Ok(());
        }
        let pool = conv_pool::<T, COLUMNS, TB, MODE>();
        let step = pool.members()[0].choice().BK as usize;
        let flat = MODE == FLAT;
        let deep = if flat { channels } else { channels.div_ceil(step) };
        let elements = taps[0].count * taps[1].count * deep;
        let steps = if flat { elements.div_ceil(step) } else { elements };
        let runs = |tile: [usize; 2]| call.runs(pool, |of| sides(of) == tile);
        let tile = tiles(m, filters, call.multiprocessors()).find(|tile| runs(*tile)).unwrap_or([64, 64]);
        let count_of = |[rows, columns]: [usize; 2]| m.div_ceil(rows) * filters.div_ceil(columns);
        let (count, chunk) = splits(asked, count_of(tile), steps, call.multiprocessors());
        let order = [0, 3, 1, 2];
        let (x, mut y) = if COLUMNS { (x.permute(order)?, y.permute(order)?) } else { (x, y) };
        // Of an instance that is asked for the tile may be the largest.
        let is_left_out = options.is_left_out(if call.instance().is_some() { usize::MAX } else { tile[0] * tile[1] });
        let begun = if is_left_out { options.begun() } else { options };
        let [[out_h, out_w], [out_step_h, out_step_w]] = out.map(|pair| pair.map(|number| number as i32));
        let window = Window {
            out_h,
            out_w,
            out_step_h,
            out_step_w,
            terms: elements as i32,
            steps: steps as i32,
            chunk: chunk as i32,
            ..Window::new([down, across], stride, taps, deep)
        };
        let shape = if count > 1 { [count, m, filters] } else { [0; 3] };
        // As many as there are tiles at most: the general instance runs if operands are not aligned.
        let of_done = if count > 1 { count_of([64, 32]) } else { 0 };
        let (mut parts, mut done) = (call.scratch::<f32>(shape.iter().product())?, call.scratch::<i32>(of_done)?);
        let (parts, done) = (parts.view_mut(shape)?, done.view_mut([of_done])?);
        let kernel = conv_tuned::<T, COLUMNS, TB, MODE>(x, w, y.reborrow(), bias, parts, done, window, begun);
        let grid = |of: &ConvChoice| (m.div_ceil(of.BM as usize), filters.div_ceil(of.BN as usize), count);
        call.tuned(kernel, |of| call.instance().is_some() || sides(of) == tile, grid)?;
        if is_left_out { finish(y, None, None, None, options, call) } else { Ok(()) }
    }
}
