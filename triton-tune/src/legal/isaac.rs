//! ISAAC's kernels (Tillet and Cox, SC 2017): products without tensor cores, whose operands go through shared memory.
//!
//! The paper's Table 1 counts legal candidates without stating the rules; these restate what its published generator refuses. With
//! them 0.083 % of uniform samples are legal; the paper says 0.1 %.

use super::{Rule, Rules, multiple};

/// A product by ISAAC's generator, and what is multiplied.
///
/// A thread computes `m_s · n_s` elements; `b_m · b_n · b_r` threads are a block. K is split within a thread (`r_s`), within a block
/// (`b_r`) and over the grid (`grid_r`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Bytes of an element: 2, 4 or 8.
    pub size: i64,
    /// Whether A is contiguous along M.
    pub a_along_m: bool,
    /// Whether B is contiguous along N.
    pub b_along_n: bool,
    /// Whether the tile of A is gathered element by element, as the images of a convolution are.
    pub gathered: bool,
    /// The extent of the reduction.
    pub k: i64,
    /// Elements of a vector access.
    pub vec: i64,
    /// Threads along M.
    pub b_m: i64,
    /// Steps of K that are in shared memory at a time.
    pub k_l: i64,
    /// Threads along N.
    pub b_n: i64,
    /// Rows of a thread.
    pub m_s: i64,
    /// Steps of K that are unrolled.
    pub k_s: i64,
    /// Columns of a thread.
    pub n_s: i64,
    /// Threads that load A, along its contiguous axis.
    pub a0: i64,
    /// Threads that load A, along the other axis.
    pub a1: i64,
    /// Threads that load B, along its contiguous axis.
    pub b0: i64,
    /// Threads that load B, along the other axis.
    pub b1: i64,
    /// Parts of K in a thread.
    pub r_s: i64,
    /// Parts of K in a block.
    pub b_r: i64,
    /// Parts of K in the grid.
    pub grid_r: i64,
}

/// An operand's tile: its extents along the contiguous axis and the other one, and the threads that load it.
struct Tile {
    contiguous: i64,
    other: i64,
    lanes: [i64; 2],
}

impl Point {
    /// The threads of a block.
    #[must_use]
    #[inline]
    pub fn threads(&self) -> i64 {
        self.b_m * self.b_n * self.b_r
    }

    /// Elements of a packed register: two of f16.
    #[inline]
    fn packed(&self) -> i64 {
        if self.size == 2 { 2 } else { 1 }
    }

    /// The parts of K in a block.
    #[inline]
    fn parts(&self) -> i64 {
        self.r_s * self.b_r
    }

    /// The extents of a block's tile.
    #[inline]
    fn tile(&self) -> [i64; 3] {
        [self.b_m * self.m_s, self.b_n * self.n_s, self.k_l * self.parts()]
    }

    #[inline]
    fn operands(&self) -> [Tile; 2] {
        let [m, n, k] = self.tile();
        let operand = |along_extent: bool, extent: i64, lanes: [i64; 2]| {
            let (contiguous, other) = if along_extent { (extent, k) } else { (k, extent) };
            Tile { contiguous, other, lanes }
        };
        [operand(self.a_along_m, m, [self.a0, self.a1]), operand(self.b_along_n, n, [self.b0, self.b1])]
    }

    /// Instructions of the inner loop: loads and stores of both operands, products, and loads from shared memory.
    fn instructions(&self) -> i64 {
        let copies = self.operands().map(|tile| {
            let [first, second] = tile.lanes.map(|lanes| lanes.max(1));
            (tile.contiguous / first) * (tile.other / second) * 2
        });
        let products = self.m_s * self.n_s * self.k_l * self.r_s;
        let packed = self.packed();
        copies.iter().sum::<i64>() + products / packed + products / (self.vec * packed).max(1)
    }

