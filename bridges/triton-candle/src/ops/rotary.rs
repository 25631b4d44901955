//! Rotary position embeddings.

use super::expect_shape;
use crate::call::Call;
use crate::error::{shape as shape_error, wrap};
use crate::layout::{merges, ready};
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{DType, Result, Shape, Tensor};
use triton::View;
use triton_kernels::embedding::{self, Pairs};

struct Rotary {
    pairs: Pairs,
    /// Whether pairs are turned back.
    back: bool,
}

/// y = x with each pair of elements turned by the angle of its position: x is `[.., heads, positions, width]` with up to four axes, cosines
/// and sines `[positions, width / 2]`, or tables for more positions. [`Pairs::Halves`] is candle's `rope`, [`Pairs::Adjacent`] its `rope_i`.
///
/// x is `f32`, `f16` or `bf16`; cosines and sines of another type than `f32` are converted. They have no gradient.
///
/// # Errors
/// For other shapes or element types, or an odd width.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use triton_candle::{Pairs, rotary};
/// # fn main() -> candle_core::Result<()> {
/// let x = Tensor::new(&[[[1f32, 2.0]]], &Device::Cpu)?;
/// let (cos, sin) = (Tensor::new(&[[0f32]], &Device::Cpu)?, Tensor::new(&[[1f32]], &Device::Cpu)?);
/// assert_eq!(rotary(&x, &cos, &sin, Pairs::Halves)?.to_vec3::<f32>()?, [[[-2.0, 1.0]]]);
/// # Ok(())
/// # }
/// ```
pub fn rotary(x: &Tensor, cosines: &Tensor, sines: &Tensor, pairs: Pairs) -> Result<Tensor> {
    let op = "rotary";
    let [.., positions, width] = *x.dims() else {
        return Err(shape_error(op, "x", x.dims(), "[.., heads, positions, width]"));
    };
    let table = |operand, table: &Tensor| {
        let table = table.detach();
        let table = match table.dims() {
            [rows, _] if *rows > positions => table.narrow(0, 0, positions)?,
            _ => table,
        };
        expect_shape(op, operand, &table, &[positions, width / 2], "a row for each position or more")?;
        if table.dtype() == DType::F32 { Ok(table) } else { table.to_dtype(DType::F32) }
    };
    let (cosines, sines) = (table("cosines", cosines)?, table("sines", sines)?);
    apply(Rotary { pairs, back: false }, &[(x, 4), (&cosines, 2), (&sines, 2)])
}

impl Rotary {
    fn run(&self, call: &Call, of: &[Operand<'_>], merged: bool) -> Result<(Output, Shape)> {
        let (op, shape) = (self.name(), Shape::from(of[0].dims()));
        by_float!(op, "x", of[0].dtype(), |T| {
            let x = call.read::<T>(op, "x", of[0])?;
            let (cosines, sines) = (call.read::<f32>(op, "cosines", of[1])?, call.read::<f32>(op, "sines", of[2])?);
            let (cosines, sines) = (cosines.view::<2>()?, sines.view::<2>()?);
            let mut y = call.fresh::<T>(shape.elem_count())?;
            {
                let mut y = y.write(call);
                // One launch, if a stride walks through sequences and heads, and one for each sequence otherwise.
                let sequences: Vec<View<'_, T, 3>> = if merged {
                    vec![x.view::<3>()?]
                } else {
                    let x = x.view::<4>()?;
                    (0..x.shape()[0]).map(|i| x.select(0, i).map_err(wrap)).collect::<Result<_>>()?
                };
                for (i, x) in sequences.into_iter().enumerate() {
                    let [heads, positions, width] = x.shape();
                    let strides = crate::memory::row_major([heads, positions, width]);
                    let y = y.strided_mut([heads, positions, width], strides, i * heads * positions * width)?;
                    let (x, y) = (x.permute([1, 0, 2]).map_err(wrap)?, y.permute([1, 0, 2]).map_err(wrap)?);
                    let rotary = match self.back {
                        true => embedding::rotary_backward(x, cosines, sines, self.pairs, y),
                        false => embedding::rotary(x, cosines, sines, self.pairs, y),
                    };
                    rotary.launch(call.stream()).map_err(wrap)?;
                }
            }
            Ok((y.into_output(call), shape))
        })
    }
}

impl Operation for Rotary {
    fn name(&self) -> &'static str {
        "rotary"
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let merged = crate::layout::merge::<3>(of[0].dims(), of[0].layout.stride()).is_some();
        self.run(call, of, merged)
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let dy = ready(dy, 4)?;
        let (back, merged) = (Rotary { pairs: self.pairs, back: true }, merges(&dy, 3));
        with(self.name(), &[&dy, of[1], of[2]], |call, of| {
            let (Output(dx), shape) = back.run(call, of, merged)?;
            Ok(vec![Some(Tensor::from_storage(dx, shape, candle_core::op::BackpropOp::none(), false))])
        })
    }
}
