//! Scans along each axis, in both directions, by functions, by closures of one tile and of pairs.
//!
//! The order is part of the meaning, so that floats are compared to the bit, too. The reference is the definition: one bit of the index
//! after the other, each combination rounded.

use crate::case::{Case, Launch, Region, Trial, launch};
use crate::inputs;
use crate::reference::{greater, lesser};
use crate::value::{Expected, float, from_f64, integer, round, wrap};
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// Every function, of tiles with three axes: along the one in the middle.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (A = 1, B = 1024, C = 1, num_warps = 8), (A = 1, B = 16, C = 32, num_warps = 4), (A = 4, B = 64, C = 1, num_warps = 2),
    (A = 2, B = 8, C = 4, num_warps = 1), (A = 1, B = 4, C = 32, num_warps = 4),
    (A = 3, B = 16, C = 12, num_warps = 2),
])]
fn functions<T: Num, const A: i32, const B: i32, const C: i32>(
    x: Ptr<T>,
    sums: PtrMut<T>,
    products: PtrMut<T>,
    greatest: PtrMut<T>,
    least: PtrMut<T>,
) {
    let rows = arange(0, A).expand_dims(1) * B + arange(0, B);
    let i = program_id(0) * (A * B * C) + rows.expand_dims(2) * C + arange(0, C);
    let tile = load(x + i, true);
    store(sums + i, cumsum(tile, 1), true);
    store(products + i, cumprod(tile, 1), true);
    store(greatest + i, cummax(tile, 1), true);
    store(least + i, cummin(tile, 1), true);
}

/// Steps `x -> a x + b` after one another, from the beginning and from the end: associative for integers, and not commutative.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 1, N = 2048, num_warps = 8), (M = 4, N = 32, num_warps = 4), (M = 12, N = 16, num_warps = 2),
])]
fn steps<T: Num, const M: i32, const N: i32>(
    x: Ptr<T>,
    y: Ptr<T>,
    factors: PtrMut<T>,
    sums: PtrMut<T>,
    last_factors: PtrMut<T>,
    last_sums: PtrMut<T>,
) {
    let i = (program_id(0) * (M * N) + arange(0, M * N)).reshape([M, N]);
    let pair = (load(x + i, true), load(y + i, true));
    let (a, b) = scan(pair, 1, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
    store(factors + i, a, true);
    store(sums + i, b, true);
    let (a, b) = scan_reverse(pair, 1, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
    store(last_factors + i, a, true);
    store(last_sums + i, b, true);
}

/// Tiles with one axis, and of masks: how many before are true is odd.
#[triton::kernel(configs = [(N = 1, num_warps = 1), (N = 32, num_warps = 4), (N = 512, num_warps = 2)])]
fn parities<const N: i32>(x: Ptr<bool>, before: PtrMut<bool>, after: PtrMut<bool>) {
    let tile = load(x + arange(0, N), true);
    store(before + arange(0, N), scan(tile, 0, |a, b| a ^ b), true);
    store(after + arange(0, N), scan_reverse(tile, 0, |a, b| a ^ b), true);
}

/// The scan of one line.
fn scanned<E: Copy>(line: &[E], reverse: bool, f: impl Fn(E, E) -> E) -> Vec<E> {
    let mut line = line.to_vec();
    if reverse {
        line.reverse();
    }
    for bit in 0..line.len().trailing_zeros() {
        let before = line.clone();
        for (i, element) in line.iter_mut().enumerate().filter(|(i, _)| i >> bit & 1 == 1) {
            *element = f(before[(i >> bit << bit) - 1], before[i]);
        }
    }
    if reverse {
        line.reverse();
    }
    line
}

/// The scans of all lines of `[outer, extent, inner]` elements along the axis in the middle.
fn along<E: Copy>(x: &[E], [outer, extent, inner]: [usize; 3], scan: impl Fn(&[E]) -> Vec<E>) -> Vec<E> {
    let mut out = x.to_vec();
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        let at = |k: usize| (o * extent + k) * inner + i;
        let line: Vec<E> = (0..extent).map(|k| x[at(k)]).collect();
        scan(&line).into_iter().enumerate().for_each(|(k, e)| out[at(k)] = e);
    }
    out
}

/// The programs of a launch.
const PROGRAMS: usize = 2;

/// What each program is given: one of them everything there is, which soon is NaN, the other numbers of a moderate size.
fn elements(dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    let moderate = (0..count).map(|_| from_f64(dtype, random.within(1 << 20) as f64 / 524_288.0));
    [inputs::elements(dtype, count, seed), moderate.collect()].concat()
}

fn plus(dtype: DType, a: u64, b: u64) -> u64 {
    match dtype.is_float() {
        true => round(dtype, float(dtype, a) + float(dtype, b)),
        false => wrap(dtype, integer(dtype, a).wrapping_add(integer(dtype, b))),
    }
}

fn times(dtype: DType, a: u64, b: u64) -> u64 {
    match dtype.is_float() {
        true => round(dtype, float(dtype, a) * float(dtype, b)),
        false => wrap(dtype, integer(dtype, a).wrapping_mul(integer(dtype, b))),
    }
}

fn of_functions(dtype: DType, shape: [usize; 3], warps: u32, launch: Launch) -> Case {
    let name = format!("cumsum and its like {dtype} {shape:?} warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["cumsum", "cumprod", "cummax", "cummin"], move || {
        let x = elements(dtype, shape.iter().product(), seed);
        let shape = [PROGRAMS * shape[0], shape[1], shape[2]];
        let of = |f: fn(DType, u64, u64) -> u64| along(&x, shape, |line| scanned(line, false, |a, b| f(dtype, a, b)));
        let outputs = [plus, times, greater, lesser].map(|f| Region::output(dtype, bits(of(f))));
        let regions = [Region::input(dtype, x.clone())].into_iter().chain(outputs).collect();
        Trial { regions, numbers: vec![], grid: [PROGRAMS, 1, 1], launch }
    })
}

