//! A mask with the size of its blocks, and its tables in the memory of a device.

use super::balance::{Lists, Segment, Segments};
use super::pattern::BlockMask;
use super::superblock::{Partition, SuperBlock, superblock};
use crate::Result;
use crate::error::value;
use crate::operation::{Extents, Shaped};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use triton::{Buffer, Stream, View};

/// The widest super-block in elements.
const WIDEST: usize = 128;

/// Where the blocks of a block-sparse matrix are: a [`BlockMask`] and the number of elements along a side of a block. Its tables, by which
/// programs find their blocks, are uploaded once. A clone is the same layout.
///
/// Blocks are numbered in the order of heads, rows, columns.
///
/// ```
/// use triton::Device;
/// use triton_kernels::sparse::{BlockLayout, BlockMask};
///
/// let stream = Device::cpu().stream()?;
/// // Eight heads of 1024 tokens.
/// let layout = BlockLayout::new(&stream, 32, &BlockMask::causal(32).repeat(8))?;
/// assert_eq!((layout.blocks(), layout.tokens()), (8 * 33 * 16, [1024, 1024]));
/// // Super-blocks of four, two and one block to a side.
/// assert_eq!(layout.superblocks().widths().collect::<Vec<_>>(), [4, 2, 1]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[derive(Clone)]
pub struct BlockLayout {
    tables: Arc<Tables>,
}

struct Tables {
    block: usize,
    mask: BlockMask,
    blocks: usize,
    lists: [Lists; 2],
    uploaded: [ListTable; 2],
    partition: OnceLock<Partition>,
    /// Those that only some launches need.
    others: Mutex<Others>,
}

#[derive(Default)]
struct Others {
    /// By the width of the widest.
    superblocks: BTreeMap<usize, Arc<[SuperBlockTable]>>,
    /// By direction and longest segment.
    segments: BTreeMap<(bool, usize), Arc<SegmentTable>>,
}

/// Along which lists a matrix is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    Rows,
    Columns,
}

/// Rows of numbers on a device, as kernels read them. A row is padded to whole multiples of 16 bytes: one view of a launch whose rows are not
/// costs all of them the wide loads.
pub(super) struct Table {
    numbers: Buffer<i32>,
    pitch: usize,
}

impl Table {
    /// Uploads rows of N numbers each, all of them less than 2³¹.
    fn upload<const N: usize>(stream: &Stream, rows: impl Iterator<Item = [usize; N]>) -> Result<Table> {
        let mut table = TableRows::new(N);
        rows.for_each(|row| table.push(row.map(|number| number as i32)));
        table.upload(stream)
    }

    pub(super) fn view(&self) -> triton::Result<View<'_, i32, 2>> {
        self.numbers.view([self.numbers.len() / self.pitch, self.pitch])
    }
}

/// The rows of a [`Table`] to be.
struct TableRows {
    numbers: Vec<i32>,
    pitch: usize,
}

impl TableRows {
    /// Of rows of as many numbers.
    fn new(columns: usize) -> TableRows {
        TableRows { numbers: Vec::new(), pitch: columns.next_multiple_of(4) }
    }

    fn push(&mut self, row: impl IntoIterator<Item = i32>) {
        let end = self.numbers.len() + self.pitch;
        self.numbers.extend(row);
        self.numbers.resize(end, 0);
    }

    /// The layout keeps the table, which the stream of a capture cannot make.
    fn upload(self, stream: &Stream) -> Result<Table> {
        Ok(Table { numbers: stream.outside_capture().upload(&self.numbers)?, pitch: self.pitch })
    }
}

/// Lists on a device: a header `(first, count)` for each, beside the number of a list, in the order of their lengths, and entries
/// `(block, column or row)`.
pub(super) struct ListTable {
    pub(super) headers: Table,
    pub(super) entries: Table,
}

/// The super-blocks of a width on a device: head, rows, columns, numbers of blocks.
pub(super) struct SuperBlockTable {
    pub(super) width: usize,
    pub(super) count: usize,
    pub(super) table: Table,
}

/// Segments of lists on a device: list, first entry, number of entries, part, parts, slot, split.
pub(super) struct SegmentTable {
    pub(super) count: usize,
    pub(super) slots: usize,
    pub(super) splits: usize,
    pub(super) table: Table,
}

impl BlockLayout {
    /// The layout of a mask whose blocks have `block` elements along a side: 16, 32, 64 or 128.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for another number, or if there are more than 2³¹ blocks or elements along an axis; errors of the
    /// device.
    pub fn new(stream: &Stream, block: usize, mask: &BlockMask) -> Result<BlockLayout> {
        let op = "BlockLayout";
        value(op, "block", block, [16, 32, 64, 128].contains(&block), "16, 32, 64 or 128", "group or divide blocks")?;
        let [_, rows, columns] = mask.shape();
        let (blocks, longest) = (mask.blocks(), rows.max(columns).saturating_mul(block));
        let fits = |count: usize| i32::try_from(count).is_ok();
        value(op, "blocks", blocks, fits(blocks), "fewer than 2³¹", "make a layout for each of some heads")?;
        value(op, "tokens", longest, fits(longest), "fewer than 2³¹", "take fewer blocks")?;
        let lists = [Lists::of_rows(mask), Lists::of_columns(mask)];
        let upload = |lists: &Lists| -> Result<ListTable> {
            let headers = lists.headers().zip(lists.by_length()).map(|([first, count], nth)| [first, count, nth]);
            let headers = Table::upload(stream, headers)?;
            let entries = Table::upload(stream, lists.entries().iter().copied())?;
            Ok(ListTable { headers, entries })
        };
        let uploaded = [upload(&lists[0])?, upload(&lists[1])?];
        let (mask, partition, others) = (mask.clone(), OnceLock::new(), Mutex::default());
        Ok(BlockLayout { tables: Arc::new(Tables { block, mask, blocks, lists, uploaded, partition, others }) })
    }

