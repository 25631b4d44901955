//! The gradients of layer norm of `f16` as users write them: Triton's tutorial 05, by pointers and by views, with partial sums under locks. A loop
//! that waits for a lock reads the memory of the device in each turn, so that its instructions are not counted with those of the others.

use triton::prelude::*;

/// Tutorial 05, backward, by pointers: the gradient of a row, and its parts of those of weights and biases, which are added to one of
/// `groups` rows of partial sums under the lock of that row. Behind the locks is a flag for each, which says whether its row has sums yet.
#[triton::kernel(configs = [(N = 8192, num_warps = 8)], tune = [N])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn layer_norm_dx_pointers<const N: i32>(
    dx: PtrMut<f16>,
    dy: Ptr<f16>,
    dw: PtrMut<f16>,
    db: PtrMut<f16>,
    x: Ptr<f16>,
    w: Ptr<f16>,
    mean_of: Ptr<f32>,
    rstd_of: Ptr<f32>,
    lock: PtrMut<i32>,
    stride: i32,
    n: i32,
    groups: i32,
) {
    let row = program_id(0);
    let cols = arange(0, N);
    let mask = cols < n;
    let x = x + row * stride;
    let dy = dy + row * stride;
    let dx = dx + row * stride;
    let lock_id = row % groups;
    let lock_of = lock + lock_id;
    let count_of = lock_of + groups;
    let dw = dw + lock_id * n + cols;
    let db = db + lock_id * n + cols;

    let x = load(x + cols, mask).to::<f32>();
    let dy = load(dy + cols, mask).to::<f32>();
    let w = load(w + cols, mask).to::<f32>();
    let mean = load(mean_of + row, true);
    let rstd = load(rstd_of + row, true);
    let xhat = select(mask, (x - mean) * rstd, 0.0);
    let wdy = select(mask, w * dy, 0.0);
    let c1 = sum(xhat * wdy) / n.to::<f32>();
    let c2 = sum(wdy) / n.to::<f32>();
    store(dx + cols, ((wdy - (xhat * c1 + c2)) * rstd).to::<f16>(), mask);

    let mut partial_dw = (dy * xhat).to::<f16>();
    let mut partial_db = dy.to::<f16>();
    while atomic_cas(lock_of.order(Acquire), 0, 1) == 1 {}
    let count = load(count_of, true);
    if count == 0 {
        store(count_of, 1, true);
    } else {
        partial_dw += load(dw, mask);
        partial_db += load(db, mask);
    }
    store(dw, partial_dw, mask);
    store(db, partial_db, mask);
    atomic_xchg(lock_of.order(Release), 0, true);
}

/// Tutorial 05, backward, by views: the same under locks.
#[triton::kernel(configs = [(N = 8192, num_warps = 8)], tune = [N])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn layer_norm_dx_views<const N: i32>(
    dx: TensorMut<f16, 2>,
    dy: Tensor<f16, 2>,
    dw: TensorMut<f16, 2>,
    db: TensorMut<f16, 2>,
    x: Tensor<f16, 2>,
    w: Tensor<f16, 1>,
    mean_of: Tensor<f32, 1>,
    rstd_of: Tensor<f32, 1>,
    locks: TensorMut<i32, 1>,
    counts: TensorMut<i32, 1>,
) {
    let row = program_id(0);
    let n = x.dim(1).to::<f32>();
    let inside = arange(0, N).expand_dims(0) < x.dim(1);
    let group = row % dw.dim(0);
    let (mean, rstd) = (mean_of.get([row]), rstd_of.get([row]));
    let dy = dy.load([row, 0], [1, N]).to::<f32>();
    let xhat = select(inside, (x.load([row, 0], [1, N]).to::<f32>() - mean) * rstd, 0.0);
    let wdy = w.load([0], [N]).to::<f32>().expand_dims(0) * dy;
    let (c1, c2) = (sum(xhat * wdy) / n, sum(wdy) / n);
    dx.store([row, 0], ((wdy - (xhat * c1 + c2)) * rstd).to::<f16>());

    let mut partial_dw = (dy * xhat).to::<f16>();
    let mut partial_db = dy.to::<f16>();
    while locks.order(Acquire).atomic_cas_at([group], 0, 1, true) == 1 {}
    if counts.get([group]) == 0 {
        counts.store([group], full([1], 1));
    } else {
        partial_dw += dw.load([group, 0], [1, N]);
        partial_db += db.load([group, 0], [1, N]);
    }
    dw.store([group, 0], partial_dw);
    db.store([group, 0], partial_db);
    locks.order(Release).atomic_xchg_at([group], 0, true);
}
