//! Our kernels over views: rows and transposes, with matrix products of [`products`]. Which instance runs follows from the case alone.

use crate::Outcome;
use crate::case::{Case, DType, Op};
use crate::fused;
use crate::kernels::{Operands, Value};
use crate::products;
use crate::selection::Plan;
use triton::prelude::*;

/// out = softmax(x) along the last axis; a program keeps its row, of at most N columns, in registers.
#[triton::kernel(configs = [
    (N = 1024, num_warps = 4), (N = 4096, num_warps = 8), (N = 8192, num_warps = 16), (N = 16384, num_warps = 8),
    (N = 32768, num_warps = 16),
])]
pub fn softmax<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    // Elements past the last column must not count.
    let v = x.load_or([row, 0], [1, N], f32::NEG_INFINITY);
    let e = exp(v - max_axis(v, 1).expand_dims(1));
    // One division a row: a division an element would be a third of all instructions.
    out.store([row, 0], e * (1.0 / sum_axis(e, 1).expand_dims(1)));
}

/// out = softmax(x) along the last axis, of any length: the row is read twice, the second time from the L2 cache. Each element of the tile
/// keeps a maximum and a sum of its own, rescaled as the maximum grows (Milakov and Gimelshein, "Online normalizer calculation for
/// softmax", arXiv 1805.02867), so that no thread waits for another within the loop.
#[triton::kernel(configs = [(N = 8192, num_warps = 32)])]
pub fn long_softmax<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    let (mut top, mut sum) = (full([1, N], f32::MIN), zeros::<f32>([1, N]));
    for start in (0..x.dim(1)).step_by(N) {
        let v = x.load_or([row, start], [1, N], f32::MIN);
        let new = maximum(top, v);
        sum = fma(sum, exp(top - new), exp(v - new));
        top = new;
    }
    let peak = max_axis(top, 1).expand_dims(1);
    let share = 1.0 / sum_axis(sum * exp(top - peak), 1).expand_dims(1);
    for start in (0..x.dim(1)).step_by(N) {
        out.store([row, start], exp(x.load([row, start], [1, N]) - peak) * share);
    }
}

/// out = the sums of each element of x and all before it along the last axis; a program keeps its row, of at most N columns, in registers.
#[triton::kernel(configs = [(N = 4096, num_warps = 8)])]
pub fn cumulative_sum<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    out.store([row, 0], cumsum(x.load([row, 0], [1, N]), 1));
}

/// out = (x − mean) / √(variance + 10⁻⁵) · weight + bias along the last axis, by way of `f32`; a program has R rows, so that weight and
/// bias are loaded once for all of them.
#[triton::kernel(configs = [
    (R = 2, N = 1024, num_warps = 4), (R = 2, N = 4096, num_warps = 4), (R = 1, N = 8192, num_warps = 8),
    (R = 1, N = 16384, num_warps = 8),
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

/// out = xᵀ, a rectangle of I by J a program; neighbouring programs write one row of rectangles.
#[triton::kernel(T = [f32, bf16], configs = [(I = 64, J = 64, num_warps = 8), (I = 128, J = 128, num_warps = 16)])]
pub fn transpose<T: Num, const I: i32, const J: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let (i, j) = (program_id(0) * I, program_id(1) * J);
    out.store([j, i], x.load([i, j], [I, J]).transpose());
}

/// An element type with kernels over views.
pub trait Tiled: Value {
    /// Enqueues a case without an offset, on operands that begin with its elements.
    ///
    /// # Errors
    /// Those of a launch, and for an operation that has no kernel for the type.
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, Self>) -> Outcome;

    /// Enqueues a product by an instance.
    ///
    /// # Errors
    /// Those of a launch, and a plan that there is no instance for.
    fn launch_product(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, Self>) -> Outcome;

    /// Enqueues a linear layer or attention by the instance with a tile of [`fused::tiles`].
    ///
    /// # Errors
    /// Those of a launch, and for a type or a tile that there is no instance for.
    fn launch_fused(case: &Case, _tile: [usize; 3], _stream: &Stream, _operands: Operands<'_, Self>) -> Outcome {
        Err(no_kernel(case))
    }
}

impl Tiled for f32 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
        if case.op == Op::Matmul {
            return Self::launch_product(case, &products::plan(case)?, stream, operands);
        }
        let [rows, columns, _] = case.shape;
        let Operands { x, out, .. } = operands;
        let apart = [case.pitch as isize, 1];
        let out = out.view_mut([rows, columns])?;
        match case.op {
            Op::Softmax => {
                let (x, out) = (x.view([rows, columns])?.with_strides(apart)?, out.with_strides(apart)?);
                match columns {
                    0..=1024 => softmax::<1024>(x, out).launch(stream, rows)?,
                    1025..=4096 => softmax::<4096>(x, out).launch(stream, rows)?,
                    4097..=8192 => softmax::<8192>(x, out).launch(stream, rows)?,
                    8193..=16384 => softmax::<16384>(x, out).launch(stream, rows)?,
                    16385..=32768 => softmax::<32768>(x, out).launch(stream, rows)?,
                    _ => long_softmax::<8192>(x, out).launch(stream, rows)?,
                }
            }
            Op::Cumsum if columns <= 4096 => {
                let (x, out) = (x.view([rows, columns])?.with_strides(apart)?, out.with_strides(apart)?);
                cumulative_sum::<4096>(x, out).launch(stream, rows)?;
            }
            Op::Transpose => {
                transpose::<f32, 64, 64>(x.view([columns, rows])?, out).launch(stream, rectangles(case, 64))?
            }
            Op::Copy | Op::Add | Op::LayerNorm | Op::Cumsum | Op::Matmul | Op::Linear | Op::Attention => {
                return Err(no_kernel(case));
            }
        }
        Ok(())
    }

    fn launch_product(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
        if case.tf32 {
            products::rounded(case, plan, stream, operands)
        } else {
            products::f32s(case, plan, stream, operands)
        }
    }
}

