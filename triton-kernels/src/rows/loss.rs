//! Losses: cross entropy with the gradient in one launch.

use crate::Result;
use crate::element::{FloatElement, operation};
use crate::error::{extent, value};
use crate::pool::choose;
use triton::prelude::*;

/// The loss of a row of logits a program, and with `gradient` that of each logit times `scale`, in its place. The row is read once for
/// the sum of exponentials, and once more for the gradient.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn cross_entropy_kernel<T: Float>(
    logits: TensorMut<T, 2>,
    labels: Tensor<i32, 1>,
    loss: TensorMut<f32, 1>,
    smoothing: f32,
    z: f32,
    scale: f32,
    #[no_specialize] ignored: i32,
    ignores: bool,
    gradient: bool,
) {
    const N: i32 = 1024;
    // Exponentials are powers of 2, so that each takes an `fma` and one instruction more.
    const LOG2_E: f32 = 1.442695;
    let (row, n) = (program_id(0), logits.dim(1).to::<i32>());
    let label = labels.get([row]);
    if ignores && label == ignored {
        loss.store([row], zeros::<f32>([1]));
        if gradient {
            for j in (0..n).step_by(N) {
                logits.store([row, j], zeros::<T>([1, N]));
            }
        }
        return;
    }
    // A label that is out of range has no loss. It is read before the gradient is written.
    let of_label = if label >= 0 && label < n { logits.get([row, label]).to::<f32>() } else { f32::NAN };
    let (mut most, mut total) = (full([1, N], f32::MIN), zeros::<f32>([1, N]));
    let mut plain = zeros::<f32>([1, N]);
    // Four tiles at a time share the exponential that scales the sum.
    for j in (0..n).step_by(4 * N) {
        let a = logits.load_or([row, j], [1, N], T::NEG_INFINITY).to::<f32>() * LOG2_E;
        let b = logits.load_or([row, j + N], [1, N], T::NEG_INFINITY).to::<f32>() * LOG2_E;
        let c = logits.load_or([row, j + 2 * N], [1, N], T::NEG_INFINITY).to::<f32>() * LOG2_E;
        let d = logits.load_or([row, j + 3 * N], [1, N], T::NEG_INFINITY).to::<f32>() * LOG2_E;
        let next = maximum(maximum(most, maximum(a, b)), maximum(c, d));
        let powers = (exp2(a - next) + exp2(b - next)) + (exp2(c - next) + exp2(d - next));
        total = fma(total, exp2(most - next), powers);
        most = next;
        if smoothing > 0.0 {
            plain += logits.load([row, j], [1, N]).to::<f32>() + logits.load([row, j + N], [1, N]).to::<f32>();
            plain += logits.load([row, j + 2 * N], [1, N]).to::<f32>();
            plain += logits.load([row, j + 3 * N], [1, N]).to::<f32>();
        }
    }
    let row_most = max_axis(most, 1);
    let total = sum_axis(total * exp2(most - row_most.expand_dims(1)), 1);
    let lse = row_most * 0.6931472 + log(total);
    let share = smoothing / (n as f32);
    let nll = lse - of_label * (1.0 - smoothing) - sum_axis(plain, 1) * share;
    loss.store([row], fma(lse * lse, z, nll));
    if gradient {
        // The logarithm to base 2 of the sum is that of the greatest term, which is exact, and of the rest.
        let (base, rest) = (row_most.expand_dims(1), (1.0 / total).expand_dims(1));
        let slope = (1.0 + lse.expand_dims(1) * (2.0 * z)) * scale * rest;
        let is_label = label >= 0 && label < n;
        let at_label = if is_label { (1.0 - smoothing) * scale } else { f32::NAN };
        let everywhere = if is_label { share * scale } else { f32::NAN };
        for j in (0..n).step_by(2 * N) {
            for part in unroll(0..2) {
                let j = j + part * N;
                let v = logits.load([row, j], [1, N]).to::<f32>() * LOG2_E;
                let g = fma(exp2(v - base), slope, -everywhere);
                let is = (j + arange(0, N) == label).expand_dims(0);
                logits.store([row, j], select(is, g - at_label, g).to::<T>());
            }
        }
    }
}

