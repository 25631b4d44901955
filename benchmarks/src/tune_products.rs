//! Candidate instances of matrix products, ranked: where the instances in [`crate::products`] come from.

use crate::case::{Case, DType, Layouts, Op, cases};
use crate::kernels::Value;
use crate::timing::Timer;
use crate::{Common, Outcome, data, reference, stats, table, write_json};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::Serialize;
use triton::Device;
use triton::prelude::*;

/// Options of `tune-products`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Only cases whose name contains one of these texts, separated by commas
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
    /// Rounds over everything, each in an order of its own
    #[arg(long, default_value_t = 5)]
    blocks: usize,
    /// Timed repetitions of a block
    #[arg(long, default_value_t = 7)]
    reps: u32,
}

/// A kernel and the list of its instances: tile, warps, stages.
///
/// An instance is told from another one of the same tile by its number, V. One that spills is allowed: it ranks low.
macro_rules! candidates {
    ($list:ident, $kernel:ident, $t:ident, $sum:ident,
     $([$v:literal, $m:literal, $n:literal, $k:literal, $warps:literal, $stages:literal]),* $(,)?) => {
        #[triton::kernel(warnings = false, configs = [
            $((V = $v, BM = $m, BN = $n, BK = $k, num_warps = $warps, num_stages = $stages)),*
        ])]
        fn $kernel<const V: i32, const BM: i32, const BN: i32, const BK: i32>(
            x: Tensor<$t, 2>,
            y: Tensor<$t, 2>,
            out: TensorMut<$t, 2>,
        ) {
            let (m, n) = (program_id(0) * BM, program_id(1) * BN);
            let mut acc = zeros::<$sum>([BM, BN]);
            for k in (0..x.dim(1)).step_by(BK) {
                acc = dot(x.load([m, k], [BM, BK]), y.load([k, n], [BK, BN]), acc);
            }
            out.store([m, n], acc.to::<$t>());
        }

        const $list: &[Candidate<$t>] = &[$(Candidate {
            tile: [$m, $n, $k],
            warps: $warps,
            stages: $stages,
            launch: |stream, x, y, out, grid| $kernel::<$v, $m, $n, $k>(x, y, out).launch(stream, grid),
        }),*];
    };
}

