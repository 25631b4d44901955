//! Our matrix products: kernels for each layout of the operands, the tile that a case is computed by, and its split along K.

use crate::Outcome;
use crate::case::{Case, DType, Layouts};
use crate::kernels::Operands;
use triton::prelude::*;

/// out = x · y, sums in `f32`; products of `f32` are as exact as the type. With TX, x is stored \[K, M\]; with TY, y is stored
/// \[N, K\].
///
/// In two stages, two blocks of the large tiles of `f32` fit a multiprocessor of every target.
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
    (T = bf16, BM = 256, BN = 128, BK = 64, TX = true, TY = false, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 256, BK = 64, TX = true, TY = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 128, BK = 64, TX = false, TY = false, num_warps = 8, num_stages = 3),
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

/// Multiprocessors of an H100 or H200.
const MULTIPROCESSORS: usize = 132;

/// Programs of a split product for each multiprocessor: enough to hide the latency of one by the others, and no more than are resident
/// together.
const fn programs(tile: [usize; 3]) -> usize {
    match tile {
        [128, 128, _] => 2,
        [64, 128, _] => 4,
        _ => 3,
    }
}

/// Fewest iterations of the loop over K in a slice: loads ahead pay off only after the first.
const STEPS: usize = 4;

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Rows and columns of a program's part of the result, and the K of an iteration of its loop.
    tile: [usize; 3],
    /// How many programs share an element of the result; from 2 on they write to the workspace.
    slices: usize,
    /// Iterations of the loop in a slice.
    steps: usize,
}

impl Plan {
    /// Of a product.
    pub fn of(case: &Case) -> Plan {
        let k = case.shape[2];
        if let Some(tile) = split_tile(case) {
            let (tiles, total) = (count(case, tile), k.div_ceil(tile[2]));
            let slices = (MULTIPROCESSORS * programs(tile)).div_ceil(tiles);
            let steps = total.div_ceil(slices).max(STEPS);
            // Two launches take as long as a short loop of tensor cores.
            let is_short = case.dtype == DType::Bf16 && k <= 1024;
            if tiles < MULTIPROCESSORS && total > steps && !is_short {
                return Plan { tile, slices: total.div_ceil(steps), steps };
            }
        }
        let is_large = count(case, [128, 128, 1]) > 128;
        let tile = match case.dtype {
            DType::F64 => [64, 128, 16],
            DType::I8 => [128, 128, 128],
            DType::F32 if case.tf32 => match case.layouts {
                Layouts::NT => [128, 256, 32],
                Layouts::NN | Layouts::TN | Layouts::TT if is_large => [128, 128, 32],
                Layouts::NN | Layouts::TN | Layouts::TT => [64, 64, 32],
            },
            // One iteration: nothing is loaded twice in it, so that the smaller sum costs nothing.
            DType::F32 if k <= 32 && case.layouts == Layouts::NT => [64, 64, 32],
            // Sums in a warp's registers that one multiprocessor holds once: most products of an operand that is loaded.
            DType::F16 => [128, 256, 64],
            // Two blocks a multiprocessor: one stores while the other one multiplies.
            DType::Bf16 if is_large && (33..=1024).contains(&k) && case.layouts == Layouts::NN => [128, 128, 64],
            // The other way round it spills on `sm_80` where pitches are odd.
            DType::Bf16 if is_large && k > 32 && case.layouts == Layouts::TN => [256, 128, 64],
            DType::Bf16 if is_large && k > 32 => [128, 256, 64],
            _ if is_large => [128, 128, 32],
            DType::F32 => [64, 128, 16],
            // A deeper tile would be padding for the most part.
            DType::Bf16 if k <= 32 && case.layouts == Layouts::NT => [64, 64, 32],
            // One tile for each multiprocessor, if they are nearly as many.
            DType::Bf16 if (96..=MULTIPROCESSORS).contains(&count(case, [64, 128, 1])) => [64, 128, 64],
            DType::Bf16
                if k.is_multiple_of(128)
                    && count(case, [64, 64, 1]) <= MULTIPROCESSORS
                    && case.layouts == Layouts::NN =>
            {
                [64, 64, 128]
            }
            DType::Bf16 => [64, 64, 64],
        };
        Plan { tile, slices: 1, steps: k.div_ceil(tile[2]) }
    }

