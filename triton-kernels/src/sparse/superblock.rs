//! Blocks in groups: some rows times some columns of blocks, all of which are there.

use super::pattern::BlockMask;
use std::fmt;

/// As many rows as columns of blocks of one head. All blocks where they cross are there. Neither rows nor columns need be neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperBlock<'a> {
    /// The head.
    pub head: usize,
    /// Rows of blocks, in order.
    pub rows: &'a [usize],
    /// Columns of blocks, in order.
    pub columns: &'a [usize],
}

/// The blocks of a mask as super-blocks, each block in one of them. Returned by [`superblock`].
#[derive(Clone, PartialEq, Eq)]
pub struct Partition {
    groups: Vec<Group>,
}

/// The super-blocks of a width, one after another: head, rows, columns.
#[derive(Clone, PartialEq, Eq)]
struct Group {
    width: usize,
    numbers: Vec<usize>,
}

impl Group {
    fn iter(&self) -> impl Iterator<Item = SuperBlock<'_>> {
        self.numbers.chunks(1 + 2 * self.width).map(|numbers| {
            let (rows, columns) = numbers[1..].split_at(self.width);
            SuperBlock { head: numbers[0], rows, columns }
        })
    }

    fn push(&mut self, head: usize, rows: &[usize], columns: &[usize]) {
        self.numbers.push(head);
        self.numbers.extend_from_slice(rows);
        self.numbers.extend_from_slice(columns);
    }
}

impl Partition {
    /// The widths that were asked for, the largest first.
    pub fn widths(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().map(|group| group.width)
    }

    /// The super-blocks of a width.
    pub fn of_width(&self, width: usize) -> impl Iterator<Item = SuperBlock<'_>> {
        self.groups.iter().filter(move |group| group.width == width).flat_map(Group::iter)
    }

    /// The blocks in super-blocks of a width.
    pub fn blocks(&self, width: usize) -> usize {
        self.of_width(width).count() * width * width
    }

    /// The blocks in super-blocks of a width, as a share of all blocks.
    pub fn share(&self, width: usize) -> f64 {
        let all: usize = self.widths().map(|width| self.blocks(width)).sum();
        self.blocks(width) as f64 / all.max(1) as f64
    }

    /// The number of super-blocks if those wider than `most` were divided.
    pub(super) fn count_up_to(&self, most: usize) -> usize {
        let of = |group: &Group| group.iter().count() * (group.width / most).max(1).pow(2);
        self.groups.iter().map(of).sum()
    }

    /// The same with super-blocks of at most a width, each wider one divided into four or more. Widths that are not multiples of `most` stay.
    pub(super) fn up_to(&self, most: usize) -> Partition {
        let mut groups: Vec<Group> = Vec::new();
        for group in &self.groups {
            let width = if group.width.is_multiple_of(most) { most } else { group.width };
            let into = match groups.iter().position(|group| group.width == width) {
                Some(at) => &mut groups[at],
                None => {
                    groups.push(Group { width, numbers: Vec::new() });
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            for SuperBlock { head, rows, columns } in group.iter() {
                for rows in rows.chunks(width) {
                    columns.chunks(width).for_each(|columns| into.push(head, rows, columns));
                }
            }
        }
        Partition { groups }
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.groups.iter().map(|group| (group.width, group.iter().count()));
        f.debug_map().entries(counts).finish()
    }
}

/// Divides the blocks of a mask among super-blocks of some widths, the largest first; what is left is of width 1. Widths of 0 count for nothing.
///
/// It is super-blocking as in Tillet's thesis ("Blocked algorithms for neural networks", 2020, section 6.3.1, algorithm 3), by its recurrence:
/// q(i, j) = min(q(i₀, j₀), q(i₀, j), q(i, j₀)) + 1, where i₀ is the nearest block above in the column and j₀ the nearest to the left in the row.
/// As printed the algorithm retains super-blocks that overlap, and knows only those that lie in consecutive rows and columns of its
/// search. Here, where q reaches the width, the last rows and columns are checked to cross in blocks only, then they are retained and
/// their blocks deleted.
///
/// ```
/// use triton_kernels::sparse::{BlockMask, superblock};
///
/// let parts = superblock(&BlockMask::causal(64), &[8, 4, 2]);
/// // The triangles on the diagonal are left to the smaller widths.
/// assert_eq!([8, 4, 2, 1].map(|width| (100.0 * parts.share(width)).round()), [86.0, 6.0, 3.0, 5.0]);
/// ```
pub fn superblock(mask: &BlockMask, widths: &[usize]) -> Partition {
    let mut widths: Vec<usize> = widths.iter().copied().filter(|width| *width > 0).chain([1]).collect();
    widths.sort_unstable_by(|a, b| b.cmp(a));
    widths.dedup();
    let mut groups: Vec<Group> = widths.into_iter().map(|width| Group { width, numbers: Vec::new() }).collect();
    for head in 0..mask.shape()[0] {
        let mut grid = Grid::new(mask, head);
        groups.iter_mut().for_each(|group| grid.retain(group.width, |rows, columns| group.push(head, rows, columns)));
    }
    Partition { groups }
}

/// What is left of the blocks of a head.
struct Grid {
    rows: usize,
    columns: usize,
    left: Vec<bool>,
}

impl Grid {
    fn new(mask: &BlockMask, head: usize) -> Grid {
        let [_, rows, columns] = mask.shape();
        let at = |at: usize| mask.contains(head, at / columns, at % columns);
        Grid { rows, columns, left: (0..rows * columns).map(at).collect() }
    }

    fn has(&self, row: usize, column: usize) -> bool {
        self.left[row * self.columns + column]
    }

    /// Finds super-blocks of a width, and deletes their blocks.
    fn retain(&mut self, width: usize, mut found: impl FnMut(&[usize], &[usize])) {
        let across = self.columns;
        let mut q = vec![0; self.left.len()];
        // Rows of the blocks above the current row, of each column.
        let mut above = vec![Vec::new(); across];
        let mut before = Vec::new();
        for i in 0..self.rows {
            before.clear();
            for j in 0..across {
                if !self.has(i, j) {
                    continue;
                }
                let least = match (above[j].last(), before.last()) {
                    (Some(up), Some(left)) => {
                        let (up, left): (&usize, &usize) = (up, left);
                        q[up * across + left].min(q[up * across + j]).min(q[i * across + left])
                    }
                    _ => 0,
                };
                q[i * across + j] = least + 1;
                before.push(j);
                above[j].push(i);
                if least + 1 < width {
                    continue;
                }
                // What was deleted since may have left fewer.
                let (Some(rows), Some(columns)) = (last(&above[j], width), last(&before, width)) else { continue };
                if !rows.iter().all(|row| columns.iter().all(|column| self.has(*row, *column))) {
                    continue;
                }
                found(&rows, &columns);
                for at in rows.iter().flat_map(|row| columns.iter().map(move |column| row * across + column)) {
                    self.left[at] = false;
                    q[at] = 0;
                }
                columns.iter().for_each(|column| above[*column].retain(|row| self.left[row * across + column]));
                before.retain(|column| self.has(i, *column));
            }
        }
    }
}

/// The last numbers of a list, if it has as many.
fn last(list: &[usize], count: usize) -> Option<Vec<usize>> {
    list.len().checked_sub(count).map(|first| list[first..].to_vec())
}
