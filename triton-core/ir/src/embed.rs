//! What generated code computes while rustc evaluates constants: texts whose [placeholders](crate::ops::outer) are
//! filled, and what stands behind their [header](Header).

mod header;

pub use self::header::Header;
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

/// What stands behind a header of this many bytes.
pub const fn behind(bytes: &'static [u8], header: usize) -> &'static [u8] {
    bytes.split_at(header).1
}

/// The same of a text.
pub const fn text_behind(text: &'static str, header: usize) -> &'static str {
    text.split_at(header).1
}

#[cfg(test)]
mod tests {
    use super::{behind, fill, text, text_behind};

    #[test]
    fn holes_are_filled() {
        const TEXT: [u8; 18] = fill(*b"0x@@@@@000, 0x@001", &[(2, 8, 0x3f80_0000), (14, 4, 0xfffe)]);
        assert_eq!(text(&TEXT), "0x3f800000, 0xfffe");
    }
    #[test]
    fn headers_are_left_out() {
        const BYTES: &[u8] = behind(b"header\0\xff", 6);
        const TEXT: &str = text_behind("header;text", 7);
        assert_eq!((BYTES, TEXT), (&b"\0\xff"[..], "text"));
    }
}