    /// Bytes of shared memory: double-buffered tiles, transposed ones padded by a vector, or the parts of the result.
    fn shared(&self) -> i64 {
        let [m, n, k] = self.tile();
        let padding = |along: bool| if along { 0 } else { self.vec * self.packed() };
        let tiles = 2 * self.size * k * (m + padding(self.a_along_m) + n + padding(self.b_along_n));
        let parts = if self.b_r == 1 { 0 } else { self.size * m * n * self.b_r };
        tiles.max(parts)
    }
}

/// The threads that load each operand are the threads of the block: `a0 · a1 = b0 · b1 = b_m · b_n · b_r` (I §4.1, legality).
#[inline]
#[must_use]
pub fn lanes(point: &Point) -> bool {
    let threads = point.threads();
    point.a0 * point.a1 == threads && point.b0 * point.b1 == threads
}

/// A block has 32 to 1024 threads (I §4.1, legality).
#[inline]
#[must_use]
pub fn threads(point: &Point) -> bool {
    (32..=1024).contains(&point.threads())
}

/// Each operand's tile divides by its threads, and the contiguous axis by vectors too (I §4.1, legality). A gathered tile has no
/// vectors.
#[inline]
#[must_use]
pub fn tiles(point: &Point) -> bool {
    let [a, b] = point.operands();
    let divides = |tile: &Tile, vec: i64| {
        let [first, second] = tile.lanes;
        multiple(tile.other, second) && multiple(tile.contiguous, first * vec)
    };
    divides(&a, if point.gathered { 1 } else { point.vec }) && divides(&b, point.vec)
}

/// What a thread computes is a multiple of its vectors, of packed pairs in f16 (I §4.1, legality).
#[inline]
#[must_use]
pub fn vectors(point: &Point) -> bool {
    let vector = point.vec * point.packed();
    multiple(point.m_s, vector) && multiple(point.n_s, vector)
}

/// The unrolled steps divide the steps in shared memory (I §4.1, legality).
#[inline]
#[must_use]
pub fn unrolled(point: &Point) -> bool {
    multiple(point.k_l, point.k_s)
}

/// A vector has at most 16 bytes (I §4.1, legality).
#[inline]
#[must_use]
pub fn access(point: &Point) -> bool {
    point.vec * point.size <= 16
}

/// A block has at most 48 KiB of shared memory (I §4.1, legality).
#[inline]
#[must_use]
pub fn shared(point: &Point) -> bool {
    point.shared() <= 48 * 1024
}

/// The inner loop has at most 1024 instructions (I §4.1).
#[inline]
#[must_use]
pub fn instructions(point: &Point) -> bool {
    point.instructions() <= 1024
}

/// The parts of K are at most its extent (I §3.2).
#[inline]
#[must_use]
pub fn parts(point: &Point) -> bool {
    point.parts() * point.grid_r <= point.k
}

/// Only f32 has the atomic addition that parts over the grid need (I §3.2).
#[inline]
#[must_use]
pub fn atomics(point: &Point) -> bool {
    point.grid_r == 1 || point.size == 4
}

const PAPER: &str = "I §4.1, Table 1";

/// The rules. Cheap ones, which reject most, come first.
#[must_use]
pub fn rules() -> Rules<Point> {
    let rule = |name, check| Rule { name, source: PAPER, check };
    Rules::new(vec![
        rule("lanes", lanes),
        rule("vectors", vectors),
        rule("access", access),
        rule("atomics", atomics),
        rule("unrolled", unrolled),
        rule("parts", parts),
        rule("tiles", tiles),
        rule("shared", shared),
        rule("instructions", instructions),
    ])
}

/// The rules where `a1` and `b1` follow from the threads: `threads`, and then [`rules`].
#[must_use]
pub fn derived_rules() -> Rules<Point> {
    let mut list = vec![Rule { name: "threads", source: PAPER, check: threads as fn(&Point) -> bool }];
    list.extend(rules().iter().map(|(rule, _)| *rule));
    Rules::new(list)
}
