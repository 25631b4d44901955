//! Which instance computes a product: one table from shapes to instances, with the reason of each row.
//!
//! The first row that matches a product chooses; `triton-bench select` prints the table and what it chooses. It is made from runs of
//! `tune-products`, and never from the run that compares with the peers. That measures every row that matches: a row may stay for it after
//! one for the same shapes. Three quantities decide: how many waves of tiles the multiprocessors compute ([`waves`], [`efficiency`]), how
//! often an operand that is loaded is used (the tile's area), and K, which says how much a program does beside its prologue and the store
//! of its tile.

mod table;

use crate::case::{Case, DType, Layouts, Layouts::*};
use std::fmt;
use std::ops::RangeInclusive;
pub use table::TABLE;

/// Multiprocessors of an H100 or H200.
pub const MULTIPROCESSORS: usize = 132;

/// Fewest iterations of the loop over K in a slice: loads ahead pay off only after the first.
const STEPS: usize = 4;

/// How many waves of programs the multiprocessors run, one program each at a time.
pub fn waves(programs: usize) -> usize {
    programs.div_ceil(MULTIPROCESSORS)
}

/// The share of the multiprocessors' time in which they compute elements of the result, if every program takes as long: below 1 where the
/// last wave is not full, and where tiles are cut.
pub fn efficiency(case: &Case, plan: &Plan) -> f64 {
    let [rows, columns, _] = case.shape;
    let wave = MULTIPROCESSORS * area(plan.tile);
    (rows * columns * plan.slices) as f64 / (waves(plan.programs(case)) * wave) as f64
}

/// Elements of a tile of the result: the products for each element of the operands that is loaded grow with its sides.
pub fn area([m, n, _]: [usize; 3]) -> usize {
    m * n
}

/// Tiles of this many rows and columns that cover the result.
pub fn tiles(case: &Case, [m, n]: [usize; 2]) -> usize {
    case.shape[0].div_ceil(m) * case.shape[1].div_ceil(n)
}

/// How many blocks multiply a tile, each a part of its K: of tensor cores' elements a block of Hopper takes 256 bytes, and adds up 8 columns
/// or more.
pub fn blocks(case: &Case, [_, columns, k]: [usize; 3]) -> usize {
    (k * case.dtype.bytes() / 256).min(columns / 8).clamp(1, 8)
}

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Of a product.
    pub fn of(case: &Case) -> Kind {
        match case.dtype {
            DType::F32 if case.tf32 => Kind::Tf32,
            DType::F32 => Kind::F32,
            DType::F16 => Kind::F16,
            DType::Bf16 => Kind::Bf16,
            DType::F64 => Kind::F64,
            DType::I8 => Kind::I8,
        }
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

/// A condition beside the ranges of M, N and K.
#[derive(Clone, Debug)]
enum When {
    /// This many tiles of these rows and columns cover the result.
    Tiles([usize; 2], RangeInclusive<usize>),
    /// K is a multiple of this.
    MultipleOf(usize),
}

/// How a kernel divides a product among programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A program for each tile.
    Whole,
    /// A program for each slice along K of each tile, as many slices as make this many programs for each multiprocessor: enough to hide
    /// the latency of one by the others, and no more than are resident together.
    Slices(usize),
    /// Slices in which groups of warps multiply parts of the K of an iteration, for a tile with too few elements for the warps that hide
    /// the latency of memory.
    Groups {
        /// Groups of warps in a program.
        groups: usize,
        /// Programs for each multiprocessor, as of slices.
        programs: usize,
    },
    /// A program for each tile, multiplied as its transpose: the few columns of the result are the rows of the tensor cores' product, of
    /// which there are never fewer than 64.
    Swapped,
}

impl Kernel {
    /// The same for another number of programs a multiprocessor, if it depends on it.
    fn with_programs(self, programs: usize) -> Option<Kernel> {
        match self {
            Kernel::Whole | Kernel::Swapped => None,
            Kernel::Slices(_) => Some(Kernel::Slices(programs)),
            Kernel::Groups { groups, .. } => Some(Kernel::Groups { groups, programs }),
        }
    }
}

/// A row of the table: the products that it is for, their instance, and why.
#[derive(Clone, Debug)]
pub struct Row {
    kinds: &'static [Kind],
    layouts: &'static [Layouts],
    m: RangeInclusive<usize>,
    n: RangeInclusive<usize>,
    k: RangeInclusive<usize>,
    when: &'static [When],
    kernel: Kernel,
    tile: [usize; 3],
    /// Why this instance.
    pub reason: &'static str,
}

