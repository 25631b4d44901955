//! Loads and stores through pointers: vectors, tails, masks, strides, indices, a tile's accesses in order.

use crate::case::{Case, Launch, Region, Trial, launch, untouched};
use crate::inputs;
use crate::value::Expected;
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::numbers::Random;

#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (N = 1, num_warps = 1), (N = 32, num_warps = 1), (N = 512, num_warps = 1), (N = 1024, num_warps = 4), (N = 2048, num_warps = 8),
    (N = 384, num_warps = 1),
])]
fn copy<T: Element, const N: i32>(x: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * N + arange(0, N);
    store(out + i, load(x + i, i < n), i < n);
}

/// A mask from memory: what is masked off is 0, another tile's, a number, or not written.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (N = 64, num_warps = 1), (N = 512, num_warps = 4), (N = 96, num_warps = 1),
])]
fn masked<T: Element, const N: i32>(
    mask: Ptr<bool>,
    x: Ptr<T>,
    y: Ptr<T>,
    zero: PtrMut<T>,
    tile: PtrMut<T>,
    number: PtrMut<T>,
    kept: PtrMut<T>,
    other: T,
) {
    let i = program_id(0) * N + arange(0, N);
    let m = load(mask + i, true);
    store(zero + i, load(x + i, m), true);
    store(tile + i, load_or(x + i, m, load(y + i, true)), true);
    store(number + i, load_or(x + i, m, other), true);
    store(kept + i, load(y + i, true), m);
}

/// Rows and columns of a matrix by masks of their own; a number into every element.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (R = 8, C = 16, num_warps = 1), (R = 32, C = 32, num_warps = 8), (R = 1, C = 64, num_warps = 2), (R = 64, C = 1, num_warps = 2),
    (R = 24, C = 40, num_warps = 2),
])]
fn matrix<T: Element, const R: i32, const C: i32>(
    x: Ptr<T>,
    out: PtrMut<T>,
    filled: PtrMut<T>,
    value: T,
    rows: i32,
    columns: i32,
    pitch: i32,
) {
    let (r, c) = (arange(0, R).expand_dims(1) + program_id(1) * R, arange(0, C).expand_dims(0) + program_id(0) * C);
    let at = r * pitch + c;
    store(out + at, load_or(x + at, r < rows, value), c < columns);
    store(filled + at, value, r < rows);
}

/// Strides on both sides, and backwards.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], N = [256, 96], num_warps = 2, warnings = false)]
fn strided<T: Element, const N: i32>(x: Ptr<T>, spread: PtrMut<T>, back: PtrMut<T>, n: i32, from: i32, to: i32) {
    let i = program_id(0) * N + arange(0, N);
    let v = load(x + i * from, i < n);
    store(spread + i * to, v, i < n);
    store((back + (n - 1)) - i, v, i < n);
}

/// Indices from memory.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], I = [i32, i64, u32], num_warps = 2)]
fn indexed<T: Element, I: Int>(at: Ptr<I>, x: Ptr<T>, gathered: PtrMut<T>, scattered: PtrMut<T>) {
    let i = program_id(0) * 128 + arange(0, 128);
    let j = load(at + i, true);
    store(gathered + i, load(x + j, true), true);
    store(scattered + j, load(x + i, true), true);
}

/// Vectors whose first elements memory names.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], num_warps = 2)]
fn hinted<T: Element>(at: Ptr<i32>, x: Ptr<T>, gathered: PtrMut<T>, scattered: PtrMut<T>) {
    let i = program_id(0) * 128 + arange(0, 128);
    let j = multiple_of(max_contiguous(load(at + i, true), 16), 16);
    let same = max_constancy(load(at + i, true) / 16, 16) * 16 + i % 16;
    store(gathered + i, load(x + j, true), true);
    store(scattered + same, load(x + i, true), true);
}

/// Numbers instead of tiles.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], num_warps = 4)]
fn numbers<T: Element>(x: Ptr<T>, out: PtrMut<T>, other: T, n: i32) {
    let i = program_id(0);
    store(out + i, load_or(x + i, i % 3 != 1, other), i < n);
}

/// Reverses a row in place, twice over: every load comes before the store that follows it.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (N = 32, num_warps = 1), (N = 512, num_warps = 4), (N = 256, num_warps = 8), (N = 96, num_warps = 4),
])]
fn in_place<T: Element, const N: i32>(x: PtrMut<T>) {
    let (row, i) = (x + program_id(0) * N, arange(0, N));
    store(row + (N - 1 - i), load(row + i, true), true);
    let half = load(row + i, i < N / 2);
    store(row + (i ^ 1), half, i < N / 2);
}

fn exactly(bits: impl IntoIterator<Item = u64>) -> Vec<Expected> {
    bits.into_iter().map(Expected::Bits).collect()
}

/// A random element to stand for a number.
fn one(dtype: DType, seed: u64) -> u64 {
    inputs::elements(dtype, 64, seed)[63]
}

