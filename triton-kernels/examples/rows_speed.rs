//! Times operations over rows on a GPU, each repetition after the L2 cache was overwritten, beside a copy of as many bytes:
//! `cargo run --release -p triton-kernels --example rows_speed`.

mod timer;

use timer::{Timer, numbers};
use triton::{Device, bf16};
use triton_kernels::FloatElement;
use triton_kernels::activation::activation;
use triton_kernels::dropout::dropout;
use triton_kernels::linear::column_sums;
use triton_kernels::loss::cross_entropy;
use triton_kernels::norm::{layer_norm, layer_norm_backward, rms_norm, rms_norm_backward};
use triton_kernels::optim::{AdamWOptions, adamw};
use triton_kernels::softmax::{softmax, softmax_backward};
use triton_kernels::{Activation, Result};

fn rows<T: FloatElement>(timer: &mut Timer, name: &str, shape: [usize; 2], of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let [m, n] = shape;
    let bytes = m * n * size_of::<T>();
    let (x, dy) = (numbers(&stream, shape, of)?, numbers(&stream, shape, of)?);
    let (mut y, w) = (stream.tensor_zeros::<T, _>(shape)?, numbers(&stream, [n], of)?);
    let (mut means, mut scales) = (stream.tensor_zeros([m])?, stream.tensor_zeros([m])?);
    let (mut dw, mut db) = (stream.tensor_zeros::<T, _>([n])?, stream.tensor_zeros::<T, _>([n])?);
    let of_row = |what: &str| format!("{what} {name} {m}x{n}");
    timer.report(&of_row("softmax"), 2 * bytes, |stream| softmax(&x, &mut y).launch(stream))?;
    timer.report(&of_row("softmax_backward"), 3 * bytes, |stream| softmax_backward(&x, &dy, &mut y).launch(stream))?;
    timer.report(&of_row("layer_norm"), 2 * bytes, |stream| {
        layer_norm(&x, &w, &w, &mut y).statistics(&mut means, &mut scales).launch(stream)
    })?;
    timer.report(&of_row("layer_norm_backward"), 3 * bytes, |stream| {
        layer_norm_backward(&x, &w, &dy, &means, &scales, &mut y).dw(&mut dw).db(&mut db).launch(stream)
    })?;
    timer.report(&of_row("rms_norm"), 2 * bytes, |stream| {
        rms_norm(&x, &w, &mut y).statistics(&mut scales).launch(stream)
    })?;
    timer.report(&of_row("rms_norm_backward"), 3 * bytes, |stream| {
        rms_norm_backward(&x, &w, &dy, &scales, &mut y).dw(&mut dw).launch(stream)
    })?;
    timer.report(&of_row("column_sums"), bytes, |stream| column_sums(&x, &mut dw).launch(stream))
}

fn entropy<T: FloatElement>(timer: &mut Timer, name: &str, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let (m, n) = (8192, 50257);
    let mut logits = numbers(&stream, [m, n], of)?;
    let labels: Vec<i32> = (0..m as i32).map(|i| i * 6 % n as i32).collect();
    let (labels, mut loss) = (stream.tensor(&labels, [m])?, stream.tensor_zeros([m])?);
    timer.report(&format!("cross_entropy {name} {m}x{n}"), 2 * m * n * size_of::<T>(), |stream| {
        let launch = cross_entropy(&mut logits, &labels, &mut loss);
        launch.gradient_in_place().launch(stream)
    })
}

fn main() -> Result<()> {
    let device: Device = "cuda".parse()?;
    println!("{device}");
    let mut timer = Timer::new(&device)?;
    let stream = timer.stream.clone();
    for shape in [[8192, 4096], [8192, 8192], [8192, 1024]] {
        rows::<bf16>(&mut timer, "bf16", shape, bf16::from_f32)?;
    }
    rows::<f32>(&mut timer, "f32", [8192, 4096], |x| x)?;
    entropy::<bf16>(&mut timer, "bf16", bf16::from_f32)?;
    entropy::<f32>(&mut timer, "f32", |x| x)?;
    let (n, shape) = (1 << 27, [1 << 13, 1 << 14]);
    let (x, mut y) = (numbers(&stream, shape, bf16::from_f32)?, stream.tensor_zeros(shape)?);
    timer.report("dropout bf16 2^27", 4 * n, |stream| dropout(&x, 0.1, 42, 0, &mut y).launch(stream))?;
    timer.report("gelu bf16 2^27", 4 * n, |stream| activation(&x, Activation::Gelu, &mut y).launch(stream))?;
    let (mut w, g) = (numbers(&stream, shape, |x| x)?, numbers(&stream, shape, |x| x)?);
    let (mut mean, mut square) = (stream.tensor_zeros(shape)?, stream.tensor_zeros(shape)?);
    timer.report("adamw f32 2^27", 28 * n, |stream| {
        adamw(&mut w, &g, &mut mean, &mut square, AdamWOptions::default()).launch(stream)
    })
}
