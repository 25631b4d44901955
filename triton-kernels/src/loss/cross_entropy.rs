//! Losses: cross entropy with the gradient in one launch.

use crate::Result;
use crate::element::FloatElement;
use crate::ids::{Ids, Numbers, rows_of};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// The loss of a row of logits a program, and with `gradient` that of each logit times `scale`, in its place. The row is read once for
/// the sum of exponentials, and once more for the gradient.
#[triton::kernel(T = [f32, f16, bf16], I = [i32, i64], targets = ["sm_80"], num_warps = 8)]
fn cross_entropy_kernel<T: Float, I: Int>(
    logits: TensorMut<T, 2>,
    labels: Tensor<I, 1>,
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
    if ignores && label == ignored.to::<I>() {
        loss.store([row], zeros::<f32>([1]));
        if gradient {
            for j in (0..n).step_by(N) {
                logits.store([row, j], zeros::<T>([1, N]));
            }
        }
        return;
    }
    // A label that is out of range has no loss. It is read before the gradient is written.
    let is_label = label >= 0 && label < n.to::<I>();
    let label = label.to::<i32>();
    let of_label = if is_label { logits.get([row, label]).to::<f32>() } else { f32::NAN };
    let (mut most, mut total) = (full([1, N], f32::MIN), zeros::<f32>([1, N]));
    // What all logits are above the label's: their sum would be rounded at its own size.
    let mut above = zeros::<f32>([1, N]);
    let missing = of_label.to::<T>();
    // Four tiles at a time share the exponential that scales the sum. Differences come first, so that no logit is too large.
    for j in (0..n).step_by(4 * N) {
        let a = logits.load_or([row, j], [1, N], T::NEG_INFINITY).to::<f32>();
        let b = logits.load_or([row, j + N], [1, N], T::NEG_INFINITY).to::<f32>();
        let c = logits.load_or([row, j + 2 * N], [1, N], T::NEG_INFINITY).to::<f32>();
        let d = logits.load_or([row, j + 3 * N], [1, N], T::NEG_INFINITY).to::<f32>();
        let next = maximum(maximum(most, maximum(a, b)), maximum(c, d));
        let (a, b) = (exp2((a - next) * LOG2_E), exp2((b - next) * LOG2_E));
        let (c, d) = (exp2((c - next) * LOG2_E), exp2((d - next) * LOG2_E));
        total = fma(total, exp2((most - next) * LOG2_E), (a + b) + (c + d));
        most = next;
        if smoothing > 0.0 {
            above += logits.load_or([row, j], [1, N], missing).to::<f32>() - of_label;
            above += logits.load_or([row, j + N], [1, N], missing).to::<f32>() - of_label;
            above += logits.load_or([row, j + 2 * N], [1, N], missing).to::<f32>() - of_label;
            above += logits.load_or([row, j + 3 * N], [1, N], missing).to::<f32>() - of_label;
        }
    }
    let row_most = max_axis(most, 1);
    let total = sum_axis(total * exp2((most - row_most.expand_dims(1)) * LOG2_E), 1);
    let sum = log(total);
    let share = smoothing / (n as f32);
    // The loss of a class that is excluded is infinite, whatever the others have of the target.
    let nll = if of_label == f32::NEG_INFINITY {
        sum - of_label
    } else {
        sum + (row_most - of_label) - sum_axis(above, 1) * share
    };
    let lse = row_most + sum;
    loss.store([row], if z > 0.0 { fma(lse * lse, z, nll) } else { nll });
    if gradient {
        let (base, rest) = (row_most.expand_dims(1), (1.0 / total).expand_dims(1));
        let slope = (1.0 + lse.expand_dims(1) * (2.0 * z)) * scale * rest;
        let at_label = if is_label { (1.0 - smoothing) * scale } else { f32::NAN };
        let everywhere = if is_label { share * scale } else { f32::NAN };
        for j in (0..n).step_by(2 * N) {
            for part in unroll(0..2) {
                let j = j + part * N;
                let v = logits.load([row, j], [1, N]).to::<f32>();
                let g = fma(exp2((v - base) * LOG2_E), slope, -everywhere);
                let is = (j + arange(0, N) == label).expand_dims(0);
                logits.store([row, j], select(is, g - at_label, g).to::<T>());
            }
        }
    }
}

