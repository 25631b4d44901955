//! Our matrix products: kernels for each layout of the operands, and their launches. Which instance computes a case is the table's
//! choice ([`crate::selection`]).

use crate::Outcome;
use crate::case::{Case, Layouts};
use crate::groups;
use crate::kernels::Operands;
use crate::selection::{Kernel, Kind, Plan, no_instance};
use triton::prelude::*;

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
])]
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
])]
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
])]
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
])]
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
#[triton::kernel(T = [f32, bf16], deterministic = true, configs = [(S = 16, N = 128), (S = 64, N = 32)])]
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
    let list = match (Kind::of(case), plan.kernel) {
        (Kind::Bf16, Kernel::Swapped) => SWAPPED,
        (Kind::F32, Kernel::Whole) => WHOLE_F32,
        (Kind::F32, Kernel::Slices(_)) => SPLIT_F32,
        (Kind::F32, Kernel::Groups { groups, .. }) => {
            return groups::INSTANCES.contains(&(plan.tile, groups, case.layouts));
        }
        (Kind::Bf16, Kernel::Whole) => WHOLE_BF16,
        (Kind::Bf16, Kernel::Slices(_)) => SPLIT_BF16,
        (Kind::F16, Kernel::Whole) => WHOLE_F16,
        (Kind::Tf32, Kernel::Whole) => {
            &[([128, 128, 32], Layouts::NN), ([64, 64, 32], Layouts::NN), ([128, 256, 32], Layouts::NT)]
        }
        (Kind::F64, Kernel::Whole) => &[([64, 128, 16], Layouts::NN)],
        (Kind::I8, Kernel::Whole) => &[([128, 128, 128], Layouts::NT)],
        (Kind::Tf32 | Kind::F16 | Kind::F64 | Kind::I8, Kernel::Slices(_)) => &[],
        (Kind::Bf16 | Kind::Tf32 | Kind::F16 | Kind::F64 | Kind::I8, Kernel::Groups { .. }) => &[],
        (Kind::F32 | Kind::Tf32 | Kind::F16 | Kind::F64 | Kind::I8, Kernel::Swapped) => &[],
    };
    list.contains(&(plan.tile, case.layouts))
}

/// A function that enqueues a kernel's instance by tile and layouts, and the list of them.
macro_rules! instances {
    ($list:ident, $launch:ident, $kernel:ident<$t:ty>$args:tt, ($($parameters:tt)*),
     $([$m:literal, $n:literal, $k:literal, $layouts:ident]),*) => {
        const $list: &[([usize; 3], Layouts)] = &[$(([$m, $n, $k], Layouts::$layouts)),*];

        fn $launch(case: &Case, plan: &Plan, stream: &Stream, $($parameters)*) -> Outcome {
            let grid = plan.grid(case);
            match (plan.tile, case.layouts) {
                $(([$m, $n, $k], Layouts::$layouts) => {
                    const TX: bool = Layouts::$layouts.transposes_x();
                    const TY: bool = Layouts::$layouts.transposes_y();
                    $kernel::<$t, $m, $n, $k, TX, TY>$args.launch(stream, grid)?;
                })*
                _ => return Err(no_instance(case, plan)),
            }
            Ok(())
        }
    };
}

type Matrix<'a, T> = View<'a, T, 2>;

