//! Attention of the block: dense, or by the three sparse operators.

use crate::block::Shape;
use triton::prelude::*;
use triton_kernels::attention::{attention, attention_backward};
use triton_kernels::sparse::{BlockLayout, BlockSparse, sddmm, sparse_softmax, sparse_softmax_backward, spmm};
use triton_kernels::{FloatElement, Result};

/// Which attention a block has, with what it keeps from forward to backward.
pub enum Attention<T: Element> {
    /// Of all tokens up to one's own.
    Dense {
        /// Logarithms of the sums of rows.
        sums: Option<Tensor<f32, 3>>,
    },
    /// Of the blocks of a layout.
    Sparse {
        /// Probabilities.
        p: BlockSparse<T>,
        /// Their gradients.
        dp: BlockSparse<T>,
    },
}

/// Queries, keys and values as heads, `[Z, H, W, D]`.
pub type Heads<'a, T> = [View<'a, T, 4>; 3];

impl<T: FloatElement> Attention<T> {
    /// Of all tokens up to one's own.
    pub fn dense() -> Attention<T> {
        Attention::Dense { sums: None }
    }

    /// Of the blocks of a layout.
    pub fn sparse(stream: &Stream, shape: &Shape, layout: BlockLayout) -> Result<Attention<T>> {
        let (p, dp) =
            (BlockSparse::zeros(stream, shape.batch, &layout)?, BlockSparse::zeros(stream, shape.batch, &layout)?);
        Ok(Attention::Sparse { p, dp })
    }

    /// o of the heads.
    pub fn forward(&mut self, stream: &Stream, [q, k, v]: Heads<'_, T>, o: ViewMut<'_, T, 4>) -> Result<()> {
        let [batch, heads, tokens, depth] = q.shape();
        match self {
            Attention::Dense { sums } => {
                let kept = match sums {
                    Some(kept) => kept,
                    None => sums.insert(stream.tensor_uninit([batch, heads, tokens])?),
                };
                attention(q, k, v, o).causal().lse(kept).launch(stream)
            }
            Attention::Sparse { p, .. } => {
                sddmm(q, k, p).scale(1.0 / (depth as f32).sqrt()).launch(stream)?;
                sparse_softmax(p).causal().launch(stream)?;
                spmm(p, v, o).launch(stream)
            }
        }
    }

    /// The gradients of the heads.
    pub fn backward(
        &mut self,
        stream: &Stream,
        [q, k, v]: Heads<'_, T>,
        o: View<'_, T, 4>,
        d_o: View<'_, T, 4>,
        [dq, dk, dv]: [ViewMut<'_, T, 4>; 3],
    ) -> Result<()> {
        let depth = q.shape()[3];
        match self {
            Attention::Dense { sums: None } => Ok(()),
            Attention::Dense { sums: Some(sums) } => {
                attention_backward(q, k, v, o, &*sums, d_o, dq, dk, dv).causal().launch(stream)
            }
            Attention::Sparse { p, dp } => {
                spmm(p, d_o, dv).transposed().launch(stream)?;
                sddmm(d_o, v, dp).launch(stream)?;
                sparse_softmax_backward(p, dp).scale(1.0 / (depth as f32).sqrt()).launch(stream)?;
                spmm(dp, k, dq).launch(stream)?;
                spmm(dp, q, dk).transposed().launch(stream)
            }
        }
    }
}
