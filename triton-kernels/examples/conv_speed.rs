//! Times convolutions of the papers' tables on a GPU, forward and both gradients, in NHWC:
//! `cargo run --release -p triton-kernels --example conv_speed [-- --filter TEXT]`.
//!
//! `--list` prints the rows instead, for `conv_speed.py`, which times them by cuDNN.

mod timer;

use clap::Parser;
use timer::{Timer, numbers};
use triton::prelude::*;
use triton_kernels::conv::{Shifts, conv2d, conv2d_backward_input, conv2d_backward_weight, shift_conv};
use triton_kernels::linear::{GemmElement, gemm};
use triton_kernels::{FloatElement, Result};

/// A row of a table: x `[N, H, W, C]`, K filters of R × S, stride and padding.
struct Row {
    name: &'static str,
    x: [usize; 4],
    w: [usize; 3],
    stride: usize,
    padding: [usize; 2],
}

impl Row {
    fn places(&self, axis: usize) -> usize {
        (self.x[1 + axis] + 2 * self.padding[axis] - self.w[1 + axis]) / self.stride + 1
    }

    /// Of y, `[N, P, Q, K]`.
    fn output(&self) -> [usize; 4] {
        [self.x[0], self.places(0), self.places(1), self.w[0]]
    }

    fn weights(&self) -> [usize; 4] {
        [self.w[0], self.w[1], self.w[2], self.x[3]]
    }

    fn operations(&self) -> f64 {
        2.0 * (self.output().iter().product::<usize>() * self.w[1] * self.w[2] * self.x[3]) as f64
    }
}

const fn row(name: &'static str, x: [usize; 4], w: [usize; 3], stride: usize, padding: [usize; 2]) -> Row {
    Row { name, x, w, stride, padding }
}

/// Tillet and Cox (SC 2017), table 5; Tillet's thesis (2020), tables 4.7 and 4.9; Tillet, Kung and Cox (MAPL 2019), table 1.
const ROWS: &[Row] = &[
    row("Conv1", [16, 161, 700, 1], [32, 5, 20], 2, [0, 0]),
    row("Conv2", [16, 79, 341, 32], [32, 5, 10], 2, [0, 0]),
    row("Conv3", [16, 24, 240, 16], [32, 3, 3], 1, [1, 1]),
    row("Conv4", [16, 12, 120, 32], [64, 3, 3], 1, [1, 1]),
    row("Conv5", [8, 54, 54, 64], [64, 3, 3], 1, [1, 1]),
    row("Conv6", [8, 27, 27, 128], [128, 3, 3], 1, [1, 1]),
    row("Conv7", [16, 14, 14, 512], [48, 5, 5], 1, [2, 2]),
    row("Conv8", [16, 7, 7, 832], [128, 5, 5], 1, [2, 2]),
    row("Conv9", [8, 112, 112, 64], [128, 3, 3], 1, [1, 1]),
    row("Conv10", [8, 56, 56, 128], [256, 3, 3], 1, [1, 1]),
    row("Conv11", [16, 128, 39, 64], [174, 5, 5], 1, [2, 2]),
    row("Conv12", [16, 256, 19, 128], [87, 5, 5], 1, [2, 2]),
    row("Conv13", [16, 7, 7, 512], [512, 3, 3], 1, [1, 1]),
    row("Conv14", [16, 7, 7, 1024], [2048, 1, 1], 1, [0, 0]),
    row("C64", [16, 56, 56, 64], [64, 3, 3], 1, [1, 1]),
    row("C128", [16, 56, 56, 128], [128, 3, 3], 1, [1, 1]),
    row("C256", [16, 56, 56, 256], [256, 3, 3], 1, [1, 1]),
    row("C512", [16, 56, 56, 512], [512, 3, 3], 1, [1, 1]),
    row("H8", [16, 8, 8, 256], [256, 3, 3], 1, [1, 1]),
    row("H16", [16, 16, 16, 256], [256, 3, 3], 1, [1, 1]),
    row("H32", [16, 32, 32, 256], [256, 3, 3], 1, [1, 1]),
    row("H64", [16, 64, 64, 256], [256, 3, 3], 1, [1, 1]),
    row("Task1", [4, 112, 112, 64], [128, 3, 3], 1, [1, 1]),
    row("Task2", [4, 56, 56, 128], [256, 3, 3], 1, [1, 1]),
    row("Task3", [4, 28, 28, 256], [512, 3, 3], 1, [1, 1]),
    row("Task4", [4, 14, 14, 512], [512, 3, 3], 1, [1, 1]),
    row("Task5", [4, 7, 7, 512], [512, 3, 3], 1, [1, 1]),
    row("Task6", [8, 161, 700, 1], [64, 5, 5], 1, [0, 0]),
    row("Task7", [8, 79, 341, 32], [32, 5, 10], 1, [0, 0]),
];

