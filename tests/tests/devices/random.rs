//! Random programs on every device: what the interpreter says once layouts are chosen, bit for bit.
//!
//! `TRITON_RANDOM_PROGRAMS` says how many, `TRITON_RANDOM_FIRST` the number of the first; `TRITON_RANDOM_DEVICE` names the only device, such as `cuda`.

use super::corpus::{execute, images, metadata};
use super::devices;
use triton::Device;
use triton_core::ir::parse::parse;
use triton_core::metadata::Specialization;
use triton_tests::parallel;
use triton_tests::random::{Case, case, frontend};
use triton_tests::run::{difference, under};
use triton_tests::setup::Setup;

/// As many as a debug build runs on the CPU in a few seconds.
const PROGRAMS: u64 = 50;

/// Failures that are reported in full.
const TOLD: usize = 5;

#[test]
fn random_programs_on_every_device() -> Result<(), String> {
    every(|seed| Ok(case(seed)))
}

/// Views, functions and control flow as a user writes them.
#[test]
fn random_kernels_of_the_language_on_every_device() -> Result<(), String> {
    every(|seed| frontend::case(&frontend::kernel(seed)?))
}

/// Runs as many programs as are asked for.
fn every(make: impl Fn(u64) -> Result<Case, String> + Sync) -> Result<(), String> {
    let setting = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, programs) = (setting("TRITON_RANDOM_FIRST", 0), setting("TRITON_RANDOM_PROGRAMS", PROGRAMS));
    let devices = match std::env::var("TRITON_RANDOM_DEVICE") {
        Ok(name) => vec![name.parse::<Device>().map_err(|error| error.to_string())?],
        Err(_) => devices(),
    };
    let seeds: Vec<u64> = (first..first + programs).collect();
    let failures: Vec<String> = parallel::map(&seeds, |&seed| match make(seed) {
        Ok(case) => failures(seed, &case, &devices),
        Err(error) => vec![format!("program {seed}: {error}")],
    })
    .into_iter()
    .flatten()
    .collect();
    let numbers: Vec<&str> = failures.iter().filter_map(|f| f.split([',', ':']).next()).collect();
    match failures.len() {
        0 => Ok(()),
        n => Err(format!("{n} failures:\n{}\n{}", numbers.join("\n"), failures[..n.min(TOLD)].join("\n"))),
    }
}

/// What goes wrong with one program.
fn failures(seed: u64, case: &Case, devices: &[Device]) -> Vec<String> {
    let mut failures = Vec::new();
    let mut fails = |what: String| failures.push(format!("program {seed}{what}\n{}", case.text));
    if let Err(error) = run(case, devices, &mut fails) {
        fails(format!(": {error}"));
    }
    failures
}

fn run(case: &Case, devices: &[Device], fails: &mut impl FnMut(String)) -> Result<(), String> {
    let func = parse(&case.text).map_err(|e| e.to_string())?;
    let images = images(&func)?;
    let strongest = Setup::parse(&case.text)?.strongest(&func)?;
    for &specialization in Specialization::ALL.iter().filter(|&&p| p <= strongest) {
        let (laid, expected) = match under(&case.text, specialization, case.rounds) {
            Ok(found) => found,
            Err(error) => {
                fails(format!(", {}: {error}", specialization.name()));
                continue;
            }
        };
        for device in devices {
            // What a view promises is not in the metadata of its address, extents and strides one by one: a launch would not choose
            // the image.
            let image = images.iter().filter(|image| image.specialization <= specialization);
            let image = image.max_by_key(|image| image.specialization).cloned().map(|mut image| {
                image.specialization = Specialization::Generic;
                image
            });
            let images = image.into_iter().collect();
            match execute(device, &case.text, &func, metadata(&func, laid.to_string(), images)) {
                Ok(found) if found == expected => {}
                Ok(found) => {
                    let difference = difference(&expected, &found);
                    fails(format!(" on {device}, {}:\n{difference}", specialization.name()));
                }
                Err(error) => fails(format!(" on {device}, {}: {error}", specialization.name())),
            }
        }
    }
    Ok(())
}
