//! What the windows of a pooling are, and the launches of an operation on images.

use crate::error::{Error, Result, extent};
use crate::grid::parts;
use crate::operation::Call;
use std::ops::Range;

/// Pixels and channels of a tile: 16 bytes of channels for each thread twice, four times of `f32`.
pub(super) const PIXELS: i32 = 32;
pub(super) const CHANNELS: i32 = 64;

/// The images and rows of each launch, of a result of this shape.
pub(super) fn launches([images, rows, ..]: [usize; 4]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    parts(images, 1).flat_map(move |images| parts(rows, 1).map(move |rows| (images.clone(), rows)))
}

/// The programs of a launch, whose tiles are of `pixels` times [`CHANNELS`].
pub(super) fn grid(
    [.., width, channels]: [usize; 4],
    images: &Range<usize>,
    rows: &Range<usize>,
    pixels: i32,
) -> (usize, usize, usize) {
    let tiles = width.div_ceil(pixels as usize) * channels.div_ceil(CHANNELS as usize);
    (tiles, rows.len(), images.len())
}

/// How many places a window has along an axis.
pub(super) fn places(extent: usize, window: usize, stride: usize, padding: usize, dilation: usize) -> usize {
    let reach = dilation * window.saturating_sub(1) + 1;
    (extent + 2 * padding).checked_sub(reach).map_or(0, |free| free / stride + 1)
}

/// What the windows are beside the images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) window: (usize, usize),
    /// The window, unless it is said.
    pub(super) stride: Option<(usize, usize)>,
    pub(super) padding: (usize, usize),
    pub(super) dilation: (usize, usize),
}

/// The numbers of a kernel of windows.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Windows {
    /// Rows and columns of a window.
    pub down: i32,
    pub across: i32,
    pub stride_h: i32,
    pub stride_w: i32,
    pub padding_h: i32,
    pub padding_w: i32,
    pub dilation_h: i32,
    pub dilation_w: i32,
    /// How many windows a pixel can be in, along an axis.
    pub most_h: i32,
    pub most_w: i32,
    /// The row of the image that the first program writes.
    pub first: i32,
}

impl Windows {
    /// Checks what letters do not say: the places of y, the operand of this name, follow from the pixels \[h, w\] and the options.
    pub(super) fn new(
        call: Call<'_>,
        of_y: &'static str,
        pixels: [usize; 2],
        places_of_y: [usize; 2],
        options: Options,
    ) -> Result<Windows> {
        let (window, padding) = (<[usize; 2]>::from(options.window), <[usize; 2]>::from(options.padding));
        let stride = options.stride.map_or(window, <[usize; 2]>::from);
        let dilation = <[usize; 2]>::from(options.dilation);
        for (name, found) in [("window", window), ("stride", stride), ("dilation", dilation)] {
            let fits = found.iter().all(|number| (1..1 << 30).contains(number));
            call.value(name, format_args!("{found:?}"), fits, "numbers from 1 to 2³⁰", "1 leaves nothing out")?;
        }
        let reach = [0, 1].map(|axis| dilation[axis] * (window[axis] - 1) + 1);
        let fits = (0..2).all(|axis| padding[axis] <= reach[axis] / 2);
        let fix = "every window holds a pixel; `pad` pads an image by more";
        call.value("padding", format_args!("{padding:?}"), fits, "at most half of the window", fix)?;
        let counts = (0..2).map(|axis| pixels[axis].saturating_add(2 * reach[axis]));
        let counts = counts.chain([window[0] * window[1]]);
        if let Some(count) = counts.into_iter().find(|count| *count > i32::MAX as usize / 2) {
            let (op, found) = (call.op, format!("an index up to {count}"));
            return Err(Error::Unsupported {
                op,
                found,
                expected: "indices of pixels, of a window and of padding below 2³⁰",
                fix: "divide the image",
            });
        }
        for axis in 0..2 {
            let expected = places(pixels[axis], window[axis], stride[axis], padding[axis], dilation[axis]);
            let fix = "(extent + 2 · padding − dilation · (window − 1) − 1) / stride + 1 places follow from x and the options";
            extent(call.op, of_y, 1 + axis, [places_of_y[axis], expected], fix)?;
        }
        let [down, across] = window.map(|number| number as i32);
        let [stride_h, stride_w] = stride.map(|number| number as i32);
        let [padding_h, padding_w] = padding.map(|number| number as i32);
        let [dilation_h, dilation_w] = dilation.map(|number| number as i32);
        let [most_h, most_w] = [0, 1].map(|axis| reach[axis].div_ceil(stride[axis]) as i32);
        Ok(Windows {
            down,
            across,
            stride_h,
            stride_w,
            padding_h,
            padding_w,
            dilation_h,
            dilation_w,
            most_h,
            most_w,
            first: 0,
        })
    }
}
