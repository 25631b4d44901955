//! Images in another size.

use super::shape::{CHANNELS, PIXELS, grid, launches};
use crate::element::FloatElement;
use crate::error::{Error, Result};
use crate::flat::corner;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// What a pixel of an image in another size is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interpolation {
    /// The pixel that the place is in.
    #[default]
    Nearest,
    /// The mean of four pixels, by their distances.
    Bilinear,
}

/// The numbers of the kernels: place i of an axis of y is at max(i · by + from, 0) / of, counted in pixels of x.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Places {
    by_h: i32,
    from_h: i32,
    of_h: i32,
    by_w: i32,
    from_w: i32,
    of_w: i32,
    /// Rows of x and of y.
    height: i32,
    places: i32,
    /// 1 if two pixels along an axis have a share in a place, else 0.
    between: i32,
    /// In how many places along a row a pixel has a share at most.
    most_w: i32,
    /// The row that the first program writes.
    first: i32,
}

/// The pixel that a place is at or behind, and the share that the next one has.
#[triton::function]
fn at(i: Tile<i32>, by: i32, from: i32, of: i32, between: i32) -> (Tile<i32>, Tile<f32>) {
    let place = maximum(i * by + from, 0);
    let pixel = place / of;
    (pixel, ((place - pixel * of) * between).to::<f32>() / of.to::<f32>())
}

/// The share that a pixel of an axis of `extent` has in place i.
#[triton::function]
fn share(pixel: Tile<i32>, extent: i32, i: Tile<i32>, by: i32, from: i32, of: i32, between: i32) -> Tile<f32> {
    let (first, next) = at(i, by, from, of, between);
    let own = select(first == pixel, 1.0 - next, 0.0);
    own + select(minimum(first + 1, extent - 1) == pixel, next, 0.0)
}

/// A term of a sum, which has no influence where its weight is 0.
#[triton::function]
fn term(v: Tile<f32>, weight: Tile<f32>) -> Tile<f32> {
    select(weight > 0.0, v * weight, 0.0)
}

/// Q pixels of a row of y, and C channels of each.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn upsample_kernel<T: Float, const Q: i32, const C: i32>(
    x: Tensor<T, 4>,
    y: TensorMut<T, 4>,
    #[no_specialize] of: Places,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (q, c) = corner::<Q, C>(y.dim(3).to::<i32>());
    let channels = (c + arange(0, C)).expand_dims(0);
    let columns = minimum(q + arange(0, Q), y.dim(2).to::<i32>() - 1).expand_dims(1);
    let (top, lower) = at(full([1, 1], of.first + row), of.by_h, of.from_h, of.of_h, of.between);
    let (left, right) = at(columns, of.by_w, of.from_w, of.of_w, of.between);
    let v = x.gather((n, top, left, channels), true);
    if of.between == 0 {
        y.store([n, row, q, c], v.reshape([1, 1, Q, C]));
        return;
    }
    let (below, beside) = (minimum(top + 1, of.height - 1), minimum(left + 1, x.dim(2).to::<i32>() - 1));
    let mut sum = term(v.to::<f32>(), (1.0 - lower) * (1.0 - right));
    sum += term(x.gather((n, top, beside, channels), true).to::<f32>(), (1.0 - lower) * right);
    sum += term(x.gather((n, below, left, channels), true).to::<f32>(), lower * (1.0 - right));
    sum += term(x.gather((n, below, beside, channels), true).to::<f32>(), lower * right);
    y.store([n, row, q, c], sum.to::<T>().reshape([1, 1, Q, C]));
}

