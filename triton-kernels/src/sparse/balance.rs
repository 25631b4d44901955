//! The blocks of each row and column as lists, and lists in segments of bounded length.

use super::pattern::BlockMask;

/// The blocks of each row, or of each column, of each head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lists {
    /// Where each list begins among the entries, and the end of the last one. List h · rows + m is that of row m of head h.
    starts: Vec<usize>,
    /// The number of the block, and its column (or row).
    entries: Vec<[usize; 2]>,
    /// The numbers of the lists, short ones first.
    by_length: Vec<usize>,
}

impl Lists {
    pub(super) fn of_rows(mask: &BlockMask) -> Lists {
        let rows = mask.shape()[1];
        Lists::new(mask.shape()[0] * rows, mask, |[h, m, n]| (h * rows + m, n))
    }

    pub(super) fn of_columns(mask: &BlockMask) -> Lists {
        let columns = mask.shape()[2];
        Lists::new(mask.shape()[0] * columns, mask, |[h, m, n]| (h * columns + n, m))
    }

    fn new(count: usize, mask: &BlockMask, place: impl Fn([usize; 3]) -> (usize, usize)) -> Lists {
        let mut starts = vec![0; count + 1];
        mask.iter().for_each(|block| starts[place(block).0 + 1] += 1);
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut entries) = (starts.clone(), vec![[0; 2]; starts[count]]);
        for (id, block) in mask.iter().enumerate() {
            let (list, other) = place(block);
            entries[next[list]] = [id, other];
            next[list] += 1;
        }
        let mut by_length: Vec<usize> = (0..count).collect();
        by_length.sort_by_key(|list| starts[list + 1] - starts[*list]);
        Lists { starts, entries, by_length }
    }

    /// The first entry of each list and the number of its entries.
    pub(super) fn headers(&self) -> impl Iterator<Item = [usize; 2]> {
        self.starts.windows(2).map(|of| [of[0], of[1] - of[0]])
    }

    pub(super) fn entries(&self) -> &[[usize; 2]] {
        &self.entries
    }

    /// The numbers of the lists, short ones first.
    pub(super) fn by_length(&self) -> impl Iterator<Item = usize> {
        self.by_length.iter().copied()
    }

    /// How many lists have at most `count` entries.
    pub(super) fn up_to(&self, count: usize) -> usize {
        self.by_length.partition_point(|list| self.starts[list + 1] - self.starts[*list] <= count)
    }

    /// Lists divided evenly into segments of at most `longest` entries. An empty list has one.
    pub(super) fn segments(&self, longest: usize) -> Segments {
        let (longest, mut rows) = (longest.max(1), Vec::new());
        let (mut slots, mut splits) = (0, 0);
        for (list, [first, count]) in self.headers().enumerate() {
            let parts = count.div_ceil(longest).max(1);
            for part in 0..parts {
                let [begin, end] = [part, part + 1].map(|part| count / parts * part + part.min(count % parts));
                rows.push(Segment {
                    list,
                    first: first + begin,
                    count: end - begin,
                    part,
                    parts,
                    slot: slots,
                    split: splits,
                });
            }
            if parts > 1 {
                slots += parts;
                splits += 1;
            }
        }
        Segments { rows, slots, splits }
    }
}

/// Lists in segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    pub(super) rows: Vec<Segment>,
    /// The number of segments of lists that are divided.
    pub(super) slots: usize,
    /// The number of lists that are divided.
    pub(super) splits: usize,
}

/// Some consecutive entries of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) list: usize,
    pub(super) first: usize,
    pub(super) count: usize,
    /// Which of its list it is, and of how many.
    pub(super) part: usize,
    pub(super) parts: usize,
    /// The number of segments of divided lists before its list, and of divided lists.
    pub(super) slot: usize,
    pub(super) split: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn mask(random: &mut Rng) -> BlockMask {
        let shape = [random.usize(..3), random.usize(..12), random.usize(..12)];
        let density = random.f64();
        BlockMask::from_fn(shape, |_, _, _| random.f64() < density)
    }

    #[test]
    fn lists_have_each_block_in_its_row_and_in_its_column() {
        for seed in 0..2000 {
            let mask = mask(&mut Rng::with_seed(seed));
            let [heads, rows, columns] = mask.shape();
            let blocks: Vec<[usize; 3]> = mask.iter().collect();
            for (lists, across, axis) in [(Lists::of_rows(&mask), rows, 1), (Lists::of_columns(&mask), columns, 2)] {
                assert_eq!((lists.headers().count(), lists.entries().len()), (heads * across, blocks.len()));
                for (list, [first, count]) in lists.headers().enumerate() {
                    let entries = &lists.entries()[first..first + count];
                    assert!(entries.is_sorted(), "seed {seed}");
                    for [id, other] in entries {
                        let block = blocks[*id];
                        assert_eq!((block[0], block[axis], block[3 - axis]), (list / across, list % across, *other));
                    }
                }
            }
        }
    }

    #[test]
    fn segments_divide_lists_evenly() {
        for seed in 0..2000 {
            let mut random = Rng::with_seed(seed);
            let lists = Lists::of_rows(&mask(&mut random));
            let longest = [1, 2, 3, 5, usize::MAX][random.usize(..5)];
            let Segments { rows, slots, splits } = lists.segments(longest);
            let (mut rows, mut expected) = (rows.into_iter().peekable(), (0, 0));
            for (list, [first, count]) in lists.headers().enumerate() {
                let (mut next, mut parts) = (first, Vec::new());
                while let Some(segment) = rows.next_if(|segment| segment.list == list) {
                    assert_eq!(
                        (segment.first, segment.part, segment.slot, segment.split),
                        (next, parts.len(), expected.0, expected.1)
                    );
                    next += segment.count;
                    parts.push(segment);
                }
                assert_eq!((next, parts.len()), (first + count, count.div_ceil(longest).max(1)), "seed {seed}");
                let least = parts.iter().map(|segment| segment.count).min().unwrap_or(0);
                assert!(parts.iter().all(|of| of.parts == parts.len() && of.count <= longest && of.count <= least + 1));
                expected = if parts.len() > 1 { (expected.0 + parts.len(), expected.1 + 1) } else { expected };
            }
            assert_eq!((rows.next(), (slots, splits)), (None, expected), "seed {seed}");
        }
    }
}
