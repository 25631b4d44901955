//! Rows of a table by number, bags of them, and rotary position embeddings.

mod bag;
mod lookup;
mod rotary;

pub use bag::{Bag, EmbeddingBag, EmbeddingBagBackward, embedding_bag, embedding_bag_backward};
pub use lookup::{Embedding, EmbeddingBackward, embedding, embedding_backward};
pub use rotary::{Pairs, Rotary, rotary, rotary_backward};
