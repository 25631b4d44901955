//! Matrix products against plain Rust in `f64`: half types on tensor cores, other types by multiplications, ragged sizes,
//! operands in either major order.

use super::devices;
use triton::prelude::*;
use triton_tests::numbers::Random;

/// c = a · b, tile by tile.
#[triton::kernel(T = [f16, bf16], configs = [
    (M = 16, N = 8, K = 16, num_warps = 1), (M = 64, N = 64, K = 32), (M = 32, N = 128, K = 64), (M = 128, N = 32, K = 16, num_warps = 8),
])]
fn matmul<T: Float, const M: i32, const N: i32, const K: i32>(a: Tensor<T, 2>, b: Tensor<T, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * M, program_id(1) * N);
    let mut acc = zeros::<f32>([M, N]);
    for k in (0..a.dim(1)).step_by(K) {
        acc = dot(a.load([m, k], [M, K]), b.load([k, n], [K, N]), acc);
    }
    c.store([m, n], acc);
}

/// The same without tensor cores.
#[triton::kernel(configs = [(M = 16, N = 16, K = 8), (M = 32, N = 64, K = 4)])]
fn matmul_f32<const M: i32, const N: i32, const K: i32>(a: Tensor<f32, 2>, b: Tensor<f32, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * M, program_id(1) * N);
    let mut acc = zeros::<f32>([M, N]);
    for k in (0..a.dim(1)).step_by(K) {
        acc = dot(a.load([m, k], [M, K]), b.load([k, n], [K, N]), acc);
    }
    c.store([m, n], acc);
}

/// `f32` on tensor cores.
#[triton::kernel(configs = [
    (M = 16, N = 8, K = 8, num_warps = 1), (M = 64, N = 64, K = 32), (M = 32, N = 128, K = 16), (M = 128, N = 32, K = 16, num_warps = 8),
])]
fn matmul_tf32<const M: i32, const N: i32, const K: i32>(a: Tensor<f32, 2>, b: Tensor<f32, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * M, program_id(1) * N);
    let mut acc = zeros::<f32>([M, N]);
    for k in (0..a.dim(1)).step_by(K) {
        acc = dot(a.load([m, k], [M, K]).precision(Tf32), b.load([k, n], [K, N]), acc);
    }
    c.store([m, n], acc);
}

/// Integers and `f64`, one tile.
#[triton::kernel(T = [f64])]
fn product_f64<T: Num>(a: Tensor<T, 2>, b: Tensor<T, 2>, c: TensorMut<f64, 2>) {
    c.store([0, 0], dot(a.load([0, 0], [8, 4]), b.load([0, 0], [4, 16]), full::<f64>([8, 16], 1.0)));
}

/// As above.
#[triton::kernel]
fn product_i8(a: Tensor<i8, 2>, b: Tensor<i8, 2>, c: TensorMut<i32, 2>) {
    c.store([0, 0], dot(a.load([0, 0], [16, 16]), b.load([0, 0], [16, 16]), zeros::<i32>([16, 16])));
}

/// ‖out − ref‖ / ‖ref‖ of c = a · b, all row-major.
pub fn error(a: &[f64], b: &[f64], c: &[f64], (m, k, n): (usize, usize, usize)) -> f64 {
    let (mut off, mut norm) = (0.0, 0.0);
    for i in 0..m {
        for j in 0..n {
            let exact: f64 = (0..k).map(|s| a[i * k + s] * b[s * n + j]).sum();
            off += (c[i * n + j] - exact).powi(2);
            norm += exact.powi(2);
        }
    }
    (off / norm.max(1e-300)).sqrt()
}

const SIZES: &[(usize, usize, usize)] =
    &[(16, 16, 8), (64, 64, 64), (100, 70, 50), (33, 129, 65), (1, 17, 1), (128, 256, 96)];

macro_rules! check {
    ($kernel:ident::<$t:ty, $m:literal, $n:literal, $k:literal>) => {
        for device in devices() {
            let stream = device.stream()?;
            for &size in SIZES {
                let (m, k, n) = size;
                let mut random = Random::new((m * 100 + k * 10 + n) as u64);
                let a: Vec<$t> = (0..m * k).map(|_| <$t>::from_f32(random.signed_unit())).collect();
                let b: Vec<$t> = (0..k * n).map(|_| <$t>::from_f32(random.signed_unit())).collect();
                let wide = |v: &[$t]| v.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
                let turned: Vec<$t> = (0..k * n).map(|i| b[i % k * n + i / k]).collect();
                let (da, db, dt) = (stream.upload(&a)?, stream.upload(&b)?, stream.upload(&turned)?);
                let grid = (m.div_ceil($m), n.div_ceil($n));
                for transposed in [false, true] {
                    let mut c = stream.upload(&vec![f32::NAN; m * n])?;
                    let right = if transposed { dt.view([n, k])?.transpose() } else { db.view([k, n])? };
                    $kernel::<$t, $m, $n, $k>(da.view([m, k])?, right, c.view_mut([m, n])?).launch(&stream, grid)?;
                    let found: Vec<f64> = stream.download(&c)?.into_iter().map(f64::from).collect();
                    let error = error(&wide(&a), &wide(&b), &found, size);
                    let name = stringify!($t, $m, $n, $k);
                    assert!(error < 1e-6, "{device} {name} {size:?} transposed {transposed}: {error}");
                }
            }
        }
    };
}

