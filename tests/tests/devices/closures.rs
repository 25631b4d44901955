//! Functions that take functions: closures, which may capture, names, and what is passed on.

use super::devices;
use triton::prelude::*;

/// One tile of a product of matrices, as the epilogue makes it, stored where that says.
#[triton::function]
fn gemm_tile<const M: i32, const N: i32, const K: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    at: (i32, i32),
    epilogue: impl Fn(Tile<f32>) -> Tile<f32>,
) -> Tile<f32> {
    let (i, j) = at;
    let mut acc = zeros::<f32>([M, N]);
    for k in (0..a.dim(1).to::<i32>()).step_by(K) {
        acc = dot(a.load([i, k], [M, K]), b.load([k, j], [K, N]), acc);
    }
    epilogue(acc)
}

#[triton::function]
fn relu(x: Tile<f32>) -> Tile<f32> {
    maximum(x, 0.0)
}

#[triton::function]
fn scaled<T: Float>(x: Tile<T>, by: T) -> Tile<T> {
    x * by
}

/// Passes on what it is given, and a closure around it.
#[triton::function]
fn doubled<const M: i32, const N: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    at: (i32, i32),
    epilogue: impl Fn(Tile<f32>) -> Tile<f32>,
) -> Tile<f32> {
    gemm_tile::<M, N, 16>(a, b, at, |x| epilogue(scaled(x, 2.0))) + gemm_tile::<M, N, 16>(a, b, at, |x| x * 0.0)
}

#[triton::kernel(WHICH = [0, 1, 2, 3])]
fn products<const WHICH: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    bias: Tensor<f32, 1>,
    out: TensorMut<f32, 2>,
    scale: f32,
) {
    let (i, j) = (program_id(0) * 16, program_id(1) * 32);
    let at = (i, j);
    let row = bias.load([j], [32]).expand_dims(0);
    let c = if WHICH == 0 {
        gemm_tile::<16, 32, 16>(a, b, at, |x| x)
    } else if WHICH == 1 {
        gemm_tile::<16, 32, 16>(a, b, at, relu)
    } else if WHICH == 2 {
        gemm_tile::<16, 32, 16>(a, b, at, |x| {
            let y = x * scale + row;
            relu(y)
        })
    } else {
        doubled::<16, 32>(a, b, at, |x| select(x < 0.0, x * scale, x))
    };
    out.store([i, j], c);
}

#[test]
fn epilogues_of_a_product() -> triton::Result<()> {
    const M: usize = 32;
    const N: usize = 64;
    const K: usize = 48;
    let number = |i: usize| (i * 7 % 11) as f32 - 5.0;
    let (a, b): (Vec<f32>, Vec<f32>) = ((0..M * K).map(number).collect(), (0..K * N).map(number).collect());
    let bias: Vec<f32> = (0..N).map(|j| j as f32 - 20.0).collect();
    let product = |i: usize, j: usize| (0..K).map(|k| a[i * K + k] * b[k * N + j]).sum::<f32>();
    let epilogues: [&dyn Fn(f32, usize) -> f32; 4] =
        [&|x, _| x, &|x, _| x.max(0.0), &|x, j| (x * 0.5 + bias[j]).max(0.0), &|x, _| {
            if x < 0.0 { 2.0 * x * 0.5 } else { 2.0 * x }
        }];
    for device in devices() {
        let stream = device.stream()?;
        let (da, db, dbias) = (stream.upload(&a)?, stream.upload(&b)?, stream.upload(&bias)?);
        for (which, epilogue) in epilogues.iter().enumerate() {
            let mut out = stream.zeros::<f32>(M * N)?;
            let (va, vb, vbias) = (da.view([M, K])?, db.view([K, N])?, dbias.view([N])?);
            let vout = out.view_mut([M, N])?;
            match which {
                0 => products::<0>(va, vb, vbias, vout, 0.5).launch(&stream, (2, 2))?,
                1 => products::<1>(va, vb, vbias, vout, 0.5).launch(&stream, (2, 2))?,
                2 => products::<2>(va, vb, vbias, vout, 0.5).launch(&stream, (2, 2))?,
                _ => products::<3>(va, vb, vbias, vout, 0.5).launch(&stream, (2, 2))?,
            };
            let expected: Vec<f32> = (0..M * N).map(|e| epilogue(product(e / N, e % N), e % N)).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}, epilogue {which}");
        }
    }
    Ok(())
}

/// A reduction by a combination that is handed in, of elements that another one makes.
#[triton::function]
fn fold<T: Num>(x: Tile<T>, each: impl Fn(Tile<T>, i32) -> Tile<T>, both: impl Fn(T, T) -> T) -> T {
    let mut y = x;
    for turn in 0..3 {
        y = each(y, turn);
    }
    reduce(y, |a, b| both(a, b))
}

/// One that yields nothing, and one that takes nothing.
#[triton::function]
fn put_twice(value: impl Fn() -> Tile<i32>, to: impl Fn(Tile<i32>)) {
    to(value());
    to(value() + 1);
}

#[triton::kernel]
fn folds(x: Ptr<i32>, out: PtrMut<i32>, by: i32) {
    let v = load(x + arange(0, 64), true);
    let sum = fold(v, |y, turn| y * by + turn, |a, b| a + b);
    let most = fold(v, |y, _| y, |a, b| maximum(a, b));
    put_twice(|| full([1], sum), |t| store(out + arange(0, 1), t, true));
    put_twice(|| full([1], most), |t| store(out + 1 + arange(0, 1), t, true));
}

#[test]
fn combinations_and_effects() -> triton::Result<()> {
    let x: Vec<i32> = (0..64).map(|i| i * 37 % 50 - 20).collect();
    let each = |mut y: i32| {
        (0..3).for_each(|turn| y = y * 3 + turn);
        y
    };
    let sum: i32 = x.iter().map(|&y| each(y)).sum();
    let most = x.iter().max().copied().unwrap_or(0);
    for device in devices() {
        let stream = device.stream()?;
        let (dx, mut out) = (stream.upload(&x)?, stream.zeros::<i32>(2)?);
        // SAFETY: 64 elements are read, 2 are written.
        unsafe { folds(&dx, &mut out, 3).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [sum + 1, most + 1], "{device}");
    }
    Ok(())
}
