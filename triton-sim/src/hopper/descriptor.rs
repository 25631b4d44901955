//! Descriptors of `wgmma`: where the elements of a matrix lie in shared memory.
//!
//! PTX ISA, "Matrix Descriptor Format" and "Strides". Everything here was compared with the addresses from which an H200 reads,
//! for all swizzles, both majors, and start addresses and base offsets of several kinds.

use super::Swizzle;
use crate::matrix::Element;
use thiserror::Error;

/// The dimension whose elements are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// K: an operand that is not transposed.
    K,
    /// M of A or N of B: a transposed operand, of 16-bit elements only.
    Mn,
}

/// A matrix in shared memory, as 64 bits describe it. Addresses, offsets and strides are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// Shared address of the first element, before the swizzle.
    pub start: u32,
    /// "Leading dimension byte offset": see [`Descriptor::address`].
    pub leading: u32,
    /// "Stride dimension byte offset": see [`Descriptor::address`].
    pub stride: u32,
    /// Rows of 128 bytes by which the swizzle's pattern begins late, 0 to 7.
    pub base_offset: u32,
    /// The swizzle.
    pub swizzle: Swizzle,
}

/// Why 64 bits are not a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DescriptorError {
    /// Bits 14, 15, 30, 31, 46 to 48, 52 to 61.
    #[error("the matrix descriptor {0:#018x} has bits set that must be zero: {1:#018x}")]
    Reserved(u64, u64),
}

/// Sixteen bytes of a matrix that are contiguous: elements along the major dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// The row of A or column of B of the first element.
    pub mn: u32,
    /// The K of the first element.
    pub k: u32,
    /// Its shared address.
    pub address: u32,
}

/// Bits of a descriptor that have a meaning.
const USED: u64 = 0xc00e_3fff_3fff_3fff;

impl Descriptor {
    /// Reads the 64 bits.
    ///
    /// # Errors
    /// Reserved bits are not zero.
    pub fn decode(bits: u64) -> Result<Descriptor, DescriptorError> {
        if bits & !USED != 0 {
            return Err(DescriptorError::Reserved(bits, bits & !USED));
        }
        // Addresses and offsets have 18 bits, of which the lowest four are zero and left out.
        let bytes = |from: u32| (bits >> from & 0x3fff) as u32 * 16;
        let swizzle = [Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32][(bits >> 62) as usize];
        let base_offset = (bits >> 49 & 7) as u32;
        Ok(Descriptor { start: bytes(0), leading: bytes(16), stride: bytes(32), base_offset, swizzle })
    }

    /// The shared address of an element of an operand of one instruction.
    ///
    /// Lines of the minor dimension come in groups of eight, `span` bytes from one to the next, where `span` is the
    /// swizzle's row (16 without one). A line has chunks of 16 bytes along the major dimension.
    ///
    /// | major | swizzle | next eight lines | next chunk | next `span` bytes of the line |
    /// | --- | --- | --- | --- | --- |
    /// | K | none | `stride` | | `leading` |
    /// | K | 32, 64, 128 | `stride` | 16 | the matrix ends |
    /// | MN | none | `leading` | | `stride` |
    /// | MN | 32, 64, 128 | `stride` | 16 | `leading` |
    ///
    /// The address may be past the end of shared memory.
    pub fn address(self, major: Major, element: Element, mn: u32, k: u32) -> u32 {
        let (line, byte) = match major {
            Major::K => (mn, k * element.bytes()),
            Major::Mn => (k, mn * element.bytes()),
        };
        let span = self.swizzle.span();
        let (eight, panel) = match (major, self.swizzle) {
            (Major::Mn, Swizzle::None) => (self.leading, self.stride),
            // A K-major line has 32 bytes. They begin anywhere in a swizzled row and do not leave it.
            (Major::K, Swizzle::B32 | Swizzle::B64 | Swizzle::B128) => (self.stride, span),
            (Major::K, Swizzle::None) | (Major::Mn, Swizzle::B32 | Swizzle::B64 | Swizzle::B128) => {
                (self.stride, self.leading)
            }
        };
        let linear = self.start + line / 8 * eight + line % 8 * span + byte / span * panel + byte % span;
        // The pattern is that of the address less the base offset (measured).
        linear ^ self.swizzle.pattern((linear >> 7).wrapping_sub(self.base_offset))
    }

    /// The chunks of an operand of one instruction: `extent` rows of A or columns of B, and 32 bytes of K.
    pub fn chunks(self, major: Major, element: Element, extent: u32) -> impl Iterator<Item = Chunk> {
        let (wide, depth) = (16 / element.bytes(), 32 / element.bytes());
        let (lines, length) = match major {
            Major::K => (extent, depth),
            Major::Mn => (depth, extent),
        };
        (0..lines).flat_map(move |line| {
            (0..length).step_by(wide as usize).map(move |at| {
                let (mn, k) = match major {
                    Major::K => (line, at),
                    Major::Mn => (at, line),
                };
                Chunk { mn, k, address: self.address(major, element, mn, k) }
            })
        })
    }
}
