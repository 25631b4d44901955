//! Reductions by closures: of one tile, of a pair, of a triple.

use crate::case::{Case, Launch, Region, Trial, launch};
use crate::inputs;
use crate::reference::{greater, order};
use crate::value::{Expected, from_f64, integer, mask, to_f64, wrap};
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// Products: of everything, of columns, of rows.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 8, N = 32, num_warps = 1), (M = 16, N = 64, num_warps = 8), (M = 12, N = 40, num_warps = 2),
])]
fn products<T: Num, const M: i32, const N: i32>(x: Ptr<T>, whole: PtrMut<T>, columns: PtrMut<T>, rows: PtrMut<T>) {
    let tile = load(x + (arange(0, M).expand_dims(1) * N + arange(0, N)), true);
    store(whole, reduce(tile, |a, b| a * b), true);
    store(columns + arange(0, N), reduce_axis(tile, 0, |a, b| a * b), true);
    store(rows + arange(0, M), reduce_axis(tile, 1, |a, b| a * b), true);
}

/// The largest element of each row and its index, by a function of pairs; the last of equal ones.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 8, N = 32, num_warps = 1), (M = 4, N = 128, num_warps = 8), (M = 12, N = 40, num_warps = 1),
])]
fn last_largest<T: Num, const M: i32, const N: i32>(x: Ptr<T>, largest: PtrMut<T>, at: PtrMut<i64>) {
    let tile = load(x + (arange(0, M).expand_dims(1) * N + arange(0, N)), true);
    let place = arange(0, N).expand_dims(0).broadcast_to([M, N]).to::<i64>();
    let (v, i) = reduce_axis((tile, place), 1, |(a, i), (b, j)| {
        let second = (b > a) | ((b == a) & (j > i));
        (select(second, b, a), select(second, j, i))
    });
    store(largest + arange(0, M), v, true);
    store(at + arange(0, M), i, true);
}

/// Bits of a triple of tiles.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64], configs = [
    (N = 64, num_warps = 2), (N = 512, num_warps = 4), (N = 96, num_warps = 1),
])]
fn bits<T: Int, const N: i32>(x: Ptr<T>, out: PtrMut<T>) {
    let tile = load(x + arange(0, N), true);
    let (a, o, e) = reduce((tile, tile, tile), |(a, o, e), (aa, oo, ee)| (a & aa, o | oo, e ^ ee));
    store(out, a, true);
    store(out + 1, o, true);
    store(out + 2, e, true);
}

/// Numbers whose products are exact in every order.
fn factors(dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    match dtype.is_float() {
        true => {
            (0..count).map(|i| from_f64(dtype, if i % 128 == 5 { 2.0 } else { [1.0, -1.0][random.below(2)] })).collect()
        }
        false => inputs::elements(dtype, count, seed).into_iter().map(|bits| bits | 1).collect(),
    }
}

fn product(dtype: DType, x: impl Iterator<Item = u64>) -> Expected {
    Expected::Bits(match dtype.is_float() {
        true => from_f64(dtype, x.map(|bits| to_f64(dtype, bits)).product()),
        false => x.fold(1, |a, b| wrap(dtype, integer(dtype, a).wrapping_mul(integer(dtype, b)))),
    })
}

fn of_products(dtype: DType, [m, n]: [usize; 2], warps: u32, launch: Launch) -> Case {
    let name = format!("reduce by * {dtype} [{m}x{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["reduce", "reduce_axis"], move || {
        let x = factors(dtype, m * n, seed);
        let whole = vec![product(dtype, x.iter().copied())];
        let columns = (0..n).map(|j| product(dtype, x.iter().copied().skip(j).step_by(n))).collect();
        let rows = x.chunks(n).map(|row| product(dtype, row.iter().copied())).collect();
        let outputs = [whole, columns, rows].map(|after| Region::output(dtype, after));
        let regions = [Region::input(dtype, x)].into_iter().chain(outputs).collect();
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

fn of_pairs(dtype: DType, [m, n]: [usize; 2], warps: u32, launch: Launch) -> Case {
    let name = format!("reduce_axis by pairs {dtype} [{m}x{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["reduce_axis"], move || {
        let mut random = Random::new(seed);
        let x: Vec<u64> = (0..m * n).map(|_| from_f64(dtype, random.below(100) as f64)).collect();
        let row = |row: &[u64]| {
            let largest = row.iter().copied().reduce(|a, b| greater(dtype, a, b)).unwrap_or(0);
            let at = row.iter().rposition(|&bits| order(dtype, bits, largest).is_some_and(|o| o.is_eq()));
            (Expected::Bits(largest), Expected::Bits(at.unwrap_or(0) as u64))
        };
        let (largest, at) = x.chunks(n).map(row).unzip();
        let regions = vec![Region::input(dtype, x), Region::output(dtype, largest), Region::output(DType::I64, at)];
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

fn of_bits(dtype: DType, n: usize, warps: u32, launch: Launch) -> Case {
    let name = format!("reduce by bits {dtype} [{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["reduce"], move || {
        let mut random = Random::new(seed);
        // Sparse zeros, so that what is left of `&` is not 0.
        let x: Vec<u64> =
            (0..n).map(|_| mask(dtype) & !(1 << (random.bits() % u64::from(dtype.bits() - 1)))).take(n).collect();
        let x: Vec<u64> = x.into_iter().map(|bits| bits & (random.bits() | !0xff)).collect();
        let folded =
            [x.iter().fold(u64::MAX, |a, b| a & b), x.iter().fold(0, |a, b| a | b), x.iter().fold(0, |a, b| a ^ b)];
        let regions = vec![Region::input(dtype, x), Region::output(dtype, folded.map(Expected::Bits).to_vec())];
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

macro_rules! each {
    (@numbers $into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        each!(@products $into, t, $t, (8, 32, 1) (16, 64, 8) (12, 40, 2));
        each!(@pairs $into, t, $t, (8, 32, 1) (4, 128, 8) (12, 40, 1));
    })* };
    (@bits $into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        $into.push(of_bits(t, 64, 2, |run| launch!(run, bits::<$t, 64>(&run.ptr(), &mut run.ptr()))));
        $into.push(of_bits(t, 512, 4, |run| launch!(run, bits::<$t, 512>(&run.ptr(), &mut run.ptr()))));
        $into.push(of_bits(t, 96, 1, |run| launch!(run, bits::<$t, 96>(&run.ptr(), &mut run.ptr()))));
    })* };
    (@products $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(of_products($dtype, [$m, $n], $warps, |run| launch!(run, products::<$t, $m, $n>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr()
        ))));
    )* };
    (@pairs $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(of_pairs($dtype, [$m, $n], $warps, |run| launch!(run, last_largest::<$t, $m, $n>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr()
        ))));
    )* };
}

/// Every function on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(@numbers cases, i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    each!(@bits cases, i8 i16 i32 i64 u8 u16 u32 u64);
    cases
}
