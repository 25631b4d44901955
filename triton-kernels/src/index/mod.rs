//! Elements of rows by number: gather, scatter, and rows with a 1 at a number.
//!
//! `torch.index_select` of rows is [`embedding`](crate::embedding::embedding), and `torch.index_add` of rows is
//! [`embedding_backward`](crate::embedding::embedding_backward).

mod along;
mod one_hot;

pub use along::{Gather, GatherBackward, Scatter, gather, gather_backward, scatter};
pub use one_hot::{OneHot, one_hot};
