//! What a library's accesses cost beside the plain ones: a product whose rows are gathered, beside the dense one.

use crate::stats::median;
use crate::timing::Timer;
use crate::{Common, Outcome, data};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use triton::prelude::*;

/// Which measurements.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Repetitions of each
    #[arg(long, default_value_t = 200)]
    reps: u32,
}

/// out = the listed rows of x, times w.
#[triton::kernel(configs = [
    (BM = 128, BN = 256, BK = 64, num_warps = 8, num_stages = 4),
    (BM = 256, BN = 128, BK = 64, num_warps = 8, num_stages = 4),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 4),
], tune = [BM, BN, BK])]
pub fn gathered<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<bf16, 2>,
    rows: Tensor<i32, 1>,
    w: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let at = rows.load_or([m], [BM], -1).expand_dims(1);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        let columns = (arange(0, BK) + k).expand_dims(0);
        acc = dot(x.gather([at, columns], true), w.load([k, n], [BK, BN]), acc);
    }
    out.store([m, n], acc.to::<bf16>());
}

/// The same of all rows in their order.
#[triton::kernel(configs = [
    (BM = 128, BN = 256, BK = 64, num_warps = 8, num_stages = 4),
    (BM = 128, BN = 128, BK = 64, num_warps = 8, num_stages = 4),
], tune = [BM, BN, BK])]
pub fn dense<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<bf16, 2>,
    w: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [BM, BK]), w.load([k, n], [BK, BN]), acc);
    }
    out.store([m, n], acc.to::<bf16>());
}

const SIDE: usize = 4096;

/// Times each member of the pool of gathered products, and those of the dense one, in turns.
///
/// # Errors
/// Of the device, and a product that is wrong.
pub fn accesses(options: &Options) -> Outcome {
    let device = options.common.device.parse::<Device>()?;
    let mut timer = Timer::new(&device, options.common.flush_mib)?;
    let stream = timer.stream.clone();
    let shape = [SIDE; 2];
    let seed = options.common.seed.unwrap_or_else(rand::random);
    let mut order: Vec<i32> = (0..SIDE as i32).collect();
    order.shuffle(&mut SmallRng::seed_from_u64(seed));
    let (x, w) = (data::random::<bf16>(SIDE * SIDE, seed), data::random::<bf16>(SIDE * SIDE, seed + 1));
    let (x, w) = (stream.upload(&x)?, stream.upload(&w)?);
    let rows = stream.upload(&order)?;
    let (mut by_rows, mut plain) = (stream.zeros::<bf16>(SIDE * SIDE)?, stream.zeros::<bf16>(SIDE * SIDE)?);
    let grid = |bm: i32, bn: i32| (SIDE.div_ceil(bm as usize), SIDE.div_ceil(bn as usize));
    println!("{device}, seed {seed}, {SIDE}³ bf16, {} repetitions", options.reps);
    for turn in 0..2 {
        for i in 0..dense_pool().members().len() {
            let ms = timer.time(5, options.reps, |stream| {
                let tuned = dense_tuned(x.view(shape)?, w.view(shape)?, plain.view_mut(shape)?);
                Ok(tuned.choose(i).launch(stream, |of| grid(of.BM, of.BN))?)
            })?;
            report(turn, &format!("dense {:?}", dense_pool().members()[i].choice()), &ms);
        }
        for i in 0..gathered_pool().members().len() {
            let ms = timer.time(5, options.reps, |stream| {
                let tuned =
                    gathered_tuned(x.view(shape)?, rows.view([SIDE])?, w.view(shape)?, by_rows.view_mut(shape)?);
                Ok(tuned.choose(i).launch(stream, |of| grid(of.BM, of.BN))?)
            })?;
            report(turn, &format!("gathered {:?}", gathered_pool().members()[i].choice()), &ms);
            let (by_rows, plain) = (stream.download(&by_rows)?, stream.download(&plain)?);
            let right = |(i, &row): (usize, &i32)| by_rows[i * SIDE..][..SIDE] == plain[row as usize * SIDE..][..SIDE];
            if !order.iter().enumerate().all(right) {
                return Err("the gathered product differs from the rows of the dense one".into());
            }
        }
    }
    Ok(())
}

fn report(turn: usize, what: &str, ms: &[f64]) {
    if let Some(ms) = median(ms) {
        println!("{turn} {ms:.4} ms {:.0} TF {what}", 2.0 * (SIDE as f64).powi(3) / ms / 1e9);
    }
}
