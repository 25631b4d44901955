//! The cell of an LSTM, and its gradient.

use super::products::parts_of;
use crate::Result;
use crate::element::FloatElement;
use crate::flat::{corner, programs};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Gates: input, forget, cell, output.
pub(super) const GATES: usize = 4;

/// Gate k with its biases. Sums that are `in_place` are those of `activated`.
#[triton::function]
fn gate<T: Float>(
    gates: Tensor<f32, 3>,
    activated: TensorMut<f32, 3>,
    biases: (Tensor<T, 2>, Tensor<T, 2>),
    at: (i32, i32, i32),
    in_place: bool,
) -> Tile<f32> {
    let ((b_ih, b_hh), (n, k, j)) = (biases, at);
    let sums = if in_place { activated.load([n, k, j], [1, 1, 256]) } else { gates.load([n, k, j], [1, 1, 256]) };
    let bias = b_ih.load([k, j], [1, 256]).to::<f32>() + b_hh.load([k, j], [1, 256]).to::<f32>();
    sums.reshape([1, 256]) + bias
}

/// c and h from the sums of gates; a program has 256 units of a row. Biases and outputs other than c and h may be absent.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
pub(super) fn lstm_kernel<T: Float>(
    gates: Tensor<f32, 3>,
    b_ih: Tensor<T, 2>,
    b_hh: Tensor<T, 2>,
    c: TensorMut<f32, 2>,
    h: TensorMut<T, 2>,
    y: TensorMut<T, 2>,
    activated: TensorMut<f32, 3>,
    h_before: TensorMut<T, 2>,
    c_before: TensorMut<f32, 2>,
    in_place: bool,
) {
    let (n, j) = corner::<1, 256>(c.dim(1).to::<i32>());
    let i = sigmoid(gate::<T>(gates, activated, (b_ih, b_hh), (n, 0, j), in_place));
    let f = sigmoid(gate::<T>(gates, activated, (b_ih, b_hh), (n, 1, j), in_place));
    let g = tanh(gate::<T>(gates, activated, (b_ih, b_hh), (n, 2, j), in_place));
    let o = sigmoid(gate::<T>(gates, activated, (b_ih, b_hh), (n, 3, j), in_place));
    activated.store([n, 0, j], i.reshape([1, 1, 256]));
    activated.store([n, 1, j], f.reshape([1, 1, 256]));
    activated.store([n, 2, j], g.reshape([1, 1, 256]));
    activated.store([n, 3, j], o.reshape([1, 1, 256]));
    let past = c.load([n, j], [1, 256]);
    c_before.store([n, j], past);
    h_before.store([n, j], h.load([n, j], [1, 256]));
    let next = fma(f, past, i * g);
    c.store([n, j], next);
    let out = (o * tanh(next)).to::<T>();
    h.store([n, j], out);
    y.store([n, j], out);
}

/// The gradients of gates, and in dc that of the cell before in the place of that of the cell after. The gradient of h is dh + dy, of which one may be absent.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
pub(super) fn lstm_backward_kernel<T: Float>(
    activated: Tensor<f32, 3>,
    c: Tensor<f32, 2>,
    dh: Tensor<f32, 2>,
    dy: Tensor<T, 2>,
    dc: TensorMut<f32, 2>,
    dgates: TensorMut<T, 3>,
) {
    let (n, j) = corner::<1, 256>(c.dim(1).to::<i32>());
    let i = activated.load([n, 0, j], [1, 1, 256]).reshape([1, 256]);
    let f = activated.load([n, 1, j], [1, 1, 256]).reshape([1, 256]);
    let g = activated.load([n, 2, j], [1, 1, 256]).reshape([1, 256]);
    let o = activated.load([n, 3, j], [1, 1, 256]).reshape([1, 256]);
    let past = c.load([n, j], [1, 256]);
    let t = tanh(fma(f, past, i * g));
    let d = dh.load([n, j], [1, 256]) + dy.load([n, j], [1, 256]).to::<f32>();
    let d_cell = fma(d * o, 1.0 - t * t, dc.load([n, j], [1, 256]));
    dgates.store([n, 0, j], (d_cell * g * (i * (1.0 - i))).reshape([1, 1, 256]).to::<T>());
    dgates.store([n, 1, j], (d_cell * past * (f * (1.0 - f))).reshape([1, 1, 256]).to::<T>());
    dgates.store([n, 2, j], (d_cell * i * (1.0 - g * g)).reshape([1, 1, 256]).to::<T>());
    dgates.store([n, 3, j], (d * t * (o * (1.0 - o))).reshape([1, 1, 256]).to::<T>());
    dc.store([n, j], d_cell * f);
}

