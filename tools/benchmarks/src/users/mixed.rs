//! Products of `f16` with weights of `i8`, which are converted before `dot`, as users write them: a linear layer (W8A16) and the product of
//! Triton's tutorial 03 with another right operand.

use triton::prelude::*;

/// c = (a · bᵀ) · scale, by pointers: b is \[N, K\] as a linear layer has it, with a scale for each of its rows.
#[triton::kernel(configs = [
    (BM = 16, BN = 32, BK = 128, num_warps = 2, num_stages = 6),
    (BM = 16, BN = 32, BK = 256, num_warps = 2, num_stages = 4),
    (BM = 64, BN = 128, BK = 64, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorials")]
pub fn w8a16_pointers<const BM: i32, const BN: i32, const BK: i32>(
    a: Ptr<f16>,
    b: Ptr<i8>,
    scale: Ptr<f32>,
    c: PtrMut<f16>,
    m: i32,
    n: i32,
    k: i32,
    stride_am: i32,
    stride_ak: i32,
    stride_bn: i32,
    stride_bk: i32,
    stride_cm: i32,
    stride_cn: i32,
) {
    let offs_m = program_id(0) * BM + arange(0, BM);
    let offs_n = program_id(1) * BN + arange(0, BN);
    let offs_k = arange(0, BK);
    let mut a_ptrs = a + (offs_m.expand_dims(1) * stride_am + offs_k.expand_dims(0) * stride_ak);
    let mut b_ptrs = b + (offs_k.expand_dims(1) * stride_bk + offs_n.expand_dims(0) * stride_bn);
    let mut accumulator = zeros::<f32>([BM, BN]);
    for i in 0..(k + BK - 1) / BK {
        let left = k - i * BK;
        let a = load(a_ptrs, (offs_m.expand_dims(1) < m) & (offs_k.expand_dims(0) < left));
        let b = load(b_ptrs, (offs_k.expand_dims(1) < left) & (offs_n.expand_dims(0) < n));
        accumulator = dot(a, b.to::<f16>(), accumulator);
        a_ptrs += BK * stride_ak;
        b_ptrs += BK * stride_bk;
    }
    let scales = load(scale + offs_n, offs_n < n);
    let c_ptrs = c + (offs_m.expand_dims(1) * stride_cm + offs_n.expand_dims(0) * stride_cn);
    let c_mask = (offs_m.expand_dims(1) < m) & (offs_n.expand_dims(0) < n);
    store(c_ptrs, (accumulator * scales.expand_dims(0)).to::<f16>(), c_mask);
}

/// c = (a · bᵀ) · scale, by views.
#[triton::kernel(configs = [
    (BM = 16, BN = 32, BK = 128, num_warps = 2, num_stages = 6),
    (BM = 16, BN = 32, BK = 256, num_warps = 2, num_stages = 4),
    (BM = 64, BN = 128, BK = 64, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn w8a16_views<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<i8, 2>,
    scale: Tensor<f32, 1>,
    c: TensorMut<f16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        let weights = b.load([n, k], [BN, BK]).to::<f16>();
        acc = dot(a.load([m, k], [BM, BK]), weights.transpose(), acc);
    }
    c.store([m, n], (acc * scale.load([n], [BN]).expand_dims(0)).to::<f16>());
}

/// The product of tutorial 03, of `f16` with `i8`, by pointers.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, GROUP = 8, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 256, BK = 64, GROUP = 8, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK, GROUP])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn mixed_pointers<const BM: i32, const BN: i32, const BK: i32, const GROUP: i32>(
    a: Ptr<f16>,
    b: Ptr<i8>,
    c: PtrMut<f16>,
    m: i32,
    n: i32,
    k: i32,
    stride_am: i32,
    stride_ak: i32,
    stride_bk: i32,
    stride_bn: i32,
    stride_cm: i32,
    stride_cn: i32,
) {
    let pid = program_id(0);
    let num_pid_m = (m + BM - 1) / BM;
    let num_pid_n = (n + BN - 1) / BN;
    let num_pid_in_group = GROUP * num_pid_n;
    let group_id = pid / num_pid_in_group;
    let first_pid_m = group_id * GROUP;
    let group_size_m = minimum(num_pid_m - first_pid_m, GROUP);
    let pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m);
    let pid_n = (pid % num_pid_in_group) / group_size_m;

    let offs_am = (pid_m * BM + arange(0, BM)) % m;
    let offs_bn = (pid_n * BN + arange(0, BN)) % n;
    let offs_k = arange(0, BK);
    let mut a_ptrs = a + (offs_am.expand_dims(1) * stride_am + offs_k.expand_dims(0) * stride_ak);
    let mut b_ptrs = b + (offs_k.expand_dims(1) * stride_bk + offs_bn.expand_dims(0) * stride_bn);

    let mut accumulator = zeros::<f32>([BM, BN]);
    for i in 0..(k + BK - 1) / BK {
        let a = load(a_ptrs, offs_k.expand_dims(0) < k - i * BK);
        let b = load(b_ptrs, offs_k.expand_dims(1) < k - i * BK);
        accumulator = dot(a, b.to::<f16>(), accumulator);
        a_ptrs += BK * stride_ak;
        b_ptrs += BK * stride_bk;
    }

    let offs_cm = pid_m * BM + arange(0, BM);
    let offs_cn = pid_n * BN + arange(0, BN);
    let c_ptrs = c + stride_cm * offs_cm.expand_dims(1) + stride_cn * offs_cn.expand_dims(0);
    let c_mask = (offs_cm.expand_dims(1) < m) & (offs_cn.expand_dims(0) < n);
    store(c_ptrs, accumulator.to::<f16>(), c_mask);
}

/// The product of tutorial 03, of `f16` with `i8`, by views.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 256, BK = 64, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn mixed_views<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<i8, 2>,
    c: TensorMut<f16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]).to::<f16>(), acc);
    }
    c.store([m, n], acc.to::<f16>());
}

/// The product of `f16` with `f16` in the tiles of [`mixed_views`], by views: what the conversion costs.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 256, BK = 64, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn plain_views<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
    }
    c.store([m, n], acc.to::<f16>());
}
