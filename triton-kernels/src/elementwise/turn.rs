//! Copies between orders of memory: elements that are next to each other in x are apart in y.

use super::walk::Walk;
use super::{Elements, ElementsMut};
use crate::Result;
use crate::flat::corner;
use crate::operation::Call;
use triton::prelude::*;

/// Rows and columns of a tile.
const SIDE: i32 = 64;

/// y\[.., i, j\] = x\[.., j, i\]: rows of a tile are read where they are contiguous, and stored where its columns were.
#[triton::kernel(T = [f32, f16, bf16, i32], configs = [(N = 64, num_warps = 8)], targets = ["sm_80"], warnings = false)]
pub(super) fn turned<T: Num, const N: i32>(x: Tensor<T, 4>, y: TensorMut<T, 4>) {
    let (i, j) = corner::<N, N>(y.dim(3).to::<i32>());
    let (first, second) = (program_id(2), program_id(1));
    let tile = x.load([first, second, j, i], [1, 1, N, N]).reshape([N, N]).transpose();
    y.store([first, second, i, j], tile.reshape([1, 1, N, N]));
}

/// Copies by tiles that are turned, if elements that are next to each other in x are apart in y. Whether it does.
pub(super) fn turn<T: Num>(x: Elements<'_, T>, y: &mut ElementsMut<'_, T>, call: Call<'_>) -> Result<bool>
where
    triton::Compiled: TurnedInstance<T, SIDE>,
{
    let Some(walk) = Walk::new(call, y.layout("y"), [x.layout("x")])?.and_then(Walk::turned) else { return Ok(false) };
    for part in walk.parts() {
        let (of_x, _) = part.operand(0, x)?;
        let kernel = turned::<T, SIDE>(of_x.permute([0, 1, 3, 2])?, part.output(y)?);
        call.launch(kernel, part.grid([SIDE; 2]))?;
    }
    Ok(true)
}