/// The same of R rows of at most N classes a program, which are read once and stay in registers.
#[triton::kernel(T = [f32, f16, bf16], I = [i32, i64], targets = ["sm_80"], configs = [
    (R = 64, N = 16, num_warps = 4), (R = 8, N = 128, num_warps = 4),
], tune = [R, N])]
fn cross_entropy_short_kernel<T: Float, I: Int, const R: i32, const N: i32>(
    logits: TensorMut<T, 2>,
    labels: Tensor<I, 1>,
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
    let counts = (label != ignored.to::<I>()) | !ignores;
    let label = rows_of::<I>(label, n);
    let is_label = label >= 0;
    let column = arange(0, N).expand_dims(0);
    let is = column == label.expand_dims(1);
    let logit = logits.load_or([row, 0], [R, N], T::NEG_INFINITY).to::<f32>();
    let of_label = select(is_label, sum_axis(select(is, logit, 0.0), 1), f32::NAN);
    // What all logits are above the label's: their sum would be rounded at its own size.
    let above = if smoothing > 0.0 {
        sum_axis(select(column < n, logit - of_label.expand_dims(1), 0.0), 1)
    } else {
        zeros::<f32>([R])
    };
    let most = maximum(max_axis(logit, 1), f32::MIN);
    let powers = exp2((logit - most.expand_dims(1)) * LOG2_E);
    let total = sum_axis(powers, 1);
    let sum = log(total);
    let share = smoothing / (n as f32);
    // The loss of a class that is excluded is infinite, whatever the others have of the target.
    let nll = select(of_label == f32::NEG_INFINITY, sum - of_label, sum + (most - of_label) - above * share);
    let lse = most + sum;
    let loss_of = if z > 0.0 { fma(lse * lse, z, nll) } else { nll };
    loss.store([row], select(counts, loss_of, 0.0));
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

/// loss\[i\] = log Σⱼ exp(logits\[i, j\]) − logits\[i, labels\[i\]\], as `torch.nn.functional.cross_entropy` with `reduction="none"`. The loss of
/// a label that is not a class is NaN, and so is the gradient of its row.
///
/// With [`gradient_in_place`](CrossEntropy::gradient_in_place) the same launch overwrites the logits with their gradient, softmax(logits) − 1
/// at the label: memory is passed three times for both directions, and twice for rows of up to 128 classes, of which a program has several in
/// registers. The sum of exponentials of longer rows is that of an online softmax (Milakov and Gimelshein, 2018). Sums are added in an order
/// that follows from the shapes: the result is the same each time.
///
/// Logits are subtracted from the greatest one first: losses and gradients are right to 10⁻⁶ whatever the size of the logits, and finite for those of
/// the least number. A NaN or +∞ makes its row NaN; −∞ excludes a class.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::cross_entropy;
///
/// let stream = Device::cpu().stream()?;
/// let mut logits = stream.tensor(&[0.0f32, 0.0, 3f32.ln(), 0.0], [2, 2])?;
/// let (labels, mut loss) = (stream.tensor(&[0, 1], [2])?, stream.tensor_uninit::<f32, _>([2])?);
/// cross_entropy(&mut logits, &labels, &mut loss).gradient_in_place().launch(&stream)?;
/// let (loss, gradient) = (stream.download(&loss)?, stream.download(&logits)?);
/// assert!((loss[0] - 2f32.ln()).abs() < 1e-6 && (loss[1] - 4f32.ln()).abs() < 1e-6);
/// assert!((gradient[0] + 0.5).abs() < 1e-6 && (gradient[2] - 0.75).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `gradient_in_place`.
#[operation(CrossEntropy)]
pub fn cross_entropy<T: FloatElement>(
    call: Call,
    #[axes(.., c)] logits: ViewMut<T, 2>,
    #[axes(..)] labels: Ids,
    #[axes(..)] loss: ViewMut<f32, 1>,
    /// Overwrites the logits with the gradient of the sum of losses. Without it they are read.
    #[flag]
    gradient_in_place: bool,
    /// Multiplies the gradient: by 1 / rows for that of the mean, or by a factor that keeps small gradients of `f16` from 0.
    #[default(1.0)]
    #[check(gradient_scale.is_finite(), "a finite number", "it multiplies the gradient")]
    gradient_scale: f32,
    /// Takes a target that has 1 − s at the label and s / classes everywhere (Szegedy et al., "Rethinking the Inception architecture",
    /// 2016, section 7).
    #[default(0.0)]
    #[check((0.0..=1.0).contains(&label_smoothing), "a number from 0 to 1", "it is the share of the target that all classes have")]
    label_smoothing: f32,
    /// Rows with this label have loss and gradient 0.
    ignore: Option<i32>,
    /// Adds z · (log Σ exp)², which keeps logits from drifting (Chowdhery et al., "PaLM", 2022, section 5).
    #[default(0.0)]
    #[check(z_loss.is_finite() && z_loss >= 0.0, "a finite number, 0 or more", "it is a weight in the loss")]
    z_loss: f32,
) -> Result<()> {
    let [rows, classes] = logits.shape();
    if rows == 0 {
        return Ok(());
    }
    // Of no classes the loss is that of labels out of range.
    let (ignored, ignores) = (ignore.unwrap_or(0), ignore.is_some());
    let numbers = (label_smoothing, z_loss, gradient_scale);
    macro_rules! of_labels {
        ($labels:ident, $I:ty) => {{
            let (s, z, scale) = numbers;
            if classes > SHORT {
                let kernel = cross_entropy_kernel::<T, $I>(
                    logits,
                    $labels,
                    loss,
                    s,
                    z,
                    scale,
                    ignored,
                    ignores,
                    gradient_in_place,
                );
                return call.launch(kernel, rows);
            }
            let kernel = cross_entropy_short_kernel_tuned::<T, $I>(
                logits,
                $labels,
                loss,
                s,
                z,
                scale,
                ignored,
                ignores,
                gradient_in_place,
            );
            call.tuned(kernel, |of| of.N as usize >= classes, |of| rows.div_ceil(of.R as usize))
        }};
    }
    match labels.numbers(call.op, "labels")? {
        Numbers::I32(labels) => of_labels!(labels, i32),
        Numbers::I64(labels) => of_labels!(labels, i64),
    }
}
