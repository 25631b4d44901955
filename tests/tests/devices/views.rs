//! Kernels over views: safe launches, ragged edges, strides, transposition, tiles partly out of bounds.

use super::devices;
use triton::prelude::*;
use triton_tests::numbers::Random;

/// b = 2 a, tile by tile.
#[triton::kernel(T = [f32, f16], configs = [(M = 16, N = 32), (M = 4, N = 128), (M = 1, N = 256)])]
fn double<T: Num, const M: i32, const N: i32>(a: Tensor<T, 2>, b: TensorMut<T, 2>) {
    let at = [program_id(0) * M, program_id(1) * N];
    let v = a.load(at, [M, N]);
    b.store(at, v + v);
}

macro_rules! check_double {
    ($m:literal, $n:literal, $rows:expr, $columns:expr) => {
        for device in devices() {
            let (rows, columns): (usize, usize) = ($rows, $columns);
            let mut random = Random::new((rows * 31 + columns) as u64);
            let x: Vec<f32> = (0..rows * columns).map(|_| random.signed_unit()).collect();
            let stream = device.stream()?;
            let dx = stream.upload(&x)?;
            let grid = (rows.div_ceil($m), columns.div_ceil($n));
            // The result lies in the middle of a larger buffer, which keeps what it held.
            let (pitch, guard) = (columns + 7, 16);
            let mut out = stream.upload(&vec![9.0f32; rows * pitch + 2 * guard])?;
            {
                let mut middle = out.slice_mut(guard..)?;
                let view = middle.view_mut([rows, columns])?.with_strides([pitch as isize, 1])?;
                double::<f32, $m, $n>(dx.view([rows, columns])?, view).launch(&stream, grid)?;
            }
            for (i, found) in stream.download(&out)?.iter().enumerate() {
                let inside = i.checked_sub(guard).filter(|k| k / pitch < rows && k % pitch < columns);
                let expected = inside.map_or(9.0, |k| 2.0 * x[k / pitch * columns + k % pitch]);
                assert_eq!(*found, expected, "{device} {} x {}, {rows} x {columns}, element {i}", $m, $n);
            }
            // Transposed views on both sides are the same again.
            let mut out = stream.zeros::<f32>(x.len())?;
            let from = dx.view([columns, rows])?.transpose();
            double::<f32, $m, $n>(from, out.view_mut([columns, rows])?.transpose()).launch(&stream, grid)?;
            let expected: Vec<f32> = x.iter().map(|v| v + v).collect();
            assert_eq!(stream.download(&out)?, expected, "{device} transposed");
        }
    };
}

#[test]
fn tiles_of_views() -> triton::Result<()> {
    check_double!(16, 32, 64, 64);
    check_double!(16, 32, 50, 33);
    check_double!(4, 128, 7, 300);
    check_double!(1, 256, 3, 1000);
    check_double!(16, 32, 1, 1);
    Ok(())
}

/// Row sums of a matrix of any width, by a loop over tiles.
#[triton::kernel(configs = [(M = 8, N = 64), (M = 4, N = 128, num_warps = 2)])]
fn row_sums<const M: i32, const N: i32>(a: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = program_id(0) * M;
    let mut acc = zeros::<f32>([M, N]);
    for k in (0..a.dim(1)).step_by(N) {
        acc += a.load([row, k], [M, N]);
    }
    out.store([row], sum_axis(acc, 1));
}

#[test]
fn reductions_of_views() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        for (rows, columns) in [(8, 64), (21, 100), (5, 1000), (64, 512), (1, 1)] {
            let mut random = Random::new((rows * columns) as u64);
            // Whole numbers, so that every order of the sum is exact.
            let x: Vec<f32> = (0..rows * columns).map(|_| (random.signed_unit() * 64.0).round()).collect();
            let dx = stream.upload(&x)?;
            let mut out = stream.zeros::<f32>(rows)?;
            let expected: Vec<f32> = x.chunks(columns).map(|row| row.iter().sum()).collect();
            row_sums::<8, 64>(dx.view([rows, columns])?, out.view_mut([rows])?).launch(&stream, rows.div_ceil(8))?;
            assert_eq!(stream.download(&out)?, expected, "{device} {rows} x {columns}");
            row_sums::<4, 128>(dx.view([rows, columns])?, out.view_mut([rows])?).launch(&stream, rows.div_ceil(4))?;
            assert_eq!(stream.download(&out)?, expected, "{device} {rows} x {columns}");
        }
    }
    Ok(())
}

/// Whatever the index, accesses stay in bounds of a view: out of bounds 0 is read, and nothing is written.
#[triton::kernel]
fn anywhere(a: Tensor<i32, 1>, out: TensorMut<i32, 1>, at: i32, far: i64) {
    let v = a.load([at], [32]) + a.load([far], [32]);
    out.store([at], v + 1);
    out.store([far], v + 1);
}

#[test]
fn views_are_not_left() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let a = stream.upload(&vec![5i32; 100])?;
        for (at, far) in
            [(0, 1 << 40), (-16, -(1 << 62)), (90, i64::MAX - 3), (i32::MAX - 5, i64::MIN), (i32::MIN, 200)]
        {
            let mut out = stream.zeros::<i32>(100)?;
            anywhere(a.view([100])?, out.view_mut([100])?, at, far).launch(&stream, 1)?;
            let inside = |i: i64| i64::from(at) <= i && i < i64::from(at) + 32;
            let expected: Vec<i32> = (0..100).map(|i| if inside(i) { 6 } else { 0 }).collect();
            assert_eq!(stream.download(&out)?, expected, "{device} {at} {far}");
        }
    }
    Ok(())
}
