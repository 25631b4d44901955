//! Gathers and scatters through views of one to five axes: indices from memory and rows along memory, masks, edges, strides.

use crate::case::{Case, Launch, Region, Run, Trial, untouched};
use crate::inputs;
use crate::value::Expected;
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::numbers::Random;

macro_rules! kernels {
    ($($name:ident $rank:literal $index:ident $at:ident [$($extent:literal),*] $first:expr, $tile:expr;)*) => { $(
        /// What is listed for each axis: all of it, under a mask, with padding; and a scatter to the same elements.
        #[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], num_warps = 2)]
        fn $name<T: Element>(
            x: Tensor<T, $rank>,
            value: Tensor<T, $rank>,
            $at: Tensor<$index, 2>,
            mask: Tensor<bool, $rank>,
            other: T,
            all: TensorMut<T, $rank>,
            some: TensorMut<T, $rank>,
            padded: TensorMut<T, $rank>,
            scattered: TensorMut<T, $rank>,
        ) {
            let at = $tile;
            let mask = mask.load($first, [$($extent),*]);
            all.store($first, x.gather(at, true));
            some.store($first, x.gather(at, mask));
            padded.store($first, x.gather_or(at, mask, other));
            scattered.scatter(at, value.load($first, [$($extent),*]), mask);
        }
    )* };
}

kernels! {
    listed1 1 i32 at [64] [0], [at.load([0, 0], [1, 64]).reshape([64])];
    listed2 2 i64 at [8, 32] [0, 0], [
        at.load([0, 0], [1, 8]).reshape([8, 1]),
        at.load([1, 0], [1, 32]).reshape([1, 32]),
    ];
    listed3 3 i32 at [2, 4, 16] [0, 0, 0], [
        at.load([0, 0], [1, 2]).reshape([2, 1, 1]),
        at.load([1, 0], [1, 4]).reshape([1, 4, 1]),
        at.load([2, 0], [1, 16]).reshape([1, 1, 16]),
    ];
    listed4 4 i32 at [1, 2, 4, 8] [0, 0, 0, 0], (
        at.get([0, 0]).to::<i64>(),
        at.load([1, 0], [1, 2]).reshape([2, 1, 1]),
        at.load([2, 0], [1, 4]).reshape([4, 1]).to::<i64>(),
        at.load([3, 0], [1, 8]).reshape([1, 1, 1, 8]),
    );
    listed5 5 i64 at [2, 1, 2, 4, 8] [0, 0, 0, 0, 0], [
        at.load([0, 0], [1, 2]).reshape([2, 1, 1, 1, 1]),
        at.load([1, 0], [1, 1]).reshape([1, 1, 1, 1, 1]),
        at.load([2, 0], [1, 2]).reshape([1, 1, 2, 1, 1]),
        at.load([3, 0], [1, 4]).reshape([1, 1, 1, 4, 1]),
        at.load([4, 0], [1, 8]).reshape([1, 1, 1, 1, 8]),
    ];
    odd2 2 i32 at [12, 40] [0, 0], [
        at.load([0, 0], [1, 12]).reshape([12, 1]),
        at.load([1, 0], [1, 40]).reshape([1, 40]),
    ];
}

/// Listed rows, and neighbours along them: accessed by vectors where memory allows it.
#[triton::kernel(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (R = 16, C = 64, num_warps = 4), (R = 12, C = 48, num_warps = 2),
])]
fn rows<T: Element, const R: i32, const C: i32>(
    x: Tensor<T, 2>,
    value: Tensor<T, 2>,
    rows: Tensor<i32, 1>,
    gathered: TensorMut<T, 2>,
    scattered: TensorMut<T, 2>,
    shift: i32,
) {
    let columns = (arange(0, C) + shift).expand_dims(0);
    let at = [rows.load([0], [R]).expand_dims(1), columns];
    gathered.store([0, 0], x.gather(at, true));
    scattered.scatter(at, value.load([0, 0], [R, C]), true);
}

