//! The normal form: which product of matrices a contraction is.
//!
//! Of any number of axes few kinds are left. A letter of x, y and z is a *batch*; of x and z it is a row (M), of y and z a column (N);
//! a letter that z lacks is summed over (K), with stride 0 in the operand that lacks it. What is not needed goes: a letter twice in an operand
//! is its diagonal, whose stride is the sum of both; an extent of 1 needs no axis; two axes are one where a single stride leads through both in
//! every operand that has them.

use super::notation::Notation;
use std::fmt;

/// Extents and strides, in elements, of the axes of an operand.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// An extent for each letter.
    pub shape: &'a [usize],
    /// A stride for each letter.
    pub strides: &'a [usize],
}

/// One axis of the normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The letters that it was merged of, the outermost first.
    pub letters: String,
    /// How many elements.
    pub extent: usize,
    /// Strides in x, y and z; 0 where the operand has no such axis.
    pub strides: [usize; 3],
}

/// The axes of a contraction by kind, in each kind those with the larger strides first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Normal {
    /// Of x, y and z.
    pub batch: Vec<Mode>,
    /// Of x and z.
    pub m: Vec<Mode>,
    /// Of y and z.
    pub n: Vec<Mode>,
    /// Summed over.
    pub k: Vec<Mode>,
}

/// What does not fit. Operands are numbered x, y, z.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// An operand has another number of axes than letters.
    Rank {
        /// The operand.
        operand: usize,
        /// Its axes.
        found: usize,
        /// Its letters.
        letters: String,
    },
    /// A letter has two extents.
    Extent {
        /// The letter.
        letter: char,
        /// The operand and the axis that came later.
        at: (usize, usize),
        /// The extent there.
        found: usize,
        /// The operand and the axis that came first.
        first: (usize, usize),
        /// The extent there.
        expected: usize,
    },
}

