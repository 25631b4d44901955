//! Our kernels over rows: softmax and norms. Which instance runs follows from the columns alone. A row that one block cannot keep is run by
//! a cluster of blocks; nothing here says so.

use crate::Outcome;
use crate::case::{Case, DType, Op};
use crate::kernels::Operands;
use triton::prelude::*;

/// out = softmax(x) along the last axis; a program has one row, of at most N columns.
#[triton::kernel(configs = [
    (T = f32, N = 1024, num_warps = 4), (T = f32, N = 4096, num_warps = 8), (T = f32, N = 8192, num_warps = 16),
    (T = f32, N = 16384, num_warps = 8), (T = f32, N = 32768, num_warps = 16),
    (T = f32, N = 65536, num_warps = 16, targets = ["sm_90a"]),
    (T = f32, N = 131072, num_warps = 16, targets = ["sm_90a"]),
    (T = f32, N = 262144, num_warps = 16, targets = ["sm_90a"]),
    (T = bf16, N = 4096, num_warps = 8), (T = bf16, N = 8192, num_warps = 4), (T = bf16, N = 16384, num_warps = 8),
    (T = bf16, N = 32768, num_warps = 4, targets = ["sm_90a"]),
    (T = bf16, N = 65536, num_warps = 4, targets = ["sm_90a"]),
    (T = bf16, N = 131072, num_warps = 4, targets = ["sm_90a"]),
    (T = bf16, N = 262144, num_warps = 8, targets = ["sm_90a"]),
])]
pub fn softmax<T: Float, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = program_id(0);
    // Elements past the last column must not count.
    let v = x.load_or([row, 0], [1, N], T::NEG_INFINITY).to::<f32>();
    let e = exp(v - max_axis(v, 1).expand_dims(1));
    // One division a row: a division an element would be a third of all instructions.
    out.store([row, 0], (e * (1.0 / sum_axis(e, 1).expand_dims(1))).to::<T>());
}

/// out = (x − mean) / √(variance + 10⁻⁵) · weight + bias along the last axis, by way of `f32`; a program has R rows, so that weight and
/// bias are loaded once for all of them.
#[triton::kernel(configs = [
    (R = 4, N = 1024, num_warps = 4), (R = 4, N = 4096, num_warps = 4, targets = ["sm_90a"]),
    (R = 4, N = 8192, num_warps = 2, targets = ["sm_90a"]), (R = 2, N = 16384, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 32768, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 65536, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 131072, num_warps = 8, targets = ["sm_90a"]), (R = 1, N = 262144, num_warps = 8, targets = ["sm_90a"]),
])]
pub fn layer_norm<const R: i32, const N: i32>(
    x: Tensor<bf16, 2>,
    weight: Tensor<bf16, 2>,
    bias: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let row = program_id(0) * R;
    let share = 1.0 / (x.dim(1) as f32);
    let v = x.load([row, 0], [R, N]).to::<f32>();
    let mean = sum_axis(v, 1).expand_dims(1) * share;
    // Elements past the last column must not count.
    let inside = (arange(0, N) < x.dim(1)).expand_dims(0);
    let centred = v - mean;
    let variance = sum_axis(select(inside, centred * centred, 0.0), 1).expand_dims(1) * share;
    let scale = rsqrt(variance + 0.00001);
    let (w, b) = (weight.load([0, 0], [1, N]).to::<f32>(), bias.load([0, 0], [1, N]).to::<f32>());
    out.store([row, 0], fma(centred * scale, w, b).to::<bf16>());
}

/// out = x / √(mean of x² + 10⁻⁵) · weight along the last axis, by way of `f32`; a program has R rows.
#[triton::kernel(configs = [
    (R = 4, N = 4096, num_warps = 4, targets = ["sm_90a"]), (R = 4, N = 8192, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 16384, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 32768, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 65536, num_warps = 4, targets = ["sm_90a"]), (R = 2, N = 131072, num_warps = 8, targets = ["sm_90a"]),
])]
pub fn rms_norm<const R: i32, const N: i32>(x: Tensor<bf16, 2>, weight: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let row = program_id(0) * R;
    let v = x.load([row, 0], [R, N]).to::<f32>();
    let square = sum_axis(v * v, 1).expand_dims(1) * (1.0 / (x.dim(1) as f32));
    let w = weight.load([0, 0], [1, N]).to::<f32>();
    out.store([row, 0], (v * rsqrt(square + 0.00001) * w).to::<bf16>());
}

/// The columns of the instance that computes a case: the least that are enough, of `1024 << 0` to `1024 << 8`.
fn instance(columns: usize) -> usize {
    columns.next_power_of_two().max(1024)
}

/// The rows of a program of that instance.
fn rows_of(case: &Case) -> usize {
    match (case.op, instance(case.shape[1])) {
        (Op::LayerNorm | Op::RmsNorm, 1024..=8192) => 4,
        (Op::LayerNorm | Op::RmsNorm, 262_144) => 1,
        (Op::LayerNorm | Op::RmsNorm, _) => 2,
        _ => 1,
    }
}

