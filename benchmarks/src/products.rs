//! Our matrix products: kernels for each layout of the operands, and their launches. Which instance computes a case is the table's
//! choice ([`crate::selection`]).

use crate::Outcome;
use crate::case::Case;
use crate::groups;
use crate::kernels::{Operands, Value};
use crate::selection::{Kernel, Kind, Plan};
use triton::prelude::*;
use triton::{Choice, Pool};

/// out = x · y, sums in `f32`; products of `f32` are as exact as the type. With TX, x is stored \[K, M\]; with TY, y is stored
/// \[N, K\].
///
/// In two stages, two blocks of the large tiles of `f32` fit a multiprocessor of every target. The blocks of a cluster share tiles that are
/// longer along K than 128 elements of `bf16`.
#[triton::kernel(configs = [
    (T = f32, BM = 128, BN = 128, BK = 32, TX = false, TY = false, num_warps = 8, num_stages = 2),
    (T = f32, BM = 128, BN = 128, BK = 32, TX = false, TY = true, num_warps = 8, num_stages = 2),
    (T = f32, BM = 128, BN = 128, BK = 32, TX = true, TY = false, num_warps = 8, num_stages = 2),
    (T = f32, BM = 64, BN = 128, BK = 16, TX = false, TY = false),
    (T = f32, BM = 64, BN = 128, BK = 16, TX = false, TY = true),
    (T = f32, BM = 64, BN = 128, BK = 16, TX = true, TY = false),
    (T = f32, BM = 64, BN = 64, BK = 32, TX = false, TY = false),
    (T = f32, BM = 64, BN = 64, BK = 32, TX = false, TY = true),
    (T = bf16, BM = 128, BN = 256, BK = 64, TX = false, TY = false, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 256, BK = 64, TX = false, TY = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 128, BK = 32, TX = false, TY = true),
    (T = bf16, BM = 128, BN = 256, BK = 64, TX = true, TY = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 256, BK = 32, TX = true, TY = false, num_stages = 4),
    (T = bf16, BM = 128, BN = 256, BK = 64, TX = true, TY = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 128, BK = 64, TX = false, TY = false, num_stages = 8),
    (T = bf16, BM = 64, BN = 128, BK = 64, TX = false, TY = true, num_stages = 8),
    (T = bf16, BM = 64, BN = 128, BK = 64, TX = true, TY = false, num_stages = 8),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = false, TY = false, num_stages = 8),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = false, TY = true, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = true, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = true, TY = true, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 128, TX = false, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, TX = false, TY = false),
    (T = f16, BM = 128, BN = 256, BK = 64, TX = false, TY = false, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 256, BK = 64, TX = false, TY = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, TX = false, TY = true),
    (T = f16, BM = 64, BN = 64, BK = 32, TX = false, TY = false),
    (T = bf16, BM = 64, BN = 16, BK = 128, TX = false, TY = true, num_stages = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 16, BK = 256, TX = false, TY = false, num_stages = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 16, BK = 256, TX = false, TY = true, num_stages = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 16, BK = 256, TX = true, TY = false, num_stages = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 32, BK = 512, TX = false, TY = false, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 32, BK = 512, TX = true, TY = false, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 64, BK = 1024, TX = false, TY = true, num_stages = 6, targets = ["sm_90a"]),
], tune = [BM, BN, BK, TX, TY])]
pub fn matmul<T: Float, const BM: i32, const BN: i32, const BK: i32, const TX: bool, const TY: bool>(
    x: Tensor<T, 2>,
    y: Tensor<T, 2>,
    out: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TX { x.dim(0) } else { x.dim(1) };
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..depth).step_by(BK) {
        let a = if TX { x.load([k, m], [BK, BM]).transpose() } else { x.load([m, k], [BM, BK]) };
        let b = if TY { y.load([n, k], [BN, BK]).transpose() } else { y.load([k, n], [BK, BN]) };
        acc = dot(a, b, acc);
    }
    out.store([m, n], acc.to::<T>());
}