fn of_steps(dtype: DType, [m, n]: [usize; 2], warps: u32, launch: Launch) -> Case {
    let name = format!("scan by steps {dtype} [{m}x{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["scan", "scan_reverse"], move || {
        let [x, y] = [0, 1].map(|i| elements(dtype, m * n, seed ^ i));
        let pairs: Vec<(u64, u64)> = x.iter().copied().zip(y.iter().copied()).collect();
        let step = |(a, b), (aa, bb)| (times(dtype, a, aa), plus(dtype, times(dtype, aa, b), bb));
        let mut regions = vec![Region::input(dtype, x), Region::input(dtype, y)];
        for reverse in [false, true] {
            let (a, b) = along(&pairs, [PROGRAMS * m, n, 1], |line| scanned(line, reverse, step)).into_iter().unzip();
            regions.extend([a, b].map(|after| Region::output(dtype, bits(after))));
        }
        Trial { regions, numbers: vec![], grid: [PROGRAMS, 1, 1], launch }
    })
}

fn of_parities(n: usize, warps: u32, launch: Launch) -> Case {
    let name = format!("scan bool [{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["scan", "scan_reverse"], move || {
        let x = inputs::elements(DType::Bool, n.max(64), seed)[..n].to_vec();
        let of = |reverse| Region::output(DType::Bool, bits(scanned(&x, reverse, |a, b| a ^ b)));
        let regions = vec![Region::input(DType::Bool, x.clone()), of(false), of(true)];
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

fn bits(elements: Vec<u64>) -> Vec<Expected> {
    elements.into_iter().map(Expected::Bits).collect()
}

macro_rules! each {
    ($into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        each!(@functions $into, t, $t, (1, 1024, 1, 8) (1, 16, 32, 4) (4, 64, 1, 2) (2, 8, 4, 1) (1, 4, 32, 4)
            (3, 16, 12, 2));
        each!(@steps $into, t, $t, (1, 2048, 8) (4, 32, 4) (12, 16, 2));
    })* };
    (@functions $into:ident, $dtype:ident, $t:ident, $(($a:literal, $b:literal, $c:literal, $warps:literal))*) => { $(
        $into.push(of_functions($dtype, [$a, $b, $c], $warps, |run| launch!(run, functions::<$t, $a, $b, $c>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr()
        ))));
    )* };
    (@steps $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(of_steps($dtype, [$m, $n], $warps, |run| launch!(run, steps::<$t, $m, $n>(
            &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr()
        ))));
    )* };
}

/// Every scan on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(cases, i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    macro_rules! parities {
        ($($n:literal, $warps:literal;)*) => { $(
            cases.push(of_parities($n, $warps, |run| launch!(run, parities::<$n>(
                &run.ptr(), &mut run.ptr(), &mut run.ptr()
            ))));
        )* };
    }
    parities! { 1, 1; 32, 4; 512, 2; }
    cases
}
