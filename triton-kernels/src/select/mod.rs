//! Which instance computes a product. [`Gemm`](crate::linear::Gemm) asks, in this order:
//!
//! 1. what was measured to be the fastest for exactly this product, on an H200 ([`learned`]);
//! 2. a model of the times of all [`Candidates`], the instances in several numbers of splits ([`learned`]): of 16 bits its fastest, as of `f64`, of which
//!    the model is an estimate alone, of `f32` where it predicts that its choice is faster by more than it errs;
//! 3. the first row of [`TABLE`] that is for the product.
//!
//! The first two know products of `f32`, `f16`, `bf16` and `f64` without an epilogue, one at a time, whose rows begin at multiples of 16 bytes. A choice is the
//! same on every device that has code of the same instances. It follows from measurements of another run than the one that compares with the peers.
//!
//! The model of 16 bits is a prior and a network. The prior says what an instance takes by waves ([`Candidates::estimate`]): how many tiles the
//! fullest multiprocessor has, and what an iteration takes of its arithmetic and of the traffic of operands. The network says by which factor the prior
//! errs.
//!
//! Of [`TABLE`] the first row that matches a product, and whose instance the device has code of, chooses; each has its reason. Three quantities decide: how
//! many waves of tiles the multiprocessors compute ([`Plan::waves`]), how often an operand that is loaded is used (the tile's area), and K, which says how
//! much a program does beside its prologue and the store of its tile.

mod candidates;
mod estimate;
mod learned;
mod table;

pub use candidates::{Candidate, Candidates};
pub use learned::{expected, learned, predicted};
use std::fmt;
use std::ops::RangeInclusive;
pub use table::TABLE;

/// Multiprocessors of an H100 or H200, which the table was measured on. Splits follow from it on every device, so that a result is the same
/// on all of them.
pub const MULTIPROCESSORS: usize = 132;

/// Fewest iterations of the loop over K in a split: loads ahead pay off only after the first.
const STEPS: usize = 4;

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Numbers of `f32`, as they are
    F32,
    /// Numbers of `f32`, rounded to TF32
    Tf32,
    /// Numbers of `f16`
    F16,
    /// Numbers of `bf16`
    Bf16,
    /// Numbers of `f64`
    F64,
    /// Numbers of `i8`
    I8,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::F32 => "f32",
            Kind::Tf32 => "tf32",
            Kind::F16 => "f16",
            Kind::Bf16 => "bf16",
            Kind::F64 => "f64",
            Kind::I8 => "i8",
        }
    }
}

/// How a and b lie in memory: N, the last axis contiguous, or T, the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// a is \[M, K\], b is \[K, N\].
    NN,
    /// b is \[N, K\].
    NT,
    /// a is \[K, M\].
    TN,
    /// a is \[K, M\], b is \[N, K\].
    TT,
}

use Order::{NN, NT, TN, TT};

impl Order {
    /// By what is transposed.
    pub fn of(transposed: [bool; 2]) -> Order {
        match transposed {
            [false, false] => NN,
            [false, true] => NT,
            [true, false] => TN,
            [true, true] => TT,
        }
    }

    /// What is transposed.
    pub fn transposed(self) -> [bool; 2] {
        [matches!(self, TN | TT), matches!(self, NT | TT)]
    }
}

/// A product c = a · b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The element type of a and b.
    pub kind: Kind,
    /// How they lie in memory.
    pub order: Order,
    /// How many products.
    pub batch: usize,
    /// M, N, K.
    pub shape: [usize; 3],
}

impl Problem {
    /// Tiles of this many rows and columns that cover the result.
    pub fn tiles(&self, [m, n]: [usize; 2]) -> usize {
        self.batch * self.shape[0].div_ceil(m) * self.shape[1].div_ceil(n)
    }
}

/// A condition beside the ranges of M, N and K: tiles of these rows and columns that cover the result, and how many.
#[derive(Clone, Debug)]
struct Tiles([usize; 2], RangeInclusive<usize>);

/// How a kernel divides a product among programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// A program for each tile.
    Whole,
    /// A program for each part of the K of each tile, as many as make this many programs for each multiprocessor: enough to hide
    /// the latency of one by the others, and no more than are resident together.
    Split {
        /// Groups of warps, each of which multiplies a part of the K of an iteration: for a tile with too few elements for the warps that hide
        /// the latency of memory.
        groups: usize,
        /// Programs for each multiprocessor.
        programs: usize,
    },
    /// A program for each tile, multiplied as its transpose: the few columns of the result are the rows of the tensor cores' product, of
    /// which there are never fewer than 64.
    Transposed,
}

impl Kernel {
    /// Whether two kernels are one, for however many programs a multiprocessor.
    pub fn is(self, other: Kernel) -> bool {
        match (self, other) {
            (Kernel::Split { groups, .. }, Kernel::Split { groups: of_other, .. }) => groups == of_other,
            _ => self == other,
        }
    }
}

