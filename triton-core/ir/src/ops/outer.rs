//! Numbers that only rustc can evaluate: external constants, which a kernel names by a path.
//!
//! The compiler leaves a placeholder of fixed width wherever it writes such a number, in the text of the IR and in the
//! code; the one that embeds the texts fills the placeholders with digits. A placeholder is `0x`, some `@`, and the
//! number of the constant in three digits.

/// The number, or which of the kernel's constants it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outer {
    /// The constant of this number.
    Open(u32),
    /// The bits, zero-extended.
    Known(u64),
}

impl Outer {
    /// The most constants that a kernel can have.
    pub const MOST: usize = 1 << 12;

    /// The number with this many hexadecimal digits (4, 8 or 16), or a placeholder as wide.
    pub fn digits(self, width: usize) -> String {
        match self {
            Outer::Open(index) => format!("0x{index:@>width$}", index = format!("{index:03x}")),
            Outer::Known(bits) => format!("0x{bits:0width$x}"),
        }
    }

    /// Reads what [`Outer::digits`] wrote.
    pub fn read(text: &str) -> Option<Outer> {
        let digits = text.strip_prefix("0x")?;
        match digits.trim_start_matches('@') {
            known if known.len() == digits.len() => u64::from_str_radix(known, 16).ok().map(Outer::Known),
            open => u32::from_str_radix(open, 16).ok().map(Outer::Open),
        }
    }
}

/// A placeholder for a number in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    /// Where its digits begin, in bytes.
    pub at: usize,
    /// How many digits it has.
    pub digits: usize,
    /// The number of the constant.
    pub index: u32,
}

/// The placeholders of a text, in order.
pub fn holes(text: &str) -> Vec<Hole> {
    let mut holes = Vec::new();
    for (at, _) in text.match_indices("0x@") {
        let at = at + 2;
        let digits = text[at..].bytes().take_while(|b| *b == b'@' || b.is_ascii_hexdigit()).count();
        let index = u32::from_str_radix(text[at..at + digits].trim_start_matches('@'), 16);
        holes.extend(index.ok().map(|index| Hole { at, digits, index }));
    }
    holes
}

#[cfg(test)]
mod tests {
    use super::{Hole, Outer, holes};

    #[test]
    fn numbers_and_holes_are_read_as_written() {
        for (outer, width, text) in [
            (Outer::Open(5), 4, "0x@005"),
            (Outer::Open(0xabc), 16, "0x@@@@@@@@@@@@@abc"),
            (Outer::Known(0x3f80_0000), 8, "0x3f800000"),
            (Outer::Known(1), 16, "0x0000000000000001"),
        ] {
            assert_eq!(outer.digits(width), text);
            assert_eq!(Outer::read(text), Some(outer));
        }
        assert_eq!(Outer::read("7"), None);
    }

    #[test]
    fn holes_are_found_by_their_width() {
        let text = "mov.b32 %r1, 0x@@@@@00a; mov.b16 %h1, 0x@003;";
        assert_eq!(holes(text), [Hole { at: 15, digits: 8, index: 10 }, Hole { at: 40, digits: 4, index: 3 }]);
    }
}