    /// Elements of the workspace.
    pub fn workspace(self, case: &Case) -> usize {
        if self.slices > 1 { self.slices * case.n } else { 0 }
    }

    fn grid(self, case: &Case) -> (usize, usize, usize) {
        (case.shape[0].div_ceil(self.tile[0]), case.shape[1].div_ceil(self.tile[1]), self.slices)
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [m, n, k] = self.tile;
        write!(f, "{m}x{n}x{k}")?;
        if self.slices > 1 { write!(f, ", {} slices", self.slices) } else { Ok(()) }
    }
}

/// The tile of a product with too few tiles, if there is a kernel for slices of it.
fn split_tile(case: &Case) -> Option<[usize; 3]> {
    let exact = match case.dtype {
        DType::F32 if !case.tf32 => true,
        DType::Bf16 => false,
        DType::F32 | DType::F16 | DType::F64 | DType::I8 => return None,
    };
    let [rows, columns, _] = case.shape;
    let tile = match (case.layouts, columns) {
        (Layouts::NT, ..=32) if rows <= 32 => [32, 32, 32],
        (_, ..=16) => [64, 16, 32],
        (Layouts::NN | Layouts::TN, ..=32) => [64, 32, 32],
        (Layouts::NN | Layouts::TN, 65..=128) if exact => [64, 128, 16],
        (Layouts::NT, 65..=512) if exact => [128, 128, 32],
        _ => [64, 64, 32],
    };
    Some(if exact { tile } else { [tile[0], tile[1], 64] })
}

/// Tiles of the result.
fn count(case: &Case, [m, n, _]: [usize; 3]) -> usize {
    case.shape[0].div_ceil(m) * case.shape[1].div_ceil(n)
}

fn no_instance(case: &Case, plan: Plan) -> Box<dyn std::error::Error> {
    format!("`{}`: there is no instance of {plan}", case.name).into()
}

