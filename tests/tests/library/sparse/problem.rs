//! What cases of block-sparse operations share: masks, shapes, and blocks of dense arrays.

use crate::harness::{Outcome, Random, Scalar, normals};
use triton::Stream;
use triton_kernels::Result;
use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse};

/// A pattern of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    Dense,
    Causal,
    Window,
    Fixed,
    Strided,
    Longformer,
    BigBird,
    Random,
    Sparse,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 9] = [
        Pattern::Dense,
        Pattern::Causal,
        Pattern::Window,
        Pattern::Fixed,
        Pattern::Strided,
        Pattern::Longformer,
        Pattern::BigBird,
        Pattern::Random,
        Pattern::Sparse,
    ];

    fn mask(self, n: usize) -> BlockMask {
        match self {
            Pattern::Dense => BlockMask::dense(n),
            Pattern::Causal => BlockMask::causal(n),
            Pattern::Window => BlockMask::window(n, 1),
            Pattern::Fixed => BlockMask::fixed(n, 4, 1),
            Pattern::Strided => BlockMask::strided(n, 4),
            Pattern::Longformer => BlockMask::longformer(n, 1, 1),
            Pattern::BigBird => BlockMask::bigbird(n, 1, 0, 2, 5),
            Pattern::Random => BlockMask::random(n, 0.5, 11),
            // Some rows and columns have no block.
            Pattern::Sparse => BlockMask::random(n, 0.1, 3),
        }
    }
}

/// The shape of a block-sparse operation.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    pub pattern: Pattern,
    pub block: usize,
    pub batch: usize,
    pub heads: usize,
    /// Rows and columns of blocks.
    pub grid: usize,
    pub depth: usize,
}

impl Problem {
    /// All patterns, sizes of blocks and grids; the other extents in turns.
    pub fn all(offset: usize) -> Vec<Problem> {
        let mut all = Vec::new();
        for (i, pattern) in Pattern::ALL.into_iter().enumerate() {
            for (j, block) in [16, 32, 64, 128].into_iter().enumerate() {
                for (k, grid) in [1, 3, 17].into_iter().enumerate() {
                    let turn = offset + i + 2 * j + k;
                    let depth = [16, 64, 80][turn % 3];
                    // Large ones are few.
                    let [batch, heads] = match grid * block {
                        ..=48 => [[1, 1], [3, 1], [1, 3], [3, 3]][turn % 4],
                        49..=192 => [[1, 1], [2, 1], [1, 2]][turn % 3],
                        _ => [1, 1],
                    };
                    if grid * block <= 288 || (grid * block <= 544 && turn.is_multiple_of(4)) {
                        all.push(Problem { pattern, block, batch, heads, grid, depth });
                    }
                }
            }
        }
        all
    }

    /// The pattern, in turns with another one.
    pub fn mask(&self) -> Result<BlockMask> {
        let of = |head: usize| if head % 2 == 1 { Pattern::Random } else { self.pattern };
        let masks: Vec<BlockMask> = (0..self.heads).map(|head| of(head).mask(self.grid)).collect();
        if masks.is_empty() { Ok(self.pattern.mask(self.grid).repeat(0)) } else { BlockMask::stack(&masks) }
    }

    /// The layout of the mask.
    pub fn layout(&self, stream: &Stream) -> Result<BlockLayout> {
        BlockLayout::new(stream, self.block, &self.mask()?)
    }

    /// Queries, and keys, of a head.
    pub fn tokens(&self) -> usize {
        self.grid * self.block
    }

    /// The shape of queries, keys and values.
    pub fn shape(&self) -> [usize; 4] {
        [self.batch, self.heads, self.tokens(), self.depth]
    }

    /// The shape of dense scores.
    pub fn dense_shape(&self) -> [usize; 4] {
        [self.batch, self.heads, self.tokens(), self.tokens()]
    }

