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

#[cfg(test)]
mod tests {
    use super::split;

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
