//! Control flow: results of branches and loop-carried values, numbers and tiles.

use crate::case::{Case, Launch, Region, Trial, launch, untouched};
use crate::inputs;
use crate::value::{Expected, from_f64, integer, to_f64, wrap};
use triton::lang::Counter;
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// A branch for each kind of program: a number, a tile, and memory that one of them alone writes.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (N = 1, num_warps = 1), (N = 64, num_warps = 1), (N = 256, num_warps = 8), (N = 96, num_warps = 2),
])]
fn branch<T: Num, const N: i32>(x: Ptr<T>, out: PtrMut<T>, marks: PtrMut<i32>, programs: i32) {
    let pid = program_id(0);
    if pid >= programs {
        return;
    }
    let i = pid * N + arange(0, N);
    let tile = load(x + i, true);
    let first = load(x + pid * N, true);
    let chosen = if pid % 3 == 0 && first == first {
        tile + tile
    } else if pid % 3 == 1 || pid > 5 {
        tile - first
    } else {
        tile * tile
    };
    let number = if pid > 2 { first } else { load(x, true) };
    store(out + i, chosen + number, true);
    if pid & 1 == 1 {
        store(marks + pid, pid, true);
    }
}

/// A tile and two numbers through two loops, one in the other.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], I = [i32, i64, u32, u64], num_warps = 2)]
fn nest<T: Num, I: Int + Counter>(x: Ptr<T>, out: PtrMut<T>, counts: PtrMut<I>, lo: I, hi: I, step: I) {
    let i = arange(0, 64);
    let mut acc = zeros::<T>([64]);
    let mut turns: I = lo - lo;
    let mut last: I = hi;
    for k in (lo..hi).step_by(step) {
        let v = load(x + (k - lo).to::<i64>() * 4 + i, true);
        for j in 0..3 {
            if j != 1 {
                acc += v;
            }
        }
        turns += 1;
        last = k;
    }
    store(out + i, acc, true);
    store(counts, turns, true);
    store(counts + 1, last, true);
}

/// Iterations until 1 is reached, of each program's number.
#[triton::kernel(T = [i32, i64, u32, u64], num_warps = 1)]
fn collatz<T: Int>(x: Ptr<T>, out: PtrMut<i32>) {
    let mut n = load(x + program_id(0), true);
    let mut turns = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { n * 3 + 1 };
        turns += 1;
    }
    store(out + program_id(0), turns, true);
}

/// Halves a tile while any of its elements is large.
#[triton::kernel(T = [i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64], configs = [
    (N = 32, num_warps = 1), (N = 128, num_warps = 4), (N = 512, num_warps = 8), (N = 96, num_warps = 2),
])]
fn halve<T: Num, const N: i32>(x: PtrMut<T>, turns: PtrMut<i32>, limit: T, two: T) {
    let i = program_id(0) * N + arange(0, N);
    let mut v = load(x + i, true);
    let mut count = 0;
    while any(v > limit) && count < 20 {
        v /= two;
        count += 1;
    }
    store(x + i, v, true);
    store(turns + program_id(0), count, true);
}

/// `a · b + c` of small whole numbers: exact in every type, and wrapped as integers are.
fn whole(dtype: DType, f: impl Fn(i128, i128) -> i128, a: u64, b: u64) -> u64 {
    match dtype.is_float() {
        true => from_f64(dtype, f(to_f64(dtype, a) as i128, to_f64(dtype, b) as i128) as f64),
        false => wrap(dtype, f(integer(dtype, a), integer(dtype, b))),
    }
}

fn small(dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| from_f64(dtype, random.below(8) as f64)).collect()
}

fn branches(dtype: DType, n: usize, warps: u32, launch: Launch) -> Case {
    let name = format!("if {dtype} [{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &[], move || {
        let (grid, programs) = (12, 10);
        let x = small(dtype, grid * n, seed);
        let after = (0..grid * n).map(|i| {
            let (pid, v) = (i / n, x[i]);
            let first = x[pid * n];
            let chosen = match pid {
                10.. => return Expected::Bits(untouched(dtype)),
                _ if pid % 3 == 0 => whole(dtype, |a, b| a + b, v, v),
                _ if pid % 3 == 1 || pid > 5 => whole(dtype, |a, b| a - b, v, first),
                _ => whole(dtype, |a, b| a * b, v, v),
            };
            Expected::Bits(whole(dtype, |a, b| a + b, chosen, if pid > 2 { first } else { x[0] }))
        });
        let mark = |pid| Expected::Bits(if pid % 2 == 1 && pid < programs { pid } else { untouched(DType::I32) });
        let marks = Region::output(DType::I32, (0..grid as u64).map(mark).collect());
        let out = Region::output(dtype, after.collect());
        Trial {
            regions: vec![Region::input(dtype, x), out, marks],
            numbers: vec![programs],
            grid: [grid, 1, 1],
            launch,
        }
    })
}

