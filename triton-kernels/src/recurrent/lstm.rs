//! An LSTM over a sequence, and its gradients through time.

use super::lstm_cell::{Back, Step, gates_of};
use super::products::{of_gradients, of_inputs, of_state, of_weights, step};
use crate::Result;
use crate::element::FloatElement;
use crate::linear::column_sums;
use crate::operation::{Call, operation};
use crate::sums::Sums;
use triton::prelude::*;

/// y\[s\] = h after [`lstm_cell`](super::lstm_cell()) of x\[s\], for each step s of a sequence, as `torch.nn.LSTM` of one layer: x \[steps, rows, inputs\], the
/// weights of the gates i, f, g and o below each other. h and c are the state, \[rows, units\]: that before the sequence, and in its place that after it. A
/// sequence that arrives in parts continues where it was, in a graph that is captured once, too.
///
/// The inputs of all steps are one product, or, where steps and rows are not one axis in memory, one batch of products. Then each step is a product and a
/// launch of the cell. Gates and c are in `f32`; h is rounded after each step. Sums are added in an order that follows from the shapes: the
/// result is the same each time.
///
/// A NaN or an infinity of x reaches its row in its step and all later ones.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::lstm;
///
/// let stream = Device::cpu().stream()?;
/// // Two steps of an input and a unit, whose gates are open for an input of 1.
/// let x = stream.tensor(&[1.0f32, 1.0], [2, 1, 1])?;
/// let (w_ih, w_hh) = (stream.tensor(&[50.0f32; 4], [4, 1])?, stream.tensor_zeros::<f32, _>([4, 1])?);
/// let (mut h, mut c) = (stream.tensor_zeros::<f32, _>([1, 1])?, stream.tensor_zeros::<f32, _>([1, 1])?);
/// let mut y = stream.tensor_uninit::<f32, _>([2, 1, 1])?;
/// lstm(&x, &w_ih, &w_hh, &mut h, &mut c, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [2.0]);
/// let y = stream.download(&y)?;
/// assert!((y[0] - 1f32.tanh()).abs() < 1e-6 && (y[1] - 2f32.tanh()).abs() < 1e-6);
/// assert_eq!(stream.download(&h)?[0], y[1]);
/// // The sequence goes on.
/// let mut y = stream.tensor_uninit::<f32, _>([2, 1, 1])?;
/// lstm(&x, &w_ih, &w_hh, &mut h, &mut c, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [4.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Lstm)]
pub fn lstm<T: FloatElement>(
    call: Call,
    #[axes(t, n, i)] x: View<T, 3>,
    #[axes(g, i)] w_ih: View<T, 2>,
    #[axes(g, g / 4)] w_hh: View<T, 2>,
    #[axes(n, g / 4)] mut h: ViewMut<T, 2>,
    #[axes(n, g / 4)] mut c: ViewMut<f32, 2>,
    #[axes(t, n, g / 4)] mut y: ViewMut<T, 3>,
    /// Adds both to the gates.
    #[axes(g)]
    #[setter(biases)]
    b_ih: Option<View<T, 1>>,
    #[beside(b_ih)]
    #[axes(g)]
    b_hh: Option<View<T, 1>>,
    /// Stores what the gradient needs of each step: the values of the gates, and h and c as they were before it.
    #[axes(t, n, g)]
    #[setter(statistics)]
    mut activated: Option<ViewMut<f32, 3>>,
    #[beside(activated)]
    #[axes(t, n, g / 4)]
    mut h_before: Option<ViewMut<T, 3>>,
    #[beside(activated)]
    #[axes(t, n, g / 4)]
    mut c_before: Option<ViewMut<f32, 3>>,
) -> Result<()> {
    let ([steps, rows, _], [gates, _]) = (x.shape(), w_ih.shape());
    gates_of(call, gates)?;
    if steps == 0 || rows == 0 || gates == 0 {
        return Ok(());
    }
    let biases = b_ih.zip(b_hh).map(|(b_ih, b_hh)| [b_ih, b_hh]);
    let in_place = activated.is_some();
    let mut memory = call.workspace::<f32>(if in_place { 0 } else { steps * rows * gates })?;
    let mut sums = match activated.as_mut() {
        Some(activated) => activated.reborrow(),
        None => memory.view_mut([steps, rows, gates])?,
    };
    of_inputs(call, x, w_ih, sums.reborrow())?;
    for s in 0..steps {
        let mut sums = sums.reborrow().select(0, s)?;
        of_state(call, h.as_view(), w_hh, sums.reborrow(), 1.0)?;
        let (gates, activated) = if in_place { (None, Some(sums)) } else { (Some(sums.as_view()), None) };
        let of = Step {
            gates,
            biases,
            c: c.reborrow(),
            h: h.reborrow(),
            y: Some(y.reborrow().select(0, s)?),
            activated,
            h_before: step(&mut h_before, s)?,
            c_before: step(&mut c_before, s)?,
        };
        of.launch(call)?;
    }
    Ok(())
}

