//! Shadow memory: the accesses to each byte of a region of memory.

use super::cell::{Cell, CellAccess, CellConflict};
use super::{Access, Accessor, ConflictKind, Record, Space};
use std::ops::Range;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Two accesses of the same bytes that break a rule.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// The rule.
    pub kind: ConflictKind,
    /// The first byte, from the start of the region.
    pub offset: u64,
    /// The access that was checked.
    pub current: Record,
    /// The earlier one, or another lane of the same instruction; only those lanes that conflict.
    pub other: Record,
}

/// The accesses to the shared memory of a block, or to an allocation of global memory. Pages that are not accessed cost
/// nothing.
#[derive(Debug)]
pub struct Shadow {
    space: Space,
    /// The rank of the block whose shared memory it is.
    rank: Option<u8>,
    bytes: u64,
    pages: Vec<Option<Box<Page>>>,
}

/// Cells of 4, 2 or 1 bytes: as small as the narrowest access yet.
#[derive(Debug)]
struct Page {
    /// log2 of the bytes of a cell.
    shift: u32,
    cells: Vec<Cell>,
    /// Of each cell, a read through the read-only path that no write was reported with; empty before the first in the page.
    read_only: Vec<Option<Record>>,
}

impl Page {
    fn new(shift: u32) -> Page {
        Page { shift, cells: vec![Cell::default(); (PAGE >> shift) as usize], read_only: Vec::new() }
    }

    /// Makes cells of `1 << shift` bytes.
    #[cold]
    fn split(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        self.cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(cell, parts).cloned()).collect();
        self.read_only = self.read_only.iter().flat_map(|read| std::iter::repeat_n(*read, parts)).collect();
        self.shift = shift;
    }

    /// Remembers a read through the read-only path, or checks a write against earlier ones: the first cell that was written
    /// and read so, and the other access. The path is not coherent with writes of the launch, so that no order helps.
    fn check_read_only(&mut self, cells: Range<usize>, current: &Record, access: &Access) -> Option<(usize, Record)> {
        if access.read_only {
            self.read_only.resize(self.cells.len(), None);
            self.read_only[cells.clone()].fill(Some(*current));
            cells.into_iter().find_map(|i| Some((i, self.cells[i].last_write()?)))
        } else if access.kind.writes() && !self.read_only.is_empty() {
            cells.into_iter().fold(None, |found, i| found.or(self.read_only[i].take().map(|read| (i, read))))
        } else {
            None
        }
    }
}

impl Shadow {
    /// Memory that was not accessed yet.
    pub fn new(space: Space, bytes: u64) -> Shadow {
        Shadow { space, rank: None, bytes, pages: Vec::new() }
    }

    /// Shared memory of the block of this rank that was not accessed yet.
    pub fn of_block(rank: u8, bytes: u64) -> Shadow {
        Shadow { rank: Some(rank), ..Shadow::new(Space::Shared, bytes) }
    }

    /// How many accesses of one cell that are unordered are kept, so that what thousands of blocks read stays
    /// cheap. Those of all warps of a cluster are.
    fn max_records(&self) -> usize {
        match self.space {
            Space::Shared => 512,
            Space::Global => 16,
        }
    }

    /// Checks and records one access of all lanes to the same bytes, from an offset in the region.
    ///
    /// # Errors
    /// The first byte that conflicts with an earlier access. The access is remembered all the same, and the earlier ones
    /// that it conflicts with are not reported again.
    pub fn access(&mut self, offset: u64, bytes: u64, accessor: &Accessor, access: &Access) -> Result<(), Conflict> {
        let mut found = None;
        self.access_lanes(offset, bytes, *accessor, access, &mut found);
        found.map_or(Ok(()), Err)
    }

