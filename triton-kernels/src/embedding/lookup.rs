//! Rows of a table by number, and the gradient of the table.

use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::ids::{Ids, Numbers, rows_from};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// out\[i\] = table\[ids\[i\] − first\]; a program has 4 rows of 256 columns.
#[triton::kernel(T = [f32, f16, bf16], I = [i32, i64], targets = ["sm_80"])]
fn embedding_kernel<T: Float, I: Int>(
    table: Tensor<T, 2>,
    ids: Tensor<I, 1>,
    out: TensorMut<T, 2>,
    #[no_specialize] first: i64,
) {
    let (i, j) = (program_id(0) * 4, program_id(1) * 256);
    let rows = rows_from::<I>(ids.load_or([i], [4], -1), first, table.dim(0).to::<i32>()).expand_dims(1);
    // A row that does not exist is 0.
    out.store([i, j], table.gather([rows, (j + arange(0, 256)).expand_dims(0)], rows >= 0));
}

/// dtable\[ids\[i\] − first\] += dy\[i\], in any order.
#[triton::kernel(T = [f32, f16, bf16], I = [i32, i64], targets = ["sm_80"])]
fn embedding_backward_kernel<T: Float, I: Int>(
    dy: Tensor<T, 2>,
    ids: Tensor<I, 1>,
    dtable: TensorMut<f32, 2>,
    #[no_specialize] first: i64,
) {
    let (i, j) = (program_id(0) * 4, program_id(1) * 256);
    let rows = rows_from::<I>(ids.load_or([i], [4], -1), first, dtable.dim(0).to::<i32>()).expand_dims(1);
    let columns = (j + arange(0, 256)).expand_dims(0);
    dtable.atomic_add_at([rows, columns], dy.load([i, j], [4, 256]).to::<f32>(), rows >= 0);
}

/// The same in the order of i: the program of the first row with a number adds all rows with it.
#[triton::kernel(T = [f32, f16, bf16], I = [i32, i64], targets = ["sm_80"])]
fn embedding_ordered_kernel<T: Float, I: Int>(
    dy: Tensor<T, 2>,
    ids: Tensor<I, 1>,
    dtable: TensorMut<f32, 2>,
    #[no_specialize] first: i64,
) {
    let (i, j) = (program_id(0), program_id(1) * 256);
    let id = ids.get([i]);
    let n = ids.dim(0).to::<i32>();
    let own = maximum(id.to::<i64>(), first) - first;
    if id.to::<i64>() < first || own >= dtable.dim(0).to::<i64>() {
        return;
    }
    let entry = own.to::<i32>();
    let mut is_first = true;
    for at in (0..i).step_by(512) {
        let k = at + arange(0, 512);
        if any((ids.load_or([at], [512], -1) == id) & (k < i)) {
            is_first = false;
            break;
        }
    }
    if is_first {
        let mut sum = dtable.load([entry, j], [1, 256]);
        for at in (i..n).step_by(512) {
            let k = at + arange(0, 512);
            let mut left = ids.load_or([at], [512], -1) == id;
            while any(left) {
                let next = min(select(left, k, i32::MAX));
                sum += dy.load([next, j], [1, 256]).to::<f32>();
                left = left & (k > next);
            }
        }
        dtable.store([entry, j], sum);
    }
}

