//! Every instance of ours, ranked: where the table of shipped instances comes from.

use crate::case::cases;
use crate::kernels::{choices, shipped};
use crate::serve::Side;
use crate::{Common, Outcome, stats, table, write_json};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::Serialize;
use triton::Device;

/// Options of `tune`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Rounds over everything, each in an order of its own
    #[arg(long, default_value_t = 9)]
    blocks: usize,
    /// Timed repetitions of a block
    #[arg(long, default_value_t = 9)]
    reps: u32,
}

/// One instance on one case.
#[derive(Serialize)]
struct Instance {
    case: String,
    instance: String,
    shipped: bool,
    ms: Vec<Vec<f64>>,
}

/// Times every instance on every elementwise case.
///
/// # Errors
/// Of the device.
pub fn tune(options: &Options) -> Outcome {
    let common = &options.common;
    let device = common.device.parse::<Device>()?;
    let seed = common.seed.unwrap_or_else(rand::random);
    let mut cases = cases(common.n as usize / 64 * 64, &[]);
    // The others have one instance each.
    cases.retain(|case| case.op.is_elementwise());
    let work: Vec<_> = cases.iter().flat_map(|case| choices().map(move |choice| (case, choice))).collect();
    let mut instances: Vec<Instance> = work
        .iter()
        .map(|(case, choice)| Instance {
            case: case.name.clone(),
            instance: choice.to_string(),
            shipped: *choice == shipped(case.dtype),
            ms: Vec::new(),
        })
        .collect();
    let mut side = Side::new(&device, cases.clone(), seed, common.flush_mib)?;
    for order in stats::plan(work.len(), options.blocks, &mut SmallRng::seed_from_u64(seed)) {
        for i in order {
            let (case, choice) = work[i];
            instances[i].ms.push(side.time_choice(case, choice, 2, options.reps)?);
        }
    }
    println!("{device}, seed {seed}, {} blocks of {} repetitions", options.blocks, options.reps);
    for case in &cases {
        let mut of_case: Vec<(&Instance, f64)> = instances
            .iter()
            .filter(|i| i.case == case.name)
            .filter_map(|i| Some((i, stats::median(&i.ms.concat())?)))
            .collect();
        of_case.sort_by(|a, b| a.1.total_cmp(&b.1));
        let rows: Vec<Vec<String>> = of_case
            .iter()
            .map(|(instance, ms)| {
                let shipped = if instance.shipped { "shipped" } else { "" };
                vec![instance.instance.clone(), shipped.into(), format!("{ms:.4}"), format!("{:.0}", case.rate(*ms))]
            })
            .collect();
        println!("\n{}\n{}", case.name, table::render(&["instance", "", "ms", "GB/s"], 2, &rows));
    }
    write_json(common.json.as_ref(), &instances)
}
