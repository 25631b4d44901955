//! Our kernels over views: sums along rows and transposes, with other rows of [`rows`] and matrix products of [`products`]. Which instance runs follows from the case alone.

use crate::Outcome;
use crate::case::{Case, DType, Op};
use crate::fused;
use crate::kernels::{Operands, Value};
use crate::products;
use crate::rows;
use triton::prelude::*;
use triton_kernels::linear::GemmElement;

/// out = the sums of each element of x and all before it along the last axis; a program keeps its row, of at most N columns, in registers.
#[triton::kernel(configs = [(N = 4096, num_warps = 8)])]
pub fn cumulative_sum<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    out.store([row, 0], cumsum(x.load([row, 0], [1, N]), 1));
}

/// out = xᵀ, a rectangle of I by J a program; neighbouring programs write one row of rectangles.
#[triton::kernel(T = [f32, bf16], configs = [(I = 64, J = 64, num_warps = 8), (I = 128, J = 128, num_warps = 16)])]
pub fn transpose<T: Num, const I: i32, const J: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let (i, j) = (program_id(0) * I, program_id(1) * J);
    out.store([j, i], x.load([i, j], [I, J]).transpose());
}

/// An element type with kernels over views.
pub trait Tiled: Value + GemmElement<Self::Out> {
    /// Enqueues a case without an offset, on operands that begin with its elements.
    ///
    /// # Errors
    /// Those of a launch, and for an operation that has no kernel for the type.
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, Self>) -> Outcome;

    /// Enqueues a linear layer by the instance with a tile of [`fused::tiles`].
    ///
    /// # Errors
    /// Those of a launch, and for a type or a tile that there is no instance for.
    fn launch_fused(case: &Case, _tile: [usize; 3], _stream: &Stream, _operands: Operands<'_, Self>) -> Outcome {
        Err(no_kernel(case))
    }
}

impl Tiled for f32 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
        match case.op {
            Op::Matmul => return Ok(products::product(case, operands)?.launch(stream)?),
            Op::Softmax => return rows::softmaxes(case, stream, operands),
            Op::Copy
            | Op::Add
            | Op::Cumsum
            | Op::LayerNorm
            | Op::RmsNorm
            | Op::Transpose
            | Op::Linear
            | Op::Attention => {}
        }
        let [rows, columns, _] = case.shape;
        let Operands { x, out, .. } = operands;
        let apart = [case.pitch as isize, 1];
        let out = out.view_mut([rows, columns])?;
        match case.op {
            Op::Cumsum if columns <= 4096 => {
                let (x, out) = (x.view([rows, columns])?.with_strides(apart)?, out.with_strides(apart)?);
                cumulative_sum::<4096>(x, out).launch(stream, rows)?;
            }
            Op::Transpose => {
                transpose::<f32, 64, 64>(x.view([columns, rows])?, out).launch(stream, rectangles(case, 64))?
            }
            Op::Copy
            | Op::Add
            | Op::Softmax
            | Op::Cumsum
            | Op::LayerNorm
            | Op::RmsNorm
            | Op::Matmul
            | Op::Linear
            | Op::Attention => return Err(no_kernel(case)),
        }
        Ok(())
    }
}

impl Tiled for bf16 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
        match case.op {
            Op::Matmul => return Ok(products::product(case, operands)?.launch(stream)?),
            Op::Attention => return fused::attend(case, stream, operands),
            Op::Linear => {
                let tile = *fused::tiles(case).first().ok_or_else(|| no_kernel(case))?;
                return Self::launch_fused(case, tile, stream, operands);
            }
            Op::Softmax => return rows::softmaxes(case, stream, operands),
            Op::LayerNorm | Op::RmsNorm => return rows::norm(case, stream, operands),
            Op::Copy | Op::Add | Op::Cumsum | Op::Transpose => {}
        }
        let [rows, columns, _] = case.shape;
        let Operands { x, out, .. } = operands;
        let out = out.view_mut([rows, columns])?;
        match case.op {
            Op::Transpose => {
                transpose::<bf16, 128, 128>(x.view([columns, rows])?, out).launch(stream, rectangles(case, 128))?
            }
            Op::Copy
            | Op::Add
            | Op::Softmax
            | Op::Cumsum
            | Op::LayerNorm
            | Op::RmsNorm
            | Op::Matmul
            | Op::Linear
            | Op::Attention => return Err(no_kernel(case)),
        }
        Ok(())
    }

    fn launch_fused(case: &Case, tile: [usize; 3], stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
        fused::linear(case, tile, stream, operands)
    }
}

impl Tiled for f16 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, f16>) -> Outcome {
        if case.op != Op::Matmul {
            return Err(no_kernel(case));
        }
        Ok(products::product(case, operands)?.launch(stream)?)
    }
}

impl Tiled for f64 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, f64>) -> Outcome {
        if case.op != Op::Matmul {
            return Err(no_kernel(case));
        }
        Ok(products::product(case, operands)?.launch(stream)?)
    }
}

impl Tiled for i8 {
    fn launch_views(case: &Case, stream: &Stream, operands: Operands<'_, i8>) -> Outcome {
        if case.op != Op::Matmul {
            return Err(no_kernel(case));
        }
        Ok(products::product(case, operands)?.launch(stream)?)
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
    let tile = match (case.op, case.dtype) {
        (Op::Softmax | Op::LayerNorm | Op::RmsNorm, _) => return rows::note(case),
        (Op::Cumsum, _) => "1x4096",
        (Op::Transpose, DType::F32) => "64x64",
        (Op::Transpose, DType::F16 | DType::Bf16 | DType::F64 | DType::I8) => "128x128",
        (Op::Matmul, _) => return products::plan(case).map_or(String::new(), |plan| plan.to_string()),
        (Op::Linear, _) => {
            return fused::tiles(case).first().map_or(String::new(), |&tile| fused::spelled(tile));
        }
        (Op::Copy | Op::Add | Op::Attention, _) => "",
    };
    tile.into()
}
