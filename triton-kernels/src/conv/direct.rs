//! The kernels of convolutions in groups of few channels, which are sums over the window without a product of matrices: memory bounds them.
//!
//! Filters are \[R, S, D, K\] here, of D channels of the input each, and \[R, S, K\] of one: those of neighbouring outputs are next to each other. A tile is Q places of a row and C
//! channels of each. With DEPTHWISE each channel of the input is one of the output, and tiles are vectors.

use crate::divisor::quotient;
use crate::flat::corner;
use crate::linear::kernels::epilogue::{Epilogue, activated};
use triton::prelude::*;

/// The numbers of a convolution in groups.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Groups {
    /// Rows and columns of a window.
    pub down: i32,
    pub across: i32,
    pub stride_h: i32,
    pub stride_w: i32,
    pub stride_magic: u32,
    pub stride_shift: u32,
    pub padding_h: i32,
    pub padding_w: i32,
    pub dilation_h: i32,
    pub dilation_w: i32,
    /// Channels of the input of a group, and those of the output.
    pub deep: i32,
    pub deep_magic: u32,
    pub deep_shift: u32,
    pub wide: i32,
    pub wide_magic: u32,
    pub wide_shift: u32,
    /// Whether elements of the window are in the reverse order.
    pub flipped: bool,
    /// The row of the image that the first program writes.
    pub first: i32,
}

/// The sum over a window of the places of a tile, for filters of which one has the channels from `from` on.
#[triton::function]
fn windows<T: Float, const Q: i32, const C: i32>(
    x: Tensor<T, 4>,
    w: Tensor<T, 4>,
    at: (i32, i32),
    column: Tile<i32>,
    filter: Tile<i32>,
    from: Tile<i32>,
    of: Groups,
) -> Tile<f32> {
    let (n, top) = at;
    let mut sum = zeros::<f32>([Q, C]);
    for i in 0..of.down {
        let r = if of.flipped { of.down - 1 - i } else { i };
        for j in 0..of.across {
            let s = if of.flipped { of.across - 1 - j } else { j };
            for d in 0..of.deep {
                let place = (n, top + i * of.dilation_h, column + j * of.dilation_w, from + d);
                sum = fma(x.gather(place, true).to::<f32>(), w.gather((r, s, d, filter), true).to::<f32>(), sum);
            }
        }
    }
    sum
}

/// y = activation(x ∗ w + bias), of one channel to one.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 16, C = 64)], targets = ["sm_80"], warnings = false)]
pub(super) fn depthwise<T: Float, const Q: i32, const C: i32>(
    x: Tensor<T, 4>,
    w: Tensor<T, 3>,
    bias: Tensor<T, 1>,
    y: TensorMut<T, 4>,
    #[no_specialize] of: Groups,
    options: Epilogue,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (q, k) = corner::<Q, C>(y.dim(3).to::<i32>());
    let column = (q + arange(0, Q)).expand_dims(1) * of.stride_w - of.padding_w;
    let filter = (k + arange(0, C)).expand_dims(0);
    let top = (of.first + row) * of.stride_h - of.padding_h;
    let mut sum = zeros::<f32>([Q, C]);
    for i in 0..of.down {
        let r = if of.flipped { of.down - 1 - i } else { i };
        for j in 0..of.across {
            let s = if of.flipped { of.across - 1 - j } else { j };
            let place = (n, top + i * of.dilation_h, column + j * of.dilation_w, filter);
            sum = fma(x.gather(place, true).to::<f32>(), w.gather((r, s, filter), true).to::<f32>(), sum);
        }
    }
    let v = activated::<f32, Q, C>(sum + bias.load([k], [C]).to::<f32>().expand_dims(0), options);
    y.store([n, row, q, k], v.to::<T>().reshape([1, 1, Q, C]));
}

/// One more row of a window of three columns.
#[triton::function]
fn three(sum: Tile<f32>, v: (Tile<f32>, Tile<f32>, Tile<f32>), w: (Tile<f32>, Tile<f32>, Tile<f32>)) -> Tile<f32> {
    let ((a, b, c), (x, y, z)) = (v, w);
    fma(c, z, fma(b, y, fma(a, x, sum)))
}