const MOST: usize = usize::MAX;
const ALL: &[Layouts] = &[NN, NT, TN, TT];

impl Layouts {
    /// By what is transposed.
    pub fn of(transposed: [bool; 2]) -> Layouts {
        match transposed {
            [false, false] => NN,
            [false, true] => NT,
            [true, false] => TN,
            [true, true] => TT,
        }
    }
}

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How it is divided among programs.
    pub kernel: Kernel,
    /// Rows and columns of a program's part of the result, and the K of an iteration of its loop.
    pub tile: [usize; 3],
    /// How many programs share an element of the result; from 2 on they write to the workspace.
    pub slices: usize,
    /// Iterations of the loop in a slice.
    pub steps: usize,
    /// Why.
    pub reason: &'static str,
}

impl Plan {
    /// Of a product: the first row that is for it; `None` if none is.
    pub fn of(case: &Case) -> Option<Plan> {
        plans(case).next()
    }

    fn new(case: &Case, kernel: Kernel, tile: [usize; 3], reason: &'static str) -> Plan {
        let total = case.shape[2].div_ceil(tile[2]);
        let (slices, steps) = match kernel {
            Kernel::Whole | Kernel::Swapped => (1, total),
            Kernel::Slices(programs) | Kernel::Groups { programs, .. } => {
                let together = MULTIPROCESSORS * programs / blocks(case, tile);
                let wanted = together.div_ceil(tiles(case, [tile[0], tile[1]])).max(1);
                let steps = total.div_ceil(wanted).max(STEPS);
                (total.div_ceil(steps), steps)
            }
        };
        Plan { kernel, tile, slices, steps, reason }
    }

    /// The same instance for one to four programs a multiprocessor, if it is split: candidates for a row.
    pub fn in_other_slices(&self, case: &Case) -> impl Iterator<Item = Plan> {
        let kernels = (1..=4).filter_map(|programs| self.kernel.with_programs(programs));
        let plans = kernels.map(|kernel| Plan::new(case, kernel, self.tile, self.reason));
        plans.filter(|plan| plan.slices > 1)
    }

    /// Elements of the workspace.
    pub fn workspace(&self, case: &Case) -> usize {
        match self.kernel {
            Kernel::Whole | Kernel::Swapped => 0,
            Kernel::Slices(_) | Kernel::Groups { .. } => self.slices * case.n,
        }
    }

    /// Whether it is computed by an instance of this tile, for operands that are transposed or not.
    pub fn is(&self, case: &Case, tile: [i32; 3], transposed: [bool; 2]) -> bool {
        self.tile == tile.map(|side| side as usize) && case.layouts == Layouts::of(transposed)
    }

    /// Programs along M, N and K.
    pub fn grid(&self, case: &Case) -> (usize, usize, usize) {
        (case.shape[0].div_ceil(self.tile[0]), case.shape[1].div_ceil(self.tile[1]), self.slices)
    }

    /// Programs of the product.
    pub fn programs(&self, case: &Case) -> usize {
        tiles(case, [self.tile[0], self.tile[1]]) * self.slices
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.tile;
        write!(f, "{m}x{n}x{k}")?;
        match self.kernel {
            Kernel::Whole => Ok(()),
            Kernel::Slices(_) => write!(f, ", {} slices", self.slices),
            Kernel::Groups { groups, .. } => write!(f, " in {groups} groups, {} slices", self.slices),
            Kernel::Swapped => write!(f, ", swapped"),
        }
    }
}

/// What the rows that are for a product choose, in their order: the first is used, the others are what to compare it with.
pub fn plans(case: &Case) -> impl Iterator<Item = Plan> + use<'_> {
    TABLE.iter().filter(|row| row.is_for(case)).map(|row| row.plan(case))
}

impl Row {
    fn is_for(&self, case: &Case) -> bool {
        let [m, n, k] = case.shape;
        let holds = |when: &When| match when {
            When::Tiles(of, range) => range.contains(&tiles(case, *of)),
            When::MultipleOf(number) => k.is_multiple_of(*number),
        };
        self.kinds.contains(&Kind::of(case))
            && self.layouts.contains(&case.layouts)
            && [(&self.m, m), (&self.n, n), (&self.k, k)].iter().all(|(range, side)| range.contains(side))
            && self.when.iter().all(holds)
    }

