//! Products with an epilogue of the user's, by `gemm_with!`, beside those of the library: ReLU and a residual. In one process, in turns.

use crate::stats::median;
use crate::timing::Timer;
use crate::{Common, Outcome, data};
use triton::prelude::*;
use triton_kernels::functions;
use triton_kernels::linear::gemm;
use triton_kernels::{Activation, gemm_with};

/// Options of `epilogues`.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Repetitions of each
    #[arg(long, default_value_t = 200)]
    reps: u32,
}

#[triton::function]
fn relu<const BM: i32, const BN: i32>(v: Tile<f32>, _at: (i32, i32)) -> Tile<f32> {
    functions::relu(v)
}
gemm_with!(relu_gemm, bf16 => bf16, relu);

#[triton::function]
fn hard_swish<const BM: i32, const BN: i32>(v: Tile<f32>, _at: (i32, i32)) -> Tile<f32> {
    v * minimum(maximum(v + 3.0, 0.0), 6.0) * (1.0 / 6.0)
}
gemm_with!(hard_swish_gemm, bf16 => bf16, hard_swish);

#[triton::function]
fn gated<const BM: i32, const BN: i32>(v: Tile<f32>, at: (i32, i32), gate: Tensor<bf16, 2>) -> Tile<f32> {
    let (m, n) = at;
    v * gate.load([m, n], [BM, BN]).to::<f32>()
}
gemm_with!(gated_gemm, bf16 => bf16, gated(gate: Tensor<bf16, 2>));

/// M, N, K. The third one's K is divided among programs.
const SHAPES: &[[usize; 3]] = &[[4096, 4096, 4096], [1024, 1024, 1024], [2560, 16, 2560], [8192, 2048, 2048]];

/// What is timed. The first one is what the others are compared with, but for the last, which is compared with the residual.
const NAMES: [&str; 5] =
    ["ReLU", "ReLU of the user's", "hard-swish of the user's", "residual", "second tensor of the user's"];

/// Measures all of it.
///
/// # Errors
/// Of the device, and a result that is wrong.
pub fn epilogues(options: &Options) -> Outcome {
    let device = options.common.device.parse::<Device>()?;
    let mut timer = Timer::new(&device, options.common.flush_mib)?;
    let seed = options.common.seed.unwrap_or_else(rand::random);
    println!("{device}, seed {seed}, {} repetitions; times of the user's over those of the library's", options.reps);
    for shape in SHAPES {
        for transposed in [false, true] {
            one(options, &mut timer, seed, *shape, transposed)?;
        }
    }
    Ok(())
}

/// All epilogues of one product; b is stored \[N, K\] if it is transposed.
fn one(options: &Options, timer: &mut Timer, seed: u64, [m, n, k]: [usize; 3], transposed: bool) -> Outcome {
    let stream = timer.stream.clone();
    let of = |len: usize, seed: u64| stream.upload(&data::random::<bf16>(len, seed));
    let (a, b, gate) = (of(m * k, seed)?, of(n * k, seed + 1)?, of(m * n, seed + 2)?);
    let mut c = stream.zeros::<bf16>(m * n)?;
    let (a, gate) = (a.view([m, k])?, gate.view([m, n])?);
    let b = if transposed { b.view([n, k])?.transpose() } else { b.view([k, n])? };
    let launch = |index: usize, c: &mut Buffer<bf16>, stream: &Stream| -> Outcome {
        let c = c.view_mut([m, n])?;
        let launched = match index {
            0 => gemm(a, b, c).activation(Activation::Relu).launch(stream),
            1 => relu_gemm(a, b, c).launch(stream),
            2 => hard_swish_gemm(a, b, c).launch(stream),
            3 => gemm(a, b, c).residual(gate).launch(stream),
            _ => gated_gemm(a, b, c, gate).launch(stream),
        };
        Ok(launched?)
    };
    let mut times = [const { Vec::new() }; NAMES.len()];
    for _ in 0..5 {
        for (index, times) in times.iter_mut().enumerate() {
            times.extend(timer.time(3, options.reps.div_ceil(5), |stream| launch(index, &mut c, stream))?);
        }
    }
    let mut found = [Vec::new(), Vec::new()];
    for (index, found) in found.iter_mut().enumerate() {
        launch(index, &mut c, &stream)?;
        *found = stream.download(&c)?;
    }
    // Of a split K sums are added as programs arrive.
    let is_close = |(x, y): (&bf16, &bf16)| (x.to_f32() - y.to_f32()).abs() <= 0.01 * y.to_f32().abs().max(1.0);
    if !found[1].iter().zip(&found[0]).all(is_close) {
        return Err(format!("{m}x{n}x{k}: {} differs from the library's", NAMES[1]).into());
    }
    let times = times.map(|ms| median(&ms).unwrap_or(f64::NAN) * 1e3);
    let selected = relu_gemm(a, b, c.view_mut([m, n])?).selected(&stream)?;
    let order = if transposed { "NT" } else { "NN" };
    println!("{m}x{n}x{k} bf16 {order} ({selected})");
    for (index, (name, us)) in NAMES.iter().zip(times).enumerate() {
        let beside = if index < 3 { times[0] } else { times[3] };
        println!("    {name:28} {us:8.1} us  {:.3}", us / beside);
    }
    Ok(())
}
