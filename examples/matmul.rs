//! c = a · b over views: half types on tensor cores, `f32` by multiplications; sizes that no tile divides.
//!
//! `cargo run --release --example matmul` uses the best device of this machine; `-- --device cpu`, `-- --device cuda`
//! and `-- --device sim` choose one.

mod support;

use triton::prelude::*;

/// c = a · b. Views carry shape and strides: every access is bounds-checked, so launching needs no `unsafe`.
#[triton::kernel(T = [f16, bf16], configs = [(BM = 64, BN = 64, BK = 32), (BM = 128, BN = 64, BK = 32, num_warps = 8)])]
pub fn matmul<T: Float, const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
    }
    c.store([m, n], acc.to::<T>());
}

/// The same in `f32`: products are as exact as the type.
#[triton::kernel(configs = [(BM = 32, BN = 64, BK = 8)])]
pub fn matmul_f32<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
    }
    c.store([m, n], acc);
}

fn main() -> std::process::ExitCode {
    support::run("matmul", run)
}

fn run(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let stream = device.stream()?;
    for (m, k, n) in [(64, 64, 64), (77, 33, 91), (200, 100, 130), (256, 512, 128)] {
        let number = |i: usize, p: usize| ((i * p) % 1009) as f32 / 504.0 - 1.0;
        let a: Vec<f32> = (0..m * k).map(|i| number(i, 7919)).collect();
        let b: Vec<f32> = (0..k * n).map(|i| number(i, 104_729)).collect();

        let half = |v: &[f32]| v.iter().map(|&x| f16::from_f32(x)).collect::<Vec<f16>>();
        let (ha, hb) = (half(&a), half(&b));
        let (da, db) = (stream.tensor(&ha, [m, k])?, stream.tensor(&hb, [k, n])?);
        let mut c = stream.tensor_zeros([m, n])?;
        matmul::<f16, 64, 64, 32>(&da, &db, &mut c).launch(&stream, (m.div_ceil(64), n.div_ceil(64)))?;
        let wide = |v: &[f16]| v.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let f16_error = error(&wide(&ha), &wide(&hb), &wide(&stream.download(&c)?), (m, k, n));

        let (da, db) = (stream.tensor(&a, [m, k])?, stream.tensor(&b, [k, n])?);
        let mut c = stream.tensor_zeros([m, n])?;
        matmul_f32::<32, 64, 8>(&da, &db, &mut c).launch(&stream, (m.div_ceil(32), n.div_ceil(64)))?;
        let wide = |v: &[f32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let f32_error = error(&wide(&a), &wide(&b), &wide(&stream.download(&c)?), (m, k, n));

        println!("{m} x {k} x {n}: relative error {f16_error:.1e} in f16, {f32_error:.1e} in f32");
        if f16_error > 1e-3 || f32_error > 1e-6 {
            return Err(format!("{m} x {k} x {n}: errors of {f16_error} and {f32_error}").into());
        }
    }
    println!("matmul: correct on {device}");
    Ok(())
}

/// ‖c − a · b‖ / ‖a · b‖, all row-major, in `f64`.
fn error(a: &[f64], b: &[f64], c: &[f64], (m, k, n): (usize, usize, usize)) -> f64 {
    let (mut off, mut norm) = (0.0, 0.0);
    for i in 0..m {
        for j in 0..n {
            let exact: f64 = (0..k).map(|s| a[i * k + s] * b[s * n + j]).sum();
            off += (c[i * n + j] - exact).powi(2);
            norm += exact.powi(2);
        }
    }
    (off / norm).sqrt()
}