#[test]
fn half_types_on_tensor_cores() -> triton::Result<()> {
    check!(matmul::<f16, 16, 8, 16>);
    check!(matmul::<f16, 64, 64, 32>);
    check!(matmul::<bf16, 64, 64, 32>);
    check!(matmul::<bf16, 32, 128, 64>);
    check!(matmul::<f16, 128, 32, 16>);
    Ok(())
}

#[test]
fn f32_on_tensor_cores() -> triton::Result<()> {
    macro_rules! check {
        ($m:literal, $n:literal, $k:literal) => {
            for device in devices() {
                let stream = device.stream()?;
                // Numbers of `f16` lose nothing; those of `f32` keep 10 mantissa bits.
                for (&size, half) in SIZES.iter().flat_map(|size| [(size, true), (size, false)]) {
                    let (m, k, n) = size;
                    let mut random = Random::new((m * 100 + k * 10 + n) as u64);
                    let mut next = || {
                        let x = random.signed_unit();
                        if half { f16::from_f32(x).to_f32() } else { x }
                    };
                    let a: Vec<f32> = (0..m * k).map(|_| next()).collect();
                    let b: Vec<f32> = (0..k * n).map(|_| next()).collect();
                    let turned: Vec<f32> = (0..k * n).map(|i| b[i % k * n + i / k]).collect();
                    let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
                    let (da, db, dt) = (stream.upload(&a)?, stream.upload(&b)?, stream.upload(&turned)?);
                    let grid = (m.div_ceil($m), n.div_ceil($n));
                    for transposed in [false, true] {
                        let mut c = stream.upload(&vec![f32::NAN; m * n])?;
                        let right = if transposed { dt.view([n, k])?.transpose() } else { db.view([k, n])? };
                        matmul_tf32::<$m, $n, $k>(da.view([m, k])?, right, c.view_mut([m, n])?)
                            .launch(&stream, grid)?;
                        let found = error(&wide(&a), &wide(&b), &wide(&stream.download(&c)?), size);
                        let most = if half { 1e-6 } else { 1e-3 };
                        assert!(found < most, "{device} {size:?} transposed {transposed}, half {half}: {found}");
                    }
                }
            }
        };
    }
    check!(16, 8, 8);
    check!(64, 64, 32);
    check!(32, 128, 16);
    check!(128, 32, 16);
    Ok(())
}

#[test]
fn products_without_tensor_cores() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        for &size in SIZES {
            let (m, k, n) = size;
            let mut random = Random::new((m * 100 + k * 10 + n) as u64);
            let a: Vec<f32> = (0..m * k).map(|_| random.signed_unit()).collect();
            let b: Vec<f32> = (0..k * n).map(|_| random.signed_unit()).collect();
            let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
            let (da, db) = (stream.upload(&a)?, stream.upload(&b)?);
            let mut c = stream.upload(&vec![f32::NAN; m * n])?;
            let grid = (m.div_ceil(16), n.div_ceil(16));
            matmul_f32::<16, 16, 8>(da.view([m, k])?, db.view([k, n])?, c.view_mut([m, n])?).launch(&stream, grid)?;
            let found = error(&wide(&a), &wide(&b), &wide(&stream.download(&c)?), size);
            assert!(found < 1e-6, "{device} {size:?}: {found}");
            let mut c = stream.upload(&vec![f32::NAN; m * n])?;
            let grid = (m.div_ceil(32), n.div_ceil(64));
            matmul_f32::<32, 64, 4>(da.view([m, k])?, db.view([k, n])?, c.view_mut([m, n])?).launch(&stream, grid)?;
            let found = error(&wide(&a), &wide(&b), &wide(&stream.download(&c)?), size);
            assert!(found < 1e-6, "{device} {size:?}: {found}");
        }
        let a: Vec<f64> = (0..32).map(|i| f64::from(i) - 3.5).collect();
        let b: Vec<f64> = (0..64).map(|i| f64::from(i * i % 17)).collect();
        let (da, db, mut c) = (stream.upload(&a)?, stream.upload(&b)?, stream.zeros::<f64>(128)?);
        product_f64::<f64>(da.view([8, 4])?, db.view([4, 16])?, c.view_mut([8, 16])?).launch(&stream, 1)?;
        let expected: Vec<f64> =
            (0..128).map(|i| 1.0 + (0..4).map(|s| a[i / 16 * 4 + s] * b[s * 16 + i % 16]).sum::<f64>()).collect();
        assert_eq!(stream.download(&c)?, expected, "{device}");
        let a: Vec<i8> = (0..256).map(|i| (i * 7 % 251) as u8 as i8).collect();
        let b: Vec<i8> = (0..256).map(|i| (i * 11 % 241) as u8 as i8).collect();
        let (da, db, mut c) = (stream.upload(&a)?, stream.upload(&b)?, stream.zeros::<i32>(256)?);
        product_i8(da.view([16, 16])?, db.view([16, 16])?, c.view_mut([16, 16])?).launch(&stream, 1)?;
        let at = |v: &[i8], i: usize| i32::from(v[i]);
        let expected: Vec<i32> =
            (0..256).map(|i| (0..16).map(|s| at(&a, i / 16 * 16 + s) * at(&b, s * 16 + i % 16)).sum()).collect();
        assert_eq!(stream.download(&c)?, expected, "{device}");
    }
    Ok(())
}