fn copies(into: &mut Vec<Case>, dtype: DType, block: usize, warps: u32, launch: Launch) {
    let spans = [("whole blocks", 0, 0), ("tail", 11, 0), ("misaligned", 0, 1), ("misaligned tail", 3, 3)];
    let spans = if block == 1 { &spans[..1] } else { &spans[..] };
    for &(span, missing, skip) in spans {
        let name = format!("copy {dtype} [{block}] warps {warps}, {span}");
        let (seed, programs) = (inputs::seed(&name), 1500usize.div_ceil(block).clamp(2, 300));
        let count = programs * block - missing;
        into.push(Case::new(name, &["load", "store"], move || {
            let x = inputs::elements(dtype, count, seed);
            let out = Region::output(dtype, exactly(x.iter().copied())).skip(skip);
            let regions = vec![Region::input(dtype, x).skip(skip), out];
            Trial { regions, numbers: vec![count as u64], grid: [programs, 1, 1], launch }
        }));
    }
}

fn masks(dtype: DType, block: usize, warps: u32, launch: Launch) -> Case {
    let name = format!("masks from memory {dtype} [{block}] warps {warps}");
    let (seed, programs) = (inputs::seed(&name), 1024 / block);
    let count = programs * block;
    Case::new(name, &["load", "load_or", "store"], move || {
        let [mask, x, y] = inputs::columns([DType::Bool, dtype, dtype], 3, count, seed, inputs::all);
        let other = one(dtype, seed);
        let where_ = |of: &dyn Fn(usize) -> [u64; 2]| {
            exactly((0..count).map(|i| if mask[i] != 0 { of(i)[0] } else { of(i)[1] }))
        };
        let outputs = [
            where_(&|i| [x[i], 0]),
            where_(&|i| [x[i], y[i]]),
            where_(&|i| [x[i], other]),
            where_(&|i| [y[i], untouched(dtype)]),
        ];
        let inputs = [(DType::Bool, &mask), (dtype, &x), (dtype, &y)].map(|(d, bits)| Region::input(d, bits.clone()));
        let regions = inputs.into_iter().chain(outputs.map(|after| Region::output(dtype, after))).collect();
        Trial { regions, numbers: vec![other], grid: [programs, 1, 1], launch }
    })
}

fn matrices(into: &mut Vec<Case>, dtype: DType, [r, c]: [usize; 2], warps: u32, launch: Launch) {
    for (edge, missing) in [("whole", 0), ("ragged", 1)] {
        let name = format!("masks of rows and columns {dtype} [{r}x{c}] warps {warps}, {edge}");
        let seed = inputs::seed(&name);
        into.push(Case::new(name, &["load_or", "store"], move || {
            let (grid, pitch) = ([3, 2, 1], 3 * c + 5 * missing);
            let (rows, columns) = (2 * r - missing, 3 * c - missing);
            let x = inputs::elements(dtype, 2 * r * pitch, seed);
            let value = one(dtype, seed + 1);
            let each = |of: &dyn Fn(usize, usize) -> u64| {
                exactly(
                    (0..x.len()).map(|i| if i % pitch < 3 * c { of(i / pitch, i % pitch) } else { untouched(dtype) }),
                )
            };
            let out = each(&|i, j| match (i < rows, j < columns) {
                (_, false) => untouched(dtype),
                (true, true) => x[i * pitch + j],
                (false, true) => value,
            });
            let filled = each(&|i, _| if i < rows { value } else { untouched(dtype) });
            let regions = vec![Region::input(dtype, x), Region::output(dtype, out), Region::output(dtype, filled)];
            Trial { regions, numbers: [value, rows as u64, columns as u64, pitch as u64].to_vec(), grid, launch }
        }));
    }
}

fn strides(into: &mut Vec<Case>, dtype: DType, block: usize, launch: Launch) {
    for (from, to, count) in [(1, 1, 512), (2, 1, 500), (1, 2, 512), (3, 5, 401), (16, 16, 256), (1, 4, 1)] {
        let name = format!("stride {from} to {to} {dtype} [{block}] warps 2, {count} elements");
        let seed = inputs::seed(&name);
        into.push(Case::new(name, &["load", "store"], move || {
            let x = inputs::elements(dtype, count * from, seed);
            let spread =
                exactly((0..count * to).map(|i| if i % to == 0 { x[i / to * from] } else { untouched(dtype) }));
            let back = exactly((0..count).rev().map(|i| x[i * from]));
            let regions = vec![Region::input(dtype, x), Region::output(dtype, spread), Region::output(dtype, back)];
            let numbers = [count, from, to].map(|n| n as u64).to_vec();
            Trial { regions, numbers, grid: [count.div_ceil(block), 1, 1], launch }
        }));
    }
}

