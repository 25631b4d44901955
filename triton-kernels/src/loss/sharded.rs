//! Cross entropy over classes that are split among ranks: what each rank says of its shard, and what follows from the parts of all.

use super::online::{LOG2_E, SHARE, of_both, online_four};
use crate::Result;
use crate::element::FloatElement;
use crate::ids::Ids;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Of a row a program: the greatest logit, the sum of exponentials relative to it, and the logit of the label. The row is read once. Of the two
/// views of labels one has no elements, and reads 0. Logits alone decide about vectors: rows of parts are of 12 bytes.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn part_kernel<T: Float>(
    logits: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] parts: TensorMut<f32, 2>,
    #[no_specialize] first: i64,
) {
    const N: i32 = 1024;
    let (row, n) = (program_id(0), logits.dim(1).to::<i32>());
    let label = narrow.get([row]).to::<i64>() + wide.get([row]);
    let own = maximum(label, first) - first;
    let is_here = label >= first && own < n.to::<i64>();
    let of_label = if is_here { logits.get([row, own.to::<i32>()]).to::<f32>() } else { f32::NAN };
    let (mut most, mut total) = (full([1, N / SHARE], f32::MIN), zeros::<f32>([1, N / SHARE]));
    for j in (0..n).step_by(4 * N) {
        let a = logits.load_or([row, j], [1, N], T::NEG_INFINITY).to::<f32>();
        let b = logits.load_or([row, j + N], [1, N], T::NEG_INFINITY).to::<f32>();
        let c = logits.load_or([row, j + 2 * N], [1, N], T::NEG_INFINITY).to::<f32>();
        let d = logits.load_or([row, j + 3 * N], [1, N], T::NEG_INFINITY).to::<f32>();
        (most, total) = online_four::<1024>((most, total), (a, b, c, d));
    }
    let row_most = max_axis(most, 1);
    let total = sum_axis(total * exp2((most - row_most.expand_dims(1)) * LOG2_E), 1);
    parts.store([row, 0], row_most.expand_dims(1));
    parts.store([row, 1], total.expand_dims(1));
    parts.store([row, 2], full([1, 1], of_label));
}

/// The loss of a row a program, of the parts of all ranks, and with `gradient` that of each logit of the shard times `scale`, in its place.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8, warnings = false)]
fn of_parts_kernel<T: Float>(
    #[no_specialize] parts: Tensor<f32, 3>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    logits: TensorMut<T, 2>,
    #[no_specialize] loss: TensorMut<f32, 1>,
    scale: f32,
    #[no_specialize] first: i64,
    #[no_specialize] ignored: i32,
    ignores: bool,
    gradient: bool,
) {
    const N: i32 = 1024;
    // Ranks at a time.
    const R: i32 = 32;
    let (row, n) = (program_id(0), logits.dim(1).to::<i32>());
    let label = narrow.get([row]).to::<i64>() + wide.get([row]);
    if ignores && label == ignored.to::<i64>() {
        loss.store([row], zeros::<f32>([1]));
        if gradient {
            for j in (0..n).step_by(N) {
                logits.store([row, j], zeros::<T>([1, N]));
            }
        }
        return;
    }
    let (mut most, mut total) = (full([R, 1, 1], f32::MIN), zeros::<f32>([R, 1, 1]));
    // The greater one of a number and a NaN is the number: that of the rank that has the label.
    let mut of_label = full([R, 1, 1], f32::NAN);
    for k in (0..parts.dim(0).to::<i32>()).step_by(R) {
        let part_most = parts.load_or([k, row, 0], [R, 1, 1], f32::MIN);
        let next = maximum(most, part_most);
        let sum = parts.load([k, row, 1], [R, 1, 1]) * exp2((part_most - next) * LOG2_E);
        total = fma(total, exp2((most - next) * LOG2_E), sum);
        of_label = maximum(of_label, parts.load_or([k, row, 2], [R, 1, 1], f32::NAN));
        most = next;
    }
    let (most, total) = (most.reshape([1, R]), total.reshape([1, R]));
    let row_most = max_axis(most, 1);
    let total = sum_axis(total * exp2((most - row_most.expand_dims(1)) * LOG2_E), 1);
    let of_label = max_axis(of_label.reshape([1, R]), 1);
    loss.store([row], log(total) + (row_most - of_label));
    if gradient {
        let own = maximum(label, first) - first;
        let column = if label >= first && own < n.to::<i64>() { own.to::<i32>() } else { -1 };
        // A label that no rank has makes the row NaN.
        let slope = select(of_label == of_label, scale / total, f32::NAN).expand_dims(1);
        let base = row_most.expand_dims(1);
        for j in (0..n).step_by(2 * N) {
            for part in unroll(0..2) {
                let j = j + part * N;
                let v = logits.load([row, j], [1, N]).to::<f32>();
                let g = exp2((v - base) * LOG2_E) * slope;
                let is = (j + arange(0, N) == column).expand_dims(0);
                logits.store([row, j], select(is, g - scale, g).to::<T>());
            }
        }
    }
}