/// A function that enqueues a kernel's instance by tile and layouts, and the list of them.
macro_rules! instances {
    ($list:ident, $launch:ident, $kernel:ident<$t:ty>$args:tt, ($($parameters:tt)*),
     $([$m:literal, $n:literal, $k:literal, $layouts:ident]),*) => {
        #[cfg(test)]
        const $list: &[([usize; 3], Layouts)] = &[$(([$m, $n, $k], Layouts::$layouts)),*];

        fn $launch(case: &Case, stream: &Stream, $($parameters)*) -> Outcome {
            let plan = Plan::of(case);
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
    SPLIT_F32, split_f32, slices<f32>(x, y, parts, steps),
    (x: Matrix<'_, f32>, y: Matrix<'_, f32>, parts: ViewMut<'_, f32, 3>, steps: i32),
    [64, 16, 32, NN], [64, 16, 32, NT], [64, 16, 32, TN], [64, 32, 32, NN], [64, 32, 32, TN],
    [64, 64, 32, NN], [64, 64, 32, NT], [64, 64, 32, TN], [32, 32, 32, NT], [128, 128, 32, NT],
    [64, 128, 16, NN], [64, 128, 16, TN]
);

instances!(
    WHOLE_BF16, whole_bf16, matmul<bf16>(x, y, out), (x: Matrix<'_, bf16>, y: Matrix<'_, bf16>, out: ViewMut<'_, bf16, 2>),
    [64, 64, 128, NN], [64, 64, 64, NN], [64, 64, 64, NT], [64, 64, 64, TN], [64, 64, 64, TT], [64, 128, 64, NN],
    [64, 128, 64, NT], [64, 128, 64, TN], [128, 128, 64, NN], [128, 256, 64, NN], [128, 256, 64, NT], [256, 128, 64, TN],
    [128, 256, 64, TT], [128, 128, 32, NT], [64, 64, 32, NT]
);

instances!(
    WHOLE_F16, whole_f16, matmul<f16>(x, y, out), (x: Matrix<'_, f16>, y: Matrix<'_, f16>, out: ViewMut<'_, f16, 2>),
    [128, 256, 64, NN], [128, 256, 64, NT]
);

instances!(
    SPLIT_BF16, split_bf16, slices<bf16>(x, y, parts, steps),
    (x: Matrix<'_, bf16>, y: Matrix<'_, bf16>, parts: ViewMut<'_, f32, 3>, steps: i32),
    [64, 16, 64, NN], [64, 16, 64, NT], [64, 16, 64, TN], [64, 32, 64, NN], [64, 32, 64, TN],
    [64, 64, 64, NN], [64, 64, 64, NT], [64, 64, 64, TN], [32, 32, 64, NT]
);

/// Operands as they are stored.
fn stored<'a, T: Element>(case: &Case, x: &'a Buffer<T>, y: &'a Buffer<T>) -> triton::Result<[Matrix<'a, T>; 2]> {
    let [m, n, k] = case.shape;
    let x = x.view(if case.layouts.transposes_x() { [k, m] } else { [m, k] })?;
    let y = y.view(if case.layouts.transposes_y() { [n, k] } else { [k, n] })?;
    Ok([x, y])
}

macro_rules! splittable {
    ($(#[$doc:meta])* $name:ident, $t:ty, $whole:ident, $split:ident) => {
        $(#[$doc])*
        pub fn $name(case: &Case, stream: &Stream, operands: Operands<'_, $t>) -> Outcome {
            let Operands { x, y, out, workspace } = operands;
            let ([rows, columns, _], plan) = (case.shape, Plan::of(case));
            let [x, y] = stored(case, x, y)?;
            if plan.slices == 1 {
                return $whole(case, stream, x, y, out.view_mut([rows, columns])?);
            }
            let parts = workspace.view_mut([plan.slices, rows, columns])?;
            $split(case, stream, x, y, parts, i32::try_from(plan.steps)?)?;
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

splittable!(
    /// Enqueues a product of `f32`.
    ///
    /// # Errors
    /// Those of a launch.
    f32s, f32, whole_f32, split_f32
);

splittable!(
    /// Enqueues a product of `bf16`.
    ///
    /// # Errors
    /// Those of a launch.
    bf16s, bf16, whole_bf16, split_bf16
);

/// Enqueues a product of `f16`.
///
/// # Errors
/// Those of a launch, and a case that there is no instance for.
pub fn f16s(case: &Case, stream: &Stream, operands: Operands<'_, f16>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let [x, y] = stored(case, x, y)?;
    whole_f16(case, stream, x, y, out.view_mut([case.shape[0], case.shape[1]])?)
}

/// Enqueues a product of `f32` by way of TF32, of an x that is not transposed.
///
/// # Errors
/// Those of a launch, and a case that there is no instance for.
pub fn rounded(case: &Case, stream: &Stream, operands: Operands<'_, f32>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let (plan, out) = (Plan::of(case), out.view_mut([case.shape[0], case.shape[1]])?);
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
pub fn i8s(case: &Case, stream: &Stream, operands: Operands<'_, i8>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let (plan, out) = (Plan::of(case), out.view_mut([case.shape[0], case.shape[1]])?);
    let [x, y] = stored(case, x, y)?;
    matmul_i8::<128, 128, 128>(x, y, out).launch(stream, plan.grid(case))?;
    Ok(())
}

/// Enqueues a product of `f64`, of row-major operands that are not transposed.
///
/// # Errors
/// Those of a launch.
pub fn f64s(case: &Case, stream: &Stream, operands: Operands<'_, f64>) -> Outcome {
    let Operands { x, y, out, .. } = operands;
    let (plan, out) = (Plan::of(case), out.view_mut([case.shape[0], case.shape[1]])?);
    let [x, y] = stored(case, x, y)?;
    matmul_f64::<64, 128, 16>(x, y, out).launch(stream, plan.grid(case))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Op, cases};

    #[test]
    fn plans() {
        let cases = cases(1 << 27, &["matmul".to_string()]);
        let notes: Vec<(&str, String)> =
            cases.iter().map(|case| (case.name.as_str(), Plan::of(case).to_string())).collect();
        let of = |name: &str| notes.iter().find(|(of, _)| *of == name).map(|(_, note)| note.as_str());
        let expected = [
            ("matmul bf16 1000^3", "64x128x64"),
            ("matmul bf16 512^3", "64x64x128"),
            ("matmul bf16 2048^3", "128x256x64"),
            ("matmul f32 1024^3", "64x128x16"),
            ("matmul f32 NT 1024^3", "64x128x16"),
            ("matmul f32 TN 4096^3", "128x128x32"),
            ("matmul bf16 TN 4096^3", "256x128x64"),
            ("matmul f64 2048^3", "64x128x16"),
            ("matmul i8 NT 4096^3", "128x128x128"),
            ("matmul tf32 2048^3", "128x128x32"),
            ("matmul tf32 4096^3", "128x128x32"),
            ("matmul tf32 NT 2048^3", "128x256x32"),
            ("matmul tf32 NT 4096^3", "128x256x32"),
            ("matmul f32 2560x16x2560", "64x16x32, 10 slices"),
            ("matmul f32 2560x32x2560", "64x32x32, 10 slices"),
            ("matmul f32 TN 2560x64x2560", "64x64x32, 10 slices"),
            ("matmul f32 TN 2560x128x2560", "64x128x16, 14 slices"),
            ("matmul f32 NT 32x32x60000", "32x32x32, 375 slices"),
            ("matmul f32 NT 256x256x60000", "128x128x32, 65 slices"),
            ("matmul f32 NT 4096x4096x32", "64x64x32"),
            ("matmul f32 NT 64x64x4096", "64x64x32, 32 slices"),
            ("matmul f32 NT 64x64x131072", "64x64x32, 373 slices"),
            ("matmul f32 NT 7168x16x7168", "64x16x32, 4 slices"),
            ("matmul bf16 2560x32x2560", "64x32x64, 10 slices"),
            ("matmul bf16 NT 64x64x60000", "64x64x64, 235 slices"),
            ("matmul bf16 NT 4096x4096x32", "128x128x32"),
            ("matmul bf16 NT 896x896x32", "64x64x32"),
            ("matmul bf16 NT 1536x16x1536", "64x16x64, 6 slices"),
        ];
        for (name, note) in expected {
            assert_eq!(of(name), Some(note), "{name}");
        }
    }

    #[test]
    fn every_plan_has_an_instance() {
        use Layouts::{NN, NT};
        for n in [64, 1024, 8192, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 27] {
            for case in cases(n, &[]).iter().filter(|case| case.op == Op::Matmul) {
                let plan = Plan::of(case);
                let list = match (case.dtype, plan.slices) {
                    (DType::F32, 1) if !case.tf32 => WHOLE_F32,
                    (DType::F32, 2..) if !case.tf32 => SPLIT_F32,
                    (DType::Bf16, 1) => WHOLE_BF16,
                    (DType::Bf16, 2..) => SPLIT_BF16,
                    (DType::F16, 1) => WHOLE_F16,
                    (DType::F32, 1) => &[([128, 128, 32], NN), ([64, 64, 32], NN), ([128, 256, 32], NT)],
                    (DType::F64, 1) => &[([64, 128, 16], NN)],
                    (DType::I8, 1) => &[([128, 128, 128], NT)],
                    _ => continue,
                };
                assert!(list.contains(&(plan.tile, case.layouts)), "{}: {plan}", case.name);
                let total = case.shape[2].div_ceil(plan.tile[2]);
                let covered = plan.slices * plan.steps;
                assert!((total..total + plan.steps).contains(&covered), "{}: {plan:?} of {total} steps", case.name);
            }
        }
    }
}
