//! `select`: the table from shapes to instances of matrix products as it is, and what the library chooses for each case. Needs no GPU.

use crate::case::{Case, Op, cases};
use crate::{Outcome, products, table, write_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use triton::Device;
use triton_kernels::select::{self, Plan};

/// Options of `select`.
#[derive(Args, Debug)]
pub struct Options {
    /// Only cases whose name contains one of these texts, separated by commas
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
    /// Elements of the largest operand, as `compare` takes them: fewer make every case smaller
    #[arg(long, default_value_t = 1 << 27, value_parser = clap::value_parser!(u32).range(64..=1 << 30))]
    n: u32,
    /// File for what is chosen as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What is chosen for a case, and the quantities that decide.
#[derive(Serialize)]
struct Choice {
    case: String,
    instance: String,
    /// Rows × columns of a tile.
    area: usize,
    programs: usize,
    waves: usize,
    /// Share of the multiprocessors' time that computes elements of the result.
    efficiency: f64,
    reason: &'static str,
}

impl Choice {
    fn new(case: &Case, plan: &Plan) -> Choice {
        let problem = products::problem(case);
        Choice {
            case: case.name.clone(),
            instance: plan.to_string(),
            area: plan.tile[0] * plan.tile[1],
            programs: plan.programs(&problem),
            waves: plan.waves(&problem),
            efficiency: plan.efficiency(&problem),
            reason: plan.reason,
        }
    }

    fn cells(&self) -> Vec<String> {
        let Choice { case, instance, area, programs, waves, efficiency, reason } = self;
        let numbers = [area, programs, waves].map(|number| number.to_string());
        let [area, programs, waves] = numbers;
        vec![case.clone(), instance.clone(), reason.to_string(), area, programs, waves, format!("{efficiency:.2}")]
    }
}

/// Prints the table, and the choice for each product.
///
/// # Errors
/// If no product is called so, the table has no row for one, or the file cannot be written.
pub fn select(options: &Options) -> Outcome {
    let mut cases = cases(options.n as usize / 64 * 64, &options.filter);
    cases.retain(|case| case.op == Op::Matmul);
    if cases.is_empty() {
        return Err(format!("no product is called so: {}", options.filter.join(", ")).into());
    }
    let rows: Vec<Vec<String>> = select::rows().iter().map(select::Row::cells).collect();
    println!(
        "Where nothing was measured and no model is sure, the first row that is for a product chooses, for {} multiprocessors.\n",
        Device::cpu().machine().multiprocessors
    );
    println!("{}", table::render(&select::HEAD, select::HEAD.len(), &rows));
    let choices = cases.iter().map(|case| Ok(Choice::new(case, &products::plan(case)?)));
    let choices = choices.collect::<Outcome<Vec<Choice>>>()?;
    let rows: Vec<Vec<String>> = choices.iter().map(Choice::cells).collect();
    let head = ["case", "instance", "reason", "area", "programs", "waves", "efficiency"];
    println!("Efficiency is the share of the multiprocessors' time that computes elements of the result.\n");
    println!("{}", table::render(&head, 3, &rows));
    write_json(options.json.as_ref(), &choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the library chooses for each case, in `selection.txt` beside this file; `BLESS=1` renews it.
    #[test]
    fn choices_are_as_recorded() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/selection.txt");
        let products = cases(1 << 27, &[]).into_iter().filter(|case| case.op == Op::Matmul);
        let line = |case: Case| format!("{}: {}\n", case.name, products::plan(&case).expect("a row for every case"));
        let found: String = products.map(line).collect();
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(path, &found).expect("the record can be written");
        }
        let recorded = std::fs::read_to_string(path).unwrap_or_default();
        let changed = found.lines().filter(|line| !recorded.lines().any(|old| old == *line));
        let changed: Vec<&str> = changed.collect();
        assert_eq!(found, recorded, "another choice than selection.txt has, BLESS=1 renews it: {changed:#?}");
    }
}