/// Row r of a filter of 3 × 3, in the reverse order if `first` is 2.
#[triton::function]
fn three_weights<T: Float>(w: Tensor<T, 3>, r: i32, first: i32, k: Tile<i32>) -> (Tile<f32>, Tile<f32>, Tile<f32>) {
    let middle: i32 = 1;
    let a = w.gather((r, first, k), true).to::<f32>();
    let b = w.gather((r, middle, k), true).to::<f32>();
    (a, b, w.gather((r, 2 - first, k), true).to::<f32>())
}

/// The same of windows of 3 × 3 at each place, for `rows` rows of an image, whose columns and channels are one axis here, of whole multiples of V: each row of
/// the input is loaded once, and is a part of three rows of the output. There are `channels` times V channels.
#[triton::kernel(configs = [
    (T = f32, E = 1024, V = 4, num_warps = 8), (T = f16, E = 1024, V = 8, num_warps = 4), (T = bf16, E = 1024, V = 8, num_warps = 4),
], targets = ["sm_80"], warnings = false)]
pub(super) fn depthwise_rows<T: Float, const E: i32, const V: i32>(
    x: Tensor<T, 3>,
    w: Tensor<T, 3>,
    bias: Tensor<T, 1>,
    y: TensorMut<T, 3>,
    #[no_specialize] of: Groups,
    #[no_specialize] rows: i32,
    #[no_specialize] channels: i32,
    options: Epilogue,
) {
    let (n, strip, e) = (program_id(2), program_id(1) * rows, program_id(0) * E);
    let at = e + arange(0, E);
    let k = max_contiguous(at - quotient(at, of.wide_magic, of.wide_shift) * (channels * V), V);
    let first: i32 = if of.flipped { 2 } else { 0 };
    let middle: i32 = 1;
    let upper = three_weights::<T>(w, first, first, k);
    let central = three_weights::<T>(w, middle, first, k);
    let lower = three_weights::<T>(w, 2 - first, first, k);
    let added = bias.gather([k], true).to::<f32>();
    let (top, left) = (strip - of.padding_h, e - of.padding_w * channels * V);
    let end = minimum(rows, y.dim(1).to::<i32>() - strip) + 2;
    // The sums of the rows that end two and one rows below.
    let mut older = zeros::<f32>([E]);
    let mut newer = zeros::<f32>([E]);
    let mut next_a = x.load([n, top, left], [1, 1, E]).reshape([E]);
    let mut next_b = x.load([n, top, left + channels * V], [1, 1, E]).reshape([E]);
    let mut next_c = x.load([n, top, left + 2 * channels * V], [1, 1, E]).reshape([E]);
    for i in 0..end {
        let v = (next_a.to::<f32>(), next_b.to::<f32>(), next_c.to::<f32>());
        next_a = x.load([n, top + i + 1, left], [1, 1, E]).reshape([E]);
        next_b = x.load([n, top + i + 1, left + channels * V], [1, 1, E]).reshape([E]);
        next_c = x.load([n, top + i + 1, left + 2 * channels * V], [1, 1, E]).reshape([E]);
        let done = three(older, v, lower);
        older = three(newer, v, central);
        newer = three(zeros::<f32>([E]), v, upper);
        if i >= 2 {
            let sum = activated::<f32, 1, E>((done + added).reshape([1, E]), options);
            y.store([n, strip + i - 2, e], sum.to::<T>().reshape([1, 1, E]));
        }
    }
}

/// One more row of a window of five columns.
#[triton::function]
fn five(
    sum: Tile<f32>,
    v: (Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>),
    w: (Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>),
) -> Tile<f32> {
    let ((a, b, c, d, e), (x, y, z, t, u)) = (v, w);
    fma(e, u, fma(d, t, fma(c, z, fma(b, y, fma(a, x, sum)))))
}

