//! Texts as programs embed them: deflated.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use triton_core::Compiled;
use triton_core::embed;
use triton_core::metadata::Text;

/// Texts below this many bytes are not worth a call.
const LEAST: usize = 256;

/// How hard to look for repetitions, from 0 to 10. 6 makes the largest PTX of the corpus 7 % smaller, and takes ten times as long: 41 ms,
/// and not 3, in an attribute that is not optimised.
const LEVEL: u8 = 3;

/// Deflates the texts of what was compiled.
pub(crate) fn deflate(compiled: &mut Compiled) {
    let config = &mut compiled.config;
    config.ir = deflated(&config.ir);
    config.images.to_mut().iter_mut().for_each(|image| image.ptx = deflated(&image.ptx));
}

/// A text as it is embedded: a stream of RFC 1951. Those that are short stay as they are, and so do those with placeholders, which are patched in the text.
pub(crate) fn deflated(text: &Text) -> Text {
    let plain = text.get();
    if plain.len() < LEAST || !embed::holes(&plain).is_empty() {
        return text.clone();
    }
    Text::of_stream(compress_to_vec(plain.as_bytes(), LEVEL), plain.len(), inflate)
}

/// The text of this many bytes that a stream holds.
pub(crate) fn inflate(bytes: &[u8], len: usize) -> Option<String> {
    let text = decompress_to_vec_with_limit(bytes, len).ok()?;
    String::from_utf8(text).ok().filter(|text| text.len() == len)
}