/// How memory lies under the views that are indexed.
struct Layout {
    name: &'static str,
    /// Whether the first axis is innermost.
    turned: bool,
    pad: usize,
    skip: usize,
}

const LAYOUTS: &[Layout] = &[
    Layout { name: "rows", turned: false, pad: 0, skip: 0 },
    Layout { name: "turned, padded, misaligned", turned: true, pad: 3, skip: 1 },
];

impl Layout {
    fn strides(&self, shape: &[usize]) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        if !self.turned {
            axes.reverse();
        }
        let (mut strides, mut stride) = (vec![0; shape.len()], 1);
        for (k, &axis) in axes.iter().enumerate() {
            strides[axis] = stride;
            stride *= shape[axis] + if k == 0 { self.pad } else { 0 };
        }
        strides
    }
}

/// The elements of memory that a shape takes.
fn len(shape: &[usize], strides: &[usize]) -> usize {
    shape.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum::<usize>() + 1
}

/// Where an index is in memory, if it is in bounds.
fn place(index: impl Iterator<Item = i64>, shape: &[usize], strides: &[usize]) -> Option<usize> {
    let along = |((at, &extent), &stride): ((i64, &usize), &usize)| {
        usize::try_from(at).ok().filter(|&at| at < extent).map(|at| at * stride)
    };
    index.zip(shape).zip(strides).map(along).sum()
}

/// Which elements along an axis of this extent are listed.
type Pattern = fn(&mut Random, usize, usize) -> i64;

const PATTERNS: &[(&str, Pattern)] = &[
    ("in order", |_, k, _| k as i64),
    ("from the end", |_, k, extent| extent as i64 - 1 - k as i64),
    ("at random", |random, _, extent| random.below(extent + 4) as i64 - 2),
    ("far out", |_, k, extent| {
        [0, i64::from(i32::MIN), extent as i64, -1, extent as i64 - 1, i64::from(i32::MAX), 1][k % 7]
    }),
    ("one element", |_, _, extent| extent as i64 / 2),
];

fn exactly(bits: impl IntoIterator<Item = u64>) -> Vec<Expected> {
    bits.into_iter().map(Expected::Bits).collect()
}

/// What memory holds when values are written to it.
fn written(dtype: DType, len: usize, writes: impl Iterator<Item = (Option<usize>, u64)>) -> Vec<Expected> {
    let mut after = vec![untouched(dtype); len];
    writes.filter_map(|(at, value)| Some((at?, value))).for_each(|(at, value)| after[at] = value);
    exactly(after)
}

/// The indices of a tile's elements along each axis.
fn elements(tile: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let tile = tile.to_vec();
    (0..tile.iter().product()).map(move |mut flat: usize| {
        let mut index = vec![0; tile.len()];
        for (at, extent) in index.iter_mut().zip(&tile).rev() {
            (*at, flat) = (flat % extent, flat / extent);
        }
        index
    })
}