/// The same of R rows of at most N classes a program, which are read once and stay in registers.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], configs = [
    (R = 64, N = 16, num_warps = 4), (R = 8, N = 128, num_warps = 4),
], tune = [R, N])]
fn cross_entropy_short_kernel<T: Float, const R: i32, const N: i32>(
    logits: TensorMut<T, 2>,
    labels: Tensor<i32, 1>,
    loss: TensorMut<f32, 1>,
    smoothing: f32,
    z: f32,
    scale: f32,
    #[no_specialize] ignored: i32,
    ignores: bool,
    gradient: bool,
) {
    const LOG2_E: f32 = 1.442695;
    let (row, n) = (program_id(0) * R, logits.dim(1).to::<i32>());
    let label = labels.load([row], [R]);
    // A label that is out of range has no loss.
    let is_label = (label >= 0) & (label < n);
    let counts = (label != ignored) | !ignores;
    let column = arange(0, N).expand_dims(0);
    let is = column == label.expand_dims(1);
    let logit = logits.load_or([row, 0], [R, N], T::NEG_INFINITY).to::<f32>();
    let of_label = select(is_label, sum_axis(select(is, logit, 0.0), 1), f32::NAN);
    let plain = if smoothing > 0.0 { sum_axis(select(column < n, logit, 0.0), 1) } else { zeros::<f32>([R]) };
    let v = logit * LOG2_E;
    let most = maximum(max_axis(v, 1), f32::MIN);
    let powers = exp2(v - most.expand_dims(1));
    let total = sum_axis(powers, 1);
    let lse = most * 0.6931472 + log(total);
    let share = smoothing / (n as f32);
    let nll = lse - of_label * (1.0 - smoothing) - plain * share;
    loss.store([row], select(counts, fma(lse * lse, z, nll), 0.0));
    if gradient {
        let slope = (1.0 + lse * (2.0 * z)) * scale * (1.0 / total);
        let at_label = select(is_label, (1.0 - smoothing) * scale, f32::NAN).expand_dims(1);
        let everywhere = select(is_label, share * scale, f32::NAN).expand_dims(1);
        let g = fma(powers, slope.expand_dims(1), -everywhere);
        let g = select(is, g - at_label, g);
        logits.store([row, 0], select(counts.expand_dims(1), g, 0.0).to::<T>());
    }
}

/// The most classes of a row that stays in registers.
const SHORT: usize = 128;

/// A cross entropy; made by [`cross_entropy`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct CrossEntropy<'a, T> {
    logits: ViewMut<'a, T, 2>,
    labels: View<'a, i32, 1>,
    loss: ViewMut<'a, f32, 1>,
    smoothing: f32,
    z: f32,
    scale: f32,
    ignored: Option<i32>,
    gradient: bool,
}

/// loss\[i\] = log Σⱼ exp(logits\[i, j\]) − logits\[i, labels\[i\]\] of logits `[rows, classes]`, labels `[rows]` and losses `[rows]`. The loss of
/// a label that is not a class is NaN, and so is the gradient of its row.
///
/// With [`gradient_in_place`](CrossEntropy::gradient_in_place) the same launch overwrites the logits with their gradient, softmax(logits) − 1
/// at the label: memory is passed three times for both directions, and twice for rows of up to 128 classes, of which a program has several in
/// registers. The sum of exponentials of longer rows is that of an online softmax (Milakov and Gimelshein, 2018). Sums are added in an order
/// that follows from the shapes: the result is the same each time.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::cross_entropy;
///
/// let stream = Device::cpu().stream()?;
/// let mut logits = stream.upload(&[0.0f32, 0.0, 3f32.ln(), 0.0])?;
/// let (labels, mut loss) = (stream.upload(&[0, 1])?, stream.uninit::<f32>(2)?);
/// cross_entropy(logits.view_mut([2, 2])?, labels.view([2])?, loss.view_mut([2])?).gradient_in_place().launch(&stream)?;
/// let (loss, gradient) = (stream.download(&loss)?, stream.download(&logits)?);
/// assert!((loss[0] - 2f32.ln()).abs() < 1e-6 && (loss[1] - 4f32.ln()).abs() < 1e-6);
/// assert!((gradient[0] + 0.5).abs() < 1e-6 && (gradient[2] - 0.75).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn cross_entropy<'a, T: FloatElement>(
    logits: ViewMut<'a, T, 2>,
    labels: View<'a, i32, 1>,
    loss: ViewMut<'a, f32, 1>,
) -> CrossEntropy<'a, T> {
    let (smoothing, z, scale) = (0.0, 0.0, 1.0);
    CrossEntropy { logits, labels, loss, smoothing, z, scale, ignored: None, gradient: false }
}

