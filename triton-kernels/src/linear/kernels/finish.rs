//! Activations that the kernels of products have no code for, in a launch of its own.
//!
//! With code for them kernels took up to twice the registers, also where they were not asked for: convolutions of 64 filters took 1.1 to 1.5 times as
//! long. A result of 16 bits is rounded before and after.

use super::epilogue::Epilogue;
use crate::Result;
use crate::functions::activate;
use crate::grid::parts;
use crate::operation::Call;
use triton::prelude::*;

/// c = activation(c) + residual, of rows before the last of `ends`, if there are such; and the sums of its columns in tiles, if they are wanted.
///
/// A program has BM rows and BN columns of a matrix.
#[triton::kernel(T = [f32, f16, bf16], configs = [(BM = 16, BN = 128)], targets = ["sm_80"])]
pub(crate) fn finish_kernel<T: Float, const BM: i32, const BN: i32>(
    c: TensorMut<T, 4>,
    residual: Tensor<T, 4>,
    ends: Tensor<i32, 1>,
    sums: TensorMut<f32, 2>,
    options: Epilogue,
) {
    let across = (c.dim(3).to::<i32>() + (BN - 1)) / BN;
    let (m, n) = (program_id(0) / across * BM, program_id(0) % across * BN);
    let at = [program_id(2), program_id(1), m, n];
    let mut last = c.dim(2).to::<i32>();
    if ends.dim(0) > 0 {
        let mut end = 0;
        for group in 0..ends.dim(0).to::<i32>() {
            end = maximum(end, ends.get([group]));
        }
        last = minimum(last, end);
    }
    let inside = (arange(0, BM) + m < last).expand_dims(1);
    let old = c.load(at, [1, 1, BM, BN]).reshape([BM, BN]).to::<f32>();
    let active = activate(old, options.activation, options.slope);
    let v = active + residual.load(at, [1, 1, BM, BN]).reshape([BM, BN]).to::<f32>();
    if options.sums {
        sums.store([m / BM, n], sum_axis(select(inside, v, 0.0), 0).expand_dims(0));
    }
    c.store(at, select(inside, v, old).to::<T>().reshape([1, 1, BM, BN]));
}

/// Rows of a tile: each has a row of partial sums.
pub(crate) const ROWS: usize = 16;

/// Enqueues the activation of an epilogue that a product left out.
pub(crate) fn finish<T: Float>(
    mut c: ViewMut<'_, T, 4>,
    residual: Option<View<'_, T, 4>>,
    ends: Option<View<'_, i32, 1>>,
    mut sums: Option<ViewMut<'_, f32, 2>>,
    options: Epilogue,
    call: Call<'_>,
) -> Result<()>
where
    triton::Compiled: FinishKernelInstance<T, 16, 128>,
{
    let [outer, inner, m, n] = c.shape();
    if outer * inner * m * n == 0 {
        return Ok(());
    }
    for (i, j) in parts(outer, 1).flat_map(|i| parts(inner, 1).map(move |j| (i.clone(), j))) {
        let c = c.reborrow().narrow(0, i.clone())?.narrow(1, j.clone())?;
        let residual = match residual {
            Some(residual) => Some(residual.narrow(0, i.clone())?.narrow(1, j.clone())?),
            None => None,
        };
        let tiles = m.div_ceil(ROWS) * n.div_ceil(128);
        let sums = call.view_mut(sums.as_mut().map(ViewMut::reborrow));
        let kernel = finish_kernel::<T, 16, 128>(c, call.view(residual), call.view(ends), sums, options);
        call.launch(kernel, (tiles, j.len(), i.len()))?;
    }
    Ok(())
}
