//! Attention forward.

use super::kernels::forward::{ForwardChoice, forward_tuned};
use super::shape::{Extents, Span, by_depth, part, part_mut, scale_of};
use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Queries of a head that the smallest tile holds.
const FEW: usize = 64;

/// o = softmax(q · kᵀ · scale) · v of each head, as `torch.nn.functional.scaled_dot_product_attention`, for z sequences of l queries and s keys. The
/// heads h of q are a multiple of those of k and v, g: neighbouring query heads share a head of k and v. Heads have at most d = 256 elements.
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
#[operation(Attention, tuned)]
pub fn attention<T: FloatElement>(
    call: Call,
    #[axes(z, h, l, d)] q: View<T, 4>,
    #[axes(z, g, s, d)] k: View<T, 4>,
    #[axes(z, g, s, d)] v: View<T, 4>,
    #[axes(z, h, l, d)] mut o: ViewMut<T, 4>,
    /// Stores the logarithm of each row's sum of exponentials, which the gradients need. Of a query that sees nothing it is −∞, and its output
    /// is 0.
    #[axes(z, h, l)]
    mut lse: Option<ViewMut<f32, 3>>,
    /// Scale of the scores. Default: 1 / √d.
    scale: Option<f32>,
    /// Causal mask: query i attends to keys j ≤ i + s − l.
    #[flag]
    causal: bool,
    /// A query sees only this many keys before its own key i + s − l, and this many after it.
    window: Option<(usize, usize)>,
) -> Result<()> {
    let extents = Extents::new(call, q.shape(), k.shape())?;
    let Extents { batch, heads, queries, depth, .. } = extents;
    if batch * heads * queries == 0 {
        return Ok(());
    }
    let scale = scale_of(scale, depth) * std::f32::consts::LOG2_E;
    let Span { left, right } = Span::new(causal, window);
    for images in parts(batch, 1) {
        for (of_q, of_k, group) in extents.parts_of_heads() {
            let (q, k, v) = (part(q, &images, &of_q)?, part(k, &images, &of_k)?, part(v, &images, &of_k)?);
            let o = part_mut(&mut o, &images, &of_q)?;
            let lse = match &mut lse {
                Some(lse) => part_mut(lse, &images, &of_q)?,
                None => ViewMut::none(call.stream.device()),
            };
            by_depth!(depth, |D| {
                let kernel = forward_tuned::<T, D>(q, k, v, o, lse, scale, left, right, group);
                // Few queries, as of a token that is decoded, want small tiles. A tile of queries has to see as many keys as a tile has.
                let wide = queries > FEW && left.saturating_add(right) >= FEW as i32;
                let grid = |of: &ForwardChoice| (queries.div_ceil(of.BM as usize), of_q.len(), images.len());
                call.tuned(kernel, |of| wide || (of.BM <= 64 && of.BN <= 64), grid)
            })?;
        }
    }
    Ok(())
}
