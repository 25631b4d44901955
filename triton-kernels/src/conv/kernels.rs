//! The kernels of convolutions: products of matrices whose operands are gathered.
//!
//! A row of the product is a place (n, p, q) of the output, its column a channel of the output, and the reduction goes over the window and the
//! channels of the input. What is outside the image is out of bounds of a view, and so 0: there is no padding in memory.

use super::geometry::Window;
use crate::divisor::{quotient, scalar_quotient};
use crate::functions::{added_parts, last_to_arrive};
use crate::linear::kernels::epilogue::{Epilogue, activated};
use triton::prelude::*;

/// The image, row and column of places that are numbered through. Those behind the last one are in no image.
#[triton::function]
fn places(m: Tile<i32>, of: Window) -> (Tile<i32>, Tile<i32>, Tile<i32>) {
    let image = quotient(m, of.area_magic, of.area_shift);
    let at = m - image * of.area;
    let p = quotient(at, of.width_magic, of.width_shift);
    (image, p, at - p * of.width)
}

/// The sum of the parts of a tile, which each of `num_programs(2)` programs has one of, in their order; and whether this is the program that has
/// it, the last one to arrive. No program waits for another.
#[triton::function]
fn summed<const BM: i32, const BN: i32>(
    acc: Tile<f32>,
    parts: TensorMut<f32, 3>,
    done: TensorMut<i32, 1>,
) -> (Tile<f32>, bool) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut total = acc;
    let mut last = true;
    if num_programs(2) > 1 {
        parts.store([program_id(2), m, n], acc.expand_dims(0));
        let tile = program_id(1) * num_programs(0) + program_id(0);
        last = last_to_arrive(done, tile, num_programs(2));
        if last {
            total = added_parts::<f32, BM, BN, 1>(parts, (m, n));
            done.store([tile], zeros::<i32>([1]));
        }
    }
    (total, last)
}

/// y = activation(x ∗ w + bias): of [`Window`]'s places and taps, so that it is a convolution or, for each phase of a stride, its transpose.
///
/// x is `[N, H, W, C]`, with COLUMNS `[N, C, H, W]`: the last axis is the contiguous one. w is `[K, R, S, C]` with TB, else `[C, R, S, K]`, of C channels of x
/// and K of y. A step of the reduction is BK channels of one element of the window. In MODE 1 it is BK of all channels of all elements, which
/// have to be found one by one, for windows of few channels; MODE 2 has smaller steps and tiles, for few channels of 16 bits and few filters. All
/// tiles of a pool have one BK, which the numbers of [`Window`] follow. y is in the order of x.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 128, BN = 128, BK = 16, COLUMNS = false, TB = true, MODE = 0, num_warps = 8),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, TB = true, MODE = 0, general = true),
    (T = f32, BM = 128, BN = 32, BK = 16, COLUMNS = false, TB = true, MODE = 1),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, TB = true, MODE = 1, general = true),
    (T = f32, BM = 128, BN = 32, BK = 16, COLUMNS = false, TB = true, MODE = 2),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, TB = true, MODE = 2, general = true),
    (T = f32, BM = 128, BN = 128, BK = 16, COLUMNS = false, TB = false, MODE = 0, num_warps = 8),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, TB = false, MODE = 0, general = true),
    (T = f32, BM = 128, BN = 32, BK = 16, COLUMNS = false, TB = false, MODE = 1),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, TB = false, MODE = 1, general = true),
    (T = f32, BM = 128, BN = 32, BK = 16, COLUMNS = false, TB = false, MODE = 2),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, TB = false, MODE = 2, general = true),
    (T = f32, BM = 128, BN = 128, BK = 16, COLUMNS = true, TB = true, MODE = 0, num_warps = 8),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, TB = true, MODE = 0, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, TB = true, MODE = 1, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, TB = true, MODE = 2, general = true),
    (T = f32, BM = 128, BN = 128, BK = 16, COLUMNS = true, TB = false, MODE = 0, num_warps = 8),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, TB = false, MODE = 0, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, TB = false, MODE = 1, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, TB = false, MODE = 2, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 64, COLUMNS = false, TB = true, MODE = 0, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, COLUMNS = false, TB = true, MODE = 0, general = true),
    (T = bf16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = true, MODE = 1),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = true, MODE = 1, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 32, COLUMNS = false, TB = true, MODE = 2, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = true, MODE = 2, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = true, MODE = 2, num_stages = 4, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 64, COLUMNS = false, TB = false, MODE = 0, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, COLUMNS = false, TB = false, MODE = 0, general = true),
    (T = bf16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = false, MODE = 1),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = false, MODE = 1, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 32, COLUMNS = false, TB = false, MODE = 2, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = false, MODE = 2, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = false, MODE = 2, num_stages = 4, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, COLUMNS = true, TB = true, MODE = 0, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = true, MODE = 1, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = true, MODE = 2, num_stages = 4, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, COLUMNS = true, TB = false, MODE = 0, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = false, MODE = 1, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = false, MODE = 2, num_stages = 4, general = true),
    (T = f16, BM = 128, BN = 128, BK = 64, COLUMNS = false, TB = true, MODE = 0, num_warps = 8, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 64, COLUMNS = false, TB = true, MODE = 0, general = true),
    (T = f16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = true, MODE = 1),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = true, MODE = 1, general = true),
    (T = f16, BM = 128, BN = 128, BK = 32, COLUMNS = false, TB = true, MODE = 2, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = true, MODE = 2, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = true, MODE = 2, num_stages = 4, general = true),
    (T = f16, BM = 128, BN = 128, BK = 64, COLUMNS = false, TB = false, MODE = 0, num_warps = 8, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 64, COLUMNS = false, TB = false, MODE = 0, general = true),
    (T = f16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = false, MODE = 1),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = false, MODE = 1, general = true),
    (T = f16, BM = 128, BN = 128, BK = 32, COLUMNS = false, TB = false, MODE = 2, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 32, BK = 32, COLUMNS = false, TB = false, MODE = 2, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = false, TB = false, MODE = 2, num_stages = 4, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, COLUMNS = true, TB = true, MODE = 0, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = true, MODE = 1, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = true, MODE = 2, num_stages = 4, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, COLUMNS = true, TB = false, MODE = 0, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = false, MODE = 1, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = true, TB = false, MODE = 2, num_stages = 4, general = true),
], tune = [BM, BN, BK])]
pub(super) fn conv<
    T: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const COLUMNS: bool,
    const TB: bool,
    const MODE: i32,
