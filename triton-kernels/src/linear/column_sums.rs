//! Sums of columns in one launch, in an order that is the same each time: strips of rows are added by a program each, and the last one of
//! a block of columns adds what all of them found.

use crate::Result;
use crate::element::FloatElement;
use crate::functions::last_to_arrive;
use crate::operation::{Call, operation};
use crate::sums::Sums;
use triton::prelude::*;

/// Rows that a program loads at a time.
const LANES: usize = 256;
/// The most strips of rows.
const STRIPS: usize = 64;

/// out = the sums of the columns of x; program (j, s) adds `rows` rows of C columns, which are 256 bytes. `done` is 0 before, and again
/// after, and so is `parts`. One of the outputs is absent.
#[triton::kernel(configs = [(T = f32, C = 64), (T = f16, C = 128), (T = bf16, C = 128)], num_warps = 8, tune = [C])]
fn column_sums_kernel<T: Float, const C: i32>(
    x: Tensor<T, 2>,
    parts: TensorMut<f32, 2>,
    done: TensorMut<i32, 1>,
    out: TensorMut<T, 1>,
    single: TensorMut<f32, 1>,
    rows: i32,
) {
    let (j, s, strips) = (program_id(0) * C, program_id(1), num_programs(1));
    let mut acc = zeros::<f32>([32, C]);
    for i in (0..rows).step_by(256) {
        // Eight loads are in flight.
        let at = s * rows + i;
        let (a, b) = (x.load([at, j], [32, C]), x.load([at + 32, j], [32, C]));
        let (c, d) = (x.load([at + 64, j], [32, C]), x.load([at + 96, j], [32, C]));
        let (e, f) = (x.load([at + 128, j], [32, C]), x.load([at + 160, j], [32, C]));
        let (g, h) = (x.load([at + 192, j], [32, C]), x.load([at + 224, j], [32, C]));
        acc += (a.to::<f32>() + b.to::<f32>()) + (c.to::<f32>() + d.to::<f32>());
        acc += (e.to::<f32>() + f.to::<f32>()) + (g.to::<f32>() + h.to::<f32>());
    }
    parts.store([s, j], sum_axis(acc, 0).expand_dims(0));
    if last_to_arrive(done, program_id(0), strips) {
        let mut all = zeros::<f32>([16, C]);
        for s in (0..strips).step_by(16) {
            all += parts.load([s, j], [16, C]);
            parts.store([s, j], zeros::<f32>([16, C]));
        }
        let total = sum_axis(all, 0);
        out.store([j], total.to::<T>());
        single.store([j], total);
        done.store([program_id(0)], zeros::<i32>([1]));
    }
}

/// The sums of the columns of x, over all its other axes: the gradient of a bias. Sums of no rows are 0. Out is of the type of x, or of `f32`.
///
/// There is one launch. The order of additions follows from the shape alone, so that the result is the same each time, to the bit: strips of
/// rows are added in parallel, and the last program to finish adds them in their order (partial results and a counter, as in section 5.2.3 of
/// Tillet, "Blocked algorithms for neural networks", 2020).
///
/// A NaN or an infinity reaches its column alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::linear::column_sums;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0], [2, 3])?;
/// let mut out = stream.tensor_uninit::<f32, _>([3])?;
/// column_sums(&x, &mut out).launch(&stream)?;
/// assert_eq!(stream.download(&out)?, [11.0, 22.0, 33.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: a broadcast.
#[operation(ColumnSums)]
pub fn column_sums<T: FloatElement>(call: Call, #[axes(.., c)] x: View<T, 2>, #[axes(c)] out: Sums<T>) -> Result<()> {
    let [rows, columns] = x.shape();
    if columns == 0 {
        return Ok(());
    }
    let width = column_sums_kernel_pool::<T>().members().first().map_or(1, |of| of.choice().C as usize);
    let programs = columns.div_ceil(width);
    let (each, strips) = strips(rows, programs, size_of::<T>());
    let few = i32::try_from(each);
    call.value("rows of x", rows, few.is_ok(), "less than 2³¹ − 256", "add parts of the rows")?;
    let (mut parts, mut done) = (call.scratch::<f32>(strips * columns)?, call.scratch::<i32>(programs)?);
    let (parts, done) = (parts.view_mut([strips, columns])?, done.view_mut([programs])?);
    let kernel = column_sums_kernel_tuned::<T>(x, parts, done, out.out, out.single, few.unwrap_or(i32::MAX));
    call.tuned(kernel, |_| true, |_| (programs, strips))
}

/// Rows of a strip, and how many of them: two programs of a large GPU's multiprocessor, four of shorter lines, and not less than 64 KiB for each.
fn strips(rows: usize, across: usize, bytes: usize) -> (usize, usize) {
    let wanted = (128 * bytes).div_ceil(across.max(1)).clamp(1, STRIPS);
    let each = rows.div_ceil(wanted).max(LANES).next_multiple_of(LANES);
    (each, rows.div_ceil(each).max(1))
}
