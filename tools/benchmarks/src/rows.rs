//! Our kernels over rows: softmax and norms. Which instance runs follows from the columns alone. A row that one block cannot keep is run by
//! a cluster of blocks; nothing here says so.

use crate::Outcome;
use crate::case::{Case, DType, Op};
use crate::kernels::{Operands, Value};
use triton::prelude::*;

/// out = softmax(x) along the last axis; a program has one row, of at most N columns.
#[triton::kernel(configs = [
    (T = f32, N = 1024, num_warps = 4), (T = f32, N = 4096, num_warps = 8), (T = f32, N = 8192, num_warps = 16),
    (T = f32, N = 16384, num_warps = 8), (T = f32, N = 32768, num_warps = 16),
    (T = f32, N = 65536, num_warps = 4, targets = ["sm_90a"]),
    (T = f32, N = 131072, num_warps = 8, targets = ["sm_90a"]),
    (T = f32, N = 262144, num_warps = 8, targets = ["sm_90a"]),
    (T = bf16, N = 4096, num_warps = 8), (T = bf16, N = 5120, num_warps = 8), (T = bf16, N = 8192, num_warps = 4),
    (T = bf16, N = 13312, num_warps = 8), (T = bf16, N = 16384, num_warps = 8),
    (T = bf16, N = 20480, num_warps = 8, targets = ["sm_90a"]),
    (T = bf16, N = 32768, num_warps = 4, targets = ["sm_90a"]),
    (T = bf16, N = 65536, num_warps = 4, targets = ["sm_90a"]),
    (T = bf16, N = 131072, num_warps = 4, targets = ["sm_90a"]),
    (T = bf16, N = 262144, num_warps = 8, targets = ["sm_90a"]),
], tune = [N])]
pub fn softmax<T: Float, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = program_id(0);
    // Elements past the last column must not count.
    let v = x.load_or([row, 0], [1, N], T::NEG_INFINITY).to::<f32>();
    // A power of 2, whose exponent is one operation with the logarithm of e, is less than half of an exponential.
    let top = max_axis(v, 1).expand_dims(1) * 1.442695;
    let e = exp2(fma(v, 1.442695, -top));
    // One division a row: a division an element would be a third of all instructions.
    out.store([row, 0], (e * (1.0 / sum_axis(e, 1).expand_dims(1))).to::<T>());
}

/// out = (x − mean) / √(variance + 10⁻⁵) · weight + bias along the last axis, by way of `f32`; a program has R rows, so that weight and
/// bias are loaded once for all of them.
#[triton::kernel(configs = [
    (R = 4, N = 1024, num_warps = 4), (R = 4, N = 4096, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 5120, num_warps = 4, targets = ["sm_90a"]), (R = 4, N = 8192, num_warps = 4, targets = ["sm_90a"]),
], tune = [R, N])]
pub fn layer_norm<const R: i32, const N: i32>(
    x: Tensor<bf16, 2>,
    weight: Tensor<bf16, 2>,
    bias: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let row = program_id(0) * R;
    let v = x.load([row, 0], [R, N]).to::<f32>();
    let sum = sum_axis(v, 1).expand_dims(1);
    let share = 1.0 / (x.dim(1) as f32);
    let mean = sum * share;
    // Elements past the last column must not count.
    let inside = (arange(0, N) < x.dim(1)).expand_dims(0);
    let centred = v - mean;
    let variance = sum_axis(select(inside, centred * centred, 0.0), 1).expand_dims(1) * share;
    let scale = rsqrt(variance + 0.00001);
    let (w, b) = (weight.load([0, 0], [1, N]).to::<f32>(), bias.load([0, 0], [1, N]).to::<f32>());
    out.store([row, 0], fma(fma(v, scale, -mean * scale), w, b).to::<bf16>());
}

/// The same of rows whose blocks wait longer for one another than for a second reading of the row: both moments come from one reduction,
/// about the row's first element. About 0 the variance would lose the digits of a mean that is far from it. Rows of 13312 columns do not spill,
/// as is estimated: the assembler has them in 131 to 168 registers.
#[triton::kernel(warnings = false, configs = [
    (R = 2, N = 13312, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 16384, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 20480, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 32768, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 65536, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 131072, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 262144, num_warps = 8, targets = ["sm_90a"]),
], tune = [R, N])]
pub fn long_layer_norm<const R: i32, const N: i32>(
    x: Tensor<bf16, 2>,
    weight: Tensor<bf16, 2>,
    bias: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let row = program_id(0) * R;
    let v = x.load([row, 0], [R, N]).to::<f32>();
    let first = x.load([row, 0], [R, 1]).to::<f32>();
    // Elements past the last column must not count.
    let inside = (arange(0, N) < x.dim(1)).expand_dims(0);
    let shifted = select(inside, v - first, 0.0);
    let (sum, squares) = reduce_axis((shifted, shifted * shifted), 1, |(a, b), (c, d)| (a + c, b + d));
    let share = 1.0 / (x.dim(1) as f32);
    let offset = sum.expand_dims(1) * share;
    let variance = squares.expand_dims(1) * share - offset * offset;
    let scale = rsqrt(variance + 0.00001);
    let shift = -(first + offset) * scale;
    let (w, b) = (weight.load([0, 0], [1, N]).to::<f32>(), bias.load([0, 0], [1, N]).to::<f32>());
    out.store([row, 0], fma(fma(v, scale, shift), w, b).to::<bf16>());
}

