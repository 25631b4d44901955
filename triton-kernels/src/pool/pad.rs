//! Pixels around an image, and the gradient of what they are copies of.

use super::shape::{CHANNELS, PIXELS, grid, launches};
use crate::element::FloatElement;
use crate::error::{Error, Result, extent};
use crate::flat::corner;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// What is around an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Padding {
    /// Zeros.
    #[default]
    Zeros,
    /// The image in a mirror that is at the first or the last pixel, which is not repeated: at most as many pixels as the image has, less one.
    Reflect,
    /// The first or the last pixel, any number of times.
    Replicate,
}

/// Kinds of padding by number.
#[triton::constant]
const REFLECT: i32 = 1;
#[triton::constant]
const REPLICATE: i32 = 2;

impl Padding {
    fn number(self) -> i32 {
        match self {
            Padding::Zeros => 0,
            Padding::Reflect => REFLECT,
            Padding::Replicate => REPLICATE,
        }
    }
}

/// The numbers of the kernels.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Around {
    /// Pixels before the image.
    top: i32,
    left: i32,
    /// Rows of the image, and of the padded one.
    height: i32,
    padded: i32,
    /// Of [`Padding`].
    kind: i32,
    /// How many pixels of the padded image are copies of one at most, along an axis.
    most_h: i32,
    most_w: i32,
    /// The row that the first program writes.
    first: i32,
}

/// The pixel of an axis of `extent` that is i pixels behind its first one; a number out of bounds for zeros.
#[triton::function]
fn source(i: Tile<i32>, extent: i32, kind: i32) -> Tile<i32> {
    let inner = maximum(minimum(i, extent - 1), 0);
    let mirrored = (extent - 1) - abs((extent - 1) - abs(i));
    select(kind == REFLECT, mirrored, select(kind == REPLICATE, inner, i))
}

/// Copy `k` of pixel i of an axis of `extent`, in one with `before` pixels before it and `padded` in all; −1 where there are fewer copies. A mirror
/// has two beside the pixel itself.
#[triton::function]
fn copy(i: Tile<i32>, k: i32, extent: i32, before: i32, padded: i32, kind: i32) -> Tile<i32> {
    let own = i + before;
    // Where the first or the last pixel is repeated, copies follow one another.
    let first = select((kind == REPLICATE) & (i == 0), 0, own);
    let last = select((kind == REPLICATE) & (i == extent - 1), padded - 1, own);
    let row = select(first + k <= last, first + k, -1);
    let above = select((i > 0) & (i <= before), before - i, -1);
    let below = select(i < extent - 1, before + 2 * (extent - 1) - i, -1);
    let mirrored = select(k == 0, own, select(k == 1, above, below));
    let at = select(kind == REFLECT, mirrored, row);
    select((i < extent) & (at < padded), at, -1)
}

/// Q pixels of a row of y, and C channels of each.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn pad_kernel<T: Float, const Q: i32, const C: i32>(x: Tensor<T, 4>, y: TensorMut<T, 4>, #[no_specialize] of: Around) {
    let (n, row) = (program_id(2), program_id(1));
    let (q, c) = corner::<Q, C>(y.dim(3).to::<i32>());
    let h = source(full([1, 1], of.first + row - of.top), of.height, of.kind);
    let w = source((q + arange(0, Q)).expand_dims(1) - of.left, x.dim(2).to::<i32>(), of.kind);
    let v = x.gather((n, h, w, (c + arange(0, C)).expand_dims(0)), true);
    y.store([n, row, q, c], v.reshape([1, 1, Q, C]));
}