instances!(
    WHOLE_F32, whole_f32, matmul<f32>(x, y, out), (x: Matrix<'_, f32>, y: Matrix<'_, f32>, out: ViewMut<'_, f32, 2>),
    [64, 128, 16, NN], [64, 128, 16, NT], [64, 128, 16, TN], [128, 128, 32, NN], [128, 128, 32, NT], [128, 128, 32, TN],
    [64, 64, 32, NN], [64, 64, 32, NT]
);

instances!(
    SPLIT_F32, sliced_f32, slices<f32>(x, y, parts, steps),
    (x: Matrix<'_, f32>, y: Matrix<'_, f32>, parts: ViewMut<'_, f32, 3>, steps: i32),
    [64, 16, 32, NN], [64, 16, 32, NT], [64, 16, 32, TN], [64, 32, 32, NN], [64, 32, 32, TN],
    [64, 64, 32, NN], [64, 64, 32, NT], [64, 64, 32, TN], [32, 32, 32, NT], [128, 128, 32, NT],
    [64, 128, 16, NN], [64, 128, 16, TN]
);

instances!(
    WHOLE_BF16, whole_bf16, matmul<bf16>(x, y, out), (x: Matrix<'_, bf16>, y: Matrix<'_, bf16>, out: ViewMut<'_, bf16, 2>),
    [64, 64, 128, NN], [64, 64, 64, NN], [64, 64, 64, NT], [64, 64, 64, TN], [64, 64, 64, TT], [64, 128, 64, NN],
    [64, 128, 64, NT], [64, 128, 64, TN], [128, 256, 64, NN], [128, 256, 64, NT], [128, 256, 64, TN],
    [128, 256, 64, TT], [128, 128, 32, NT], [64, 64, 32, NT], [64, 256, 32, TN],
    [64, 16, 128, NT], [64, 16, 256, NN], [64, 16, 256, NT], [64, 16, 256, TN], [64, 32, 512, NN], [64, 32, 512, TN],
    [64, 64, 1024, NT]
);

instances!(
    WHOLE_F16, whole_f16, matmul<f16>(x, y, out), (x: Matrix<'_, f16>, y: Matrix<'_, f16>, out: ViewMut<'_, f16, 2>),
    [128, 256, 64, NN], [128, 256, 64, NT]
);

instances!(
    SPLIT_BF16, split_bf16, slices<bf16>(x, y, parts, steps),
    (x: Matrix<'_, bf16>, y: Matrix<'_, bf16>, parts: ViewMut<'_, f32, 3>, steps: i32),
    [64, 16, 64, NN], [64, 16, 64, NT], [64, 16, 64, TN], [64, 32, 64, NN], [64, 32, 64, TN],
    [64, 64, 64, NN], [64, 64, 64, NT], [64, 64, 64, TN], [32, 32, 64, NT],
    [64, 64, 1024, NT]
);

/// A function that enqueues an instance of [`swapped`] by tile and layouts, and the list of them.
macro_rules! swapped_instances {
    ($([$m:literal, $n:literal, $k:literal, $layouts:ident]),*) => {
        const SWAPPED: &[([usize; 3], Layouts)] = &[$(([$m, $n, $k], Layouts::$layouts)),*];

        fn swapped_bf16(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
            let Operands { x, y, out, .. } = operands;
            let [x, y] = stored(case, x, y)?;
            let (out, grid) = (out.view_mut([case.shape[0], case.shape[1]])?, plan.grid(case));
            match (plan.tile, case.layouts) {
                $(([$m, $n, $k], Layouts::$layouts) => {
                    const TX: bool = Layouts::$layouts.transposes_x();
                    const TY: bool = Layouts::$layouts.transposes_y();
                    swapped::<$m, $n, $k, TX, TY>(x, y, out).launch(stream, grid)?;
                })*
                _ => return Err(no_instance(case, plan)),
            }
            Ok(())
        }
    };
}

swapped_instances!(
    [32, 64, 128, NN],
    [32, 64, 128, NT],
    [32, 64, 128, TN],
    [64, 64, 128, NN],
    [64, 64, 128, NT],
    [64, 64, 128, TN]
);

/// A split product of `f32`, by groups of warps or without.
fn split_f32(
    case: &Case,
    plan: &Plan,
    stream: &Stream,
    x: Matrix<'_, f32>,
    y: Matrix<'_, f32>,
    parts: ViewMut<'_, f32, 3>,
    steps: i32,
) -> Outcome {
    match plan.kernel {
        Kernel::Groups { groups, .. } => groups::split_f32(case, plan, groups, stream, [x, y], parts),
        Kernel::Slices(_) | Kernel::Whole | Kernel::Swapped => sliced_f32(case, plan, stream, x, y, parts, steps),
    }
}

/// Operands as they are stored.
fn stored<'a, T: Element>(case: &Case, x: &'a Buffer<T>, y: &'a Buffer<T>) -> triton::Result<[Matrix<'a, T>; 2]> {
    let [m, n, k] = case.shape;
    let x = x.view(if case.layouts.transposes_x() { [k, m] } else { [m, k] })?;
    let y = y.view(if case.layouts.transposes_y() { [n, k] } else { [k, n] })?;
    Ok([x, y])
}

macro_rules! splittable {
    ($name:ident, $t:ty, $whole:ident, $split:ident) => {
        /// Enqueues a product by [`matmul`], or by a kernel of partial sums and [`add_slices`].
        fn $name(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, $t>) -> Outcome {
            let Operands { x, y, out, workspace } = operands;
            let [rows, columns, _] = case.shape;
            let [x, y] = stored(case, x, y)?;
            if plan.kernel == Kernel::Whole {
                return $whole(case, plan, stream, x, y, out.view_mut([rows, columns])?);
            }
            let parts = workspace.view_mut([plan.slices, rows, columns])?;
            $split(case, plan, stream, x, y, parts, i32::try_from(plan.steps)?)?;
            let (parts, out) = (workspace.view([plan.slices, case.n])?, out.view_mut([case.n])?);
            if plan.slices <= 32 {
                add_slices::<$t, 16, 128>(parts, out).launch(stream, case.n.div_ceil(128))?;
            } else {
                add_slices::<$t, 64, 32>(parts, out).launch(stream, case.n.div_ceil(32))?;
            }
            Ok(())
        }
    };
}

splittable!(divided_f32, f32, whole_f32, split_f32);
splittable!(divided_bf16, bf16, whole_bf16, split_bf16);

/// Enqueues a product of `f32`.
///
/// # Errors
/// Those of a launch, and a plan that there is no instance for.
pub fn f32s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
    match plan.kernel {
        Kernel::Whole | Kernel::Slices(_) | Kernel::Groups { .. } => divided_f32(case, plan, stream, operands),
        Kernel::Swapped => Err(no_instance(case, plan)),
    }
}

/// Enqueues a product of `bf16`.
///
/// # Errors
/// Those of a launch, and a plan that there is no instance for.
pub fn bf16s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, bf16>) -> Outcome {
    match plan.kernel {
        Kernel::Whole | Kernel::Slices(_) => divided_bf16(case, plan, stream, operands),
        Kernel::Swapped => swapped_bf16(case, plan, stream, operands),
        Kernel::Groups { .. } => Err(no_instance(case, plan)),
    }
}

/// Enqueues a product of `f16`.
///
/// # Errors
/// Those of a launch, and a case that there is no instance for.
pub fn f16s(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f16>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let [x, y] = stored(case, x, y)?;
    whole_f16(case, plan, stream, x, y, out.view_mut([case.shape[0], case.shape[1]])?)
}

/// Enqueues a product of `f32` by way of TF32, of an x that is not transposed.
///
/// # Errors
/// Those of a launch, and a case that there is no instance for.
pub fn rounded(case: &Case, plan: &Plan, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let out = out.view_mut([case.shape[0], case.shape[1]])?;
    let [x, y] = stored(case, x, y)?;
    let grid = plan.grid(case);
    match (plan.tile, case.layouts) {
        ([128, 128, 32], Layouts::NN) => matmul_tf32::<128, 128, 32, false>(x, y, out).launch(stream, grid)?,
        ([64, 64, 32], Layouts::NN) => matmul_tf32::<64, 64, 32, false>(x, y, out).launch(stream, grid)?,
        ([128, 256, 32], Layouts::NT) => matmul_tf32::<128, 256, 32, true>(x, y, out).launch(stream, grid)?,
        _ => return Err(no_instance(case, plan)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Op, cases};
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

    const WHOLE_TILES: [usize; 3] = [64, 128, 320];

    /// Every instance of [`swapped`] on a shape of whole tiles and rows of whole vectors, which the image with tensor maps takes, and on
    /// one that cuts both.
    fn swapped_on(device: Device) {
        let stream = device.stream().expect("a stream");
        let found = cases(1 << 27, &["matmul bf16 2560x64x2560".to_string()]);
        for (tile, layouts) in SWAPPED {
            for shape in [WHOLE_TILES, [71, 100, 203]] {
                let [m, n, k] = shape;
                let case = Case { shape, n: m * n, layouts: *layouts, pitch: n, ..found[0].clone() };
                let plan = Plan {
                    kernel: Kernel::Swapped,
                    tile: *tile,
                    slices: 1,
                    steps: k.div_ceil(tile[2]),
                    reason: "a test",
                };
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
        let shared = WHOLE_BF16.iter().filter(|([_, _, k], _)| *k >= 256);
        for (tile, layouts) in shared {
            for shape in [[64, 64, 2048], [71, 40, 1304]] {
                let [m, n, k] = shape;
                let case = Case { shape, n: m * n, layouts: *layouts, pitch: n, ..found[0].clone() };
                let steps = k.div_ceil(tile[2]);
                let plan = Plan { kernel: Kernel::Whole, tile: *tile, slices: 1, steps, reason: "a test" };
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
