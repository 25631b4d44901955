//! Programs that multiply several tiles, as users write them: Triton's tutorials 08 (products of groups in one launch) and 09 (a persistent
//! product), by pointers and by views.

use triton::prelude::*;

/// Tutorial 08: the products of groups in one launch, by pointers. The sizes m, n and k of a group stand in memory, and so does where its
/// operands begin: the language makes no pointer of a number, so that these are offsets from one pointer and not addresses. As in the tutorial,
/// tiles are full, and sizes multiples of 16 bytes.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, num_warps = 4, num_stages = 3),
    (BM = 64, BN = 64, BK = 32, num_warps = 4, num_stages = 3),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn grouped_pointers<const BM: i32, const BN: i32, const BK: i32>(
    a: Ptr<f16>,
    b: Ptr<f16>,
    c: PtrMut<f16>,
    offsets: Ptr<i64>,
    sizes: Ptr<i32>,
    group_size: i32,
) {
    let mut tile_idx = program_id(0);
    let mut last_problem_end = 0;
    for g in 0..group_size {
        let gm = load(sizes + g * 3, true);
        let gn = load(sizes + g * 3 + 1, true);
        let gk = load(sizes + g * 3 + 2, true);
        let num_m_tiles = (gm + BM - 1) / BM;
        let num_n_tiles = (gn + BN - 1) / BN;
        let num_tiles = num_m_tiles * num_n_tiles;
        while tile_idx >= last_problem_end && tile_idx < last_problem_end + num_tiles {
            let a_group = a + load(offsets + g * 3, true);
            let b_group = b + load(offsets + g * 3 + 1, true);
            let c_group = c + load(offsets + g * 3 + 2, true);
            let tile_idx_in_gemm = tile_idx - last_problem_end;
            let tile_m_idx = tile_idx_in_gemm / num_n_tiles;
            let tile_n_idx = tile_idx_in_gemm % num_n_tiles;

            let offs_am = tile_m_idx * BM + arange(0, BM);
            let offs_bn = tile_n_idx * BN + arange(0, BN);
            let offs_k = arange(0, BK);
            let mut a_ptrs = a_group + offs_am.expand_dims(1) * gk + offs_k.expand_dims(0);
            let mut b_ptrs = b_group + offs_k.expand_dims(1) * gn + offs_bn.expand_dims(0);
            let mut accumulator = zeros::<f32>([BM, BN]);
            for _ in 0..(gk + BK - 1) / BK {
                a_ptrs = multiple_of(a_ptrs, [16, 16]);
                b_ptrs = multiple_of(b_ptrs, [16, 16]);
                let a = load(a_ptrs, true);
                let b = load(b_ptrs, true);
                accumulator = dot(a, b, accumulator);
                a_ptrs += BK;
                b_ptrs += BK * gn;
            }
            let c_ptrs = c_group + offs_am.expand_dims(1) * gn + offs_bn.expand_dims(0);
            store(c_ptrs, accumulator.to::<f16>(), true);
            tile_idx += num_programs(0);
        }
        last_problem_end += num_tiles;
    }
}

/// Tutorial 08 by views: the product of one group, which has a launch of its own.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, num_warps = 4, num_stages = 3),
    (BM = 64, BN = 64, BK = 32, num_warps = 4, num_stages = 3),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK])]
pub fn group_views<const BM: i32, const BN: i32, const BK: i32>(
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

/// The row and the column of a tile in the grouped order of tutorial 09.
#[triton::function]
fn compute_pid<const GROUP: i32>(tile_id: i32, num_pid_in_group: i32, num_pid_m: i32) -> (i32, i32) {
    let group_id = tile_id / num_pid_in_group;
    let first_pid_m = group_id * GROUP;
    let group_size_m = minimum(num_pid_m - first_pid_m, GROUP);
    let pid_m = first_pid_m + (tile_id % group_size_m);
    let pid_n = (tile_id % num_pid_in_group) / group_size_m;
    (pid_m, pid_n)
}

/// Tutorial 09: c = a · b of row-major `f16`, by pointers; each program multiplies one tile after the other. The tutorial replaces indices behind
/// the edge by 0 and tells its compiler that they are contiguous all the same; so tiles have to be full here.
#[triton::kernel(configs = [
    (BM = 128, BN = 256, BK = 64, GROUP = 8, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 128, BK = 64, GROUP = 8, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK, GROUP])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn persistent_pointers<const BM: i32, const BN: i32, const BK: i32, const GROUP: i32>(
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
    let start_pid = program_id(0);
    let num_pid_m = (m + BM - 1) / BM;
    let num_pid_n = (n + BN - 1) / BN;
    let k_tiles = (k + BK - 1) / BK;
    let num_tiles = num_pid_m * num_pid_n;
    let offs_k_for_mask = arange(0, BK);
    let num_pid_in_group = GROUP * num_pid_n;
    for tile_id in (start_pid..num_tiles).step_by(num_programs(0)) {
        let (pid_m, pid_n) = compute_pid::<GROUP>(tile_id, num_pid_in_group, num_pid_m);
        let offs_am = pid_m * BM + arange(0, BM);
        let offs_bn = pid_n * BN + arange(0, BN);
        let offs_am = select(offs_am < m, offs_am, 0);
        let offs_bn = select(offs_bn < n, offs_bn, 0);
        let offs_am = max_contiguous(multiple_of(offs_am, BM), BM);
        let offs_bn = max_contiguous(multiple_of(offs_bn, BN), BN);
        let mut accumulator = zeros::<f32>([BM, BN]);
        for ki in 0..k_tiles {
            let offs_k = ki * BK + arange(0, BK);
            let a_ptrs = a + (offs_am.expand_dims(1) * stride_am + offs_k.expand_dims(0) * stride_ak);
            let b_ptrs = b + (offs_k.expand_dims(1) * stride_bk + offs_bn.expand_dims(0) * stride_bn);
            let a = load(a_ptrs, offs_k_for_mask.expand_dims(0) < k - ki * BK);
            let b = load(b_ptrs, offs_k_for_mask.expand_dims(1) < k - ki * BK);
            accumulator = dot(a, b, accumulator);
        }
        let offs_cm = pid_m * BM + arange(0, BM);
        let offs_cn = pid_n * BN + arange(0, BN);
        let c_ptrs = c + stride_cm * offs_cm.expand_dims(1) + stride_cn * offs_cn.expand_dims(0);
        let c_mask = (offs_cm.expand_dims(1) < m) & (offs_cn.expand_dims(0) < n);
        store(c_ptrs, accumulator.to::<f16>(), c_mask);
    }
}

/// Tutorial 09 by views.
#[triton::kernel(configs = [
    (BM = 128, BN = 256, BK = 64, GROUP = 8, num_warps = 8, num_stages = 3),
    (BM = 128, BN = 128, BK = 64, GROUP = 8, num_warps = 8, num_stages = 3),
], tune = [BM, BN, BK, GROUP])]
pub fn persistent_views<const BM: i32, const BN: i32, const BK: i32, const GROUP: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let num_pid_m = (c.dim(0) + BM - 1) / BM;
    let num_pid_n = (c.dim(1) + BN - 1) / BN;
    for tile in (program_id(0)..num_pid_m * num_pid_n).step_by(num_programs(0)) {
        let (pid_m, pid_n) = compute_pid::<GROUP>(tile, GROUP * num_pid_n, num_pid_m);
        let (m, n) = (pid_m * BM, pid_n * BN);
        let mut acc = zeros::<f32>([BM, BN]);
        for k in (0..a.dim(1)).step_by(BK) {
            acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
        }
        c.store([m, n], acc.to::<f16>());
    }
}
