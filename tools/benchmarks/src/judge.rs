//! `judge`: what the rows of the library's table and a model choose, beside the fastest that `winners` has measured. Needs no GPU.

use crate::case::DType;
use crate::shapes::Layouts;
use crate::winners::is_listed;
use crate::{Outcome, products, table};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use triton::Device;
use triton_kernels::select::{self, Kernel, Kind, Order, Plan, Problem};
use triton_select::Selection;
use triton_select::model::Model;

/// Options of `judge`.
#[derive(Args, Debug)]
pub struct Options {
    /// What `winners` wrote by `--data`
    #[arg(long)]
    data: PathBuf,
    /// A model of products of `bf16`
    #[arg(long)]
    bf16: Option<PathBuf>,
    /// A model of products of `f32`
    #[arg(long)]
    f32: Option<PathBuf>,
    /// The last of the products that `winners` draws for each type: a model may have been trained by the others
    #[arg(long, default_value_t = 60)]
    last: usize,
    /// Those of the papers' tables instead
    #[arg(long)]
    listed: bool,
    /// Prints every product
    #[arg(long)]
    each: bool,
}

/// Times of a product by instance and number of splits that are asked for.
struct Measured {
    problem: Problem,
    times: Vec<([usize; 4], bool, usize, f64)>,
}

/// What is chosen for a product, as multiples of the shortest time.
struct Verdict {
    problem: Problem,
    names: [String; 3],
    losses: [f64; 2 + MARGINS.len()],
}

/// The model is followed where it predicts the row's choice to take this many times as long as its own.
const MARGINS: [f32; 5] = [1.05, 1.1, 1.2, 1.3, 1.5];

