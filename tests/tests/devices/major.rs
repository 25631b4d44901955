//! Matrix products of operands in either major order: transposed in the kernel, and by the host's view.

use super::devices;
use super::matmul::error;
use triton::prelude::*;
use triton_tests::numbers::Random;

/// c = a · b; where TA is 1, a is stored as [K, M], and where TB is 1, b as [N, K].
macro_rules! kernels {
    ($($name:ident($t:ty) -> $sum:ty, $k:literal $(, $precision:ident)?;)*) => {$(
        #[triton::kernel(TA = [0, 1], TB = [0, 1])]
        fn $name<const TA: i32, const TB: i32>(a: Tensor<$t, 2>, b: Tensor<$t, 2>, c: TensorMut<$sum, 2>, depth: i32) {
            let (m, n) = (program_id(0) * 32, program_id(1) * 64);
            let mut acc = zeros::<$sum>([32, 64]);
            for k in (0..depth).step_by($k) {
                let left = if TA == 1 { a.load([k, m], [$k, 32]).transpose() } else { a.load([m, k], [32, $k]) };
                let right = if TB == 1 { b.load([n, k], [64, $k]).transpose() } else { b.load([k, n], [$k, 64]) };
                acc = dot(left$(.precision($precision))?, right, acc);
            }
            c.store([m, n], acc);
        }
    )*};
}

kernels! {
    of_f16(f16) -> f32, 32;
    of_bf16(bf16) -> f32, 32;
    of_f32(f32) -> f32, 8;
    of_tf32(f32) -> f32, 16, Tf32;
    of_f64(f64) -> f64, 8;
    of_i8(i8) -> i32, 32;
}

const SIZES: &[(usize, usize, usize)] = &[(32, 64, 64), (70, 50, 90), (33, 97, 129), (1, 5, 3)];

/// The matrix with rows and columns exchanged.
fn turned<T: Copy>(x: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect()
}

macro_rules! check {
    ($kernel:ident, $t:ty, $sum:ty, $of:expr, $wide:expr, $tolerance:expr) => {
        for device in devices() {
            let stream = device.stream()?;
            for &(m, k, n) in SIZES {
                let mut random = Random::new((m * 100 + k * 10 + n) as u64);
                let (of, wide): (fn(f32) -> $t, fn($t) -> f64) = ($of, $wide);
                let a: Vec<$t> = (0..m * k).map(|_| of(random.signed_unit())).collect();
                let b: Vec<$t> = (0..k * n).map(|_| of(random.signed_unit())).collect();
                let (wide_a, wide_b): (Vec<f64>, Vec<f64>) =
                    (a.iter().map(|&x| wide(x)).collect(), b.iter().map(|&x| wide(x)).collect());
                let (da, db) = (stream.upload(&a)?, stream.upload(&b)?);
                let (ta, tb) = (stream.upload(&turned(&a, m, k))?, stream.upload(&turned(&b, k, n))?);
                let check = |how: &str, c: &Buffer<$sum>| -> triton::Result<()> {
                    let found: Vec<f64> = stream.download(c)?.into_iter().map(|x| x as f64).collect();
                    let error = error(&wide_a, &wide_b, &found, (m, k, n));
                    assert!(error <= $tolerance, "{device} {} {how} {m} {k} {n}: {error}", stringify!($t));
                    Ok(())
                };
                let grid = (m.div_ceil(32), n.div_ceil(64));
                let depth = k as i32;
                let mut c = stream.zeros::<$sum>(m * n)?;
                macro_rules! run {
                    ($how:literal, $ta:literal, $tb:literal, $x:expr, $y:expr) => {
                        $kernel::<$ta, $tb>($x, $y, c.view_mut([m, n])?, depth).launch(&stream, grid)?;
                        check($how, &c)?;
                    };
                }
                run!("NN", 0, 0, da.view([m, k])?, db.view([k, n])?);
                run!("NT", 0, 1, da.view([m, k])?, tb.view([n, k])?);
                run!("TN", 1, 0, ta.view([k, m])?, db.view([k, n])?);
                run!("TT", 1, 1, ta.view([k, m])?, tb.view([n, k])?);
                run!("views", 0, 0, ta.view([k, m])?.transpose(), tb.view([n, k])?.transpose());
            }
        }
    };
}

#[test]
fn operands_in_either_major_order() -> triton::Result<()> {
    check!(of_f16, f16, f32, f16::from_f32, |x| x.to_f64(), 1e-6);
    check!(of_bf16, bf16, f32, bf16::from_f32, |x| x.to_f64(), 1e-6);
    check!(of_f32, f32, f32, |x| x, f64::from, 1e-6);
    // 11 bits of every factor.
    check!(of_tf32, f32, f32, |x| x, f64::from, 1e-3);
    check!(of_f64, f64, f64, f64::from, |x| x, 1e-14);
    check!(of_i8, i8, i32, |x| (x * 100.0) as i8, f64::from, 0.0);
    Ok(())
}
