//! The gradients of attention.

use super::kernels::backward::{inner, of_keys_tuned, of_queries_tuned};
use super::shape::{Extents, Span, by_depth, part, part_mut, scale_of};
use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, operation};
use triton::prelude::*;

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
/// let gradient = || stream.tensor_uninit::<f32, _>(shape);
/// let (mut dq, mut dk, mut dv) = (gradient()?, gradient()?, gradient()?);
/// attention_backward(&x, &x, &x, &o, &lse, &x, &mut dq, &mut dk, &mut dv).launch(&stream)?;
/// assert!(stream.download(&dv)?.iter().all(|dv| (dv - 1.0).abs() < 1e-6));
/// # Ok(())
/// # }
/// ```
#[operation(AttentionBackward)]
pub fn attention_backward<T: FloatElement>(
    call: Call,
    #[axes(z, h, l, d)] q: View<T, 4>,
    #[axes(z, g, s, d)] k: View<T, 4>,
    #[axes(z, g, s, d)] v: View<T, 4>,
    #[axes(z, h, l, d)] o: View<T, 4>,
    #[axes(z, h, l)] lse: View<f32, 3>,
    #[axes(z, h, l, d)] d_o: View<T, 4>,
    #[axes(z, h, l, d)] mut dq: ViewMut<T, 4>,
    #[axes(z, g, s, d)] mut dk: ViewMut<T, 4>,
    #[axes(z, g, s, d)] mut dv: ViewMut<T, 4>,
    /// As of [`Attention::scale`](super::Attention::scale).
    scale: Option<f32>,
    /// As of [`Attention::causal`](super::Attention::causal).
    #[flag]
    causal: bool,
    /// As of [`Attention::window`](super::Attention::window).
    window: Option<(usize, usize)>,
) -> Result<()> {
    let extents = Extents::new(call, q.shape(), k.shape())?;
    let Extents { batch, heads, key_heads, queries, keys, depth } = extents;
    let (factor, group) = (scale_of(scale, depth), extents.group());
    let Span { left, right } = Span::new(causal, window);
    let scale = factor * std::f32::consts::LOG2_E;
    let shape = [batch, heads, queries];
    let mut delta = call.workspace::<f32>(shape.iter().product())?;
    for (images, of) in parts(batch, 1).flat_map(|images| parts(heads, 1).map(move |of| (images.clone(), of))) {
        let delta = delta.view_mut(shape)?.narrow(0, images.clone())?.narrow(1, of.clone())?;
        let grid = (queries.div_ceil(16), of.len(), images.len());
        if queries > 0 {
            call.launch(inner::<T>(part(o, &images, &of)?, part(d_o, &images, &of)?, delta), grid)?;
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
                let kernel = of_keys_tuned::<T, D>(q, k, v, d_o, lse, delta, dk, dv, scale, factor, left, right, group);
                call.tuned(kernel, |_| true, |tile| (keys.div_ceil(tile.BN as usize), of.len(), images.len()))
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
                let kernel = of_queries_tuned::<T, D>(q, k, v, d_o, lse, delta, dq, scale, factor, left, right, group);
                call.tuned(kernel, |_| true, |of| (queries.div_ceil(of.BM as usize), of_q.len(), images.len()))
            })?;
        }
    }
    Ok(())
}
