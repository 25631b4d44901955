//! The second and third axis of a grid, which end at 65,535 programs: what has more along them is launched in parts.
//!
//! The parts of an operation are launches of the same kernel on narrower views, so that no kernel divides its number for extents that few
//! programs have.

use std::ops::Range;

/// The most programs of a launch along the second or third axis: fewer than there could be, so that a part begins where whole vectors do.
pub(crate) const MOST: usize = 65_520;

/// The parts of an axis of `extent` elements, of which a program has `each`.
pub(crate) fn parts(extent: usize, each: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    chunks(extent, MOST * each.max(1))
}

/// An axis of `extent` elements in chunks of `step`.
pub(crate) fn chunks(extent: usize, step: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    (0..extent.div_ceil(step)).map(move |i| i * step..((i + 1) * step).min(extent))
}

#[cfg(test)]
mod tests {
    use super::{MOST, parts};

    #[test]
    fn parts_are_all_of_an_axis_in_order() {
        for each in [1, 4, 64, 256] {
            for extent in [0, 1, each, MOST * each, MOST * each + 1, 65_537 * each, 3 * MOST * each + 5] {
                let all: Vec<_> = parts(extent, each).collect();
                assert_eq!(all.iter().map(ExactSizeIterator::len).sum::<usize>(), extent);
                assert!(all.iter().all(|part| part.len().div_ceil(each) <= MOST && !part.is_empty()));
                assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].end.is_multiple_of(16)));
            }
        }
    }
}
