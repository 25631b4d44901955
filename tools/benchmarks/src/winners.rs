//! The fastest instance of the library for products of the papers' tables: the table that [`triton_kernels::select`] embeds, and the times that
//! it follows from.

use crate::case::{Case, DType, Op, cases, scaled};
use crate::kernels::{Number, Operands};
use crate::linear;
use crate::products::{self, Asked};
use crate::shapes::Layouts::{NN, NT, TN};
use crate::shapes::{self, Group, Layouts};
use crate::tiles::Tiled;
use crate::timing::Timer;
use crate::{Common, Outcome, data, stats, table};
use clap::Args;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use triton::{Buffer, Device};
use triton_kernels::linear::GemmElement;
use triton_kernels::select::{self, Candidates, Instance, Kernel, Plan};
use triton_select::{Candidates as _, Table, device_name};

/// Options of `winners`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// File for the winners, which the library embeds
    #[arg(long)]
    out: PathBuf,
    /// File for the times of all candidates, in the columns of `triton-tune`
    #[arg(long)]
    data: Option<PathBuf>,
    /// Element types
    #[arg(long, value_delimiter = ',', default_value = "bf16,f32", value_parser = dtype)]
    types: Vec<DType>,
    /// Products of random shapes for each type, whose times are for `judge`: they have no line in the table
    #[arg(long, default_value_t = 60)]
    random: usize,
    /// Linear layers of random shapes for each type of 16 bits, likewise
    #[arg(long, default_value_t = 120)]
    layers: usize,
    /// Seconds after which nothing is begun
    #[arg(long, default_value_t = 290)]
    seconds: u64,
    /// Timed repetitions of a block
    #[arg(long, default_value_t = 7)]
    reps: u32,
}

fn dtype(name: &str) -> Result<DType, String> {
    let all = [DType::F32, DType::F16, DType::Bf16, DType::F64];
    let found = all.into_iter().find(|dtype| dtype.name() == name);
    found.ok_or_else(|| format!("not one of {}", all.map(DType::name).join(", ")))
}

/// Elements of the largest operand of a case of the whole size.
const FULL: usize = 1 << 27;
/// Candidates within this of the fastest are timed again.
const CLOSE: f64 = 1.12;
/// And no more than this many.
const FINALISTS: usize = 8;
/// Blocks of those.
const BLOCKS: usize = 4;
/// A split kernel, whose sums may differ in the last bit from launch to launch, is to be faster by this.
const MARGIN: f64 = 1.01;
/// Those within this of the fastest are as fast: what was chosen before stays, else the largest tile wins, which loads the least.
const TIE: f64 = 1.02;
/// Elements of a result up to which every candidate's is compared with the first one's.
const COMPARED: usize = 1 << 18;

/// Elements of the largest operand of a product of a random shape.
const ELEMENTS: usize = 1 << 26;

/// Products of every order.
const ORDERS: [Layouts; 3] = [NN, NT, TN];

/// A product, and whether it gets a line of the table.
struct Asking {
    case: Case,
    is_listed: bool,
}

/// All products of a type, what matters most first: if the time is too short, the others are left out.
fn asked(dtype: DType, [random, layers]: [usize; 2], n: usize, seed: u64) -> Vec<Asking> {
    let mut all: Vec<Asking> = Vec::new();
    let mut add = |layouts, shape, is_listed| {
        let case = Case::product(dtype, false, layouts, scaled(shape, n));
        if all.iter().all(|asking| asking.case.name != case.name) {
            all.push(Asking { case, is_listed });
        }
    };
    let groups = [shapes::SQUARES, shapes::MLP, shapes::COVARIANCE, shapes::MAPL, shapes::CUBES];
    let groups: Vec<Group> = shapes::ISAAC.iter().copied().chain(groups).collect();
    groups.iter().flat_map(Group::products).for_each(|(layouts, shape)| add(layouts, shape, true));
    for case in cases(FULL, &[]) {
        if case.op == Op::Matmul && case.dtype == dtype && !case.tf32 {
            add(case.layouts, case.shape, true);
        }
    }
    let mut rng = SmallRng::seed_from_u64(seed);
    for i in 0..random {
        add(ORDERS[i % ORDERS.len()], self::random(&mut rng, dtype), false);
    }
    // Twice as many forward, y = x · wᵀ, as of either gradient.
    for order in [NT, NN, NT, TN].into_iter().cycle().take(if dtype.bytes() > 2 { 0 } else { layers }) {
        let [m, n, k] = layer(&mut rng);
        // Of a that is stored [K, M], rows are multiples of 16 bytes like those of the other operands.
        add(order, if order == TN { [m.next_multiple_of(8), n, k] } else { [m, n, k] }, false);
    }
    for layouts in ORDERS {
        groups.iter().flat_map(Group::products).for_each(|(_, shape)| add(layouts, shape, true));
    }
    all
}

