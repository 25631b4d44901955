//! The geometry of Hopper: tensor maps and the descriptors of matrices in shared memory.
//!
//! Pure arithmetic: which byte goes where. What PTX leaves open was measured on an H200; comments say so where it matters.

mod copy;
mod descriptor;
mod encode;
mod swizzle;
mod tensor_map;

pub use copy::{CopyError, Piece};
pub use descriptor::{Chunk, Descriptor, DescriptorError, Major};
pub use swizzle::Swizzle;
pub use tensor_map::{Axis, DataType, Fill, Interleave, L2Promotion, TensorMap, TensorMapBuilder, TensorMapError};

#[cfg(test)]
mod tests;
