//! Loads and stores through views of one to five axes: edges, tiles partly out of bounds, strides, either major order.

use crate::case::{Case, Launch, Region, Run, Trial, untouched};
use crate::inputs;
use crate::value::Expected;
use triton::prelude::*;
use triton_core::types::DType;

#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (A = 32, num_warps = 1), (A = 1024, num_warps = 4), (A = 384, num_warps = 2),
])]
fn rank1<T: Element, const A: i32>(x: Tensor<T, 1>, out: TensorMut<T, 1>, shift: i32) {
    let i = program_id(0) * A;
    out.store([i], x.load([i + shift], [A]));
}

#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (A = 8, B = 32, num_warps = 1), (A = 16, B = 64, num_warps = 8), (A = 64, B = 1, num_warps = 2),
    (A = 12, B = 40, num_warps = 2),
])]
fn rank2<T: Element, const A: i32, const B: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>, shift: i32) {
    let (i, j) = (program_id(0) * A, program_id(1) * B);
    out.store([i, j], x.load([i + shift, j + shift], [A, B]));
}

/// Coordinates of 64 bits.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (A = 2, B = 4, C = 16, num_warps = 2), (A = 3, B = 4, C = 24, num_warps = 1),
])]
fn rank3<T: Element, const A: i32, const B: i32, const C: i32>(x: Tensor<T, 3>, out: TensorMut<T, 3>, shift: i64) {
    let (i, j, k) = (program_id(0) * A, program_id(1) * B, program_id(2) * C);
    let (i, j, k) = (i.to::<i64>(), j.to::<i64>(), k.to::<i64>());
    out.store([i, j, k], x.load([i + shift, j + shift, k + shift], [A, B, C]));
}

#[triton::kernel(T = [bool, i32, f16], configs = [
    (A = 2, B = 2, C = 4, D = 8, num_warps = 4), (A = 2, B = 3, C = 4, D = 12, num_warps = 1),
])]
fn rank4<T: Element, const A: i32, const B: i32, const C: i32, const D: i32>(
    x: Tensor<T, 4>,
    out: TensorMut<T, 4>,
    shift: i32,
) {
    let (i, j, k) = (program_id(0) * A, program_id(1) * B, program_id(2) * C);
    out.store([i, j, k, 0], x.load([i + shift, j + shift, k + shift, shift], [A, B, C, D]));
}

#[triton::kernel(T = [u8, bf16, f64], configs = [
    (A = 2, B = 1, C = 2, D = 4, E = 8, num_warps = 4), (A = 2, B = 1, C = 6, D = 4, E = 5, num_warps = 1),
])]
fn rank5<T: Element, const A: i32, const B: i32, const C: i32, const D: i32, const E: i32>(
    x: Tensor<T, 5>,
    out: TensorMut<T, 5>,
    shift: i32,
) {
    let (i, j, k) = (program_id(0) * A, program_id(1) * B, program_id(2) * C);
    out.store([i, j, k, 0, 0], x.load([i + shift, j + shift, k + shift, shift, shift], [A, B, C, D, E]));
}

/// The extents and strides of a view.
#[triton::kernel(num_warps = 1)]
fn describe(x: Tensor<f32, 3>, sizes: TensorMut<i64, 1>) {
    sizes.store([0], full::<i64>([1], x.dim(0).to::<i64>()));
    sizes.store([1], full::<i64>([1], x.dim(1).to::<i64>()));
    sizes.store([2], full::<i64>([1], x.dim(2).to::<i64>()));
    sizes.store([3], full::<i64>([1], x.stride(0)));
    sizes.store([4], full::<i64>([1], x.stride(1)));
    sizes.store([5], full::<i64>([1], x.stride(2)));
}

/// Strides of a shape whose axes lie in memory in an order, the last one innermost; rows are `pad` elements longer than they
/// must be.
fn strides(shape: &[usize], first_innermost: bool, pad: usize) -> Vec<usize> {
    let mut strides = vec![0; shape.len()];
    let (mut stride, mut innermost) = (1, true);
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    if !first_innermost {
        axes.reverse();
    }
    for axis in axes {
        strides[axis] = stride;
        stride *= shape[axis] + if innermost { pad } else { 0 };
        innermost = false;
    }
    strides
}

