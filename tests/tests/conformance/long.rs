//! Reductions of rows that one block cannot keep, which clusters of 2 to 16 blocks run on devices that have them.
//!
//! Rows end before their tile. Of each program a sum, the greatest element and its index, and a second sum of products with a vector that
//! all programs load, which changes how many blocks there are. Elements are whole numbers whose sums are exact in every order.

use crate::case::{Case, Launch, Region, Run, Trial, launch};
use crate::inputs;
use crate::value::{Expected, from_f64};
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// Programs of a case.
const PROGRAMS: usize = 3;
/// Elements that a tile has more than a row: rows that begin anywhere, and aligned ones.
const RAGGED: [usize; 2] = [37, 48];

/// Of each row of n elements the sum, the greatest element and its index.
#[triton::kernel(T = [i32, i64, f32, f64], configs = [
    (N = 16384, num_warps = 4, targets = ["sm_90a"]), (N = 65536, num_warps = 8, targets = ["sm_90a"]),
    (N = 20480, num_warps = 4, targets = ["sm_90a"]),
])]
pub fn rows<T: Num, const N: i32>(x: Ptr<T>, sums: PtrMut<T>, most: PtrMut<T>, at: PtrMut<i32>, n: i32) {
    let (row, i) = (program_id(0), arange(0, N));
    let v = load_or(x + (row * n + i), i < n, T::MIN);
    store(sums + row, sum(select(i < n, v, T::ZERO)), true);
    store(most + row, max(v), true);
    store(at + row, argmax(v), true);
}

/// Of each pair of rows of n elements the sum of products with a vector, and the products themselves minus that.
#[triton::kernel(T = [f32, f64], configs = [
    (N = 4096, num_warps = 1, targets = ["sm_90a"]), (N = 32768, num_warps = 4, targets = ["sm_90a"]),
    (N = 5120, num_warps = 1, targets = ["sm_90a"]),
])]
pub fn weighted<T: Float, const N: i32>(x: Tensor<T, 2>, w: Tensor<T, 2>, sums: TensorMut<T, 2>, out: TensorMut<T, 2>) {
    let row = program_id(0) * 2;
    let product = x.load([row, 0], [2, N]) * w.load([0, 0], [1, N]);
    let sum = sum_axis(product, 1).expand_dims(1);
    sums.store([row, 0], sum);
    out.store([row, 0], product - sum);
}

/// Whole numbers from −8 to 8.
fn numbers(dtype: DType, count: usize, seed: u64) -> (Vec<u64>, Vec<f64>) {
    let mut random = Random::new(seed);
    let numbers: Vec<f64> = (0..count).map(|_| random.below(17) as f64 - 8.0).collect();
    (numbers.iter().map(|&x| from_f64(dtype, x)).collect(), numbers)
}

fn of_rows(dtype: DType, n: usize, launch: Launch) -> Case {
    let name = format!("rows {dtype} of {n}");
    let seed = inputs::seed(&name);
    Case::new(name, &["sum", "max", "argmax"], move || {
        let (bits, mut numbers) = numbers(dtype, PROGRAMS * n, seed);
        let bits: Vec<u64> =
            bits.iter().enumerate().map(|(i, &b)| if i % n == n / 3 { from_f64(dtype, 9.0) } else { b }).collect();
        (0..PROGRAMS).for_each(|row| numbers[row * n + n / 3] = 9.0);
        let exact = |x: f64| Expected::Bits(from_f64(dtype, x));
        let sums = numbers.chunks(n).map(|row| exact(row.iter().sum())).collect();
        let regions = vec![
            Region::input(dtype, bits),
            Region::output(dtype, sums),
            Region::output(dtype, vec![exact(9.0); PROGRAMS]),
            Region::output(DType::I32, vec![Expected::Bits(n as u64 / 3); PROGRAMS]),
        ];
        Trial { regions, numbers: vec![n as u64], grid: [PROGRAMS, 1, 1], launch }
    })
}

fn of_products(dtype: DType, n: usize, launch: Launch) -> Case {
    let name = format!("weighted rows {dtype} of {n}");
    let seed = inputs::seed(&name);
    Case::new(name, &["sum_axis"], move || {
        let rows = 2 * PROGRAMS;
        let ((x, of_x), (w, of_w)) = (numbers(dtype, rows * n, seed), numbers(dtype, n, seed ^ 1));
        let exact = |x: f64| Expected::Bits(from_f64(dtype, x));
        let products: Vec<Vec<f64>> =
            of_x.chunks(n).map(|row| row.iter().zip(&of_w).map(|(x, w)| x * w).collect()).collect();
        let sums: Vec<f64> = products.iter().map(|row| row.iter().sum()).collect();
        let rest = products.iter().zip(&sums).flat_map(|(row, sum)| row.iter().map(move |p| exact(p - sum))).collect();
        let regions = vec![
            Region::input(dtype, x),
            Region::input(dtype, w),
            Region::output(dtype, sums.iter().map(|&sum| exact(sum)).collect()),
            Region::output(dtype, rest),
        ];
        Trial { regions, numbers: vec![n as u64], grid: [PROGRAMS, 1, 1], launch }
    })
}

macro_rules! each {
    ($into:ident, $tile:literal, $($t:ident)*) => { $(
        let launch: Launch = |run| {
            launch!(run, rows::<$t, $tile>(&run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar()))
        };
        $into.push(of_rows(<$t>::DTYPE, $tile - RAGGED[0], launch));
    )* };
    (@weighted $into:ident, $tile:literal, $($t:ident)*) => { $(
        let launch: Launch = |run: &Run<'_>| {
            let (rows, n) = (2 * PROGRAMS, run.scalar::<u64>() as usize);
            let (x, w) = (run.buffer::<$t>(0), run.buffer::<$t>(1));
            let (mut sums, mut out) = (run.buffer_mut::<$t>(2), run.buffer_mut::<$t>(3));
            let (x, w) = (x.slice(run.range(0))?, w.slice(run.range(1))?);
            let (mut sums, mut out) = (sums.slice_mut(run.range(2))?, out.slice_mut(run.range(3))?);
            let (x, w, sums) = (x.view([rows, n])?, w.view([1, n])?, sums.view_mut([rows, 1])?);
            weighted::<$t, $tile>(x, w, sums, out.view_mut([rows, n])?).launch(run.stream, run.grid())
        };
        RAGGED.iter().for_each(|ragged| $into.push(of_products(<$t>::DTYPE, $tile - ragged, launch)));
    )* };
}

/// Every case.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    each!(all, 16384, i32 i64 f32 f64);
    each!(all, 65536, i32 i64 f32 f64);
    each!(all, 20480, i32 i64 f32 f64);
    each!(@weighted all, 4096, f32 f64);
    each!(@weighted all, 32768, f32 f64);
    each!(@weighted all, 5120, f32 f64);
    all
}
