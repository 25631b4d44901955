//! Losses: cross entropy with the gradient in one launch.

use super::online::{LOG2_E, SHARE, of_both, online_four};
use crate::Result;
use crate::element::FloatElement;
use crate::ids::{Ids, rows_of};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Four tiles of a row from element j of its line on, which has them.
#[triton::function]
fn four<T: Float, const N: i32>(x: TensorMut<T, 2>, line: i32, j: i32) -> (Tile<T>, Tile<T>, Tile<T>, Tile<T>) {
    let (a, b) = (x.load([line, j], [1, N]), x.load([line, j + N], [1, N]));
    (a, b, x.load([line, j + 2 * N], [1, N]), x.load([line, j + 3 * N], [1, N]))
}

/// The exponentials of four tiles, beside those so far.
#[triton::function]
fn with_four<T: Float, const N: i32>(
    so_far: (Tile<f32>, Tile<f32>),
    four: (Tile<T>, Tile<T>, Tile<T>, Tile<T>),
) -> (Tile<f32>, Tile<f32>) {
    let (a, b, c, d) = four;
    online_four::<N>(so_far, (a.to::<f32>(), b.to::<f32>(), c.to::<f32>(), d.to::<f32>()))
}

/// Of two, which fewer registers are enough for.
#[triton::function]
fn with_two<T: Float, const N: i32>(so_far: (Tile<f32>, Tile<f32>), a: Tile<T>, b: Tile<T>) -> (Tile<f32>, Tile<f32>) {
    let (most, total) = so_far;
    let (a, b) = (a.to::<f32>().reshape([1, N / SHARE, SHARE]), b.to::<f32>().reshape([1, N / SHARE, SHARE]));
    let next = maximum(most, max_axis(maximum(a, b), 2));
    let base = next.expand_dims(2);
    let powers = exp2((a - base) * LOG2_E) + exp2((b - base) * LOG2_E);
    (next, fma(total, exp2((most - next) * LOG2_E), sum_axis(powers, 2)))
}

/// Two tiles of a row from element j of its line on, −∞ behind the last whole vector.
#[triton::function]
fn two<T: Float, const N: i32>(x: TensorMut<T, 2>, line: i32, j: i32, last: i32) -> (Tile<T>, Tile<T>) {
    let at = j + arange(0, N).expand_dims(0);
    let b = x.gather_or((line, at + N), at + N < last, T::NEG_INFINITY);
    (x.gather_or((line, at), at < last, T::NEG_INFINITY), b)
}

/// slope · 2^(log₂ e · (v − base)) − everywhere. Logits are negated first, so that theirs, and not the wider numbers that the sums were made of, are what
/// stays in registers until here.
#[triton::function]
fn slopes<T: Float>(v: Tile<T>, of_row: (Tile<f32>, Tile<f32>, f32)) -> Tile<T> {
    let (base, slope, everywhere) = of_row;
    fma(exp2(((-v).to::<f32>() + base) * (-LOG2_E)), slope, -everywhere).to::<T>()
}

/// Stores the gradient of two tiles, as [`two`] has loaded them.
#[triton::function]
fn set_two<T: Float, const N: i32>(
    x: TensorMut<T, 2>,
    line: i32,
    j: i32,
    last: i32,
    two: (Tile<T>, Tile<T>),
    of_row: (Tile<f32>, Tile<f32>, f32),
) {
    let (at, (a, b)) = (j + arange(0, N).expand_dims(0), two);
    x.scatter((line, at), slopes::<T>(a, of_row), at < last);
    x.scatter((line, at + N), slopes::<T>(b, of_row), at + N < last);
}

/// Stores the gradient of four tiles from element j on.
#[triton::function]
fn set_four<T: Float, const N: i32>(
    x: TensorMut<T, 2>,
    line: i32,
    j: i32,
    four: (Tile<T>, Tile<T>, Tile<T>, Tile<T>),
    of_row: (Tile<f32>, Tile<f32>, f32),
) {
    let (a, b, c, d) = four;
    x.store([line, j], slopes::<T>(a, of_row));
    x.store([line, j + N], slopes::<T>(b, of_row));
    x.store([line, j + 2 * N], slopes::<T>(c, of_row));
    x.store([line, j + 3 * N], slopes::<T>(d, of_row));
}

