//! Candidate instances of matrix products, ranked beside what the table of [`triton_kernels::select`] chooses: where that table comes from.
//! Those of a linear layer and of attention are ranked with them.

use crate::case::{Case, DType, Layouts, Op, cases};
use crate::kernels::{Operands, Value};
use crate::products::Asked;
use crate::tiles::Tiled;
use crate::timing::Timer;
use crate::{Common, Outcome, data, fused, products, reference, stats, table, write_json};
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

type Launch<T> = fn(
    &Stream,
    View<'_, T, 2>,
    View<'_, T, 2>,
    ViewMut<'_, <T as Value>::Out, 2>,
    (usize, usize),
) -> triton::Result<()>;

/// A compiled instance for row-major operands.
struct Candidate<T: Value> {
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
    /// What the table of instances says of it.
    table: Place,
    /// ‖found − reference‖ / ‖reference‖; nothing if it is not a number.
    error: Option<f64>,
    ms: Vec<Vec<f64>>,
}

/// Where an instance is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    /// What the table chooses.
    Chosen,
    /// Another instance of the library, or another number of splits.
    Listed,
    /// A candidate.
    Absent,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Chosen => "chosen",
            Place::Listed => "listed",
            Place::Absent => "",
        }
    }
}

impl Instance {
    fn median(&self) -> f64 {
        stats::median(&self.ms.concat()).unwrap_or(f64::INFINITY)
    }
}

/// Checks and times what the table has for every product and, where operands are row-major, every candidate.
///
/// # Errors
/// Of the device, or if a result is wrong. What was measured is printed and written before that.
pub fn tune_products(options: &Options) -> Outcome {
    let common = &options.common;
    let seed = common.seed.unwrap_or_else(rand::random);
    let mut timer = Timer::new(&common.device.parse::<Device>()?, common.flush_mib)?;
    let mut cases = cases(common.n as usize / 64 * 64, &options.filter);
    cases.retain(|case| matches!(case.op, Op::Matmul | Op::Linear));
    println!("seed {seed}, {} blocks of {} repetitions", options.blocks, options.reps);
    let (mut all, mut wrong, mut summary) = (Vec::new(), Vec::new(), Vec::new());
    for case in &cases {
        let mut found = match case.dtype {
            DType::Bf16 => ranked(case, BF16, &mut timer, options, seed)?,
            DType::F32 if case.tf32 => ranked::<f32>(case, &[], &mut timer, options, seed)?,
            DType::F32 => ranked(case, F32, &mut timer, options, seed)?,
            DType::F64 => ranked(case, F64, &mut timer, options, seed)?,
            DType::F16 => ranked::<f16>(case, &[], &mut timer, options, seed)?,
            DType::I8 => ranked::<i8>(case, &[], &mut timer, options, seed)?,
        };
        found.sort_by(|a, b| a.median().total_cmp(&b.median()));
        let row = |instance: &Instance| {
            let ms = instance.median();
            let place = instance.table.name().to_string();
            vec![instance.instance.clone(), place, format!("{ms:.4}"), format!("{:.1}", case.rate(ms))]
        };
        let rows: Vec<Vec<String>> = found.iter().map(row).collect();
        let reason = if case.op == Op::Matmul { products::plan(case)?.reason } else { "the first of its instances" };
        println!("\n{}: {reason}", case.name);
        println!("{}", table::render(&["instance", "table", "ms", case.unit()], 2, &rows));
        let is_wrong = |instance: &&Instance| instance.error.is_none_or(|error| error > case.bound);
        wrong.extend(found.iter().filter(is_wrong).map(|i| format!("{} of `{}`: {:?}", i.instance, i.case, i.error)));
        summary.extend(beside(&found));
        all.extend(found);
    }
    println!("\nWhat the table chooses beside the fastest:\n");
    println!("{}", table::render(&["case", "chosen", "fastest", "ms", "ms", "of the fastest"], 3, &summary));
    write_json(common.json.as_ref(), &all)?;
    if wrong.is_empty() { Ok(()) } else { Err(format!("WRONG: {}", wrong.join("; ")).into()) }
}

/// What is chosen beside the fastest of a case's instances, which are sorted by time; nothing if none was measured.
fn beside(found: &[Instance]) -> Option<Vec<String>> {
    let (fastest, chosen) = (found.first()?, found.iter().find(|instance| instance.table == Place::Chosen)?);
    let times = [chosen.median(), fastest.median()];
    let ratio = format!("{:.3}", times[1] / times[0]);
    let [chosen_ms, fastest_ms] = times.map(|ms| format!("{ms:.4}"));
    let names = [&chosen.case, &chosen.instance, &fastest.instance].map(String::clone);
    Some(names.into_iter().chain([chosen_ms, fastest_ms, ratio]).collect())
}

/// What is timed.
enum Contestant<'a, T: Value> {
    /// An instance of the library, in the table's number of splits or in another.
    Listed(Asked, String, Place),
    /// One that the library does not have.
    Candidate(&'a Candidate<T>),
    /// Of a linear layer or attention, by its tile.
    Fused([usize; 3], Place),
}

