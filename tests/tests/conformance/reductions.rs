//! Reductions of whole tiles and along each axis, and by closures.
//!
//! A row is a reduction; it is compiled for four lengths of a whole tile, for each axis of two and of three, and for axes beside
//! one of extent 1. Four programs reduce inputs of four kinds.

use crate::case::{Case, Launch, Region, Trial, launch};
use crate::float::{Format, power};
use crate::inputs;
use crate::reference::{greater, lesser, order};
use crate::value::{Expected, from_f64, integer, is_nan, to_f64, wrap};
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// The inputs of a reduction.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Everything there is, numbers at the ends of the range and NaN.
    Any,
    /// Whole numbers whose sums are exact in every order.
    Exact,
    /// Numbers of a moderate size.
    Moderate,
    /// Zeros of both signs and NaN: hardly anything else.
    Few,
}

const KINDS: [Kind; 4] = [Kind::Any, Kind::Exact, Kind::Moderate, Kind::Few];

fn elements(kind: Kind, dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed ^ kind as u64);
    match kind {
        Kind::Any => inputs::elements(dtype, count.max(64), seed)[..count].to_vec(),
        // The magnitudes are 200 at most: `bf16` counts to 256.
        Kind::Exact => {
            let mut one = |_| if random.below(count) < 50 { [1.0, -1.0, 2.0][random.below(3)] } else { 0.0 };
            (0..count).map(|i| from_f64(dtype, one(i))).collect()
        }
        Kind::Moderate => (0..count).map(|_| from_f64(dtype, random.within(1 << 20) as f64 / 16384.0)).collect(),
        Kind::Few => {
            let few = [0.0, -0.0, 0.0, f64::NAN, -0.0, 1.0];
            let most = if random.below(2) == 0 { 5 } else { 6 };
            (0..count).map(|_| from_f64(dtype, few[random.below(most)])).collect()
        }
    }
}

/// A sum: of floats exact if their order does not matter; else every order of additions is off by less than a rounding of the
/// sum of all magnitudes for each element (Higham, *Accuracy and Stability of Numerical Algorithms*, 4.2).
fn total(dtype: DType, x: &[u64]) -> Expected {
    let Some(format) = Format::of(dtype) else {
        return Expected::Bits(wrap(dtype, x.iter().map(|&bits| integer(dtype, bits)).sum()));
    };
    let numbers = || x.iter().map(|&bits| to_f64(dtype, bits));
    let size: f64 = numbers().filter(|x| x.is_finite()).map(f64::abs).sum();
    let total: f64 = numbers().sum();
    if numbers().any(f64::is_nan) {
        return Expected::Bits(from_f64(dtype, f64::NAN));
    }
    if size >= power(format.most()) {
        // It overflows in one order and not in another.
        return Expected::Any;
    }
    let whole = numbers().all(|x| x.fract() == 0.0) && size < power(format.fraction as i32);
    if !total.is_finite() || whole && total != 0.0 {
        return Expected::Bits(from_f64(dtype, total));
    }
    // The reference's own roundings are those of `f64`.
    let rounding = power(-1 - format.fraction as i32) + power(-53);
    Expected::Near { exact: total, error: x.len() as f64 * rounding * size }
}

fn most(dtype: DType, x: &[u64]) -> Expected {
    Expected::Bits(x.iter().copied().reduce(|a, b| greater(dtype, a, b)).unwrap_or(0))
}

fn least(dtype: DType, x: &[u64]) -> Expected {
    Expected::Bits(x.iter().copied().reduce(|a, b| lesser(dtype, a, b)).unwrap_or(0))
}

/// The first element that is a number and that no other one comes before.
fn first(dtype: DType, x: &[u64], before: fn(std::cmp::Ordering) -> bool) -> Expected {
    let best = (0..x.len())
        .filter(|&i| !is_nan(dtype, x[i]))
        .reduce(|a, b| if order(dtype, x[b], x[a]).is_some_and(before) { b } else { a });
    Expected::Bits(best.unwrap_or(0) as u64)
}

