//! Which blocks of a matrix of scores are there.

use crate::Result;
use crate::error::extent;
use std::ops::{BitAnd, BitOr};

/// Which blocks of the scores of each head are there: a grid of rows and columns of blocks for each head, the same for all elements of a
/// batch. A row is a block of queries, a column one of keys.
///
/// Patterns are combined by `&` and `|`; a mask of one head is then used for all heads of the other.
///
/// ```
/// use triton_kernels::sparse::BlockMask;
///
/// // Four blocks before each one, those of the first two columns, and nothing of the future.
/// let near = (BlockMask::longformer(64, 4, 2) & BlockMask::causal(64))?;
/// let heads = BlockMask::stack(&[near, BlockMask::strided(64, 8)])?;
/// assert_eq!(heads.shape(), [2, 64, 64]);
/// assert!(heads.contains(0, 63, 1) && !heads.contains(0, 63, 2));
/// assert!((heads.density() - 0.13).abs() < 0.02);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMask {
    shape: [usize; 3],
    /// In the order of heads, rows, columns.
    bits: Vec<bool>,
}

impl BlockMask {
    /// The blocks `(head, row, column)` for which `f` holds, of a shape `[heads, rows, columns]`.
    ///
    /// ```
    /// use triton_kernels::sparse::BlockMask;
    ///
    /// // Another dilated window for each of two heads.
    /// let mask = BlockMask::from_fn([2, 8, 8], |h, m, n| m.abs_diff(n) % (h + 1) == 0);
    /// assert_eq!(mask.blocks(), 64 + 32);
    /// ```
    pub fn from_fn(shape: [usize; 3], mut f: impl FnMut(usize, usize, usize) -> bool) -> BlockMask {
        let [heads, rows, columns] = shape;
        let mut bits = Vec::new();
        for h in 0..heads {
            for m in 0..rows {
                bits.extend((0..columns).map(|n| f(h, m, n)));
            }
        }
        BlockMask { shape, bits }
    }

    fn square(n: usize, mut f: impl FnMut(usize, usize) -> bool) -> BlockMask {
        BlockMask::from_fn([1, n, n], |_, m, n| f(m, n))
    }

    /// All blocks of a grid of `n` rows and columns, of one head as all patterns.
    pub fn dense(n: usize) -> BlockMask {
        BlockMask::square(n, |_, _| true)
    }

    /// Those on the diagonal and below it. Elements above the diagonal of its blocks are excluded by
    /// [`SparseSoftmax::causal`](super::SparseSoftmax::causal).
    pub fn causal(n: usize) -> BlockMask {
        BlockMask::square(n, |m, n| n <= m)
    }

    /// Those that are at most `reach` blocks from the diagonal.
    pub fn window(n: usize, reach: usize) -> BlockMask {
        BlockMask::square(n, |m, n| m.abs_diff(n) <= reach)
    }

    /// The fixed pattern of sparse transformers (Child et al., "Generating long sequences with sparse transformers", 2019): rows see what is
    /// before them of their own group of `local` blocks, and the last `summary` columns of each earlier group. A group of 0 is one of 1.
    pub fn fixed(n: usize, local: usize, summary: usize) -> BlockMask {
        let local = local.max(1);
        BlockMask::square(n, |m, n| n <= m && (m / local == n / local || n % local >= local.saturating_sub(summary)))
    }

    /// The strided pattern of the same paper: rows see the `stride` blocks up to their own, and each `stride`-th before. A stride of 0 is one
    /// of 1.
    pub fn strided(n: usize, stride: usize) -> BlockMask {
        let stride = stride.max(1);
        BlockMask::square(n, |m, n| n <= m && (m - n < stride || (m - n).is_multiple_of(stride)))
    }

    /// A window of `reach` blocks to either side, and the first `globals` rows and columns (Beltagy, Peters and Cohan, "Longformer", 2020).
    pub fn longformer(n: usize, reach: usize, globals: usize) -> BlockMask {
        BlockMask::square(n, |m, n| m.abs_diff(n) <= reach || m < globals || n < globals)
    }