/// The loss of a row of logits a program, and with `gradient` that of each logit times `scale`, in its place. A row's first 4 · G · N elements are read
/// once, and stay in registers. What is behind them is read once more for the gradient, while L2 has it: programs are of many
/// registers, so that few rows are under way.
///
/// A line has `each` rows of n logits, one after the other, so that rows which begin anywhere are read by vectors, too: whole ones are of
/// tiles, and up to 7 elements before the first and behind the last of them are the row's edge. A vector with elements of two rows is left to the edges of both.
///
/// With `fast_math` exponentials below 2⁻¹²⁶ are 0, and an `exp2` takes one instruction instead of four.
#[triton::kernel(configs = [
    (T = f32, N = 4096, G = 2, num_warps = 16, max_registers = 128, targets = ["sm_90a"]),
    (T = f16, N = 4096, G = 1, num_warps = 16, max_registers = 64, targets = ["sm_90a"]),
    (T = bf16, N = 4096, G = 1, num_warps = 16, max_registers = 64, targets = ["sm_90a"]),
    (T = f32, N = 1024, G = 0, num_warps = 8, targets = ["sm_80"], general = true),
    (T = f16, N = 1024, G = 0, num_warps = 8, targets = ["sm_80"], general = true),
    (T = bf16, N = 1024, G = 0, num_warps = 8, targets = ["sm_80"], general = true),
], fast_math = true, tune = [N, G])]
fn cross_entropy_kernel<T: Float, const N: i32, const G: i32>(
    logits: TensorMut<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] loss: TensorMut<f32, 1>,
    #[no_specialize] n: i32,
    #[no_specialize] each: i32,
    smoothing: f32,
    z: f32,
    scale: f32,
    #[no_specialize] ignored: i32,
    ignores: bool,
    gradient: bool,
) {
    let row = program_id(0);
    let (line, first) = (row / each, row % each * n);
    let start = (first + 7) / 8 * 8;
    let end = first + n;
    let last = end / 8 * 8;
    let at = arange(0, N).expand_dims(0);
    let none = zeros::<T>([1, N]);
    let (a0, b0, c0, d0) = if G > 0 { four::<T, N>(logits, line, start) } else { (none, none, none, none) };
    let (a1, b1, c1, d1) = if G == 2 { four::<T, N>(logits, line, start + 4 * N) } else { (none, none, none, none) };
    // Up to 7 elements of the row before its whole vectors, and behind them.
    let e = arange(0, 16).expand_dims(0);
    let edge_at = select(e < 8, first + e, last + e - 8);
    let is_edge = select(e < 8, edge_at < start, edge_at < end);
    let edge = logits.gather_or((line, edge_at), is_edge, T::NEG_INFINITY);
    let rest = start + G * 4 * N;
    let (mut next_a, mut next_b) = if G == 1 { two::<T, N>(logits, line, rest, last) } else { (none, none) };
    let label = narrow.get([row]).to::<i64>() + wide.get([row]);
    if ignores && label == ignored.to::<i64>() {
        loss.store([row], zeros::<f32>([1]));
        if gradient {
            for j in (start..last).step_by(N) {
                logits.scatter((line, j + at), zeros::<T>([1, N]), j + at < last);
            }
            logits.scatter((line, edge_at), zeros::<T>([1, 16]), is_edge);
        }
        return;
    }
    // A label that is out of range has no loss. It is read before the gradient is written.
    let is_label = label >= 0 && label < n.to::<i64>();
    let label = first + label.to::<i32>();
    let of_label = if is_label { logits.get([line, label]).to::<f32>() } else { f32::NAN };
    let (mut most, mut total) = (full([1, N / SHARE], f32::MIN), zeros::<f32>([1, N / SHARE]));
    // What all logits are above the label's: their sum would be rounded at its own size.
    let mut above = zeros::<f32>([1, N]);
    if G != 1 {
        for j in (rest..last).step_by(4 * N) {
            let (a, b) = two::<T, N>(logits, line, j, last);
            let (c, d) = two::<T, N>(logits, line, j + 2 * N, last);
            (most, total) = with_four::<T, N>((most, total), (a, b, c, d));
        }
    }
    if G == 1 {
        (most, total) = with_two::<T, N>(with_two::<T, N>((most, total), a0, b0), c0, d0);
    }
    if G == 2 {
        (most, total) = with_four::<T, N>((most, total), (a0, b0, c0, d0));
        (most, total) = with_four::<T, N>((most, total), (a1, b1, c1, d1));
    }
    if G == 1 {
        // The next tiles are loaded while these are computed.
        for j in (rest..last).step_by(2 * N) {
            let (a, b) = (next_a, next_b);
            (next_a, next_b) = two::<T, N>(logits, line, j + 2 * N, last);
            (most, total) = with_two::<T, N>((most, total), a, b);
        }
    }
    if smoothing > 0.0 {
        // The whole row again: these sums would take the registers that it is kept in.
        for j in (start..last).step_by(N) {
            let v = logits.gather_or((line, j + at), j + at < last, of_label.to::<T>());
            above += v.to::<f32>() - of_label;
        }
    }
    let row_most = maximum(max_axis(most, 1), max_axis(edge.to::<f32>(), 1));
    let base = row_most.expand_dims(1);
    let of_edge = exp2((edge.to::<f32>() - base) * LOG2_E);
    let total = sum_axis(total * exp2((most - base) * LOG2_E), 1) + sum_axis(of_edge, 1);
    let mut above = sum_axis(above, 1);
    if smoothing > 0.0 {
        above += sum_axis(select(is_edge, edge.to::<f32>() - of_label, 0.0), 1);
    }
    let sum = log(total);
    let share = smoothing / (n as f32);
    // The loss of a class that is excluded is infinite, whatever the others have of the target.
    let nll = if of_label == f32::NEG_INFINITY { sum - of_label } else { sum + (row_most - of_label) - above * share };
    let lse = row_most + sum;
    loss.store([row], if z > 0.0 { fma(lse * lse, z, nll) } else { nll });
    if gradient {
        let slope = (1.0 + lse.expand_dims(1) * (2.0 * z)) * scale * (1.0 / total).expand_dims(1);
        let at_label = if is_label { (1.0 - smoothing) * scale } else { f32::NAN };
        let everywhere = if is_label { share * scale } else { f32::NAN };
        let of_row = (base, slope, everywhere);
        if G == 1 {
            (next_a, next_b) = two::<T, N>(logits, line, rest, last);
        } else {
            // What L2 may have no more later comes first.
            for j in (rest..last).step_by(2 * N) {
                let (a, b) = two::<T, N>(logits, line, j, last);
                set_two::<T, N>(logits, line, j, last, (a, b), of_row);
            }
        }
        if G > 0 {
            set_four::<T, N>(logits, line, start, (a0, b0, c0, d0), of_row);
        }
        if G == 2 {
            set_four::<T, N>(logits, line, start + 4 * N, (a1, b1, c1, d1), of_row);
        }
        if G == 1 {
            for j in (rest..last).step_by(2 * N) {
                let (a, b) = (next_a, next_b);
                (next_a, next_b) = two::<T, N>(logits, line, j + 2 * N, last);
                set_two::<T, N>(logits, line, j, last, (a, b), of_row);
            }
        }
        logits.scatter((line, edge_at), slopes::<T>(edge, of_row), is_edge);
        if is_label {
            let power = exp2((of_label - base) * LOG2_E);
            logits.store([line, label], (fma(power, slope, -everywhere) - at_label).to::<T>());
        }
    }
}