/// The normal form of a contraction.
///
/// # Errors
/// [`Misfit`] if ranks or extents contradict the notation.
pub fn normal(notation: &Notation, axes: [Axes<'_>; 3]) -> Result<Normal, Misfit> {
    let [x, y] = &notation.operands;
    let of = [x, y, &notation.output];
    for (operand, letters) in of.iter().enumerate() {
        let found = axes[operand].shape.len();
        if letters.len() != found {
            return Err(Misfit::Rank { operand, found, letters: letters.iter().collect() });
        }
    }
    // Each letter with where it was first, in order of appearance.
    let mut modes: Vec<(char, (usize, usize), Mode)> = Vec::new();
    for (operand, letters) in of.iter().enumerate() {
        for (axis, &letter) in letters.iter().enumerate() {
            let (found, stride) = (axes[operand].shape[axis], axes[operand].strides[axis]);
            if let Some((_, first, mode)) = modes.iter_mut().find(|(of, ..)| *of == letter) {
                if mode.extent != found {
                    let (first, expected) = (*first, mode.extent);
                    return Err(Misfit::Extent { letter, at: (operand, axis), found, first, expected });
                }
                // Beyond the operand's memory only along axes of one element.
                mode.strides[operand] = mode.strides[operand].saturating_add(stride);
            } else {
                let mut mode = Mode { letters: letter.to_string(), extent: found, strides: [0; 3] };
                mode.strides[operand] = stride;
                modes.push((letter, (operand, axis), mode));
            }
        }
    }
    let mut normal = Normal::default();
    for (letter, _, mode) in modes.into_iter().filter(|(.., mode)| mode.extent != 1) {
        let class = match of.map(|letters| letters.contains(&letter)) {
            [true, true, true] => &mut normal.batch,
            [_, false, true] => &mut normal.m,
            [false, true, true] => &mut normal.n,
            [_, _, false] => &mut normal.k,
        };
        class.push(mode);
    }
    if normal.k.iter().any(|mode| mode.extent == 0) {
        // Nothing is read, so that strides in x and y mean nothing.
        let letters = normal.k.iter().map(|mode| mode.letters.as_str()).collect();
        normal.k = vec![Mode { letters, extent: 0, strides: [0; 3] }];
        for mode in [&mut normal.batch, &mut normal.m, &mut normal.n].into_iter().flatten() {
            mode.strides = [0, 0, mode.strides[2]];
        }
    }
    for class in [&mut normal.batch, &mut normal.m, &mut normal.n, &mut normal.k] {
        merge(class);
        let order = |mode: &Mode| (mode.strides[2], mode.strides[0].max(mode.strides[1]), mode.letters.clone());
        class.sort_by_key(|mode| std::cmp::Reverse(order(mode)));
    }
    Ok(normal)
}

/// Makes one axis of two where one stride leads through both, as long as there are such.
fn merge(class: &mut Vec<Mode>) {
    let nests = |outer: &Mode, inner: &Mode| {
        let leads = |(of, step): (&usize, &usize)| step.checked_mul(inner.extent) == Some(*of);
        // Without elements there is nothing to lead through.
        outer.extent > 0 && inner.extent > 0 && outer.strides.iter().zip(&inner.strides).all(leads)
    };
    let pair = |class: &[Mode]| {
        let pairs = (0..class.len()).flat_map(|i| (0..class.len()).map(move |j| (i, j)));
        pairs.into_iter().find(|&(i, j)| i != j && nests(&class[i], &class[j]))
    };
    while let Some((i, j)) = pair(class) {
        let Some(extent) = class[i].extent.checked_mul(class[j].extent) else { return };
        let letters = format!("{}{}", class[i].letters, class[j].letters);
        class[j] = Mode { letters, extent, strides: class[j].strides };
        class.remove(i);
    }
}

impl Normal {
    /// Elements of batch, M, N and K; `None` if a number does not fit.
    pub fn sizes(&self) -> Option<[usize; 4]> {
        let of = |class: &[Mode]| class.iter().try_fold(1usize, |size, mode| size.checked_mul(mode.extent));
        Some([of(&self.batch)?, of(&self.m)?, of(&self.n)?, of(&self.k)?])
    }

    /// The same with x and y the other way round.
    pub fn swapped(&self) -> Normal {
        let of = |class: &[Mode]| {
            let swap = |mode: &Mode| {
                let [x, y, z] = mode.strides;
                Mode { strides: [y, x, z], ..mode.clone() }
            };
            class.iter().map(swap).collect()
        };
        Normal { batch: of(&self.batch), m: of(&self.n), n: of(&self.m), k: of(&self.k) }
    }

    /// All axes.
    pub fn modes(&self) -> impl Iterator<Item = &Mode> {
        [&self.batch, &self.m, &self.n, &self.k].into_iter().flatten()
    }
}

impl fmt::Display for Normal {
    /// `batch [], m [a 32, c 32, i 32], n [b 32, jk 1024], k [q 32]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |class: &[Mode]| {
            let all: Vec<String> = class.iter().map(|mode| format!("{} {}", mode.letters, mode.extent)).collect();
            all.join(", ")
        };
        let [batch, m, n, k] = [&self.batch, &self.m, &self.n, &self.k].map(|class| of(class));
        write!(f, "batch [{batch}], m [{m}], n [{n}], k [{k}]")
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::parse;
    use super::*;
    use std::collections::BTreeMap;

    /// Row-major strides.
    fn strides(shape: &[usize]) -> Vec<usize> {
        (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
    }

    fn of(text: &str, shapes: [&[usize]; 3]) -> Result<Normal, Misfit> {
        let all = shapes.map(strides);
        let axes = std::array::from_fn(|i| Axes { shape: shapes[i], strides: &all[i] });
        normal(&parse(text).expect("it is right"), axes)
    }

    #[test]
    fn the_contractions_of_the_literature() {
        let normal = of("icaq,qbjk->abcijk", [&[32; 4], &[32; 4], &[32; 6]]).expect("it fits");
        assert_eq!(normal.to_string(), "batch [], m [a 32, c 32, i 32], n [b 32, jk 1024], k [q 32]");
        let normal = of("kiaq,bcjq->abcijk", [&[32; 4], &[32; 4], &[32; 6]]).expect("it fits");
        assert_eq!(normal.to_string(), "batch [], m [a 32, i 32, k 32], n [bc 1024, j 32], k [q 32]");
        let normal = of("abc,bcd->ad", [&[2, 3, 4], &[3, 4, 5], &[2, 5]]).expect("it fits");
        assert_eq!(normal.to_string(), "batch [], m [a 2], n [d 5], k [bc 12]");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = of("ik,kj->ij", [&[2, 3], &[4, 5], &[2, 5]]).expect_err("k is 3 and 4");
        assert_eq!(error, Misfit::Extent { letter: 'k', at: (1, 0), found: 4, first: (0, 1), expected: 3 });
        let error = of("ik,kj->ij", [&[2, 3], &[3], &[2, 5]]).expect_err("y is a vector");
        assert_eq!(error, Misfit::Rank { operand: 1, found: 1, letters: "kj".into() });
    }

    /// The triples of addresses that are multiplied and added, with how often, where loops are over modes.
    fn visited(modes: &[&Mode]) -> BTreeMap<[usize; 3], usize> {
        let mut all = BTreeMap::new();
        let count: usize = modes.iter().map(|mode| mode.extent).product();
        for mut i in 0..count {
            let mut at = [0; 3];
            for mode in modes {
                let index = i % mode.extent;
                i /= mode.extent;
                at = std::array::from_fn(|operand| at[operand] + index * mode.strides[operand]);
            }
            *all.entry(at).or_default() += 1;
        }
        all
    }

    #[test]
    fn the_normal_form_visits_the_same_addresses() {
        // A generator of numbers of its own (Knuth's MMIX): tests have no dependency for it.
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..2000 {
            let letters = ['a', 'b', 'c', 'd', 'e'];
            let extents = letters.map(|_| [0, 1, 2, 2, 3, 3, 4][random(7)]);
            let mut some = |most: usize, from: &[char], unique: bool| {
                let mut chosen: Vec<char> = Vec::new();
                for _ in 0..random(most + 1) {
                    let letter = from[random(from.len())];
                    if !(unique && chosen.contains(&letter)) {
                        chosen.push(letter);
                    }
                }
                chosen
            };
            let (x, y) = (some(4, &letters, false), some(4, &letters, false));
            let both = [x.clone(), y.clone()].concat();
            let z = if both.is_empty() { Vec::new() } else { some(4, &both, true) };
            let all = [x.clone(), y.clone(), z.clone()];
            let extent = |letter: &char| extents[letters.iter().position(|of| of == letter).expect("it is one")];
            let shapes = all.clone().map(|letters| letters.iter().map(extent).collect::<Vec<usize>>());
            let steps = shapes.clone().map(|shape| {
                let mut steps = strides(&shape);
                // In another order, with gaps, or repeated.
                match random(4) {
                    0 => steps.reverse(),
                    1 => steps.iter_mut().for_each(|step| *step *= 2),
                    2 => steps.iter_mut().for_each(|step| *step *= random(2)),
                    _ => {}
                }
                steps
            });
            let notation = Notation { operands: [x, y], output: z };
            let axes = std::array::from_fn(|i| Axes { shape: &shapes[i], strides: &steps[i] });
            let normal = normal(&notation, axes).expect("it fits");

            let mut used: Vec<char> = both;
            used.sort_unstable();
            used.dedup();
            let naive: Vec<Mode> = used
                .iter()
                .map(|letter| {
                    let stride = |operand: usize| {
                        let at = all[operand].iter().zip(&steps[operand]);
                        at.filter(|(of, _)| *of == letter).map(|(_, step)| step).sum()
                    };
                    Mode { letters: letter.to_string(), extent: extent(letter), strides: std::array::from_fn(stride) }
                })
                .collect();
            let found = visited(&normal.modes().collect::<Vec<_>>());
            assert_eq!(found, visited(&naive.iter().collect::<Vec<_>>()), "{notation:?} {shapes:?} {steps:?}");
            assert!(normal.k.iter().all(|mode| mode.strides[2] == 0), "{normal}");
            assert!(normal.m.iter().all(|mode| mode.strides[1] == 0), "{normal}");
            assert!(normal.n.iter().all(|mode| mode.strides[0] == 0), "{normal}");
            let swapped = normal.swapped();
            assert_eq!(
                (swapped.swapped(), swapped.sizes().map(|[b, m, n, k]| [b, n, m, k])),
                (normal.clone(), normal.sizes())
            );
        }
    }
}
