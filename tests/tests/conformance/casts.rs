//! Conversions between every two element types, of tiles by `.to::<U>()`, of numbers by that and by `as`; and the bits of one type as
//! those of another, by `.bitcast::<U>()`.

use crate::case::{Case, Launch, Region, Trial, launch};
use crate::inputs;
use crate::reference::cast;
use crate::value::Expected;
use triton::prelude::*;
use triton_core::types::DType;

#[triton::kernel(
    T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64],
    U = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64],
    configs = [(N = 256, num_warps = 2), (N = 128, num_warps = 4), (N = 96, num_warps = 1)]
)]
fn tiles<T: Element, U: Element, const N: i32>(x: Ptr<T>, out: PtrMut<U>, n: i32) {
    let i = program_id(0) * N + arange(0, N);
    store(out + i, load(x + i, i < n).to::<U>(), i < n);
}

/// Both spellings for numbers; a program takes every `num_programs`-th.
#[triton::kernel(
    T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64],
    U = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64],
    num_warps = 1
)]
fn scalars<T: Element, U: Element>(x: Ptr<T>, by_to: PtrMut<U>, by_as: PtrMut<U>, n: i32) {
    for i in (program_id(0)..n).step_by(num_programs(0)) {
        let v = load(x + i, true);
        store(by_to + i, v.to::<U>(), true);
        store(by_as + i, v as U, true);
    }
}

/// `count` conversions, by `outputs` ways each.
fn case(
    what: &str,
    types: [DType; 2],
    outputs: usize,
    skip: usize,
    [count, programs]: [usize; 2],
    launch: Launch,
) -> Case {
    let [from, to] = types;
    let name = format!("cast {from} to {to}, {what}{}", if skip > 0 { ", misaligned" } else { "" });
    let seed = inputs::seed(&name);
    Case::new(name, &[], move || {
        // All that there are, or as many edges and random ones as turning points.
        let [mut x, _, _] = inputs::columns([from, DType::Bool, DType::Bool], 1, count, seed, inputs::all);
        if from.bits() > 16 {
            x.truncate(count / 2);
            x.extend(inputs::turning_points(from, to, count - x.len(), seed));
        }
        let expected: Vec<Expected> = x.iter().map(|&bits| Expected::Bits(cast(from, to, bits))).collect();
        let written = (0..outputs).map(|_| Region::output(to, expected.clone()).skip(skip));
        let regions = [Region::input(from, x).skip(skip)].into_iter().chain(written).collect();
        Trial { regions, numbers: vec![count as u64], grid: [programs, 1, 1], launch }
    })
}

macro_rules! cases {
    ($into:ident, [$($t:ident)*], $to:tt) => { $(cases!(@from $into, $t, $to);)* };
    (@from $into:ident, $t:ident, [$($u:ident)*]) => { $({
        let types = [<$t>::DTYPE, <$u>::DTYPE];
        // Of 16 bits there are as many as 256 programs of 256.
        let count = if types[0].bits() <= 16 { 1 << 16 } else { 4096 };
        $into.push(case("256 elements, warps 2", types, 1, 0, [count, count / 256], |run| {
            launch!(run, tiles::<$t, $u, 256>(&run.ptr(), &mut run.ptr(), run.scalar()))
        }));
        $into.push(case("128 elements, warps 4", types, 1, 0, [1001, 8], |run| {
            launch!(run, tiles::<$t, $u, 128>(&run.ptr(), &mut run.ptr(), run.scalar()))
        }));
        $into.push(case("96 elements, warps 1", types, 1, 0, [1001, 11], |run| {
            launch!(run, tiles::<$t, $u, 96>(&run.ptr(), &mut run.ptr(), run.scalar()))
        }));
        $into.push(case("256 elements, warps 2", types, 1, 1, [1200, 5], |run| {
            launch!(run, tiles::<$t, $u, 256>(&run.ptr(), &mut run.ptr(), run.scalar()))
        }));
        $into.push(case("numbers", types, 2, 0, [500, 25], |run| {
            launch!(run, scalars::<$t, $u>(&run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar()))
        }));
    })* };
}

/// A kernel for all pairs of types of one width: `x` as the type, and `words` as integers that become it.
macro_rules! bits {
    ($($name:ident [$($t:ident)*] $word:ident;)*) => { $(
        mod $name {
            //! Types of one width.
            use super::bitcast_case;
            use crate::case::{Case, launch};
            use triton::prelude::*;

            #[triton::kernel(T = [$($t),*], U = [$($t),*], N = [128, 96], num_warps = 2)]
            fn kernel<T: Num, U: Num, const N: i32>(x: Ptr<T>, tiles: PtrMut<U>, numbers: PtrMut<U>, n: i32) {
                let i = program_id(0) * N + arange(0, N);
                store(tiles + i, load(x + i, i < n).bitcast::<U>(), i < n);
                for k in program_id(0) * N..minimum(n, (program_id(0) + 1) * N) {
                    store(numbers + k, load(x + k, true).bitcast::<U>(), true);
                }
            }

            pub fn cases(into: &mut Vec<Case>) {
                bits!(@pairs into, [$($t)*], [$($t)*], $word);
            }
        }
    )* };
    (@pairs $into:ident, [$($t:ident)*], $to:tt, $word:ident) => { $(bits!(@to $into, $t, $to, $word);)* };
    (@to $into:ident, $t:ident, [$($u:ident)*], $word:ident) => { $(
        for skip in [0, 1] {
            bits!(@of $into, $t, $u, $word, skip, 128);
        }
        bits!(@of $into, $t, $u, $word, 0, 96);
    )* };
    (@of $into:ident, $t:ident, $u:ident, $word:ident, $skip:expr, $n:literal) => {
        $into.push(bitcast_case([<$t>::DTYPE, <$u>::DTYPE], <$word>::DTYPE, $n, $skip, |run| {
            launch!(run, kernel::<$t, $u, $n>(&run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar()))
        }));
    };
}

bits! {
    bytes [i8 u8] u8;
    halves [i16 u16 f16 bf16] u16;
    words [i32 u32 f32] u32;
    doubles [i64 u64 f64] u64;
}

/// The bits of one type as another one's. They are compared as integers, so that those of a NaN count.
fn bitcast_case([from, to]: [DType; 2], word: DType, block: usize, skip: usize, launch: Launch) -> Case {
    let name = format!("bitcast {from} to {to}, {block} elements{}", if skip > 0 { ", misaligned" } else { "" });
    let seed = inputs::seed(&name);
    Case::new(name, &[], move || {
        let [x, _, _] = inputs::columns([word, DType::Bool, DType::Bool], 1, 1001, seed, inputs::all);
        let [floats, _, _] = inputs::columns([from, DType::Bool, DType::Bool], 1, 1001, seed, inputs::all);
        let x: Vec<u64> = x.into_iter().chain(floats).collect();
        let count = x.len();
        let expected: Vec<Expected> = x.iter().map(|&bits| Expected::Bits(bits)).collect();
        let written = || Region::output(word, expected.clone()).skip(skip);
        let regions = vec![Region::input(word, x.clone()).skip(skip), written(), written()];
        Trial { regions, numbers: vec![count as u64], grid: [count.div_ceil(block), 1, 1], launch }
    })
}

/// Every pair of types.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    bytes::cases(&mut cases);
    halves::cases(&mut cases);
    words::cases(&mut cases);
    doubles::cases(&mut cases);
    cases!(cases,
        [bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64],
        [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64]);
    cases
}