/// Times convolutions.
#[derive(Parser)]
struct Options {
    /// Only rows whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// Prints the rows, and times nothing
    #[arg(long)]
    list: bool,
    /// Without gradients
    #[arg(long)]
    forward: bool,
}

fn report(row: &Row, what: &str, found: f64) {
    println!("{:7} {what:12} {:9.1} us {:7.1} TFLOPS", row.name, found * 1e3, row.operations() / found / 1e9);
}

fn time<T: FloatElement + GemmElement<T>>(
    timer: &mut Timer,
    options: &Options,
    row: &Row,
    of: fn(f32) -> T,
) -> Result<()> {
    let stream = timer.stream.clone();
    let kind = T::DTYPE;
    let (x, w) = (numbers(&stream, row.x, of)?, numbers(&stream, row.weights(), of)?);
    let mut y = numbers(&stream, row.output(), of)?;
    let (stride, padding) = ((row.stride, row.stride), (row.padding[0], row.padding[1]));
    let found = timer.time(|stream| conv2d(&x, &w, &mut y).stride(stride).padding(padding).launch(stream))?;
    report(row, &format!("{kind}"), found);
    if row.name.starts_with("Task") && row.stride == 1 && row.padding == [1, 1] {
        shifted(timer, row, of)?;
    }
    if options.forward {
        return Ok(());
    }
    let (mut dx, mut dw) = (stream.tensor_uninit::<T, _>(row.x)?, stream.tensor_uninit::<T, _>(row.weights())?);
    let found =
        timer.time(|stream| conv2d_backward_input(&y, &w, &mut dx).stride(stride).padding(padding).launch(stream))?;
    report(row, &format!("{kind} dx"), found);
    let found =
        timer.time(|stream| conv2d_backward_weight(&x, &y, &mut dw).stride(stride).padding(padding).launch(stream))?;
    report(row, &format!("{kind} dw"), found);
    Ok(())
}

/// A shift-convolution of the row's image and filters, and the product of pixels without shifts.
fn shifted<T: FloatElement + GemmElement<T>>(timer: &mut Timer, row: &Row, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let [images, height, width, channels] = row.x;
    let (pixels, filters) = (images * height * width, row.w[0]);
    let (x, w) = (numbers(&stream, row.x, of)?, numbers(&stream, [filters, channels], of)?);
    let mut y = stream.tensor_uninit::<T, _>([images, height, width, filters])?;
    let shifts = Shifts::grouped(&stream, channels, 3)?;
    let found = timer.time(|stream| shift_conv(&x, &w, &shifts, &mut y).launch(stream))?;
    println!("{:7} {:12} {:9.1} us", row.name, format!("{} shift", T::DTYPE), found * 1e3);
    let found = timer.time(|stream| {
        gemm(x.reshape([pixels, channels])?, w.transpose(), y.reshape_mut([pixels, filters])?).launch(stream)
    })?;
    println!("{:7} {:12} {:9.1} us", row.name, format!("{} 1x1", T::DTYPE), found * 1e3);
    Ok(())
}

fn main() -> Result<()> {
    let options = Options::parse();
    let rows = || ROWS.iter().filter(|row| row.name.contains(&options.filter));
    if options.list {
        for Row { name, x, w, stride, padding } in rows() {
            let numbers: Vec<String> =
                x.iter().chain(w).chain([stride]).chain(padding).map(ToString::to_string).collect();
            println!("{name}\t{}", numbers.join("\t"));
        }
        return Ok(());
    }
    let device = Device::cuda(0)?;
    println!("{device}");
    let mut timer = Timer::new(&device)?;
    for row in rows() {
        time::<f32>(&mut timer, &options, row, |v| v)?;
        time::<bf16>(&mut timer, &options, row, bf16::from_f32)?;
    }
    Ok(())
}
