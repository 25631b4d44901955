//! Texts that the attribute deflated.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The text of this many bytes that a stream of RFC 1951 holds; `None` if it is another. For generated code.
#[doc(hidden)]
pub fn inflate(bytes: &[u8], len: usize) -> Option<String> {
    let text = decompress_to_vec_with_limit(bytes, len).ok()?;
    String::from_utf8(text).ok().filter(|text| text.len() == len)
}

#[cfg(test)]
mod tests {
    use super::inflate;

    /// "ret;\n" three times, by zlib: a block of fixed codes with one repetition.
    const TEXT: &[u8] = &[0x2b, 0x4a, 0x2d, 0xb1, 0xe6, 0x2a, 0x82, 0x13, 0x00];

    #[test]
    fn a_text_has_the_length_that_is_said() {
        assert_eq!(inflate(TEXT, 15).as_deref(), Some("ret;\nret;\nret;\n"));
        assert_eq!(inflate(TEXT, 14), None);
        assert_eq!(inflate(TEXT, 16), None);
        assert_eq!(inflate(&TEXT[..4], 15), None);
        assert_eq!(inflate(&[0xff; 9], 15), None);
    }
}
