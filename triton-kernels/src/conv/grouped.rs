//! Convolutions in groups: those of many channels are convolutions of their own, and those of few are summed up without a product of matrices.

use super::copy::{CopyInstance, Room, output};
use super::direct::{
    DepthwiseInputInstance, DepthwiseInstance, DepthwiseRowsOfFiveInstance, GroupedInputInstance, GroupedInstance,
};
use super::direct::{GroupedWeightInstance, GroupedWeightSumInstance, Groups};
use super::direct::{
    depthwise, depthwise_input, depthwise_rows, depthwise_rows_of_five, grouped, grouped_input, grouped_weight,
    grouped_weight_sum,
};
use super::shape::{Geometry, Options};
use crate::Result;
use crate::divisor::Divisor;
use crate::element::FloatElement;
use crate::error::{Error, extent};
use crate::grid::{MOST, parts};
use crate::linear::kernels::epilogue::Epilogue;
use crate::linear::kernels::finish::{FinishKernelInstance, finish};
use crate::operation::Call;
use std::ops::Range;
use triton::prelude::*;

/// Places and channels of a tile.
const PLACES: usize = 16;
const CHANNELS: usize = 64;
/// The fewest channels of a group, of either side, that are worth a product of matrices.
const MANY: usize = 16;

/// The kernels, for code that is generic over the element type.
pub(super) trait Kernels<T: Float>:
    DepthwiseInstance<T, 16, 64>
    + Rows<T>
    + GroupedInstance<T, 16, 64>
    + DepthwiseInputInstance<T, 16, 64>
    + GroupedInputInstance<T, 16, 64>
    + GroupedWeightInstance<T, 64, true>
    + GroupedWeightInstance<T, 64, false>
    + GroupedWeightSumInstance<T>
    + CopyInstance<T>
    + FinishKernelInstance<T, 16, 128>
{
}

/// The kernels of strips of rows, whose tiles differ between types.
pub(super) trait Rows<T: Float>: DepthwiseRowsOfFiveInstance<T, 512, 4> {
    /// Elements of a tile, and of its vectors, of windows of 3 × 3.
    const TILE: [usize; 2];

    /// Enqueues the kernel of those.
    fn rows_of_three(of: Strips<'_, T>, call: Call<'_>, grid: (usize, usize, usize)) -> Result<()>;
}

/// What a kernel of strips takes.
pub(super) struct Strips<'a, T> {
    x: View<'a, T, 3>,
    w: View<'a, T, 3>,
    bias: View<'a, T, 1>,
    y: ViewMut<'a, T, 3>,
    of: Groups,
    rows: i32,
    channels: i32,
    options: Epilogue,
}

macro_rules! rows {
    ($($t:ident $e:literal $v:literal;)*) => {$(
        impl Rows<$t> for triton::Compiled {
            const TILE: [usize; 2] = [$e, $v];

            fn rows_of_three(strips: Strips<'_, $t>, call: Call<'_>, grid: (usize, usize, usize)) -> Result<()> {
                let Strips { x, w, bias, y, of, rows, channels, options } = strips;
                call.launch(depthwise_rows::<$t, $e, $v>(x, w, bias, y, of, rows, channels, options), grid)
            }
        }
    )*};
}

rows! {
    f32 1024 4;
    f16 1024 8;
    bf16 1024 8;
}

impl Kernels<f32> for triton::Compiled {}
impl Kernels<f16> for triton::Compiled {}
impl Kernels<bf16> for triton::Compiled {}

/// Checks the numbers of channels: x has `channels`, there are `filters` of `deep` channels each.
pub(super) fn check(
    call: Call<'_>,
    w: &'static str,
    channels: usize,
    [filters, deep]: [usize; 2],
    axis: usize,
    groups: usize,
) -> Result<()> {
    call.value("groups", groups, groups > 0, "a number from 1 on", "1 is one group of all channels")?;
    let fits = channels.is_multiple_of(groups) && filters.is_multiple_of(groups);
    let of = || format!("{groups} of {channels} channels and {filters} filters");
    let fix = "channels and filters are divided evenly among groups";
    if !fits {
        return Err(Error::Value { op: call.op, parameter: "groups", found: of(), expected: "a divisor of both", fix });
    }
    extent(call.op, w, axis, [deep, channels / groups], "a filter has the channels of its group")
}

/// The channels of x and of y of each group, if each is a convolution of its own.
pub(super) fn apart(geometry: &Geometry) -> Option<impl Iterator<Item = [Range<usize>; 2]> + use<>> {
    let groups = geometry.options.groups;
    let (deep, wide) = (geometry.channels / groups, geometry.filters / groups);
    let of = move |group: usize| [group * deep..(group + 1) * deep, group * wide..(group + 1) * wide];
    (deep.min(wide) >= MANY).then(move || (0..groups).map(of))
}