/// The gradients of [`lstm`] through time (Werbos, "Backpropagation through time", 1990), from dy for y. The values and states are what the forward
/// operation has stored by [`statistics`](Lstm::statistics). dh and dc are the gradients for the state after the sequence, 0 where nothing depends on it, and in
/// their place those for the state before it: a sequence in parts goes back from the last part to the first one.
///
/// dx is stored; [`dw`](LstmBackward::dw) and [`db`](LstmBackward::db) ask for the gradients of weights and biases. They are the sums over all steps, each one
/// product.
///
/// A NaN or an infinity of dy reaches its row of dx in its step and all earlier ones, and the gradients of weights and biases.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::{lstm, lstm_backward};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 1.0], [2, 1, 1])?;
/// let (w_ih, w_hh) = (stream.tensor(&[0.5f32; 4], [4, 1])?, stream.tensor(&[0.5f32; 4], [4, 1])?);
/// let (mut h, mut c) = (stream.tensor_zeros::<f32, _>([1, 1])?, stream.tensor_zeros::<f32, _>([1, 1])?);
/// let (mut y, mut values) = (stream.tensor_uninit::<f32, _>([2, 1, 1])?, stream.tensor_uninit::<f32, _>([2, 1, 4])?);
/// let (mut hs, mut cs) = (stream.tensor_uninit::<f32, _>([2, 1, 1])?, stream.tensor_uninit::<f32, _>([2, 1, 1])?);
/// lstm(&x, &w_ih, &w_hh, &mut h, &mut c, &mut y).statistics(&mut values, &mut hs, &mut cs).launch(&stream)?;
///
/// // Of the sum of all y.
/// let (dy, mut dx) = (stream.tensor(&[1.0f32, 1.0], [2, 1, 1])?, stream.tensor_uninit::<f32, _>([2, 1, 1])?);
/// let (mut dh, mut dc) = (stream.tensor_zeros::<f32, _>([1, 1])?, stream.tensor_zeros::<f32, _>([1, 1])?);
/// let (mut dw_ih, mut dw_hh) = (stream.tensor_uninit::<f32, _>([4, 1])?, stream.tensor_uninit::<f32, _>([4, 1])?);
/// lstm_backward(&x, &w_ih, &w_hh, &values, &hs, &cs, &dy, &mut dh, &mut dc, &mut dx)
///     .dw(&mut dw_ih, &mut dw_hh)
///     .launch(&stream)?;
/// // More of an input makes more of the output.
/// assert!(stream.download(&dx)?.iter().all(|dx| *dx > 0.0));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LstmBackward)]
pub fn lstm_backward<T: FloatElement>(
    call: Call,
    #[axes(t, n, i)] x: View<T, 3>,
    #[axes(g, i)] w_ih: View<T, 2>,
    #[axes(g, g / 4)] w_hh: View<T, 2>,
    #[axes(t, n, g)] activated: View<f32, 3>,
    #[axes(t, n, g / 4)] h_before: View<T, 3>,
    #[axes(t, n, g / 4)] c_before: View<f32, 3>,
    #[axes(t, n, g / 4)] dy: View<T, 3>,
    #[axes(n, g / 4)] mut dh: ViewMut<f32, 2>,
    #[axes(n, g / 4)] mut dc: ViewMut<f32, 2>,
    #[axes(t, n, i)] dx: ViewMut<T, 3>,
    /// Computes the gradients of the weights, too.
    #[axes(g, i)]
    #[setter(dw)]
    dw_ih: Option<ViewMut<T, 2>>,
    #[beside(dw_ih)]
    #[axes(g, g / 4)]
    dw_hh: Option<ViewMut<T, 2>>,
    /// Computes the gradient of the biases, too, which is the same of both, of `T` or of `f32`.
    #[axes(g)]
    db: Option<Sums<T>>,
) -> Result<()> {
    let ([steps, rows, _], [gates, _]) = (x.shape(), w_ih.shape());
    gates_of(call, gates)?;
    let mut memory = call.workspace::<T>(steps * rows * gates)?;
    let mut dgates = memory.view_mut([steps, rows, gates])?;
    if rows > 0 && gates > 0 {
        for s in (0..steps).rev() {
            let mut dgates = dgates.reborrow().select(0, s)?;
            let of = Back {
                activated: activated.select(0, s)?,
                c: c_before.select(0, s)?,
                dh: dh.as_view(),
                dy: Some(dy.select(0, s)?),
                dc: dc.reborrow(),
                dgates: dgates.reborrow(),
            };
            of.launch(call)?;
            of_state(call, dgates.as_view(), w_hh.transpose(), dh.reborrow(), 0.0)?;
        }
    }
    let dgates = dgates.as_view();
    of_gradients(call, dgates, w_ih, dx)?;
    of_weights(call, [dgates; 2], [x, h_before], [dw_ih, dw_hh])?;
    if let Some(db) = db {
        column_sums(dgates, db).launch(call.stream)?;
    }
    Ok(())
}
