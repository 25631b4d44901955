//! The rules of Tillet's thesis (2020), §4.2.1, for products without tensor cores. Extents of tiles are powers of two.

use super::{Rule, Rules, tiles};

/// A product, and how it is tiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Rows of a block.
    pub m_l: i64,
    /// Rows of a thread.
    pub m_s: i64,
    /// Columns of a block.
    pub n_l: i64,
    /// Columns of a thread.
    pub n_s: i64,
    /// Steps of K that are loaded at a time.
    pub u: i64,
    /// Parts of K over the grid.
    pub k_g: i64,
    /// Rows of the product.
    pub m: i64,
    /// Columns of the product.
    pub n: i64,
    /// Extent of the reduction.
    pub k: i64,
    /// Multiprocessors of the device.
    pub cores: i64,
}

impl Point {
    fn threads(&self) -> i64 {
        (self.m_l / self.m_s.max(1)) * (self.n_l / self.n_s.max(1))
    }

    /// Accumulators and operands of a thread, and 32 registers of addresses.
    fn registers(&self) -> i64 {
        self.m_s * self.n_s + self.m_s + self.n_s + 32
    }
}

/// The instruction cache of a multiprocessor, in bytes (T §4.2.1).
pub const INSTRUCTION_CACHE: i64 = 12 * 1024;
/// Bytes of an instruction.
const INSTRUCTION: i64 = 16;
/// The least blocks for each multiprocessor, ρ, times 100 (T §4.2.1).
pub const OCCUPANCY: i64 = 50;

/// A thread's tile is part of its block's, and a block has 32 to 1024 threads (hardware).
#[must_use]
pub fn threads(point: &Point) -> bool {
    point.m_s <= point.m_l && point.n_s <= point.n_l && (32..=1024).contains(&point.threads())
}

/// The inner loop fits the instruction cache: `16 · (M_S·U + N_S·U + M_S·N_S·U) ≤ 12 KiB` (T §4.2.1).
#[must_use]
pub fn instructions(point: &Point) -> bool {
    INSTRUCTION * point.u * (point.m_s + point.n_s + point.m_s * point.n_s) <= INSTRUCTION_CACHE
}

/// A block computes at least 32 elements, one for each lane of a warp (T §4.2.1).
#[must_use]
pub fn elements(point: &Point) -> bool {
    point.m_l * point.n_l >= 32
}

/// Double-buffered tiles of f32 fit 48 KiB (hardware).
#[must_use]
pub fn shared(point: &Point) -> bool {
    2 * 4 * point.u * (point.m_l + point.n_l) <= 48 * 1024
}

/// A thread has at most 255 registers, a block 65,536 (hardware).
#[must_use]
pub fn registers(point: &Point) -> bool {
    point.registers() <= 255 && point.registers() * point.threads() <= 65_536
}

/// Each part of K has at least one step (T §4.1).
#[must_use]
pub fn parts(point: &Point) -> bool {
    point.u * point.k_g <= point.k
}

/// More than ρ blocks for each multiprocessor: `⌈M/M_L⌉ · ⌈N/N_L⌉ · K_G > ρ · cores` (T §4.2.1).
#[must_use]
pub fn occupancy(point: &Point) -> bool {
    100 * tiles(point.m, point.m_l) * tiles(point.n, point.n_l) * point.k_g > OCCUPANCY * point.cores
}

/// A tile is less than twice its extent, unless it has at most 16 rows or columns (ours).
#[must_use]
pub fn extent(point: &Point) -> bool {
    let fits = |tile: i64, extent: i64| tile <= 16 || tile < 2 * extent;
    fits(point.m_l, point.m) && fits(point.n_l, point.n)
}

/// The rules.
#[must_use]
pub fn rules() -> Rules<Point> {
    let rule = |name, source, check| Rule { name, source, check };
    Rules::new(vec![
        rule("threads", "hardware", threads as fn(&Point) -> bool),
        rule("instructions", "T §4.2.1", instructions),
        rule("elements", "T §4.2.1", elements),
        rule("shared", "hardware", shared),
        rule("registers", "hardware", registers),
        rule("parts", "T §4.1", parts),
        rule("occupancy", "T §4.2.1", occupancy),
        rule("extent", "ours", extent),
    ])
}