/// Every index of a shape, in row-major order.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |mut flat: usize| {
        let mut index = vec![0; shape.len()];
        for (at, extent) in index.iter_mut().zip(&shape).rev() {
            (*at, flat) = (flat % extent, flat / extent);
        }
        index
    })
}

fn place(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(i, stride)| i * stride).sum()
}

/// How memory lies under the two views.
struct Layout {
    name: &'static str,
    /// What an axis has more than tiles cover.
    over: isize,
    shift: i64,
    /// Whether x, and whether the result, has its first axis innermost.
    turned: [bool; 2],
    pad: usize,
    skip: usize,
}

const LAYOUTS: &[Layout] = &[
    Layout { name: "whole tiles", over: 0, shift: 0, turned: [false; 2], pad: 0, skip: 0 },
    Layout { name: "ragged", over: -3, shift: 0, turned: [false; 2], pad: 0, skip: 0 },
    Layout { name: "hanging over the start", over: -1, shift: -5, turned: [false; 2], pad: 0, skip: 0 },
    Layout {
        name: "hanging over the end, rows padded, misaligned",
        over: 0,
        shift: 3,
        turned: [false; 2],
        pad: 7,
        skip: 1,
    },
    Layout { name: "x turned", over: 0, shift: 0, turned: [true, false], pad: 0, skip: 0 },
    Layout { name: "result turned, ragged", over: -1, shift: 0, turned: [false, true], pad: 0, skip: 0 },
    Layout { name: "both turned, shifted", over: 0, shift: 1, turned: [true, true], pad: 0, skip: 0 },
];

fn views(into: &mut Vec<Case>, dtype: DType, tile: &'static [usize], warps: u32, launch: Launch) {
    let layouts = if tile.len() == 1 { &LAYOUTS[..4] } else { LAYOUTS };
    for layout in layouts {
        let shown: Vec<String> = tile.iter().map(usize::to_string).collect();
        let name = format!("view {dtype} [{}] warps {warps}, {}", shown.join("x"), layout.name);
        let seed = inputs::seed(&name);
        into.push(Case::new(name, &[], move || {
            // Axes that no axis of the grid walks are one tile long.
            let grid: Vec<usize> = (0..tile.len()).map(|axis| if axis < 3 { 3 - axis } else { 1 }).collect();
            let length = |(t, g): (&usize, &usize)| (t * g).saturating_add_signed(layout.over).max(1);
            let shape: Vec<usize> = tile.iter().zip(&grid).map(length).collect();
            let [of_x, of_out] = layout.turned.map(|turned| strides(&shape, turned, layout.pad));
            let len = |strides: &[usize]| place(&shape.iter().map(|d| d - 1).collect::<Vec<_>>(), strides) + 1;
            let x = inputs::elements(dtype, len(&of_x), seed);
            let mut after = vec![Expected::Bits(untouched(dtype)); len(&of_out)];
            for index in indices(&shape) {
                let from = index
                    .iter()
                    .zip(&shape)
                    .map(|(&i, &extent)| usize::try_from(i as i64 + layout.shift).ok().filter(|&i| i < extent));
                let from: Option<Vec<usize>> = from.collect();
                after[place(&index, &of_out)] = Expected::Bits(from.map_or(0, |from| x[place(&from, &of_x)]));
            }
            let sizes = shape.iter().chain(&of_x).chain(&shape).chain(&of_out).map(|&n| n as u64);
            Trial {
                regions: vec![
                    Region::input(dtype, x).skip(layout.skip),
                    Region::output(dtype, after).skip(layout.skip),
                ],
                numbers: sizes.chain([layout.shift as u64]).collect(),
                grid: [0, 1, 2].map(|axis| grid.get(axis).copied().unwrap_or(1)),
                launch,
            }
        }));
    }
}