/// The numbers of a kernel.
fn numbers(of: &Geometry) -> Groups {
    let Options { stride, padding, dilation, groups, .. } = of.options;
    let (deep, wide) = (of.channels / groups, of.filters / groups);
    let [by_stride, by_deep, by_wide] = [stride[1], deep, wide].map(Divisor::new);
    Groups {
        down: of.window[0] as i32,
        across: of.window[1] as i32,
        stride_h: stride[0] as i32,
        stride_w: stride[1] as i32,
        stride_magic: by_stride.magic,
        stride_shift: by_stride.shift,
        padding_h: padding[0] as i32,
        padding_w: padding[1] as i32,
        dilation_h: dilation[0] as i32,
        dilation_w: dilation[1] as i32,
        deep: deep as i32,
        deep_magic: by_deep.magic,
        deep_shift: by_deep.shift,
        wide: wide as i32,
        wide_magic: by_wide.magic,
        wide_shift: by_wide.shift,
        flipped: false,
        first: 0,
    }
}

/// Whether each channel of the input is one of the output.
fn is_depthwise(of: &Geometry) -> bool {
    of.channels == of.options.groups && of.filters == of.options.groups
}

/// A convolution in groups, or with `transposed` its transpose: x is then dy, and y is dx.
#[derive(Clone, Copy)]
pub(super) struct Direct<'a, T> {
    pub(super) x: View<'a, T, 4>,
    /// \[K, R, S, D\].
    pub(super) w: View<'a, T, 4>,
    pub(super) bias: View<'a, T, 1>,
    pub(super) options: Epilogue,
    pub(super) geometry: Geometry,
    pub(super) transposed: bool,
    pub(super) call: Call<'a>,
}

impl<T: FloatElement> Direct<'_, T>
where
    triton::Compiled: Kernels<T>,
{
    /// Enqueues it.
    pub(super) fn launch(self, y: ViewMut<'_, T, 4>) -> Result<()> {
        let (mut of_x, mut of_w) = (Room::new(), Room::new());
        let x = of_x.operand(self.x, false, self.call)?;
        let w = of_w.operand(self.w.permute([1, 2, 3, 0])?, false, self.call)?;
        output(y, false, self.call, |y| Direct { x, w, ..self }.enqueue(y))
    }

    /// Of operands in the order of the kernels.
    fn enqueue(self, mut y: ViewMut<'_, T, 4>) -> Result<()> {
        let Direct { x, w, bias, options, geometry, transposed, call } = self;
        let shape = y.shape();
        if shape.contains(&0) {
            return Ok(());
        }
        let is_left_out = options.is_left_out(PLACES * CHANNELS);
        let begun = if is_left_out { options.begun() } else { options };
        let (mut of, is_depthwise) = (numbers(&geometry), is_depthwise(&geometry));
        let is_dense = geometry.options.stride == [1; 2];
        if transposed && is_dense && is_depthwise {
            // The same places in the reverse order.
            (of.padding_h, of.padding_w) =
                (reach(of.down, of.dilation_h) - of.padding_h, reach(of.across, of.dilation_w) - of.padding_w);
            of.flipped = true;
        }
        let is_gathered = transposed && !of.flipped;
        let tiles = shape[2].div_ceil(PLACES) * shape[3].div_ceil(CHANNELS);
        if is_depthwise && !is_gathered && self.strips(x, w, &mut y, of, begun)? {
            return if is_left_out { finish(y, None, None, None, options, call) } else { Ok(()) };
        }
        let single = if is_depthwise { w.select(2, 0)? } else { call.view(None) };
        for images in parts(shape[0], 1) {
            let (x, mut y) = (x.narrow(0, images.clone())?, y.reborrow().narrow(0, images.clone())?);
            for rows in parts(shape[1], 1) {
                let of = Groups { first: rows.start as i32, ..of };
                let grid = (tiles, rows.len(), images.len());
                let y = y.reborrow().narrow(1, rows)?;
                match (is_gathered, is_depthwise) {
                    (false, true) => call.launch(depthwise::<T, 16, 64>(x, single, bias, y, of, begun), grid)?,
                    (false, false) => call.launch(grouped::<T, 16, 64>(x, w, bias, y, of, begun), grid)?,
                    (true, true) => call.launch(depthwise_input::<T, 16, 64>(x, single, bias, y, of, begun), grid)?,
                    (true, false) => call.launch(grouped_input::<T, 16, 64>(x, w, bias, y, of, begun), grid)?,
                }
            }
        }
        if is_left_out { finish(y, None, None, None, options, call) } else { Ok(()) }
    }

    /// Enqueues the kernel of strips of rows, if there is one for the window and rows of pixels are vectors. Whether it has.
    fn strips(
        &self,
        x: View<'_, T, 4>,
        w: View<'_, T, 4>,
        y: &mut ViewMut<'_, T, 4>,
        of: Groups,
        options: Epilogue,
    ) -> Result<bool> {
        let Direct { geometry, bias, call, .. } = *self;
        let window = geometry.window[0];
        let [tile, vector] = if window == 3 { <triton::Compiled as Rows<T>>::TILE } else { [512, 4] };
        let ([images, height, width, channels], is_square) = (y.shape(), geometry.window == [window; 2]);
        let is_plain = geometry.options.stride == [1; 2] && geometry.options.dilation == [1; 2];
        let is_whole = channels.is_multiple_of(vector) && x.shape()[3] == channels && w.shape()[3] == channels;
        if !(is_plain && is_square && is_whole && matches!(window, 3 | 5)) {
            return Ok(false);
        }
        let (Ok(x), Ok(_)) = (x.merge(2), y.as_view().merge(2)) else { return Ok(false) };
        let (w, tiles) = (w.select(2, 0)?, (width * channels).div_ceil(tile));
        let by = Divisor::new(channels);
        let of = Groups { wide_magic: by.magic, wide_shift: by.shift, ..of };
        for images in parts(images, 1) {
            let rows = strip(height, tiles * images.len(), 8 * call.multiprocessors()).max(height.div_ceil(MOST));
            let grid = (tiles, height.div_ceil(rows), images.len());
            let x = x.narrow(0, images.clone())?;
            let y = y.reborrow().narrow(0, images)?.merge(2)?;
            let (rows, channels) = (rows as i32, (channels / vector) as i32);
            if window == 3 {
                let strips = Strips { x, w, bias, y, of, rows, channels, options };
                <triton::Compiled as Rows<T>>::rows_of_three(strips, call, grid)?;
            } else {
                let kernel = depthwise_rows_of_five::<T, 512, 4>(x, w, bias, y, of, rows, channels, options);
                call.launch(kernel, grid)?;
            }
        }
        Ok(true)
    }
}

