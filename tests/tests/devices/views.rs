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

/// Rows of a matrix, plus a bias.
#[triton::kernel]
fn add_bias(x: Tensor<f32, 2>, bias: Tensor<f32, 1>, out: TensorMut<f32, 2>) {
    let at = [program_id(0) * 8, 0];
    out.store(at, x.load(at, [8, 32]) + bias.load([0], [32]).expand_dims(0));
}

/// Views whose axes were changed, at addresses that are aligned and that are not, and absent operands.
#[test]
fn changed_axes() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let (tokens, heads, width) = (19, 3, 32);
        let row = 3 * heads * width;
        let values: Vec<f32> = (0..tokens * row).map(|i| i as f32).collect();
        let bias: Vec<f32> = (0..100).map(|i| i as f32 / 2.0).collect();
        let (x, b) = (stream.upload(&values)?, stream.upload(&bias)?);
        let mut out = stream.zeros::<f32>(tokens * heads * width)?;
        let all = x.view([tokens, row])?;
        // (the start of the columns, of how many, the bias, the image).
        for (start, columns, shift, image) in [
            (0, 32, Some(0), "divisible16"),
            (4, 28, Some(8), "divisible16"),
            (4, 27, None, "aligned16"),
            (3, 16, None, "unit_stride"),
            (16, 8, Some(1), "unit_stride"),
        ] {
            stream.copy_from_host(&vec![-1.0; tokens * heads * width], &mut out)?;
            let mut each = out.view_mut([tokens, heads * width])?.split(1, [heads, width])?.permute([1, 0, 2])?;
            for head in 0..heads {
                let values = all.split(1, [3, heads * width])?.select(1, 2)?.split(1, [heads, width])?;
                let part = values.select(1, head)?.narrow(1, start..start + columns)?;
                let bias = match shift {
                    Some(shift) => b.view([100])?.narrow(0, shift..shift + columns)?,
                    None => View::none(&device),
                };
                let to = each.reborrow().select(0, head)?.narrow(1, ..columns)?;
                let launch = add_bias(part, bias, to);
                if let Some(capability) = device.compute_capability() {
                    let chosen = launch.image(capability, None)?.specialization;
                    assert_eq!(chosen.name(), image, "{device} {start} {columns}");
                }
                launch.launch(&stream, tokens.div_ceil(8))?;
            }
            let found = stream.download(&out)?;
            for (i, found) in found.iter().enumerate() {
                let (token, head, column) = (i / (heads * width), i / width % heads, i % width);
                let added = shift.map_or(0.0, |shift| bias[shift + column]);
                let value = values[token * row + (2 * heads + head) * width + (start + column) % width] + added;
                let expected = if column < columns { value } else { -1.0 };
                assert_eq!(*found, expected, "{device}, columns {start} and {columns} on, element {i}");
            }
        }
        // One row is repeated, and an absent result is not written.
        let row = x.view([1, 32])?.broadcast(0, tokens)?;
        add_bias(row, View::none(&device), ViewMut::none(&device)).launch(&stream, 3)?;
        add_bias(row, b.view([32])?, out.view_mut([heads, tokens, 32])?.merge(0)?).launch(&stream, 3)?;
        let found = stream.download(&out)?;
        let expected = |i: usize| if i < tokens * 32 { (i % 32) as f32 * 1.5 } else { found[i] };
        assert!(found.iter().enumerate().all(|(i, found)| *found == expected(i)), "{device}: {found:?}");
    }
    Ok(())
}
