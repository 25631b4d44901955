//! What generated code computes while rustc evaluates constants: texts whose [placeholders](crate::ops::outer) are
//! filled.

pub use crate::ops::outer::{Hole, holes};

/// The most external constants that a kernel can have.
pub const MOST_CONSTANTS: usize = crate::ops::Outer::MOST;

/// Writes digits into a text: at each placeholder, that many hexadecimal digits of the number, the most significant
/// first.
pub const fn fill<const N: usize>(mut text: [u8; N], holes: &[(usize, usize, u64)]) -> [u8; N] {
    let mut k = 0;
    while k < holes.len() {
        let (at, digits, mut bits) = holes[k];
        let mut i = digits;
        while i > 0 {
            i -= 1;
            text[at + i] = b"0123456789abcdef"[(bits & 15) as usize];
            bits >>= 4;
        }
        k += 1;
    }
    text
}

/// Bytes as text.
pub const fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::{fill, text};

    #[test]
    fn holes_are_filled() {
        const TEXT: [u8; 18] = fill(*b"0x@@@@@000, 0x@001", &[(2, 8, 0x3f80_0000), (14, 4, 0xfffe)]);
        assert_eq!(text(&TEXT), "0x3f800000, 0xfffe");
    }
}
