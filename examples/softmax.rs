//! Softmax of every row of a matrix, in one pass: a program keeps its row in registers.
//!
//! `cargo run --release --example softmax` uses the best device of this machine; `-- --device cpu`, `-- --device cuda`
//! and `-- --device sim` choose one.

mod support;

use triton::prelude::*;

/// out = softmax(x) along the last axis; M rows of at most N columns a program.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (M = 4, N = 256), (M = 1, N = 1024), (M = 1, N = 4096, num_warps = 8), (M = 1, N = 16384, num_warps = 16), (M = 1, N = 32768, num_warps = 32),
])]
pub fn softmax<T: Float, const M: i32, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = program_id(0) * M;
    let v = x.load([row, 0], [M, N]).to::<f32>();
    // Elements past the last column must not count.
    let inside = (arange(0, N) < x.dim(1)).expand_dims(0);
    let v = select(inside, v, f32::NEG_INFINITY);
    let e = exp(v - max_axis(v, 1).expand_dims(1));
    out.store([row, 0], (e / sum_axis(e, 1).expand_dims(1)).to::<T>());
}

fn main() -> std::process::ExitCode {
    support::run("softmax", run)
}

fn run(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let stream = device.stream()?;
    for (rows, columns) in [(100, 64), (77, 200), (33, 1000), (9, 4096), (3, 12672), (2, 32768)] {
        let x: Vec<f32> = (0..rows * columns).map(|i| ((i * 7919) % 1009) as f32 * 0.02 - 10.0).collect();
        let dx = stream.upload(&x)?;
        let mut out = stream.zeros::<f32>(x.len())?;
        let (x_view, out_view) = (dx.view([rows, columns])?, out.view_mut([rows, columns])?);
        match columns {
            0..=256 => softmax::<f32, 4, 256>(x_view, out_view).launch(&stream, rows.div_ceil(4))?,
            257..=1024 => softmax::<f32, 1, 1024>(x_view, out_view).launch(&stream, rows)?,
            1025..=4096 => softmax::<f32, 1, 4096>(x_view, out_view).launch(&stream, rows)?,
            4097..=16384 => softmax::<f32, 1, 16384>(x_view, out_view).launch(&stream, rows)?,
            _ => softmax::<f32, 1, 32768>(x_view, out_view).launch(&stream, rows)?,
        }
        let worst = worst_error(&x, &stream.download(&out)?, columns);
        println!("softmax of {rows} x {columns}: largest relative error {worst:.1e}");
        if worst > 2e-6 {
            return Err(format!("{rows} x {columns}: an error of {worst}").into());
        }
    }
    println!("softmax: correct on {device}");
    Ok(())
}

/// The largest relative error against the definition, in `f64`.
fn worst_error(x: &[f32], out: &[f32], columns: usize) -> f64 {
    let mut worst = 0.0f64;
    for (x, out) in x.chunks(columns).zip(out.chunks(columns)) {
        let top = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let e: Vec<f64> = x.iter().map(|&v| (f64::from(v) - f64::from(top)).exp()).collect();
        let sum: f64 = e.iter().sum();
        for (found, e) in out.iter().zip(&e) {
            worst = worst.max((f64::from(*found) - e / sum).abs() / (e / sum));
        }
    }
    worst
}