/// The launch of a kernel over a view of region 0 and a mutable one of region 1.
macro_rules! launch_views {
    ($t:ident, $rank:literal, $kernel:expr) => {
        |run: &Run<'_>| {
            let (x, mut out) = (run.buffer::<$t>(0), run.buffer_mut::<$t>(1));
            let (x, mut out) = (x.slice(run.range(0))?, out.slice_mut(run.range(1))?);
            let x = x.view(run.sizes::<$rank>())?.with_strides(run.sizes::<$rank>().map(|n| n as isize))?;
            let out = out.view_mut(run.sizes::<$rank>())?.with_strides(run.sizes::<$rank>().map(|n| n as isize))?;
            $kernel(x, out, run.scalar()).launch(run.stream, run.grid())
        }
    };
}

macro_rules! each {
    ($into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        views(&mut $into, t, &[32], 1, launch_views!($t, 1, rank1::<$t, 32>));
        views(&mut $into, t, &[1024], 4, launch_views!($t, 1, rank1::<$t, 1024>));
        views(&mut $into, t, &[384], 2, launch_views!($t, 1, rank1::<$t, 384>));
        views(&mut $into, t, &[8, 32], 1, launch_views!($t, 2, rank2::<$t, 8, 32>));
        views(&mut $into, t, &[16, 64], 8, launch_views!($t, 2, rank2::<$t, 16, 64>));
        views(&mut $into, t, &[64, 1], 2, launch_views!($t, 2, rank2::<$t, 64, 1>));
        views(&mut $into, t, &[12, 40], 2, launch_views!($t, 2, rank2::<$t, 12, 40>));
        views(&mut $into, t, &[2, 4, 16], 2, launch_views!($t, 3, rank3::<$t, 2, 4, 16>));
        views(&mut $into, t, &[3, 4, 24], 1, launch_views!($t, 3, rank3::<$t, 3, 4, 24>));
    })* };
    (@4 $into:ident, $($t:ident)*) => { $(
        views(&mut $into, <$t>::DTYPE, &[2, 2, 4, 8], 4, launch_views!($t, 4, rank4::<$t, 2, 2, 4, 8>));
        views(&mut $into, <$t>::DTYPE, &[2, 3, 4, 12], 1, launch_views!($t, 4, rank4::<$t, 2, 3, 4, 12>));
    )* };
    (@5 $into:ident, $($t:ident)*) => { $(
        views(&mut $into, <$t>::DTYPE, &[2, 1, 2, 4, 8], 4, launch_views!($t, 5, rank5::<$t, 2, 1, 2, 4, 8>));
        views(&mut $into, <$t>::DTYPE, &[2, 1, 6, 4, 5], 1, launch_views!($t, 5, rank5::<$t, 2, 1, 6, 4, 5>));
    )* };
}

/// Every kind of view on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(cases, bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    each!(@4 cases, bool i32 f16);
    each!(@5 cases, u8 bf16 f64);
    // An axis of one element has no stride of its own.
    for (name, shape, strides, seen) in [
        ("rows", [3, 5, 7], [35, 7, 1], [35, 7, 1]),
        ("turned", [4, 4, 8], [1, 64, 4], [1, 64, 4]),
        ("flat", [1, 1, 1], [9, 9, 9], [0, 0, 1]),
    ] {
        cases.push(Case::new(format!("extents and strides of a view, {name}"), &["full"], move || {
            let numbers: Vec<u64> = shape.into_iter().chain(strides).collect();
            let x = Region::input(DType::F32, vec![0; 512]);
            let sizes = shape.into_iter().chain(seen).map(Expected::Bits);
            let sizes = Region::output(DType::I64, sizes.collect());
            let launch: Launch = |run| {
                let (x, mut out) = (run.buffer::<f32>(0), run.buffer_mut::<i64>(1));
                let (x, mut out) = (x.slice(run.range(0))?, out.slice_mut(run.range(1))?);
                let x = x.view(run.sizes::<3>())?.with_strides(run.sizes::<3>().map(|n| n as isize))?;
                describe(x, out.view_mut([6])?).launch(run.stream, run.grid())
            };
            Trial { regions: vec![x, sizes], numbers, grid: [1; 3], launch }
        }));
    }
    cases
}
