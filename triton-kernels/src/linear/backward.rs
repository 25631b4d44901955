//! The gradients of a linear layer.

use super::builder::gemm;
use super::column_sums::column_sums;
use super::pools::GemmElement;
use crate::element::{FloatElement, SumOf};
use crate::error::{Result, extent};
use triton::{Element, IntoView, IntoViewMut, Stream, View, ViewMut};

/// Builder of the gradients of a linear layer, returned by [`linear_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct LinearBackward<'a, T, W, B> {
    x: View<'a, T, 2>,
    w: View<'a, T, 2>,
    dy: View<'a, T, 2>,
    dx: Option<ViewMut<'a, T, 2>>,
    dw: Option<ViewMut<'a, W, 2>>,
    db: Option<ViewMut<'a, B, 1>>,
    accumulate: bool,
    deterministic: bool,
}

/// The gradients of a linear layer y = x · w + b for x \[m, k\], w \[k, n\] and b \[n\], from dy \[m, n\]. Select them with
/// [`dx`](LinearBackward::dx), [`dw`](LinearBackward::dw) and [`db`](LinearBackward::db).
///
/// dx = dy · wᵀ, dw = xᵀ · dy, db = the sums of the columns of dy. A layer with weights stored as \[n, k\] passes transposed views of the weights
/// and of their gradient.
///
/// A NaN or an infinity reaches the rows and columns of the gradients that it is a term of, and no others.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::linear::linear_backward;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (m, n, k) = (2, 1, 3);
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [m, k])?;
/// let (w, dy) = (stream.tensor(&[1.0f32, 0.0, -1.0], [k, n])?, stream.tensor(&[1.0f32, 10.0], [m, n])?);
/// let (mut dx, mut dw, mut db) = (stream.tensor_uninit::<f32, _>([m, k])?, stream.tensor_uninit::<f32, _>([k, n])?, stream.tensor_uninit::<f32, _>([n])?);
/// linear_backward(&x, &w, &dy)
///     .dx(&mut dx)
///     .dw(&mut dw)
///     .db(&mut db)
///     .launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 0.0, -1.0, 10.0, 0.0, -10.0]);
/// assert_eq!(stream.download(&dw)?, [41.0, 52.0, 63.0]);
/// assert_eq!(stream.download(&db)?, [11.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), or an error of the device.
pub fn linear_backward<'a, T: GemmElement<T> + FloatElement>(
    x: impl IntoView<'a, T, 2>,
    w: impl IntoView<'a, T, 2>,
    dy: impl IntoView<'a, T, 2>,
) -> LinearBackward<'a, T, T, T> {
    LinearBackward {
        x: x.into_view(),
        w: w.into_view(),
        dy: dy.into_view(),
        dx: None,
        dw: None,
        db: None,
        accumulate: false,
        deterministic: false,
    }
}

impl<'a, T, W, B> LinearBackward<'a, T, W, B> {
    /// Asks for the gradient of x, \[m, k\].
    pub fn dx(self, dx: impl IntoViewMut<'a, T, 2>) -> Self {
        LinearBackward { dx: Some(dx.into_view_mut()), ..self }
    }

    /// Asks for the gradient of w, \[k, n\], in the type of the operands or in `f32`.
    pub fn dw<V: Element>(self, dw: impl IntoViewMut<'a, V, 2>) -> LinearBackward<'a, T, V, B> {
        let LinearBackward { x, w, dy, dx, db, accumulate, deterministic, .. } = self;
        LinearBackward { x, w, dy, dx, dw: Some(dw.into_view_mut()), db, accumulate, deterministic }
    }

    /// Asks for the gradient of the bias, \[n\], in the type of the operands or in `f32`.
    pub fn db<V: Element>(self, db: impl IntoViewMut<'a, V, 1>) -> LinearBackward<'a, T, W, V> {
        let LinearBackward { x, w, dy, dx, dw, accumulate, deterministic, .. } = self;
        LinearBackward { x, w, dy, dx, dw, db: Some(db.into_view_mut()), accumulate, deterministic }
    }

    /// Adds to what dw holds, as a batch in several parts does. dx and db are overwritten.
    pub fn accumulate(self, accumulate: bool) -> Self {
        LinearBackward { accumulate, ..self }
    }

    /// Adds in one order, so that each launch has the same result to the bit.
    pub fn deterministic(self, deterministic: bool) -> Self {
        LinearBackward { deterministic, ..self }
    }
}

impl<T, W, B> LinearBackward<'_, T, W, B>
where
    T: GemmElement<T> + GemmElement<W> + FloatElement,
    W: Element,
    B: SumOf<T>,
{
    /// Enqueues what was asked for.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), and what the device says. Shapes are checked before anything is enqueued.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let LinearBackward { x, w, dy, dx, dw, db, accumulate, deterministic } = self;
        let ([m, k], [depth, n]) = (x.shape(), w.shape());
        let fix = "x is [m, k], w is [k, n], dy is [m, n], db is [n]";
        let same = |operand, found: [usize; 2], expected: [usize; 2]| {
            (0..2).try_for_each(|i| extent("linear_backward", operand, i, [found[i], expected[i]], fix))
        };
        same("w", [depth, n], [k, n])?;
        same("dy", dy.shape(), [m, n])?;
        dx.as_ref().map_or(Ok(()), |dx| same("dx", dx.shape(), [m, k]))?;
        dw.as_ref().map_or(Ok(()), |dw| same("dw", dw.shape(), [k, n]))?;
        db.as_ref().map_or(Ok(()), |db| extent("linear_backward", "db", 0, [db.shape()[0], n], fix))?;
        if let Some(dx) = dx {
            gemm(dy, w.transpose(), dx).deterministic(deterministic).launch(stream)?;
        }
        if let Some(dw) = dw {
            let beta = if accumulate { 1.0 } else { 0.0 };
            gemm(x.transpose(), dy, dw).beta(beta).deterministic(deterministic).launch(stream)?;
        }
        if let Some(db) = db {
            column_sums(dy, db).launch(stream)?;
        }
        Ok(())
    }
}
