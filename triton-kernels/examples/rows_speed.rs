//! Times operations over rows on a GPU, each repetition after the L2 cache was overwritten, beside a copy of as many bytes:
//! `cargo run --release -p triton-kernels --example rows_speed`.

mod timer;

use timer::{Timer, numbers};
use triton::{Device, bf16};
use triton_kernels::rows::{
    AdamWOptions, FloatElement, activation, adamw, column_sums, cross_entropy, dropout, layer_norm,
    layer_norm_backward, rms_norm, rms_norm_backward, softmax, softmax_backward,
};
use triton_kernels::{Activation, Result};

fn rows<T: FloatElement>(timer: &mut Timer, name: &str, shape: [usize; 2], of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let [m, n] = shape;
    let bytes = m * n * size_of::<T>();
    let (x, dy) = (numbers(&stream, m * n, of)?, numbers(&stream, m * n, of)?);
    let (mut y, w) = (stream.zeros::<T>(m * n)?, numbers(&stream, n, of)?);
    let (mut means, mut scales) = (stream.zeros::<f32>(m)?, stream.zeros::<f32>(m)?);
    let (mut dw, mut db) = (stream.zeros::<T>(n)?, stream.zeros::<T>(n)?);
    let of_row = |what: &str| format!("{what} {name} {m}x{n}");
    timer.report(&of_row("softmax"), 2 * bytes, |stream| softmax(x.view(shape)?, y.view_mut(shape)?).launch(stream))?;
    timer.report(&of_row("softmax_backward"), 3 * bytes, |stream| {
        softmax_backward(x.view(shape)?, dy.view(shape)?, y.view_mut(shape)?).launch(stream)
    })?;
    timer.report(&of_row("layer_norm"), 2 * bytes, |stream| {
        layer_norm(x.view(shape)?, w.view([n])?, w.view([n])?, y.view_mut(shape)?)
            .means(means.view_mut([m])?)
            .scales(scales.view_mut([m])?)
            .launch(stream)
    })?;
    timer.report(&of_row("layer_norm_backward"), 3 * bytes, |stream| {
        let (means, scales) = (means.view([m])?, scales.view([m])?);
        layer_norm_backward(x.view(shape)?, w.view([n])?, dy.view(shape)?, means, scales, y.view_mut(shape)?)
            .parameters(dw.view_mut([n])?, db.view_mut([n])?)
            .launch(stream)
    })?;
    timer.report(&of_row("rms_norm"), 2 * bytes, |stream| {
        rms_norm(x.view(shape)?, w.view([n])?, y.view_mut(shape)?).scales(scales.view_mut([m])?).launch(stream)
    })?;
    timer.report(&of_row("rms_norm_backward"), 3 * bytes, |stream| {
        rms_norm_backward(x.view(shape)?, w.view([n])?, dy.view(shape)?, scales.view([m])?, y.view_mut(shape)?)
            .weight(dw.view_mut([n])?)
            .launch(stream)
    })?;
    timer.report(&of_row("column_sums"), bytes, |stream| column_sums(x.view(shape)?, dw.view_mut([n])?).launch(stream))
}

fn entropy<T: FloatElement>(timer: &mut Timer, name: &str, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let (m, n) = (8192, 50257);
    let mut logits = numbers(&stream, m * n, of)?;
    let labels: Vec<i32> = (0..m as i32).map(|i| i * 6 % n as i32).collect();
    let (labels, mut loss) = (stream.upload(&labels)?, stream.zeros::<f32>(m)?);
    timer.report(&format!("cross_entropy {name} {m}x{n}"), 2 * m * n * size_of::<T>(), |stream| {
        let launch = cross_entropy(logits.view_mut([m, n])?, labels.view([m])?, loss.view_mut([m])?);
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
    let n = 1 << 27;
    let x = numbers(&stream, n, bf16::from_f32)?;
    let (mut y, shape) = (stream.zeros::<bf16>(n)?, [1 << 13, 1 << 14]);
    timer.report("dropout bf16 2^27", 4 * n, |stream| {
        dropout(x.view(shape)?, y.view_mut(shape)?, 0.1, 42, 0).launch(stream)
    })?;
    timer.report("gelu bf16 2^27", 4 * n, |stream| {
        activation(Activation::Gelu, x.view(shape)?, y.view_mut(shape)?).launch(stream)
    })?;
    let (mut w, g) = (numbers(&stream, n, |x| x)?, numbers(&stream, n, |x| x)?);
    let (mut mean, mut square) = (stream.zeros::<f32>(n)?, stream.zeros::<f32>(n)?);
    timer.report("adamw f32 2^27", 28 * n, |stream| {
        let (mean, square) = (mean.view_mut(shape)?, square.view_mut(shape)?);
        adamw(w.view_mut(shape)?, g.view(shape)?, mean, square, AdamWOptions::default()).launch(stream)
    })
}
