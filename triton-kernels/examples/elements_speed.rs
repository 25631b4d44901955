//! Times operations that memory bounds, elements, pools, reductions and depthwise convolutions, each repetition after the L2 cache was overwritten, beside a copy of
//! as many bytes: `cargo run --release -p triton-kernels --example elements_speed`. `elements_speed.py` times PyTorch's.

mod timer;

use timer::{Timer, numbers};
use triton::prelude::*;
use triton_kernels::conv::{conv2d, conv2d_backward_input, conv2d_backward_weight};
use triton_kernels::elementwise::{add, clamp, concat, copy, mul, select};
use triton_kernels::pool::{
    Interpolation, adaptive_avg_pool, avg_pool, avg_pool_backward, max_pool, max_pool_backward, upsample,
};
use triton_kernels::reduce::{argmax, cumsum, max, sum, var};
use triton_kernels::{FloatElement, Result};

fn elements(timer: &mut Timer) -> Result<()> {
    let stream = timer.stream.clone();
    let (m, n) = (1 << 13, 1 << 14);
    let count = m * n;
    let (a, b) = (numbers(&stream, [m, n], |x| x)?, numbers(&stream, [m, n], |x| x)?);
    let (h, g) = (numbers(&stream, [m, n], bf16::from_f32)?, numbers(&stream, [m, n], bf16::from_f32)?);
    let (row, column) = (numbers(&stream, [n], bf16::from_f32)?, numbers(&stream, [m, 1], bf16::from_f32)?);
    let (mut y, mut z) = (stream.tensor_zeros::<f32, _>([m, n])?, stream.tensor_zeros::<bf16, _>([m, n])?);
    let mask: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let mask = stream.tensor(&mask, [n])?;
    timer.report("add f32", 12 * count, |stream| add(&a, &b, &mut y).launch(stream))?;
    timer.report("add bf16", 6 * count, |stream| add(&h, &g, &mut z).launch(stream))?;
    timer.report("add a row bf16", 4 * count, |stream| add(&h, &row, &mut z).launch(stream))?;
    timer.report("mul a column bf16", 4 * count, |stream| mul(&h, &column, &mut z).launch(stream))?;
    timer.report("mul a number bf16", 4 * count, |stream| mul(&h, 0.5f32, &mut z).launch(stream))?;
    timer.report("clamp f32", 8 * count, |stream| clamp(&a, 0.0, 1.0, &mut y).launch(stream))?;
    timer.report("copy f32 to bf16", 6 * count, |stream| copy(&a, &mut z).launch(stream))?;
    timer.report("copy bf16 to f32", 6 * count, |stream| copy(&h, &mut y).launch(stream))?;
    timer.report("select f32 by a row", 12 * count, |stream| select(&mask, &a, &b, &mut y).launch(stream))?;
    timer.report("concat bf16", 4 * count, |stream| {
        let halves = [h.as_view().narrow(1, ..n / 2)?, g.as_view().narrow(1, n / 2..)?];
        concat(&halves, 1, &mut z).launch(stream)
    })?;
    timer.report("add bf16 from an odd element on", 6 * (count - m), |stream| {
        let (h, g) = (h.as_view().narrow(1, 1..)?, g.as_view().narrow(1, 1..)?);
        add(h, g, z.as_view_mut().narrow(1, 1..)?).launch(stream)
    })?;
    timer.report("add rows of 3 f32", 8 * (count / 4 * 3), |stream| {
        let x = a.as_view().reshape([count])?.narrow(0, ..count / 4 * 3)?.reshape([count / 4, 3])?;
        let y = y.as_view_mut().reshape([count])?.narrow(0, ..count / 4 * 3)?.reshape([count / 4, 3])?;
        add(x, b.as_view().narrow(0, ..1)?.narrow(1, ..3)?, y).launch(stream)
    })?;
    timer.report("copy bf16 transposed", 4 * count, |stream| {
        copy(h.as_view().transpose(), z.as_view_mut().reshape([n, m])?).launch(stream)
    })?;
    timer.report("copy bf16 NCHW to NHWC", 4 * count, |stream| {
        let x = h.as_view().reshape([32, 256, 128, 128])?.permute([0, 2, 3, 1])?;
        copy(x, z.as_view_mut().reshape([32, 128, 128, 256])?).launch(stream)
    })
}

fn pools<T: FloatElement>(timer: &mut Timer, name: &str, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let size = size_of::<T>();
    let [n, h, w, c] = [64, 112, 112, 128];
    let count = n * h * w * c;
    let (x, mut dx) = (numbers(&stream, [n, h, w, c], of)?, stream.tensor_zeros::<T, _>([n, h, w, c])?);
    let mut half = numbers(&stream, [n, h / 2, w / 2, c], of)?;
    let row = |what: &str| format!("{what} {name}");
    let (third, all) = (5 * count / 4 * size, 2 * count * size);
    timer.report(&row("max_pool 3x3 stride 2"), third, |stream| {
        max_pool(&x, (3, 3), &mut half).stride((2, 2)).padding((1, 1)).launch(stream)
    })?;
    timer.report(&row("max_pool 2x2"), third, |stream| max_pool(&x, (2, 2), &mut half).launch(stream))?;
    timer.report(&row("avg_pool 2x2"), third, |stream| avg_pool(&x, (2, 2), &mut half).launch(stream))?;
    timer.report(&row("avg_pool 3x3 stride 1"), all, |stream| {
        avg_pool(&x, (3, 3), &mut dx).stride((1, 1)).padding((1, 1)).launch(stream)
    })?;
    timer.report(&row("max_pool_backward 2x2"), 9 * count / 4 * size, |stream| {
        max_pool_backward(&x, &half, (2, 2), &mut dx).launch(stream)
    })?;
    timer.report(&row("avg_pool_backward 2x2"), third, |stream| {
        avg_pool_backward(&half, (2, 2), &mut dx).launch(stream)
    })?;
    timer.report(&row("upsample nearest 2x"), third, |stream| {
        upsample(&half, Interpolation::Nearest, &mut dx).launch(stream)
    })?;
    timer.report(&row("upsample bilinear 2x"), third, |stream| {
        upsample(&half, Interpolation::Bilinear, &mut dx).launch(stream)
    })?;
    let mut one = stream.tensor_zeros::<T, _>([n, 1, 1, c])?;
    timer.report(&row("global average"), count * size, |stream| adaptive_avg_pool(&x, &mut one).launch(stream))
}