/// out = x / √(mean of x² + 10⁻⁵) · weight along the last axis, by way of `f32`; a program has R rows.
#[triton::kernel(configs = [
    (R = 4, N = 4096, num_warps = 4, targets = ["sm_90a"]), (R = 4, N = 5120, num_warps = 4, targets = ["sm_90a"]),
    (R = 4, N = 8192, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 13312, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 16384, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 20480, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 32768, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 65536, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 131072, num_warps = 8, targets = ["sm_90a"]),
], tune = [R, N])]
pub fn rms_norm<const R: i32, const N: i32>(x: Tensor<bf16, 2>, weight: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let row = program_id(0) * R;
    let v = x.load([row, 0], [R, N]).to::<f32>();
    let square = sum_axis(v * v, 1).expand_dims(1) * (1.0 / (x.dim(1) as f32));
    let w = weight.load([0, 0], [1, N]).to::<f32>();
    out.store([row, 0], (v * rsqrt(square + 0.00001) * w).to::<bf16>());
}

/// Whether an instance for this many columns computes a case: the first of a pool does, whose members have more and more.
fn is_enough(case: &Case) -> impl Fn(i32) -> bool + use<> {
    let columns = case.shape[1];
    move |n| n as usize >= columns
}

/// The tile of the instance that computes a case; its warps follow from `configs`.
pub fn note(case: &Case) -> String {
    let is_enough = is_enough(case);
    let tiles: Vec<[i32; 2]> = match (case.op, case.dtype) {
        (Op::LayerNorm, _) => {
            let short = layer_norm_pool().members().iter().map(|of| [of.choice().R, of.choice().N]);
            let long = long_layer_norm_pool().members().iter().map(|of| [of.choice().R, of.choice().N]);
            short.chain(long).collect()
        }
        (Op::RmsNorm, _) => rms_norm_pool().members().iter().map(|of| [of.choice().R, of.choice().N]).collect(),
        (_, DType::F32) => softmax_pool::<f32>().members().iter().map(|of| [1, of.choice().N]).collect(),
        (_, _) => softmax_pool::<bf16>().members().iter().map(|of| [1, of.choice().N]).collect(),
    };
    let tile = tiles.iter().find(|[_, n]| is_enough(*n));
    tile.map_or(String::new(), |[rows, columns]| format!("{rows}x{columns}"))
}

/// Enqueues a softmax.
///
/// # Errors
/// Those of a launch, and for rows that there is no instance for.
pub fn softmaxes<T: Float + Value<Out = T>>(case: &Case, stream: &Stream, operands: Operands<'_, T>) -> Outcome
where
    triton::Compiled: SoftmaxPool<T>,
{
    let [rows, columns, _] = case.shape;
    let (apart, is_enough) = ([case.pitch as isize, 1], is_enough(case));
    let x = operands.x.view([rows, columns])?.with_strides(apart)?;
    let out = operands.out.view_mut([rows, columns])?.with_strides(apart)?;
    softmax_tuned::<T>(x, out).find(|of| is_enough(of.N)).launch(stream, |_| rows)?;
    Ok(())
}

/// Enqueues a norm.
///
/// # Errors
/// Those of a launch, and for rows that there is no instance for.
pub fn norm(case: &Case, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
    let [rows, columns, _] = case.shape;
    let (apart, is_enough) = ([case.pitch as isize, 1], is_enough(case));
    let Operands { x, y, out, .. } = operands;
    let x = x.view([rows, columns])?.with_strides(apart)?;
    let out = out.view_mut([rows, columns])?.with_strides(apart)?;
    let weight = y.view([1, columns])?;
    let programs = |r: i32| rows.div_ceil(r as usize);
    if case.op == Op::RmsNorm {
        rms_norm_tuned(x, weight, out).find(|of| is_enough(of.N)).launch(stream, |of| programs(of.R))?;
        return Ok(());
    }
    let bias = y.slice(case.second()..)?.view([1, columns])?;
    if layer_norm_pool().members().iter().any(|of| is_enough(of.choice().N)) {
        layer_norm_tuned(x, weight, bias, out).find(|of| is_enough(of.N)).launch(stream, |of| programs(of.R))?;
    } else {
        long_layer_norm_tuned(x, weight, bias, out).find(|of| is_enough(of.N)).launch(stream, |of| programs(of.R))?;
    }
    Ok(())
}
