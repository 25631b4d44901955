//! Matrix products as users write them: Triton's tutorial 03, by pointers, word by word, and by views.

use triton::prelude::*;

/// x where it is positive, a hundredth of it elsewhere: the activation of tutorial 03.
#[triton::function]
pub fn leaky_relu(x: Tile<f32>) -> Tile<f32> {
    select(x >= 0.0, x, 0.01 * x)
}

/// Tutorial 03: c = a · b of `f16`, by pointers. Strides are in elements; programs come in groups of `GROUP` rows of tiles. With its activation
/// the largest tile is at the limit of the registers, which the compiler warns of.
#[triton::kernel(warnings = false, configs = [
    (BM = 128, BN = 256, BK = 64, GROUP = 8, LEAKY = false, num_warps = 8, num_stages = 3),
    (BM = 64, BN = 256, BK = 32, GROUP = 8, LEAKY = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 128, BK = 32, GROUP = 8, LEAKY = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 64, BK = 32, GROUP = 8, LEAKY = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 256, BK = 64, GROUP = 8, LEAKY = true, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK, GROUP])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn matmul_pointers<const BM: i32, const BN: i32, const BK: i32, const GROUP: i32, const LEAKY: bool>(
    a: Ptr<f16>,
    b: Ptr<f16>,
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
        accumulator = dot(a, b, accumulator);
        a_ptrs += BK * stride_ak;
        b_ptrs += BK * stride_bk;
    }
    if LEAKY {
        accumulator = leaky_relu(accumulator);
    }
    let product = accumulator.to::<f16>();

    let offs_cm = pid_m * BM + arange(0, BM);
    let offs_cn = pid_n * BN + arange(0, BN);
    let c_ptrs = c + stride_cm * offs_cm.expand_dims(1) + stride_cn * offs_cn.expand_dims(0);
    let c_mask = (offs_cm.expand_dims(1) < m) & (offs_cn.expand_dims(0) < n);
    store(c_ptrs, product, c_mask);
}

/// Tutorial 03 by views; of its activation the same is true.
#[triton::kernel(warnings = false, configs = [
    (BM = 128, BN = 256, BK = 64, LEAKY = false, num_warps = 8, num_stages = 3),
    (BM = 64, BN = 256, BK = 32, LEAKY = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 128, BK = 32, LEAKY = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 64, BK = 32, LEAKY = false, num_warps = 4, num_stages = 4),
    (BM = 128, BN = 256, BK = 64, LEAKY = true, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn matmul_views<const BM: i32, const BN: i32, const BK: i32, const LEAKY: bool>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
    }
    if LEAKY {
        acc = leaky_relu(acc);
    }
    c.store([m, n], acc.to::<f16>());
}