impl<T: Tiled> Contestant<'_, T> {
    fn run(&self, case: &Case, stream: &Stream, operands: Operands<'_, T>) -> Outcome {
        match self {
            Contestant::Listed(asked, ..) => Ok(asked.of(products::product(case, operands)?).launch(stream)?),
            Contestant::Candidate(of) => {
                let ([rows, columns, k], Operands { x, y, out, .. }) = (case.shape, operands);
                let grid = (rows.div_ceil(of.tile[0]), columns.div_ceil(of.tile[1]));
                let (x, y, out) = (x.view([rows, k])?, y.view([k, columns])?, out.view_mut([rows, columns])?);
                Ok((of.launch)(stream, x, y, out, grid)?)
            }
            Contestant::Fused(tile, _) => T::launch_fused(case, *tile, stream, operands),
        }
    }

    fn name(&self) -> String {
        match self {
            Contestant::Listed(_, name, _) => name.clone(),
            Contestant::Candidate(Candidate { tile: [m, n, k], warps, stages, .. }) => {
                format!("{m}x{n}x{k} num_warps={warps} num_stages={stages}")
            }
            Contestant::Fused(tile, _) => fused::spelled(*tile),
        }
    }
}

/// The library's instances for a case, those that are split in fewer and more parts, and in order, too: every one once.
fn listed<T: Tiled>(
    case: &Case,
    stream: &Stream,
    (x, y): (&Buffer<T>, &Buffer<T>),
    out: &mut Buffer<T::Out>,
) -> Outcome<Vec<Contestant<'static, T>>> {
    let instances = products::product(case, Operands { x, y, out: &mut *out })?.instances(stream)?;
    let mut name = |asked: &Asked| -> Outcome<String> {
        let product = products::product(case, Operands { x, y, out: &mut *out })?;
        Ok(asked.of(product).selected(stream)?)
    };
    let chosen = name(&Asked::default())?;
    let mut all: Vec<(Asked, String)> = vec![(Asked::default(), chosen)];
    for instance in instances {
        let by_default = Asked { instance: Some(instance), ..Asked::default() };
        let of_default = name(&by_default)?;
        let count: usize = of_default.rsplit_once(" in ").and_then(|(_, count)| count.parse().ok()).unwrap_or(1);
        let counts = [1, 2, 3, 4, 6, 8].map(|quarters| (count * quarters / 4).max(1));
        let of = |splits| {
            [false, true].map(|deterministic| Asked { splits: Some(splits), deterministic, ..by_default.clone() })
        };
        let split = counts.into_iter().filter(|_| count > 1).flat_map(of);
        for asked in std::iter::once(by_default.clone()).chain(split) {
            let mut name = name(&asked)?;
            if asked.deterministic {
                name += ", in order";
            }
            if all.iter().all(|(_, other)| *other != name) {
                all.push((asked, name));
            }
        }
    }
    let places = std::iter::once(Place::Chosen).chain(std::iter::repeat(Place::Listed));
    Ok(all.into_iter().zip(places).map(|((asked, name), place)| Contestant::Listed(asked, name, place)).collect())
}

/// Of what is more than a product its instances, of which the first is chosen.
fn fused_instances<T: Tiled>(case: &Case) -> Vec<Contestant<'static, T>> {
    let places = std::iter::once(Place::Chosen).chain(std::iter::repeat(Place::Absent));
    fused::tiles(case).into_iter().zip(places).map(|(tile, place)| Contestant::Fused(tile, place)).collect()
}

/// The contestants for a case, each checked once and timed.
fn ranked<T: Tiled>(
    case: &Case,
    candidates: &[Candidate<T>],
    timer: &mut Timer,
    options: &Options,
    seed: u64,
) -> Outcome<Vec<Instance>> {
    let [x_length, y_length, length] = case.lengths();
    let (x, y): (Vec<T>, Vec<T>) = (data::random(x_length, seed), data::random(y_length, seed.wrapping_add(1 << 31)));
    let stream = timer.stream.clone();
    let (device_x, device_y) = (stream.upload(&x)?, stream.upload(&y)?);
    let mut out = stream.zeros::<T::Out>(length)?;
    let mut contestants: Vec<Contestant<'_, T>> = if case.op == Op::Matmul {
        listed(case, &stream, (&device_x, &device_y), &mut out)?
    } else {
        fused_instances(case)
    };
    if case.op == Op::Matmul && case.layouts == Layouts::NN {
        contestants.extend(candidates.iter().map(Contestant::Candidate));
    }
    let mut instances = Vec::new();
    for of in &contestants {
        let operands = Operands { x: &device_x, y: &device_y, out: &mut out };
        of.run(case, &stream, operands)?;
        let error = reference::error(case, &x, &y, &stream.download(&out)?);
        let table = match of {
            Contestant::Listed(.., place) | Contestant::Fused(_, place) => *place,
            Contestant::Candidate(_) => Place::Absent,
        };
        let error = (!error.is_nan()).then_some(error);
        instances.push(Instance { case: case.name.clone(), instance: of.name(), table, error, ms: Vec::new() });
    }
    for order in stats::plan(contestants.len(), options.blocks, &mut SmallRng::seed_from_u64(seed)) {
        for i in order {
            let run = |stream: &Stream| {
                let operands = Operands { x: &device_x, y: &device_y, out: &mut out };
                contestants[i].run(case, stream, operands)
            };
            instances[i].ms.push(timer.time(1, options.reps, run)?);
        }
    }
    Ok(instances)
}
