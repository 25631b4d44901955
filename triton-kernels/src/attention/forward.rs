//! Attention forward.

use super::kernels::forward::{ForwardPool, forward_tuned};
use super::shape::{Extents, Span, all_depths, by_depth, part, part_mut, scale_of};
use crate::Result;
use crate::element::{FloatElement, operation};
use crate::grid::parts;
use triton::prelude::*;

all_depths!(Forwards: ForwardPool);

/// Queries of a head that the smallest tile holds.
const FEW: usize = 64;

/// Builder of attention, returned by [`attention`].
#[must_use = "nothing is computed until `.launch(..)`"]
#[derive(Debug)]
pub struct Attention<'a, T> {
    q: View<'a, T, 4>,
    k: View<'a, T, 4>,
    v: View<'a, T, 4>,
    o: ViewMut<'a, T, 4>,
    lse: Option<ViewMut<'a, f32, 3>>,
    scale: Option<f32>,
    span: Span,
}

/// o = softmax(q · kᵀ · scale) · v of each head: of q and o \[Z, H, L, D\], k and v \[Z, G, S, D\], for Z sequences of L queries and S keys. H is a multiple
/// of G: neighbouring query heads share a head of k and v. Heads have at most 256 elements.
///
/// Products are added in `f32`; probabilities are rounded to `T` before they are multiplied with v.
///
/// A score that a query does not see has no influence on it, whatever it is. A row of v that is not finite reaches all queries of a tile of which one
/// sees it.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::attention::attention;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (tokens, depth) = (3, 16);
/// let x = stream.upload(&vec![0.0f32; tokens * depth])?;
/// let v: Vec<f32> = (0..tokens * depth).map(|i| (i / depth) as f32).collect();
/// let v = stream.upload(&v)?;
/// let mut o = stream.uninit::<f32>(tokens * depth)?;
/// let shape = [1, 1, tokens, depth];
/// attention(x.view(shape)?, x.view(shape)?, v.view(shape)?, o.view_mut(shape)?).causal().launch(&stream)?;
/// // Each token is the mean of those up to it.
/// assert_eq!(stream.download(&o)?.into_iter().step_by(depth).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) unless the heads of q are a multiple of those of k,
/// [`Error::Unsupported`](crate::Error::Unsupported) for longer heads, or an error of the device.
pub fn attention<'a, T: FloatElement>(
    q: impl IntoView<'a, T, 4>,
    k: impl IntoView<'a, T, 4>,
    v: impl IntoView<'a, T, 4>,
    o: impl IntoViewMut<'a, T, 4>,
) -> Attention<'a, T> {
    Attention {
        q: q.into_view(),
        k: k.into_view(),
        v: v.into_view(),
        o: o.into_view_mut(),
        lse: None,
        scale: None,
        span: Span::default(),
    }
}

impl<'a, T: FloatElement> Attention<'a, T> {
    /// Causal mask: query i attends to keys j ≤ i + S − L.
    pub fn causal(self) -> Self {
        Self { span: self.span.causal(), ..self }
    }

    /// A query sees only `left` keys before its own and `right` behind it, which is key i + S − L.
    pub fn window(self, left: usize, right: usize) -> Self {
        Self { span: Span::window(left, right), ..self }
    }

    /// Scale of the scores. Default: 1 / √D.
    pub fn scale(self, scale: f32) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// Stores the logarithm of each row's sum of exponentials, \[Z, H, L\], which the gradients need. Of a query that sees nothing it is −∞, and
    /// its output is 0.
    pub fn lse(self, lse: impl IntoViewMut<'a, f32, 3>) -> Self {
        Self { lse: Some(lse.into_view_mut()), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// As [`attention`] says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: Attention by enqueue);

fn enqueue<T: FloatElement>(of: Attention<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: Forwards<T>,
{
    let (op, Attention { q, k, v, o, lse, scale, span }) = ("attention", of);
    let extents = Extents::new(op, q.shape(), k.shape(), v.shape())?;
    extents.like_q(op, "o", o.shape())?;
    lse.as_ref().map_or(Ok(()), |lse| extents.sums(op, "lse", lse.shape()))?;
    let Extents { batch, heads, queries, depth, .. } = extents;
    if batch * heads * queries == 0 {
        return Ok(());
    }
    let (mut o, mut lse) = (o, lse);
    let scale = scale_of(scale, depth) * std::f32::consts::LOG2_E;
    let Span { left, right } = span;
    for images in parts(batch, 1) {
        for (of_q, of_k, group) in extents.parts_of_heads() {
            let (q, k, v) = (part(q, &images, &of_q)?, part(k, &images, &of_k)?, part(v, &images, &of_k)?);
            let o = part_mut(&mut o, &images, &of_q)?;
            let lse = match &mut lse {
                Some(lse) => part_mut(lse, &images, &of_q)?,
                None => ViewMut::none(stream.device()),
            };
            by_depth!(depth, |D| {
                let forward = forward_tuned::<T, D>(q, k, v, o, lse, scale, left, right, group);
                // Few queries, as of a token that is decoded, want small tiles. A tile of queries has to see as many keys as a tile has.
                let wide = queries > FEW && left.saturating_add(right) >= FEW as i32;
                let forward = if wide { forward } else { forward.find(|of| of.BM <= 64 && of.BN <= 64) };
                forward.launch(stream, |of| (queries.div_ceil(of.BM as usize), of_q.len(), images.len()))
            })?;
        }
    }
    Ok(())
}
