//! Creating tiles, and moving their elements to other shapes: `full`, `expand_dims`, `reshape`, `permute`,
//! broadcasting.

use crate::case::{Case, Launch, Region, Trial, launch};
use crate::inputs;
use crate::value::{Expected, wrap};
use triton::prelude::*;
use triton_core::types::DType;

#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 16, N = 16, num_warps = 1), (M = 1, N = 64, num_warps = 2), (M = 32, N = 64, num_warps = 8), (M = 128, N = 2, num_warps = 4),
    (M = 12, N = 40, num_warps = 2),
])]
fn trans<T: Element, const M: i32, const N: i32>(x: Ptr<T>, out: PtrMut<T>) {
    let (m, n) = (arange(0, M), arange(0, N));
    let v = load(x + (m.expand_dims(1) * N + n), true);
    store(out + (n.expand_dims(1) * M + m), v.transpose(), true);
}

/// The order of a tile's three axes.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (A = 4, B = 8, C = 16, P = 0, Q = 2, S = 1, num_warps = 1),
    (A = 4, B = 8, C = 16, P = 1, Q = 0, S = 2, num_warps = 2),
    (A = 4, B = 8, C = 16, P = 1, Q = 2, S = 0, num_warps = 4),
    (A = 4, B = 8, C = 16, P = 2, Q = 0, S = 1, num_warps = 8),
    (A = 1, B = 32, C = 8, P = 2, Q = 1, S = 0, num_warps = 4),
    (A = 4, B = 8, C = 12, P = 2, Q = 0, S = 1, num_warps = 2),
])]
fn permute<T: Element, const A: i32, const B: i32, const C: i32, const P: i32, const Q: i32, const S: i32>(
    x: Ptr<T>,
    out: PtrMut<T>,
) {
    let rows = arange(0, A).expand_dims(1) * B + arange(0, B);
    let v = load(x + (rows.expand_dims(2) * C + arange(0, C)), true);
    store(out + arange(0, A * B * C), v.permute([P, Q, S]).reshape([A * B * C]), true);
}

/// Written in the order of columns, so that the new shape matters.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (A = 8, B = 32, C = 16, D = 16, num_warps = 1), (A = 1, B = 256, C = 64, D = 4, num_warps = 4), (A = 64, B = 8, C = 512, D = 1, num_warps = 8),
    (A = 12, B = 32, C = 96, D = 4, num_warps = 2),
])]
fn reshape<T: Element, const A: i32, const B: i32, const C: i32, const D: i32>(x: Ptr<T>, out: PtrMut<T>) {
    let v = load(x + arange(0, A * B).reshape([A, B]), true);
    let by_columns = arange(0, C).expand_dims(1) + arange(0, D).expand_dims(0) * C;
    store(out + by_columns, v.reshape([C, D]), true);
}

/// Halves in turns; pairs that were made by a reshape, apart; and pairs that lanes and warps hold, exchanged.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 1, N = 2, num_warps = 1), (M = 1, N = 64, num_warps = 4), (M = 16, N = 32, num_warps = 2), (M = 64, N = 64, num_warps = 8),
])]
fn pairs<T: Element, const M: i32, const N: i32>(
    x: Ptr<T>,
    turns: PtrMut<T>,
    apart: PtrMut<T>,
    swapped: PtrMut<T>,
    pointed: PtrMut<T>,
) {
    let i = arange(0, M * N).reshape([M, N]);
    let (half, rows) = (arange(0, M * N / 2).reshape([M, N / 2]), arange(0, M).expand_dims(1));
    let columns = arange(0, N / 2).expand_dims(0);
    let (a, b) = (load(x + (rows * N + columns), true), load(x + (rows * N + columns + N / 2), true));
    store(turns + i, interleave(a, b), true);
    let (even, odd) = split(load(x + i, true).reshape([M, N / 2, 2]));
    store(apart + half, even, true);
    store(apart + M * N / 2 + half, odd, true);
    let (first, second) = split(load(x + i, true).reshape([2, M * N / 2]).transpose());
    store(swapped + i, join(second, first).transpose().reshape([M, N]), true);
    let (low, high) = split((pointed + i).reshape([M * N / 2, 2]));
    let values = load(x + arange(0, M * N / 2), true);
    store(join(high, low), join(values, values), true);
}

