//! Tensor maps: the views that code copies to and from shared memory box by box.

use super::MAX_RANK;

/// A tensor map (`CUtensorMap`) that an image takes as a parameter: how bulk copies read or write boxes of a view.
///
/// The launcher encodes it from the view that is passed. Its element type is that of the parameter, and elements of a box outside the
/// view are read as 0 and not written. Code passes the index at which a box starts; along the last axis it is a multiple of 16 bytes,
/// or the chip stops the kernel with an illegal instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TensorMap {
    /// Number of the parameter in [`KernelMetadata::params`](super::KernelMetadata::params): a view.
    pub param: u32,
    /// Extents of the box in elements, from 1 to 256, axis by axis as the view's: the last axis is contiguous in memory, and a row of
    /// the box along it is a whole multiple of 16 bytes. Entries past the view's rank are 1.
    pub extents: [u32; MAX_RANK],
    /// How the rows of a box are swizzled in shared memory.
    pub swizzle: MapSwizzle,
    /// What copies do to elements.
    pub elements: MapElements,
}

impl TensorMap {
    /// A map of all its fields, in their order.
    pub const fn new(param: u32, extents: [u32; MAX_RANK], swizzle: MapSwizzle, elements: MapElements) -> TensorMap {
        TensorMap { param, extents, swizzle, elements }
    }
}

/// How a bulk copy permutes the chunks of 16 bytes in the rows of a box, so that those of a column lie in different banks (PTX ISA,
/// "Swizzling Modes"). Bits of the address in shared memory, from bit 4 on, are combined by exclusive or with as many from bit 7 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapSwizzle {
    /// Nothing is permuted.
    None,
    /// Rows have at most 32 bytes: bit 4 takes part.
    B32,
    /// Rows have at most 64 bytes: bits 4 and 5.
    B64,
    /// Rows have at most 128 bytes: bits 4 to 6.
    B128,
}

/// What a bulk copy does to elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapElements {
    /// Nothing: it moves their bits.
    Bits,
    /// Those of `f32` are rounded to tf32 as they are loaded: to nearest, ties to even.
    Tf32,
}
