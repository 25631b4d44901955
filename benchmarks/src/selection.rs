//! Which instance computes a product: one table from shapes to instances, with the reason of each row.
//!
//! The first row that matches a product chooses; `triton-bench select` prints the table and what it chooses. It is made from runs of
//! `tune-products`, which measures every row that matches, and never from the run that compares with the peers. Three quantities decide:
//! how many waves of tiles the multiprocessors compute ([`waves`], [`efficiency`]), how often an operand that is loaded is used (the
//! tile's area), and K, which says how much a program does beside its prologue and the store of its tile.

use crate::case::{Case, DType, Layouts, Layouts::*};
use std::fmt;
use std::ops::RangeInclusive;

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

/// A row for every shape.
const ROW: Row = Row {
    kinds: &[],
    layouts: ALL,
    m: 1..=MOST,
    n: 1..=MOST,
    k: 1..=MOST,
    when: &[],
    kernel: Kernel::Whole,
    tile: [1; 3],
    reason: "",
};

/// Fewer tiles than multiprocessors.
const fn few(m: usize, n: usize) -> When {
    When::Tiles([m, n], 1..=MULTIPROCESSORS - 1)
}

/// More tiles of 128 × 128 than fill the multiprocessors, or nearly.
const LARGE: &[When] = &[When::Tiles([128, 128], 129..=MOST)];