/// Row r of a filter of 5 × 5, in the reverse order if `first` is 4.
#[triton::function]
fn five_weights<T: Float>(
    w: Tensor<T, 3>,
    r: i32,
    first: i32,
    k: Tile<i32>,
) -> (Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>) {
    let middle: i32 = 2;
    let second = 1 + first / 2;
    let a = w.gather((r, first, k), true).to::<f32>();
    let b = w.gather((r, second, k), true).to::<f32>();
    let c = w.gather((r, middle, k), true).to::<f32>();
    let d = w.gather((r, 4 - second, k), true).to::<f32>();
    (a, b, c, d, w.gather((r, 4 - first, k), true).to::<f32>())
}

/// The five columns of a row that a window sees.
#[triton::function]
fn five_columns<T: Float, const E: i32, const V: i32>(
    x: Tensor<T, 3>,
    at: (i32, i32, i32),
    channels: i32,
) -> (Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>) {
    let (n, row, left) = at;
    let a = x.load([n, row, left], [1, 1, E]).reshape([E]).to::<f32>();
    let b = x.load([n, row, left + channels * V], [1, 1, E]).reshape([E]).to::<f32>();
    let c = x.load([n, row, left + 2 * channels * V], [1, 1, E]).reshape([E]).to::<f32>();
    let d = x.load([n, row, left + 3 * channels * V], [1, 1, E]).reshape([E]).to::<f32>();
    (a, b, c, d, x.load([n, row, left + 4 * channels * V], [1, 1, E]).reshape([E]).to::<f32>())
}

/// As [`depthwise_rows`], of windows of 5 × 5.
#[triton::kernel(T = [f32, f16, bf16], configs = [(E = 512, V = 4, num_warps = 4)], targets = ["sm_80"], warnings = false)]
pub(super) fn depthwise_rows_of_five<T: Float, const E: i32, const V: i32>(
    x: Tensor<T, 3>,
    w: Tensor<T, 3>,
    bias: Tensor<T, 1>,
    y: TensorMut<T, 3>,
    #[no_specialize] of: Groups,
    #[no_specialize] rows: i32,
    #[no_specialize] channels: i32,
    options: Epilogue,
) {
    let (n, strip, e) = (program_id(2), program_id(1) * rows, program_id(0) * E);
    let at = e + arange(0, E);
    let k = max_contiguous(at - quotient(at, of.wide_magic, of.wide_shift) * (channels * V), V);
    let first: i32 = if of.flipped { 4 } else { 0 };
    let second = 1 + first / 2;
    let middle: i32 = 2;
    let w0 = five_weights::<T>(w, first, first, k);
    let w1 = five_weights::<T>(w, second, first, k);
    let w2 = five_weights::<T>(w, middle, first, k);
    let w3 = five_weights::<T>(w, 4 - second, first, k);
    let w4 = five_weights::<T>(w, 4 - first, first, k);
    let added = bias.gather([k], true).to::<f32>();
    let (top, left) = (strip - of.padding_h, e - of.padding_w * channels * V);
    let end = minimum(rows, y.dim(1).to::<i32>() - strip) + 4;
    // The sums of the rows that end four to one rows below.
    let mut a = zeros::<f32>([E]);
    let mut b = zeros::<f32>([E]);
    let mut c = zeros::<f32>([E]);
    let mut d = zeros::<f32>([E]);
    for i in 0..end {
        let v = five_columns::<T, E, V>(x, (n, top + i, left), channels);
        let done = five(a, v, w4);
        a = five(b, v, w3);
        b = five(c, v, w2);
        c = five(d, v, w1);
        d = five(zeros::<f32>([E]), v, w0);
        if i >= 4 {
            let sum = activated::<f32, 1, E>((done + added).reshape([1, E]), options);
            y.store([n, strip + i - 4, e], sum.to::<T>().reshape([1, 1, E]));
        }
    }
}

