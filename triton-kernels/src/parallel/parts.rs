//! Which rows of a product are a part of their own.

use std::ops::Range;

/// Rows of a part are a multiple of this, so that parts are whole tiles.
const ROWS: usize = 256;

/// Rows in at most `parts` parts, each but the last a multiple of [`ROWS`]. Of n parts the first has n shares and the last one: nothing hides the sum of that.
pub(crate) fn split(rows: usize, parts: usize) -> Vec<Range<usize>> {
    let shares = parts.clamp(1, rows.div_ceil(ROWS).max(1));
    let all = shares * (shares + 1) / 2;
    let (mut ranges, mut start) = (Vec::new(), 0);
    for share in (1..=shares).rev() {
        let len = (rows * share).div_ceil(all).next_multiple_of(ROWS);
        let end = if share == 1 { rows } else { (start + len).min(rows) };
        if start < end {
            ranges.push(start..end);
        }
        start = end;
    }
    ranges
}

/// The rows whose sums a rank finishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// As they go around the ranks.
    pub(crate) parts: Vec<Range<usize>>,
    /// As they are sent to all: nothing hides the last of these, which is smaller where there are parts left for it.
    pub(crate) finished: Vec<Range<usize>>,
}

/// Rows in a block for each rank, each of as many parts as a rank makes of `parts` products, if that is a multiple of [`ROWS`] each. Parts are of equal
/// length: each is copied while the next one is computed. What is left of `parts` divides the last part of a block.
pub(crate) fn blocks(rows: usize, world: usize, parts: usize) -> Vec<Block> {
    let each = (parts / world).max(1);
    let some = |mut ranges: Vec<Range<usize>>| {
        ranges.retain(|range| !range.is_empty());
        ranges
    };
    let block = |own: &Range<usize>| {
        let parts_of = some(even(own, each));
        let mut finished = parts_of.clone();
        if let Some(last) = finished.pop() {
            finished.extend(some(even(&last, parts.saturating_sub(each * world) + 1)));
        }
        Block { parts: parts_of, finished }
    };
    even(&(0..rows), world).iter().map(block).collect()
}

/// A range in `count` parts, of whole tiles where there are enough. Of fewer rows than parts some are empty.
fn even(range: &Range<usize>, count: usize) -> Vec<Range<usize>> {
    let unit = if range.len() >= count * ROWS { ROWS } else { 1 };
    let at = |i: usize| range.start + (range.len() * i / count) / unit * unit;
    (0..count).map(|i| at(i)..if i + 1 == count { range.end } else { at(i + 1) }).collect()
}

#[cfg(test)]
mod tests {
    use super::{blocks, split};

    #[test]
    fn blocks_are_whole_tiles_of_all_rows() {
        let two = blocks(4096, 2, 5);
        assert_eq!(two[1].parts, [2048..3072, 3072..4096]);
        assert_eq!(two[1].finished, [2048..3072, 3072..3584, 3584..4096]);
        assert!(blocks(0, 2, 4).iter().all(|block| block.parts.is_empty() && block.finished.is_empty()));
        for rows in [1, 255, 600, 1000, 5000] {
            for (world, parts) in (1..6).flat_map(|world| (0..13).map(move |parts| (world, parts))) {
                let all = blocks(rows, world, parts);
                assert_eq!(all.len(), world);
                for of in [|block: &super::Block| block.parts.clone(), |block: &super::Block| block.finished.clone()] {
                    let ranges: Vec<_> = all.iter().flat_map(of).collect();
                    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{ranges:?}");
                    assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, rows), "{ranges:?}");
                }
            }
        }
    }

    #[test]
    fn parts_get_smaller() {
        assert_eq!(split(4096, 3), [0..2048, 2048..3584, 3584..4096]);
        assert_eq!(split(600, 4), [0..512, 512..600]);
        for parts in [0, 1, 4] {
            assert_eq!(split(100, parts).iter().map(|rows| (rows.start, rows.end)).collect::<Vec<_>>(), [(0, 100)]);
        }
        assert!(split(0, 3).is_empty());
        for rows in [1, 255, 257, 1000, 5000] {
            for parts in 1..9 {
                let all = split(rows, parts);
                assert!(all.len() <= parts && all.windows(2).all(|pair| pair[0].end == pair[1].start), "{all:?}");
                assert_eq!((all[0].start, all[all.len() - 1].end), (0, rows), "{all:?}");
            }
        }
    }
}