/// The same of few columns, computed as its transpose: outᵀ = yᵀ · xᵀ.
///
/// A warpgroup multiplies 64 rows or more, and columns in units of 8. So the few columns of out are rows, and the tile along M can be
/// small: there are enough tiles without slices along K, and their loads fill the memory of a multiprocessor: eight stages of 24 KiB, or six
/// of 32 KiB.
#[triton::kernel(configs = [
    (BM = 32, BN = 64, BK = 128, TX = false, TY = false, num_stages = 8),
    (BM = 32, BN = 64, BK = 128, TX = false, TY = true, num_stages = 8),
    (BM = 32, BN = 64, BK = 128, TX = true, TY = false, num_stages = 8),
    (BM = 64, BN = 64, BK = 128, TX = false, TY = false, num_stages = 6),
    (BM = 64, BN = 64, BK = 128, TX = false, TY = true, num_stages = 6),
    (BM = 64, BN = 64, BK = 128, TX = true, TY = false, num_stages = 6),
], tune = [BM, BN, BK, TX, TY])]
pub fn swapped<const BM: i32, const BN: i32, const BK: i32, const TX: bool, const TY: bool>(
    x: Tensor<bf16, 2>,
    y: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TX { x.dim(0) } else { x.dim(1) };
    let mut acc = zeros::<f32>([BN, BM]);
    for k in (0..depth).step_by(BK) {
        let a = if TY { y.load([n, k], [BN, BK]) } else { y.load([k, n], [BK, BN]).transpose() };
        let b = if TX { x.load([k, m], [BK, BM]) } else { x.load([m, k], [BM, BK]).transpose() };
        acc = dot(a, b, acc);
    }
    out.store([m, n], acc.to::<bf16>().transpose());
}

/// The same of `f32`, with operands rounded to TF32 for tensor cores.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, TY = false, num_warps = 8),
    (BM = 64, BN = 64, BK = 32, TY = false),
    (BM = 128, BN = 256, BK = 32, TY = true, num_warps = 8, num_stages = 4),
], tune = [BM, BN, BK, TY])]
pub fn matmul_tf32<const BM: i32, const BN: i32, const BK: i32, const TY: bool>(
    x: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        let a = x.load([m, k], [BM, BK]);
        let b = if TY { y.load([n, k], [BN, BK]).transpose() } else { y.load([k, n], [BK, BN]) };
        acc = dot(a.precision(Tf32), b, acc);
    }
    out.store([m, n], acc);
}

/// The same of `i8`, sums in `i32`; y is stored \[N, K\].
#[triton::kernel(configs = [(BM = 128, BN = 128, BK = 128, num_warps = 8, num_stages = 3)])]
pub fn matmul_i8<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<i8, 2>,
    y: Tensor<i8, 2>,
    out: TensorMut<i32, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<i32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [BM, BK]), y.load([n, k], [BN, BK]).transpose(), acc);
    }
    out.store([m, n], acc);
}

/// The same of `f64`, sums in `f64`.
#[triton::kernel(configs = [(BM = 64, BN = 128, BK = 16, num_warps = 8, num_stages = 4)])]
pub fn matmul_f64<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<f64, 2>,
    y: Tensor<f64, 2>,
    out: TensorMut<f64, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f64>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [BM, BK]), y.load([k, n], [BK, BN]), acc);
    }
    out.store([m, n], acc);
}

