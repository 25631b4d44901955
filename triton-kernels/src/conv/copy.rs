//! Operands that the kernels of convolutions do not take as they lie, in copies that they do.
//!
//! One view whose rows are not whole multiples of 16 bytes costs all of a launch the wide loads, and an output in another order than the input
//! would be code of its own in each kernel. A copy reads and writes an operand once; a convolution reads it for each element of its window.

use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::Call;
use triton::Workspace;
use triton::prelude::*;

/// out = x where there is such an element, else 0: 16 places of a row by 64 channels a program.
#[triton::kernel(T = [f32, f16, bf16])]
pub(super) fn copy<T: Float>(x: Tensor<T, 4>, out: TensorMut<T, 4>) {
    let across = (out.dim(3) + 63) / 64;
    let at = [program_id(2), program_id(1), program_id(0) / across * 16, program_id(0) % across * 64];
    out.store(at, x.load(at, [1, 1, 16, 64]));
}

/// How many channels a copy is worth while: of fewer, rows in whole multiples of 16 bytes are mostly padding.
const LEAST: usize = 8;

/// Whether W is contiguous, and C is not.
pub(super) fn is_columns(shape: [usize; 4], strides: [isize; 4]) -> bool {
    shape[3] > 1 && strides[3] != 1 && (strides[2] == 1 || shape[2] <= 1)
}

/// Whether kernels take a view as it lies: rows of W, with `columns`, or else of C begin at multiples of 16 bytes.
fn fits<T: Element>(view: View<'_, T, 4>, columns: bool) -> bool {
    let (shape, strides) = (view.shape(), view.strides());
    let row = if columns { 2 } else { 3 };
    let whole = |axis: usize| shape[axis] <= 1 || strides[axis].unsigned_abs().is_multiple_of(16 / size_of::<T>());
    let is_row = shape[row] <= 1 || strides[row] == 1;
    is_row && view.address().is_multiple_of(16) && (0..4).filter(|axis| *axis != row).all(whole)
}

/// Room for a copy of an operand, if it takes one.
pub(super) struct Room<T: Element> {
    copy: Option<Workspace<T>>,
}

impl<T: FloatElement> Room<T>
where
    triton::Compiled: CopyInstance<T>,
{
    pub(super) fn new() -> Room<T> {
        Room { copy: None }
    }

    /// The operand as it lies, or a copy whose rows are padded with zeros: then it has more channels. An operand of few channels is not copied.
    pub(super) fn operand<'a>(
        &'a mut self,
        x: View<'a, T, 4>,
        columns: bool,
        call: Call<'_>,
    ) -> Result<View<'a, T, 4>> {
        if fits(x, columns) || x.shape()[3] < LEAST || x.shape().contains(&0) {
            return Ok(x);
        }
        self.copied(x, call)
    }

    fn copied<'a>(&'a mut self, x: View<'a, T, 4>, call: Call<'_>) -> Result<View<'a, T, 4>> {
        let shape = padded::<T>(x.shape());
        let room = self.copy.insert(call.workspace(shape.iter().product())?);
        copied(x, room.view_mut(shape)?, call)?;
        Ok(room.view(shape)?)
    }
}

/// Computes an output as it lies, or in a copy of it with padded rows, if it lies in another order than `columns` says or its rows are not whole. The copy
/// has more channels.
pub(super) fn output<T: FloatElement>(
    y: ViewMut<'_, T, 4>,
    columns: bool,
    call: Call<'_>,
    compute: impl FnOnce(ViewMut<'_, T, 4>) -> Result<()>,
) -> Result<()>
where
    triton::Compiled: CopyInstance<T>,
{
    if fits(y.as_view(), columns) || y.shape().contains(&0) {
        return compute(y);
    }
    let [n, h, w, c] = y.shape();
    let (order, shape) =
        if columns { ([0, 2, 3, 1], padded::<T>([n, c, h, w])) } else { ([0, 1, 2, 3], padded::<T>(y.shape())) };
    let mut room = call.workspace(shape.iter().product())?;
    compute(room.view_mut(shape)?.permute(order)?)?;
    let from = room.view(shape)?.permute(order)?;
    copied(from.narrow(2, 0..w)?.narrow(3, 0..c)?, y, call)
}

/// A shape with rows of whole multiples of 16 bytes.
fn padded<T>(shape: [usize; 4]) -> [usize; 4] {
    let [n, h, w, c] = shape;
    [n, h, w, c.next_multiple_of(16 / size_of::<T>())]
}

fn copied<T: FloatElement>(x: View<'_, T, 4>, out: ViewMut<'_, T, 4>, call: Call<'_>) -> Result<()>
where
    triton::Compiled: CopyInstance<T>,
{
    let ([n, h, w, c], mut out) = (out.shape(), out);
    for (images, rows) in parts(n, 1).flat_map(|images| parts(h, 1).map(move |rows| (images.clone(), rows))) {
        let x = x.narrow(0, images.clone())?.narrow(1, rows.clone())?;
        let out = out.reborrow().narrow(0, images.clone())?.narrow(1, rows.clone())?;
        call.launch(copy::<T>(x, out), (w.div_ceil(16) * c.div_ceil(64), rows.len(), images.len()))?;
    }
    Ok(())
}