fn listed(into: &mut Vec<Case>, dtype: DType, index: DType, tile: &'static [usize], launch: Launch) {
    for (pattern, of) in PATTERNS {
        for layout in LAYOUTS {
            let shown: Vec<String> = tile.iter().map(usize::to_string).collect();
            let name = format!("gather and scatter {dtype} [{}], {pattern}, {}", shown.join("x"), layout.name);
            let seed = inputs::seed(&name);
            into.push(Case::new(name, &[], move || {
                let mut random = Random::new(seed);
                let shape: Vec<usize> = tile.iter().enumerate().map(|(axis, extent)| extent + 5 - axis).collect();
                let strides = layout.strides(&shape);
                let (len, count) = (len(&shape, &strides), tile.iter().product());
                let longest = *tile.iter().max().unwrap_or(&1);
                let row = |extent: &usize| (0..longest).map(|k| of(&mut random, k, *extent)).collect::<Vec<i64>>();
                let at: Vec<Vec<i64>> = shape.iter().map(row).collect();
                let x = inputs::elements(dtype, len, seed);
                let value = inputs::elements(dtype, count, seed + 1);
                let mut mask = inputs::elements(DType::Bool, count, seed);
                let other = inputs::elements(dtype, 64, seed + 2)[63];
                let places: Vec<Option<usize>> = elements(tile)
                    .map(|index| place(index.iter().zip(&at).map(|(&k, at)| at[k]), &shape, &strides))
                    .collect();
                // Which of two values stays is open, and a race on the simulator.
                let mut taken = vec![false; len];
                for (mask, place) in mask.iter_mut().zip(&places) {
                    let before = place.is_some_and(|at| *mask != 0 && std::mem::replace(&mut taken[at], true));
                    *mask &= u64::from(!before);
                }
                let read = |i: usize, otherwise: u64| places[i].map_or(otherwise, |at| x[at]);
                let outputs = [
                    exactly((0..count).map(|i| read(i, 0))),
                    exactly((0..count).map(|i| if mask[i] != 0 { read(i, 0) } else { 0 })),
                    exactly((0..count).map(|i| if mask[i] != 0 { read(i, other) } else { other })),
                ];
                let writes = (0..count).filter(|&i| mask[i] != 0).map(|i| (places[i], value[i]));
                let scattered = written(dtype, len, writes);
                let at = at.concat().into_iter().map(|at| at as u64 & crate::value::mask(index)).collect();
                let numbers = shape.iter().chain(&strides).map(|&n| n as u64).chain([longest as u64, other]).collect();
                let mut regions = vec![
                    Region::input(dtype, x).skip(layout.skip),
                    Region::input(dtype, value),
                    Region::input(index, at),
                    Region::input(DType::Bool, mask),
                ];
                regions.extend(outputs.map(|after| Region::output(dtype, after)));
                regions.push(Region::output(dtype, scattered).skip(layout.skip));
                Trial { regions, numbers, grid: [1; 3], launch }
            }));
        }
    }
}

/// Rows of which the launch is given: what they have beyond the columns of a tile, the shift along them, the padding of a row, an offset.
const ROWS: &[(&str, [isize; 4])] = &[
    ("whole", [0, 0, 0, 0]),
    ("shifted", [0, 8, 0, 0]),
    ("shifted by one", [0, -1, 0, 0]),
    ("ragged", [-3, 0, 11, 0]),
    ("misaligned", [16, 16, 0, 1]),
    ("of odd pitch", [1, 0, 0, 0]),
];

fn along_rows(into: &mut Vec<Case>, dtype: DType, [r, c]: [usize; 2], launch: Launch) {
    for &(what, [over, shift, pad, skip]) in ROWS {
        let name = format!("gather and scatter {dtype} [{r}x{c}] along rows, {what}");
        let seed = inputs::seed(&name);
        into.push(Case::new(name, &[], move || {
            let mut random = Random::new(seed);
            let shape = [21, c.saturating_add_signed(over)];
            let strides = [shape[1] + pad as usize, 1];
            let mut at: Vec<i64> = (-2..23).collect();
            random.shuffle(&mut at);
            at.truncate(r);
            let x = inputs::elements(dtype, len(&shape, &strides), seed);
            let value = inputs::elements(dtype, r * c, seed + 1);
            let place = |i: usize| place([at[i / c], (i % c) as i64 + shift as i64].into_iter(), &shape, &strides);
            let gathered = exactly((0..r * c).map(|i| place(i).map_or(0, |at| x[at])));
            let scattered = written(dtype, x.len(), (0..r * c).map(|i| (place(i), value[i])));
            let rows = at.iter().map(|&at| at as u64 & 0xffff_ffff).collect();
            let regions = vec![
                Region::input(dtype, x).skip(skip as usize),
                Region::input(dtype, value),
                Region::input(DType::I32, rows),
                Region::output(dtype, gathered),
                Region::output(dtype, scattered).skip(skip as usize),
            ];
            let numbers = shape.into_iter().chain(strides).map(|n| n as u64).chain([shift as u64 & 0xffff_ffff]);
            Trial { regions, numbers: numbers.collect(), grid: [1; 3], launch }
        }));
    }
}