/// The tile of the instance that computes a case; its warps follow from `configs`.
pub fn note(case: &Case) -> String {
    let least =
        if (case.op, case.dtype) == (Op::LayerNorm, DType::Bf16) || case.dtype == DType::F32 { 1024 } else { 4096 };
    let columns = match instance(case.shape[1]).max(least) {
        2048 => 4096,
        columns => columns,
    };
    format!("{}x{columns}", rows_of(case))
}

/// Enqueues a softmax of `f32`.
///
/// # Errors
/// Those of a launch, and for rows that there is no instance for.
pub fn softmax_f32(case: &Case, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
    let [rows, columns, _] = case.shape;
    let apart = [case.pitch as isize, 1];
    let x = operands.x.view([rows, columns])?.with_strides(apart)?;
    let out = operands.out.view_mut([rows, columns])?.with_strides(apart)?;
    match instance(columns) {
        1024 => softmax::<f32, 1024>(x, out).launch(stream, rows)?,
        2048 | 4096 => softmax::<f32, 4096>(x, out).launch(stream, rows)?,
        8192 => softmax::<f32, 8192>(x, out).launch(stream, rows)?,
        16384 => softmax::<f32, 16384>(x, out).launch(stream, rows)?,
        32768 => softmax::<f32, 32768>(x, out).launch(stream, rows)?,
        65536 => softmax::<f32, 65536>(x, out).launch(stream, rows)?,
        131_072 => softmax::<f32, 131072>(x, out).launch(stream, rows)?,
        262_144 => softmax::<f32, 262144>(x, out).launch(stream, rows)?,
        _ => return Err(too_long(case)),
    }
    Ok(())
}

/// Enqueues a softmax or a norm of `bf16`.
///
/// # Errors
/// Those of a launch, and for rows that there is no instance for.
pub fn bf16s(case: &Case, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
    let [rows, columns, _] = case.shape;
    let apart = [case.pitch as isize, 1];
    let Operands { x, y, out, .. } = operands;
    let x = x.view([rows, columns])?.with_strides(apart)?;
    let out = out.view_mut([rows, columns])?.with_strides(apart)?;
    let programs = rows.div_ceil(rows_of(case));
    if case.op == Op::Softmax {
        match instance(columns) {
            1024..=4096 => softmax::<bf16, 4096>(x, out).launch(stream, rows)?,
            8192 => softmax::<bf16, 8192>(x, out).launch(stream, rows)?,
            16384 => softmax::<bf16, 16384>(x, out).launch(stream, rows)?,
            32768 => softmax::<bf16, 32768>(x, out).launch(stream, rows)?,
            65536 => softmax::<bf16, 65536>(x, out).launch(stream, rows)?,
            131_072 => softmax::<bf16, 131072>(x, out).launch(stream, rows)?,
            262_144 => softmax::<bf16, 262144>(x, out).launch(stream, rows)?,
            _ => return Err(too_long(case)),
        }
        return Ok(());
    }
    let weight = y.view([1, columns])?;
    if case.op == Op::RmsNorm {
        match instance(columns) {
            4096 => rms_norm::<4, 4096>(x, weight, out).launch(stream, programs)?,
            8192 => rms_norm::<4, 8192>(x, weight, out).launch(stream, programs)?,
            16384 => rms_norm::<2, 16384>(x, weight, out).launch(stream, programs)?,
            32768 => rms_norm::<2, 32768>(x, weight, out).launch(stream, programs)?,
            65536 => rms_norm::<2, 65536>(x, weight, out).launch(stream, programs)?,
            131_072 => rms_norm::<2, 131072>(x, weight, out).launch(stream, programs)?,
            _ => return Err(too_long(case)),
        }
        return Ok(());
    }
    let bias = y.slice(case.second()..)?.view([1, columns])?;
    match instance(columns) {
        1024 => layer_norm::<4, 1024>(x, weight, bias, out).launch(stream, programs)?,
        2048 | 4096 => layer_norm::<4, 4096>(x, weight, bias, out).launch(stream, programs)?,
        8192 => layer_norm::<4, 8192>(x, weight, bias, out).launch(stream, programs)?,
        16384 => layer_norm::<2, 16384>(x, weight, bias, out).launch(stream, programs)?,
        32768 => layer_norm::<2, 32768>(x, weight, bias, out).launch(stream, programs)?,
        65536 => layer_norm::<2, 65536>(x, weight, bias, out).launch(stream, programs)?,
        131_072 => layer_norm::<2, 131072>(x, weight, bias, out).launch(stream, programs)?,
        262_144 => layer_norm::<1, 262144>(x, weight, bias, out).launch(stream, programs)?,
        _ => return Err(too_long(case)),
    }
    Ok(())
}

fn too_long(case: &Case) -> Box<dyn std::error::Error> {
    format!("`{}`: there is no instance for {} columns", case.name, case.shape[1]).into()
}
