//! Matrices that show how an instruction adds.
//!
//! Products are powers of two, and most are zero, so that a sum shows which of its terms were there. A *small* product
//! beside a large one that another cancels shows how many bits below the largest exponent are kept, for each distance;
//! it is lost earlier when the two large ones are not in one group of products, since a sum is rounded between groups.
//! Small products of both signs without cancellation show how the result is rounded, and many equal ones whether each
//! is cut or only their sum.

use super::{Case, Spec};
use crate::random::{Random, hash};

/// How many cases there are of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All.
    Full,
    /// Less random ones.
    Less,
    /// Exact and random ones alone.
    Few,
}

/// Log2 of the large factors; their product is 2^8.
const LARGE: i32 = 4;

/// Positions along K of a large product, its opposite, and a small one.
const TRIPLES: &[[usize; 3]] = &[
    [0, 1, 2],
    [0, 2, 1],
    [1, 2, 0],
    [0, 1, 3],
    [2, 3, 0],
    [0, 3, 1],
    [1, 3, 0],
    [0, 4, 1],
    [0, 4, 5],
    [3, 4, 0],
    [3, 4, 7],
    [0, 7, 3],
    [0, 8, 1],
    [0, 8, 9],
    [7, 8, 0],
    [7, 8, 15],
    [0, 1, 15],
    [15, 14, 0],
    [0, 15, 8],
    [0, 16, 1],
    [0, 16, 17],
    [15, 16, 0],
    [15, 16, 31],
    [0, 31, 16],
    [31, 30, 0],
];

/// Makes the cases of one instruction.
pub struct Maker {
    spec: Spec,
    random: Random,
    cases: Vec<Case>,
}

/// The cases of an instruction; its name seeds them.
pub fn cases(instruction: &str, spec: Spec, depth: Depth) -> Vec<Case> {
    let mut maker = Maker { spec, random: Random::new(hash(instruction.as_bytes())), cases: Vec::new() };
    let counts = match depth {
        Depth::Full => [2, 12, 8, 6, 3, 2],
        Depth::Less => [1, 4, 3, 3, 1, 1],
        Depth::Few => [1, 1, 1, 1, 0, 0],
    };
    let [exact, powers, normal, wide, rare, borders] = counts;
    maker.repeat(exact, Maker::exact);
    let Some(format) = spec.a.format() else {
        maker.repeat(normal, |m| m.spread("random", (0, 0), (0, 0)));
        return maker.cases;
    };
    maker.repeat(powers, Maker::powers);
    maker.repeat(normal, |m| m.spread("normal", (-2, 2), (-2, 2)));
    maker.repeat(wide, |m| m.spread("wide", (-6, 6), (-12, 12)));
    maker.repeat(rare, Maker::rare);
    if depth != Depth::Few {
        maker.zeros();
        let wide_range = format.exponent == 8;
        let (tiny, huge) = if wide_range { (-75, 62) } else { (-20, 6) };
        let c_tiny = spec.c.format().map_or(0, |f| 1 - f.bias());
        let c_huge = spec.c.format().map_or(0, crate::operand_type::Format::bias);
        maker.repeat(borders, |m| m.spread("tiny", (tiny, tiny + 12), (c_tiny - 10, c_tiny + 3)));
        maker.repeat(borders, |m| m.spread("huge", (huge, huge + 2), (c_huge - 2, c_huge)));
    }
    if depth != Depth::Few && spec.a.bytes < 8 {
        maker.probes();
    }
    maker.cases
}

impl Maker {
    fn repeat(&mut self, count: usize, make: impl Fn(&mut Maker)) {
        (0..count).for_each(|_| make(self));
    }

    /// Adds a case from functions of row, column and index along K.
    fn add(
        &mut self,
        name: String,
        mut a: impl FnMut(&mut Random, usize, usize) -> u64,
        mut b: impl FnMut(&mut Random, usize, usize) -> u64,
        mut c: impl FnMut(&mut Random, usize, usize) -> u64,
    ) {
        let (spec, r) = (self.spec, &mut self.random);
        let grid = |rows: usize, columns: usize| (0..rows).flat_map(move |y| (0..columns).map(move |x| (y, x)));
        let a = grid(spec.m, spec.k).map(|(y, x)| a(r, y, x)).collect();
        let b = grid(spec.n, spec.k).map(|(y, x)| b(r, y, x)).collect();
        let c = grid(spec.m, spec.n).map(|(y, x)| c(r, y, x)).collect();
        self.cases.push(Case { name, spec, a, b, c });
    }