/// Split-K: the program at (i, j, s) writes the partial sums of tile (i, j) over `steps` times BK to the workspace `parts`, \[S, M, N\].
///
/// A slice begins at a multiple of BK whatever `steps` is, so that its loads stay aligned; `steps` itself has no say in which image of
/// code runs.
#[triton::kernel(configs = [
    (T = f32, BM = 64, BN = 16, BK = 32, TX = false, TY = false, num_warps = 2),
    (T = f32, BM = 64, BN = 16, BK = 32, TX = false, TY = true, num_warps = 2),
    (T = f32, BM = 64, BN = 16, BK = 32, TX = true, TY = false, num_warps = 2),
    (T = f32, BM = 64, BN = 32, BK = 32, TX = false, TY = false, num_warps = 2),
    (T = f32, BM = 64, BN = 32, BK = 32, TX = true, TY = false, num_warps = 2),
    (T = f32, BM = 64, BN = 64, BK = 32, TX = false, TY = false),
    (T = f32, BM = 64, BN = 64, BK = 32, TX = false, TY = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TX = true, TY = false),
    (T = f32, BM = 64, BN = 128, BK = 16, TX = false, TY = false),
    (T = f32, BM = 64, BN = 128, BK = 16, TX = true, TY = false),
    (T = f32, BM = 32, BN = 32, BK = 32, TX = false, TY = true, num_warps = 2),
    (T = f32, BM = 128, BN = 128, BK = 32, TX = false, TY = true, num_warps = 8, num_stages = 2),
    (T = bf16, BM = 64, BN = 16, BK = 64, TX = false, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 16, BK = 64, TX = false, TY = true, num_stages = 4),
    (T = bf16, BM = 64, BN = 16, BK = 64, TX = true, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 32, BK = 64, TX = false, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 32, BK = 64, TX = true, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = false, TY = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = false, TY = true, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TX = true, TY = false, num_stages = 4),
    (T = bf16, BM = 32, BN = 32, BK = 64, TX = false, TY = true, num_stages = 4, num_warps = 2),
    (T = bf16, BM = 64, BN = 64, BK = 1024, TX = false, TY = true, num_stages = 6, targets = ["sm_90a"]),
], tune = [BM, BN, BK, TX, TY])]
pub fn slices<T: Float, const BM: i32, const BN: i32, const BK: i32, const TX: bool, const TY: bool>(
    x: Tensor<T, 2>,
    y: Tensor<T, 2>,
    parts: TensorMut<f32, 3>,
    #[no_specialize] steps: i32,
) {
    let (m, n, s) = (program_id(0) * BM, program_id(1) * BN, program_id(2));
    let depth = if TX { x.dim(0) } else { x.dim(1) };
    let first = s * steps * BK;
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (first..minimum(first + steps * BK, depth)).step_by(BK) {
        let a = if TX { x.load([k, m], [BK, BM]).transpose() } else { x.load([m, k], [BM, BK]) };
        let b = if TY { y.load([n, k], [BN, BK]).transpose() } else { y.load([k, n], [BK, BN]) };
        acc = dot(a, b, acc);
    }
    parts.store([s, m, n], acc.expand_dims(0));
}

/// out = the sums of `parts`, \[S, M · N\], over its slices, always in the same order. A program has S slices of N elements in flight
/// at a time: one after the other would wait for memory as often as there are slices.
#[triton::kernel(T = [f32, bf16], deterministic = true, configs = [(S = 16, N = 128), (S = 64, N = 32)], tune = [S, N])]
pub fn add_slices<T: Float, const S: i32, const N: i32>(parts: Tensor<f32, 2>, out: TensorMut<T, 1>) {
    let i = program_id(0) * N;
    let mut acc = zeros::<f32>([S, N]);
    for s in (0..parts.dim(0)).step_by(S) {
        acc += parts.load([s, i], [S, N]);
    }
    out.store([i], sum_axis(acc, 0).to::<T>());
}

/// What the table chooses for a product.
///
/// # Errors
/// If it has no row for it.
pub fn plan(case: &Case) -> Outcome<Plan> {
    Plan::of(case).ok_or_else(|| format!("`{}`: no row of the table of instances is for it", case.name).into())
}

/// Whether a plan's instance was compiled.
pub fn has_instance(case: &Case, plan: &Plan) -> bool {
    fn has<C: Choice>(pool: &Pool<C>, is: impl Fn(&C) -> bool) -> bool {
        pool.members().iter().any(|member| is(member.choice()))
    }
    match (Kind::of(case), plan.kernel) {
        (Kind::F32, Kernel::Whole) => has(matmul_pool::<f32>(), whole(case, plan)),
        (Kind::Bf16, Kernel::Whole) => has(matmul_pool::<bf16>(), whole(case, plan)),
        (Kind::F16, Kernel::Whole) => has(matmul_pool::<f16>(), whole(case, plan)),
        (Kind::Tf32, Kernel::Whole) => has(matmul_tf32_pool(), whole_tf32(case, plan)),
        (Kind::F64, Kernel::Whole) => plan.is(case, [64, 128, 16], [false, false]),
        (Kind::I8, Kernel::Whole) => plan.is(case, [128, 128, 128], [false, true]),
        (Kind::F32, Kernel::Slices(_)) => has(slices_pool::<f32>(), sliced(case, plan)),
        (Kind::Bf16, Kernel::Slices(_)) => has(slices_pool::<bf16>(), sliced(case, plan)),
        (Kind::F32, Kernel::Groups { groups, .. }) => {
            has(groups::grouped_slices_pool::<f32>(), groups::is(case, plan, groups))
        }
        (Kind::Bf16, Kernel::Swapped) => has(swapped_pool(), swapped_is(case, plan)),
        (Kind::Tf32 | Kind::F16 | Kind::F64 | Kind::I8, Kernel::Slices(_)) => false,
        (Kind::Bf16 | Kind::Tf32 | Kind::F16 | Kind::F64 | Kind::I8, Kernel::Groups { .. }) => false,
        (Kind::F32 | Kind::Tf32 | Kind::F16 | Kind::F64 | Kind::I8, Kernel::Swapped) => false,
    }
}

