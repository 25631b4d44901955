//! Matrix products of every element type that has them, with operands in either major order, of one tile, of a batch, and of a loop over
//! tiles of views, whole or divided along K into a batch.
//!
//! Operands are integers times a power of two, so that the exact product is one of integers of 128 bits.

use crate::case::{Case, Launch, Region, Run, Trial, launch};
use crate::float::{Format, power};
use crate::inputs;
use crate::value::{Expected, from_f64, wrap};
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// The element types of a product.
#[derive(Clone, Copy)]
struct Types {
    name: &'static str,
    operand: DType,
    sum: DType,
    /// Whether operands are shortened by `precision(Tf32)`.
    short: bool,
}

/// Matrices of a batch, rows and columns of each result, and the number of products of an element.
type Size = [usize; 4];

/// Integers of a matrix, times 2^−scale.
#[derive(Clone)]
struct Matrix {
    numbers: Vec<i128>,
    scale: i32,
}

impl Matrix {
    fn new(count: usize, bits: u32, scale: i32, random: &mut Random) -> Matrix {
        let bound = (1i64 << bits) - 1;
        Matrix { numbers: (0..count).map(|_| random.within(bound).into()).collect(), scale }
    }

    /// The elements; every number is one of the type.
    fn elements(&self, dtype: DType) -> Vec<u64> {
        let element = |&n: &i128| {
            if dtype.is_float() { from_f64(dtype, n as f64 * power(-self.scale)) } else { wrap(dtype, n) }
        };
        self.numbers.iter().map(element).collect()
    }

    /// Numbers of `precision(Tf32)`: 10 mantissa bits, rounded to nearest, ties to even.
    fn shortened(&self) -> Matrix {
        let shorten = |&n: &i128| {
            let dropped = (n.unsigned_abs().checked_ilog2().unwrap_or(0)).saturating_sub(10);
            let half = (1i128 << dropped) >> 1;
            let (magnitude, below) = (n.abs(), (half - 1).max(0));
            let odd = if dropped > 0 { magnitude >> dropped & 1 } else { 0 };
            n.signum() * (((magnitude + below + odd) >> dropped) << dropped)
        };
        Matrix { numbers: self.numbers.iter().map(shorten).collect(), scale: self.scale }
    }
}

/// What is multiplied.
#[derive(Clone, Copy, PartialEq)]
enum Inputs {
    /// Whole numbers whose products and sums are exact.
    Exact,
    /// Numbers with as many bits as the type has.
    Random,
}

