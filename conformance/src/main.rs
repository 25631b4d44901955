//! Runs the cases on a device: a line for each that fails, with the first element that is wrong.

use clap::{Parser, ValueEnum};
use conformance::case::{Case, Failure};
use std::process::ExitCode;
use triton::{Device, Error, Stream};

/// Checks every operation on every element type against references of its own
#[derive(Parser)]
#[command(about)]
struct Options {
    /// Where kernels run
    #[arg(long, value_enum, default_value = "cpu")]
    device: Where,
    /// Only cases whose name contains this text; several times for any of several
    #[arg(long, value_name = "NAME")]
    filter: Vec<String>,
    /// Prints the names of the cases and runs none
    #[arg(long)]
    list: bool,
}

/// Where kernels run.
#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// The CPU device
    Cpu,
    /// CUDA device 0
    Cuda,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut cases = conformance::cases();
    cases.retain(|case| {
        options.filter.is_empty() || options.filter.iter().any(|text| case.name.contains(text.as_str()))
    });
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    }
    let device = match options.device {
        Where::Cpu => Ok(Device::cpu()),
        Where::Cuda => Device::cuda(0),
    };
    match device.and_then(|device| device.stream()) {
        Ok(stream) => run(&cases, &stream),
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cases: &[Case], stream: &Stream) -> ExitCode {
    let (mut passed, mut failed) = (0, 0);
    for (case, left) in cases.iter().zip((0..cases.len()).rev()) {
        match case.run(stream) {
            Ok(()) => passed += 1,
            Err(failure) => {
                failed += 1;
                println!("FAILED {}: {failure}", case.name);
                // A device that a kernel has broken runs nothing more in this process.
                if let Failure::Device(Error::Device { .. }) = failure {
                    println!("FAILED {left} cases behind this one, which were not run: the device is lost");
                    failed += left;
                    break;
                }
            }
        }
    }
    println!("conformance: {passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
