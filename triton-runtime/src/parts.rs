//! Files of numbers and parts: what begins them, a number of 32 bits for each number and for the length of each part, and a checksum
//! (CRC-32) of all of it at the end.

/// A file that is written.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// A file that begins with these bytes.
    pub(crate) fn new(magic: &[u8]) -> Writer {
        Writer(magic.to_vec())
    }

    /// Writes a number.
    pub(crate) fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a part; `None` if it is too long.
    #[must_use = "a part that is too long is not written"]
    pub(crate) fn part(&mut self, part: impl AsRef<[u8]>) -> Option<()> {
        let part = part.as_ref();
        self.number(u32::try_from(part.len()).ok()?);
        self.0.extend_from_slice(part);
        Some(())
    }

    /// The file, with its checksum.
    pub(crate) fn sealed(mut self) -> Vec<u8> {
        let sum = crc32fast::hash(&self.0);
        self.number(sum);
        self.0
    }
}

/// What is left to read of a file.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A file that begins with these bytes; `None` of another, or if its checksum is not that of its content.
    pub(crate) fn new(bytes: &'a [u8], magic: &[u8]) -> Option<Reader<'a>> {
        let (content, sum) = bytes.split_last_chunk::<4>()?;
        let rest = content.strip_prefix(magic)?;
        (crc32fast::hash(content) == u32::from_le_bytes(*sum)).then_some(Reader(rest))
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    /// The next part.
    pub(crate) fn part(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (part, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(part)
    }

    /// The next part, which is text.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.part()?).ok()
    }

    /// Whether everything is read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