    /// Whether there is an element, of a head, a query and a key.
    pub fn has(&self, mask: &BlockMask, head: usize, query: usize, key: usize) -> bool {
        mask.contains(head, query / self.block, key / self.block)
    }

    /// What is 0 in the blocks and −∞ elsewhere, for all heads.
    pub fn outside(&self, mask: &BlockMask) -> Vec<f64> {
        let n = self.tokens();
        let of = |at: usize| if self.has(mask, at / n / n, at / n % n, at % n) { 0.0 } else { f64::NEG_INFINITY };
        (0..self.heads * n * n).map(of).collect()
    }

    /// The blocks of a dense array of scores.
    pub fn blocks<A: Copy>(&self, mask: &BlockMask, dense: &[A]) -> Vec<A> {
        let (n, b) = (self.tokens(), self.block);
        let mut values = Vec::new();
        for z in 0..self.batch {
            for [h, m, k] in mask.iter() {
                let row = |i: usize| ((z * self.heads + h) * n + m * b + i) * n + k * b;
                (0..b).for_each(|i| values.extend_from_slice(&dense[row(i)..][..b]));
            }
        }
        values
    }

    /// The dense array of blocks, with 0 elsewhere.
    pub fn dense(&self, mask: &BlockMask, values: &[f64]) -> Vec<f64> {
        let (n, b) = (self.tokens(), self.block);
        let mut dense = vec![0.0; self.batch * self.heads * n * n];
        let mut rows = values.chunks(b);
        for z in 0..self.batch {
            for [h, m, k] in mask.iter() {
                for (i, row) in (0..b).zip(&mut rows) {
                    dense[((z * self.heads + h) * n + m * b + i) * n + k * b..][..b].copy_from_slice(row);
                }
            }
        }
        dense
    }

    /// A matrix of a batch and a head.
    pub fn of_head<'a, A>(&self, x: &'a [A], index: usize) -> &'a [A] {
        let each = x.len() / (self.batch * self.heads);
        &x[index * each..][..each]
    }

    /// A function of matrices, applied to each: their number, and that of the head.
    pub fn each_head<A>(&self, mut f: impl FnMut(usize, usize) -> Vec<A>) -> Vec<A> {
        (0..self.batch * self.heads).flat_map(|index| f(index, index % self.heads)).collect()
    }
}

/// A block-sparse operand with these values.
pub fn upload<T: Scalar>(
    stream: &Stream,
    problem: &Problem,
    layout: &BlockLayout,
    values: &[T],
) -> Outcome<BlockSparse<T>> {
    let mut x = BlockSparse::zeros(stream, problem.batch, layout)?;
    stream.copy_from_host(values, &mut x.values_mut()?)?;
    Ok(x)
}

/// One that an operation is to overwrite.
pub fn poisoned<T: Scalar>(stream: &Stream, problem: &Problem, layout: &BlockLayout) -> Outcome<BlockSparse<T>> {
    let count = problem.batch * layout.blocks() * problem.block * problem.block;
    upload(stream, problem, layout, &vec![T::POISON; count])
}

/// Whole numbers from −`most` to `most`, as the type has them.
pub fn whole<T: Scalar>(random: &mut Random, count: usize, most: i32) -> (Vec<T>, Vec<f64>) {
    let values: Vec<f64> = (0..count).map(|_| f64::from(random.i32(-most..=most))).collect();
    (values.iter().map(|v| T::of(*v)).collect(), values)
}

/// Values at random, as the type has them.
pub fn values<T: Scalar>(random: &mut Random, count: usize) -> (Vec<T>, Vec<f64>) {
    let values: Vec<T> = normals(random, count).into_iter().map(T::of).collect();
    let exact = values.iter().map(|v| v.value()).collect();
    (values, exact)
}

/// The values of a result.
pub fn download<T: Scalar>(stream: &Stream, x: &BlockSparse<T>) -> Outcome<Vec<f64>> {
    Ok(stream.download(x.values())?.into_iter().map(Scalar::value).collect())
}