fn argmost(dtype: DType, x: &[u64]) -> Expected {
    first(dtype, x, |order| order.is_gt())
}

fn argleast(dtype: DType, x: &[u64]) -> Expected {
    first(dtype, x, |order| order.is_lt())
}

fn some(_: DType, x: &[u64]) -> Expected {
    Expected::Bits(u64::from(x.contains(&1)))
}

fn every(_: DType, x: &[u64]) -> Expected {
    Expected::Bits(u64::from(!x.contains(&0)))
}

/// What a row's cases have in common.
#[derive(Clone, Copy)]
struct Row {
    name: &'static [&'static str],
    dtype: DType,
    result: DType,
    reference: fn(DType, &[u64]) -> Expected,
}

/// One instance: `[outer, extent, inner]` elements a program are reduced along the middle axis.
fn case(row: Row, what: &str, [outer, extent, inner]: [usize; 3], launch: Launch) -> Case {
    let Row { name, dtype, result, reference } = row;
    let text = format!("{} {dtype} {what}", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let tiles = KINDS.map(|kind| elements(kind, dtype, outer * extent * inner, seed));
        let fold = |tile: &Vec<u64>, o: usize, i: usize| {
            let along: Vec<u64> = (0..extent).map(|k| tile[(o * extent + k) * inner + i]).collect();
            reference(dtype, &along)
        };
        let of_tile =
            |tile: &Vec<u64>| (0..outer * inner).map(|at| fold(tile, at / inner, at % inner)).collect::<Vec<_>>();
        let after = tiles.iter().flat_map(of_tile).collect();
        let regions = vec![Region::input(dtype, tiles.concat()), Region::output(result, after)];
        Trial { regions, numbers: vec![], grid: [KINDS.len(), 1, 1], launch }
    })
}