/// The operands of a step. Sums of gates are in `gates`, or else in `activated`.
pub(super) struct Step<'a, T> {
    pub(super) gates: Option<View<'a, f32, 2>>,
    pub(super) biases: Option<[View<'a, T, 1>; 2]>,
    pub(super) c: ViewMut<'a, f32, 2>,
    pub(super) h: ViewMut<'a, T, 2>,
    pub(super) y: Option<ViewMut<'a, T, 2>>,
    pub(super) activated: Option<ViewMut<'a, f32, 2>>,
    pub(super) h_before: Option<ViewMut<'a, T, 2>>,
    pub(super) c_before: Option<ViewMut<'a, f32, 2>>,
}

impl<T: FloatElement> Step<'_, T>
where
    triton::Compiled: LstmKernelInstance<T>,
{
    pub(super) fn launch(self, call: Call<'_>) -> Result<()> {
        let (shape, in_place) = (self.c.shape(), self.gates.is_none());
        let parts = [GATES, shape[1]];
        let gates = call.view(self.gates.map(|gates| gates.split(1, parts)).transpose()?);
        let [b_ih, b_hh] = parts_of(call, self.biases, parts)?;
        let activated = call.view_mut(self.activated.map(|of| of.split(1, parts)).transpose()?);
        let (y, h_before) = (call.view_mut(self.y), call.view_mut(self.h_before));
        let c_before = call.view_mut(self.c_before);
        let kernel = lstm_kernel::<T>(gates, b_ih, b_hh, self.c, self.h, y, activated, h_before, c_before, in_place);
        call.launch(kernel, programs(shape, 1, 256))
    }
}

/// The operands of the gradient of a step.
pub(super) struct Back<'a, T> {
    pub(super) activated: View<'a, f32, 2>,
    pub(super) c: View<'a, f32, 2>,
    pub(super) dh: View<'a, f32, 2>,
    pub(super) dy: Option<View<'a, T, 2>>,
    pub(super) dc: ViewMut<'a, f32, 2>,
    pub(super) dgates: ViewMut<'a, T, 2>,
}

impl<T: FloatElement> Back<'_, T>
where
    triton::Compiled: LstmBackwardKernelInstance<T>,
{
    pub(super) fn launch(self, call: Call<'_>) -> Result<()> {
        let shape = self.c.shape();
        let parts = [GATES, shape[1]];
        let (activated, dgates) = (self.activated.split(1, parts)?, self.dgates.split(1, parts)?);
        let kernel = lstm_backward_kernel::<T>(activated, self.c, self.dh, call.view(self.dy), self.dc, dgates);
        call.launch(kernel, programs(shape, 1, 256))
    }
}

