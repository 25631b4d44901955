//! Rows of a table by number, and rotary position embeddings.

mod lookup;
mod rotary;

pub use lookup::{Embedding, EmbeddingBackward, embedding, embedding_backward};
pub use rotary::{Pairs, Rotary, rotary, rotary_backward};