/// parts\[i\] = (m, s, t) of row i of a shard of the logits: the greatest logit m, the sum s = Σⱼ exp(logits\[i, j\] − m), and the logit t of the label.
/// The program gathers the parts of all ranks, and [`cross_entropy_of_parts`] computes loss and gradient from them: a row takes three numbers of a rank
/// instead of its logits (Shoeybi et al., "Megatron-LM", 2019, section 3).
///
/// Labels count the classes of the whole row, and the same ones go to each rank; [`first`](CrossEntropyPart::first) is the class of column 0. Shards
/// may have any number of classes, none too. Of a vocabulary that is padded, pass the [narrowed](View::narrow) logits. Sums are added in an order
/// that follows from the shapes: the result is the same each time.
///
/// Where the label is in another shard, or is not a class, t is NaN. Of a row without a logit above −∞, m is `f32::MIN` and s is 0. A NaN or +∞ makes s NaN.
/// A NaN reaches the part of its row alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::cross_entropy_part;
///
/// let stream = Device::cpu().stream()?;
/// // Classes 4 and 5 of two rows, whose labels are 5 and 0.
/// let (logits, labels) = (stream.tensor(&[1.0f32, 1.0, 2.0, -900.0], [2, 2])?, stream.tensor(&[5, 0], [2])?);
/// let mut parts = stream.tensor_uninit::<f32, _>([2, 3])?;
/// cross_entropy_part(&logits, &labels, &mut parts).first(4).launch(&stream)?;
/// let parts = stream.download(&parts)?;
/// assert_eq!(parts[..5], [1.0, 2.0, 1.0, 2.0, 1.0]);
/// assert!(parts[5].is_nan());
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: [`gradient_in_place`](CrossEntropyOfParts::gradient_in_place) of `cross_entropy_of_parts`.
#[operation(CrossEntropyPart)]
pub fn cross_entropy_part<T: FloatElement>(
    call: Call,
    #[axes(.., c)] logits: View<T, 2>,
    #[axes(..)] labels: Ids,
    #[axes(.., 3)] parts: ViewMut<f32, 2>,
    /// The class of column 0.
    #[default(0)]
    #[check(i64::try_from(first).is_ok(), "less than 2⁶³", "it is compared with labels, which are of 64 bits")]
    first: usize,
) -> Result<()> {
    let [rows, _] = logits.shape();
    if rows == 0 {
        return Ok(());
    }
    // Of no classes there is a part, too.
    let (narrow, wide) = of_both(labels.numbers(call.op, "labels")?, &call);
    call.launch(part_kernel::<T>(logits, narrow, wide, parts, first as i64), rows)
}

