//! Texts that a program embeds: PTX and IR, deflated.

use std::borrow::Cow;
use std::fmt;

/// Inflates a stream of RFC 1951 into as many bytes of text; `None` if it is not one. This crate depends on nothing, so
/// that the program says by what texts are inflated.
pub type Inflate = fn(&[u8], usize) -> Option<String>;

/// A text of a kernel.
///
/// ```
/// use triton_ir::metadata::Text;
///
/// let text = Text::from("ret;");
/// assert_eq!((text.get().as_ref(), text.len(), text.embedded_bytes()), ("ret;", 4, 4));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Text {
    /// As it is.
    Plain(Cow<'static, str>),
    /// Deflated while the program was compiled.
    #[non_exhaustive]
    Deflated {
        /// The stream of RFC 1951.
        bytes: Cow<'static, [u8]>,
        /// Bytes of the text.
        len: usize,
        /// What inflates it.
        inflate: Inflate,
    },
}

impl Text {
    /// A text as it is. For generated code.
    #[doc(hidden)]
    pub const fn plain(text: &'static str) -> Text {
        Text::Plain(Cow::Borrowed(text))
    }

    /// A text of this many bytes, deflated. For generated code.
    #[doc(hidden)]
    pub const fn deflated(bytes: &'static [u8], len: usize, inflate: Inflate) -> Text {
        Text::Deflated { bytes: Cow::Borrowed(bytes), len, inflate }
    }

    /// The same of a stream that was made at run time.
    #[doc(hidden)]
    pub fn of_stream(bytes: Vec<u8>, len: usize, inflate: Inflate) -> Text {
        Text::Deflated { bytes: Cow::Owned(bytes), len, inflate }
    }

    /// The text, inflated anew by each call if it is deflated. One that cannot be inflated is empty, which the next reader reports.
    pub fn get(&self) -> Cow<'_, str> {
        match self {
            Text::Plain(text) => Cow::Borrowed(text),
            Text::Deflated { bytes, len, inflate } => Cow::Owned(inflate(bytes, *len).unwrap_or_default()),
        }
    }

    /// Bytes of the text.
    pub fn len(&self) -> usize {
        match self {
            Text::Plain(text) => text.len(),
            Text::Deflated { len, .. } => *len,
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that it takes in the program.
    pub fn embedded_bytes(&self) -> usize {
        match self {
            Text::Plain(text) => text.len(),
            Text::Deflated { bytes, .. } => bytes.len(),
        }
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Text {
        Text::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::Plain(Cow::Owned(text))
    }
}

impl From<Cow<'static, str>> for Text {
    fn from(text: Cow<'static, str>) -> Text {
        Text::Plain(text)
    }
}

/// The same text, however it is embedded.
impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.len() == other.len() && self.get() == other.get()
    }
}

impl Eq for Text {}

/// It prints as the text.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.get(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    /// "Inflates" by repeating.
    fn repeated(bytes: &[u8], len: usize) -> Option<String> {
        let text = std::str::from_utf8(bytes).ok()?.repeat(len / bytes.len().max(1));
        (text.len() == len).then_some(text)
    }

    #[test]
    fn texts_are_what_they_are_inflated_to() {
        const TEXT: Text = Text::deflated(b"ab", 6, repeated);
        assert_eq!((TEXT.get().as_ref(), TEXT.len(), TEXT.embedded_bytes()), ("ababab", 6, 2));
        assert_eq!(TEXT, Text::from("ababab"));
        assert_ne!(TEXT, Text::from(String::from("ababba")));
        assert_eq!(format!("{TEXT} {TEXT:?}"), "ababab \"ababab\"");
        assert_eq!(Text::deflated(b"ab", 5, repeated).get(), "", "what cannot be inflated");
        assert!(Text::plain("").is_empty() && !TEXT.is_empty());
    }
}
