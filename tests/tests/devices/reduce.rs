//! Shapes and reductions in kernels, against plain Rust.

use super::devices;
use triton::prelude::*;
use triton_tests::numbers::Random;

/// Row softmax of an M × N tile a program.
#[triton::kernel(configs = [
    (M = 1, N = 64), (M = 4, N = 64), (M = 8, N = 128), (M = 1, N = 1024), (M = 1, N = 4096, num_warps = 8), (M = 2, N = 512, num_warps = 1),
])]
fn softmax<const M: i32, const N: i32>(x: Ptr<f32>, out: PtrMut<f32>, rows: i32, columns: i32) {
    let row = (program_id(0) * M + arange(0, M)).expand_dims(1);
    let column = arange(0, N).expand_dims(0);
    let mask = (row < rows) & (column < columns);
    let at = row * columns + column;
    let v = load_or(x + at, mask, f32::NEG_INFINITY);
    let e = exp(v - max_axis(v, 1).expand_dims(1));
    store(out + at, e / sum_axis(e, 1).expand_dims(1), mask);
}

macro_rules! check_softmax {
    ($m:literal, $n:literal, $rows:expr, $columns:expr) => {
        for device in devices() {
            let (rows, columns): (usize, usize) = ($rows, $columns);
            let mut random = Random::new((rows * 7919 + columns) as u64);
            let x: Vec<f32> = (0..rows * columns).map(|_| random.signed_unit() * 20.0).collect();
            let stream = device.stream()?;
            let dx = stream.upload(&x)?;
            let mut out = stream.upload(&vec![f32::NAN; x.len()])?;
            let launch = softmax::<$m, $n>(&dx, &mut out, rows as i32, columns as i32);
            // SAFETY: the mask keeps accesses within rows × columns.
            unsafe { launch.launch(&stream, rows.div_ceil($m))? };
            let out = stream.download(&out)?;
            for (x, out) in x.chunks(columns).zip(out.chunks(columns)) {
                let top = x.iter().fold(f32::MIN, |a, &b| a.max(b));
                let e: Vec<f64> = x.iter().map(|v| f64::from(v - top).exp()).collect();
                let sum: f64 = e.iter().sum();
                for (found, e) in out.iter().zip(e) {
                    let error = (f64::from(*found) - e / sum).abs() / (e / sum);
                    assert!(error < 2e-6, "{device} {} x {} in {rows} x {columns}: {error}", $m, $n);
                }
            }
        }
    };
}

#[test]
fn softmax_of_rows() -> triton::Result<()> {
    check_softmax!(1, 64, 3, 50);
    check_softmax!(4, 64, 10, 64);
    check_softmax!(8, 128, 21, 100);
    check_softmax!(1, 1024, 5, 1000);
    check_softmax!(1, 4096, 3, 4096);
    check_softmax!(2, 512, 7, 300);
    Ok(())
}

/// Every reduction of one tile, along both axes and whole.
#[triton::kernel(T = [i32, f32], num_warps = 4)]
fn all_folds<T: Num>(x: Ptr<T>, numbers: PtrMut<T>, indices: PtrMut<i32>) {
    let (row, column) = (arange(0, 16).expand_dims(1), arange(0, 32).expand_dims(0));
    let v = load(x + (row * 32 + column), true);
    let (r, c) = (arange(0, 16), arange(0, 32));
    store(numbers, sum(v), true);
    store(numbers + 1, max(v), true);
    store(numbers + 2, min(v), true);
    store(numbers + (16 + r), sum_axis(v, 1), true);
    store(numbers + (32 + c), sum_axis(v, 0), true);
    store(numbers + (64 + r), max_axis(v, 1), true);
    store(numbers + (96 + c), min_axis(v, 0), true);
    store(indices, argmax(v), true);
    store(indices + 1, argmin(v), true);
    store(indices + (16 + r), argmax_axis(v, 1), true);
    store(indices + (32 + c), argmin_axis(v, 0), true);
    store(indices + 2, select(any(v > max(v)), 1, 0), true);
    store(indices + 3, select(all(v <= max(v)), 1, 0), true);
    let (top, at) = reduce((v, row * 32 + column + v.to::<i32>() * 0), |(a, i), (b, j)| {
        let second = (b > a) | ((b == a) & (j < i));
        (select(second, b, a), select(second, j, i))
    });
    store(numbers + 3, top, true);
    store(indices + 4, at, true);
}