    /// Small integers: every sum is exact in every type.
    fn exact(&mut self) {
        let Spec { a, b, c, .. } = self.spec;
        let low = |element: super::Element| if element.number == super::Number::Unsigned { 0 } else { -3 };
        self.add(
            "exact".into(),
            |r, _, _| a.integer(r.between(low(a), 3)),
            |r, _, _| b.integer(r.between(low(b), 3)),
            |r, _, _| c.integer(r.between(-20, 20)),
        );
    }

    /// Powers of two with exponents far apart.
    fn powers(&mut self) {
        let Spec { a, b, c, .. } = self.spec;
        let bit = |r: &mut Random| r.below(2) == 0;
        self.add(
            "powers".into(),
            |r, _, _| a.power(bit(r), r.between(-6, 6)),
            |r, _, _| b.power(bit(r), r.between(-6, 6)),
            |r, _, _| if r.below(4) == 0 { 0 } else { c.power(bit(r), r.between(-14, 14)) },
        );
    }

    /// Random numbers with exponents between two, of factors and of C.
    fn spread(&mut self, name: &str, factors: (i32, i32), addends: (i32, i32)) {
        let Spec { a, b, c, .. } = self.spec;
        self.add(
            name.into(),
            |r, _, _| a.random(r, factors),
            |r, _, _| b.random(r, factors),
            |r, _, _| c.random(r, addends),
        );
    }

    /// Random numbers with a special one here and there.
    fn rare(&mut self) {
        let Spec { a, b, c, .. } = self.spec;
        let some = |r: &mut Random, element: super::Element| match r.below(40) {
            0 => element.special(r),
            _ => element.random(r, (-4, 4)),
        };
        self.add("rare".into(), |r, _, _| some(r, a), |r, _, _| some(r, b), |r, _, _| some(r, c));
    }

    /// Zeros of both signs.
    fn zeros(&mut self) {
        let Spec { a, b, c, .. } = self.spec;
        // A product is a zero with the sign of its row, but for the last row, where signs differ.
        self.add(
            "zeros".into(),
            |r, row, _| a.power(if row % 4 == 3 { r.below(2) == 0 } else { row % 2 == 1 }, -5000),
            |_, _, _| b.power(false, 0),
            |_, _, column| c.power(column % 2 == 1, -5000),
        );
    }

    fn probes(&mut self) {
        let k = self.spec.k;
        for positions in TRIPLES.iter().filter(|t| t.iter().all(|p| *p < k)) {
            self.cancel(*positions, 0);
        }
        self.cancel([0, 1, 2], 3);
        self.cancel([0, k - 1, k / 2], 3);
        for pair in [[0, 1], [1, 0], [0, k / 2], [k / 2, 0], [k / 2 - 1, k / 2], [k - 1, 0], [0, k - 1]] {
            self.carry(pair);
        }
        for pair in [[0, 1], [k - 1, 0], [0, k / 2]] {
            self.plain(pair, 0);
            self.plain(pair, 3);
        }
        for position in [0, 1, k / 2, k - 1] {
            self.many(position, None);
            self.many(position, Some((position + k / 2) % k));
        }
        for count in [1, 2, k / 2, k] {
            self.large_addend(count);
        }
    }

    /// `L - L + small + c`: columns choose the sign of the small product and a c of nothing or little.
    fn cancel(&mut self, [first, second, third]: [usize; 3], quarters: u64) {
        let Spec { a, b, c, .. } = self.spec;
        let spec = self.spec;
        let at = |row, column| small_of(spec, row, column);
        self.add(
            format!("cancel {first} {second} {third} {quarters}/4"),
            |_, row, k| match k {
                _ if k == first => a.power(row / 16 % 2 == 1, LARGE),
                _ if k == second => a.power(row / 16 % 2 == 0, LARGE),
                _ if k == third => a.scaled(false, at(row, 0).0, quarters),
                _ => 0,
            },
            |_, column, k| match k {
                _ if k == first || k == second => b.power(false, LARGE),
                _ if k == third => b.power(column / 2 % 2 == 1, at(0, column).1),
                _ => 0,
            },
            |_, _, column| match column / 2 % 4 {
                2 => c.power(false, -18),
                3 => c.power(true, -22),
                _ => 0,
            },
        );
    }

