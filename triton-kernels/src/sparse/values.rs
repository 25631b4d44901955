//! The values of a block-sparse matrix.

use super::layout::{Along, BlockLayout};
use crate::Result;
use crate::element::FloatElement;
use crate::grid::{MOST, chunks, parts};
use crate::operation::{Call, Extents, Shaped, operation};
use triton::BufferSliceMut;
use triton::prelude::*;

/// dense = 0 where there is no block, by tiles of 64 × 64 elements.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn clear_kernel<T: Float>(dense: TensorMut<T, 4>, heads: i32) {
    let (batch, row) = (program_id(2) / heads, program_id(1) * 64);
    dense.store([batch, program_id(2) % heads, row, program_id(0) * 64], zeros::<T>([1, 1, 64, 64]));
}

/// The blocks of dense = those of a list, by programs of 16 rows.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn to_dense_kernel<T: Float>(
    values: Tensor<T, 4>,
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    dense: TensorMut<T, 4>,
    rows: i32,
) {
    let (list, i, z) = (program_id(0), program_id(1) * 16, program_id(2));
    let (first, side) = (headers.get([list, 0]), values.dim(3));
    let row = list % rows * side + i;
    for at in first..first + headers.get([list, 1]) {
        let (id, column) = (entries.get([at, 0]), entries.get([at, 1]) * side);
        for j in (0..side).step_by(16) {
            dense.store([z, list / rows, row, column + j], values.load([z, id, i, j], [1, 1, 16, 16]));
        }
    }
}

/// The blocks of a list = those of dense, by programs of 16 rows.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn from_dense_kernel<T: Float>(
    dense: Tensor<T, 4>,
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    values: TensorMut<T, 4>,
    rows: i32,
) {
    let (list, i, z) = (program_id(0), program_id(1) * 16, program_id(2));
    let (first, side) = (headers.get([list, 0]), values.dim(3));
    let row = list % rows * side + i;
    for at in first..first + headers.get([list, 1]) {
        let (id, column) = (entries.get([at, 0]), entries.get([at, 1]) * side);
        for j in (0..side).step_by(16) {
            values.store([z, id, i, j], dense.load([z, list / rows, row, column + j], [1, 1, 16, 16]));
        }
    }
}

/// A batch of block-sparse matrices of one [`BlockLayout`]: values `[Z, blocks, block, block]`, each block in rows.
#[derive(Debug)]
pub struct BlockSparse<T: Element> {
    layout: BlockLayout,
    batch: usize,
    values: Buffer<T>,
}

impl<T: Element> BlockSparse<T> {
    /// A batch of `batch` matrices of zeros.
    ///
    /// # Errors
    /// [`Error::Runtime`](crate::Error::Runtime) if there is not enough memory.
    pub fn zeros(stream: &Stream, batch: usize, layout: &BlockLayout) -> Result<BlockSparse<T>> {
        let side = layout.block();
        let count = batch.saturating_mul(layout.blocks()).saturating_mul(side * side);
        Ok(BlockSparse { layout: layout.clone(), batch, values: stream.zeros(count)? })
    }

    /// Where the blocks are.
    pub fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// The number of matrices.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// All values, row-major of shape [`shape`](BlockSparse::shape).
    pub fn values(&self) -> &Buffer<T> {
        &self.values
    }

    /// The same to be written.
    ///
    /// # Errors
    /// Of the slice, which has all elements.
    pub fn values_mut(&mut self) -> Result<BufferSliceMut<'_, T>> {
        Ok(self.values.slice_mut(..)?)
    }

    /// The shape of the values: matrices, blocks, rows and columns of a block.
    pub fn shape(&self) -> [usize; 4] {
        let side = self.layout.block();
        [self.batch, self.layout.blocks(), side, side]
    }

    /// The values as a view.
    ///
    /// # Errors
    /// Of the view, if an extent is too large for it.
    pub fn view(&self) -> Result<View<'_, T, 4>> {
        Ok(self.values.view(self.shape())?)
    }

    /// The values as a mutable view.
    ///
    /// # Errors
    /// Of the view, if an extent is too large for it.
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T, 4>> {
        let shape = self.shape();
        Ok(self.values.view_mut(shape)?)
    }
}

impl<T: Element> BlockSparse<T> {
    /// Rows of blocks by 16 elements, as kernels take them.
    pub(super) fn parts(&self) -> Result<View<'_, T, 5>> {
        let [batch, blocks, rows, columns] = self.shape();
        Ok(self.values.view([batch, blocks, rows, columns / 16, 16])?)
    }

    /// The same to be written.
    pub(super) fn parts_mut(&mut self) -> Result<ViewMut<'_, T, 5>> {
        let [batch, blocks, rows, columns] = self.shape();
        Ok(self.values.view_mut([batch, blocks, rows, columns / 16, 16])?)
    }

    /// Whole blocks to be written, of the same rank.
    pub(super) fn blocks_mut(&mut self) -> Result<ViewMut<'_, T, 5>> {
        let [batch, blocks, rows, columns] = self.shape();
        Ok(self.values.view_mut([batch, blocks, 1, rows, columns])?)
    }
}