fn whole<'a>(case: &'a Case, plan: &'a Plan) -> impl Fn(&MatmulChoice) -> bool + 'a {
    |of| plan.is(case, [of.BM, of.BN, of.BK], [of.TX, of.TY])
}

fn whole_tf32<'a>(case: &'a Case, plan: &'a Plan) -> impl Fn(&MatmulTf32Choice) -> bool + 'a {
    |of| plan.is(case, [of.BM, of.BN, of.BK], [false, of.TY])
}

fn sliced<'a>(case: &'a Case, plan: &'a Plan) -> impl Fn(&SlicesChoice) -> bool + 'a {
    |of| plan.is(case, [of.BM, of.BN, of.BK], [of.TX, of.TY])
}

fn swapped_is<'a>(case: &'a Case, plan: &'a Plan) -> impl Fn(&SwappedChoice) -> bool + 'a {
    |of| plan.is(case, [of.BM, of.BN, of.BK], [of.TX, of.TY])
}

type Matrix<'a, T> = View<'a, T, 2>;

/// Operands as they are stored.
fn stored<'a, T: Element>(case: &Case, x: &'a Buffer<T>, y: &'a Buffer<T>) -> triton::Result<[Matrix<'a, T>; 2]> {
    let [m, n, k] = case.shape;
    let x = x.view(if case.layouts.transposes_x() { [k, m] } else { [m, k] })?;
    let y = y.view(if case.layouts.transposes_y() { [n, k] } else { [k, n] })?;
    Ok([x, y])
}

/// The programs of a tile of any instance that computes a case, along M and N, and slices of a plan.
fn grid(case: &Case, plan: &Plan, m: i32, n: i32) -> (usize, usize, usize) {
    (case.shape[0].div_ceil(m as usize), case.shape[1].div_ceil(n as usize), plan.slices)
}

/// Enqueues a product by [`matmul`].
///
/// # Errors
/// Those of a launch, and a plan that there is no instance for.
pub fn undivided<T>(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, T>) -> Outcome
where
    T: Float + Value<Out = T>,
    triton::Compiled: MatmulPool<T>,
{
    let Operands { x, y, out, .. } = operands;
    let [x, y] = stored(case, x, y)?;
    let product = matmul_tuned::<T>(x, y, out.view_mut([case.shape[0], case.shape[1]])?);
    product.find(whole(case, plan)).launch(stream, |of| grid(case, plan, of.BM, of.BN))?;
    Ok(())
}

/// Enqueues the sums of slices that a kernel has written to the workspace.
fn add<T>(case: &Case, plan: &Plan, stream: &Stream, workspace: &Buffer<f32>, out: &mut Buffer<T>) -> Outcome
where
    T: Float,
    triton::Compiled: AddSlicesPool<T>,
{
    let (parts, out) = (workspace.view([plan.slices, case.n])?, out.view_mut([case.n])?);
    let at_a_time = if plan.slices <= 32 { 16 } else { 64 };
    add_slices_tuned::<T>(parts, out)
        .find(|of| of.S == at_a_time)
        .launch(stream, |of| case.n.div_ceil(of.N as usize))?;
    Ok(())
}

/// Enqueues a product by [`slices`] and [`add_slices`].
fn divided<T>(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, T>) -> Outcome
where
    T: Float + Value<Out = T>,
    triton::Compiled: SlicesPool<T> + AddSlicesPool<T>,
{
    let Operands { x, y, out, workspace } = operands;
    let [x, y] = stored(case, x, y)?;
    let parts = workspace.view_mut([plan.slices, case.shape[0], case.shape[1]])?;
    let product = slices_tuned::<T>(x, y, parts, i32::try_from(plan.steps)?);
    product.find(sliced(case, plan)).launch(stream, |of| grid(case, plan, of.BM, of.BN))?;
    add(case, plan, stream, workspace, out)
}