>(
    x: Tensor<T, 4>,
    w: Tensor<T, 4>,
    y: TensorMut<T, 4>,
    bias: Tensor<T, 1>,
    parts: TensorMut<f32, 3>,
    #[no_specialize] done: TensorMut<i32, 1>,
    #[no_specialize] of: Window,
    options: Epilogue,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let (image, p, q) = places(m + arange(0, BM), of);
    let (h0, w0) = (p * of.stride_h + of.from_h, q * of.stride_w + of.from_w);
    let filter = n + arange(0, BN);
    let first = program_id(2) * of.chunk;
    let mut acc = zeros::<f32>([BM, BN]);
    for step in first..minimum(first + of.chunk, of.steps) {
        if MODE == 1 {
            let k = step * BK + arange(0, BK);
            let tap = quotient(k, of.deep_magic, of.deep_shift);
            let channel = k - tap * of.deep;
            let i = quotient(tap, of.across_magic, of.across_shift);
            let j = tap - i * of.across;
            // Weights past the window are 0; a pixel that an element past it would read may not be finite.
            let inside = k < of.terms;
            let (r, s) = (of.first_h + i * of.step_h, of.first_w + j * of.step_w);
            let (dh, dw) = (i * of.by_h, j * of.by_w);
            let a = if COLUMNS {
                let (h, v) = (h0.expand_dims(0) + dh.expand_dims(1), w0.expand_dims(0) + dw.expand_dims(1));
                x.gather([image.expand_dims(0), channel.expand_dims(1), h, v], inside.expand_dims(1)).transpose()
            } else {
                let (h, v) = (h0.expand_dims(1) + dh.expand_dims(0), w0.expand_dims(1) + dw.expand_dims(0));
                x.gather([image.expand_dims(1), h, v, channel.expand_dims(0)], inside.expand_dims(0))
            };
            let b = if TB {
                let at = (filter.expand_dims(1), r.expand_dims(0), s.expand_dims(0), channel.expand_dims(0));
                w.gather(at, inside.expand_dims(0)).transpose()
            } else {
                let at = (channel.expand_dims(1), r.expand_dims(1), s.expand_dims(1), filter.expand_dims(0));
                w.gather(at, inside.expand_dims(1))
            };
            acc = dot(a, b, acc);
        } else {
            let tap = scalar_quotient(step, of.deep_magic, of.deep_shift);
            let channel = (step - tap * of.deep) * BK + arange(0, BK);
            let i = scalar_quotient(tap, of.across_magic, of.across_shift);
            let j = tap - i * of.across;
            let (r, s) = (of.first_h + i * of.step_h, of.first_w + j * of.step_w);
            let (h, v) = (h0 + i * of.by_h, w0 + j * of.by_w);
            let a = if COLUMNS {
                let at = (image.expand_dims(0), channel.expand_dims(1), h.expand_dims(0), v.expand_dims(0));
                x.gather(at, true).transpose()
            } else {
                x.gather((image.expand_dims(1), h.expand_dims(1), v.expand_dims(1), channel.expand_dims(0)), true)
            };
            let b = if TB {
                w.gather((filter.expand_dims(1), r, s, channel.expand_dims(0)), true).transpose()
            } else {
                w.gather((channel.expand_dims(1), r, s, filter.expand_dims(0)), true)
            };
            acc = dot(a, b, acc);
        }
    }
    let (total, last) = summed::<BM, BN>(acc, parts, done);
    if last {
        let v = activated::<f32, BM, BN>(total + bias.load([n], [BN]).to::<f32>().expand_dims(0), options).to::<T>();
        let (h, u) = (p * of.out_step_h + of.out_h, q * of.out_step_w + of.out_w);
        if !COLUMNS {
            let at = (image.expand_dims(1), h.expand_dims(1), u.expand_dims(1), filter.expand_dims(0));
            y.scatter(at, v, true);
        } else {
            let at = (image.expand_dims(0), filter.expand_dims(1), h.expand_dims(0), u.expand_dims(0));
            y.scatter(at, v.transpose(), true);
        }
    }
}