impl Tiled for bf16 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
        match case.op {
            Op::Matmul => return Self::launch_product(case, &products::plan(case)?, stream, operands),
            Op::Linear | Op::Attention => {
                let tile = *fused::tiles(case).first().ok_or_else(|| no_kernel(case))?;
                return Self::launch_fused(case, tile, stream, operands);
            }
            Op::Copy | Op::Add | Op::Softmax | Op::Cumsum | Op::LayerNorm | Op::Transpose => {}
        }
        let [rows, columns, _] = case.shape;
        let Operands { x, y, out, .. } = operands;
        let apart = [case.pitch as isize, 1];
        let out = out.view_mut([rows, columns])?;
        match case.op {
            Op::LayerNorm => {
                let (weight, bias) = (y.view([1, columns])?, y.slice(case.second()..)?.view([1, columns])?);
                let (x, out) = (x.view([rows, columns])?.with_strides(apart)?, out.with_strides(apart)?);
                match columns {
                    0..=1024 => layer_norm::<2, 1024>(x, weight, bias, out).launch(stream, rows.div_ceil(2))?,
                    1025..=4096 => layer_norm::<2, 4096>(x, weight, bias, out).launch(stream, rows.div_ceil(2))?,
                    4097..=8192 => layer_norm::<1, 8192>(x, weight, bias, out).launch(stream, rows)?,
                    _ => layer_norm::<1, 16384>(x, weight, bias, out).launch(stream, rows)?,
                }
            }
            Op::Transpose => {
                transpose::<bf16, 128, 128>(x.view([columns, rows])?, out).launch(stream, rectangles(case, 128))?
            }
            Op::Copy | Op::Add | Op::Softmax | Op::Cumsum | Op::Matmul | Op::Linear | Op::Attention => {
                return Err(no_kernel(case));
            }
        }
        Ok(())
    }

    fn launch_product(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
        products::bf16s(case, plan, stream, operands)
    }

    fn launch_fused(case: &Case, tile: [usize; 3], stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
        if case.op == Op::Attention {
            fused::attend(case, tile, stream, operands)
        } else {
            fused::linear(case, tile, stream, operands)
        }
    }
}

impl Tiled for f16 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, f16>) -> Outcome {
        if case.op != Op::Matmul {
            return Err(no_kernel(case));
        }
        Self::launch_product(case, &products::plan(case)?, stream, operands)
    }

    fn launch_product(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f16>) -> Outcome {
        products::f16s(case, plan, stream, operands)
    }
}

impl Tiled for f64 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, f64>) -> Outcome {
        if case.op != Op::Matmul {
            return Err(no_kernel(case));
        }
        Self::launch_product(case, &products::plan(case)?, stream, operands)
    }

    fn launch_product(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f64>) -> Outcome {
        products::f64s(case, plan, stream, operands)
    }
}

impl Tiled for i8 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, i8>) -> Outcome {
        if case.op != Op::Matmul {
            return Err(no_kernel(case));
        }
        Self::launch_product(case, &products::plan(case)?, stream, operands)
    }

    fn launch_product(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, i8>) -> Outcome {
        products::i8s(case, plan, stream, operands)
    }
}

fn no_kernel(case: &Case) -> Box<dyn std::error::Error> {
    format!("`{}`: there is no kernel for {:?} of {}", case.name, case.op, case.dtype.name()).into()
}

/// The grid of [`transpose`] by squares: neighbouring programs write one row of them.
fn rectangles(case: &Case, side: usize) -> (usize, usize) {
    let [rows, columns, _] = case.shape;
    (columns.div_ceil(side), rows.div_ceil(side))
}

/// The tile of the instance that computes a case; its warps follow from `configs`.
pub fn note(case: &Case) -> String {
    let columns = case.shape[1];
    let tile = match (case.op, case.dtype) {
        (Op::LayerNorm, _) if columns <= 1024 => "2x1024",
        (Op::LayerNorm, _) if columns <= 4096 => "2x4096",
        (Op::Softmax | Op::LayerNorm | Op::Cumsum, _) => match columns {
            0..=1024 => "1x1024",
            1025..=4096 => "1x4096",
            4097..=8192 => "1x8192",
            8193..=16384 => "1x16384",
            16385..=32768 => "1x32768",
            _ => "1x8192, in a loop",
        },
        (Op::Transpose, DType::F32) => "64x64",
        (Op::Transpose, DType::F16 | DType::Bf16 | DType::F64 | DType::I8) => "128x128",
        (Op::Matmul, _) => return Plan::of(case).map_or(String::new(), |plan| plan.to_string()),
        (Op::Linear | Op::Attention, _) => {
            return fused::tiles(case).first().map_or(String::new(), |&tile| fused::spelled(tile));
        }
        (Op::Copy | Op::Add, _) => "",
    };
    tile.into()
}