/// A gather and a scatter of vectors of this many elements.
fn indices(dtype: DType, index: DType, vector: u64, launch: Launch) -> Case {
    let of = if vector == 1 { String::new() } else { format!(", vectors of {vector}") };
    let name = format!("gather and scatter {dtype} by {index}{of}");
    let seed = inputs::seed(&name);
    const PROMISES: &[&str] = &["load", "store", "multiple_of", "max_contiguous", "max_constancy"];
    Case::new(name, if vector == 1 { &PROMISES[..2] } else { PROMISES }, move || {
        let mut random = Random::new(seed);
        let mut first: Vec<u64> = (0..512 / vector).collect();
        (1..first.len()).rev().for_each(|i| first.swap(i, random.below(i + 1)));
        let at: Vec<u64> = first.iter().flat_map(|first| first * vector..(first + 1) * vector).collect();
        let x = inputs::elements(dtype, at.len(), seed);
        let gathered = exactly(at.iter().map(|&j| x[j as usize]));
        let mut scattered = vec![Expected::Any; at.len()];
        at.iter().zip(&x).for_each(|(&j, &x)| scattered[j as usize] = Expected::Bits(x));
        let outputs = [gathered, scattered].map(|after| Region::output(dtype, after));
        let regions = [Region::input(index, at), Region::input(dtype, x)].into_iter().chain(outputs).collect();
        Trial { regions, numbers: vec![], grid: [4, 1, 1], launch }
    })
}

fn scalars(dtype: DType, launch: Launch) -> Case {
    let name = format!("load and store of numbers {dtype} warps 4");
    let seed = inputs::seed(&name);
    Case::new(name, &["load_or", "store"], move || {
        let (x, other) = (inputs::elements(dtype, 300, seed), one(dtype, seed));
        let out = |(i, &x): (usize, &u64)| {
            if i >= 290 {
                untouched(dtype)
            } else if i % 3 == 1 {
                other
            } else {
                x
            }
        };
        let out = exactly(x.iter().enumerate().map(out));
        let regions = vec![Region::input(dtype, x), Region::output(dtype, out)];
        Trial { regions, numbers: vec![other, 290], grid: [300, 1, 1], launch }
    })
}

fn turned(dtype: DType, block: usize, warps: u32, launch: Launch) -> Case {
    let name = format!("in place {dtype} [{block}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["load", "store"], move || {
        let before = inputs::elements(dtype, 4 * block, seed);
        let mut after = before.clone();
        for row in after.chunks_mut(block) {
            row.reverse();
            row[..block / 2].chunks_mut(2).for_each(|pair| pair.reverse());
        }
        Trial { regions: vec![Region::update(dtype, before, exactly(after))], numbers: vec![], grid: [4, 1, 1], launch }
    })
}

macro_rules! each {
    ($into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        each!(@copies $into, t, $t, (1, 1) (32, 1) (512, 1) (1024, 4) (2048, 8) (384, 1));
        each!(@masks $into, t, $t, (64, 1) (512, 4) (96, 1));
        each!(@matrices $into, t, $t, (8, 16, 1) (32, 32, 8) (1, 64, 2) (64, 1, 2) (24, 40, 2));
        each!(@indices $into, t, $t, i32 i64 u32);
        $into.push(indices(t, DType::I32, 16, |run| {
            launch!(run, hinted::<$t>(&run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()))
        }));
        each!(@turned $into, t, $t, (32, 1) (512, 4) (256, 8) (96, 4));
        each!(@strides $into, t, $t, 256 96);
        $into.push(scalars(t, |run| launch!(run, numbers::<$t>(&run.ptr(), &mut run.ptr(), run.scalar(), run.scalar()))));
    })* };
    (@copies $into:ident, $dtype:ident, $t:ident, $(($n:literal, $warps:literal))*) => { $(
        copies(&mut $into, $dtype, $n, $warps, |run| launch!(run, copy::<$t, $n>(&run.ptr(), &mut run.ptr(), run.scalar())));
    )* };
    (@masks $into:ident, $dtype:ident, $t:ident, $(($n:literal, $warps:literal))*) => { $(
        $into.push(masks($dtype, $n, $warps, |run| launch!(run, masked::<$t, $n>(
            &run.ptr(), &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar()
        ))));
    )* };
    (@matrices $into:ident, $dtype:ident, $t:ident, $(($r:literal, $c:literal, $warps:literal))*) => { $(
        matrices(&mut $into, $dtype, [$r, $c], $warps, |run| launch!(run, matrix::<$t, $r, $c>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar(), run.scalar(), run.scalar(), run.scalar()
        )));
    )* };
    (@strides $into:ident, $dtype:ident, $t:ident, $($n:literal)*) => { $(
        strides(&mut $into, $dtype, $n, |run| launch!(run, strided::<$t, $n>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar(), run.scalar(), run.scalar()
        )));
    )* };
    (@indices $into:ident, $dtype:ident, $t:ident, $($i:ident)*) => { $(
        $into.push(indices($dtype, <$i>::DTYPE, 1, |run| launch!(run, indexed::<$t, $i>(
            &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
        ))));
    )* };
    (@turned $into:ident, $dtype:ident, $t:ident, $(($n:literal, $warps:literal))*) => { $(
        $into.push(turned($dtype, $n, $warps, |run| launch!(run, in_place::<$t, $n>(&mut run.ptr()))));
    )* };
}

/// Every access on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(cases, bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    cases
}
