//! Attention whose scores are computed in some blocks only: sampled products, a softmax along rows, products with dense matrices, and their
//! gradients (Tillet, "Blocked algorithms for neural networks", 2020, chapter 6).
//!
//! A [`BlockMask`] says which blocks of the scores of each head there are, a [`BlockLayout`] has the tables by which programs find them, and
//! [`BlockSparse`] holds values. Attention is three launches, and so is its gradient, which the thesis leaves to others:
//!
//! | step | operation |
//! |---|---|
//! | X = Q·Kᵀ | [`sddmm`]`(q, k, &mut x)` |
//! | P = softmax(α·X) | [`sparse_softmax`]`(&mut x).scale(α)` |
//! | O = P·V | [`spmm`]`(&p, v, o)` |
//! | dV = Pᵀ·dO | [`spmm`]`(&p, d_o, dv).transposed()` |
//! | dP = dO·Vᵀ | [`sddmm`]`(d_o, v, &mut dp)` |
//! | dX = α·P∘(dP − Σ P·dP) | [`sparse_softmax_backward`]`(&p, &mut dp).scale(α)` |
//! | dQ = dX·K, dK = dXᵀ·Q | [`spmm`]`(&dx, k, dq)`, [`spmm`]`(&dx, q, dk).transposed()` |
//!
//! Where no gradient is needed, [`block_sparse_attention`] is one launch that stores no scores.

mod attention;
mod balance;
mod layout;
mod pattern;
mod sddmm;
mod softmax;
mod spmm;
mod superblock;
mod values;

pub use attention::{BlockSparseAttention, block_sparse_attention};
pub use layout::BlockLayout;
pub use pattern::BlockMask;
pub use sddmm::{Sddmm, sddmm};
pub use softmax::{Mask, SparseSoftmax, SparseSoftmaxBackward, sparse_softmax, sparse_softmax_backward};
pub use spmm::{Spmm, spmm};
pub use superblock::{Partition, SuperBlock, superblock};
pub use values::BlockSparse;