    /// `L + small + c` with c of minus L, or one unit more.
    fn carry(&mut self, [first, second]: [usize; 2]) {
        let Spec { a, b, c, .. } = self.spec;
        let spec = self.spec;
        let at = |row, column| small_of(spec, row, column);
        self.add(
            format!("carry {first} {second}"),
            |_, row, k| match k {
                _ if k == first => a.power(row / 16 % 2 == 1, LARGE),
                _ if k == second => a.power(false, at(row, 0).0),
                _ => 0,
            },
            |_, column, k| match k {
                _ if k == first => b.power(false, LARGE),
                _ if k == second => b.power(column / 2 % 2 == 1, at(0, column).1),
                _ => 0,
            },
            |_, row, column| c.power(row / 16 % 2 == 0, 2 * LARGE) + (column / 4 % 2) as u64,
        );
    }

    /// `L + small`, both signs of both: how the result is rounded.
    fn plain(&mut self, [first, second]: [usize; 2], quarters: u64) {
        let Spec { a, b, c, .. } = self.spec;
        let spec = self.spec;
        let at = |row, column| small_of(spec, row, column);
        self.add(
            format!("plain {first} {second} {quarters}/4"),
            |_, row, k| match k {
                _ if k == first => a.power(false, LARGE),
                _ if k == second => a.scaled(false, at(row, 0).0, quarters),
                _ => 0,
            },
            |_, column, k| match k {
                _ if k == first => b.power(column / 2 % 2 == 1, LARGE),
                _ if k == second => b.power(column / 4 % 2 == 1, at(0, column).1),
                _ => 0,
            },
            |_, row, _| if row / 16 % 2 == 1 { c.power(false, -18) } else { 0 },
        );
    }

    /// `L + small + small + ..`, or with `- L`: whether each small one is cut, or their sum.
    fn many(&mut self, position: usize, opposite: Option<usize>) {
        let Spec { a, b, .. } = self.spec;
        let spec = self.spec;
        let at = |row, column| small_of(spec, row, column);
        let name = opposite.map_or(format!("many {position}"), |o| format!("many {position} {o}"));
        self.add(
            name,
            |_, row, k| match k {
                _ if k == position => a.power(false, LARGE),
                _ if Some(k) == opposite => a.power(true, LARGE),
                _ => a.power(false, at(row, 0).0),
            },
            |_, column, k| match k {
                _ if k == position || Some(k) == opposite => b.power(column / 2 % 2 == 1, LARGE),
                _ => b.power(column / 4 % 2 == 1, at(0, column).1),
            },
            |_, _, _| 0,
        );
    }

    /// A large c beside this many small products: whether c is one of the terms.
    fn large_addend(&mut self, count: usize) {
        let Spec { a, b, c, .. } = self.spec;
        let spec = self.spec;
        let at = |row, column| small_of(spec, row, column);
        self.add(
            format!("addend {count}"),
            |_, row, k| if k < count { a.power(false, at(row, 0).0) } else { 0 },
            |_, column, k| if k < count { b.power(column / 2 % 2 == 1, at(0, column).1) } else { 0 },
            |_, _, column| c.power(column / 4 % 2 == 1, 2 * LARGE),
        );
    }
}

/// Log2 of the small factor in A, which falls along 16 rows, and of that in B in even and odd columns.
fn small_of(spec: Spec, row: usize, column: usize) -> (i32, i32) {
    let row = (row % 16) as i32;
    if spec.a.bytes == 1 || spec.b.bytes == 1 {
        (6 - row, [2, -9][column % 2])
    } else {
        (4 - row, [0, -12][column % 2])
    }
}