macro_rules! each {
    ($into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        each!(@listed $into $t t, listed1 1 i32 [64]);
        each!(@listed $into $t t, listed2 2 i64 [8, 32]);
        each!(@listed $into $t t, listed3 3 i32 [2, 4, 16]);
        each!(@listed $into $t t, listed4 4 i32 [1, 2, 4, 8]);
        each!(@listed $into $t t, listed5 5 i64 [2, 1, 2, 4, 8]);
        each!(@listed $into $t t, odd2 2 i32 [12, 40]);
        each!(@rows $into $t t, 16 64);
        each!(@rows $into $t t, 12 48);
    })* };
    (@rows $into:ident $t:ident $dtype:ident, $r:literal $c:literal) => {
        along_rows(&mut $into, $dtype, [$r, $c], |run: &Run<'_>| {
            let (x, value, list) = (run.buffer::<$t>(0), run.buffer::<$t>(1), run.buffer::<i32>(2));
            let (mut gathered, mut scattered) = (run.buffer_mut::<$t>(3), run.buffer_mut::<$t>(4));
            let (x, value, list) = (x.slice(run.range(0))?, value.slice(run.range(1))?, list.slice(run.range(2))?);
            let (mut gathered, mut scattered) = (gathered.slice_mut(run.range(3))?, scattered.slice_mut(run.range(4))?);
            let (shape, strides) = (run.sizes::<2>(), run.sizes::<2>().map(|n| n as isize));
            rows::<$t, $r, $c>(
                x.view(shape)?.with_strides(strides)?,
                value.view([$r, $c])?,
                list.view([$r])?,
                gathered.view_mut([$r, $c])?,
                scattered.view_mut(shape)?.with_strides(strides)?,
                run.scalar(),
            )
            .launch(run.stream, run.grid())
        });
    };
    (@listed $into:ident $t:ident $dtype:ident, $kernel:ident $rank:literal $index:ident $tile:expr) => {
        listed(&mut $into, $dtype, <$index>::DTYPE, &$tile, |run: &Run<'_>| {
            let (x, value, at, mask) =
                (run.buffer::<$t>(0), run.buffer::<$t>(1), run.buffer::<$index>(2), run.buffer::<bool>(3));
            let (x, value) = (x.slice(run.range(0))?, value.slice(run.range(1))?);
            let (at, mask) = (at.slice(run.range(2))?, mask.slice(run.range(3))?);
            let [mut all, mut some, mut padded, mut scattered] = [4, 5, 6, 7].map(|i| run.buffer_mut::<$t>(i));
            let (mut all, mut some) = (all.slice_mut(run.range(4))?, some.slice_mut(run.range(5))?);
            let (mut padded, mut scattered) = (padded.slice_mut(run.range(6))?, scattered.slice_mut(run.range(7))?);
            let (shape, strides) = (run.sizes::<$rank>(), run.sizes::<$rank>().map(|n| n as isize));
            let [longest] = run.sizes::<1>();
            $kernel::<$t>(
                x.view(shape)?.with_strides(strides)?,
                value.view($tile)?,
                at.view([$rank, longest])?,
                mask.view($tile)?,
                run.scalar(),
                all.view_mut($tile)?,
                some.view_mut($tile)?,
                padded.view_mut($tile)?,
                scattered.view_mut(shape)?.with_strides(strides)?,
            )
            .launch(run.stream, run.grid())
        });
    };
}

/// Gathers and scatters on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(cases, bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    cases
}