/// A compiled kernel of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// How it is divided among programs.
    pub kernel: Kernel,
    /// Rows and columns of a program's part of the result, and the K of an iteration of its loop.
    pub tile: [usize; 3],
    /// Warps of a block.
    pub warps: u32,
    /// Tiles of an operand that are loaded at a time.
    pub stages: u32,
    /// Blocks of a cluster that share the K of an iteration.
    pub cluster: u32,
}

/// A row of the table: the products that it is for, their instance, and why.
#[derive(Clone, Debug)]
pub struct Row {
    kinds: &'static [Kind],
    orders: &'static [Order],
    m: RangeInclusive<usize>,
    n: RangeInclusive<usize>,
    k: RangeInclusive<usize>,
    when: &'static [Tiles],
    kernel: Kernel,
    tile: [usize; 3],
    /// Why this instance.
    pub reason: &'static str,
}

const MOST: usize = usize::MAX;
const ALL: &[Order] = &[NN, NT, TN, TT];

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How it is divided among programs.
    pub kernel: Kernel,
    /// Rows and columns of a program's part of the result, and the K of an iteration of its loop.
    pub tile: [usize; 3],
    /// How many programs share an element of the result.
    pub splits: usize,
    /// Elements of K in a split, a multiple of [`GRANULE`]; without splits all of it.
    pub chunk: usize,
    /// Why.
    pub reason: &'static str,
}

/// What the elements of K in a split are a multiple of.
pub const GRANULE: usize = 32;

impl Plan {
    /// An instance for a product.
    pub fn new(problem: &Problem, kernel: Kernel, tile: [usize; 3], reason: &'static str) -> Plan {
        let wanted = match kernel {
            Kernel::Whole | Kernel::Transposed => 1,
            Kernel::Split { programs, .. } => {
                (MULTIPROCESSORS * programs).div_ceil(problem.tiles([tile[0], tile[1]]).max(1))
            }
        };
        Plan { kernel, tile, splits: 1, chunk: problem.shape[2], reason }.in_splits(problem, wanted)
    }

    /// The same in another number of splits, as far as K has as many parts.
    pub fn in_splits(self, problem: &Problem, wanted: usize) -> Plan {
        if !matches!(self.kernel, Kernel::Split { .. }) {
            return self;
        }
        let k = problem.shape[2];
        let step = self.tile[2].max(GRANULE);
        let steps =
            k.div_ceil(step).div_ceil(wanted.clamp(1, crate::grid::MOST)).max(STEPS * self.tile[2] / step).max(1);
        let chunk = steps * step;
        Plan { splits: k.div_ceil(chunk).max(1), chunk, ..self }
    }

    /// The instance, without the number of splits: `64x32x32`, with `x4` groups of warps, `split` or `transposed`.
    pub fn instance(&self) -> String {
        let [m, n, k] = self.tile;
        match self.kernel {
            Kernel::Whole => format!("{m}x{n}x{k}"),
            Kernel::Split { groups: 1, .. } => format!("{m}x{n}x{k} split"),
            Kernel::Split { groups, .. } => format!("{m}x{n}x{k}x{groups} split"),
            Kernel::Transposed => format!("{m}x{n}x{k} transposed"),
        }
    }

    /// Programs of the product.
    pub fn programs(&self, problem: &Problem) -> usize {
        problem.tiles([self.tile[0], self.tile[1]]) * self.splits
    }

    /// How many waves of programs the multiprocessors run, one program each at a time.
    pub fn waves(&self, problem: &Problem) -> usize {
        self.programs(problem).div_ceil(MULTIPROCESSORS)
    }

    /// The share of the multiprocessors' time in which they compute elements of the result, if every program takes as long: below 1 where the
    /// last wave is not full, and where tiles are cut.
    pub fn efficiency(&self, problem: &Problem) -> f64 {
        let [rows, columns, _] = problem.shape;
        let wave = MULTIPROCESSORS * self.tile[0] * self.tile[1];
        (problem.batch * rows * columns * self.splits) as f64 / (self.waves(problem) * wave) as f64
    }
}

impl Plan {
    /// Why it was chosen, and how many waves of programs there are: `by the model: 2 waves of 132 programs, 0.97 of them used`.
    pub fn explain(&self, problem: &Problem) -> String {
        let (waves, efficiency) = (self.waves(problem), self.efficiency(problem));
        let waves = if waves == 1 { "1 wave".to_string() } else { format!("{waves} waves") };
        format!("{}: {waves} of {MULTIPROCESSORS} programs, {efficiency:.2} of them used", self.reason)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.instance())?;
        match self.kernel {
            Kernel::Whole | Kernel::Transposed => Ok(()),
            Kernel::Split { .. } => write!(f, " in {}", self.splits),
        }
    }
}

/// What the rows that are for a product choose, in their order.
pub fn plans(problem: &Problem) -> impl Iterator<Item = Plan> + use<'_> {
    TABLE.iter().filter(|row| row.is_for(problem)).map(|row| Plan::new(problem, row.kernel, row.tile, row.reason))
}

