//! Which instance computes a product. [`Gemm`](crate::linear::Gemm) asks, in this order:
//!
//! 1. the caller's selector, if there is one ([`Gemm::with`](crate::linear::Gemm::with)): a tuner, or a table of the program's own;
//! 2. what was measured to be the fastest for exactly this product on the device, or on one of the same compute capability and size;
//! 3. a model of the times of all [`Candidates`], the instances in several numbers of splits ([`learned`]): of 16 bits its fastest, as of `f64`, of which
//!    the model is an estimate alone, of `f32` where it predicts that its choice is faster by more than it errs;
//! 4. the first of the [`rows`] that is for the product.
//!
//! The second and third know products of `f32`, `f16`, `bf16` and `f64` without an epilogue, one at a time, whose rows begin at multiples of 16 bytes. They
//! follow from measurements of another run than the one that compares with the peers. Only instances are asked for that the device has code of, with no
//! more shared memory than its blocks have.
//!
//! The model of 16 bits is a prior and a network. The prior says what an instance takes by waves ([`Candidates::estimate`]): how many tiles the
//! fullest multiprocessor has, and what an iteration takes of its arithmetic and of the traffic of operands, at the rates of the device's
//! [`Machine`]. The network says by which factor the prior errs on an H200; other compute capabilities have the prior alone.
//!
//! Of the [`rows`] the first that matches a product, and whose instance the device has code of, chooses; each has its reason. Three quantities decide: how
//! many waves of tiles the multiprocessors compute ([`Plan::waves`]), how often an operand that is loaded is used (the tile's area), and K, which says how
//! much a program does beside its prologue and the store of its tile.

mod candidates;
mod estimate;
mod learned;
mod rows;

pub use candidates::{Candidate, Candidates};
pub use learned::{expected, learned, predicted};
pub use rows::{HEAD, Row, plans, rows};
use std::fmt;
use triton::selection::Machine;

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
    const ALL: [Kind; 6] = [Kind::F32, Kind::Tf32, Kind::F16, Kind::Bf16, Kind::F64, Kind::I8];

    fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

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
    const ALL: [Order; 4] = [NN, NT, TN, TT];

    fn from_name(name: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|order| format!("{order:?}") == name)
    }

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
    /// What multiplies.
    pub machine: Machine,
}

impl Problem {
    /// Multiprocessors of the machine.
    pub fn multiprocessors(&self) -> usize {
        self.machine.multiprocessors as usize
    }

    /// Tiles of this many rows and columns that cover the result.
    pub fn tiles(&self, [m, n]: [usize; 2]) -> usize {
        self.batch * self.shape[0].div_ceil(m) * self.shape[1].div_ceil(n)
    }
}

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
                (problem.multiprocessors() * programs).div_ceil(problem.tiles([tile[0], tile[1]]).max(1))
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

    /// Whether it is the same instance in as many splits.
    pub fn is(&self, other: &Plan) -> bool {
        self.kernel.is(other.kernel) && self.tile == other.tile && self.splits == other.splits
    }

    /// Programs of the product.
    pub fn programs(&self, problem: &Problem) -> usize {
        problem.tiles([self.tile[0], self.tile[1]]) * self.splits
    }

    /// How many waves of programs the multiprocessors run, one program each at a time.
    pub fn waves(&self, problem: &Problem) -> usize {
        self.programs(problem).div_ceil(problem.multiprocessors())
    }

    /// The share of the multiprocessors' time in which they compute elements of the result, if every program takes as long: below 1 where the
    /// last wave is not full, and where tiles are cut.
    pub fn efficiency(&self, problem: &Problem) -> f64 {
        let [rows, columns, _] = problem.shape;
        let wave = problem.multiprocessors() * self.tile[0] * self.tile[1];
        (problem.batch * rows * columns * self.splits) as f64 / (self.waves(problem) * wave) as f64
    }
}

impl Plan {
    /// Why it was chosen, and how many waves of programs there are: `by the model: 2 waves of 132 programs, 0.97 of them used`.
    pub fn explain(&self, problem: &Problem) -> String {
        let (waves, efficiency) = (self.waves(problem), self.efficiency(problem));
        let waves = if waves == 1 { "1 wave".to_string() } else { format!("{waves} waves") };
        let wave = problem.multiprocessors();
        format!("{}: {waves} of {wave} programs, {efficiency:.2} of them used", self.reason)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: Kind, order: Order, shape: [usize; 3]) -> Problem {
        Problem { kind, order, batch: 1, shape, machine: Machine::H200 }
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
            for order in Order::ALL {
                for (m, n, k) in sides.iter().flat_map(|m| sides.iter().flat_map(move |n| sides.map(|k| (*m, *n, k)))) {
                    let problem = problem(kind, order, [m, n, k]);
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
