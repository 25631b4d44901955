//! `mma.sync`: its shapes, its types and the maps of its operands.

use super::{Element, Fragment, Shape};

/// A `mma.sync.aligned` instruction: D = A · B + C, executed by a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    /// The shape.
    pub shape: Shape,
    /// Type of the result.
    pub d: Element,
    /// Type of A.
    pub a: Element,
    /// Type of B.
    pub b: Element,
    /// Type of what is added.
    pub c: Element,
    /// Whether integers stop at their ends instead of wrapping.
    pub satfinite: bool,
}

/// Which products exist.
struct Rule {
    /// Types of A and B, in any combination.
    inputs: &'static [Element],
    /// Shapes as (m, k); n is 8.
    shapes: &'static [(u32, u32)],
    /// Types of C and D.
    accumulators: &'static [Element],
}

/// PTX ISA, "mma", table of shapes and types, without sub-byte integers, single bits and the `m8n8k4` of `f16`, whose map is one
/// of its own.
const RULES: [Rule; 6] = [
    Rule { inputs: &[Element::F16], shapes: &[(16, 8), (16, 16)], accumulators: &[Element::F16, Element::F32] },
    Rule { inputs: &[Element::Bf16], shapes: &[(16, 8), (16, 16)], accumulators: &[Element::F32] },
    Rule { inputs: &[Element::Tf32], shapes: &[(16, 4), (16, 8)], accumulators: &[Element::F32] },
    Rule {
        inputs: &[Element::E4m3, Element::E5m2],
        shapes: &[(16, 16), (16, 32)],
        accumulators: &[Element::F16, Element::F32],
    },
    Rule { inputs: &[Element::S8, Element::U8], shapes: &[(8, 16), (16, 16), (16, 32)], accumulators: &[Element::S32] },
    Rule { inputs: &[Element::F64], shapes: &[(8, 4), (16, 4), (16, 8), (16, 16)], accumulators: &[Element::F64] },
];

impl Mma {
    /// Reads the words of an opcode, from `mma` to the last type.
    ///
    /// # Errors
    /// In words, which word is not possible and what is.
    pub fn from_words(words: &[&str]) -> Result<Mma, String> {
        const FORM: &str = "mma.sync.aligned.m..n..k...row.col{.satfinite}.dtype.atype.btype.ctype";
        let (satfinite, words) = without_satfinite(words);
        let ["mma", "sync", "aligned", shape, "row", "col", d, a, b, c] = words[..] else {
            return Err(format!("expected {FORM}, found {}", words.join(".")));
        };
        let element =
            |word: &str| Element::from_word(word).ok_or_else(|| format!("no matrix has elements of type {word}"));
        let (d, a, b, c) = (element(d)?, element(a)?, element(b)?, element(c)?);
        let rule = RULES.iter().find(|rule| rule.inputs.contains(&a)).ok_or_else(|| {
            format!("A has no elements of type {a}; possible: {}", list(RULES.iter().flat_map(|rule| rule.inputs)))
        })?;
        let shapes = || rule.shapes.iter().map(|&(m, k)| Shape { m, n: 8, k });
        let shape = shapes()
            .find(|s| s.to_string() == shape)
            .ok_or_else(|| format!("the shape {shape} does not exist for {a}; possible: {}", list(shapes())))?;
        if !rule.inputs.contains(&b) {
            return Err(format!("B of type {b} does not go with A of type {a}; possible: {}", list(rule.inputs)));
        }
        if !rule.accumulators.contains(&d) || c != d {
            return Err(format!(
                "D of {d} and C of {c} do not go with {a}; possible for both: {}",
                list(rule.accumulators)
            ));
        }
        if satfinite && !a.is_integer() {
            return Err(format!("satfinite is for integers, not for {a}"));
        }
        Ok(Mma { shape, d, a, b, c, satfinite })
    }

    /// The map of A (m, k).
    pub fn a_fragment(self) -> Fragment {
        Fragment::operand(self.shape.m, self.shape.k, self.a.per_register(), false)
    }

    /// The map of B (k, n).
    pub fn b_fragment(self) -> Fragment {
        Fragment::operand(self.shape.n, self.shape.k, self.b.per_register(), true)
    }

    /// The map of C and of D (m, n), which have the same type.
    pub fn accumulator(self) -> Fragment {
        Fragment::accumulator(self.shape.m, self.shape.n, self.d.per_register())
    }
}

/// The words without `satfinite`, which may be at several positions, and whether it was there.
pub(super) fn without_satfinite<'a>(words: &[&'a str]) -> (bool, Vec<&'a str>) {
    let others: Vec<_> = words.iter().copied().filter(|&word| word != "satfinite").collect();
    (others.len() < words.len(), others)
}

/// Words with commas between them.
pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}