fn reductions<T: FloatElement>(timer: &mut Timer, name: &str, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let (m, n, size) = (1 << 13, 1 << 14, size_of::<T>());
    let count = m * n;
    let (x, mut y) = (numbers(&stream, [m, n], of)?, stream.tensor_zeros::<T, _>([m, n])?);
    let (mut rows, mut columns) = (stream.tensor_zeros::<T, _>([m])?, stream.tensor_zeros::<T, _>([n])?);
    let (mut one, mut index) = (stream.tensor_zeros::<T, _>([1])?, stream.tensor_zeros::<i32, _>([m])?);
    let (mut middle, bytes) = (stream.tensor_zeros::<T, _>([64, 512])?, count * size);
    let row = |what: &str| format!("{what} {name}");
    timer.report(&row("sum of rows"), bytes, |stream| sum(&x, 1, &mut rows).launch(stream))?;
    timer.report(&row("sum of columns"), bytes, |stream| sum(&x, 0, &mut columns).launch(stream))?;
    timer.report(&row("sum of all"), bytes, |stream| sum(&x, .., &mut one).launch(stream))?;
    timer.report(&row("sum of a middle axis"), bytes, |stream| {
        sum(x.as_view().reshape([64, count / 64 / 512, 512])?, 1, &mut middle).launch(stream)
    })?;
    timer.report(&row("max of rows"), bytes, |stream| max(&x, 1, &mut rows).launch(stream))?;
    timer.report(&row("argmax of rows"), bytes, |stream| argmax(&x, &mut index).launch(stream))?;
    timer.report(&row("var of rows, two reads"), 2 * bytes, |stream| var(&x, 1, &mut rows).launch(stream))?;
    for columns in [128, 1 << 14, 1 << 22] {
        timer.report(&row(&format!("cumsum of {columns}")), 2 * bytes, |stream| {
            let shape = [count / columns, columns];
            cumsum(x.as_view().reshape(shape)?, y.as_view_mut().reshape(shape)?).launch(stream)
        })?;
    }
    Ok(())
}

fn depthwise<T: FloatElement>(timer: &mut Timer, name: &str, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    for (side, channels, window, stride) in
        [(112, 64, 3, 1), (56, 256, 3, 1), (28, 512, 3, 1), (56, 256, 3, 2), (56, 256, 5, 1)]
    {
        let images = (1usize << 27) / (side * side * channels);
        let to = side / stride;
        let (x, dy) =
            (numbers(&stream, [images, side, side, channels], of)?, numbers(&stream, [images, to, to, channels], of)?);
        let (mut dx, mut y) = (
            stream.tensor_zeros::<T, _>([images, side, side, channels])?,
            stream.tensor_zeros::<T, _>([images, to, to, channels])?,
        );
        let w = numbers(&stream, [window, window, channels, 1], of)?;
        let mut dw = stream.tensor_zeros::<T, _>([window, window, channels, 1])?;
        let w = w.as_view().permute([2, 0, 1, 3])?;
        let bytes = (x.len() + y.len()) * size_of::<T>();
        let row =
            |what: &str| format!("{what} {window}x{window} stride {stride} {name} {images}x{side}x{side}x{channels}");
        let (stride, padding) = ((stride, stride), (window / 2, window / 2));
        timer.report(&row("depthwise"), bytes, |stream| {
            conv2d(&x, w, &mut y).groups(channels).stride(stride).padding(padding).launch(stream)
        })?;
        timer.report(&row("depthwise dx"), bytes, |stream| {
            let of = conv2d_backward_input(&dy, w, &mut dx).groups(channels);
            of.stride(stride).padding(padding).launch(stream)
        })?;
        timer.report(&row("depthwise dw"), bytes, |stream| {
            let of = conv2d_backward_weight(&x, &dy, dw.as_view_mut().permute([2, 0, 1, 3])?).groups(channels);
            of.stride(stride).padding(padding).launch(stream)
        })?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let device: Device = "cuda".parse()?;
    println!("{device}");
    let mut timer = Timer::new(&device)?;
    elements(&mut timer)?;
    pools::<bf16>(&mut timer, "bf16", bf16::from_f32)?;
    pools::<f32>(&mut timer, "f32", |x| x)?;
    reductions::<bf16>(&mut timer, "bf16", bf16::from_f32)?;
    reductions::<f32>(&mut timer, "f32", |x| x)?;
    depthwise::<bf16>(&mut timer, "bf16", bf16::from_f32)?;
    depthwise::<f32>(&mut timer, "f32", |x| x)
}