/// Whether a product of the whole size has a line of the table.
pub fn is_listed(dtype: DType, layouts: Layouts, shape: [usize; 3]) -> bool {
    let case = Case::product(dtype, false, layouts, shape);
    asked(dtype, [0; 2], FULL, 0).iter().any(|asking| asking.case.name == case.name)
}

/// M, N and K by logarithms, in multiples of 8: work of a millisecond at most.
fn random(rng: &mut SmallRng, dtype: DType) -> [usize; 3] {
    let most = if dtype.bytes() > 2 { 4e10 } else { 4e11 };
    loop {
        let mut side = |most: f64| (rng.random_range(3.0..most.log2()).exp2() as usize).next_multiple_of(8);
        let shape = [side(8192.0), side(8192.0), side(131_072.0)];
        let [m, n, k] = shape;
        let work = (m * n) as f64 * k as f64;
        if (1e6..most).contains(&work) && (m * n).max(m * k).max(k * n) <= ELEMENTS && !linear::contains(shape) {
            return shape;
        }
    }
}

/// M, N and K of a linear layer: tokens by their logarithm or a power of two, outputs and inputs in multiples of 64 or 512, each as often. None that
/// [`linear`] judges by.
fn layer(rng: &mut SmallRng) -> [usize; 3] {
    loop {
        let m = if rng.random() {
            1 << rng.random_range(0..=13)
        } else {
            rng.random_range(0.0..13.0f64).exp2().round() as usize
        };
        let [n, k] = std::array::from_fn(|_| {
            let side = rng.random_range(9.0..15.0f64).exp2() as usize;
            side.next_multiple_of(if rng.random() { 64 } else { 512 })
        });
        if m * n * k <= 450_000_000_000 && n * k <= 1 << 28 && !linear::contains([m, n, k]) {
            return [m, n, k];
        }
    }
}

/// What one candidate, or the row of the table, took.
struct Timed {
    /// The candidate's number; that of the table's row is not always among them.
    index: Option<usize>,
    name: String,
    asked: Asked,
    instance: Instance,
    splits: usize,
    plan: Plan,
    ms: Vec<f64>,
}

impl Timed {
    fn median(&self) -> f64 {
        stats::median(&self.ms).unwrap_or(f64::INFINITY)
    }

    /// Which of several that are as fast: what the rows choose, which was measured before, else the largest tile, whole if there is one.
    fn preference(&self, candidates: &Candidates) -> (bool, usize, bool) {
        let [m, n, _] = self.instance.tile;
        (is_row(candidates, self), m * n, self.instance.kernel == Kernel::Whole)
    }

    /// What is compared.
    fn cost(&self) -> f64 {
        self.median() * if matches!(self.instance.kernel, Kernel::Split { .. }) { MARGIN } else { 1.0 }
    }
}

/// Times every instance of the library in every number of splits, and writes the fastest of each product.
///
/// # Errors
/// Of the device, or if a file cannot be written.
pub fn winners(options: &Options) -> Outcome {
    let common = &options.common;
    let device = common.device.parse::<Device>()?;
    let seed = common.seed.unwrap_or(1);
    let mut run = Run {
        options,
        timer: Timer::new(&device, common.flush_mib)?,
        until: Instant::now(),
        winners: Table::new(device_name(&device)),
        data: String::from(HEAD),
        rows: Vec::new(),
        wrong: Vec::new(),
        left: 0,
        seed,
    };
    let start = Instant::now();
    for (dtype, i) in options.types.iter().zip(1..) {
        // As long for each.
        run.until = start + Duration::from_secs(options.seconds) * i / options.types.len() as u32;
        let products = asked(*dtype, [options.random, options.layers], common.n as usize, seed);
        match dtype {
            DType::F32 => run.all::<f32>(&products)?,
            DType::Bf16 => run.all::<triton::bf16>(&products)?,
            DType::F16 => run.all::<triton::f16>(&products)?,
            DType::F64 => run.all::<f64>(&products)?,
            DType::I8 => return Err("the table is of floats; leave out i8".into()),
        }
    }
    let head = ["product", "the row's", "the winner", "ms", "ms", "of the winner"];
    println!("{}", table::render(&head, 3, &run.rows));
    let write =
        |path: &PathBuf, text: String| std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()));
    write(&options.out, run.winners.to_string())?;
    if let Some(path) = &options.data {
        write(path, run.data)?;
    }
    println!("{} winners in {}, {} products left out", run.winners.len(), options.out.display(), run.left);
    if run.wrong.is_empty() { Ok(()) } else { Err(format!("WRONG: {}", run.wrong.join("; ")).into()) }
}

