//! The cell of a GRU, and its gradient.

use super::products::parts_of;
use crate::Result;
use crate::element::FloatElement;
use crate::flat::{corner, programs};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Gates: reset, update, new.
pub(super) const GATES: usize = 3;

/// What the gradient needs of a unit: the gates, and the part of the new one that the reset gate multiplies.
pub(super) const KEPT: usize = 4;

/// Gate k of a product, with its bias.
#[triton::function]
fn gate<T: Float>(sums: Tile<f32>, bias: Tensor<T, 2>, k: i32, j: i32) -> Tile<f32> {
    sums.reshape([1, 256]) + bias.load([k, j], [1, 256]).to::<f32>()
}

/// Gate k of x, whose sums are those of `activated` if they are `in_place`.
#[triton::function]
fn gate_of_x<T: Float>(
    gates: Tensor<f32, 3>,
    activated: TensorMut<f32, 3>,
    bias: Tensor<T, 2>,
    at: (i32, i32, i32),
    in_place: bool,
) -> Tile<f32> {
    let (n, k, j) = at;
    let sums = if in_place { activated.load([n, k, j], [1, 1, 256]) } else { gates.load([n, k, j], [1, 1, 256]) };
    gate::<T>(sums, bias, k, j)
}

/// h from the sums of gates; a program has 256 units of a row. Biases and outputs other than h may be absent.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
pub(super) fn gru_kernel<T: Float>(
    gates_x: Tensor<f32, 3>,
    gates_h: Tensor<f32, 3>,
    b_ih: Tensor<T, 2>,
    b_hh: Tensor<T, 2>,
    h: TensorMut<T, 2>,
    y: TensorMut<T, 2>,
    activated: TensorMut<f32, 3>,
    h_before: TensorMut<T, 2>,
    in_place: bool,
) {
    let (n, j) = corner::<1, 256>(h.dim(1).to::<i32>());
    let r = gate_of_x::<T>(gates_x, activated, b_ih, (n, 0, j), in_place);
    let z = gate_of_x::<T>(gates_x, activated, b_ih, (n, 1, j), in_place);
    let v = gate_of_x::<T>(gates_x, activated, b_ih, (n, 2, j), in_place);
    let r = sigmoid(r + gate::<T>(gates_h.load([n, 0, j], [1, 1, 256]), b_hh, 0, j));
    let z = sigmoid(z + gate::<T>(gates_h.load([n, 1, j], [1, 1, 256]), b_hh, 1, j));
    let of_h = gate::<T>(gates_h.load([n, 2, j], [1, 1, 256]), b_hh, 2, j);
    let v = tanh(fma(r, of_h, v));
    activated.store([n, 0, j], r.reshape([1, 1, 256]));
    activated.store([n, 1, j], z.reshape([1, 1, 256]));
    activated.store([n, 2, j], v.reshape([1, 1, 256]));
    activated.store([n, 3, j], of_h.reshape([1, 1, 256]));
    let past = h.load([n, j], [1, 256]);
    h_before.store([n, j], past);
    let out = fma(z, past.to::<f32>() - v, v).to::<T>();
    h.store([n, j], out);
    y.store([n, j], out);
}

/// The gradients of both products, and in dh that of h before, but for its product, in the place of that of h after, to which dy is added.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
pub(super) fn gru_backward_kernel<T: Float>(
    activated: Tensor<f32, 3>,
    h: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dh: TensorMut<f32, 2>,
    dgates_x: TensorMut<T, 3>,
    dgates_h: TensorMut<T, 3>,
) {
    let (n, j) = corner::<1, 256>(h.dim(1).to::<i32>());
    let r = activated.load([n, 0, j], [1, 1, 256]).reshape([1, 256]);
    let z = activated.load([n, 1, j], [1, 1, 256]).reshape([1, 256]);
    let v = activated.load([n, 2, j], [1, 1, 256]).reshape([1, 256]);
    let of_h = activated.load([n, 3, j], [1, 1, 256]).reshape([1, 256]);
    let d = dh.load([n, j], [1, 256]) + dy.load([n, j], [1, 256]).to::<f32>();
    let dz = d * (h.load([n, j], [1, 256]).to::<f32>() - v) * (z * (1.0 - z));
    let dv = d * (1.0 - z) * (1.0 - v * v);
    let dr = dv * of_h * (r * (1.0 - r));
    let (dr, dz) = (dr.reshape([1, 1, 256]).to::<T>(), dz.reshape([1, 1, 256]).to::<T>());
    dgates_x.store([n, 0, j], dr);
    dgates_x.store([n, 1, j], dz);
    dgates_x.store([n, 2, j], dv.reshape([1, 1, 256]).to::<T>());
    dgates_h.store([n, 0, j], dr);
    dgates_h.store([n, 1, j], dz);
    dgates_h.store([n, 2, j], (dv * r).reshape([1, 1, 256]).to::<T>());
    dh.store([n, j], d * z);
}