/// Enqueues a product of `f32`.
///
/// # Errors
/// Those of a launch, and a plan that there is no instance for.
pub fn f32s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
    let groups = match plan.kernel {
        Kernel::Whole => return undivided(case, plan, stream, operands),
        Kernel::Slices(_) => return divided(case, plan, stream, operands),
        Kernel::Groups { groups, .. } => groups,
        Kernel::Swapped => return Err(no_kernel(case, plan)),
    };
    let Operands { x, y, out, workspace } = operands;
    let [x, y] = stored(case, x, y)?;
    let parts = workspace.view_mut([plan.slices, case.shape[0], case.shape[1]])?;
    groups::grouped_slices_tuned::<f32>(x, y, parts, i32::try_from(plan.steps)?)
        .find(groups::is(case, plan, groups))
        .launch(stream, |of| grid(case, plan, of.BM, of.BN))?;
    add(case, plan, stream, workspace, out)
}

/// Enqueues a product of `bf16`.
///
/// # Errors
/// Those of a launch, and a plan that there is no instance for.
pub fn bf16s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
    match plan.kernel {
        Kernel::Whole => return undivided(case, plan, stream, operands),
        Kernel::Slices(_) => return divided(case, plan, stream, operands),
        Kernel::Swapped => {}
        Kernel::Groups { .. } => return Err(no_kernel(case, plan)),
    }
    let Operands { x, y, out, .. } = operands;
    let [x, y] = stored(case, x, y)?;
    let product = swapped_tuned(x, y, out.view_mut([case.shape[0], case.shape[1]])?);
    product.find(swapped_is(case, plan)).launch(stream, |of| grid(case, plan, of.BM, of.BN))?;
    Ok(())
}

/// Enqueues a product of `f32` by way of TF32, of an x that is not transposed.
///
/// # Errors
/// Those of a launch, and a case that there is no instance for.
pub fn rounded(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let [x, y] = stored(case, x, y)?;
    let product = matmul_tf32_tuned(x, y, out.view_mut([case.shape[0], case.shape[1]])?);
    product.find(whole_tf32(case, plan)).launch(stream, |of| grid(case, plan, of.BM, of.BN))?;
    Ok(())
}

/// Enqueues a product of `i8`, of row-major operands of which y is transposed.
///
/// # Errors
/// Those of a launch.
pub fn i8s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, i8>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let out = out.view_mut([case.shape[0], case.shape[1]])?;
    let [x, y] = stored(case, x, y)?;
    matmul_i8::<128, 128, 128>(x, y, out).launch(stream, plan.grid(case))?;
    Ok(())
}

/// Enqueues a product of `f64`, of row-major operands that are not transposed.
///
/// # Errors
/// Those of a launch.
pub fn f64s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f64>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let out = out.view_mut([case.shape[0], case.shape[1]])?;
    let [x, y] = stored(case, x, y)?;
    matmul_f64::<64, 128, 16>(x, y, out).launch(stream, plan.grid(case))?;
    Ok(())
}