/// loss\[i\] = log Σⱼ exp(logits\[i, j\]) − logits\[i, labels\[i\]\] over the classes of all ranks, of their [parts](cross_entropy_part), as
/// [`cross_entropy`](super::cross_entropy()) of the whole row. The parts are one array \[ranks, .., 3\] in the order of ranks, and the same one on each rank, which
/// then has the same bits of the loss (Shoeybi et al., "Megatron-LM", 2019, section 3).
///
/// With [`gradient_in_place`](CrossEntropyOfParts::gradient_in_place) the same launch overwrites this rank's shard of the logits with its gradient,
/// softmax(logits) − 1 at the label, if the label is in the shard. Without it the logits are not read. The gradient needs no communication.
///
/// The loss of a label that no rank has is NaN, and so is the gradient of its row on each rank. Values at the edge are those of `cross_entropy`: a NaN
/// or +∞ of any rank makes its row NaN on all of them, and −∞ excludes a class.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::{cross_entropy_of_parts, cross_entropy_part};
///
/// let stream = Device::cpu().stream()?;
/// // A row of the classes 0, 1 and 2, of which rank 0 has one. The label is class 2.
/// let (mut a, mut b) = (stream.tensor(&[0.0f32], [1, 1])?, stream.tensor(&[0.0f32, 2f32.ln()], [1, 2])?);
/// let (labels, mut loss) = (stream.tensor(&[2], [1])?, stream.tensor_uninit::<f32, _>([1])?);
/// // Two ranks gather this.
/// let mut parts = stream.tensor_uninit::<f32, _>([2, 1, 3])?;
/// cross_entropy_part(&a, &labels, parts.as_view_mut().select(0, 0)?).launch(&stream)?;
/// cross_entropy_part(&b, &labels, parts.as_view_mut().select(0, 1)?).first(1).launch(&stream)?;
/// for (first, shard, gradient) in [(0, &mut a, vec![0.25]), (1, &mut b, vec![0.25, -0.5])] {
///     cross_entropy_of_parts(&parts, &labels, &mut *shard, &mut loss).first(first).gradient_in_place().launch(&stream)?;
///     assert!((stream.download(&loss)?[0] - 2f32.ln()).abs() < 1e-6);
///     let found = stream.download(&*shard)?;
///     assert!(found.iter().zip(&gradient).all(|(x, y): (&f32, &f32)| (x - y).abs() < 1e-6));
/// }
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `gradient_in_place`.
#[operation(CrossEntropyOfParts)]
pub fn cross_entropy_of_parts<T: FloatElement>(
    call: Call,
    #[axes(r, .., 3)] parts: View<f32, 3>,
    #[axes(..)] labels: Ids,
    #[axes(.., c)] logits: ViewMut<T, 2>,
    #[axes(..)] loss: ViewMut<f32, 1>,
    /// The class of column 0 of this rank's logits.
    #[default(0)]
    #[check(i64::try_from(first).is_ok(), "less than 2⁶³", "it is compared with labels, which are of 64 bits")]
    first: usize,
    /// Overwrites the logits with the gradient of the sum of losses.
    #[flag]
    gradient_in_place: bool,
    /// Multiplies the gradient: by 1 / rows for that of the mean, or by a factor that keeps small gradients of `f16` from 0.
    #[default(1.0)]
    #[check(gradient_scale.is_finite(), "a finite number", "it multiplies the gradient")]
    gradient_scale: f32,
    /// Rows with this label have loss and gradient 0.
    ignore: Option<i32>,
) -> Result<()> {
    let [rows, _] = logits.shape();
    if rows == 0 {
        return Ok(());
    }
    let (narrow, wide) = of_both(labels.numbers(call.op, "labels")?, &call);
    let (ignored, ignores) = (ignore.unwrap_or(0), ignore.is_some());
    let kernel = of_parts_kernel::<T>(
        parts,
        narrow,
        wide,
        logits,
        loss,
        gradient_scale,
        first as i64,
        ignored,
        ignores,
        gradient_in_place,
    );
    call.launch(kernel, rows)
}
