//! Our products on tensor cores: a block of warps multiplies tiles that are copied into shared memory ahead of time.
//!
//! The rules are estimates that need no compiler. What they accept may still not compile, spill, or fail to load; what measures finds out.

use super::{Rule, Rules, tiles};

/// A product, how it is tiled, and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Rows of the product.
    pub m: i64,
    /// Columns of the product.
    pub n: i64,
    /// Extent of the reduction.
    pub k: i64,
    /// Bytes of an element of the operands.
    pub size: i64,
    /// Rows of a tile.
    pub bm: i64,
    /// Columns of a tile.
    pub bn: i64,
    /// Steps of K of a tile.
    pub bk: i64,
    /// Warps of a block.
    pub warps: i64,
    /// Tiles in shared memory.
    pub stages: i64,
    /// Parts of K in a block.
    pub kl: i64,
    /// Parts of K over the grid.
    pub splits: i64,
    /// Rows of tiles that neighbouring programs share.
    pub raster: i64,
    /// Multiprocessors of the device.
    pub multiprocessors: i64,
    /// Bytes of shared memory that a block may have.
    pub shared: i64,
}

/// The instruction cache, in bytes (T §4.2.1).
pub const INSTRUCTION_CACHE: i64 = 12 * 1024;
/// The least blocks for each multiprocessor, ρ, times 100 (T §4.2.1).
pub const OCCUPANCY: i64 = 50;
/// Rows, columns and steps of the smallest instruction of a tensor core, `mma.m16n8k16`, of elements of two bytes.
const INSTRUCTION: [i64; 3] = [16, 8, 16];
/// Registers of a thread for addresses, counters and fragments.
const OVERHEAD: i64 = 64;

impl Point {
    /// Accumulators of a thread: each part of K in the block has a tile of its own.
    fn accumulators(&self) -> i64 {
        self.bm * self.bn * self.kl / (32 * self.warps).max(1)
    }

    /// Steps of K of the instruction, which has 32 bytes of each row.
    fn steps(&self) -> i64 {
        INSTRUCTION[2] * 2 / self.size.max(1)
    }
}

/// Extents of tiles and warps are powers of two (T §4.2.1).
#[must_use]
pub fn powers(point: &Point) -> bool {
    let Point { bm, bn, bk, warps, kl, .. } = *point;
    [bm, bn, bk, warps, kl].into_iter().all(|extent| extent > 0 && extent & (extent - 1) == 0)
}

/// A block computes at least 32 elements, one for each lane of a warp (T §4.2.1).
#[must_use]
pub fn elements(point: &Point) -> bool {
    point.bm * point.bn >= 32
}

/// Each warp has an instruction's tile of its own, and each part of K an instruction's steps (hardware: `mma.m16n8k16`).
#[must_use]
pub fn warps(point: &Point) -> bool {
    let [rows, columns, _] = INSTRUCTION;
    let group = point.warps / point.kl.max(1);
    group > 0 && point.bm * point.bn >= group * rows * columns && point.bk >= point.kl * point.steps()
}

/// The tiles of all stages, or the parts of the result, fit the shared memory of a block (hardware: 227 KiB from `sm_90` on).
#[must_use]
pub fn shared(point: &Point) -> bool {
    let stages = point.stages * (point.bm + point.bn) * point.bk * point.size;
    let parts = if point.kl == 1 { 0 } else { 4 * point.kl * point.bm * point.bn };
    stages.max(parts) <= point.shared
}

/// Accumulators and what addresses need: at most 255 registers a thread, 65,536 a block (hardware).
#[must_use]
pub fn registers(point: &Point) -> bool {
    let registers = point.accumulators() + OVERHEAD;
    registers <= 255 && registers * 32 * point.warps <= 65_536
}

/// The innermost loop fits the instruction cache (T §4.2.1, which counts scalar products; here, a warp's instructions of a tensor
/// core and a load of a fragment for each of their rows and columns).
#[must_use]
pub fn instructions(point: &Point) -> bool {
    let [rows, columns, _] = INSTRUCTION;
    let steps = (point.bk / (point.kl * point.steps()).max(1)).max(1);
    let products = point.bm * point.bn * point.kl / (rows * columns * point.warps).max(1);
    let loads = point.bm / rows + point.bn / columns;
    16 * steps * (products + loads) <= INSTRUCTION_CACHE
}

/// Each part of K over the grid has at least one tile: `splits ≤ ⌈K/BK⌉` (ours).
#[must_use]
pub fn splits(point: &Point) -> bool {
    point.splits <= tiles(point.k, point.bk)
}

/// A tile is less than twice its extent, unless it is the smallest (ours): a smaller one computes the same in fewer steps.
#[must_use]
pub fn extent(point: &Point) -> bool {
    let fits = |tile: i64, extent: i64| tile <= 16 || tile < 2 * extent;
    fits(point.bm, point.m) && fits(point.bn, point.n) && fits(point.bk, point.k)
}

/// More than ρ blocks for each multiprocessor: `⌈M/BM⌉ · ⌈N/BN⌉ · splits > ρ · multiprocessors` (T §4.2.1).
#[must_use]
pub fn occupancy(point: &Point) -> bool {
    let blocks = tiles(point.m, point.bm) * tiles(point.n, point.bn) * point.splits;
    100 * blocks > OCCUPANCY * point.multiprocessors
}

/// The rules that an instance passes or not, whatever it multiplies.
#[must_use]
pub fn instance_rules() -> Rules<Point> {
    let rule = |name, source, check| Rule { name, source, check };
    Rules::new(vec![
        rule("powers", "T §4.2.1", powers as fn(&Point) -> bool),
        rule("elements", "T §4.2.1", elements),
        rule("warps", "hardware", warps),
        rule("shared", "hardware", shared),
        rule("registers", "hardware", registers),
        rule("instructions", "T §4.2.1", instructions),
    ])
}

/// The rules of a context, which do not depend on what compiles.
pub const CONTEXT_RULES: [Rule<Point>; 3] = [
    Rule { name: "splits", source: "ours", check: splits },
    Rule { name: "extent", source: "ours", check: extent },
    Rule { name: "occupancy", source: "T §4.2.1", check: occupancy },
];

/// All rules: those of an instance, then those of a context.
#[must_use]
pub fn rules() -> Rules<Point> {
    Rules::new(instance_rules().iter().map(|(rule, _)| *rule).chain(CONTEXT_RULES).collect())
}
