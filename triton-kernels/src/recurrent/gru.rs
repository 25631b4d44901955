//! A GRU over a sequence, and its gradients through time.

use super::gru_cell::{Back, Step, gates_of};
use super::products::{of_gradients, of_inputs, of_state, of_weights, step};
use crate::Result;
use crate::element::FloatElement;
use crate::linear::column_sums;
use crate::operation::{Call, operation};
use crate::sums::Sums;
use triton::prelude::*;

/// y\[s\] = h after [`gru_cell`](super::gru_cell()) of x\[s\], for each step s of a sequence, as `torch.nn.GRU` of one layer: x \[steps, rows, inputs\], the
/// weights of the gates r, z and n below each other. h is the state, \[rows, units\]: that before the sequence, and in its place that after it.
///
/// Products, types and the order of sums are as of [`lstm`](super::lstm()).
///
/// A NaN or an infinity of x reaches its row in its step and all later ones.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::gru;
///
/// let stream = Device::cpu().stream()?;
/// // Two steps of an input and a unit, of which an update gate that is half open keeps one half.
/// let x = stream.tensor(&[50.0f32, 50.0], [2, 1, 1])?;
/// let (w_ih, w_hh) = (stream.tensor(&[0.0f32, 0.0, 1.0], [3, 1])?, stream.tensor_zeros::<f32, _>([3, 1])?);
/// let (mut h, mut y) = (stream.tensor_zeros::<f32, _>([1, 1])?, stream.tensor_uninit::<f32, _>([2, 1, 1])?);
/// gru(&x, &w_ih, &w_hh, &mut h, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.5, 0.75]);
/// assert_eq!(stream.download(&h)?, [0.75]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Gru)]
pub fn gru<T: FloatElement>(
    call: Call,
    #[axes(t, n, i)] x: View<T, 3>,
    #[axes(g, i)] w_ih: View<T, 2>,
    #[axes(g, g / 3)] w_hh: View<T, 2>,
    #[axes(n, g / 3)] mut h: ViewMut<T, 2>,
    #[axes(t, n, g / 3)] mut y: ViewMut<T, 3>,
    /// Adds b_ih to the gates of x, and b_hh to those of h.
    #[axes(g)]
    #[setter(biases)]
    b_ih: Option<View<T, 1>>,
    #[beside(b_ih)]
    #[axes(g)]
    b_hh: Option<View<T, 1>>,
    /// Stores what the gradient needs of each step: the values r, z, n and nₕ of each unit, and h as it was before.
    #[axes(t, n, g / 3 * 4)]
    #[setter(statistics)]
    mut activated: Option<ViewMut<f32, 3>>,
    #[beside(activated)]
    #[axes(t, n, g / 3)]
    mut h_before: Option<ViewMut<T, 3>>,
) -> Result<()> {
    let ([steps, rows, _], [gates, _]) = (x.shape(), w_ih.shape());
    gates_of(call, gates)?;
    if steps == 0 || rows == 0 || gates == 0 {
        return Ok(());
    }
    let biases = b_ih.zip(b_hh).map(|(b_ih, b_hh)| [b_ih, b_hh]);
    let in_place = activated.is_some();
    let mut memory = call.workspace::<f32>(if in_place { 0 } else { steps * rows * gates })?;
    let mut of_h = call.workspace::<f32>(rows * gates)?;
    let mut sums = match activated.as_mut() {
        Some(activated) => activated.reborrow(),
        None => memory.view_mut([steps, rows, gates])?,
    };
    of_inputs(call, x, w_ih, sums.reborrow().narrow(2, ..gates)?)?;
    for s in 0..steps {
        of_state(call, h.as_view(), w_hh, of_h.view_mut([rows, gates])?, 0.0)?;
        let sums = sums.reborrow().select(0, s)?;
        let (gates_x, activated) = if in_place { (None, Some(sums)) } else { (Some(sums.as_view()), None) };
        let of = Step {
            gates_x,
            gates_h: of_h.view([rows, gates])?,
            biases,
            h: h.reborrow(),
            y: Some(y.reborrow().select(0, s)?),
            activated,
            h_before: step(&mut h_before, s)?,
        };
        of.launch(call)?;
    }
    Ok(())
}