macro_rules! check_folds {
    ($t:ty, $of:expr) => {
        for device in devices() {
            let mut random = Random::new(11);
            let of: fn(f32) -> $t = $of;
            let x: Vec<$t> = (0..512).map(|_| of((random.signed_unit() * 50.0).round())).collect();
            let stream = device.stream()?;
            let dx = stream.upload(&x)?;
            let (mut numbers, mut indices) = (stream.zeros::<$t>(128)?, stream.zeros::<i32>(64)?);
            // SAFETY: the kernel writes below 128 and 64.
            unsafe { all_folds::<$t>(&dx, &mut numbers, &mut indices).launch(&stream, 1)? };
            let (numbers, indices) = (stream.download(&numbers)?, stream.download(&indices)?);
            let rows: Vec<Vec<$t>> = x.chunks(32).map(<[$t]>::to_vec).collect();
            let columns: Vec<Vec<$t>> = (0..32).map(|c| rows.iter().map(|r| r[c]).collect()).collect();
            let most = |v: &[$t]| v.iter().copied().fold(v[0], |a, b| if b > a { b } else { a });
            let least = |v: &[$t]| v.iter().copied().fold(v[0], |a, b| if b < a { b } else { a });
            let first = |v: &[$t], number: $t| v.iter().position(|x| *x == number).map_or(-1, |i| i as i32);
            let total = |v: &[$t]| v.iter().copied().sum::<$t>();
            let top = most(&x);
            assert_eq!(numbers[..4], [total(&x), top, least(&x), top], "{device}");
            assert_eq!(indices[..5], [first(&x, top), first(&x, least(&x)), 0, 1, first(&x, top)], "{device}");
            for (r, row) in rows.iter().enumerate() {
                assert_eq!((numbers[16 + r], numbers[64 + r]), (total(row), most(row)), "{device} row {r}");
                assert_eq!(indices[16 + r], first(row, most(row)), "{device} row {r}");
            }
            for (c, column) in columns.iter().enumerate() {
                assert_eq!((numbers[32 + c], numbers[96 + c]), (total(column), least(column)), "{device} column {c}");
                assert_eq!(indices[32 + c], first(column, least(column)), "{device} column {c}");
            }
        }
    };
}

#[test]
fn every_reduction() -> triton::Result<()> {
    check_folds!(i32, |x| x as i32);
    // Whole numbers, so that every order of a sum is exact.
    check_folds!(f32, |x| x);
    Ok(())
}

/// out = the transpose of x, through `transpose`, and through a permutation of a reshaped tile.
#[triton::kernel(T = [f32, bf16, i64], N = [16, 64])]
fn transpose<T: Num, const N: i32>(x: Ptr<T>, out: PtrMut<T>, again: PtrMut<T>) {
    let (row, column) = (arange(0, N).expand_dims(1), arange(0, N).expand_dims(0));
    let v = load(x + (row * N + column), true);
    store(out + (row * N + column), v.transpose(), true);
    let cut = v.reshape([N / 4, 4, N]).permute([2, 0, 1]).reshape([N, N]);
    store(again + (row * N + column), cut, true);
}

macro_rules! check_transpose {
    ($t:ty, $n:literal, $of:expr) => {
        for device in devices() {
            let of: fn(usize) -> $t = $of;
            let x: Vec<$t> = (0..$n * $n).map(of).collect();
            let stream = device.stream()?;
            let dx = stream.upload(&x)?;
            let (mut out, mut again) = (stream.zeros::<$t>(x.len())?, stream.zeros::<$t>(x.len())?);
            // SAFETY: N × N elements each.
            unsafe { transpose::<$t, $n>(&dx, &mut out, &mut again).launch(&stream, 1)? };
            let expected: Vec<$t> = (0..$n * $n).map(|i| x[i % $n * $n + i / $n]).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}");
            assert_eq!(stream.download(&again)?, expected, "{device}");
        }
    };
}

#[test]
fn transposition() -> triton::Result<()> {
    check_transpose!(f32, 16, |i| i as f32);
    check_transpose!(f32, 64, |i| i as f32);
    check_transpose!(bf16, 16, |i| bf16::from_bits(i as u16));
    check_transpose!(bf16, 64, |i| bf16::from_bits(i as u16));
    check_transpose!(i64, 16, |i| i as i64 * 0x1_0000_0001);
    check_transpose!(i64, 64, |i| i as i64 * 0x1_0000_0001);
    Ok(())
}

/// Sums of rows and of the whole tile; W is there to tell the instances apart.
#[triton::kernel(deterministic = true, configs = [(W = 1, num_warps = 1), (W = 4, num_warps = 4), (W = 16, num_warps = 16)])]
fn sums_in_order<const W: i32>(x: Ptr<f32>, rows: PtrMut<f32>, whole: PtrMut<f32>) {
    let tile = load(x + arange(0, 4096).reshape([8, 512]), true);
    store(rows + arange(0, 8), sum_axis(tile, 1), true);
    store(whole, sum(tile), true);
}

/// Pairwise, neighbours first: the order that the option guarantees.
fn by_halves(x: &[f32]) -> f32 {
    match x {
        [one] => *one,
        _ => by_halves(&x.chunks(2).map(|pair| pair[0] + pair[1]).collect::<Vec<f32>>()),
    }
}

#[test]
fn sums_have_the_same_bits_everywhere() -> triton::Result<()> {
    let mut random = Random::new(17);
    let x: Vec<f32> = (0..4096).map(|_| random.signed_unit() * 1000.0).collect();
    let expected: Vec<f32> = x.chunks(512).map(by_halves).chain([by_halves(&x)]).collect();
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        for warps in [1, 4, 16] {
            let (mut rows, mut whole) = (stream.zeros::<f32>(8)?, stream.zeros::<f32>(1)?);
            // SAFETY: x has the 4096 elements of the tile, rows 8 and whole 1.
            unsafe {
                match warps {
                    1 => sums_in_order::<1>(&dx, &mut rows, &mut whole).launch(&stream, 1)?,
                    4 => sums_in_order::<4>(&dx, &mut rows, &mut whole).launch(&stream, 1)?,
                    _ => sums_in_order::<16>(&dx, &mut rows, &mut whole).launch(&stream, 1)?,
                }
            }
            let found = [stream.download(&rows)?, stream.download(&whole)?].concat();
            assert_eq!(found, expected, "{device}, {warps} warps");
        }
    }
    Ok(())
}