/// Pairs of an odd number of rows, of which there are no halves.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 3, N = 32, num_warps = 2),
])]
fn odd_pairs<T: Element, const M: i32, const N: i32>(
    x: Ptr<T>,
    turns: PtrMut<T>,
    apart: PtrMut<T>,
    pointed: PtrMut<T>,
) {
    let (i, half) = (arange(0, M * N).reshape([M, N]), arange(0, M * N / 2).reshape([M, N / 2]));
    let at = arange(0, M).expand_dims(1) * N + arange(0, N / 2);
    store(turns + i, interleave(load(x + at, true), load(x + (at + N / 2), true)), true);
    let (even, odd) = split(load(x + i, true).reshape([M, N / 2, 2]));
    store(apart + half, even, true);
    store(apart + M * N / 2 + half, odd, true);
    let (low, high) = split((pointed + i).reshape([M * N / 2, 2]));
    let values = load(x + arange(0, M * N / 2), true);
    store(join(high, low), join(values, values), true);
}

/// The transpose of a matrix of each shape, one after the other.
#[triton::kernel(T = [bool, i8, i32, i64, f16, f64], configs = [
    (LOG = 1, N = 2, num_warps = 1), (LOG = 6, N = 64, num_warps = 2), (LOG = 9, N = 512, num_warps = 4),
])]
fn turned<T: Element, const LOG: i32, const N: i32>(x: Ptr<T>, out: PtrMut<T>) {
    let mut v = load(x + arange(0, N), true);
    for k in unroll(0..LOG) {
        v = v.reshape([1 << k, N >> k]).transpose().reshape([N]);
    }
    store(out + arange(0, N), v, true);
}

/// A matrix repeated along a new axis.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (AXIS = 0, A = 8, B = 4, C = 16, num_warps = 1),
    (AXIS = 1, A = 4, B = 8, C = 16, num_warps = 4),
    (AXIS = 2, A = 4, B = 16, C = 8, num_warps = 8),
    (AXIS = 0, A = 12, B = 4, C = 16, num_warps = 2),
])]
fn expand_dims<T: Element, const AXIS: i32, const A: i32, const B: i32, const C: i32>(x: Ptr<T>, out: PtrMut<T>) {
    let v = load(x + arange(0, 64).reshape([4, 16]), true);
    store(out + arange(0, A * B * C).reshape([A, B, C]), v.expand_dims(AXIS).broadcast_to([A, B, C]), true);
}

/// Axes of extent 1, and missing axes.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 16, N = 32, num_warps = 1), (M = 64, N = 4, num_warps = 4), (M = 1, N = 1, num_warps = 2),
    (M = 12, N = 40, num_warps = 1),
])]
fn broadcast_to<T: Element, const M: i32, const N: i32>(x: Ptr<T>, columns: PtrMut<T>, rows: PtrMut<T>) {
    let i = arange(0, M).expand_dims(1) * N + arange(0, N);
    store(columns + i, load(x + arange(0, M), true).reshape([M, 1]).broadcast_to([M, N]), true);
    store(rows + i, load(x + arange(0, N), true).broadcast_to([M, N]), true);
}

/// Operands of three shapes: a mask for each column, a value for each row, a number.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 16, N = 32, num_warps = 2), (M = 8, N = 64, num_warps = 8), (M = 12, N = 40, num_warps = 1),
])]
fn mixed<T: Element, const M: i32, const N: i32>(
    mask: Ptr<bool>,
    x: Ptr<T>,
    out: PtrMut<T>,
    one: PtrMut<T>,
    other: T,
    flag: bool,
) {
    let i = arange(0, M).expand_dims(1) * N + arange(0, N);
    let (m, v) = (load(mask + arange(0, N), true), load(x + arange(0, M), true).expand_dims(1));
    store(out + i, select(m, v, other), true);
    store(one + i, select(flag, v, other), true);
}

#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (M = 1, N = 1, num_warps = 1), (M = 16, N = 32, num_warps = 2), (M = 4, N = 256, num_warps = 8),
    (M = 12, N = 32, num_warps = 1),
])]
fn fill<T: Element, const M: i32, const N: i32>(filled: PtrMut<T>, zero: PtrMut<T>, value: T) {
    let i = arange(0, M * N);
    store(filled + i.reshape([M, N]), full::<T>([M, N], value), true);
    store(zero + i, zeros::<T>([M * N]), true);
}