/// A trial with matrices in row-major order, the operands turned around if so asked for.
fn trial(
    types: Types,
    [batch, m, n, k]: Size,
    inputs: Inputs,
    turned: bool,
    seed: u64,
    grid: [usize; 3],
    launch: Launch,
) -> Trial {
    let mut random = Random::new(seed);
    let Types { operand, sum, .. } = types;
    let (bits, scale) = match (inputs, operand) {
        (_, DType::I8) => (7, 0),
        (Inputs::Exact, _) => (3, 0),
        (Inputs::Random, DType::F16) => (11, 10),
        (Inputs::Random, DType::BF16) => (8, 7),
        (Inputs::Random, DType::F32) => (24, 23),
        (Inputs::Random, _) => (40, 39),
    };
    let mut matrix = |elements: usize| Matrix::new(batch * elements, bits, scale, &mut random);
    let (a, b) = (matrix(m * k), matrix(k * n));
    let acc = Matrix::new(batch * m * n, if operand == DType::I8 { 31 } else { 12 }, scale.min(5), &mut random);
    let (x, y) = if types.short { (a.shortened(), b.shortened()) } else { (a.clone(), b.clone()) };
    let expected = |at: usize| {
        // Rows are numbered on from matrix to matrix.
        let (i, j, matrix) = (at / n, at % n, at / (m * n));
        let products = || (0..k).map(|s| x.numbers[i * k + s] * y.numbers[(matrix * k + s) * n + j]);
        let start = acc.numbers[at] << (2 * scale - acc.scale);
        let exact: i128 = start + products().sum::<i128>();
        let Some(format) = Format::of(sum) else { return Expected::Bits(wrap(sum, exact)) };
        let value = exact as f64 * power(-2 * scale);
        if inputs == Inputs::Exact {
            return Expected::Bits(from_f64(sum, value));
        }
        // Each of k additions, and the first number, are off by less than a unit in the last place of the sum of all magnitudes:
        // tensor cores truncate where others round.
        let size = (start.abs() + products().map(i128::abs).sum::<i128>()) as f64 * power(-2 * scale);
        Expected::Near { exact: value, error: (k + 2) as f64 * power(-(format.fraction as i32)) * size }
    };
    let after = (0..batch * m * n).map(expected).collect();
    let turn = |x: Vec<u64>, rows: usize, columns: usize| -> Vec<u64> {
        if turned { (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect() } else { x }
    };
    let regions = vec![
        Region::input(operand, turn(a.elements(operand), m, k)),
        Region::input(operand, turn(b.elements(operand), k, n)),
        Region::input(sum, acc.elements(sum)),
        Region::output(sum, after),
    ];
    Trial { regions, numbers: [m, n, k].map(|n| n as u64).to_vec(), grid, launch }
}

fn cases_of(
    into: &mut Vec<Case>,
    types: Types,
    what: String,
    size: Size,
    turned: bool,
    grid: [usize; 3],
    launch: Launch,
) {
    for inputs in [Inputs::Exact, Inputs::Random] {
        if types.operand == DType::I8 && inputs == Inputs::Exact {
            // Integers are exact in any case.
            continue;
        }
        let kind = if inputs == Inputs::Exact { "exact" } else { "random" };
        let name = format!("dot {} {what}{}, {kind}", types.name, if turned { ", operands turned" } else { "" });
        let seed = inputs::seed(&name);
        into.push(Case::new(name, &["dot"], move || trial(types, size, inputs, turned, seed, grid, launch)));
    }
}

/// Kernels and cases for one choice of types.
macro_rules! products {
    ($($module:ident $name:literal $operand:ident -> $sum:ident $(, $precision:ident)?;)*) => {
        $(
            mod $module {
                //! One choice of types.
                use super::*;
                use triton::prelude::*;

                products!(@kernels $operand $sum [$(.precision($precision))?]);

                /// The cases of every shape.
                pub fn cases(into: &mut Vec<Case>) {
                    let types = Types {
                        name: $name,
                        operand: <$operand>::DTYPE,
                        sum: <$sum>::DTYPE,
                        short: products!(@short $($precision)?),
                    };
                    products!(@tiles into, types, (1, 1, 1, 1) (2, 4, 8, 1) (16, 8, 32, 1) (16, 16, 16, 2) (64, 32, 32, 4) (32, 128, 16, 8) (128, 16, 64, 4)
                        (48, 40, 48, 1) (64, 72, 32, 4) (192, 16, 16, 4));
                    products!(@batches into, types, (8, 4, 8, 4, 2) (4, 16, 16, 32, 4) (2, 32, 16, 16, 4) (4, 16, 8, 32, 1) (3, 48, 8, 16, 2));
                    products!(@loops into, types, $operand, $sum, (16, 8, 32, 1) (32, 64, 16, 4) (48, 24, 48, 2));
                    products!(@groups into, types, $operand, $sum, (32, 16, 64, 2, 4) (32, 32, 64, 4, 4) (48, 24, 64, 2, 4));
                }
            }
        )*

        /// Every product.
        pub fn cases() -> Vec<Case> {
            let mut cases = Vec::new();
            $($module::cases(&mut cases);)*
            cases
        }
    };
    (@kernels $operand:ident $sum:ident [$($precision:tt)*]) => {
        #[triton::kernel(configs = [
            (M = 1, N = 1, K = 1, num_warps = 1), (M = 2, N = 4, K = 8, num_warps = 1), (M = 16, N = 8, K = 32, num_warps = 1),
            (M = 16, N = 16, K = 16, num_warps = 2), (M = 64, N = 32, K = 32, num_warps = 4),
            (M = 32, N = 128, K = 16, num_warps = 8), (M = 128, N = 16, K = 64, num_warps = 4),
            (M = 48, N = 40, K = 48, num_warps = 1), (M = 64, N = 72, K = 32, num_warps = 4),
            (M = 192, N = 16, K = 16, num_warps = 4),
        ])]
        fn tile<const M: i32, const N: i32, const K: i32>(
            a: Ptr<$operand>,
            b: Ptr<$operand>,
            acc: Ptr<$sum>,
            out: PtrMut<$sum>,
        ) {
            let x = load(a + (arange(0, M).expand_dims(1) * K + arange(0, K)), true);
            let y = load(b + (arange(0, K).expand_dims(1) * N + arange(0, N)), true);
            let at = arange(0, M).expand_dims(1) * N + arange(0, N);
            store(out + at, dot(x$($precision)*, y, load(acc + at, true)), true);
        }

        #[triton::kernel(configs = [
            (M = 1, N = 1, K = 1, num_warps = 1), (M = 2, N = 4, K = 8, num_warps = 1), (M = 16, N = 8, K = 32, num_warps = 1),
            (M = 16, N = 16, K = 16, num_warps = 2), (M = 64, N = 32, K = 32, num_warps = 4),
            (M = 32, N = 128, K = 16, num_warps = 8), (M = 128, N = 16, K = 64, num_warps = 4),
            (M = 48, N = 40, K = 48, num_warps = 1), (M = 64, N = 72, K = 32, num_warps = 4),
            (M = 192, N = 16, K = 16, num_warps = 4),
        ])]
        fn turned<const M: i32, const N: i32, const K: i32>(
            a: Ptr<$operand>,
            b: Ptr<$operand>,
            acc: Ptr<$sum>,
            out: PtrMut<$sum>,
        ) {
            let x = load(a + (arange(0, K).expand_dims(1) * M + arange(0, M)), true).transpose();
            let y = load(b + (arange(0, N).expand_dims(1) * K + arange(0, K)), true).transpose();
            let at = arange(0, M).expand_dims(1) * N + arange(0, N);
            store(out + at, dot(x$($precision)*, y, load(acc + at, true)), true);
        }

        #[triton::kernel(configs = [
            (B = 8, M = 4, N = 8, K = 4, num_warps = 2), (B = 4, M = 16, N = 16, K = 32, num_warps = 4),
            (B = 2, M = 32, N = 16, K = 16, num_warps = 4), (B = 4, M = 16, N = 8, K = 32, num_warps = 1),
            (B = 3, M = 48, N = 8, K = 16, num_warps = 2),
        ])]
        fn batch<const B: i32, const M: i32, const N: i32, const K: i32>(
            a: Ptr<$operand>,
            b: Ptr<$operand>,
            acc: Ptr<$sum>,
            out: PtrMut<$sum>,
        ) {
            let of_x = arange(0, B).expand_dims(1) * M + arange(0, M);
            let x = load(a + (of_x.expand_dims(2) * K + arange(0, K)), true);
            let of_y = arange(0, B).expand_dims(1) * K + arange(0, K);
            let y = load(b + (of_y.expand_dims(2) * N + arange(0, N)), true);
            let at = of_x.expand_dims(2) * N + arange(0, N);
            store(out + at, dot(x$($precision)*, y, load(acc + at, true)), true);
        }

        /// Sizes that are not multiples of a tile; groups of warps multiply parts of K.
        #[triton::kernel(configs = [
            (M = 32, N = 16, K = 64, G = 2, num_warps = 4), (M = 32, N = 32, K = 64, G = 4, num_warps = 4),
            (M = 48, N = 24, K = 64, G = 2, num_warps = 4),
        ])]
        fn groups<const M: i32, const N: i32, const K: i32, const G: i32>(
            a: Tensor<$operand, 2>,
            b: Tensor<$operand, 2>,
            acc: Tensor<$sum, 2>,
            out: TensorMut<$sum, 2>,
        ) {
            let (m, n) = (program_id(0) * M, program_id(1) * N);
            let mut sum = zeros::<$sum>([G, M, N]);
            for k in (0..a.dim(1)).step_by(K) {
                let x = a.load([m, k], [M, K]).reshape([M, G, K / G]).permute([1, 0, 2]);
                sum = dot(x$($precision)*, b.load([k, n], [K, N]).reshape([G, K / G, N]), sum);
            }
            out.store([m, n], acc.load([m, n], [M, N]) + sum_axis(sum, 0));
        }

        /// Sizes that are not multiples of a tile.
        #[triton::kernel(configs = [
            (M = 16, N = 8, K = 32, num_warps = 1), (M = 32, N = 64, K = 16, num_warps = 4), (M = 48, N = 24, K = 48, num_warps = 2),
        ])]
        fn whole<const M: i32, const N: i32, const K: i32>(
            a: Tensor<$operand, 2>,
            b: Tensor<$operand, 2>,
            acc: Tensor<$sum, 2>,
            out: TensorMut<$sum, 2>,
        ) {
            let (m, n) = (program_id(0) * M, program_id(1) * N);
            let mut sum = acc.load([m, n], [M, N]);
            for k in (0..a.dim(1)).step_by(K) {
                sum = dot(a.load([m, k], [M, K])$($precision)*, b.load([k, n], [K, N]), sum);
            }
            out.store([m, n], sum);
        }
    };
    (@tiles $into:ident, $types:ident, $(($m:literal, $n:literal, $k:literal, $warps:literal))*) => { $(
        let what = concat!("[", $m, "x", $n, "x", $k, "] warps ", $warps);
        cases_of($into, $types, what.to_string(), [1, $m, $n, $k], false, [1; 3], |run| {
            launch!(run, tile::<$m, $n, $k>(&run.ptr(), &run.ptr(), &run.ptr(), &mut run.ptr()))
        });
        cases_of($into, $types, what.to_string(), [1, $m, $n, $k], true, [1; 3], |run| {
            launch!(run, turned::<$m, $n, $k>(&run.ptr(), &run.ptr(), &run.ptr(), &mut run.ptr()))
        });
    )* };
    (@batches $into:ident, $types:ident, $(($b:literal, $m:literal, $n:literal, $k:literal, $warps:literal))*) => { $(
        let what = concat!("[", $b, "x", $m, "x", $n, "x", $k, "] warps ", $warps);
        cases_of($into, $types, what.to_string(), [$b, $m, $n, $k], false, [1; 3], |run| {
            launch!(run, batch::<$b, $m, $n, $k>(&run.ptr(), &run.ptr(), &run.ptr(), &mut run.ptr()))
        });
    )* };
    (@groups $into:ident, $types:ident, $operand:ident, $sum:ident, $(($m:literal, $n:literal, $k:literal, $g:literal, $warps:literal))*) => { $(
        let size = [1, 2 * $m - 3, 2 * $n - 5, 3 * $k - 7];
        let what = concat!("by tiles [", $m, "x", $n, "x", $k, "] in ", $g, " groups, warps ", $warps);
        let launch = products!(@launch $operand $sum groups::<$m, $n, $k, $g>);
        cases_of($into, $types, what.to_string(), size, false, [2, 2, 1], launch);
        let turned = products!(@launch $operand $sum groups::<$m, $n, $k, $g> turned);
        cases_of($into, $types, what.to_string(), size, true, [2, 2, 1], turned);
    )* };
    (@loops $into:ident, $types:ident, $operand:ident, $sum:ident, $(($m:literal, $n:literal, $k:literal, $warps:literal))*) => { $(
        for size in [[2 * $m, 2 * $n, 3 * $k], [2 * $m - 3, 2 * $n - 5, 3 * $k - 7]] {
            let what = format!("{} by tiles [{}x{}x{}] warps {}", size.map(|n: usize| n.to_string()).join("x"), $m, $n, $k, $warps);
            let ([m, n, k], launch) = (size, products!(@launch $operand $sum whole::<$m, $n, $k>));
            cases_of($into, $types, what.clone(), [1, m, n, k], false, [2, 2, 1], launch);
            let turned = products!(@launch $operand $sum whole::<$m, $n, $k> turned);
            cases_of($into, $types, what, [1, m, n, k], true, [2, 2, 1], turned);
        }
    )* };
    (@launch $operand:ident $sum:ident $kernel:ident::<$($size:literal),*> $($turned:ident)?) => {
        |run: &Run<'_>| {
            let [m, n, k] = run.sizes();
            let (a, b) = (run.buffer::<$operand>(0), run.buffer::<$operand>(1));
            let (acc, mut out) = (run.buffer::<$sum>(2), run.buffer_mut::<$sum>(3));
            let (a, b) = (a.slice(run.range(0))?, b.slice(run.range(1))?);
            let (a, b) = products!(@views a b, m n k $($turned)?);
            let (acc, mut out) = (acc.slice(run.range(2))?.view([m, n])?, out.slice_mut(run.range(3))?);
            $kernel::<$($size),*>(a, b, acc, out.view_mut([m, n])?).launch(run.stream, run.grid())
        }
    };
    (@views $a:ident $b:ident, $m:ident $n:ident $k:ident) => { ($a.view([$m, $k])?, $b.view([$k, $n])?) };
    (@views $a:ident $b:ident, $m:ident $n:ident $k:ident turned) => {
        ($a.view([$k, $m])?.transpose(), $b.view([$n, $k])?.transpose())
    };
    (@short) => { false };
    (@short Tf32) => { true };
}

products! {
    halves "f16" f16 -> f32;
    brain_halves "bf16" bf16 -> f32;
    singles "f32" f32 -> f32;
    short_singles "tf32" f32 -> f32, Tf32;
    doubles "f64" f64 -> f64;
    bytes "i8" i8 -> i32;
}