    /// Checks and records the accesses of one instruction of a warp: lanes, each with the offset of as many bytes.
    ///
    /// # Errors
    /// As [`Shadow::access`], and if two lanes write different values to the same bytes and are not strong. `accessor.lanes` says
    /// nothing here.
    pub fn access_warp(
        &mut self,
        lanes: &[(u32, u64)],
        bytes: u64,
        accessor: &Accessor,
        access: &Access,
    ) -> Result<(), Conflict> {
        let mut found = None;
        if lanes.is_sorted_by(|a, b| a.1 < b.1) {
            for &(lane, offset) in lanes {
                self.access_lanes(offset, bytes, accessor.at(1 << (lane % 32)), access, &mut found);
            }
            return found.map_or(Ok(()), Err);
        }
        let mut sorted = [(0, 0); 32];
        for some in lanes.chunks(32) {
            let sorted = &mut sorted[..some.len()];
            sorted.copy_from_slice(some);
            sorted.sort_unstable_by_key(|(_, offset)| *offset);
            for group in sorted.chunk_by(|a, b| a.1 == b.1) {
                let mask = group.iter().fold(0, |mask, (lane, _)| mask | 1 << (lane % 32));
                self.access_lanes(group[0].1, bytes, accessor.at(mask), access, &mut found);
            }
        }
        found.map_or(Ok(()), Err)
    }

    /// The first byte that nothing was written to.
    pub fn first_unwritten(&self, offset: u64, bytes: u64) -> Option<u64> {
        let end = offset.saturating_add(bytes).min(self.bytes);
        let mut at = offset;
        while at < end {
            let Some(page) = self.pages.get((at / PAGE) as usize).and_then(Option::as_ref) else { return Some(at) };
            if !page.cells[((at % PAGE) >> page.shift) as usize].is_written() {
                return Some(at);
            }
            at = ((at >> page.shift) + 1) << page.shift;
        }
        None
    }

    /// Checks and records one access; the first conflict is kept.
    #[inline]
    fn access_lanes(
        &mut self,
        offset: u64,
        bytes: u64,
        accessor: Accessor,
        access: &Access,
        found: &mut Option<Conflict>,
    ) {
        let repeats = accessor.lanes & !access.repeats == 0;
        let cell_access = CellAccess {
            accessor,
            current: accessor.record(access),
            repeats,
            space: self.space,
            rank: self.rank,
            max_records: self.max_records(),
        };
        if !cell_access.current.lanes.is_power_of_two() && cell_access.current.kind.writes() {
            clash(offset, &cell_access.current, access, found);
        }
        let end = offset.saturating_add(bytes).min(self.bytes);
        // The widest cells that the access is made of.
        let shift = (offset | bytes | 4).trailing_zeros();
        let mut at = offset;
        while at < end {
            let stop = ((at / PAGE + 1) * PAGE).min(end);
            let page = self.page(at, shift);
            let shift = page.shift;
            let range = ((at % PAGE) >> shift) as usize..(((stop - 1) % PAGE) >> shift) as usize + 1;
            if let Some((i, other)) = page.check_read_only(range.clone(), &cell_access.current, access) {
                let first = at + (((i - range.start) as u64) << shift);
                report(first, &cell_access.current, Some((ConflictKind::ReadOnly, other)), found);
            }
            for (i, cell) in page.cells[range].iter_mut().enumerate() {
                let conflict = cell.access(&cell_access);
                if conflict.is_some() {
                    report(at + ((i as u64) << shift), &cell_access.current, conflict, found);
                }
            }
            at = stop;
        }
    }

    /// The page of a byte, with cells no wider than this.
    #[inline]
    fn page(&mut self, at: u64, shift: u32) -> &mut Page {
        let index = (at / PAGE) as usize;
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, || None);
        }
        let page = self.pages[index].get_or_insert_with(|| Box::new(Page::new(shift)));
        if page.shift > shift {
            page.split(shift);
        }
        page
    }
}

/// Lanes of one instruction that write different values to the same bytes.
fn clash(offset: u64, current: &Record, access: &Access, found: &mut Option<Conflict>) {
    let lowest = current.lanes & current.lanes.wrapping_neg();
    let other = Record { lanes: current.lanes & !lowest, ..*current };
    if !access.value_equal && !current.strong_with(&other) {
        report(offset, &Record { lanes: lowest, ..*current }, Some((ConflictKind::Race, other)), found);
    }
}

#[cold]
fn report(offset: u64, current: &Record, conflict: Option<CellConflict>, found: &mut Option<Conflict>) {
    if let (None, Some((kind, other))) = (&found, conflict) {
        *found = Some(Conflict { kind, offset, current: *current, other });
    }
}
