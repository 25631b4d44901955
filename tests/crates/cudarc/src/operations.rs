//! Operations of the library over memory that anyone has.

use triton::prelude::*;
use triton_kernels::attention::attention;
use triton_kernels::contract::contract;
use triton_kernels::conv::conv2d;
use triton_kernels::linear::column_sums;
use triton_kernels::linear::gemm;
use triton_kernels::norm::layer_norm;
use triton_kernels::optim::{SgdOptions, sgd};
use triton_kernels::softmax::softmax;
use triton_kernels::{Activation, Result};

/// Elements that are read.
pub const READ: usize = 1 << 14;
/// Elements that are written.
pub const WRITTEN: usize = 1 << 14;

/// Numbers to read.
pub fn numbers() -> Vec<f32> {
    (0..READ).map(|i| (i * 7919 % 1009) as f32 / 504.0 - 1.0).collect()
}

/// Runs operations that read parts of `x`, each of which leaves its result in the next part of `y`.
pub fn run(stream: &Stream, x: View<'_, f32, 1>, mut y: ViewMut<'_, f32, 1>) -> Result<()> {
    let mut end = 0;
    let mut room = |len: usize| {
        end += len;
        end - len..end
    };
    let part = |from: usize, len: usize| x.narrow(0, from..from + len);

    let (a, b) = (part(0, 64 * 32)?.reshape([64, 32])?, part(999, 48 * 32)?.reshape([48, 32])?.transpose());
    let c = y.reborrow().narrow(0, room(64 * 48))?.reshape([64, 48])?;
    gemm(a, b, c).bias(part(5, 48)?).activation(Activation::Gelu).deterministic(true).launch(stream)?;

    let c = y.reborrow().narrow(0, room(17 * 45))?.reshape([45, 17])?.transpose();
    softmax(part(3, 17 * 45)?.reshape([17, 45])?, c).launch(stream)?;

    let c = y.reborrow().narrow(0, room(30 * 70))?.reshape([30, 70])?;
    layer_norm(part(100, 2100)?.reshape([30, 70])?, part(7, 70)?, part(77, 70)?, c).launch(stream)?;

    let heads = |from: usize| part(from, 2 * 33 * 16)?.reshape([1, 33, 2, 16])?.permute([0, 2, 1, 3]);
    let o = y.reborrow().narrow(0, room(2 * 33 * 16))?.reshape([1, 2, 33, 16])?;
    attention(heads(0)?, heads(1500)?, heads(3000)?, o).causal().launch(stream)?;

    let (image, filters) = (part(64, 2 * 9 * 9 * 8)?.reshape([2, 9, 9, 8])?, part(2, 16 * 72)?.reshape([16, 3, 3, 8])?);
    conv2d(image, filters, y.reborrow().narrow(0, room(2 * 49 * 16))?.reshape([2, 7, 7, 16])?).launch(stream)?;

    let c = y.reborrow().narrow(0, room(6 * 5 * 8))?.reshape([6, 5, 8])?;
    let (a, b) = (part(11, 6 * 7 * 5)?.reshape([6, 7, 5])?, part(500, 7 * 8)?.reshape([7, 8])?);
    contract!("akb,kc->abc", a, b => c).launch(stream)?;

    column_sums(part(0, 40 * 50)?.reshape([40, 50])?, y.reborrow().narrow(0, room(50))?).launch(stream)?;

    let weights = y.reborrow().narrow(0, room(1000))?.reshape([1, 1000])?;
    sgd(weights, part(1, 1000)?.reshape([1, 1000])?, SgdOptions::default()).launch(stream)
}