impl<'a, T: FloatElement> CrossEntropy<'a, T> {
    /// Overwrites the logits with the gradient of the sum of losses. Without it they are read.
    pub fn gradient_in_place(self) -> CrossEntropy<'a, T> {
        CrossEntropy { gradient: true, ..self }
    }

    /// Multiplies the gradient: by 1 / rows for that of the mean, or by a factor that keeps small gradients of `f16` from 0.
    pub fn gradient_scale(self, scale: f32) -> CrossEntropy<'a, T> {
        CrossEntropy { scale, ..self }
    }

    /// Takes a target that has 1 − s at the label and s / classes everywhere (Szegedy et al., "Rethinking the Inception architecture",
    /// 2016, section 7).
    pub fn label_smoothing(self, s: f32) -> CrossEntropy<'a, T> {
        CrossEntropy { smoothing: s, ..self }
    }

    /// Rows with this label have loss and gradient 0.
    pub fn ignore(self, label: i32) -> CrossEntropy<'a, T> {
        CrossEntropy { ignored: Some(label), ..self }
    }

    /// Adds z · (log Σ exp)², which keeps logits from drifting (Chowdhery et al., "PaLM", 2022, section 5).
    pub fn z_loss(self, z: f32) -> CrossEntropy<'a, T> {
        CrossEntropy { z, ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if there is not a label and a loss for each row, [`Error::Value`](crate::Error::Value) for a
    /// smoothing that is not from 0 to 1, or numbers that are not finite; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Entropy>(self, stream)
    }
}

operation!(Entropy: CrossEntropy by enqueue);

fn enqueue<T: FloatElement>(of: CrossEntropy<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: CrossEntropyKernelInstance<T> + CrossEntropyShortKernelPool<T>,
{
    let op = "cross_entropy";
    let CrossEntropy { logits, labels, loss, smoothing, z, scale, ignored, gradient } = of;
    let [rows, classes] = logits.shape();
    let of_row = "there is one for each row of the logits";
    extent(op, "labels", 0, [labels.shape()[0], rows], of_row)?;
    extent(op, "loss", 0, [loss.shape()[0], rows], of_row)?;
    let fix = "it is the share of the target that all classes have";
    value(op, "label_smoothing", smoothing, (0.0..=1.0).contains(&smoothing), "a number from 0 to 1", fix)?;
    value(op, "z_loss", z, z.is_finite() && z >= 0.0, "a finite number, 0 or more", "it is a weight in the loss")?;
    value(op, "gradient_scale", scale, scale.is_finite(), "a finite number", "it multiplies the gradient")?;
    if rows == 0 {
        return Ok(());
    }
    // Of no classes the loss is that of labels out of range.
    let (ignored, ignores) = (ignored.unwrap_or(0), ignored.is_some());
    if classes > SHORT {
        let launch = cross_entropy_kernel::<T>(logits, labels, loss, smoothing, z, scale, ignored, ignores, gradient);
        return Ok(launch.launch(stream, rows)?);
    }
    let tuned =
        cross_entropy_short_kernel_tuned::<T>(logits, labels, loss, smoothing, z, scale, ignored, ignores, gradient);
    let tuned = choose(op, tuned, None, stream, |of| of.N as usize >= classes)?;
    Ok(tuned.launch(stream, |of| rows.div_ceil(of.R as usize))?)
}

/// The operation in `f64`.
#[cfg(feature = "check")]
pub mod reference {
    /// Loss of a row, and the gradient of its logits.
    pub fn cross_entropy(x: &[f64], label: usize, smoothing: f64, z: f64) -> (f64, Vec<f64>) {
        let n = x.len() as f64;
        let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lse = most + x.iter().map(|x| (x - most).exp()).sum::<f64>().ln();
        let mean = x.iter().sum::<f64>() / n;
        let loss = lse - (1.0 - smoothing) * x[label] - smoothing * mean + z * lse * lse;
        let of = |(j, x): (usize, &f64)| {
            let target = smoothing / n + if j == label { 1.0 - smoothing } else { 0.0 };
            (x - lse).exp() * (1.0 + 2.0 * z * lse) - target
        };
        (loss, x.iter().enumerate().map(of).collect())
    }
}