/// dw\[k, r, s, c\] = Σ dy\[n, p, q, k\] · x\[n, p · stride + r · dilation − padding, .., c\], over all places (n, p, q).
///
/// A tile has BM filters and BN channels of one element of the window; with FLAT, BN of all channels of all elements. A step is BK places. With
/// COLUMNS, x and dy are `[N, C, H, W]` and `[N, K, P, Q]`. A tile of 128 × 128 is not faster: 7.0 ms in `f32` of 512 channels and filters, of places 64 × 64, and 9.5.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, FLAT = false, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, FLAT = false, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = false, FLAT = true, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, COLUMNS = true, FLAT = true, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, COLUMNS = false, FLAT = false, num_stages = 3, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, COLUMNS = true, FLAT = false, num_stages = 3, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = false, FLAT = true, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, COLUMNS = true, FLAT = true, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, COLUMNS = false, FLAT = false, num_stages = 3, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, COLUMNS = true, FLAT = false, num_stages = 3, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = false, FLAT = true, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, COLUMNS = true, FLAT = true, general = true),
], tune = [BM, BN, BK])]
pub(super) fn conv_weight<
    T: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const COLUMNS: bool,
    const FLAT: bool,
>(
    x: Tensor<T, 4>,
    dy: Tensor<T, 4>,
    dw: TensorMut<T, 4>,
    parts: TensorMut<f32, 3>,
    #[no_specialize] done: TensorMut<i32, 1>,
    #[no_specialize] of: Window,
) {
    let filter = program_id(0) * BM + arange(0, BM);
    // The element of the window that the whole tile belongs to, or those of its columns.
    let of_tile = scalar_quotient(program_id(1), of.deep_magic, of.deep_shift);
    let i = scalar_quotient(of_tile, of.across_magic, of.across_shift);
    let (down, across) = (i * of.by_h + of.from_h, (of_tile - i * of.across) * of.by_w + of.from_w);
    let column = program_id(1) * BN + arange(0, BN);
    let tap = if FLAT { quotient(column, of.deep_magic, of.deep_shift) } else { zeros::<i32>([BN]) + of_tile };
    let channel = if FLAT { column - tap * of.deep } else { (program_id(1) - of_tile * of.deep) * BN + arange(0, BN) };
    let r = quotient(tap, of.across_magic, of.across_shift);
    let s = tap - r * of.across;
    let (dh, dw_) = (r * of.by_h + of.from_h, s * of.by_w + of.from_w);
    let first = program_id(2) * of.chunk;
    let mut acc = zeros::<f32>([BM, BN]);
    for step in first..minimum(first + of.chunk, of.steps) {
        let (image, p, q) = places(step * BK + arange(0, BK), of);
        let (h0, w0) = (p * of.stride_h, q * of.stride_w);
        if COLUMNS {
            let at = (image.expand_dims(0), filter.expand_dims(1), p.expand_dims(0), q.expand_dims(0));
            let a = dy.gather(at, true);
            let b = if FLAT {
                let (h, v) = (h0.expand_dims(0) + dh.expand_dims(1), w0.expand_dims(0) + dw_.expand_dims(1));
                x.gather([image.expand_dims(0), channel.expand_dims(1), h, v], true)
            } else {
                let (h, v) = ((h0 + down).expand_dims(0), (w0 + across).expand_dims(0));
                x.gather((image.expand_dims(0), channel.expand_dims(1), h, v), true)
            };
            acc = dot(a, b.transpose(), acc);
        } else {
            let at = (image.expand_dims(1), p.expand_dims(1), q.expand_dims(1), filter.expand_dims(0));
            let a = dy.gather(at, true);
            let b = if FLAT {
                let (h, v) = (h0.expand_dims(1) + dh.expand_dims(0), w0.expand_dims(1) + dw_.expand_dims(0));
                x.gather([image.expand_dims(1), h, v, channel.expand_dims(0)], true)
            } else {
                let (h, v) = ((h0 + down).expand_dims(1), (w0 + across).expand_dims(1));
                x.gather((image.expand_dims(1), h, v, channel.expand_dims(0)), true)
            };
            acc = dot(a.transpose(), b, acc);
        }
    }
    let (total, last) = summed::<BM, BN>(acc, parts, done);
    if last {
        let at = (filter.expand_dims(1), r.expand_dims(0), s.expand_dims(0), channel.expand_dims(0));
        dw.scatter(at, total.to::<T>(), true);
    }
}