/// The columns of `triton-tune`. What only the tuner knows is 0, as is an estimate of types that have none.
const HEAD: &str = "version,device,op,context.m,context.n,context.k,context.ta,context.tb,context.aligned,choice.BM,choice.BN,choice.BK,\
                    choice.num_warps,choice.num_stages,choice.KL,choice.splits,choice.transposed,estimate.us,registers,shared,local,us,clock\n";

struct Run<'o> {
    options: &'o Options,
    timer: Timer,
    until: Instant,
    winners: Table,
    data: String,
    rows: Vec<Vec<String>>,
    wrong: Vec<String>,
    left: usize,
    seed: u64,
}

impl Run<'_> {
    /// All products of a type, in buffers for the largest.
    fn all<T: Tiled + GemmElement<T::Out>>(&mut self, products: &[Asking]) -> Outcome {
        let most = products.iter().fold([1; 3], |most: [usize; 3], asking| {
            let lengths = asking.case.lengths();
            std::array::from_fn(|i| most[i].max(lengths[i]))
        });
        let stream = self.timer.stream.clone();
        let x = stream.upload(&data::random::<T>(most[0], self.seed))?;
        let y = stream.upload(&data::random::<T>(most[1], self.seed.wrapping_add(1 << 31)))?;
        let (mut out, mut few) = (stream.zeros::<T::Out>(most[2])?, stream.zeros::<T::Out>(COMPARED)?);
        for asking in products {
            if Instant::now() > self.until {
                self.left += 1;
                continue;
            }
            // The whole buffer is what is downloaded.
            let out = if asking.case.lengths()[2] <= COMPARED { &mut few } else { &mut out };
            self.one(asking, (&x, &y), out)?;
        }
        Ok(())
    }

    /// All candidates of a product.
    fn one<T: Tiled + GemmElement<T::Out>>(
        &mut self,
        Asking { case, is_listed }: &Asking,
        (x, y): (&Buffer<T>, &Buffer<T>),
        out: &mut Buffer<T::Out>,
    ) -> Outcome {
        let stream = self.timer.stream.clone();
        let candidates = products::product(case, Operands { x, y, out: &mut *out })?.candidates(&stream)?;
        let mut all = contestants(&candidates);
        let [.., elements] = case.lengths();
        let mut expected: Option<Vec<f64>> = None;
        let mut failed = Vec::new();
        for (i, timed) in all.iter_mut().enumerate() {
            let mut launch = |stream: &triton::Stream| {
                Ok(timed.asked.of(products::product(case, Operands { x, y, out: &mut *out })?).launch(stream)?)
            };
            timed.ms = self.timer.time(1, 3, &mut launch)?;
            if elements <= COMPARED {
                let found = stream.download(out)?;
                let found = &found[..elements];
                let expected = expected.get_or_insert_with(|| found.iter().map(|value| value.to_f64()).collect());
                let error = data::error(found, |i| expected[i]);
                // Sums in another order differ by less.
                let bound = if case.dtype.bytes() > 2 { 1e-3 } else { 2e-2 };
                if error.is_nan() || error > bound {
                    failed.push(i);
                    self.wrong.push(format!("{} of `{}`: {error:.1e}", timed.name, case.name));
                }
            }
        }
        for i in failed.into_iter().rev() {
            all.remove(i);
        }
        self.write(&candidates, &all)?;
        if !is_listed {
            return Ok(());
        }
        all.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        let best = all.first().map_or(0.0, Timed::cost);
        let mut place = 0..;
        all.retain(|timed| {
            let is_close = timed.cost() <= best * CLOSE && place.next().is_some_and(|place| place < FINALISTS);
            // What the row chooses is what the winner is compared with.
            is_close || is_row(&candidates, timed)
        });
        for order in stats::plan(all.len(), BLOCKS, &mut SmallRng::seed_from_u64(self.seed)) {
            for i in order {
                let timed = &mut all[i];
                let launch = |stream: &triton::Stream| {
                    Ok(timed.asked.of(products::product(case, Operands { x, y, out: &mut *out })?).launch(stream)?)
                };
                timed.ms.extend(self.timer.time(1, self.options.reps, launch)?);
            }
        }
        all.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        let least = all.iter().find(|timed| timed.index.is_some()).map_or(0.0, Timed::cost);
        let ties = all.iter().filter(|timed| timed.cost() <= least * TIE);
        let winner =
            ties.filter_map(|timed| Some((timed.index?, timed))).max_by_key(|(_, timed)| timed.preference(&candidates));
        let Some((index, winner)) = winner else { return Ok(()) };
        let us = (winner.median() * 1e6).round() / 1e3;
        let row = all.iter().find(|timed| is_row(&candidates, timed));
        // The row's is in a number of splits that no candidate has, and best in it: a line would take it away.
        if row.is_none_or(|row| row.index.is_some() || winner.cost() <= row.cost()) {
            self.winners.insert(candidates.record(index, us));
        }
        let ratio = row.map_or(String::new(), |row| format!("{:.3}", winner.median() / row.median()));
        let of_row = row.map_or(("", String::new()), |row| (&row.name, format!("{:.4}", row.median())));
        let cells = [&case.name, of_row.0, &winner.name].map(str::to_string).into_iter();
        self.rows.push(cells.chain([of_row.1, format!("{:.4}", winner.median()), ratio]).collect());
        Ok(())
    }

    /// A line for each.
    fn write(&mut self, candidates: &Candidates, all: &[Timed]) -> Outcome {
        let device = self.winners.device();
        let key: Vec<String> = candidates.key().iter().map(i64::to_string).collect();
        for timed in all {
            let Instance { kernel, tile: [m, n, k], warps, stages, .. } = timed.instance;
            let groups = if let Kernel::Split { groups, .. } = kernel { groups } else { 1 };
            let (splits, transposed, us) = (timed.splits, u8::from(kernel == Kernel::Transposed), timed.median() * 1e3);
            // A model predicts candidates alone, and not what only the table's rows choose.
            let Some(estimate) = timed.index.map(|index| candidates.estimate(index).unwrap_or(0.0)) else { continue };
            writeln!(
                self.data,
                "1,\"{device}\",{},{},{m},{n},{k},{warps},{stages},{groups},{splits},{transposed},{estimate:.3},0,0,0,{us:.3},0",
                candidates.op(),
                key.join(","),
            )?;
        }
        Ok(())
    }
}

