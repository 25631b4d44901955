//! The step of an online softmax (Milakov and Gimelshein, 2018) that losses share, and what their kernels are passed labels by.

use crate::ids::Numbers;
use crate::operation::Call;
use triton::prelude::*;

/// Exponentials are powers of 2, so that each takes an `fma` and one instruction more.
#[triton::constant]
#[expect(clippy::approx_constant, reason = "a kernel has no other")]
pub(super) const LOG2_E: f32 = 1.442695;

/// Elements of a row that share a maximum and a sum: a thread's, of each tile.
#[triton::constant]
pub(super) const SHARE: i32 = 8;

/// The greatest elements so far and sums of exponentials relative to them, of (most, total) and of four tiles of N elements: a number for each
/// [`SHARE`] neighbours, so that a thread has few of them, and scales few. Differences come first, so that no logit is too large.
#[triton::function]
pub(super) fn online_four<const N: i32>(
    so_far: (Tile<f32>, Tile<f32>),
    four: (Tile<f32>, Tile<f32>, Tile<f32>, Tile<f32>),
) -> (Tile<f32>, Tile<f32>) {
    let ((most, total), (a, b, c, d)) = (so_far, four);
    let greatest = maximum(maximum(a, b), maximum(c, d)).reshape([1, N / SHARE, SHARE]);
    let next = maximum(most, max_axis(greatest, 2));
    let base = next.expand_dims(2);
    let (a, b) = (a.reshape([1, N / SHARE, SHARE]), b.reshape([1, N / SHARE, SHARE]));
    let (c, d) = (c.reshape([1, N / SHARE, SHARE]), d.reshape([1, N / SHARE, SHARE]));
    let (a, b) = (exp2((a - base) * LOG2_E), exp2((b - base) * LOG2_E));
    let (c, d) = (exp2((c - base) * LOG2_E), exp2((d - base) * LOG2_E));
    (next, fma(total, exp2((most - next) * LOG2_E), sum_axis((a + b) + (c + d), 2)))
}

/// Labels for kernels that take both widths: one of the views has no elements, and reads 0.
pub(super) fn of_both<'a>(labels: Numbers<'a>, call: &Call<'a>) -> (View<'a, i32, 1>, View<'a, i64, 1>) {
    match labels {
        Numbers::I32(labels) => (labels, View::none(call.stream.device())),
        Numbers::I64(labels) => (View::none(call.stream.device()), labels),
    }
}