fn no_kernel(case: &Case, plan: &Plan) -> Box<dyn std::error::Error> {
    format!("`{}`: no kernel implements {plan}", case.name).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Layouts, Op, cases};
    use crate::{data, reference, selection};
    use triton::sim::SimOptions;

    #[test]
    fn every_choice_has_an_instance() {
        for n in [64, 1024, 8192, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 27] {
            for case in cases(n, &[]).iter().filter(|case| case.op == Op::Matmul) {
                let plan = plan(case).expect("a row for every case");
                assert!(has_instance(case, &plan), "{}: {plan}", case.name);
                let grouped = selection::plans(case).filter(|plan| matches!(plan.kernel, Kernel::Groups { .. }));
                for plan in grouped {
                    assert!(has_instance(case, &plan), "{}: {plan}", case.name);
                }
            }
        }
    }

    /// The tile and the layouts of each member of a pool.
    fn instances<C: Choice>(pool: &Pool<C>, of: impl Fn(&C) -> ([i32; 3], [bool; 2])) -> Vec<([usize; 3], Layouts)> {
        let members = pool.members().iter().map(|member| of(member.choice()));
        members.map(|(tile, transposed)| (tile.map(|side| side as usize), Layouts::of(transposed))).collect()
    }

    const WHOLE_TILES: [usize; 3] = [64, 128, 320];

    /// Every instance of [`swapped`] on a shape of whole tiles and rows of whole vectors, which the image with tensor maps takes, and on
    /// one that cuts both.
    fn swapped_on(device: Device) {
        let stream = device.stream().expect("a stream");
        let found = cases(1 << 27, &["matmul bf16 2560x64x2560".to_string()]);
        for (tile, layouts) in instances(swapped_pool(), |of| ([of.BM, of.BN, of.BK], [of.TX, of.TY])) {
            for shape in [WHOLE_TILES, [71, 100, 203]] {
                let [m, n, k] = shape;
                let case = Case { shape, n: m * n, layouts, pitch: n, ..found[0].clone() };
                let plan =
                    Plan { kernel: Kernel::Swapped, tile, slices: 1, steps: k.div_ceil(tile[2]), reason: "a test" };
                let (x, y): (Vec<bf16>, Vec<bf16>) = (data::random(m * k, 1), data::random(k * n, 2));
                let (device_x, device_y) = (stream.upload(&x).expect("memory"), stream.upload(&y).expect("memory"));
                let (mut out, mut workspace) = (stream.zeros(m * n).expect("memory"), stream.zeros(0).expect("memory"));
                let operands = Operands { x: &device_x, y: &device_y, out: &mut out, workspace: &mut workspace };
                bf16s(&case, &plan, &stream, operands).expect("it runs");
                let error = reference::error(&case, &x, &y, &stream.download(&out).expect("a result"));
                assert!(error <= case.bound, "{plan}, {layouts:?}, {shape:?}: {error}");
                // A warp's share of a `wgmma` of 16 elements of K: the simulator counts them, and takes code for sm_90a where it may.
                if let Some(counted) = stream.statistics().filter(|_| shape == WHOLE_TILES) {
                    let shares = plan.programs(&case) * plan.steps * (tile[2] / 16) * (tile[1] / 64 * 4);
                    assert_eq!(counted.matrix, shares as u64, "{plan}, {layouts:?}: not by wgmma");
                }
            }
        }
    }

    /// Products whose K the blocks of a cluster share: right, and the same bit for bit whatever the order in which blocks run.
    #[test]
    fn shared_products_on_the_simulator() {
        let found = cases(1 << 27, &["matmul bf16 2560x64x2560".to_string()]);
        let all = instances(matmul_pool::<bf16>(), |of| ([of.BM, of.BN, of.BK], [of.TX, of.TY]));
        let shared = all.into_iter().filter(|([_, _, k], _)| *k >= 256);
        for (tile, layouts) in shared {
            for shape in [[64, 64, 2048], [71, 40, 1304]] {
                let [m, n, k] = shape;
                let case = Case { shape, n: m * n, layouts, pitch: n, ..found[0].clone() };
                let steps = k.div_ceil(tile[2]);
                let plan = Plan { kernel: Kernel::Whole, tile, slices: 1, steps, reason: "a test" };
                let (x, y): (Vec<bf16>, Vec<bf16>) = (data::random(m * k, 1), data::random(k * n, 2));
                let mut before: Option<Vec<bf16>> = None;
                for seed in 0..2 {
                    let stream = Device::sim_with(SimOptions::new().with_seed(seed)).stream().expect("a stream");
                    let (device_x, device_y) = (stream.upload(&x).expect("memory"), stream.upload(&y).expect("memory"));
                    let mut out = stream.zeros(m * n).expect("memory");
                    let mut workspace = stream.zeros(0).expect("memory");
                    let operands = Operands { x: &device_x, y: &device_y, out: &mut out, workspace: &mut workspace };
                    bf16s(&case, &plan, &stream, operands).expect("it runs");
                    let out = stream.download(&out).expect("a result");
                    let error = reference::error(&case, &x, &y, &out);
                    assert!(error <= case.bound, "{plan}, {layouts:?}, {shape:?}: {error}");
                    assert!(before.as_ref().is_none_or(|before| *before == out), "{plan}, {layouts:?}: another result");
                    before = Some(out);
                }
            }
        }
    }

    #[test]
    fn swapped_products_on_the_cpu() {
        swapped_on(Device::cpu());
    }

    #[test]
    fn swapped_products_on_the_simulator() {
        swapped_on(Device::sim());
    }
}