impl Row {
    fn is_for(&self, problem: &Problem) -> bool {
        let [m, n, k] = problem.shape;
        let holds = |Tiles(of, range): &Tiles| range.contains(&problem.tiles(*of));
        self.kinds.contains(&problem.kind)
            && self.orders.contains(&problem.order)
            && [(&self.m, m), (&self.n, n), (&self.k, k)].iter().all(|(range, side)| range.contains(side))
            && self.when.iter().all(holds)
    }

    /// What it is for, in the columns of [`HEAD`].
    pub fn cells(&self) -> Vec<String> {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let orders: Vec<String> = self.orders.iter().map(|order| format!("{order:?}")).collect();
        let orders = if self.orders.len() == ALL.len() { "any".to_string() } else { orders.join(" ") };
        let sides = [("M", &self.m), ("N", &self.n), ("K", &self.k)];
        let sides = sides.iter().filter_map(|(side, range)| Some(format!("{side} {}", shown(range)?)));
        let tiles = |Tiles([m, n], range): &Tiles| Some(format!("tiles of {m}x{n} {}", shown(range)?));
        let when = self.when.iter().filter_map(tiles);
        let shapes: Vec<String> = sides.chain(when).collect();
        let (tile, kernel) = (self.tile, self.kernel);
        let mut instance = Plan { kernel, tile, splits: 1, chunk: 0, reason: "" }.instance();
        if let Kernel::Split { programs, .. } = kernel {
            instance += &format!(" for {programs} programs a multiprocessor");
        }
        vec![kinds.join(" "), orders, shapes.join(", "), instance, self.reason.to_string()]
    }
}

/// The columns of [`Row::cells`].
pub const HEAD: [&str; 5] = ["of", "orders", "shapes", "instance", "reason"];

/// A range in words; `None` if it excludes nothing.
fn shown(range: &RangeInclusive<usize>) -> Option<String> {
    match (*range.start(), *range.end()) {
        (..=1, MOST) => None,
        (..=1, end) => Some(format!("≤ {end}")),
        (start, MOST) => Some(format!("≥ {start}")),
        (start, end) => Some(format!("{start} to {end}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_hidden_by_a_general_one_and_each_has_a_reason() {
        for (i, row) in TABLE.iter().enumerate() {
            assert!(!row.reason.is_empty(), "{row:?}");
            // A row after one that is for all of its shapes would never be used.
            let general = |other: &Row| {
                let all =
                    |a: &RangeInclusive<usize>, b: &RangeInclusive<usize>| a.start() <= b.start() && a.end() >= b.end();
                other.when.is_empty()
                    && row.kinds.iter().all(|kind| other.kinds.contains(kind))
                    && row.orders.iter().all(|order| other.orders.contains(order))
                    && all(&other.m, &row.m)
                    && all(&other.n, &row.n)
                    && all(&other.k, &row.k)
            };
            assert!(!TABLE[..i].iter().any(general), "a row before it leaves nothing to {row:?}");
        }
    }

    fn problem(kind: Kind, order: Order, shape: [usize; 3]) -> Problem {
        Problem { kind, order, batch: 1, shape }
    }

    #[test]
    fn quantities() {
        let square = problem(Kind::Bf16, NN, [1024; 3]);
        let plan = plans(&square).next().expect("a row");
        assert_eq!((plan.to_string().as_str(), plan.programs(&square), plan.waves(&square)), ("64x128x64", 128, 1));
        assert_eq!(plan.efficiency(&square), 128.0 / 132.0);
        let skinny = problem(Kind::F32, NT, [7168, 16, 7168]);
        let split = plans(&skinny).next().expect("a row");
        // 112 tiles in 8 splits: seven waves, the last of 104 programs.
        assert_eq!((split.to_string().as_str(), split.chunk), ("64x16x32 split in 8", 896));
        assert_eq!(split.efficiency(&skinny), 896.0 / 924.0);
    }

    #[test]
    fn every_product_has_a_plan_whose_splits_cover_k() {
        let sides = [1, 16, 33, 64, 128, 1000, 4096];
        for kind in [Kind::F32, Kind::Tf32, Kind::F16, Kind::Bf16, Kind::F64, Kind::I8] {
            for order in ALL {
                for (m, n, k) in sides.iter().flat_map(|m| sides.iter().flat_map(move |n| sides.map(|k| (*m, *n, k)))) {
                    let problem = problem(kind, *order, [m, n, k]);
                    assert!(plans(&problem).next().is_some(), "{problem:?}");
                    for plan in plans(&problem) {
                        assert!(
                            (plan.splits - 1) * plan.chunk < k && plan.splits * plan.chunk >= k,
                            "{problem:?} {plan:?}"
                        );
                        assert!(plan.splits == 1 || plan.chunk.is_multiple_of(GRANULE.max(plan.tile[2])), "{plan:?}");
                    }
                }
            }
        }
    }
}