/// y = activation(x ∗ w + bias), of groups of any numbers of channels.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 16, C = 64)], targets = ["sm_80"], warnings = false)]
pub(super) fn grouped<T: Float, const Q: i32, const C: i32>(
    #[no_specialize] x: Tensor<T, 4>,
    #[no_specialize] w: Tensor<T, 4>,
    #[no_specialize] bias: Tensor<T, 1>,
    #[no_specialize] y: TensorMut<T, 4>,
    #[no_specialize] of: Groups,
    options: Epilogue,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (q, k) = corner::<Q, C>(y.dim(3).to::<i32>());
    let column = (q + arange(0, Q)).expand_dims(1) * of.stride_w - of.padding_w;
    let filter = (k + arange(0, C)).expand_dims(0);
    let from = quotient(filter, of.wide_magic, of.wide_shift) * of.deep;
    let at = (n, (of.first + row) * of.stride_h - of.padding_h);
    let sum = windows::<T, Q, C>(x, w, at, column, filter, from, of);
    let v = activated::<f32, Q, C>(sum + bias.load([k], [C]).to::<f32>().expand_dims(0), options);
    y.store([n, row, q, k], v.to::<T>().reshape([1, 1, Q, C]));
}

/// dx, and activation(dx + bias) of a transposed convolution: each pixel gathers from the windows that it is in, of one channel to one.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 16, C = 64)], targets = ["sm_80"], warnings = false)]
pub(super) fn depthwise_input<T: Float, const Q: i32, const C: i32>(
    dy: Tensor<T, 4>,
    w: Tensor<T, 3>,
    bias: Tensor<T, 1>,
    dx: TensorMut<T, 4>,
    #[no_specialize] of: Groups,
    options: Epilogue,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (u, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let column = (u + arange(0, Q)).expand_dims(1) + of.padding_w;
    let channel = (c + arange(0, C)).expand_dims(0);
    let mut sum = zeros::<f32>([Q, C]);
    for i in 0..of.down {
        let h = of.first + row + of.padding_h - i * of.dilation_h;
        let p = h / of.stride_h;
        if h >= 0 && p * of.stride_h == h {
            for j in 0..of.across {
                let v = column - j * of.dilation_w;
                let q = quotient(v, of.stride_magic, of.stride_shift);
                let g = dy.gather((n, p, q, channel), (v >= 0) & (q * of.stride_w == v)).to::<f32>();
                sum = fma(g, w.gather((i, j, channel), true).to::<f32>(), sum);
            }
        }
    }
    let v = activated::<f32, Q, C>(sum + bias.load([c], [C]).to::<f32>().expand_dims(0), options);
    dx.store([n, row, u, c], v.to::<T>().reshape([1, 1, Q, C]));
}

/// The same of groups of any numbers of channels.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 16, C = 64)], targets = ["sm_80"], warnings = false)]
pub(super) fn grouped_input<T: Float, const Q: i32, const C: i32>(
    #[no_specialize] dy: Tensor<T, 4>,
    #[no_specialize] w: Tensor<T, 4>,
    #[no_specialize] bias: Tensor<T, 1>,
    #[no_specialize] dx: TensorMut<T, 4>,
    #[no_specialize] of: Groups,
    options: Epilogue,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (u, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let column = (u + arange(0, Q)).expand_dims(1) + of.padding_w;
    let channel = (c + arange(0, C)).expand_dims(0);
    let group = quotient(channel, of.deep_magic, of.deep_shift);
    let (d, from) = (channel - group * of.deep, group * of.wide);
    let mut sum = zeros::<f32>([Q, C]);
    for i in 0..of.down {
        let h = of.first + row + of.padding_h - i * of.dilation_h;
        let p = h / of.stride_h;
        if h >= 0 && p * of.stride_h == h {
            for j in 0..of.across {
                let v = column - j * of.dilation_w;
                let q = quotient(v, of.stride_magic, of.stride_shift);
                let is_place = (v >= 0) & (q * of.stride_w == v);
                for f in 0..of.wide {
                    let g = dy.gather((n, p, q, from + f), is_place).to::<f32>();
                    sum = fma(g, w.gather((i, j, d, from + f), true).to::<f32>(), sum);
                }
            }
        }
    }
    let v = activated::<f32, Q, C>(sum + bias.load([c], [C]).to::<f32>().expand_dims(0), options);
    dx.store([n, row, u, c], v.to::<T>().reshape([1, 1, Q, C]));
}

/// Of dw the sums of strips of `rows` rows of all images: program (k, t, s) has C filters, three elements of a row of the window from t on, and strip s.
#[triton::kernel(configs = [
    (T = f32, C = 64, DEPTHWISE = true), (T = f32, C = 64, DEPTHWISE = false), (T = f16, C = 64, DEPTHWISE = true),
    (T = f16, C = 64, DEPTHWISE = false), (T = bf16, C = 64, DEPTHWISE = true), (T = bf16, C = 64, DEPTHWISE = false),
], targets = ["sm_80"], warnings = false)]
pub(super) fn grouped_weight<T: Float, const C: i32, const DEPTHWISE: bool>(
    x: Tensor<T, 4>,
    dy: Tensor<T, 4>,
    #[no_specialize] parts: TensorMut<f32, 3>,
    #[no_specialize] of: Groups,
    #[no_specialize] rows: i32,
) {
    let (k, tap, strip) = (program_id(0) * C, program_id(1), program_id(2));
    let filter = (k + arange(0, C)).expand_dims(0);
    // An element of three in a row, of a row of the window, of a channel.
    let (d, of_channel) = (tap % of.deep, tap / of.deep);
    let thirds = (of.across + 2) / 3;
    let (i, j) = (of_channel / thirds, of_channel % thirds * 3);
    let from = if DEPTHWISE { filter } else { quotient(filter, of.wide_magic, of.wide_shift) * of.deep + d };
    let (height, width) = (dy.dim(1).to::<i32>(), dy.dim(2).to::<i32>());
    let mut a = zeros::<f32>([16, C]);
    let mut b = zeros::<f32>([16, C]);
    let mut c = zeros::<f32>([16, C]);
    for row in strip * rows..minimum((strip + 1) * rows, dy.dim(0).to::<i32>() * height) {
        let (n, p) = (row / height, row % height);
        let h = p * of.stride_h + i * of.dilation_h - of.padding_h;
        for q in (0..width).step_by(16) {
            let place = (q + arange(0, 16)).expand_dims(1);
            let g = dy.gather((n, p, place, filter), true).to::<f32>();
            let v = place * of.stride_w + j * of.dilation_w - of.padding_w;
            a = fma(g, x.gather((n, h, v, from), true).to::<f32>(), a);
            b = fma(g, x.gather((n, h, v + of.dilation_w, from), true).to::<f32>(), b);
            c = fma(g, x.gather((n, h, v + 2 * of.dilation_w, from), true).to::<f32>(), c);
        }
    }
    let element = (i * of.across + j) * of.deep + d;
    parts.store([strip, element, k], sum_axis(a, 0).reshape([1, 1, C]));
    if j + 1 < of.across {
        parts.store([strip, element + of.deep, k], sum_axis(b, 0).reshape([1, 1, C]));
    }
    if j + 2 < of.across {
        parts.store([strip, element + 2 * of.deep, k], sum_axis(c, 0).reshape([1, 1, C]));
    }
}

/// dw\[r, s, d, k\] = the sum of its parts, in their order.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
pub(super) fn grouped_weight_sum<T: Float>(
    #[no_specialize] parts: Tensor<f32, 3>,
    #[no_specialize] dw: TensorMut<T, 4>,
    #[no_specialize] of: Groups,
) {
    let (k, tap) = (program_id(0) * 128, program_id(1));
    let mut sum = zeros::<f32>([8, 128]);
    for strip in (0..parts.dim(0).to::<i32>()).step_by(8) {
        sum += parts.load([strip, tap, k], [8, 1, 128]).reshape([8, 128]);
    }
    let (d, of_channel) = (tap % of.deep, tap / of.deep);
    let (i, j) = (of_channel / of.across, of_channel % of.across);
    dw.store([i, j, d, k], sum_axis(sum, 0).to::<T>().reshape([1, 1, 1, 128]));
}
