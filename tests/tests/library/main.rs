//! Every operation of the library on operands of many shapes, types and places in memory, against references in `f64` ([`reference`]).
//!
//! A [`Case`] makes its operands at random, from its name and a seed, enqueues one operation, and compares. Families of cases:
//!
//! | family | what |
//! |---|---|
//! | `gemm`, `rows`, `conv`, `attention`, `sparse`, `contract` | the operations of these modules, and what they refuse |
//! | `declared` | wrong extents of each operand, made of the declarations of the operations |
//! | `edge` | numbers that are not finite, or near the ends of a type's range: what each operation guarantees of them |
//! | `extents`, `large` | many programs, and operands of more than 2³¹ elements, which GPUs alone run |
//! | `graphs` | each operation in a graph |
//!
//! Without options, as by `cargo test`, samples and sets of the families run on the CPU and on the simulator ([`SETS`]), from one seed;
//! `--seed 7` has other samples of them. With `--device cuda`, `--family gemm` or `--filter NAME` all cases that these name run, on the CPU
//! if no device is named. `--filter NAME --seed 7` repeats what was found.

mod attention;
mod contract;
mod conv;
mod declared;
mod edge;
mod gemm;
mod graphs;
mod harness;
mod reference;
mod rows;
mod samples;
mod sparse;

use harness::{Case, Family};
use samples::{Part, SETS};
use std::process::ExitCode;
use triton::Stream;
use triton_tests::runner::{self, Failure, Options, Place, Runner, Tally, sample};

/// All families.
const FAMILIES: &[Family] = &[
    gemm::FAMILY,
    rows::FAMILY,
    conv::FAMILY,
    attention::FAMILY,
    sparse::FAMILY,
    contract::FAMILY,
    declared::FAMILY,
    edge::EDGE,
    edge::EXTENTS,
    graphs::FAMILY,
    edge::LARGE,
];

/// A case of a family.
struct Member {
    family: Family,
    case: Case,
}

impl runner::Case for Member {
    fn name(&self) -> &str {
        self.case.name()
    }

    fn family(&self) -> &str {
        self.family.name
    }

    fn needs_gpu(&self) -> bool {
        self.family.needs_gpu
    }

    fn run(&self, stream: &Stream, seed: u64) -> Result<(), Failure> {
        self.case.run(stream, seed).map_err(|failure| Failure::Different(failure.0))
    }

    fn has_no_code(&self, failure: &Failure) -> bool {
        self.case.has_no_code(&failure.to_string())
    }
}

fn main() -> ExitCode {
    match run(&Options::read("Checks every operation of the library against references in `f64`", &[])) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("library: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let of = |&family: &Family| (family.cases)().into_iter().map(move |case| Member { family, case });
    let members: Vec<Member> = FAMILIES.iter().flat_map(of).collect();
    let selected = options.select(&members);
    if options.list {
        let is_run = |member: &&Member| options.device.is_empty() || options.device.iter().any(|on| on.runs(*member));
        selected.into_iter().filter(is_run).for_each(|member| println!("{}", member.case.name()));
        return Ok(true);
    }
    let runner = Runner { name: "library", seeds: options.seeds(), has_numbers: true, keeps_streams: true };
    let mut tally = Tally::default();
    if options.selects() {
        // `cargo test NAME` is of other tests.
        if selected.is_empty() && !options.names.is_empty() {
            return Ok(true);
        }
        let cpu = ["cpu".parse()?];
        for place in if options.device.is_empty() { &cpu } else { &options.device[..] } {
            let of_place: Vec<&Member> = selected.iter().copied().filter(|member| place.runs(*member)).collect();
            let of =
                if options.family.is_empty() { String::new() } else { format!(" of {}", options.family.join(", ")) };
            tally += runner.run(&of_place, &of, place);
        }
    } else {
        for (device, family, part) in SETS {
            let place: Place = device.parse()?;
            let all = members.iter().filter(|member| member.family.name == *family);
            let (of_set, of) = match part {
                Part::Sample(count) => (sample(all.collect(), *count, options.seed), format!(" of {family}")),
                Part::Named(text) => {
                    let of_name = all.filter(|member| member.case.name().contains(text));
                    (of_name.collect(), format!(" of {family} named `{text}`"))
                }
            };
            tally += runner.run(&of_set, &of, &place);
        }
    }
    runner.close(tally);
    Ok(tally.is_good())
}