/// The operands of a step. Sums of x are in `gates_x`, or else in `activated`.
pub(super) struct Step<'a, T> {
    pub(super) gates_x: Option<View<'a, f32, 2>>,
    pub(super) gates_h: View<'a, f32, 2>,
    pub(super) biases: Option<[View<'a, T, 1>; 2]>,
    pub(super) h: ViewMut<'a, T, 2>,
    pub(super) y: Option<ViewMut<'a, T, 2>>,
    pub(super) activated: Option<ViewMut<'a, f32, 2>>,
    pub(super) h_before: Option<ViewMut<'a, T, 2>>,
}

impl<T: FloatElement> Step<'_, T>
where
    triton::Compiled: GruKernelInstance<T>,
{
    pub(super) fn launch(self, call: Call<'_>) -> Result<()> {
        let (shape, in_place) = (self.h.shape(), self.gates_x.is_none());
        let parts = [GATES, shape[1]];
        let gates_x = call.view(self.gates_x.map(|gates| gates.split(1, parts)).transpose()?);
        let [b_ih, b_hh] = parts_of(call, self.biases, parts)?;
        let activated = call.view_mut(self.activated.map(|of| of.split(1, [KEPT, shape[1]])).transpose()?);
        let (y, h_before) = (call.view_mut(self.y), call.view_mut(self.h_before));
        let gates_h = self.gates_h.split(1, parts)?;
        let kernel = gru_kernel::<T>(gates_x, gates_h, b_ih, b_hh, self.h, y, activated, h_before, in_place);
        call.launch(kernel, programs(shape, 1, 256))
    }
}

/// The operands of the gradient of a step.
pub(super) struct Back<'a, T> {
    pub(super) activated: View<'a, f32, 2>,
    pub(super) h: View<'a, T, 2>,
    pub(super) dy: Option<View<'a, T, 2>>,
    pub(super) dh: ViewMut<'a, f32, 2>,
    pub(super) dgates_x: ViewMut<'a, T, 2>,
    pub(super) dgates_h: ViewMut<'a, T, 2>,
}

impl<T: FloatElement> Back<'_, T>
where
    triton::Compiled: GruBackwardKernelInstance<T>,
{
    pub(super) fn launch(self, call: Call<'_>) -> Result<()> {
        let shape = self.h.shape();
        let parts = [GATES, shape[1]];
        let activated = self.activated.split(1, [KEPT, shape[1]])?;
        let (dgates_x, dgates_h) = (self.dgates_x.split(1, parts)?, self.dgates_h.split(1, parts)?);
        let kernel = gru_backward_kernel::<T>(activated, self.h, call.view(self.dy), self.dh, dgates_x, dgates_h);
        call.launch(kernel, programs(shape, 1, 256))
    }
}