/// Q pixels of a row of dx, and C channels of each.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn upsample_backward_kernel<T: Float, const Q: i32, const C: i32>(
    dy: Tensor<T, 4>,
    dx: TensorMut<T, 4>,
    #[no_specialize] of: Places,
) {
    let (n, row, width) = (program_id(2), program_id(1), dx.dim(2).to::<i32>());
    let (w, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let channels = (c + arange(0, C)).expand_dims(0);
    let (h, columns) = (of.first + row, minimum(w + arange(0, Q), width - 1).expand_dims(1));
    // A pixel has a share in places that are less than a pixel away, before it only if places are between pixels.
    let before = of.of_h * (h - of.between) - of.from_h - (1 - of.between);
    let from = if before < 0 { 0 } else { before / maximum(of.by_h, 1) + 1 };
    let to = minimum((of.of_h * (h + 1) - of.from_h + of.by_h - 1) / maximum(of.by_h, 1), of.places);
    let to = if of.by_h == 0 { of.places } else { to };
    let before = of.of_w * (columns - of.between) - of.from_w - (1 - of.between);
    let left = select(before < 0, 0, before / maximum(of.by_w, 1) + 1);
    let mut sum = zeros::<f32>([Q, C]);
    for p in from..to {
        let down = share(full([1, 1], h), of.height, full([1, 1], p), of.by_h, of.from_h, of.of_h, of.between);
        for b in 0..of.most_w {
            let q = left + b;
            let across = share(columns, width, q, of.by_w, of.from_w, of.of_w, of.between);
            sum += term(dy.gather((n, p, q, channels), true).to::<f32>(), down * across);
        }
    }
    dx.store([n, row, w, c], sum.to::<T>().reshape([1, 1, Q, C]));
}

/// The numbers of an axis: what i is multiplied by, what is added, what is divided by.
fn axis(pixels: usize, places: usize, interpolation: Interpolation, corners: bool) -> [i32; 3] {
    let (pixels, places) = (pixels as i32, places as i32);
    match (interpolation, corners) {
        (Interpolation::Nearest, _) => [pixels, 0, places],
        (Interpolation::Bilinear, false) => [2 * pixels, pixels - places, 2 * places],
        (Interpolation::Bilinear, true) => [if places == 1 { 0 } else { pixels - 1 }, 0, (places - 1).max(1)],
    }
}

/// Checks what letters do not say, of images that have elements: pixels \[h, w\] of x, and of y.
fn places(
    call: Call<'_>,
    pixels: [usize; 2],
    of_y: [usize; 2],
    interpolation: Interpolation,
    corners: bool,
) -> Result<Places> {
    let fix = "the nearest pixel has no weights";
    let fits = !corners || interpolation == Interpolation::Bilinear;
    call.value("align_corners", corners, fits, "an option of `Interpolation::Bilinear`", fix)?;
    for (name, extent) in [("h", pixels[0]), ("w", pixels[1])] {
        call.value(name, extent, extent > 0, "pixels", "there is none to interpolate")?;
    }
    let counts = [0, 1].map(|axis| 2 * (pixels[axis] + 1) * (of_y[axis] + 1));
    if let Some(count) = counts.into_iter().find(|count| *count > i32::MAX as usize) {
        return Err(Error::Unsupported {
            op: call.op,
            found: format!("an index up to {count}"),
            expected: "a product of both extents of an axis below 2³⁰",
            fix: "divide the image",
        });
    }
    let [[by_h, from_h, of_h], [by_w, from_w, of_w]] = [0, 1].map(|i| axis(pixels[i], of_y[i], interpolation, corners));
    let between = i32::from(interpolation == Interpolation::Bilinear);
    let reach = (1 + between as usize) * of_w as usize;
    let most_w = if by_w == 0 { of_y[1] } else { reach.div_ceil(by_w as usize).min(of_y[1]) };
    Ok(Places {
        by_h,
        from_h,
        of_h,
        by_w,
        from_w,
        of_w,
        height: pixels[0] as i32,
        places: of_y[0] as i32,
        between,
        most_w: most_w as i32,
        first: 0,
    })
}

/// y is x in another size, as `torch.nn.functional.interpolate` and `torch.nn.Upsample` with channels last. x is \[n, h, w, c\], y is
/// \[n, p, q, c\], with any p and q, also smaller ones.
///
/// - [`Nearest`](Interpolation::Nearest): y\[n, i, j, c\] = x\[n, ⌊i · h / p⌋, ⌊j · w / q⌋, c\]. Quotients are exact. Bits are copied.
/// - [`Bilinear`](Interpolation::Bilinear): the centre of pixel i of y is at (i + 1/2) · h / p − 1/2 pixels of x, and the two pixels there have weights
///   that add up to 1, along both axes. Sums are in `f32`, and there is no filter against aliasing where y is smaller.
///
/// A NaN or infinite pixel reaches exactly the outputs in which it has a weight above 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::{Interpolation, upsample};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[0.0f32, 4.0], [1, 1, 2, 1])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 1, 4, 1])?;
/// upsample(&x, Interpolation::Nearest, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 0.0, 4.0, 4.0]);
/// upsample(&x, Interpolation::Bilinear, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 1.0, 3.0, 4.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Upsample)]
pub fn upsample<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    interpolation: Interpolation,
    #[axes(n, p, q, c)] mut y: ViewMut<T, 4>,
    /// Puts the first and the last pixels of both images in the same places: pixel i of y is at i · (h − 1) / (p − 1). Bilinear alone.
    #[flag]
    align_corners: bool,
) -> Result<()> {
    let ([_, h, w, _], shape) = (x.shape(), y.shape());
    if shape.contains(&0) {
        return Ok(());
    }
    let of = places(call, [h, w], [shape[1], shape[2]], interpolation, align_corners)?;
    for (images, rows) in launches(shape) {
        let (grid, of) = (grid(shape, &images, &rows, PIXELS), Places { first: rows.start as i32, ..of });
        let (x, y) = (x.narrow(0, images.clone())?, y.reborrow().narrow(0, images)?.narrow(1, rows)?);
        call.launch(upsample_kernel::<T, PIXELS, CHANNELS>(x, y, of), grid)?;
    }
    Ok(())
}