/// A table of reductions: name, name along an axis, bound, element types, what a kernel reads and yields of them, the reference.
macro_rules! reductions {
    ($($name:ident $axis:ident $bound:ident $types:tt $element:ident -> $result:ident = $reference:ident;)*) => {
        $(
            mod $name {
                //! One reduction.
                use super::*;
                reductions!(@kernels $name $axis $bound $types $element -> $result);

                /// The cases of every element type.
                pub fn cases(into: &mut Vec<Case>) {
                    const WHOLE: &[&str] = &[stringify!($name)];
                    const AXIS: &[&str] = &[stringify!($axis)];
                    reductions!(@types into, $types -> $result = $reference);
                }
            }
        )*

        /// Every reduction on every element type.
        pub fn cases() -> Vec<Case> {
            let mut cases = Vec::new();
            $($name::cases(&mut cases);)*
            cases
        }
    };
    (@kernels $name:ident $axis:ident $bound:ident [$($t:ident)*] $element:ident -> $result:ident) => {
        mod kernels {
            //! Its kernels.
            use triton::prelude::*;

            #[triton::kernel(T = [$($t),*], configs = [(N = 1, num_warps = 1), (N = 128, num_warps = 1), (N = 1024, num_warps = 8), (N = 384, num_warps = 2)])]
            pub fn whole<T: $bound, const N: i32>(x: Ptr<$element>, out: PtrMut<$result>) {
                let tile = load(x + program_id(0) * N + arange(0, N), true);
                store(out + program_id(0), $name(tile), true);
            }

            /// REST is what is left of the other axis.
            #[triton::kernel(T = [$($t),*], configs = [
                (A = 16, B = 32, AXIS = 0, REST = 32, num_warps = 2), (A = 16, B = 32, AXIS = 1, REST = 16, num_warps = 4),
                (A = 1, B = 64, AXIS = 1, REST = 1, num_warps = 2), (A = 12, B = 40, AXIS = 0, REST = 40, num_warps = 1),
                (A = 12, B = 40, AXIS = 1, REST = 12, num_warps = 2),
            ])]
            pub fn two<T: $bound, const A: i32, const B: i32, const AXIS: i32, const REST: i32>(x: Ptr<$element>, out: PtrMut<$result>) {
                let i = arange(0, A).expand_dims(1) * B + arange(0, B);
                let tile = load(x + program_id(0) * (A * B) + i, true);
                store(out + program_id(0) * REST + arange(0, REST), $axis(tile, AXIS), true);
            }

            #[triton::kernel(T = [$($t),*], configs = [
                (A = 4, AXIS = 0, REST = 128, num_warps = 4), (A = 4, AXIS = 1, REST = 64, num_warps = 1),
                (A = 4, AXIS = 2, REST = 32, num_warps = 8), (A = 12, AXIS = 1, REST = 192, num_warps = 2),
            ])]
            pub fn three<T: $bound, const A: i32, const AXIS: i32, const REST: i32>(x: Ptr<$element>, out: PtrMut<$result>) {
                let tile = load(x + (program_id(0) * (A * 128) + arange(0, A * 128)).reshape([A, 8, 16]), true);
                store(out + program_id(0) * REST + arange(0, REST), $axis(tile, AXIS).reshape([REST]), true);
            }
        }
    };
    (@types $into:ident, [$($t:ident)*] -> $result:ident = $reference:ident) => { $({
        use triton::prelude::*;
        type T = $t;
        let row = Row { name: WHOLE, dtype: T::DTYPE, result: <$result>::DTYPE, reference: $reference };
        let along = Row { name: AXIS, ..row };
        reductions!(@whole $into, row, $t, (1, 1) (128, 1) (1024, 8) (384, 2));
        reductions!(@two $into, along, $t, (16, 32, 0, 32, 2, [1, 16, 32]) (16, 32, 1, 16, 4, [16, 32, 1]) (1, 64, 1, 1, 2, [1, 64, 1])
            (12, 40, 0, 40, 1, [1, 12, 40]) (12, 40, 1, 12, 2, [12, 40, 1]));
        reductions!(@three $into, along, $t, (4, 0, 128, 4, [1, 4, 128]) (4, 1, 64, 1, [4, 8, 16]) (4, 2, 32, 8, [32, 16, 1])
            (12, 1, 192, 2, [12, 8, 16]));
    })* };
    (@whole $into:ident, $row:ident, $t:ident, $(($n:literal, $warps:literal))*) => { $(
        $into.push(case($row, concat!("[", $n, "] warps ", $warps), [1, $n, 1], |run| {
            launch!(run, kernels::whole::<$t, $n>(&run.ptr(), &mut run.ptr()))
        }));
    )* };
    (@two $into:ident, $row:ident, $t:ident, $(($a:literal, $b:literal, $axis:literal, $rest:literal, $warps:literal, $shape:expr))*) => { $(
        $into.push(case($row, concat!("[", $a, "x", $b, "] along ", $axis, " warps ", $warps), $shape, |run| {
            launch!(run, kernels::two::<$t, $a, $b, $axis, $rest>(&run.ptr(), &mut run.ptr()))
        }));
    )* };
    (@three $into:ident, $row:ident, $t:ident, $(($a:literal, $axis:literal, $rest:literal, $warps:literal, $shape:expr))*) => { $(
        $into.push(case($row, concat!("[", $a, "x8x16] along ", $axis, " warps ", $warps), $shape, |run| {
            launch!(run, kernels::three::<$t, $a, $axis, $rest>(&run.ptr(), &mut run.ptr()))
        }));
    )* };
}

reductions! {
    sum sum_axis Num [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] T -> T = total;
    max max_axis Num [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] T -> T = most;
    min min_axis Num [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] T -> T = least;
    argmax argmax_axis Num [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] T -> i32 = argmost;
    argmin argmin_axis Num [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] T -> i32 = argleast;
    any any_axis Element [bool] bool -> bool = some;
    all all_axis Element [bool] bool -> bool = every;
}
