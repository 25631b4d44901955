//! The gradients of attention.

use super::kernels::backward::{InnerInstance, OfKeysPool, OfQueriesPool, inner, of_keys_tuned, of_queries_tuned};
use super::shape::{Extents, Span, all_depths, by_depth, part, part_mut, scale_of};
use crate::Result;
use crate::element::{FloatElement, operation};
use crate::grid::parts;
use crate::lent::workspace;
use triton::prelude::*;

all_depths!(Keys: OfKeysPool);
all_depths!(Queries: OfQueriesPool);

/// Builder of the gradients of attention, returned by [`attention_backward`].
#[must_use = "nothing is computed until `.launch(..)`"]
#[derive(Debug)]
pub struct AttentionBackward<'a, T> {
    qkv: [View<'a, T, 4>; 3],
    o: View<'a, T, 4>,
    lse: View<'a, f32, 3>,
    d_o: View<'a, T, 4>,
    gradients: [ViewMut<'a, T, 4>; 3],
    scale: Option<f32>,
    span: Span,
}

/// The gradients of q, k and v from that of o, where o and lse are what [`attention`](super::attention) has stored, with the same options.
///
/// Scores are computed again from q, k and lse, once for dk and dv and once for dq: nothing is added atomically, and each launch has the same
/// result to the bit.
///
/// A row of q, k, v or the gradient that is not finite reaches all rows of a tile of which one sees it.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::attention::{attention, attention_backward};
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (tokens, depth) = (2, 16);
/// let (shape, rows) = ([1, 1, tokens, depth], [1, 1, tokens]);
/// let x = stream.tensor(&vec![1.0f32; tokens * depth], shape)?;
/// let (mut o, mut lse) = (stream.tensor_uninit::<f32, _>(shape)?, stream.tensor_uninit::<f32, _>(rows)?);
/// attention(&x, &x, &x, &mut o).lse(&mut lse).launch(&stream)?;
/// let gradient = || stream.uninit::<f32>(tokens * depth);
/// let (mut dq, mut dk, mut dv) = (gradient()?, gradient()?, gradient()?);
/// let qkv = [&x, &x, &x];
/// let gradients = [dq.view_mut(shape)?, dk.view_mut(shape)?, dv.view_mut(shape)?];
/// attention_backward(qkv, &o, &lse, &x, gradients).launch(&stream)?;
/// assert!(stream.download(&dv)?.iter().all(|dv| (dv - 1.0).abs() < 1e-6));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As of [`attention`](super::attention).
pub fn attention_backward<'a, T: FloatElement>(
    qkv: [impl IntoView<'a, T, 4>; 3],
    o: impl IntoView<'a, T, 4>,
    lse: impl IntoView<'a, f32, 3>,
    d_o: impl IntoView<'a, T, 4>,
    gradients: [impl IntoViewMut<'a, T, 4>; 3],
) -> AttentionBackward<'a, T> {
    AttentionBackward {
        qkv: qkv.map(IntoView::into_view),
        o: o.into_view(),
        lse: lse.into_view(),
        d_o: d_o.into_view(),
        gradients: gradients.map(IntoViewMut::into_view_mut),
        scale: None,
        span: Span::default(),
    }
}

impl<T: FloatElement> AttentionBackward<'_, T> {
    /// As of [`Attention`](super::Attention::causal).
    pub fn causal(self) -> Self {
        Self { span: self.span.causal(), ..self }
    }

    /// As of [`Attention`](super::Attention::window).
    pub fn window(self, left: usize, right: usize) -> Self {
        Self { span: Span::window(left, right), ..self }
    }

    /// As of [`Attention`](super::Attention::scale).
    pub fn scale(self, scale: f32) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// Enqueues them.
    ///
    /// # Errors
    /// As of [`attention`](super::attention).
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Backward>(self, stream)
    }
}

operation!(Backward: AttentionBackward by enqueue);

fn enqueue<T: FloatElement>(of: AttentionBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: InnerInstance<T> + Keys<T> + Queries<T>,
{
    let op = "attention_backward";
    let AttentionBackward { qkv: [q, k, v], o, lse, d_o, gradients: [mut dq, mut dk, mut dv], scale, span } = of;
    let extents = Extents::new(op, q.shape(), k.shape(), v.shape())?;
    for (operand, found) in [("o", o.shape()), ("d_o", d_o.shape()), ("dq", dq.shape())] {
        extents.like_q(op, operand, found)?;
    }
    extents.sums(op, "lse", lse.shape())?;
    extents.like_k(op, "dk", dk.shape())?;
    extents.like_k(op, "dv", dv.shape())?;
    let Extents { batch, heads, key_heads, queries, keys, depth } = extents;
    let (factor, Span { left, right }, group) = (scale_of(scale, depth), span, extents.group());
    let scale = factor * std::f32::consts::LOG2_E;
    let shape = [batch, heads, queries];
    let mut delta = workspace::<f32>(op, stream, shape.iter().product())?;
    for (images, of) in parts(batch, 1).flat_map(|images| parts(heads, 1).map(move |of| (images.clone(), of))) {
        let delta = delta.view_mut(shape)?.narrow(0, images.clone())?.narrow(1, of.clone())?;
        let grid = (queries.div_ceil(16), of.len(), images.len());
        if queries > 0 {
            inner::<T>(part(o, &images, &of)?, part(d_o, &images, &of)?, delta).launch(stream, grid)?;
        }
    }
    let delta = delta.view(shape)?;
    for (images, of) in parts(batch, 1).flat_map(|images| parts(key_heads, 1).map(move |of| (images.clone(), of))) {
        let of_q = of.start * group..of.end * group;
        let (q, d_o) = (part(q, &images, &of_q)?, part(d_o, &images, &of_q)?);
        let (k, v, group) = (part(k, &images, &of)?, part(v, &images, &of)?, group as i32);
        let (lse, delta) = (part(lse, &images, &of_q)?, part(delta, &images, &of_q)?);
        let (dk, dv) = (part_mut(&mut dk, &images, &of)?, part_mut(&mut dv, &images, &of)?);
        if keys > 0 {
            by_depth!(depth, |D| {
                of_keys_tuned::<T, D>(q, k, v, d_o, lse, delta, dk, dv, scale, factor, left, right, group)
                    .launch(stream, |tile| (keys.div_ceil(tile.BN as usize), of.len(), images.len()))
            })?;
        }
    }
    if queries == 0 {
        return Ok(());
    }
    for images in parts(batch, 1) {
        for (of_q, of_k, group) in extents.parts_of_heads() {
            let (q, d_o) = (part(q, &images, &of_q)?, part(d_o, &images, &of_q)?);
            let (k, v) = (part(k, &images, &of_k)?, part(v, &images, &of_k)?);
            let (lse, delta) = (part(lse, &images, &of_q)?, part(delta, &images, &of_q)?);
            let dq = part_mut(&mut dq, &images, &of_q)?;
            by_depth!(depth, |D| {
                of_queries_tuned::<T, D>(q, k, v, d_o, lse, delta, dq, scale, factor, left, right, group)
                    .launch(stream, |of| (queries.div_ceil(of.BM as usize), of_q.len(), images.len()))
            })?;
        }
    }
    Ok(())
}