/// Tensor cores for `f64` and `i8`, several steps along K.
#[triton::kernel(configs = [(M = 32, N = 32, K = 8), (M = 8, N = 64, K = 16, num_warps = 2)])]
fn matmul_f64<const M: i32, const N: i32, const K: i32>(a: Tensor<f64, 2>, b: Tensor<f64, 2>, c: TensorMut<f64, 2>) {
    let (m, n) = (program_id(0) * M, program_id(1) * N);
    let mut acc = zeros::<f64>([M, N]);
    for k in (0..a.dim(1)).step_by(K) {
        acc = dot(a.load([m, k], [M, K]), b.load([k, n], [K, N]), acc);
    }
    c.store([m, n], acc);
}

/// As above.
#[triton::kernel(configs = [(M = 32, N = 32, K = 32), (M = 64, N = 16, K = 64, num_warps = 2)])]
fn matmul_i8<const M: i32, const N: i32, const K: i32>(a: Tensor<i8, 2>, b: Tensor<i8, 2>, c: TensorMut<i32, 2>) {
    let (m, n) = (program_id(0) * M, program_id(1) * N);
    let mut acc = zeros::<i32>([M, N]);
    for k in (0..a.dim(1)).step_by(K) {
        acc = dot(a.load([m, k], [M, K]), b.load([k, n], [K, N]), acc);
    }
    c.store([m, n], acc);
}

macro_rules! check_exact {
    ($kernel:ident::<$m:literal, $n:literal, $k:literal>, $t:ty, $sum:ty, $of:expr) => {
        for device in devices() {
            let stream = device.stream()?;
            for &(m, k, n) in SIZES {
                let of: fn(usize) -> $t = $of;
                let a: Vec<$t> = (0..m * k).map(|i| of(i * 7919)).collect();
                let b: Vec<$t> = (0..k * n).map(|i| of(i * 104_729)).collect();
                let (da, db, mut c) = (stream.upload(&a)?, stream.upload(&b)?, stream.zeros::<$sum>(m * n)?);
                let grid = (m.div_ceil($m), n.div_ceil($n));
                $kernel::<$m, $n, $k>(da.view([m, k])?, db.view([k, n])?, c.view_mut([m, n])?).launch(&stream, grid)?;
                let at = |v: &[$t], i: usize| <$sum>::from(v[i]);
                let sum = |i: usize| (0..k).map(|s| at(&a, i / n * k + s) * at(&b, s * n + i % n)).sum::<$sum>();
                let expected: Vec<$sum> = (0..m * n).map(sum).collect();
                assert_eq!(stream.download(&c)?, expected, "{device} {m} {k} {n}");
            }
        }
    };
}

/// Integers are exact, and so are sums of small whole numbers.
#[test]
fn exact_products_on_tensor_cores() -> triton::Result<()> {
    check_exact!(matmul_f64::<32, 32, 8>, f64, f64, |i| (i % 201) as f64 - 100.0);
    check_exact!(matmul_f64::<8, 64, 16>, f64, f64, |i| (i % 201) as f64 - 100.0);
    check_exact!(matmul_i8::<32, 32, 32>, i8, i32, |i| (i % 255) as u8 as i8);
    check_exact!(matmul_i8::<64, 16, 64>, i8, i32, |i| (i % 255) as u8 as i8);
    Ok(())
}