    /// As [`longformer`](BlockMask::longformer), and `random` columns at random in each row (Zaheer et al., "Big Bird", 2020).
    pub fn bigbird(n: usize, reach: usize, globals: usize, random: usize, seed: u64) -> BlockMask {
        let mut mask = BlockMask::longformer(n, reach, globals);
        for (m, row) in mask.bits.chunks_mut(n.max(1)).enumerate() {
            let mut columns: Vec<usize> = (0..n).collect();
            columns.sort_by_key(|&n| hash(seed, m, n));
            columns.iter().take(random).for_each(|&n| row[n] = true);
        }
        mask
    }

    /// Each block by itself with probability `density`. One seed gives the same mask on every machine.
    pub fn random(n: usize, density: f64, seed: u64) -> BlockMask {
        BlockMask::square(n, |m, n| (hash(seed, m, n) >> 11) as f64 * 2f64.powi(-53) < density)
    }

    /// The heads of several masks, one after another.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if their grids differ.
    pub fn stack(masks: &[BlockMask]) -> Result<BlockMask> {
        let mut shape = masks.first().map_or([0; 3], |first| [0, first.shape[1], first.shape[2]]);
        let mut bits = Vec::new();
        for mask in masks {
            grids(mask.shape, shape)?;
            shape[0] += mask.shape[0];
            bits.extend_from_slice(&mask.bits);
        }
        Ok(BlockMask { shape, bits })
    }

    /// The heads of this mask, `count` times one after another: of a mask of one head, one for each of `count` heads.
    pub fn repeat(&self, count: usize) -> BlockMask {
        let [heads, rows, columns] = self.shape;
        BlockMask { shape: [heads * count, rows, columns], bits: self.bits.repeat(count) }
    }

    /// Heads, rows and columns.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Whether a block is there. One beyond the grid is not.
    pub fn contains(&self, head: usize, row: usize, column: usize) -> bool {
        let [heads, rows, columns] = self.shape;
        head < heads && row < rows && column < columns && self.bits[(head * rows + row) * columns + column]
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.bits.iter().filter(|bit| **bit).count()
    }

    /// The number of blocks as a share of all.
    pub fn density(&self) -> f64 {
        self.blocks() as f64 / self.bits.len().max(1) as f64
    }

    /// The blocks `(head, row, column)` in that order, which is the order of a block-sparse matrix's values.
    pub fn iter(&self) -> impl Iterator<Item = [usize; 3]> {
        let [_, rows, columns] = self.shape;
        let set = self.bits.iter().enumerate().filter(|(_, bit)| **bit);
        set.map(move |(at, _)| [at / columns / rows, at / columns % rows, at % columns])
    }

    fn combine(self, other: BlockMask, f: impl Fn(bool, bool) -> bool) -> Result<BlockMask> {
        grids(other.shape, self.shape)?;
        let heads = if self.shape[0] == 1 { other.shape[0] } else { self.shape[0] };
        if other.shape[0] != 1 {
            extent("BlockMask", "the mask on the right", 0, [other.shape[0], heads], HEADS)?;
        }
        let repeat = |mask: BlockMask| if mask.shape[0] == 1 { mask.repeat(heads) } else { mask };
        let (mut mask, other) = (repeat(self), repeat(other));
        mask.bits.iter_mut().zip(other.bits).for_each(|(bit, other)| *bit = f(*bit, other));
        Ok(mask)
    }
}

const HEADS: &str = "masks have the same number of heads, or one";

fn grids(found: [usize; 3], expected: [usize; 3]) -> Result<()> {
    let fix = "all masks have the same number of rows and columns of blocks";
    (1..3).try_for_each(|axis| extent("BlockMask", "the mask on the right", axis, [found[axis], expected[axis]], fix))
}

/// The blocks of both.
impl BitAnd for BlockMask {
    type Output = Result<BlockMask>;

    fn bitand(self, other: BlockMask) -> Result<BlockMask> {
        self.combine(other, |a, b| a && b)
    }
}

/// The blocks of either.
impl BitOr for BlockMask {
    type Output = Result<BlockMask>;

    fn bitor(self, other: BlockMask) -> Result<BlockMask> {
        self.combine(other, |a, b| a || b)
    }
}

/// A number that looks random, from a seed and a place (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn hash(seed: u64, m: usize, n: usize) -> u64 {
    let mix = |z: u64| {
        let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mix(mix(mix(seed) ^ m as u64) ^ n as u64)
}
