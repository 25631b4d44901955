//! Rows of a table by number.

use crate::call::Call;
use crate::error::{shape as shape_error, wrap};
use crate::layout::ready;
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{Result, Shape, Tensor};
use triton_kernels::embedding as kernels;

struct Embedding {
    deterministic: bool,
}

/// table\[ids\]: of a table `[entries, columns]` and ids of any shape, `[.., columns]`. The table is `f32`, `f16`, `bf16`; ids `u32`, `i32`, `i64`.
///
/// Of an id that is not a row of the table the result is 0, where candle has an error: a GPU is not asked. The gradient is added up in `f32`;
/// with `deterministic` in one order.
///
/// # Errors
/// For other shapes or element types.
///
/// ```
/// use candle_core::{Device, Tensor};
/// # fn main() -> candle_core::Result<()> {
/// let table = Tensor::new(&[[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
/// let ids = Tensor::new(&[[1u32], [0]], &Device::Cpu)?;
/// let rows = triton_candle::embedding(&table, &ids, false)?;
/// assert_eq!(rows.to_vec3::<f32>()?, [[[3.0, 4.0]], [[1.0, 2.0]]]);
/// # Ok(())
/// # }
/// ```
pub fn embedding(table: &Tensor, ids: &Tensor, deterministic: bool) -> Result<Tensor> {
    if table.rank() != 2 {
        return Err(shape_error("embedding", "table", table.dims(), "[entries, columns]"));
    }
    apply(Embedding { deterministic }, &[(table, 2), (ids, 1)])
}

impl Operation for Embedding {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let (op, ids) = (self.name(), call.ids(self.name(), "ids", of[1])?);
        by_float!(op, "table", of[0].dtype(), |T| {
            let table = call.read::<T>(op, "table", of[0])?;
            let (table, ids) = (table.view::<2>()?, ids.view()?);
            let shape = [ids.count(), table.shape()[1]];
            let mut out = call.fresh::<T>(shape[0] * shape[1])?;
            kernels::embedding(table, ids, out.write(call).view_mut(shape)?).launch(call.stream()).map_err(wrap)?;
            let mut dims = of[1].dims().to_vec();
            dims.push(shape[1]);
            Ok((out.into_output(call), Shape::from(dims)))
        })
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (op, dy, table) = (self.name(), ready(dy, 2)?, of[0]);
        let dtable = with(op, &[&dy, of[1]], |call, of| {
            let ids = call.ids(op, "ids", of[1])?;
            by_float!(op, "dy", of[0].dtype(), |T| {
                let dy = call.read::<T>(op, "dy", of[0])?;
                let (entries, columns) = (table.dims()[0], table.dims()[1]);
                let mut dtable = call.zeros(entries * columns)?;
                kernels::embedding_backward(
                    dy.view::<2>()?,
                    ids.view()?,
                    dtable.write(call).view_mut([entries, columns])?,
                )
                .deterministic(self.deterministic)
                .launch(call.stream())
                .map_err(wrap)?;
                Ok(dtable.into_tensor(call, (entries, columns)))
            })
        })?;
        Ok(vec![Some(dtable.to_dtype(table.dtype())?), None])
    }
}