/// The same of R rows of at most N classes a program, which are read once and stay in registers.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], configs = [
    (R = 64, N = 16, num_warps = 4), (R = 8, N = 128, num_warps = 4),
], tune = [R, N])]
fn cross_entropy_short_kernel<T: Float, const R: i32, const N: i32>(
    logits: TensorMut<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] loss: TensorMut<f32, 1>,
    smoothing: f32,
    z: f32,
    scale: f32,
    #[no_specialize] ignored: i32,
    ignores: bool,
    gradient: bool,
) {
    let (row, n) = (program_id(0) * R, logits.dim(1).to::<i32>());
    let label = narrow.load([row], [R]).to::<i64>() + wide.load([row], [R]);
    // A label that is out of range has no loss.
    let counts = (label != ignored.to::<i64>()) | !ignores;
    let label = rows_of::<i64>(label, n);
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

/// The most classes of a row of which a program has several.
const SHORT: usize = 128;

/// The most elements of a line of rows: an index behind its end has 32 bits.
const LINE: usize = i32::MAX as usize - (1 << 16);

/// loss\[i\] = log Σⱼ exp(logits\[i, j\]) − logits\[i, labels\[i\]\], as `torch.nn.functional.cross_entropy` with `reduction="none"`. The loss of
/// a label that is not a class is NaN, and so is the gradient of its row.
///
/// With [`gradient_in_place`](CrossEntropy::gradient_in_place) the same launch overwrites the logits with their gradient, softmax(logits) − 1
/// at the label: memory is passed two to three times for both directions, and twice for rows of up to 128 classes, of which a program has several in
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
    let (narrow, wide) = of_both(labels.numbers(call.op, "labels")?, &call);
    // Of no classes the loss is that of labels out of range.
    let (ignored, ignores) = (ignore.unwrap_or(0), ignore.is_some());
    let (s, z, scale) = (label_smoothing, z_loss, gradient_scale);
    if classes <= SHORT {
        let kernel = cross_entropy_short_kernel_tuned::<T>(
            logits,
            narrow,
            wide,
            loss,
            s,
            z,
            scale,
            ignored,
            ignores,
            gradient_in_place,
        );
        return call.tuned(kernel, |of| of.N as usize >= classes, |of| rows.div_ceil(of.R as usize));
    }
    // Rows that follow each other and begin anywhere.
    let in_a_line = logits.strides() == [classes as isize, 1] && !(classes * size_of::<T>()).is_multiple_of(16);
    let each = if in_a_line && rows.saturating_mul(classes) <= LINE { rows } else { 1 };
    let logits = if each == 1 { logits } else { logits.merge(0)?.split(0, [1, rows * classes])? };
    let (n, lines) = (i32::try_from(classes).unwrap_or(i32::MAX), each as i32);
    let kernel = cross_entropy_kernel_tuned::<T>(
        logits,
        narrow,
        wide,
        loss,
        n,
        lines,
        s,
        z,
        scale,
        ignored,
        ignores,
        gradient_in_place,
    );
    // What is kept is within the row, wherever that begins.
    let fits = |of: &CrossEntropyKernelChoice| of.G == 0 || classes >= (4 * of.G * of.N + 16) as usize;
    call.tuned(kernel, fits, |_| rows)
}
