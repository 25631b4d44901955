//! What stands before the IR of a kernel in a program: by it tools find the kernels of a program that was built, without running it.

use std::fmt;

/// The header of the IR of one config of a kernel's instance: lines of text, with the IR behind them. How long it is does not depend on the
/// numbers of bytes.
///
/// ```
/// use triton_ir::embed::Header;
///
/// let header = Header { instance: "add::<f32, 1024>", config: 0, len: 4, stored: 4 };
/// let program = format!("\0\0{header}ret;\0");
/// let found: Vec<_> = Header::find(program.as_bytes()).collect();
/// assert_eq!(found, [(header, &b"ret;"[..])]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The instance as the user writes it.
    pub instance: &'a str,
    /// The number of the config.
    pub config: usize,
    /// Bytes of the IR as text.
    pub len: usize,
    /// Bytes that stand behind the header: fewer than `len` if they are deflated (RFC 1951).
    pub stored: usize,
}

impl<'a> Header<'a> {
    /// What a header begins with. In a program that reads headers it must not look like one: so nothing follows it there.
    const MAGIC: &'static str = "\u{1}triton-dsl tile IR\u{2}";

    /// The version of the compiler that made the IR, which no other one need understand.
    pub const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    /// The headers in the bytes of a program, each with what stands behind it. Those of another version are left out.
    pub fn find(program: &'a [u8]) -> impl Iterator<Item = (Header<'a>, &'a [u8])> {
        texts(program).filter_map(|text| {
            let mut fields = Fields(text);
            if fields.next()? != Header::VERSION {
                return None;
            }
            let [instance, config, len, stored] = [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
            let header =
                Header { instance, config: config.parse().ok()?, len: len.parse().ok()?, stored: stored.parse().ok()? };
            Some((header, fields.0.get(..header.stored)?))
        })
    }

    /// The versions of the compilers that made kernels of a program, each once.
    pub fn versions(program: &[u8]) -> Vec<String> {
        let mut versions: Vec<String> = Vec::new();
        for version in texts(program).filter_map(|text| Fields(text).next()) {
            let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.len() < 64;
            if is_version && !versions.iter().any(|other| other == version) {
                versions.push(version.to_string());
            }
        }
        versions
    }
}

/// What stands behind each occurrence of the magic.
fn texts(program: &[u8]) -> impl Iterator<Item = &[u8]> {
    let magic = Header::MAGIC.as_bytes();
    let mut rest = program;
    std::iter::from_fn(move || {
        loop {
            // What follows the first byte is compared where that is found, which is rare.
            let at = rest.iter().position(|&byte| byte == magic[0])?;
            rest = &rest[at..];
            match rest.strip_prefix(magic) {
                Some(text) => {
                    rest = text;
                    return Some(text);
                }
                None => rest = &rest[1..],
            }
        }
    })
}

/// Lines at the start of bytes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let end = self.0.iter().position(|&byte| byte == b'\n')?;
        let (line, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        std::str::from_utf8(line).ok()
    }
}

/// As it stands in a program.
impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { instance, config, len, stored } = self;
        write!(f, "{}{}\n{instance}\n{config}\n{len:08}\n{stored:08}\n", Header::MAGIC, Header::VERSION)
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn headers_are_found_among_other_bytes() {
        let first = Header { instance: "add::<f32>", config: 0, len: 9, stored: 3 };
        let second = Header { instance: "µ", config: 1, len: 2, stored: 2 };
        let mut program = vec![0xff, 1, b't'];
        program.extend(format!("{first}").bytes().chain([0xfe, 0, b'\n']));
        // Cut off, of another version, and the magic alone.
        program.extend(format!("{second}ir").bytes());
        program.extend(format!("{}9.9.9\nx\n0\n1\n1\n ", Header::MAGIC).bytes());
        program.extend(Header::MAGIC.bytes().chain([0xff]));
        program.extend(format!("{}", Header { stored: 100, ..first }).bytes());
        let found: Vec<_> = Header::find(&program).collect();
        assert_eq!(found, [(first, &[0xfe, 0, b'\n'][..]), (second, &b"ir"[..])]);
        assert_eq!(Header::versions(&program), [Header::VERSION, "9.9.9"]);
    }
}
