//! Every operation of the language on every element type, checked against references of its own on any device.
//!
//! A [`case::Case`] is an operation on an element type in one configuration: shape, warps, and how memory lies, which decides
//! among the images of a kernel. It runs one launch over hundreds of elements or more and looks at all memory that the launch was
//! given, also around it. Integers, moves of data and IEEE operations must be right to the bit (any NaN is any other); of other
//! functions each row says how many units in the last place they may be off. There is no tolerance besides.
//!
//! References are integers of 128 bits and arithmetic on floats from its definition ([`float`]), and `f64` for functions with a
//! bound: nothing of the compiler computes what is expected of it.
//!
//! | to add | where |
//! |---|---|
//! | a function of one float | a row of [`functions`] |
//! | an operator or an exact function | a row of [`operators`] |
//! | a reduction, an atomic update | a row of [`reductions`], [`atomics`] |
//! | a scan | an output of [`scans`] |
//!
//! Without options, as by `cargo test`, everything runs on the CPU and on the simulator, from one seed: a change passes or fails, whatever
//! the day. `cargo xtask seeds` runs others. On the simulator the seed decides the order of programs and warps too. Each case begins anew
//! with it, so that `--filter NAME --seed S` repeats what was found, and `--seeds N` tries N orders of each.

#![allow(unsafe_code, reason = "kernels over raw pointers; each launch says why its pointers are in bounds")]

mod atomics;
mod case;
mod casts;
mod checks;
mod closures;
mod control;
mod elementwise;
mod float;
mod functions;
mod gathers;
mod inputs;
mod list;
mod long;
mod memory;
mod operators;
mod pointers;
mod products;
mod reductions;
mod reference;
mod scans;
mod shapes;
mod value;
mod views;

use case::Case;
use std::process::ExitCode;
use triton::{Error, Stream};
use triton_tests::runner::{self, Failure, Options, Runner};

impl runner::Case for Case {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, stream: &Stream, _: u64) -> Result<(), Failure> {
        self.run(stream)
    }

    fn has_no_code(&self, failure: &Failure) -> bool {
        matches!(failure, Failure::Device(Error::NoImage { .. }))
    }
}

fn main() -> ExitCode {
    let about = "Checks every operation on every element type against references of its own";
    let options = Options::read(about, &["cpu", "sim"]);
    let cases = list::cases();
    let selected = options.select(&cases);
    if options.list {
        selected.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    }
    // `cargo test NAME` is of other tests.
    if selected.is_empty() && !options.names.is_empty() {
        return ExitCode::SUCCESS;
    }
    if !options.names_cases() {
        checks::run();
    }
    let runner = Runner { name: "conformance", seeds: options.seeds(), has_numbers: false, keeps_streams: false };
    let mut is_good = true;
    for place in &options.device {
        let tally = runner.run(&selected, "", place);
        runner.close(tally);
        is_good &= tally.is_good();
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