type Launch<T> = fn(&Stream, View<'_, T, 2>, View<'_, T, 2>, ViewMut<'_, T, 2>, (usize, usize)) -> triton::Result<()>;

/// A compiled instance.
struct Candidate<T: Element> {
    /// Rows and columns of a program's part of the result, and the K of an iteration of its loop.
    tile: [usize; 3],
    warps: u32,
    stages: u32,
    launch: Launch<T>,
}

candidates!(
    BF16,
    product_bf16,
    bf16,
    f32,
    [0, 128, 256, 64, 8, 3],
    [1, 128, 256, 64, 8, 4],
    [2, 256, 128, 64, 8, 3],
    [3, 256, 128, 64, 8, 4],
    [4, 128, 128, 64, 4, 3],
    [5, 128, 128, 64, 4, 4],
    [6, 128, 128, 64, 8, 3],
    [7, 128, 128, 64, 8, 4],
    [8, 128, 128, 64, 8, 6],
    [9, 128, 128, 32, 4, 3],
    [10, 128, 128, 32, 4, 4],
    [11, 64, 256, 64, 4, 3],
    [12, 64, 256, 32, 4, 3],
    [13, 64, 256, 32, 4, 4],
    [14, 64, 128, 64, 4, 4],
    [15, 64, 128, 64, 4, 8],
    [16, 128, 64, 64, 4, 4],
    [17, 128, 64, 64, 4, 8],
    [18, 64, 64, 64, 4, 4],
    [19, 64, 64, 64, 4, 8],
    [20, 64, 64, 128, 4, 4],
    [21, 128, 256, 32, 8, 4],
);

candidates!(
    F32,
    product_f32,
    f32,
    f32,
    [0, 128, 128, 32, 8, 2],
    [1, 128, 128, 32, 8, 3],
    [2, 128, 128, 16, 8, 2],
    [3, 128, 128, 16, 8, 3],
    [4, 128, 128, 16, 8, 4],
    [5, 64, 128, 32, 4, 2],
    [6, 64, 128, 16, 4, 3],
    [7, 128, 64, 16, 4, 3],
    [8, 64, 64, 32, 4, 2],
    [9, 64, 64, 32, 4, 3],
    [10, 64, 64, 16, 2, 3],
    [11, 128, 256, 16, 8, 3],
    [12, 64, 64, 32, 2, 3],
    [13, 64, 128, 32, 4, 3],
    [14, 64, 128, 16, 4, 2],
);

candidates!(
    F64,
    product_f64,
    f64,
    f64,
    [0, 64, 64, 16, 4, 3],
    [1, 64, 64, 16, 4, 4],
    [2, 64, 64, 32, 4, 3],
    [3, 128, 64, 16, 4, 3],
    [4, 128, 64, 16, 8, 3],
    [5, 128, 128, 16, 8, 3],
    [6, 64, 64, 16, 8, 3],
    [7, 32, 64, 16, 4, 4],
    [8, 64, 128, 16, 4, 4],
    [9, 64, 128, 16, 8, 4],
    [10, 128, 128, 16, 8, 4],
    [11, 64, 64, 16, 4, 6],
);

/// One instance on one case.
#[derive(Serialize)]
struct Instance {
    case: String,
    instance: String,
    /// ‖found − reference‖ / ‖reference‖; nothing if it is not a number.
    error: Option<f64>,
    ms: Vec<Vec<f64>>,
}

/// Checks and times every candidate on every product of row-major operands.
///
/// # Errors
/// Of the device, or if a result is wrong. What was measured is printed and written before that.
pub fn tune_products(options: &Options) -> Outcome {
    let common = &options.common;
    let seed = common.seed.unwrap_or_else(rand::random);
    let mut timer = Timer::new(&common.device.parse::<Device>()?, common.flush_mib)?;
    let mut cases = cases(common.n as usize / 64 * 64, &options.filter);
    cases.retain(|case| case.op == Op::Matmul && case.layouts == Layouts::NN && !case.tf32);
    println!("seed {seed}, {} blocks of {} repetitions", options.blocks, options.reps);
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for case in &cases {
        let mut found = match case.dtype {
            DType::Bf16 => ranked(case, BF16, &mut timer, options, seed)?,
            DType::F32 => ranked(case, F32, &mut timer, options, seed)?,
            DType::F64 => ranked(case, F64, &mut timer, options, seed)?,
            DType::F16 | DType::I8 => continue,
        };
        let median = |instance: &Instance| stats::median(&instance.ms.concat()).unwrap_or(f64::INFINITY);
        found.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let row = |instance: &Instance| {
            let ms = median(instance);
            vec![instance.instance.clone(), format!("{ms:.4}"), format!("{:.1}", case.rate(ms))]
        };
        let rows: Vec<Vec<String>> = found.iter().map(row).collect();
        println!("\n{}\n{}", case.name, table::render(&["instance", "ms", case.unit()], 1, &rows));
        let is_wrong = |instance: &&Instance| instance.error.is_none_or(|error| error > case.bound);
        wrong.extend(found.iter().filter(is_wrong).map(|i| format!("{} of `{}`: {:?}", i.instance, i.case, i.error)));
        all.extend(found);
    }
    write_json(common.json.as_ref(), &all)?;
    if wrong.is_empty() { Ok(()) } else { Err(format!("WRONG: {}", wrong.join("; ")).into()) }
}

/// The candidates of a case, each checked once and timed.
fn ranked<T: Value<Out = T>>(
    case: &Case,
    candidates: &[Candidate<T>],
    timer: &mut Timer,
    options: &Options,
    seed: u64,
) -> Outcome<Vec<Instance>> {
    let ([rows, columns, k], [x_length, y_length, length]) = (case.shape, case.lengths());
    let (x, y): (Vec<T>, Vec<T>) = (data::random(x_length, seed), data::random(y_length, seed.wrapping_add(1 << 31)));
    let stream = timer.stream.clone();
    let (device_x, device_y) = (stream.upload(&x)?, stream.upload(&y)?);
    let mut out = stream.zeros::<T>(length)?;
    let (a, b) = (device_x.view([rows, k])?, device_y.view([k, columns])?);
    let grid = |of: &Candidate<T>| (rows.div_ceil(of.tile[0]), columns.div_ceil(of.tile[1]));
    let mut instances = Vec::new();
    for of in candidates {
        (of.launch)(&stream, a, b, out.view_mut([rows, columns])?, grid(of))?;
        let error = reference::error(case, &x, &y, &stream.download(&out)?);
        let [m, n, k] = of.tile;
        let instance = format!("{m}x{n}x{k} num_warps={} num_stages={}", of.warps, of.stages);
        let error = (!error.is_nan()).then_some(error);
        instances.push(Instance { case: case.name.clone(), instance, error, ms: Vec::new() });
    }
    for order in stats::plan(candidates.len(), options.blocks, &mut SmallRng::seed_from_u64(seed)) {
        for i in order {
            let of = &candidates[i];
            let run = |stream: &Stream| Ok((of.launch)(stream, a, b, out.view_mut([rows, columns])?, grid(of))?);
            instances[i].ms.push(timer.time(1, options.reps, run)?);
        }
    }
    Ok(instances)
}
