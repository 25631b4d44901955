//! Layer norm of `f16` as users write it, and the sums at the end of its gradients: Triton's tutorial 05, by pointers and by views.

use triton::prelude::*;

/// Tutorial 05, forward, by pointers: a row a program, in blocks, and the mean and 1 / √(variance + eps) of each row.
#[triton::kernel(configs = [(BLOCK = 8192, num_warps = 8)], tune = [BLOCK])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn layer_norm_pointers<const BLOCK: i32>(
    x: Ptr<f16>,
    y: PtrMut<f16>,
    w: Ptr<f16>,
    b: Ptr<f16>,
    mean_of: PtrMut<f32>,
    rstd_of: PtrMut<f32>,
    stride: i32,
    n: i32,
    eps: f32,
) {
    let row = program_id(0);
    let y = y + row * stride;
    let x = x + row * stride;
    let mut total = zeros::<f32>([BLOCK]);
    for off in (0..n).step_by(BLOCK) {
        let cols = off + arange(0, BLOCK);
        total += load(x + cols, cols < n).to::<f32>();
    }
    let mean = sum(total) / n.to::<f32>();
    let mut squares = zeros::<f32>([BLOCK]);
    for off in (0..n).step_by(BLOCK) {
        let cols = off + arange(0, BLOCK);
        let x = load(x + cols, cols < n).to::<f32>();
        let x = select(cols < n, x - mean, 0.0);
        squares += x * x;
    }
    let var = sum(squares) / n.to::<f32>();
    let rstd = 1.0 / sqrt(var + eps);
    store(mean_of + row, mean, true);
    store(rstd_of + row, rstd, true);
    for off in (0..n).step_by(BLOCK) {
        let cols = off + arange(0, BLOCK);
        let mask = cols < n;
        let w = load(w + cols, mask).to::<f32>();
        let b = load(b + cols, mask).to::<f32>();
        let x = load(x + cols, mask).to::<f32>();
        let x_hat = (x - mean) * rstd;
        store(y + cols, (x_hat * w + b).to::<f16>(), mask);
    }
}

/// Tutorial 05, forward, by views: a program keeps its row.
#[triton::kernel(configs = [(N = 8192, num_warps = 8)], tune = [N])]
pub fn layer_norm_views<const N: i32>(
    x: Tensor<f16, 2>,
    y: TensorMut<f16, 2>,
    w: Tensor<f16, 1>,
    b: Tensor<f16, 1>,
    mean_of: TensorMut<f32, 1>,
    rstd_of: TensorMut<f32, 1>,
    eps: f32,
) {
    let row = program_id(0);
    let n = x.dim(1).to::<f32>();
    let tile = x.load([row, 0], [1, N]).to::<f32>();
    let mean = sum(tile) / n;
    let centred = select(arange(0, N).expand_dims(0) < x.dim(1), tile - mean, 0.0);
    let rstd = rsqrt(sum(centred * centred) / n + eps);
    mean_of.store([row], full([1], mean));
    rstd_of.store([row], full([1], rstd));
    let w = w.load([0], [N]).to::<f32>().expand_dims(0);
    let b = b.load([0], [N]).to::<f32>().expand_dims(0);
    y.store([row, 0], (centred * rstd * w + b).to::<f16>());
}

/// Tutorial 05, backward: the sums of the partial sums, by pointers.
#[triton::kernel(configs = [(BM = 32, BN = 128, num_warps = 4)], tune = [BM, BN])]
pub fn layer_norm_dwdb_pointers<const BM: i32, const BN: i32>(
    dw: Ptr<f16>,
    db: Ptr<f16>,
    final_dw: PtrMut<f16>,
    final_db: PtrMut<f16>,
    m: i32,
    n: i32,
) {
    let pid = program_id(0);
    let cols = pid * BN + arange(0, BN);
    let mut sum_dw = zeros::<f32>([BM, BN]);
    let mut sum_db = zeros::<f32>([BM, BN]);
    for i in (0..m).step_by(BM) {
        let rows = i + arange(0, BM);
        let mask = (rows.expand_dims(1) < m) & (cols.expand_dims(0) < n);
        let offs = rows.expand_dims(1) * n + cols.expand_dims(0);
        sum_dw += load(dw + offs, mask).to::<f32>();
        sum_db += load(db + offs, mask).to::<f32>();
    }
    store(final_dw + cols, sum_axis(sum_dw, 0).to::<f16>(), cols < n);
    store(final_db + cols, sum_axis(sum_db, 0).to::<f16>(), cols < n);
}

/// Tutorial 05, backward: the sums of the partial sums, by views.
#[triton::kernel(configs = [(BM = 32, BN = 128, num_warps = 4)], tune = [BM, BN])]
pub fn layer_norm_dwdb_views<const BM: i32, const BN: i32>(
    dw: Tensor<f16, 2>,
    db: Tensor<f16, 2>,
    final_dw: TensorMut<f16, 1>,
    final_db: TensorMut<f16, 1>,
) {
    let column = program_id(0) * BN;
    let mut sum_dw = zeros::<f32>([BM, BN]);
    let mut sum_db = zeros::<f32>([BM, BN]);
    for row in (0..dw.dim(0)).step_by(BM) {
        sum_dw += dw.load([row, column], [BM, BN]).to::<f32>();
        sum_db += db.load([row, column], [BM, BN]).to::<f32>();
    }
    final_dw.store([column], sum_axis(sum_dw, 0).to::<f16>());
    final_db.store([column], sum_axis(sum_db, 0).to::<f16>());
}