/// Q pixels of a row of dx, and C channels of each.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn pad_backward_kernel<T: Float, const Q: i32, const C: i32>(
    dy: Tensor<T, 4>,
    dx: TensorMut<T, 4>,
    #[no_specialize] of: Around,
) {
    let (n, row, width) = (program_id(2), program_id(1), dx.dim(2).to::<i32>());
    let (w, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let (rows, columns) = (full([1, 1], of.first + row), (w + arange(0, Q)).expand_dims(1));
    let channels = (c + arange(0, C)).expand_dims(0);
    // Only the first and the last pixel have more copies than one where they are repeated.
    let (edge_h, edge_w) = (any((rows == 0) | (rows == of.height - 1)), any((columns == 0) | (columns == width - 1)));
    let down = if of.kind == REPLICATE && !edge_h { 1 } else { of.most_h };
    let across = if of.kind == REPLICATE && !edge_w { 1 } else { of.most_w };
    let mut sum = zeros::<f32>([Q, C]);
    for i in 0..down {
        let p = copy(rows, i, of.height, of.top, of.padded, of.kind);
        if any(p >= 0) {
            for j in 0..across {
                let q = copy(columns, j, width, of.left, dy.dim(2).to::<i32>(), of.kind);
                sum += dy.gather((n, p, q, channels), true).to::<f32>();
            }
        }
    }
    dx.store([n, row, w, c], sum.to::<T>().reshape([1, 1, Q, C]));
}

/// Checks what letters do not say: the extents of the padded image, the operand of this name, follow from the pixels \[h, w\].
fn around(
    call: Call<'_>,
    of_y: &'static str,
    pixels: [usize; 2],
    padded: [usize; 2],
    [rows, columns]: [(usize, usize); 2],
    padding: Padding,
) -> Result<Around> {
    for (axis, (before, after)) in [rows, columns].into_iter().enumerate() {
        let name = ["rows", "columns"][axis];
        let (found, most) = (before.max(after), i32::MAX as usize / 4);
        if pixels[axis] > most || found > most {
            return Err(Error::Unsupported {
                op: call.op,
                found: format!("an axis of {} pixels and {found} beside it", pixels[axis]),
                expected: "pixels below 2²⁹",
                fix: "divide the image",
            });
        }
        let fix = "(before + extent + after) pixels follow from x and the numbers of rows and columns";
        extent(call.op, of_y, 1 + axis, [padded[axis], before + pixels[axis] + after], fix)?;
        let (fits, expected) = match padding {
            Padding::Zeros => (true, ""),
            Padding::Reflect => (found == 0 || found < pixels[axis], "less than the image has"),
            Padding::Replicate => (found == 0 || pixels[axis] > 0, "0 of an image without pixels"),
        };
        call.value(name, found, fits, expected, "`Padding::Zeros` takes any number")?;
    }
    let most = |axis: usize, (before, after): (usize, usize)| match padding {
        Padding::Zeros => 1,
        Padding::Reflect if before.max(after) == 0 => 1,
        Padding::Reflect => 3,
        Padding::Replicate if pixels[axis] == 1 => before + 1 + after,
        Padding::Replicate => before.max(after) + 1,
    };
    Ok(Around {
        top: rows.0 as i32,
        left: columns.0 as i32,
        height: pixels[0] as i32,
        padded: padded[0] as i32,
        kind: padding.number(),
        most_h: most(0, rows) as i32,
        most_w: most(1, columns) as i32,
        first: 0,
    })
}

/// y is x with rows above and below it, `rows`, and columns on its left and right, `columns`, as `torch.nn.functional.pad`, `torch.nn.ZeroPad2d`,
/// `torch.nn.ReflectionPad2d` and `torch.nn.ReplicationPad2d` with channels last. x is \[n, h, w, c\], y is
/// \[n, rows.0 + h + rows.1, columns.0 + w + columns.1, c\].
///
/// Bits are copied: a NaN or an infinity reaches its own pixel and the copies of it.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::{Padding, pad};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0], [1, 1, 3, 1])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 1, 6, 1])?;
/// pad(&x, (0, 0), (1, 2), Padding::Zeros, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 1.0, 2.0, 3.0, 0.0, 0.0]);
/// pad(&x, (0, 0), (1, 2), Padding::Reflect, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [2.0, 1.0, 2.0, 3.0, 2.0, 1.0]);
/// pad(&x, (0, 0), (1, 2), Padding::Replicate, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Pad)]
pub fn pad<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    rows: (usize, usize),
    columns: (usize, usize),
    padding: Padding,
    #[axes(n, p, q, c)] mut y: ViewMut<T, 4>,
) -> Result<()> {
    let ([_, h, w, _], shape) = (x.shape(), y.shape());
    let of = around(call, "y", [h, w], [shape[1], shape[2]], [rows, columns], padding)?;
    if shape.contains(&0) {
        return Ok(());
    }
    for (images, rows) in launches(shape) {
        let (grid, of) = (grid(shape, &images, &rows, PIXELS), Around { first: rows.start as i32, ..of });
        let (x, y) = (x.narrow(0, images.clone())?, y.reborrow().narrow(0, images)?.narrow(1, rows)?);
        call.launch(pad_kernel::<T, PIXELS, CHANNELS>(x, y, of), grid)?;
    }
    Ok(())
}

/// dx\[n, h, w, c\] = Σ dy\[n, p, q, c\] over the pixel's own place in the padded image and its copies: the gradient of [`pad`]. dy is
/// \[n, rows.0 + h + rows.1, columns.0 + w + columns.1, c\], dx is \[n, h, w, c\].
///
/// A pixel gathers from its copies in one order: the result is the same each time. Sums are in `f32`.
///
/// A NaN or an infinity of dy reaches the pixel alone that it is the gradient of a copy of; around zeros, none.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::{Padding, pad_backward};
///
/// let stream = Device::cpu().stream()?;
/// let dy = stream.tensor(&[1.0f32, 2.0, 4.0, 8.0, 16.0, 32.0], [1, 1, 6, 1])?;
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 3, 1])?;
/// pad_backward(&dy, (0, 0), (1, 2), Padding::Replicate, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [3.0, 4.0, 56.0]);
/// pad_backward(&dy, (0, 0), (1, 2), Padding::Reflect, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [34.0, 21.0, 8.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(PadBackward)]
pub fn pad_backward<T: FloatElement>(
    call: Call,
    #[axes(n, p, q, c)] dy: View<T, 4>,
    rows: (usize, usize),
    columns: (usize, usize),
    padding: Padding,
    #[axes(n, h, w, c)] mut dx: ViewMut<T, 4>,
) -> Result<()> {
    let ([_, p, q, _], shape) = (dy.shape(), dx.shape());
    let of = around(call, "dy", [shape[1], shape[2]], [p, q], [rows, columns], padding)?;
    if shape.contains(&0) {
        return Ok(());
    }
    for (images, rows) in launches(shape) {
        let (grid, of) = (grid(shape, &images, &rows, PIXELS), Around { first: rows.start as i32, ..of });
        let (dy, dx) = (dy.narrow(0, images.clone())?, dx.reborrow().narrow(0, images)?.narrow(1, rows)?);
        call.launch(pad_backward_kernel::<T, PIXELS, CHANNELS>(dy, dx, of), grid)?;
    }
    Ok(())
}