/// The step of an LSTM after its products (Hochreiter and Schmidhuber, "Long short-term memory", 1997; Gers, Schmidhuber and Cummins, "Learning to
/// forget", 2000), as `torch.nn.LSTMCell`: of the gates i, f, g and o = x · W_ihᵀ + h · W_hhᵀ, which are the four parts of a row,
/// c = σ(f) · c + σ(i) · tanh(g), in place, and h = σ(o) · tanh(c). [`lstm`](super::lstm()) computes the products, too.
///
/// Gates and c are in `f32`, h is rounded once. A NaN or an infinity reaches the c and h of its unit alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::linear::gemm;
/// use triton_kernels::recurrent::lstm_cell;
///
/// let stream = Device::cpu().stream()?;
/// // Two inputs and a unit, whose gates are all open.
/// let (x, w_ih) = (stream.tensor(&[1.0f32, 2.0], [1, 2])?, stream.tensor(&[20.0f32; 8], [4, 2])?);
/// let (mut gates, mut h) = (stream.tensor_uninit::<f32, _>([1, 4])?, stream.tensor_uninit::<f32, _>([1, 1])?);
/// let mut c = stream.tensor(&[1.0f32], [1, 1])?;
/// gemm(&x, w_ih.transpose(), &mut gates).launch(&stream)?;
/// lstm_cell(&gates, &mut c, &mut h).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [2.0]);
/// assert!((stream.download(&h)?[0] - 2f32.tanh()).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LstmCell)]
pub fn lstm_cell<T: FloatElement>(
    call: Call,
    #[axes(n, g)] gates: View<f32, 2>,
    #[axes(n, g / 4)] c: ViewMut<f32, 2>,
    #[axes(n, g / 4)] h: ViewMut<T, 2>,
    /// Adds both to the gates.
    #[axes(g)]
    #[setter(biases)]
    b_ih: Option<View<T, 1>>,
    #[beside(b_ih)]
    #[axes(g)]
    b_hh: Option<View<T, 1>>,
    /// Stores the values of the gates and c as it was, which the gradient needs.
    #[axes(n, g)]
    #[setter(statistics)]
    activated: Option<ViewMut<f32, 2>>,
    #[beside(activated)]
    #[axes(n, g / 4)]
    c_before: Option<ViewMut<f32, 2>>,
) -> Result<()> {
    gates_of(call, gates.shape()[1])?;
    if c.shape().contains(&0) {
        return Ok(());
    }
    let biases = b_ih.zip(b_hh).map(|(b_ih, b_hh)| [b_ih, b_hh]);
    Step { gates: Some(gates), biases, c, h, y: None, activated, h_before: None, c_before }.launch(call)
}

/// That there are as many of each gate.
pub(super) fn gates_of(call: Call<'_>, gates: usize) -> Result<()> {
    let fix = "a row has four gates of each unit";
    call.value("the number of gates", gates, gates.is_multiple_of(GATES), "a multiple of 4", fix)
}

/// The gradients of [`lstm_cell`]: dgates for the sums of the gates, and in dc, which is the gradient for the cell after, that for the cell before in its
/// place. The values of the gates and c, the cell before, are what the forward operation has stored by [`statistics`](LstmCell::statistics).
///
/// dh is the gradient for h from what comes later; [`dy`](LstmCellBackward::dy) adds one of another type. The gradient for the h before is dgates · W_hh,
/// that for x dgates · W_ih, and both biases have the sums of the columns of dgates.
///
/// A NaN or an infinity reaches the gradients of its unit alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::lstm_cell_backward;
///
/// let stream = Device::cpu().stream()?;
/// // The gates i, f, g, o of one unit, where tanh(c) is 0.
/// let activated = stream.tensor(&[0.5f32, 0.5, 0.0, 1.0], [1, 4])?;
/// let (c, dh) = (stream.tensor(&[0.0f32], [1, 1])?, stream.tensor(&[1.0f32], [1, 1])?);
/// let (mut dc, mut dgates) = (stream.tensor(&[3.0f32], [1, 1])?, stream.tensor_uninit::<f32, _>([1, 4])?);
/// lstm_cell_backward(&activated, &c, &dh, &mut dc, &mut dgates).launch(&stream)?;
/// assert_eq!(stream.download(&dgates)?, [0.0, 0.0, 2.0, 0.0]);
/// assert_eq!(stream.download(&dc)?, [2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LstmCellBackward)]
pub fn lstm_cell_backward<T: FloatElement>(
    call: Call,
    #[axes(n, g)] activated: View<f32, 2>,
    #[axes(n, g / 4)] c: View<f32, 2>,
    #[axes(n, g / 4)] dh: View<f32, 2>,
    #[axes(n, g / 4)] dc: ViewMut<f32, 2>,
    #[axes(n, g)] dgates: ViewMut<T, 2>,
    /// Adds a gradient for h.
    #[axes(n, g / 4)]
    dy: Option<View<T, 2>>,
) -> Result<()> {
    gates_of(call, activated.shape()[1])?;
    if c.shape().contains(&0) {
        return Ok(());
    }
    Back { activated, c, dh, dy, dc, dgates }.launch(call)
}
