//! What is collected of products: the space of our products, with what the library's instances have beyond it.

use crate::jit::{Form, LONG};
use crate::legal::tensor::{self, Point};
use crate::legal::{Rule, Rules};
use crate::space::tensor::Call;
use crate::space::{Parameter, Space};

/// A candidate of a product: the point that rules of products know, and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub point: Point,
    pub transposed: bool,
}

impl Candidate {
    /// A candidate of a call: BM, BN, BK, warps, stages, groups, splits, and whether it is transposed.
    pub fn new(call: &Call, values: &[i64]) -> Candidate {
        let point = call.point(values.get(..7).unwrap_or_default());
        Candidate { point: Point { raster: 1, ..point }, transposed: values.get(7) == Some(&1) }
    }

    /// Whether programs, or groups of warps, share the K of a tile.
    pub fn is_split(&self) -> bool {
        self.point.splits > 1 || self.point.kl > 1
    }

    /// What a block has of it: of a tile that is longer along K than 128 elements of 16 bits, the blocks of a cluster have a part each.
    fn of_block(&self) -> Point {
        Point { bk: self.point.bk.min(LONG / self.point.size.max(1)), ..self.point }
    }
}

/// A product whose K is shared is not computed by its transpose, which is for types of tensor cores.
fn form(candidate: &Candidate) -> bool {
    !candidate.transposed || (!candidate.is_split() && candidate.point.size == 2)
}

/// Only clusters have tiles that are long along K, and these are small.
fn clusters(candidate: &Candidate) -> bool {
    let Point { bm, bn, bk, size, .. } = candidate.point;
    let few = size == 2 && bm <= 64 && bn <= 64 && !candidate.is_split() && !candidate.transposed;
    bk * size <= LONG || few
}

/// The parts of the K of a launch have a step each, so that no two numbers of splits are the same launch.
fn parts(candidate: &Candidate) -> bool {
    let Point { k, bk, splits, .. } = candidate.point;
    let steps = k.div_euclid(bk.max(1)) + i64::from(k % bk.max(1) != 0);
    let of_part = steps.div_euclid(splits.max(1)) + i64::from(steps % splits.max(1) != 0);
    2 * (steps.div_euclid(of_part.max(1)) + i64::from(steps % of_part.max(1) != 0)) > splits
}

/// The rules of instances, then those of contexts.
pub(super) fn rules() -> Rules<Candidate> {
    let rule = |name, source, check| Rule { name, source, check };
    Rules::new(vec![
        rule("form", "ours", form as fn(&Candidate) -> bool),
        rule("clusters", "ours", clusters),
        rule("powers", "T §4.2.1", |c| tensor::powers(&c.point)),
        rule("elements", "T §4.2.1", |c| tensor::elements(&c.point)),
        rule("warps", "hardware", |c| tensor::warps(&c.point)),
        rule("shared", "hardware", |c| tensor::shared(&c.of_block())),
        rule("registers", "hardware", |c| tensor::registers(&c.point)),
        rule("instructions", "T §4.2.1", |c| tensor::instructions(&c.of_block())),
        rule("splits", "ours", |c| tensor::splits(&c.point)),
        rule("parts", "ours", parts),
        rule("extent", "ours", |c| tensor::extent(&c.point)),
        rule("occupancy", "T §4.2.1", |c| tensor::occupancy(&c.point)),
    ])
}

/// The columns of a choice.
pub(super) const CHOICE: [&str; 8] = ["BM", "BN", "BK", "num_warps", "num_stages", "KL", "splits", "transposed"];
/// The columns of a context.
pub(super) const CONTEXT: [&str; 6] = ["m", "n", "k", "ta", "tb", "aligned"];

/// The most splits.
pub(super) const MOST_SPLITS: i64 = 256;

/// Contexts, instances and launches of a form sampled together, of elements of this size.
pub(super) fn space(size: i64, form: Form) -> Space<Candidate> {
    let parameters = vec![
        Parameter::powers("m", 1, 8192),
        Parameter::powers("n", 1, 8192),
        Parameter::powers("k", 1, 131_072),
        Parameter::powers("BM", 16, 256),
        Parameter::powers("BN", 16, 256),
        Parameter::powers("BK", 16, 1024),
        Parameter::new("num_warps", [2, 4, 8, 16]),
        Parameter::new("num_stages", [2, 3, 4, 5, 6, 7, 8]),
        Parameter::powers("KL", 1, if form == Form::Split { 8 } else { 1 }),
        Parameter::powers("splits", 1, if form == Form::Split { MOST_SPLITS } else { 1 }),
        Parameter::new("transposed", [i64::from(form == Form::Transposed)]),
    ];
    let read: fn(&[i64]) -> Candidate = if size == 4 { read::<4> } else { read::<2> };
    Space { title: "products to collect", parameters, read, rules: rules() }
}

/// The candidate of values of all parameters, of elements of a size.
fn read<const SIZE: i64>(values: &[i64]) -> Candidate {
    let v = |index: usize| values.get(index).copied().unwrap_or(1);
    Candidate::new(&Call::hopper([v(0), v(1), v(2)], SIZE), values.get(3..).unwrap_or_default())
}