    fn plan(&self, case: &Case) -> Plan {
        Plan::new(case, self.kernel, self.tile, self.reason)
    }

    /// What it is for, in the columns of [`HEAD`].
    pub fn cells(&self) -> Vec<String> {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let layouts: Vec<String> = self.layouts.iter().map(|layouts| format!("{layouts:?}")).collect();
        let layouts = if self.layouts.len() == ALL.len() { "any".to_string() } else { layouts.join(" ") };
        let sides = [("M", &self.m), ("N", &self.n), ("K", &self.k)];
        let sides = sides.iter().filter_map(|(side, range)| Some(format!("{side} {}", shown(range)?)));
        let when = self.when.iter().filter_map(|when| match when {
            When::Tiles([m, n], range) => Some(format!("tiles of {m}x{n} {}", shown(range)?)),
            When::MultipleOf(number) => Some(format!("K a multiple of {number}")),
        });
        let shapes: Vec<String> = sides.chain(when).collect();
        let [m, n, k] = self.tile;
        let instance = match self.kernel {
            Kernel::Whole => format!("{m}x{n}x{k}"),
            Kernel::Slices(programs) => format!("{m}x{n}x{k}, slices for {programs} programs a multiprocessor"),
            Kernel::Groups { groups, programs } => {
                format!("{m}x{n}x{k} in {groups} groups, slices for {programs} programs a multiprocessor")
            }
            Kernel::Swapped => format!("{m}x{n}x{k}, swapped"),
        };
        vec![kinds.join(" "), layouts, shapes.join(", "), instance, self.reason.to_string()]
    }
}

/// The columns of [`Row::cells`].
pub const HEAD: [&str; 5] = ["of", "layouts", "shapes", "instance", "reason"];

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
    use crate::case::{Op, cases};

    /// What the table chooses for each case, beside this file; `BLESS=1` renews it.
    #[test]
    fn choices_are_as_recorded() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/selection.txt");
        let products = cases(1 << 27, &[]).into_iter().filter(|case| case.op == Op::Matmul);
        let line = |case: Case| format!("{}: {}\n", case.name, Plan::of(&case).expect("a row for every case"));
        let found: String = products.map(line).collect();
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(path, &found).expect("the record can be written");
        }
        let recorded = std::fs::read_to_string(path).unwrap_or_default();
        let changed = found.lines().filter(|line| !recorded.lines().any(|old| old == *line));
        let changed: Vec<&str> = changed.collect();
        assert_eq!(found, recorded, "another choice than selection.txt has, BLESS=1 renews it: {changed:#?}");
    }

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
                    && row.layouts.iter().all(|layouts| other.layouts.contains(layouts))
                    && all(&other.m, &row.m)
                    && all(&other.n, &row.n)
                    && all(&other.k, &row.k)
            };
            assert!(!TABLE[..i].iter().any(general), "a row before it leaves nothing to {row:?}");
        }
    }

    #[test]
    fn quantities() {
        let cases = cases(1 << 27, &["matmul bf16 1024^3".to_string(), "matmul f32 NT 7168x16".to_string()]);
        let plan = Plan::of(&cases[0]).expect("a row");
        assert_eq!((plan.programs(&cases[0]), waves(128), waves(132), waves(133)), (128, 1, 1, 2));
        assert_eq!(efficiency(&cases[0], &plan), 128.0 / 132.0);
        let split = Plan::of(&cases[1]).expect("a row");
        // 112 tiles in 4 slices: four waves, the last of 52 programs.
        assert_eq!((split.tile, split.slices, split.steps), ([64, 16, 32], 4, 56));
        assert_eq!(efficiency(&cases[1], &split), 448.0 / 528.0);
        assert_eq!((split.workspace(&cases[1]), plan.workspace(&cases[0])), (4 * 7168 * 16, 0));
    }

    #[test]
    fn slices_cover_k() {
        for n in [64, 1024, 8192, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 27] {
            for case in cases(n, &[]).iter().filter(|case| case.op == Op::Matmul) {
                for plan in plans(case) {
                    let total = case.shape[2].div_ceil(plan.tile[2]);
                    let covered = plan.slices * plan.steps;
                    assert!((total..total + plan.steps).contains(&covered), "{}: {plan:?} of {total}", case.name);
                    assert!(
                        plan.slices > 1 || matches!(plan.kernel, Kernel::Whole | Kernel::Swapped),
                        "{}: {plan:?} is not split",
                        case.name
                    );
                }
            }
        }
    }
}
