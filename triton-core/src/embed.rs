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

/// The bits of a number, zero-extended: a function for each element type, called like it.
pub mod bits {
    #![allow(missing_docs, reason = "each is the type it is named after")]
    use half::{bf16 as BF16, f16 as F16};

    pub const fn bool(x: bool) -> u64 {
        x as u64
    }
    pub const fn i8(x: i8) -> u64 {
        x as u8 as u64
    }
    pub const fn i16(x: i16) -> u64 {
        x as u16 as u64
    }
    pub const fn i32(x: i32) -> u64 {
        x as u32 as u64
    }
    pub const fn i64(x: i64) -> u64 {
        x as u64
    }
    pub const fn u8(x: u8) -> u64 {
        x as u64
    }
    pub const fn u16(x: u16) -> u64 {
        x as u64
    }
    pub const fn u32(x: u32) -> u64 {
        x as u64
    }
    pub const fn u64(x: u64) -> u64 {
        x
    }
    pub const fn f16(x: F16) -> u64 {
        x.to_bits() as u64
    }
    pub const fn bf16(x: BF16) -> u64 {
        x.to_bits() as u64
    }
    pub const fn f32(x: f32) -> u64 {
        x.to_bits() as u64
    }
    pub const fn f64(x: f64) -> u64 {
        x.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::{bits, fill, text};

    #[test]
    fn holes_are_filled() {
        const TEXT: [u8; 18] = fill(*b"0x@@@@@000, 0x@001", &[(2, 8, bits::f32(1.0)), (14, 4, bits::i16(-2))]);
        assert_eq!(text(&TEXT), "0x3f800000, 0xfffe");
    }
}
