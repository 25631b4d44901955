//! Layers whose weights are split among ranks, each of which has a part on its own device: tensor parallelism (Shoeybi et al., "Megatron-LM", 2019,
//! section 3). The feature `parallel`.
//!
//! | layer | a rank has | forward | backward |
//! |---|---|---|---|
//! | column-parallel linear | columns of w, and of the output | [`gemm`](crate::linear::gemm), nothing is passed | [`column_linear_backward`] sums dx |
//! | row-parallel linear | rows of w, and columns of the input | [`row_linear`] sums y | [`linear_backward`](crate::linear::linear_backward), nothing is passed |
//! | embedding | rows of the table | [`vocabulary_embedding`] sums the rows | [`embedding_backward`](crate::embedding::embedding_backward) with `first` |
//! | cross entropy | columns of the logits | [`vocabulary_cross_entropy`] passes 3 numbers a row | the same launch |
//!
//! A column-parallel layer, what is done to each element, and a row-parallel layer are a pair that sums once in each direction. Sums are
//! made on the communicator's own stream; in several parts, each beside the product of the next one. Between GPUs of one process they are
//! copied beside the products by default, where these are large.
//!
//! Which part a rank has is [`Communicator::shard`](triton_collective::Communicator::shard). All ranks launch the same operations in the same order.

mod linear;
mod parts;
mod vocabulary;

pub use linear::{ColumnLinearBackward, RowLinear, column_linear_backward, row_linear};
pub use vocabulary::{VocabularyCrossEntropy, VocabularyEmbedding, vocabulary_cross_entropy, vocabulary_embedding};

use crate::error::Error;

impl From<triton_collective::Error> for Error {
    fn from(error: triton_collective::Error) -> Error {
        Error::Runtime(error.into())
    }
}