/// dx\[n, h, w, c\] = Σ weight · dy\[n, p, q, c\] over the outputs in which the pixel has a weight: the gradient of [`upsample`], with the same
/// options. dy is \[n, p, q, c\], dx is \[n, h, w, c\].
///
/// A pixel gathers from its outputs in one order: the result is the same each time. Sums are in `f32`.
///
/// A NaN or an infinity of dy reaches exactly the pixels that have a weight above 0 in its output.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::{Interpolation, upsample_backward};
///
/// let stream = Device::cpu().stream()?;
/// let dy = stream.tensor(&[1.0f32, 2.0, 4.0, 8.0], [1, 1, 4, 1])?;
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 2, 1])?;
/// upsample_backward(&dy, Interpolation::Nearest, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [3.0, 12.0]);
/// upsample_backward(&dy, Interpolation::Bilinear, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [3.5, 11.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(UpsampleBackward)]
pub fn upsample_backward<T: FloatElement>(
    call: Call,
    #[axes(n, p, q, c)] dy: View<T, 4>,
    interpolation: Interpolation,
    #[axes(n, h, w, c)] mut dx: ViewMut<T, 4>,
    /// As of [`Upsample::align_corners`].
    #[flag]
    align_corners: bool,
) -> Result<()> {
    let ([_, p, q, _], shape) = (dy.shape(), dx.shape());
    if shape.contains(&0) {
        return Ok(());
    }
    let of = places(call, [shape[1], shape[2]], [p, q], interpolation, align_corners)?;
    for (images, rows) in launches(shape) {
        let (grid, of) = (grid(shape, &images, &rows, PIXELS), Places { first: rows.start as i32, ..of });
        let (dy, dx) = (dy.narrow(0, images.clone())?, dx.reborrow().narrow(0, images)?.narrow(1, rows)?);
        call.launch(upsample_backward_kernel::<T, PIXELS, CHANNELS>(dy, dx, of), grid)?;
    }
    Ok(())
}