fn nests(into: &mut Vec<Case>, dtype: DType, index: DType, launch: Launch) {
    for (lo, hi, step) in [(0, 10, 1), (5, 5, 1), (3, 20, 4), (7, 2, 3), (100, 117, 16)] {
        let name = format!("for {dtype} [64] counted by {index} from {lo} to {hi} by {step}");
        let seed = inputs::seed(&name);
        into.push(Case::new(name, &["zeros"], move || {
            let counters: Vec<usize> = (lo..hi).step_by(step).collect();
            let x = small(dtype, 64 + 4 * 20, seed);
            let sum = |i: usize| counters.iter().map(|k| 2 * to_f64(dtype, x[(k - lo) * 4 + i]) as i128).sum::<i128>();
            let element = |sum: i128| if dtype.is_float() { from_f64(dtype, sum as f64) } else { wrap(dtype, sum) };
            let after = (0..64).map(|i| Expected::Bits(element(sum(i)))).collect();
            let counts = [counters.len(), counters.last().copied().unwrap_or(hi)].map(|n| Expected::Bits(n as u64));
            let outputs = [Region::output(dtype, after), Region::output(index, counts.to_vec())];
            let regions = [Region::input(dtype, x)].into_iter().chain(outputs).collect();
            Trial { regions, numbers: [lo, hi, step].map(|n| n as u64).to_vec(), grid: [1; 3], launch }
        }));
    }
}

fn halves(dtype: DType, n: usize, warps: u32, launch: Launch) -> Case {
    let name = format!("while any {dtype} [{n}] warps {warps}");
    let seed = inputs::seed(&name);
    Case::new(name, &["any"], move || {
        let mut random = Random::new(seed);
        // What a program starts from is a power of two, so that its halves are exact.
        let element = |i: usize| {
            from_f64(
                dtype,
                f64::from(1u32 << (i / n)) - random.below(2) as f64 * if dtype.is_float() { 0.0 } else { 1.0 },
            )
        };
        let before: Vec<u64> = (0..7 * n).map(element).collect();
        let mut after = before.clone();
        let turns = after.chunks_mut(n).map(|tile| {
            let mut turns = 0;
            while tile.iter().any(|&bits| to_f64(dtype, bits) > 3.0) && turns < 20 {
                tile.iter_mut().for_each(|bits| *bits = from_f64(dtype, to_f64(dtype, *bits) / 2.0));
                turns += 1;
            }
            Expected::Bits(turns)
        });
        let turns = Region::output(DType::I32, turns.collect());
        let memory = Region::update(dtype, before, after.into_iter().map(Expected::Bits).collect());
        let numbers = [3.0, 2.0].map(|x| from_f64(dtype, x)).to_vec();
        Trial { regions: vec![memory, turns], numbers, grid: [7, 1, 1], launch }
    })
}

macro_rules! each {
    ($into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        each!(@branches $into, t, $t, (1, 1) (64, 1) (256, 8) (96, 2));
        each!(@halves $into, t, $t, (32, 1) (128, 4) (512, 8) (96, 2));
        each!(@nests $into, t, $t, i32 i64 u32 u64);
    })* };
    (@branches $into:ident, $dtype:ident, $t:ident, $(($n:literal, $warps:literal))*) => { $(
        $into.push(branches($dtype, $n, $warps, |run| launch!(run, branch::<$t, $n>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar()
        ))));
    )* };
    (@halves $into:ident, $dtype:ident, $t:ident, $(($n:literal, $warps:literal))*) => { $(
        $into.push(halves($dtype, $n, $warps, |run| launch!(run, halve::<$t, $n>(
            &mut run.ptr(), &mut run.ptr(), run.scalar(), run.scalar()
        ))));
    )* };
    (@nests $into:ident, $dtype:ident, $t:ident, $($i:ident)*) => { $(
        nests(&mut $into, $dtype, <$i>::DTYPE, |run| launch!(run, nest::<$t, $i>(
            &run.ptr(), &mut run.ptr(), &mut run.ptr(), run.scalar(), run.scalar(), run.scalar()
        )));
    )* };
    (@collatz $into:ident, $($t:ident)*) => { $({
        let t = <$t>::DTYPE;
        $into.push(Case::new(format!("while {t}"), &[], move || {
            let turns = |n: u64| std::iter::successors(Some(n), |&n| (n != 1).then_some(if n % 2 == 0 { n / 2 } else { 3 * n + 1 })).count() - 1;
            let x: Vec<u64> = (1..400).collect();
            let after = x.iter().map(|&n| Expected::Bits(turns(n) as u64)).collect();
            let launch: Launch = |run| launch!(run, collatz::<$t>(&run.ptr(), &mut run.ptr()));
            let regions = vec![Region::input(t, x), Region::output(DType::I32, after)];
            Trial { regions, numbers: vec![], grid: [399, 1, 1], launch }
        }));
    })* };
}

/// Branches and loops on every element type.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    each!(cases, i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    each!(@collatz cases, i32 i64 u32 u64);
    cases
}