fn is_row(candidates: &Candidates, timed: &Timed) -> bool {
    candidates.row().is_some_and(|row| {
        row.kernel.is(timed.plan.kernel) && row.tile == timed.plan.tile && row.splits == timed.plan.splits
    })
}

/// The candidates that fit, and what the table's rows choose if it is in another number of splits than all of them.
fn contestants(candidates: &Candidates) -> Vec<Timed> {
    let timed = |index, candidate: &select::Candidate, splits| {
        let plan = candidate.plan(candidates.problem(), "").in_splits(candidates.problem(), splits);
        let (instance, is_split) = (candidate.instance(), matches!(plan.kernel, Kernel::Split { .. }));
        let name = if is_split { format!("{} in {splits}", plan.instance()) } else { plan.instance() };
        let asked = Asked { instance: Some(plan.instance()), splits: is_split.then_some(splits), deterministic: false };
        Timed { index, name, asked, instance, splits, plan, ms: Vec::new() }
    };
    let mut all: Vec<Timed> =
        candidates.fitting().map(|(index, candidate)| timed(Some(index), candidate, candidate.splits())).collect();
    if let Some(plan) = candidates.row()
        && !all.iter().any(|of| is_row(candidates, of))
    {
        let of = candidates.all().find(|of| of.instance().kernel.is(plan.kernel) && of.instance().tile == plan.tile);
        all.extend(of.map(|of| timed(None, of, plan.splits)));
    }
    all
}