/// The step of a GRU after its products (Cho et al., "Learning phrase representations using RNN encoder–decoder", 2014), as `torch.nn.GRUCell`: of the
/// gates r, z and n of x · W_ihᵀ and of h · W_hhᵀ, which are the three parts of a row, r = σ(rₓ + rₕ), z = σ(zₓ + zₕ), n = tanh(nₓ + r · nₕ), and in place
/// h = (1 − z) · n + z · h. [`gru`](super::gru()) computes the products, too.
///
/// Gates are in `f32`, h is rounded once. A NaN or an infinity reaches the h of its unit alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::gru_cell;
///
/// let stream = Device::cpu().stream()?;
/// // An update gate that is half open.
/// let gates_x = stream.tensor(&[0.0f32, 0.0, 100.0], [1, 3])?;
/// let (gates_h, mut h) = (stream.tensor_zeros::<f32, _>([1, 3])?, stream.tensor(&[3.0f32], [1, 1])?);
/// gru_cell(&gates_x, &gates_h, &mut h).launch(&stream)?;
/// assert_eq!(stream.download(&h)?, [2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GruCell)]
pub fn gru_cell<T: FloatElement>(
    call: Call,
    #[axes(n, g)] gates_x: View<f32, 2>,
    #[axes(n, g)] gates_h: View<f32, 2>,
    #[axes(n, g / 3)] h: ViewMut<T, 2>,
    /// Adds b_ih to the gates of x, and b_hh to those of h.
    #[axes(g)]
    #[setter(biases)]
    b_ih: Option<View<T, 1>>,
    #[beside(b_ih)]
    #[axes(g)]
    b_hh: Option<View<T, 1>>,
    /// Stores what the gradient needs: the values r, z, n and nₕ of each unit, and h as it was.
    #[axes(n, g / 3 * 4)]
    #[setter(statistics)]
    activated: Option<ViewMut<f32, 2>>,
    #[beside(activated)]
    #[axes(n, g / 3)]
    h_before: Option<ViewMut<T, 2>>,
) -> Result<()> {
    gates_of(call, gates_x.shape()[1])?;
    if h.shape().contains(&0) {
        return Ok(());
    }
    let biases = b_ih.zip(b_hh).map(|(b_ih, b_hh)| [b_ih, b_hh]);
    Step { gates_x: Some(gates_x), gates_h, biases, h, y: None, activated, h_before }.launch(call)
}

/// That there are as many of each gate.
pub(super) fn gates_of(call: Call<'_>, gates: usize) -> Result<()> {
    let fix = "a row has three gates of each unit";
    call.value("the number of gates", gates, gates.is_multiple_of(GATES), "a multiple of 3", fix)
}

/// The gradients of [`gru_cell`]: those of the gates of x and of h, and in dh, which is the gradient for h after, that for h before without its product in
/// its place. The values and h, as it was before, are what the forward operation has stored by [`statistics`](GruCell::statistics).
///
/// The gradient for h before is dh + dgates_h · W_hh, that for x dgates_x · W_ih; the biases have the sums of the columns of dgates_x and of dgates_h.
///
/// A NaN or an infinity reaches the gradients of its unit alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::gru_cell_backward;
///
/// let stream = Device::cpu().stream()?;
/// // The values r, z, n and nₕ of one unit.
/// let (activated, h) = (stream.tensor(&[1.0f32, 0.5, 0.0, 2.0], [1, 4])?, stream.tensor(&[3.0f32], [1, 1])?);
/// let mut dh = stream.tensor(&[4.0f32], [1, 1])?;
/// let (mut of_x, mut of_h) = (stream.tensor_uninit::<f32, _>([1, 3])?, stream.tensor_uninit::<f32, _>([1, 3])?);
/// gru_cell_backward(&activated, &h, &mut dh, &mut of_x, &mut of_h).launch(&stream)?;
/// assert_eq!(stream.download(&of_x)?, [0.0, 3.0, 2.0]);
/// assert_eq!(stream.download(&dh)?, [2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GruCellBackward)]
pub fn gru_cell_backward<T: FloatElement>(
    call: Call,
    #[axes(n, k)] activated: View<f32, 2>,
    #[axes(n, k / 4)] h: View<T, 2>,
    #[axes(n, k / 4)] dh: ViewMut<f32, 2>,
    #[axes(n, k / 4 * 3)] dgates_x: ViewMut<T, 2>,
    #[axes(n, k / 4 * 3)] dgates_h: ViewMut<T, 2>,
    /// Adds a gradient for h.
    #[axes(n, k / 4)]
    dy: Option<View<T, 2>>,
) -> Result<()> {
    let kept = activated.shape()[1];
    let fix = "a row has four values of each unit";
    call.value("the number of values", kept, kept.is_multiple_of(KEPT), "a multiple of 4", fix)?;
    if h.shape().contains(&0) {
        return Ok(());
    }
    Back { activated, h, dy, dh, dgates_x, dgates_h }.launch(call)
}
