//! The swizzles of Hopper's tensor copies and matrix products.

/// How 16-byte chunks of shared memory are permuted, so that eight rows of a column lie in different banks.
///
/// The chip permutes absolute shared addresses (PTX ISA, "Swizzling Modes"): bits 4 and up are combined by exclusive or with as
/// many bits from bit 7 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Nothing is permuted.
    #[default]
    None,
    /// Rows of 32 bytes: bit 4 takes part.
    B32,
    /// Rows of 64 bytes: bits 4 and 5.
    B64,
    /// Rows of 128 bytes: bits 4 to 6.
    B128,
}

impl Swizzle {
    /// Bytes of a row, of which the pattern permutes the chunks; 16 if nothing is permuted.
    pub fn span(self) -> u32 {
        16 << self as u32
    }

    /// Where the byte of a linear shared address lies.
    pub fn apply(self, address: u32) -> u32 {
        address ^ self.pattern(address >> 7)
    }

    /// The address bits that change in a row of 128 bytes: its number, modulo the length of the pattern, chunks of 16 bytes.
    pub(super) fn pattern(self, row: u32) -> u32 {
        row << 4 & (self.span() - 16)
    }
}

#[cfg(test)]
mod tests {
    use super::Swizzle;

    #[test]
    fn bits_from_7_are_combined_with_those_from_4() {
        for (swizzle, span, bits) in
            [(Swizzle::None, 16, 0), (Swizzle::B32, 32, 1), (Swizzle::B64, 64, 3), (Swizzle::B128, 128, 7)]
        {
            assert_eq!(swizzle.span(), span);
            for address in (0..4096).step_by(7) {
                assert_eq!(swizzle.apply(address), address ^ ((address >> 7 & bits) << 4));
                assert_eq!(swizzle.apply(swizzle.apply(address)), address);
            }
        }
    }
}