impl<T: FloatElement> BlockSparse<T> {
    /// Writes the matrices to a dense array `[Z, H, queries, keys]`, with 0 where there is no block.
    ///
    /// The gradient of what was added to scores by [`position`](super::SparseSoftmax::position) is had in this way.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the array has another shape; errors of the device.
    pub fn to_dense<'a>(&self, stream: &Stream, dense: impl IntoViewMut<'a, T, 4>) -> Result<()> {
        to_dense(self, dense.into_view_mut().reborrow()).launch(stream)
    }

    /// The blocks that a layout has of a batch of dense matrices `[Z, H, queries, keys]`.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse};
    ///
    /// let stream = Device::cpu().stream()?;
    /// let layout = BlockLayout::new(&stream, 16, &BlockMask::window(2, 0))?;
    /// let mut x = stream.tensor(&[1.0f32; 32 * 32], [1, 1, 32, 32])?;
    /// let sparse = BlockSparse::from_dense(&stream, &x, &layout)?;
    /// sparse.to_dense(&stream, &mut x)?;
    /// assert_eq!(stream.download(&x)?[..32], [[1.0; 16], [0.0; 16]].concat());
    /// # Ok::<(), triton_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the matrices are not those of the layout; errors of the device.
    pub fn from_dense<'a>(
        stream: &Stream,
        dense: impl IntoView<'a, T, 4>,
        layout: &BlockLayout,
    ) -> Result<BlockSparse<T>> {
        let dense = dense.into_view();
        let mut values = BlockSparse::zeros(stream, dense.shape()[0], layout)?;
        from_dense(dense, &mut values).launch(stream)?;
        Ok(values)
    }

    /// Programs of copies: lists, and groups of 16 rows of a block.
    fn copies(&self) -> (usize, usize, usize) {
        let [heads, rows, _] = self.layout.mask().shape();
        (heads * rows, self.layout.block() / 16, self.batch)
    }
}

macro_rules! shaped {
    ($($of:ty)*) => {$(
        impl<T: Element> Shaped for $of {
            /// Of the dense matrices: batch, heads, queries and keys.
            fn extents(&self) -> Extents {
                let [queries, keys] = self.layout.tokens();
                Extents::new(&[self.batch, self.layout.heads(), queries, keys])
            }
        }
    )*};
}

shaped!(&BlockSparse<T> &mut BlockSparse<T>);

/// A dense array = the matrices, with 0 where there is no block.
#[operation(ToDense)]
fn to_dense<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, k)] values: &'a BlockSparse<T>,
    #[axes(z, h, q, k)] mut dense: ViewMut<T, 4>,
) -> Result<()> {
    let [batch, heads, queries, keys] = dense.shape();
    if dense.shape().contains(&0) {
        return Ok(());
    }
    for of_heads in parts(heads, 1) {
        let count = of_heads.len();
        for (of, rows) in
            chunks(batch, MOST / count).flat_map(|of| parts(queries, 64).map(move |rows| (of.clone(), rows)))
        {
            let part = dense.reborrow().narrow(0, of.clone())?.narrow(1, of_heads.clone())?.narrow(2, rows.clone())?;
            let tiles = (keys.div_ceil(64), rows.len().div_ceil(64), of.len() * count);
            call.launch(clear_kernel::<T>(part, count as i32), tiles)?;
        }
    }
    let lists = values.layout.lists(Along::Rows);
    let rows = values.layout.mask().shape()[1] as i32;
    let (headers, entries, (of_lists, of_rows, _)) = (lists.headers.view()?, lists.entries.view()?, values.copies());
    for of in parts(batch, 1) {
        let (from, to) = (values.view()?.narrow(0, of.clone())?, dense.reborrow().narrow(0, of.clone())?);
        call.launch(to_dense_kernel::<T>(from, headers, entries, to, rows), (of_lists, of_rows, of.len()))?;
    }
    Ok(())
}

/// The matrices = the blocks of a dense array.
#[operation(FromDense)]
fn from_dense<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, k)] dense: View<T, 4>,
    #[axes(z, h, q, k)] values: &'a mut BlockSparse<T>,
) -> Result<()> {
    if dense.shape().contains(&0) {
        return Ok(());
    }
    let (layout, copies) = (values.layout.clone(), values.copies());
    let lists = layout.lists(Along::Rows);
    let rows = layout.mask().shape()[1] as i32;
    let (headers, entries, (of_lists, of_rows, batch)) = (lists.headers.view()?, lists.entries.view()?, copies);
    for of in parts(batch, 1) {
        let (from, to) = (dense.narrow(0, of.clone())?, values.view_mut()?.narrow(0, of.clone())?);
        call.launch(from_dense_kernel::<T>(from, headers, entries, to, rows), (of_lists, of_rows, of.len()))?;
    }
    Ok(())
}

/// Checks that another operand has the layout and the batch of the first.
pub(super) fn same_layout<T: Element, U: Element>(
    call: Call<'_>,
    operand: &'static str,
    found: &BlockSparse<T>,
    expected: &BlockSparse<U>,
) -> Result<()> {
    if found.layout.is_same(&expected.layout) && found.batch == expected.batch {
        return Ok(());
    }
    let text = format!("{} matrices of {:?}", found.batch, found.layout);
    call.value(operand, text, false, "the batch and the layout of the first operand", "make both of one layout")
}
