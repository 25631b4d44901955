//! Softmax of every row of a matrix, in one pass: a program keeps its row in registers.
//!
//! `cargo run --release --example softmax` uses the best device of this machine; `-- --device cpu`, `-- --device cuda`
//! and `-- --device sim` choose one.

mod support;

use triton::prelude::*;

/// out = softmax(x) along the last axis; M rows of at most N columns a program. Which M and N is chosen at the launch.
#[triton::kernel(T = [f32, f16, bf16], tune = [M, N], configs = [
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

/// Softmax of every row, of any element type that the kernel lists: the first instance whose tile holds a row.
fn softmax_rows<T: Float>(stream: &Stream, x: &Tensor<T, 2>, out: &mut Tensor<T, 2>) -> triton::Result<()>
where
    triton::Compiled: SoftmaxPool<T>,
{
    let [rows, columns] = x.shape();
    softmax_tuned::<T>(x, out)
        .find(|tile| tile.N as usize >= columns)
        .launch(stream, |tile| rows.div_ceil(tile.M as usize))
}

fn main() -> std::process::ExitCode {
    support::run("softmax", run)
}

fn run(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let stream = device.stream()?;
    for shape in [[100, 64], [77, 200], [33, 1000], [9, 4096], [3, 12672], [2, 32768]] {
        let x: Vec<f32> = (0..shape[0] * shape[1]).map(|i| ((i * 7919) % 1009) as f32 * 0.02 - 10.0).collect();
        let single = error_of(&stream, &x, shape, |v| v, |v| v)?;
        let half = error_of(&stream, &x, shape, bf16::from_f32, bf16::to_f32)?;
        println!("softmax of {} x {}: largest relative error {single:.1e}, in bf16 {half:.1e}", shape[0], shape[1]);
        if single > 2e-6 || half > 4e-3 {
            return Err(format!("{shape:?}: errors of {single} and {half}").into());
        }
    }
    println!("softmax: correct on {device}");
    Ok(())
}

/// The largest relative error of the softmax of `x` in a type that `to` and `from` convert to and from.
fn error_of<T: Float>(
    stream: &Stream,
    x: &[f32],
    shape: [usize; 2],
    to: impl Fn(f32) -> T,
    from: impl Fn(T) -> f32,
) -> triton::Result<f64>
where
    triton::Compiled: SoftmaxPool<T>,
{
    let x: Vec<T> = x.iter().map(|&v| to(v)).collect();
    let (device_x, mut out) = (stream.tensor(&x, shape)?, stream.tensor_zeros(shape)?);
    softmax_rows(stream, &device_x, &mut out)?;
    let floats = |v: Vec<T>| v.into_iter().map(&from).collect::<Vec<f32>>();
    let found = floats(stream.download(&out)?);
    Ok(worst_error(&floats(x), &found, shape[1]))
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
