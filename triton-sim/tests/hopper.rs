//! The kernels of `tests/hopper` run unmodified, compute what they should, and nothing is reported.

mod kernels;

use kernels::KERNELS;
use triton_sim::{Module, Options};

#[test]
fn kernels_for_hopper_are_correct_and_free_of_reports() {
    let mut failures = Vec::new();
    for kernel in &KERNELS {
        let module = match Module::parse(&kernel.text()) {
            Ok(module) => module,
            Err(error) => {
                failures.push(format!("{}: {error}", kernel.name));
                continue;
            }
        };
        let reference = kernel.reference();
        for seed in 1..=2 {
            let start = std::time::Instant::now();
            let options = Options { seed, idle_limit: 2_000_000, ..Options::default() };
            let run = match kernel.run(&module, &options, &reference) {
                Ok(run) => run,
                Err(error) => {
                    failures.push(format!("{}: {error}", kernel.name));
                    continue;
                }
            };
            println!(
                "{} seed {seed}: error {}, {:?}, {:?}",
                kernel.name,
                run.error,
                start.elapsed(),
                run.outcome.statistics
            );
            failures.extend(run.outcome.reports.iter().map(|r| format!("{}, seed {seed}: {r}", kernel.name)));
            if run.error.is_nan() || run.error > kernel.bound() {
                failures.push(format!("{}, seed {seed}: differs by {}", kernel.name, run.error));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
