//! `wgmma.mma_async`: its shapes, its types and the maps of its operands in registers.

use super::mma::{list, without_satfinite};
use super::{Element, Fragment, Shape};

/// A `wgmma.mma_async.sync.aligned` instruction: D = A · B + D, executed by the 128 threads of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wgmma {
    /// The shape: m is 64.
    pub shape: Shape,
    /// Type of the accumulator.
    pub d: Element,
    /// Type of A.
    pub a: Element,
    /// Type of B.
    pub b: Element,
    /// Whether integers stop at their ends instead of wrapping.
    pub satfinite: bool,
}

/// Which products exist: types of A and B in any combination, types of D.
type Rule = (&'static [Element], &'static [Element]);

/// PTX ISA, "wgmma.mma_async", table of shapes and types, without single bits.
const RULES: [Rule; 5] = [
    (&[Element::F16], &[Element::F16, Element::F32]),
    (&[Element::Bf16], &[Element::F32]),
    (&[Element::Tf32], &[Element::F32]),
    (&[Element::E4m3, Element::E5m2], &[Element::F16, Element::F32]),
    (&[Element::S8, Element::U8], &[Element::S32]),
];

/// Bytes of a line of A or B that one instruction takes.
const K_BYTES: u32 = 32;

impl Wgmma {
    /// Reads the words of an opcode, from `wgmma` to the last one.
    ///
    /// # Errors
    /// In words, which word is not possible and what is.
    pub fn from_words(words: &[&str]) -> Result<Wgmma, String> {
        const FORM: &str = "wgmma.mma_async.sync.aligned.m64n..k...dtype.atype.btype{.satfinite}";
        let (satfinite, words) = without_satfinite(words);
        let ["wgmma", "mma_async", "sync", "aligned", word, d, a, b] = words[..] else {
            return Err(format!("expected {FORM}, found {}", words.join(".")));
        };
        let element =
            |word: &str| Element::from_word(word).ok_or_else(|| format!("no matrix has elements of type {word}"));
        let (d, a, b) = (element(d)?, element(a)?, element(b)?);
        let (inputs, accumulators) = RULES.iter().find(|rule| rule.0.contains(&a)).ok_or_else(|| {
            format!("A has no elements of type {a}; possible: {}", list(RULES.iter().flat_map(|rule| rule.0)))
        })?;
        if !inputs.contains(&b) {
            return Err(format!("B of type {b} does not go with A of type {a}; possible: {}", list(*inputs)));
        }
        if !accumulators.contains(&d) {
            return Err(format!("D of type {d} does not go with A of type {a}; possible: {}", list(*accumulators)));
        }
        let shape = Shape::from_word(word).ok_or_else(|| format!("expected a shape as m64n128k16, found {word}"))?;
        let k = K_BYTES / a.bytes();
        if (shape.m, shape.k) != (64, k) {
            return Err(format!("the shape {word} does not exist for {a}; possible: m64n..k{k}"));
        }
        // Integers have steps of 16 above 32.
        let step = if a.is_integer() && shape.n > 32 { 16 } else { 8 };
        if !(8..=256).contains(&shape.n) || !shape.n.is_multiple_of(step) {
            let steps =
                if a.is_integer() { "8, 16, 24, 32, 48, 64 and so on in steps of 16" } else { "multiples of 8" };
            return Err(format!("n is {}; possible for {a}: {steps}, at most 256", shape.n));
        }
        if satfinite && !a.is_integer() {
            return Err(format!("satfinite is for integers, not for {a}"));
        }
        Ok(Wgmma { shape, d, a, b, satfinite })
    }

    /// Whether operands say that A (if in shared memory) and B are transposed: elements of 16 bits only.
    pub fn has_transposes(self) -> bool {
        self.a.bytes() == 2
    }

    /// Whether operands give the signs of A and B: floats only.
    pub fn has_scales(self) -> bool {
        !self.a.is_integer()
    }

    /// The map of A (64, k) if it is in registers.
    pub fn a_fragment(self) -> Fragment {
        Fragment::operand(self.shape.m, self.shape.k, self.a.per_register(), false)
    }

    /// The map of D (64, n).
    pub fn accumulator(self) -> Fragment {
        Fragment::accumulator(self.shape.m, self.shape.n, self.d.per_register())
    }
}
