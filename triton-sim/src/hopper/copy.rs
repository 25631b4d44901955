//! The plan of a copy between a box in shared memory and a tensor in global memory.

use super::{Swizzle, TensorMap};
use thiserror::Error;

/// A part of a box that is contiguous both in shared and in global memory: at most 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Its address in shared memory, swizzled.
    pub shared: u32,
    /// Its address in global memory; none outside the tensor: a load fills it, a store leaves it out.
    pub global: Option<u64>,
    /// Its size.
    pub bytes: u32,
}

/// Why a copy cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CopyError {
    /// Too many or too few coordinates.
    #[error("there are {found} coordinates, expected {expected} for this tensor")]
    Rank {
        /// Coordinates of the instruction.
        found: usize,
        /// Dimensions of the tensor.
        expected: usize,
    },
    /// The box in shared memory. The chip traps: misaligned address.
    #[error("the box is at the shared address {0:#x}, expected a multiple of 128")]
    Shared(u32),
    /// The innermost coordinate. The chip traps: illegal instruction (measured).
    #[error("the innermost coordinate {coordinate} is at byte {bytes} of a row, expected a multiple of 16 bytes")]
    Coordinate {
        /// The coordinate in elements.
        coordinate: i32,
        /// The same in bytes.
        bytes: i64,
    },
    /// Shared addresses have 32 bits.
    #[error("the box at the shared address {0:#x} ends past the last address")]
    Overflow(u32),
}

impl TensorMap {
    /// Bytes that a copy transfers, which is what it reports to a mbarrier. Those outside the tensor count.
    pub fn box_bytes(&self) -> u32 {
        (self.rows() * u64::from(self.row_bytes())) as u32
    }

    /// Bytes of shared memory from the first to the end of the last row. Swizzled rows have the swizzle's length even if the
    /// box's are shorter, and what is between them stays as it is.
    pub fn shared_bytes(&self) -> u32 {
        (self.rows() * u64::from(self.row_pitch())) as u32
    }

    /// Visits every byte of the box once, in the order of its elements.
    ///
    /// `coordinates` are those of the box's first element, innermost first; they may lie outside the tensor, of a store
    /// only past its end (measured: the chip traps at negative ones, which the caller checks). `shared` is the address
    /// of the box in shared memory. Of 16 bytes that the end of a row lies in, a store writes all (measured on an H200): what is behind the
    /// row in memory is overwritten.
    ///
    /// # Errors
    /// A rule of the instruction is broken; nothing was visited.
    pub fn for_each_piece(
        &self,
        coordinates: &[i32],
        shared: u32,
        is_store: bool,
        mut visit: impl FnMut(Piece),
    ) -> Result<(), CopyError> {
        let &[first, ref outer @ ..] = coordinates else {
            return Err(CopyError::Rank { found: 0, expected: self.axes.len() });
        };
        if coordinates.len() != self.axes.len() {
            return Err(CopyError::Rank { found: coordinates.len(), expected: self.axes.len() });
        }
        if !shared.is_multiple_of(128) {
            return Err(CopyError::Shared(shared));
        }
        if shared.checked_add(self.shared_bytes()).is_none() {
            return Err(CopyError::Overflow(shared));
        }
        let first_byte = i64::from(first) * i64::from(self.data_type.bytes());
        if first_byte % 16 != 0 {
            return Err(CopyError::Coordinate { coordinate: first, bytes: first_byte });
        }
        // Only the end of the tensor can lie inside of 16 bytes, since they begin at a multiple of 16.
        let row_end = self.axes[0].size as i64 * i64::from(self.data_type.bytes());
        for row in 0..self.rows() as u32 {
            let base = self.row_address(outer, row);
            for chunk in (0..self.row_bytes()).step_by(16) {
                let at = first_byte + i64::from(chunk);
                let inside = if at < 0 || base.is_none() { 0 } else { (row_end - at).clamp(0, 16) as u32 };
                let inside = if is_store && inside > 0 { 16 } else { inside };
                let shared = self.swizzle.apply(shared + row * self.row_pitch() + chunk);
                if let Some(base) = base.filter(|_| inside > 0) {
                    // An address past the last one is in no allocation, and neither is the last one.
                    let global = u64::try_from(base + at as u128).unwrap_or(u64::MAX);
                    visit(Piece { shared, global: Some(global), bytes: inside });
                }
                if inside < 16 {
                    visit(Piece { shared: shared + inside, global: None, bytes: 16 - inside });
                }
            }
        }
        Ok(())
    }

    /// Bytes of a row of the box.
    pub(super) fn row_bytes(&self) -> u32 {
        self.axes[0].span * self.data_type.bytes()
    }

    /// Bytes from a row of the box to the next one in shared memory (measured: the swizzle's span, if there is one).
    pub(super) fn row_pitch(&self) -> u32 {
        if self.swizzle == Swizzle::None { self.row_bytes() } else { self.swizzle.span() }
    }

    /// Rows of the box.
    pub(super) fn rows(&self) -> u64 {
        self.axes[1..].iter().map(|axis| u64::from(axis.count())).product()
    }

    /// Where the tensor's row begins that goes to a row of the box; none if it is outside. `outer` are all coordinates but the
    /// first one.
    fn row_address(&self, outer: &[i32], row: u32) -> Option<u128> {
        let mut rest = row;
        let mut address = u128::from(self.address);
        for (axis, &coordinate) in self.axes[1..].iter().zip(outer) {
            let index = i64::from(coordinate) + i64::from(rest % axis.count() * axis.step);
            rest /= axis.count();
            let index = u64::try_from(index).ok().filter(|&index| index < axis.size)?;
            address += u128::from(index) * u128::from(axis.stride);
        }
        Some(address)
    }
}