/// The gradients of [`gru`] through time, from dy for y. The values and states are what the forward operation has stored by
/// [`statistics`](Gru::statistics). dh is the gradient for the state after the sequence, 0 where nothing depends on it, and in its place that for the state before
/// it.
///
/// dx is stored; [`dw`](GruBackward::dw) and [`db`](GruBackward::db) ask for the gradients of weights and biases. They are the sums over all steps, each one
/// product.
///
/// A NaN or an infinity of dy reaches its row of dx in its step and all earlier ones, and the gradients of weights and biases.
///
/// ```
/// use triton::Device;
/// use triton_kernels::recurrent::{gru, gru_backward};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 1.0], [2, 1, 1])?;
/// let (w_ih, w_hh) = (stream.tensor(&[0.0f32, 0.0, 1.0], [3, 1])?, stream.tensor_zeros::<f32, _>([3, 1])?);
/// let (mut h, mut y) = (stream.tensor_zeros::<f32, _>([1, 1])?, stream.tensor_uninit::<f32, _>([2, 1, 1])?);
/// let (mut values, mut hs) = (stream.tensor_uninit::<f32, _>([2, 1, 4])?, stream.tensor_uninit::<f32, _>([2, 1, 1])?);
/// gru(&x, &w_ih, &w_hh, &mut h, &mut y).statistics(&mut values, &mut hs).launch(&stream)?;
///
/// // Of the last y, of which each step before keeps one half.
/// let (dy, mut dx) = (stream.tensor(&[0.0f32, 1.0], [2, 1, 1])?, stream.tensor_uninit::<f32, _>([2, 1, 1])?);
/// let mut dh = stream.tensor_zeros::<f32, _>([1, 1])?;
/// gru_backward(&x, &w_ih, &w_hh, &values, &hs, &dy, &mut dh, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dh)?, [0.25]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GruBackward)]
pub fn gru_backward<T: FloatElement>(
    call: Call,
    #[axes(t, n, i)] x: View<T, 3>,
    #[axes(g, i)] w_ih: View<T, 2>,
    #[axes(g, g / 3)] w_hh: View<T, 2>,
    #[axes(t, n, g / 3 * 4)] activated: View<f32, 3>,
    #[axes(t, n, g / 3)] h_before: View<T, 3>,
    #[axes(t, n, g / 3)] dy: View<T, 3>,
    #[axes(n, g / 3)] mut dh: ViewMut<f32, 2>,
    #[axes(t, n, i)] dx: ViewMut<T, 3>,
    /// Computes the gradients of the weights, too.
    #[axes(g, i)]
    #[setter(dw)]
    dw_ih: Option<ViewMut<T, 2>>,
    #[beside(dw_ih)]
    #[axes(g, g / 3)]
    dw_hh: Option<ViewMut<T, 2>>,
    /// Computes the gradients of the biases, too, of `T` or of `f32`.
    #[axes(g)]
    #[setter(db)]
    db_ih: Option<Sums<T>>,
    #[beside(db_ih)]
    #[axes(g)]
    db_hh: Option<Sums<T>>,
) -> Result<()> {
    let ([steps, rows, _], [gates, _]) = (x.shape(), w_ih.shape());
    gates_of(call, gates)?;
    let shape = [steps, rows, gates];
    let (mut of_x, mut of_h) =
        (call.workspace::<T>(shape.iter().product())?, call.workspace::<T>(shape.iter().product())?);
    let (mut dgates_x, mut dgates_h) = (of_x.view_mut(shape)?, of_h.view_mut(shape)?);
    if rows > 0 && gates > 0 {
        for s in (0..steps).rev() {
            let mut dgates_h = dgates_h.reborrow().select(0, s)?;
            let of = Back {
                activated: activated.select(0, s)?,
                h: h_before.select(0, s)?,
                dy: Some(dy.select(0, s)?),
                dh: dh.reborrow(),
                dgates_x: dgates_x.reborrow().select(0, s)?,
                dgates_h: dgates_h.reborrow(),
            };
            of.launch(call)?;
            of_state(call, dgates_h.as_view(), w_hh.transpose(), dh.reborrow(), 1.0)?;
        }
    }
    let (dgates_x, dgates_h) = (dgates_x.as_view(), dgates_h.as_view());
    of_gradients(call, dgates_x, w_ih, dx)?;
    of_weights(call, [dgates_x, dgates_h], [x, h_before], [dw_ih, dw_hh])?;
    for (dgates, db) in [(dgates_x, db_ih), (dgates_h, db_hh)] {
        if let Some(db) = db {
            column_sums(dgates, db).launch(call.stream)?;
        }
    }
    Ok(())
}
