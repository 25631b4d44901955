//! The products of recurrent layers, and operands as gates.

use crate::Result;
use crate::contract::contract;
use crate::element::FloatElement;
use crate::linear::{GemmElement, GemvElement, gemm, gemm_batched, gemv};
use crate::operation::Call;
use triton::prelude::*;

/// Biases by gates, or none.
pub(super) fn parts_of<'a, T: Element>(
    call: Call<'a>,
    biases: Option<[View<'a, T, 1>; 2]>,
    parts: [usize; 2],
) -> Result<[View<'a, T, 2>; 2]> {
    let Some([b_ih, b_hh]) = biases else { return Ok([call.view(None), call.view(None)]) };
    Ok([b_ih.split(0, parts)?, b_hh.split(0, parts)?])
}

/// The products of the inputs of all steps, gates = x · wᵀ: one product where steps and rows are one axis in memory.
pub(super) fn of_inputs<T>(
    call: Call<'_>,
    x: View<'_, T, 3>,
    w: View<'_, T, 2>,
    gates: ViewMut<'_, f32, 3>,
) -> Result<()>
where
    T: FloatElement + GemmElement<f32>,
{
    let w = w.transpose();
    if let (Ok(x), true) = (x.merge(0), gates.as_view().merge(0).is_ok()) {
        return gemm(x, w, gates.merge(0)?).deterministic(true).call(call);
    }
    let [inputs, _] = w.shape();
    gemm_batched(x, w.split(0, [1, inputs])?, gates).deterministic(true).call(call)
}

/// The product of a step, out = x · wᵀ + β · out.
pub(super) fn of_state<T>(
    call: Call<'_>,
    x: View<'_, T, 2>,
    w: View<'_, T, 2>,
    out: ViewMut<'_, f32, 2>,
    beta: f32,
) -> Result<()>
where
    T: FloatElement + GemmElement<f32> + GemvElement<f32>,
{
    if x.shape()[0] == 1 {
        return gemv(w, x.select(0, 0)?, out.select(0, 0)?).beta(beta).launch(call.stream);
    }
    gemm(x, w.transpose(), out).beta(beta).deterministic(true).call(call)
}

/// The gradients of both weights, dw = Σ dgatesᵀ · x over steps and rows.
pub(super) fn of_weights<'a, T: FloatElement>(
    call: Call<'_>,
    [dgates_x, dgates_h]: [View<'a, T, 3>; 2],
    [x, h]: [View<'a, T, 3>; 2],
    [dw_ih, dw_hh]: [Option<ViewMut<'a, T, 2>>; 2],
) -> Result<()> {
    for (dgates, x, dw) in [(dgates_x, x, dw_ih), (dgates_h, h, dw_hh)] {
        if let Some(dw) = dw {
            contract("tng,tni->gi", dgates, x, dw).deterministic(true).launch(call.stream)?;
        }
    }
    Ok(())
}

/// The gradient of the input, dx = dgates · w.
pub(super) fn of_gradients<'a, T: FloatElement>(
    call: Call<'_>,
    dgates: View<'a, T, 3>,
    w: View<'a, T, 2>,
    dx: ViewMut<'a, T, 3>,
) -> Result<()> {
    contract("tng,gi->tni", dgates, w, dx).deterministic(true).launch(call.stream)
}

/// One step of an operand that may be absent.
pub(super) fn step<'v, T: Element>(
    of: &'v mut Option<ViewMut<'_, T, 3>>,
    s: usize,
) -> Result<Option<ViewMut<'v, T, 2>>> {
    Ok(of.as_mut().map(|of| of.reborrow().select(0, s)).transpose()?)
}
