//! Contractions of tensors of any number of axes: z = α · Σ x · y + β · z, with a letter for each axis.
//!
//! A contraction is brought to a [normal form](normal): a batch of products of matrices, whose rows, columns and K are of several axes each.
//! Where each is one axis, a product of the library computes it; else [one kernel](kernel) does, for every expression, by a tile that a
//! [model](tiles) chooses. The tiles of several axes, whose other axes follow from the program's number, and the copy by strides are those of
//! the thesis on block and register tiling of tensor contractions in Futhark (2024, sections 3.5 and 4.3); unlike there, several letters may be summed over,
//! letters may be batches, operands may be vectors and scalars, and the sizes of tiles are not given by hand.

mod builder;
mod few;
pub mod kernel;
mod memo;
pub mod normal;
pub mod notation;
mod numbers;
mod operand;
pub mod tiles;

#[doc(hidden)]
pub use builder::instances;
pub use builder::{Computed, Contraction, contract};
pub use operand::{Modes, ModesMut, OfRank, OfRankMut};
#[doc(hidden)]
pub use operand::{of_rank, of_rank_mut};
pub use triton_kernels_macros::contract;
