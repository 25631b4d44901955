//! Every barrier, wait, fence and arrival of the emitted kernels and of the eight kernels for Hopper is deleted in turn: the
//! simulator catches it, or it stands on a list with a reason.

mod emitted;
mod excuses;
#[path = "../../../triton-sim/tests/kernels/mod.rs"]
mod kernels;
mod tally;
mod text;

use excuses::EXCUSES;
use kernels::{KERNELS, Kernel};
use tally::{Program, Tally};
use triton_sim::{Module, Options};

struct Hopper {
    kernel: &'static Kernel,
    text: String,
    reference: Vec<f32>,
}

impl Program for Hopper {
    fn name(&self) -> &str {
        self.kernel.name
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn run(&self, text: &str, seed: u64) -> Result<Option<String>, String> {
        let module = Module::parse(text).map_err(|e| e.to_string())?;
        let options = Options { seed, max_reports: 1, idle_limit: 300_000, ..Options::default() };
        let run = self.kernel.run(&module, &options, &self.reference).map_err(|e| e.to_string())?;
        let reported = run.outcome.reports.first().map(|report| report.fault.name());
        // A NaN is not within the bound.
        let is_right = run.error <= self.kernel.bound();
        Ok(reported.or((!is_right).then_some("result")).map(str::to_owned))
    }
}

#[test]
fn deletions_are_caught() {
    let mut programs = emitted::programs().expect("correct kernels");
    programs.extend(KERNELS.iter().map(|kernel| {
        let (text, reference) = (kernel.text(), kernel.reference());
        Box::new(Hopper { kernel, text, reference }) as Box<dyn Program>
    }));
    let tally = Tally::of(&programs, EXCUSES);
    println!("{tally}");
    assert!(tally.failures.is_empty(), "{} failures\n{}", tally.failures.len(), tally.failures.join("\n"));
    let [all, _, excused] = tally.sums();
    assert!(all >= 300, "only {all} instructions were found");
    assert!(excused * 20 <= all, "{excused} of {all} are excused: more than 5 %");
}