/// The table. A split product has more than [`STEPS`] iterations in all, else one slice has them.
pub const TABLE: &[Row] = &[
    Row {
        kinds: &[Kind::F32],
        layouts: &[NT],
        m: 1..=32,
        n: 1..=32,
        k: 129..=MOST,
        kernel: Kernel::Slices(3),
        tile: [32, 32, 32],
        reason: "one tile: only slices along K occupy the multiprocessors, and a larger tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        n: 1..=16,
        k: 129..=MOST,
        when: &[few(64, 16)],
        kernel: Kernel::Slices(3),
        tile: [64, 16, 32],
        reason: "fewer tiles than multiprocessors, and a wider tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        layouts: &[NN, TN],
        n: 17..=32,
        k: 129..=MOST,
        when: &[few(64, 32)],
        kernel: Kernel::Slices(3),
        tile: [64, 32, 32],
        reason: "fewer tiles than multiprocessors, and a wider tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        layouts: &[NN, TN],
        n: 65..=128,
        k: 65..=MOST,
        when: &[few(64, 128)],
        kernel: Kernel::Slices(4),
        tile: [64, 128, 16],
        reason: "one tile along N reads x once; four programs a multiprocessor, not two: 2560x128 went from 0.92 to 1.07 of cuBLAS",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        layouts: &[NT],
        n: 65..=512,
        k: 129..=MOST,
        when: &[few(128, 128)],
        kernel: Kernel::Slices(2),
        tile: [128, 128, 32],
        reason: "few tiles and a long K: the largest tile loads the least, and two programs of it are resident",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        k: 129..=MOST,
        when: &[few(64, 64)],
        kernel: Kernel::Slices(3),
        tile: [64, 64, 32],
        reason: "fewer tiles than multiprocessors; three programs each, four are slower",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        layouts: &[NT],
        m: 1..=32,
        n: 1..=32,
        k: 1025..=MOST,
        kernel: Kernel::Slices(3),
        tile: [32, 32, 64],
        reason: "one tile: only slices along K occupy the multiprocessors, and a larger tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        n: 1..=16,
        k: 1025..=MOST,
        when: &[few(64, 16)],
        kernel: Kernel::Slices(3),
        tile: [64, 16, 64],
        reason: "fewer tiles than multiprocessors, a wider tile would be padding, and K is worth a second launch",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        layouts: &[NN, TN],
        n: 17..=32,
        k: 1025..=MOST,
        when: &[few(64, 32)],
        kernel: Kernel::Slices(3),
        tile: [64, 32, 64],
        reason: "fewer tiles than multiprocessors, a wider tile would be padding, and K is worth a second launch",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        k: 1025..=MOST,
        when: &[few(64, 64)],
        kernel: Kernel::Slices(3),
        tile: [64, 64, 64],
        reason: "fewer tiles than multiprocessors; up to a K of 1024 two launches take as long as the loop",
        ..ROW
    },
    Row {
        kinds: &[Kind::F64],
        tile: [64, 128, 16],
        reason: "the one instance: m16n8k8 on sm_90a, fed by a ring of four stages",
        ..ROW
    },
    Row {
        kinds: &[Kind::I8],
        tile: [128, 128, 128],
        reason: "128x256x128 is 3 % faster, but spills on sm_80 where rows are not aligned",
        ..ROW
    },
    Row {
        kinds: &[Kind::Tf32],
        layouts: &[NT],
        tile: [128, 256, 32],
        reason: "wgmma reads both operands along K; 128x128x32 loads more for what it multiplies, 0.84 of cuBLAS",
        ..ROW
    },
    Row {
        kinds: &[Kind::Tf32],
        when: LARGE,
        tile: [128, 128, 32],
        reason: "multiplied by mma.sync, since wgmma reads 32-bit operands along K alone",
        ..ROW
    },
    Row {
        kinds: &[Kind::Tf32],
        tile: [64, 64, 32],
        reason: "few tiles: smaller ones occupy more multiprocessors",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        layouts: &[NT],
        k: 1..=32,
        tile: [64, 64, 32],
        reason: "one iteration: nothing is loaded twice in it, so that the smaller sum costs nothing",
        ..ROW
    },
    Row {
        kinds: &[Kind::F16],
        tile: [128, 256, 64],
        reason: "sums in a warp's registers that one multiprocessor holds once: most products of an operand that is loaded",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        layouts: &[NN],
        k: 33..=1024,
        when: LARGE,
        tile: [128, 128, 64],
        reason: "a short K: two blocks a multiprocessor, so that one stores while the other one multiplies",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        layouts: &[TN],
        k: 33..=MOST,
        when: LARGE,
        tile: [256, 128, 64],
        reason: "most products of an operand that is loaded; 128x256 spills on sm_80 where pitches are odd",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        k: 33..=MOST,
        when: LARGE,
        tile: [128, 256, 64],
        reason: "sums in a warp's registers that one multiprocessor holds once: most products of an operand that is loaded",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32, Kind::Bf16],
        when: LARGE,
        tile: [128, 128, 32],
        reason: "f32: two blocks a multiprocessor of 128 registers a thread; bf16: one iteration, a deeper tile would be padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::F32],
        tile: [64, 128, 16],
        reason: "few tiles of 128x128; at 1024^3 64x64x32 is 2 % slower",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        layouts: &[NT],
        k: 1..=32,
        tile: [64, 64, 32],
        reason: "one iteration, a deeper tile would be padding for the most part",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        when: &[When::Tiles([64, 128], 96..=MULTIPROCESSORS)],
        tile: [64, 128, 64],
        reason: "one wave, and nearly a tile for each multiprocessor",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        layouts: &[NN],
        when: &[When::MultipleOf(128), When::Tiles([64, 64], 1..=MULTIPROCESSORS)],
        tile: [64, 64, 128],
        reason: "one wave of the smallest tiles: half as many iterations, without padding",
        ..ROW
    },
    Row {
        kinds: &[Kind::Bf16],
        tile: [64, 64, 64],
        reason: "few tiles: the smallest occupy the most multiprocessors",
        ..ROW
    },
];

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

    /// Elements of the workspace.
    pub fn workspace(&self, case: &Case) -> usize {
        match self.kernel {
            Kernel::Whole => 0,
            Kernel::Slices(_) => self.slices * case.n,
        }
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
        if self.slices > 1 { write!(f, ", {} slices", self.slices) } else { Ok(()) }
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
        let (tile, total) = (self.tile, case.shape[2].div_ceil(self.tile[2]));
        let (slices, steps) = match self.kernel {
            Kernel::Whole => (1, total),
            Kernel::Slices(programs) => {
                let wanted = (MULTIPROCESSORS * programs).div_ceil(tiles(case, [tile[0], tile[1]]));
                let steps = total.div_ceil(wanted).max(STEPS);
                (total.div_ceil(steps), steps)
            }
        };
        Plan { kernel: self.kernel, tile, slices, steps, reason: self.reason }
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
    fn every_row_chooses_for_some_shape_and_has_a_reason() {
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
        let cases = cases(1 << 27, &["matmul bf16 1024^3".to_string(), "matmul bf16 2560x16".to_string()]);
        let plan = Plan::of(&cases[0]).expect("a row");
        assert_eq!((plan.programs(&cases[0]), waves(128), waves(132), waves(133)), (128, 1, 1, 2));
        assert_eq!(efficiency(&cases[0], &plan), 128.0 / 132.0);
        let split = Plan::of(&cases[1]).expect("a row");
        // 40 tiles in 10 slices: four waves, the last of four programs.
        assert_eq!((split.tile, split.slices, split.steps), ([64, 16, 64], 10, 4));
        assert_eq!(efficiency(&cases[1], &split), 400.0 / 528.0);
        assert_eq!((split.workspace(&cases[1]), plan.workspace(&cases[0])), (10 * 2560 * 16, 0));
    }

    #[test]
    fn slices_cover_k() {
        for n in [64, 1024, 8192, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 27] {
            for case in cases(n, &[]).iter().filter(|case| case.op == Op::Matmul) {
                for plan in plans(case) {
                    let total = case.shape[2].div_ceil(plan.tile[2]);
                    let covered = plan.slices * plan.steps;
                    assert!((total..total + plan.steps).contains(&covered), "{}: {plan:?} of {total}", case.name);
                    assert!(plan.slices > 1 || plan.kernel == Kernel::Whole, "{}: {plan:?} is not split", case.name);
                }
            }
        }
    }
}
