//! `papers`: the tables of matrix products of the papers that the library follows. Ours beside what cuBLAS chooses and beside the fastest
//! algorithm that cuBLASLt offers, as `compare` measures, and beside what the papers print.

mod counters;
mod predication;
mod ratios;
mod rows;

use crate::case::{Case, DType};
use crate::coordinator::{self, Beside, Measurement, Ready, Schedule};
use crate::kernels::INPUTS;
use crate::verdicts::Measured;
use crate::{Common, Outcome, write_json};
use clap::{Args, ValueEnum};
use counters::Instance;
use predication::Overhead;
use ratios::{Line, PEERS, Summary};
use rows::{Row, Table};
use serde::Serialize;
use triton::Device;

/// Options of `papers`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    schedule: Schedule,
    /// Only these tables, separated by commas
    #[arg(long, value_delimiter = ',', value_enum)]
    table: Vec<Table>,
    /// Element types in place of those of the papers, separated by commas: f32, f16, f64, bf16
    #[arg(long, value_delimiter = ',', value_parser = dtype)]
    dtype: Vec<DType>,
    /// Only rows whose product's name contains one of these texts, separated by commas
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
    /// Also what the rows of the library's table choose, without what it has learned
    #[arg(long)]
    rows: bool,
    /// Beside these peers, separated by commas
    #[arg(long, value_delimiter = ',', default_values = PEERS)]
    beside: Vec<String>,
    /// Launch the product of `counters` once and measure nothing: for a profiler
    #[arg(long)]
    once: bool,
}

fn dtype(name: &str) -> Result<DType, String> {
    let all = [DType::F32, DType::F16, DType::F64, DType::Bf16];
    let found = all.into_iter().find(|dtype| dtype.name() == name);
    found.ok_or_else(|| format!("not one of {}", all.map(DType::name).join(", ")))
}

/// A run as JSON.
#[derive(Default, Serialize)]
struct Run<'a> {
    sides: &'a [Ready],
    seed: u64,
    blocks: usize,
    warmup: u32,
    reps: u32,
    flush_mib: u32,
    /// Distribution of the inputs.
    inputs: &'static str,
    gpu_state: &'a [String],
    entries: &'a [Measured],
    tables: Vec<Shown>,
    instances: Vec<Instance>,
    overheads: Vec<Overhead>,
    problems: &'a [String],
}

/// A table of one element type.
#[derive(Serialize)]
struct Shown {
    table: Table,
    dtype: DType,
    printed: &'static str,
    lines: Vec<Line>,
    summaries: Vec<Summary>,
}

impl Options {
    fn n(&self) -> usize {
        self.common.n as usize / 64 * 64
    }

    fn tables(&self) -> Vec<Table> {
        if self.table.is_empty() { Table::value_variants().to_vec() } else { self.table.clone() }
    }

    fn dtypes(&self, table: Table) -> Vec<DType> {
        if self.dtype.is_empty() { table.dtypes().to_vec() } else { self.dtype.clone() }
    }

    /// The element types whose bounds checks are measured: without a list of tables only those that there are kernels for.
    fn predicated(&self) -> Vec<DType> {
        if !self.tables().contains(&Table::Predication) {
            return Vec::new();
        }
        let known = Table::Predication.dtypes();
        self.dtypes(Table::Predication).into_iter().filter(|of| !self.table.is_empty() || known.contains(of)).collect()
    }

    /// The rows that are asked for, by table and element type.
    fn rows(&self) -> Vec<(Table, DType, Vec<Row>)> {
        let is_asked_for =
            |row: &Row| self.filter.is_empty() || self.filter.iter().any(|text| row.case.name.contains(text.as_str()));
        let of_table = |table: Table| self.dtypes(table).into_iter().map(move |dtype| (table, dtype));
        let all = self.tables().into_iter().flat_map(of_table);
        let all = all.map(|(table, dtype)| {
            let rows = rows::rows(table, dtype, self.n());
            (table, dtype, rows.into_iter().filter(is_asked_for).collect::<Vec<_>>())
        });
        all.filter(|(.., rows)| !rows.is_empty()).collect()
    }
}

/// Measures and prints the tables.
///
/// # Errors
/// If there is no device, our side failed, or a result is wrong. What could be measured is printed and written before that.
pub fn papers(options: &Options) -> Outcome {
    let Options { schedule, .. } = options;
    let seed = options.common.seed.unwrap_or_else(rand::random);
    let common = &Common { seed: Some(seed), ..options.common.clone() };
    let device = common.device.parse::<Device>()?;
    let rows = options.rows();
    let counted: Vec<&Case> = rows
        .iter()
        .filter(|(table, ..)| *table == Table::Counters)
        .flat_map(|(.., rows)| rows)
        .map(|row| &row.case)
        .collect();
    if options.once {
        if counted.is_empty() {
            return Err("no product is launched once: `--once` is for the rows of `--table counters`".into());
        }
        return counted.into_iter().try_for_each(|case| counters::once(case, &device, seed));
    }
    let predicated = options.predicated();
    // A product of several tables is measured once.
    let mut cases: Vec<Case> = Vec::new();
    for row in rows.iter().flat_map(|(.., rows)| rows) {
        if cases.iter().all(|case| case.name != row.case.name) {
            cases.push(row.case.clone());
        }
    }
    if cases.is_empty() && predicated.is_empty() {
        return Err(format!("no row is called so: {}", options.filter.join(", ")).into());
    }
    let measured = if cases.is_empty() {
        Measurement { seed, ..Measurement::default() }
    } else {
        let wanted: Vec<&str> = options.beside.iter().map(String::as_str).collect();
        coordinator::measure(common, schedule, &cases, Beside { wanted: &wanted, rows: options.rows })?
    };
    measured.print_conditions(common, schedule);
    let mut run = Run {
        sides: &measured.sides,
        seed,
        blocks: schedule.blocks,
        warmup: schedule.warmup,
        reps: schedule.reps,
        flush_mib: common.flush_mib,
        inputs: INPUTS,
        gpu_state: &measured.gpu_state,
        entries: &measured.entries,
        problems: &measured.problems,
        ..Run::default()
    };
    let mut heading = None;
    for (table, dtype, rows) in rows.clone() {
        if heading != Some(table) {
            println!("\n## {}\n\n{}", table.title(), table.printed());
            heading = Some(table);
        }
        let lines: Vec<Line> = rows.into_iter().map(|row| Line::new(row, &measured.entries)).collect();
        println!("\n{}", ratios::render(dtype, &lines));
        let summaries = ratios::summaries(&lines);
        run.tables.push(Shown { table, dtype, printed: table.printed(), lines, summaries });
    }
    let mut failures: Vec<String> = Vec::new();
    for case in &counted {
        match Instance::new(case, &device) {
            Ok(instance) => run.instances.push(instance),
            Err(error) => failures.push(error.to_string()),
        }
    }
    if !run.instances.is_empty() {
        println!("\n{}", counters::render(&run.instances));
    }
    if let Some(case) = counted.first() {
        println!("{}", counters::profiler(case));
    }
    if !predicated.is_empty() {
        println!("\n## {}\n\n{}\n", Table::Predication.title(), Table::Predication.printed());
        for dtype in predicated {
            match predication::measure(dtype, common, schedule, options.n(), seed) {
                Ok(overheads) => run.overheads.extend(overheads),
                Err(error) => failures.push(error.to_string()),
            }
        }
        println!("{}", predication::render(&run.overheads));
    }
    write_json(common.json.as_ref(), &run)?;
    failures.extend(measured.problems.iter().cloned());
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}
