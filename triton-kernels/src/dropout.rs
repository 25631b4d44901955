//! Dropout.

use crate::Result;
use crate::element::FloatElement;
use crate::flat::{Axes, axes, corner, fits, programs};
use crate::functions::random_words;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// y = x · `scale` where the 16 random bits of an element are at least `below`, else 0; a row has `counters` of eight elements each.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 4, general = true), (R = 16, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn dropout_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    #[no_specialize] seed: u64,
    #[no_specialize] offset: u64,
    #[no_specialize] counters: u64,
    #[no_specialize] below: u32,
    scale: f32,
) {
    let (i, j) = corner::<R, N>(x.dim(1).to::<i32>());
    let rows = (i + arange(0, R)).to::<u64>() * counters;
    let counter = rows.expand_dims(1) + (j / 8 + arange(0, N / 8)).to::<u64>().expand_dims(0) + offset;
    let (a, b, c, d) = random_words(seed, counter);
    // Eight neighbours have the four words of one counter, the lower half of each first.
    let words = join(join(a, c), join(b, d)).reshape([R, N / 2]);
    let bits = interleave(words & 65535u32, words >> 16);
    let v = x.load([i, j], [R, N]).to::<f32>();
    y.store([i, j], select(bits >= below, v * scale, 0.0).to::<T>());
}

/// y = x / (1 − p), or 0 with probability p, for each element (Srivastava et al., "Dropout: a simple way to prevent neural networks from
/// overfitting", 2014, section 10, in its inverted form), as `torch.nn.functional.dropout`. p is rounded to a multiple of 2⁻¹⁶.
///
/// The gradient is the same operation of dy, with the same seed and offset: nothing is stored. With i the number of a row and j that of a column,
/// element \[i, j\] is dropped if its 16 bits of [`philox`](crate::functions::philox), for the counter offset + i · ⌈columns / 8⌉ + ⌊j / 8⌋ and the
/// seed as key, are below p · 2¹⁶: of word ⌊j mod 8 / 2⌋ the lower half if j is even, else the upper one. So the result depends neither on the
/// device nor on strides. The next operation under one seed takes an offset that is greater by rows · ⌈columns / 8⌉.
///
/// What is dropped is 0, whatever it was.
///
/// ```
/// use triton::Device;
/// use triton_kernels::dropout::dropout;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&vec![1.0f32; 1000], [10, 100])?;
/// let mut y = stream.tensor_uninit::<f32, _>([10, 100])?;
/// dropout(&x, 0.5, 42, 0, &mut y).launch(&stream)?;
/// let y = stream.download(&y)?;
/// assert!(y.iter().all(|&y| y == 0.0 || y == 2.0));
/// assert!((400..600).contains(&y.iter().filter(|y| **y == 0.0).count()));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: the same operation of the gradient.
#[operation(Dropout, tuned)]
pub fn dropout<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[check((0.0..1.0).contains(&p), "a probability less than 1", "what is left is scaled by 1 / (1 − p)")] p: f32,
    seed: u64,
    offset: u64,
    #[axes(.., c)] y: ViewMut<T, 2>,
) -> Result<()> {
    let [rows, columns] = x.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // A row of its own begins with a counter of its own.
    let whole = columns.is_multiple_of(8) || rows == 1;
    let axes = if whole { axes(x.shape(), &[x.strides(), y.strides()], true) } else { Axes::Both };
    let shape = axes.shape(x.shape());
    let (x, y, counters) = (axes.view(x)?, axes.view_mut(y)?, columns.div_ceil(8) as u64);
    let kernel = dropout_kernel_tuned::<T>(x, y, seed, offset, counters, below(p), scale(p));
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}

/// The bits that drop an element are below this, of 2¹⁶.
fn below(p: f32) -> u32 {
    ((p * 65536.0).round() as u32).min(65535)
}

/// What is left is multiplied by this.
fn scale(p: f32) -> f32 {
    65536.0 / (65536 - below(p)) as f32
}