/// out\[i\] = table\[ids\[i\]\], as `torch.nn.functional.embedding`, and as `torch.index_select` of rows. Of an id that is negative, or not
/// less than the number of entries, the row is 0.
///
/// A row is copied to the bit, and no other is read.
///
/// Of a table that is split among ranks, [`first`](Embedding::first) says which entries the shard has. A result has the rows of its shard's entries, and
/// 0 for all others: the sum over ranks is the result of the whole table (Shoeybi et al., "Megatron-LM", 2019, section 3).
///
/// ```
/// use triton::Device;
/// use triton_kernels::embedding::embedding;
///
/// let stream = Device::cpu().stream()?;
/// let (table, ids) = (stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?, stream.tensor(&[1, 0, 1, 7], [4])?);
/// let mut out = stream.tensor_uninit::<f32, _>([4, 2])?;
/// embedding(&table, &ids, &mut out).launch(&stream)?;
/// assert_eq!(stream.download(&out)?, [3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
///
/// // The same rows as entries 1 and 2 of a table whose entry 0 another rank has.
/// embedding(&table, &ids, &mut out).first(1).launch(&stream)?;
/// assert_eq!(stream.download(&out)?, [1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Embedding)]
pub fn embedding<T: FloatElement>(
    call: Call,
    #[axes(e, c)] table: View<T, 2>,
    #[axes(..)] ids: Ids,
    #[axes(.., c)] mut out: ViewMut<T, 2>,
    /// Takes the table as a shard, whose row 0 is entry `first` of the whole table. Ids count entries of the whole one; of an id outside the
    /// shard the row is 0.
    #[default(0)]
    #[check(i64::try_from(first).is_ok(), "less than 2⁶³", "it is compared with ids, which are of 64 bits")]
    first: usize,
) -> Result<()> {
    let [rows, columns] = out.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let (ids, first) = (ids.numbers(call.op, "ids")?, first as i64);
    for of in parts(columns, 256) {
        let (table, out) = (table.narrow(1, of.clone())?, out.reborrow().narrow(1, of.clone())?);
        let grid = (rows.div_ceil(4), of.len().div_ceil(256));
        match ids {
            Numbers::I32(ids) => call.launch(embedding_kernel::<T, i32>(table, ids, out, first), grid)?,
            Numbers::I64(ids) => call.launch(embedding_kernel::<T, i64>(table, ids, out, first), grid)?,
        }
    }
    Ok(())
}

/// dtable\[ids\[i\]\] += dy\[i\]: the gradient of [`embedding`], added to what is there, as `torch.index_add` of rows. Ids that are out of
/// range add nothing.
///
/// Additions are atomic, in any order, so that last bits may differ between launches; see [`deterministic`](EmbeddingBackward::deterministic).
///
/// A NaN or an infinity reaches its element of the table alone. With [`first`](EmbeddingBackward::first) the table is a shard, to which the ids of its
/// own entries add.
///
/// ```
/// use triton::Device;
/// use triton_kernels::embedding::embedding_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (dy, ids) = (stream.tensor(&[1.0f32, 2.0, 4.0], [3, 1])?, stream.tensor(&[1, 0, 1], [3])?);
/// let mut dtable = stream.tensor_zeros::<f32, _>([2, 1])?;
/// embedding_backward(&dy, &ids, &mut dtable).deterministic(true).launch(&stream)?;
/// assert_eq!(stream.download(&dtable)?, [2.0, 5.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(EmbeddingBackward)]
pub fn embedding_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(..)] ids: Ids,
    #[axes(e, c)] mut dtable: ViewMut<f32, 2>,
    /// Adds in the order of rows, so that the result is the same each time. Each row compares its id with all others: the time grows
    /// with the square of their number, 4 bytes of cached memory for each pair and 256 columns.
    #[default(false)]
    deterministic: bool,
    /// Takes the table as a shard, whose row 0 is entry `first` of the whole table. Ids count entries of the whole one, and
    /// those outside the shard add nothing.
    #[default(0)]
    #[check(i64::try_from(first).is_ok(), "less than 2⁶³", "it is compared with ids, which are of 64 bits")]
    first: usize,
) -> Result<()> {
    let [rows, columns] = dy.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let (ids, first) = (ids.numbers(call.op, "ids")?, first as i64);
    for of in parts(columns, 256) {
        let (dy, dtable) = (dy.narrow(1, of.clone())?, dtable.reborrow().narrow(1, of.clone())?);
        let grid = (if deterministic { rows } else { rows.div_ceil(4) }, of.len().div_ceil(256));
        match (ids, deterministic) {
            (Numbers::I32(ids), true) => {
                call.launch(embedding_ordered_kernel::<T, i32>(dy, ids, dtable, first), grid)?
            }
            (Numbers::I64(ids), true) => {
                call.launch(embedding_ordered_kernel::<T, i64>(dy, ids, dtable, first), grid)?
            }
            (Numbers::I32(ids), false) => {
                call.launch(embedding_backward_kernel::<T, i32>(dy, ids, dtable, first), grid)?
            }
            (Numbers::I64(ids), false) => {
                call.launch(embedding_backward_kernel::<T, i64>(dy, ids, dtable, first), grid)?
            }
        }
    }
    Ok(())
}