/// Prints how much longer than the fastest the choices of the rows and of the models take.
///
/// # Errors
/// If a file cannot be read, or is of something else.
pub fn judge(options: &Options) -> Outcome {
    let mut selection = Selection::new(&Device::cpu());
    let mut verdicts = Vec::new();
    for (kind, path) in [(Kind::Bf16, &options.bf16), (Kind::F32, &options.f32)] {
        if let Some(path) = path {
            selection = Selection::new(&Device::cpu()).model(Model::parse(&read(path)?)?);
        }
        let mut all = measured(&options.data, kind)?;
        let dtype = if kind == Kind::F32 { DType::F32 } else { DType::Bf16 };
        all.retain(|of| is_listed(dtype, layouts(of.problem.order), of.problem.shape) == options.listed);
        if !options.listed {
            all.drain(..all.len().saturating_sub(options.last));
        }
        verdicts.extend(all.iter().filter_map(|of| verdict(of, &selection).transpose()).collect::<Outcome<Vec<_>>>()?);
    }
    if options.each {
        let row = |of: &Verdict| {
            let losses = [of.losses[0], of.losses[1]].map(|loss| format!("{loss:.3}"));
            [vec![named(&of.problem)], of.names.to_vec(), losses.to_vec()].concat()
        };
        let rows: Vec<Vec<String>> = verdicts.iter().map(row).collect();
        println!("{}", table::render(&["product", "fastest", "row", "model", "row", "model"], 4, &rows));
    }
    let mut classes: BTreeMap<String, Vec<&Verdict>> = BTreeMap::new();
    for of in &verdicts {
        classes.entry(class(&of.problem)).or_default().push(of);
        classes.entry(format!("{:?}, all", of.problem.kind)).or_default().push(of);
    }
    let mean = |all: &[&Verdict], of: &dyn Fn(&Verdict) -> f64| {
        (all.iter().map(|verdict| of(verdict).ln()).sum::<f64>() / all.len() as f64).exp()
    };
    let row = |(class, all): (&String, &Vec<&Verdict>)| {
        let means = (0..2 + MARGINS.len()).map(|i| mean(all, &|of| of.losses[i]));
        let most = |i: usize| all.iter().map(|of| of.losses[i]).fold(0.0, f64::max);
        let numbers = means.chain((0..2 + MARGINS.len()).map(most)).map(|number| format!("{number:.3}"));
        [class.clone(), all.len().to_string()].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = classes.iter().map(row).collect();
    let choosers =
        || ["row".to_string(), "model".to_string()].into_iter().chain(MARGINS.map(|margin| format!("{margin}")));
    let head: Vec<String> =
        ["products", "count"].map(str::to_string).into_iter().chain(choosers()).chain(choosers()).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    println!(
        "Times of what is chosen, as multiples of the fastest: geometric means, then the worst. A number is the margin by which the"
    );
    println!("model is to predict the row's choice to be slower, for its own to be taken.\n");
    println!("{}", table::render(&head, 1, &rows));
    Ok(())
}

fn read(path: &Path) -> Outcome<Vec<u8>> {
    Ok(std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?)
}

/// The products of a type in the order of a file.
fn measured(path: &Path, kind: Kind) -> Outcome<Vec<Measured>> {
    let text = String::from_utf8(read(path)?)?;
    let op = if kind == Kind::F32 { "gemm-f32" } else { "gemm-bf16" };
    let mut all: Vec<Measured> = Vec::new();
    // The name of a device has commas, and none of what follows.
    for line in text.lines().skip(1).filter_map(|line| line.rsplit_once("\",").map(|(_, rest)| rest)) {
        let mut cells = line.split(',');
        if cells.next() != Some(op) {
            continue;
        }
        let numbers = cells.map(str::parse::<f64>).collect::<Result<Vec<f64>, _>>()?;
        let [m, n, k, ta, tb, _, bm, bn, bk, _, _, groups, splits, transposed, _, _, _, _, us, _] = numbers[..] else {
            return Err(format!("not a line of `winners --data`: {line}").into());
        };
        let order = Order::of([ta, tb].map(|flag| flag == 1.0));
        let (shape, machine) = ([m, n, k].map(|side| side as usize), Device::cpu().machine());
        let problem = Problem { kind, order, batch: 1, shape, machine };
        let time = ([bm, bn, bk, groups].map(|side| side as usize), transposed == 1.0, splits as usize, us);
        match all.last_mut().filter(|last| last.problem == problem) {
            Some(last) => last.times.push(time),
            None => all.push(Measured { problem, times: vec![time] }),
        }
    }
    Ok(all)
}

/// Nothing of a product of which a choice was not measured.
fn verdict(of: &Measured, selection: &Selection) -> Outcome<Option<Verdict>> {
    let problem = of.problem;
    let candidates = products::candidates(&problem)?;
    let plan = |candidate: &select::Candidate| candidate.plan(&problem, "");
    let time = |plan: &Plan| {
        let ([m, n, k], is_transposed) = (plan.tile, plan.kernel == Kernel::Transposed);
        let groups = if let Kernel::Split { groups, .. } = plan.kernel { groups } else { 1 };
        let same = |(tile, transposed, splits, us): &([usize; 4], bool, usize, f64)| {
            let in_splits = plan.in_splits(&problem, *splits).splits == plan.splits;
            (*tile == [m, n, k, groups] && *transposed == is_transposed && in_splits).then_some(*us)
        };
        of.times.iter().filter_map(same).reduce(f64::min)
    };
    let timed: Vec<(Plan, f64)> =
        candidates.fitting().filter_map(|(_, candidate)| Some((plan(candidate), time(&plan(candidate))?))).collect();
    let fastest = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let row = candidates.row();
    let known = selection.known(&candidates);
    let (Some((best, shortest)), Some(row)) = (fastest, row) else { return Ok(None) };
    let predicted = select::predicted(&known, &candidates).unwrap_or_default();
    let fitting = || candidates.fitting().filter_map(|(index, of)| Some((of, *predicted.get(index)?)));
    let model = fitting().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(of, time)| (plan(of), time));
    let (model, least) = model.unwrap_or((row, 0.0));
    let of_rows = candidates.of_rows().and_then(|index| predicted.get(index)).copied().unwrap_or(f32::INFINITY);
    let (Some(of_row), Some(of_model)) = (time(&row), time(&model)) else { return Ok(None) };
    let shortest = shortest.min(of_row);
    let names = [best, &row, &model].map(Plan::to_string);
    let hedged = MARGINS.map(|margin| if of_rows - least > margin.log2() { of_model } else { of_row });
    let mut losses = [of_row, of_model].into_iter().chain(hedged).map(|time| time / shortest);
    Ok(Some(Verdict { problem, names, losses: std::array::from_fn(|_| losses.next().unwrap_or(0.0)) }))
}

fn layouts(order: Order) -> Layouts {
    match order {
        Order::NN => Layouts::NN,
        Order::NT => Layouts::NT,
        Order::TN => Layouts::TN,
        Order::TT => Layouts::TT,
    }
}

fn named(problem: &Problem) -> String {
    let [m, n, k] = problem.shape;
    format!("{:?} {:?} {m}x{n}x{k}", problem.kind, problem.order)
}

/// Products of which other quantities decide.
fn class(problem: &Problem) -> String {
    let few = problem.tiles([64, 64]) < problem.multiprocessors();
    let many = problem.tiles([128, 128]) >= problem.multiprocessors();
    let long = problem.shape[2] > 1024;
    let tiles = if few {
        "few tiles"
    } else if many {
        "many tiles"
    } else {
        "some tiles"
    };
    let columns = if problem.shape[1] <= 64 { ", few columns" } else { "" };
    format!("{:?}, {tiles}, {} K{columns}", problem.kind, if long { "long" } else { "short" })
}
