//! Types of matrix elements and the shape of a product, as words of an opcode name them.

use std::fmt;

/// The type of the elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// `f32` of which 10 mantissa bits are used.
    Tf32,
    /// Float of 8 bits with 4 bits of exponent.
    E4m3,
    /// Float of 8 bits with 5 bits of exponent.
    E5m2,
    /// Signed integer of 8 bits.
    S8,
    /// Unsigned integer of 8 bits.
    U8,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Signed integer of 32 bits.
    S32,
}

/// Every type: its word and its bytes.
const ELEMENTS: [(Element, &str, u32); 10] = [
    (Element::F16, "f16", 2),
    (Element::Bf16, "bf16", 2),
    (Element::Tf32, "tf32", 4),
    (Element::E4m3, "e4m3", 1),
    (Element::E5m2, "e5m2", 1),
    (Element::S8, "s8", 1),
    (Element::U8, "u8", 1),
    (Element::F32, "f32", 4),
    (Element::F64, "f64", 8),
    (Element::S32, "s32", 4),
];

impl Element {
    /// The type that a word of an opcode names; none if no matrix instruction has it.
    pub fn from_word(word: &str) -> Option<Element> {
        ELEMENTS.iter().find(|e| e.1 == word).map(|e| e.0)
    }

    /// The word that names it.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        self.row().2
    }

    /// Elements in a register: registers have 32 bits, those of `f64` have 64.
    pub fn per_register(self) -> u32 {
        (4 / self.bytes()).max(1)
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        [Element::S8, Element::U8, Element::S32].contains(&self)
    }

    /// Rows of the table are in the order of the variants.
    fn row(self) -> &'static (Element, &'static str, u32) {
        &ELEMENTS[self as usize]
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The shape of a product: D (m, n) = A (m, k) · B (k, n) + C (m, n).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and D.
    pub m: u32,
    /// Columns of B and D.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
}

impl Shape {
    /// The shape that a word like `m16n8k16` names.
    pub fn from_word(word: &str) -> Option<Shape> {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        Some(Shape { m: number(m)?, n: number(n)?, k: number(k)? })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written() {
        for (element, word, bytes) in ELEMENTS {
            assert_eq!(Element::from_word(word), Some(element));
            assert_eq!((element.word(), element.bytes()), (word, bytes));
        }
        assert_eq!(Element::from_word("s4"), None);
        let shape = Shape { m: 64, n: 128, k: 16 };
        assert_eq!(Shape::from_word("m64n128k16"), Some(shape));
        assert_eq!(shape.to_string(), "m64n128k16");
        for word in ["", "m", "m16n8", "m16n8k", "m+6n8k8", "16n8k8", "m16n8k99999999999", "m16k8n8"] {
            assert_eq!(Shape::from_word(word), None, "{word}");
        }
    }
}