#[triton::kernel(configs = [
    (LO = 0, N = 1, num_warps = 1), (LO = -64, N = 128, num_warps = 1), (LO = 5, N = 1024, num_warps = 4),
    (LO = 2147483519, N = 128, num_warps = 2), (LO = -2147483647, N = 256, num_warps = 8),
    (LO = -40, N = 96, num_warps = 2),
])]
fn counted<const LO: i32, const N: i32>(out: PtrMut<i32>) {
    store(out + arange(0, N), arange(LO, LO + N), true);
}

/// What a program knows of its position in the grid, stored there.
#[triton::kernel(num_warps = 1)]
fn placed(out: PtrMut<i32>) {
    let (x, y, z) = (program_id(0), program_id(1), program_id(2));
    let at = out + ((z * num_programs(1) + y) * num_programs(0) + x) * 8;
    store(at, x, true);
    store(at + 1, y, true);
    store(at + 2, z, true);
    store(at + 3, num_programs(0), true);
    store(at + 4, num_programs(1), true);
    store(at + 5, num_programs(2), true);
}

/// Each of `outputs` results holds, at an index, the element of x at another.
fn moved<const O: usize>(
    functions: &'static [&'static str],
    what: String,
    dtype: DType,
    [inputs, elements]: [usize; 2],
    from: [fn(&[usize], usize) -> usize; O],
    (dims, launch): (&'static [usize], Launch),
) -> Case {
    let name = format!("{} {dtype} {what}", functions[0]);
    let seed = inputs::seed(&name);
    Case::new(name, functions, move || {
        // Those before the last are the edges.
        let x = inputs::elements(dtype, inputs.max(64), seed)[..inputs].to_vec();
        let outputs = from.map(|from| {
            let after = (0..elements).map(|i| Expected::Bits(x[from(dims, i)])).collect();
            Region::output(dtype, after)
        });
        let regions = [Region::input(dtype, x.clone())].into_iter().chain(outputs).collect();
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

/// The row-major index in a shape of three axes of an index in the shape after `order`.
fn unpermuted(dims: &[usize], i: usize) -> usize {
    let (shape, order) = dims.split_at(3);
    let of = |axis: usize| shape[order[axis]];
    let index = [i / of(1) / of(2), i / of(2) % of(1), i % of(2)];
    let mut at = [0; 3];
    order.iter().zip(index).for_each(|(&axis, k)| at[axis] = k);
    (at[0] * shape[1] + at[1]) * shape[2] + at[2]
}

fn mixtures(dtype: DType, [m, n]: [usize; 2], warps: u32, launch: Launch) -> [Case; 2] {
    [0u64, 1].map(|flag| {
        let name = format!("operands of three shapes {dtype} [{m}x{n}] warps {warps}, {}", flag != 0);
        let seed = inputs::seed(&name);
        Case::new(name, &["select"], move || {
            let x = inputs::elements(dtype, 64, seed)[..m].to_vec();
            let mask: Vec<u64> = (0..n as u64).map(|i| i / 3 % 2).collect();
            let other = inputs::elements(dtype, 64, seed + 1)[63];
            let each = |of: &dyn Fn(usize) -> bool| {
                let pick = |i: usize| Expected::Bits(if of(i) { x[i / n] } else { other });
                Region::output(dtype, (0..m * n).map(pick).collect())
            };
            let outputs = [each(&|i| mask[i % n] != 0), each(&|_| flag != 0)];
            let inputs = [Region::input(DType::Bool, mask.clone()), Region::input(dtype, x.clone())];
            let regions = inputs.into_iter().chain(outputs).collect();
            Trial { regions, numbers: vec![other, flag], grid: [1; 3], launch }
        })
    })
}

fn fills(dtype: DType, [m, n]: [usize; 2], warps: u32, launch: Launch) -> Case {
    let name = format!("full and zeros {dtype} [{m}x{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["full", "zeros"], move || {
        let value = inputs::elements(dtype, 64, seed)[0];
        let outputs = [value, 0].map(|bits| Region::output(dtype, vec![Expected::Bits(bits); m * n]));
        Trial { regions: outputs.into(), numbers: vec![value], grid: [1; 3], launch }
    })
}

macro_rules! each {
    ($into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        each!(@trans $into, t, $t, (16, 16, 1) (1, 64, 2) (32, 64, 8) (128, 2, 4) (12, 40, 2));
        each!(@permute $into, t, $t, (4, 8, 16, 0, 2, 1, 1) (4, 8, 16, 1, 0, 2, 2) (4, 8, 16, 1, 2, 0, 4) (4, 8, 16, 2, 0, 1, 8)
            (1, 32, 8, 2, 1, 0, 4) (4, 8, 12, 2, 0, 1, 2));
        each!(@reshape $into, t, $t, (8, 32, 16, 16, 1) (1, 256, 64, 4, 4) (64, 8, 512, 1, 8) (12, 32, 96, 4, 2));
        each!(@expand $into, t, $t, (0, 8, 4, 16, 1) (1, 4, 8, 16, 4) (2, 4, 16, 8, 8) (0, 12, 4, 16, 2));
        each!(@broadcast $into, t, $t, (16, 32, 1) (64, 4, 4) (1, 1, 2) (12, 40, 1));
        each!(@pairs $into, t, $t, (1, 2, 1) (1, 64, 4) (16, 32, 2) (64, 64, 8));
        each!(@odd_pairs $into, t, $t, (3, 32, 2));
        each!(@mixed $into, t, $t, (16, 32, 2) (8, 64, 8) (12, 40, 1));
        each!(@fill $into, t, $t, (1, 1, 1) (16, 32, 2) (4, 256, 8) (12, 32, 1));
    })* };
    (@trans $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(moved(&["transpose"], format!("[{}x{}] warps {}", $m, $n, $warps), $dtype, [$m * $n; 2],
            [|dims, i| i % dims[0] * dims[1] + i / dims[0]],
            (&[$m, $n], |run| launch!(run, trans::<$t, $m, $n>(&run.ptr(), &mut run.ptr())))));
    )* };
    (@permute $into:ident, $dtype:ident, $t:ident,
        $(($a:literal, $b:literal, $c:literal, $p:literal, $q:literal, $s:literal, $warps:literal))*) => { $(
        $into.push(moved(&["permute"], format!("[{}x{}x{}] by {}{}{} warps {}", $a, $b, $c, $p, $q, $s, $warps), $dtype,
            [$a * $b * $c; 2], [unpermuted], (&[$a, $b, $c, $p, $q, $s],
            |run| launch!(run, permute::<$t, $a, $b, $c, $p, $q, $s>(&run.ptr(), &mut run.ptr())))));
    )* };
    (@reshape $into:ident, $dtype:ident, $t:ident, $(($a:literal, $b:literal, $c:literal, $d:literal, $warps:literal))*) => { $(
        $into.push(moved(&["reshape"], format!("[{}x{}] to [{}x{}] warps {}", $a, $b, $c, $d, $warps), $dtype, [$a * $b; 2],
            [|dims, i| i % dims[0] * dims[1] + i / dims[0]],
            (&[$c, $d], |run| launch!(run, reshape::<$t, $a, $b, $c, $d>(&run.ptr(), &mut run.ptr())))));
    )* };
    (@pairs $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(moved(&["join", "split", "interleave"], format!("[{}x{}] warps {}", $m, $n, $warps), $dtype, [$m * $n; 2],
            [
                |dims, i| i / dims[1] * dims[1] + i % dims[1] / 2 + i % 2 * (dims[1] / 2),
                |dims, i| if i < dims[0] * dims[1] / 2 { 2 * i } else { 2 * i + 1 - dims[0] * dims[1] },
                |dims, i| (i + dims[0] * dims[1] / 2) % (dims[0] * dims[1]),
                |_, i| i / 2,
            ],
            (&[$m, $n], |run| launch!(run, pairs::<$t, $m, $n>(
                &run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr()
            )))));
    )* };
    (@odd_pairs $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(moved(&["join", "split", "interleave"], format!("[{}x{}] warps {}", $m, $n, $warps), $dtype, [$m * $n; 2],
            [
                |dims, i| i / dims[1] * dims[1] + i % dims[1] / 2 + i % 2 * (dims[1] / 2),
                |dims, i| if i < dims[0] * dims[1] / 2 { 2 * i } else { 2 * i + 1 - dims[0] * dims[1] },
                |_, i| i / 2,
            ],
            (&[$m, $n], |run| launch!(run, odd_pairs::<$t, $m, $n>(
                &run.ptr(), &mut run.ptr(), &mut run.ptr(), &mut run.ptr()
            )))));
    )* };
    (@turned $into:ident, $(($t:ident, $log:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(moved(&["unroll"], format!("[{}] warps {}", $n, $warps), <$t>::DTYPE, [$n; 2],
            [|dims, i| (0..dims[0]).rev().fold(i, |i, k| i % (1 << k) * (dims[1] >> k) + i / (1 << k))],
            (&[$log, $n], |run| launch!(run, turned::<$t, $log, $n>(&run.ptr(), &mut run.ptr())))));
    )* };
    (@expand $into:ident, $dtype:ident, $t:ident, $(($axis:literal, $a:literal, $b:literal, $c:literal, $warps:literal))*) => { $(
        $into.push(moved(&["expand_dims"], format!("[4x16] along {} warps {}", $axis, $warps), $dtype, [64, $a * $b * $c],
            [|dims, i| match dims[0] { 0 => i % 64, 1 => i / 128 * 16 + i % 16, _ => i / 8 }],
            (&[$axis], |run| launch!(run, expand_dims::<$t, $axis, $a, $b, $c>(&run.ptr(), &mut run.ptr())))));
    )* };
    (@broadcast $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(moved(&["broadcast_to"], format!("[{}x{}] warps {}", $m, $n, $warps), $dtype, [64, $m * $n],
            [|dims, i| i / dims[1], |dims, i| i % dims[1]],
            (&[$m, $n], |run| launch!(run, broadcast_to::<$t, $m, $n>(&run.ptr(), &mut run.ptr(), &mut run.ptr())))));
    )* };
    (@mixed $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.extend(mixtures($dtype, [$m, $n], $warps, |run| launch!(run, mixed::<$t, $m, $n>(
            &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar(), run.scalar()
        ))));
    )* };
    (@fill $into:ident, $dtype:ident, $t:ident, $(($m:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(fills($dtype, [$m, $n], $warps, |run| launch!(run, fill::<$t, $m, $n>(
            &mut run.ptr(), &mut run.ptr(), run.scalar()
        ))));
    )* };
    (@count $into:ident, $(($lo:literal, $n:literal, $warps:literal))*) => { $(
        $into.push(Case::new(format!("arange from {} [{}] warps {}", $lo, $n, $warps), &["arange"], || {
            let after = (0..$n).map(|i: i64| Expected::Bits(wrap(DType::I32, (i + $lo).into()))).collect();
            let launch: Launch = |run| launch!(run, counted::<$lo, $n>(&mut run.ptr()));
            Trial { regions: vec![Region::output(DType::I32, after)], numbers: vec![], grid: [1; 3], launch }
        }));
    )* };
}

/// Every change of shape on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(cases, bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    each!(@turned cases, (bool, 1, 2, 1) (i8, 6, 64, 2) (i32, 9, 512, 4) (i64, 6, 64, 2) (f16, 9, 512, 4) (f64, 9, 512, 4));
    each!(@count cases, (0, 1, 1) (-64, 128, 1) (5, 1024, 4) (2147483519, 128, 2) (-2147483647, 256, 8) (-40, 96, 2));
    for grid in [[1, 1, 1], [7, 1, 1], [1, 5, 3], [4, 3, 2]] {
        let [x, y, z] = grid;
        cases.push(Case::new(format!("programs {x}x{y}x{z}"), &["program_id", "num_programs"], move || {
            let of = |i: usize| [i % x, i / x % y, i / (x * y), x, y, z].map(|n| Expected::Bits(n as u64));
            let after = (0..x * y * z)
                .flat_map(|i| of(i).into_iter().chain([Expected::Bits(crate::case::untouched(DType::I32)); 2]));
            let launch: Launch = |run| launch!(run, placed(&mut run.ptr()));
            Trial { regions: vec![Region::output(DType::I32, after.collect())], numbers: vec![], grid, launch }
        }));
    }
    cases
}