/// y\[n, p, q, k\] = activation(Σ x\[n, p + shifts\[0, c\], q + shifts\[1, c\], c\] · w\[k, c\] + bias\[k\]), over all channels c; out of an image there are zeros.
///
/// With GROUPED, each BK channels from a multiple of BK on have one shift, so that their loads are vectors.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 64, BN = 64, BK = 16, GROUPED = false, general = true),
    (T = f32, BM = 64, BN = 64, BK = 16, GROUPED = true, general = true),
    (T = f32, BM = 128, BN = 128, BK = 16, GROUPED = true, num_warps = 8, num_stages = 3),
    (T = bf16, BM = 64, BN = 64, BK = 32, GROUPED = false, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, GROUPED = true, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 32, GROUPED = true, num_warps = 8, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 32, GROUPED = false, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, GROUPED = true, general = true),
    (T = f16, BM = 128, BN = 128, BK = 32, GROUPED = true, num_warps = 8, num_stages = 4),
], tune = [BM, BN, BK])]
pub(super) fn shifted<T: Float, const BM: i32, const BN: i32, const BK: i32, const GROUPED: bool>(
    x: Tensor<T, 4>,
    w: Tensor<T, 2>,
    y: TensorMut<T, 4>,
    shifts: Tensor<i32, 2>,
    bias: Tensor<T, 1>,
    #[no_specialize] of: Window,
    options: Epilogue,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let (image, p, q) = places(m + arange(0, BM), of);
    let filter = n + arange(0, BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for c in (0..w.dim(1)).step_by(BK) {
        let channel = (c + arange(0, BK)).expand_dims(0);
        let a = if GROUPED {
            let (h, v) = (p + shifts.get([0, c]), q + shifts.get([1, c]));
            x.gather([image.expand_dims(1), h.expand_dims(1), v.expand_dims(1), channel], true)
        } else {
            let (down, across) = (shifts.load([0, c], [1, BK]), shifts.load([1, c], [1, BK]));
            x.gather([image.expand_dims(1), p.expand_dims(1) + down, q.expand_dims(1) + across, channel], true)
        };
        acc = dot(a, w.load([n, c], [BN, BK]).transpose(), acc);
    }
    let v = activated::<f32, BM, BN>(acc + bias.load([n], [BN]).to::<f32>().expand_dims(0), options).to::<T>();
    y.scatter((image.expand_dims(1), p.expand_dims(1), q.expand_dims(1), filter.expand_dims(0)), v, true);
}