    /// Elements along a side of a block.
    pub fn block(&self) -> usize {
        self.tables.block
    }

    /// Which blocks are there.
    pub fn mask(&self) -> &BlockMask {
        &self.tables.mask
    }

    /// The number of heads.
    pub fn heads(&self) -> usize {
        self.tables.mask.shape()[0]
    }

    /// Rows and columns of the matrix of a head: the number of queries and that of keys.
    pub fn tokens(&self) -> [usize; 2] {
        let [_, rows, columns] = self.tables.mask.shape();
        [rows * self.tables.block, columns * self.tables.block]
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.tables.blocks
    }

    /// The number of blocks as a share of all.
    pub fn density(&self) -> f64 {
        self.tables.mask.density()
    }

    /// The blocks as super-blocks of up to 128 elements along a side; found at the first call.
    pub fn superblocks(&self) -> &Partition {
        self.tables.partition.get_or_init(|| {
            let widest = WIDEST / self.tables.block;
            let widths: Vec<usize> = (0..=widest.ilog2()).map(|log| 1 << log).collect();
            superblock(&self.tables.mask, &widths)
        })
    }

    /// Whether another layout is a clone of this one, or equal to it.
    pub(super) fn is_same(&self, other: &BlockLayout) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables) || (self.block() == other.block() && self.mask() == other.mask())
    }

    /// The binary logarithm of a block's side.
    pub(super) fn shift(&self) -> i32 {
        self.tables.block.ilog2() as i32
    }

    /// The number of rows of blocks, of all heads, that have at most this many elements along them.
    pub(super) fn rows_up_to(&self, elements: usize) -> usize {
        self.tables.lists[0].up_to(elements / self.tables.block)
    }

    pub(super) fn lists(&self, along: Along) -> &ListTable {
        &self.tables.uploaded[along as usize]
    }

    /// The widest super-blocks of which there are at least as many as `programs`, counted together with the narrower ones.
    pub(super) fn width(&self, programs: usize) -> usize {
        let parts = self.superblocks();
        parts.widths().find(|most| parts.count_up_to(*most) >= programs).unwrap_or(1)
    }

    /// Tables of super-blocks up to a width, uploaded at the first call.
    pub(super) fn superblock_tables(&self, stream: &Stream, most: usize) -> Result<Arc<[SuperBlockTable]>> {
        let mut others = self.tables.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = others.superblocks.get(&most) {
            return Ok(Arc::clone(tables));
        }
        let (ids, parts) = (self.ids(), self.superblocks().up_to(most));
        let [_, rows, columns] = self.mask().shape();
        let table = |width: usize| -> Result<SuperBlockTable> {
            let (mut list, mut count) = (TableRows::new(1 + width * (2 + width)), 0);
            for SuperBlock { head, rows: of_rows, columns: of_columns } in parts.of_width(width) {
                let places = iter::once(&head).chain(of_rows).chain(of_columns).map(|place| *place as i32);
                let blocks = of_rows.iter().flat_map(|row| {
                    let at = (head * rows + row) * columns;
                    let ids = &ids;
                    of_columns.iter().map(move |column| ids[at + column])
                });
                list.push(places.chain(blocks));
                count += 1;
            }
            Ok(SuperBlockTable { width, count, table: list.upload(stream)? })
        };
        let tables: Arc<[SuperBlockTable]> = parts.widths().map(table).collect::<Result<_>>()?;
        others.superblocks.insert(most, Arc::clone(&tables));
        Ok(tables)
    }

    /// The number of the block at each place of the grid, which are in the order of heads, rows, columns.
    fn ids(&self) -> Vec<i32> {
        let [heads, rows, columns] = self.mask().shape();
        let mut ids = vec![-1; heads * rows * columns];
        self.mask().iter().zip(0..).for_each(|([h, m, n], id)| ids[(h * rows + m) * columns + n] = id);
        ids
    }

    /// The table of segments of at most `longest` blocks, uploaded at the first call.
    pub(super) fn segment_table(&self, stream: &Stream, along: Along, longest: usize) -> Result<Arc<SegmentTable>> {
        let mut others = self.tables.others.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (along == Along::Columns, longest);
        if let Some(table) = others.segments.get(&key) {
            return Ok(Arc::clone(table));
        }
        let Segments { mut rows, slots, splits } = self.tables.lists[along as usize].segments(longest);
        // Programs begin in order: the longest last would run alone. Segments of one list are added together soon.
        if splits == 0 {
            rows.sort_by_key(|segment| Reverse(segment.count));
        }
        let row = |of: &Segment| [of.list, of.first, of.count, of.part, of.parts, of.slot, of.split];
        let table = Table::upload(stream, rows.iter().map(row))?;
        let table = Arc::new(SegmentTable { count: rows.len(), slots, splits, table });
        others.segments.insert(key, Arc::clone(&table));
        Ok(table)
    }
}

impl fmt::Debug for BlockLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut of = f.debug_struct("BlockLayout");
        of.field("shape", &self.mask().shape()).field("block", &self.block()).field("blocks", &self.blocks()).finish()
    }
}

impl Shaped for &BlockLayout {
    /// Of the dense matrices: heads, queries and keys.
    fn extents(&self) -> Extents {
        let [queries, keys] = self.tokens();
        Extents::new(&[self.heads(), queries, keys])
    }
}