/// What a window reaches beyond its first element.
fn reach(count: i32, dilation: i32) -> i32 {
    (count - 1) * dilation
}

/// Rows of a strip of an image: as many as leave enough programs, and few enough that its first rows are not most of what it loads.
fn strip(rows: usize, programs: usize, wanted: usize) -> usize {
    let strips = wanted.div_ceil(programs.max(1)).clamp(1, rows.div_ceil(8).max(1));
    rows.div_ceil(strips).clamp(1, 64)
}

/// The gradient of filters in groups.
pub(super) fn weight<T: FloatElement>(
    x: View<'_, T, 4>,
    dy: View<'_, T, 4>,
    dw: ViewMut<'_, T, 4>,
    geometry: &Geometry,
    call: Call<'_>,
) -> Result<()>
where
    triton::Compiled: Kernels<T>,
{
    let dw = dw.permute([1, 2, 3, 0])?;
    let [r, s, d, k] = dw.shape();
    if r * s * d * k == 0 {
        return Ok(());
    }
    let (mut of_x, mut of_dy) = (Room::new(), Room::new());
    let (x, dy) = (of_x.operand(x, false, call)?, of_dy.operand(dy, false, call)?);
    let of = numbers(geometry);
    let rows = geometry.images * geometry.output[0];
    let (tiles, taps) = (k.div_ceil(CHANNELS), r * s.div_ceil(3) * d);
    if r * s * d > MOST {
        return Err(Error::Unsupported {
            op: call.op,
            found: format!("a filter of {r} × {s} × {d} elements"),
            expected: "65,520 elements of a filter in groups of few channels",
            fix: "compute the gradient of parts of the window",
        });
    }
    let strips = (8 * call.multiprocessors()).div_ceil(tiles * taps).clamp(1, rows.div_ceil(4).clamp(1, 512));
    let each = rows.div_ceil(strips).max(1);
    let strips = rows.div_ceil(each).max(1);
    let mut memory = call.workspace::<f32>(strips * r * s * d * k)?;
    let grid = (tiles, taps, strips);
    let parts = memory.view_mut([strips, r * s * d, k])?;
    match is_depthwise(geometry) {
        true => call.launch(grouped_weight::<T, 64, true>(x, dy, parts, of, each as i32), grid)?,
        false => call.launch(grouped_weight::<T, 64, false>(x, dy, parts, of, each as i32), grid)?,
    }
    let parts = memory.view([strips, r * s * d, k])?;
    call.launch(grouped_weight_sum::<T>(parts, dw, of), (k.div_ceil(128), r * s * d))
}
