//! Random programs on every device: what the interpreter says once layouts are chosen, bit for bit.
//!
//! `TRITON_RANDOM_PROGRAMS` says how many, `TRITON_RANDOM_FIRST` the number of the first; `TRITON_RANDOM_DEVICE` names the only device, such as `cuda`.

use super::corpus::{execute, images, metadata, metadata_of_views};
use super::devices;
use triton::Device;
use triton_core::ir::parse::parse;
use triton_core::metadata::{Image, Specialization};
use triton_tests::random::tutorials::{self, Family};
use triton_tests::random::{Case, case, frontend};
use triton_tests::run::{difference, meant, under};
use triton_tests::setup::Setup;
use triton_tests::{parallel, tensor_maps};

/// As many as a debug build runs on the CPU in a few seconds.
const PROGRAMS: u64 = 50;

/// The same of a family of products.
const OF_FAMILY: u64 = 6;

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

/// Pointers that loops step, indices that wrap around, strides that are arguments.
#[test]
fn random_kernels_over_pointers_on_every_device() -> Result<(), String> {
    of_family(Family::Pointers)
}

/// Operands that are converted before they are multiplied.
#[test]
fn random_kernels_that_convert_operands_on_every_device() -> Result<(), String> {
    of_family(Family::Converted)
}

/// Runs as many programs as are asked for.
fn every(make: impl Fn(u64) -> Result<Case, String> + Sync) -> Result<(), String> {
    numbered(PROGRAMS, |seed, devices| match make(seed) {
        Ok(case) => failures(seed, &case, devices),
        Err(error) => vec![format!("program {seed}: {error}")],
    })
}

/// Runs as many programs of a family as are asked for, each image that a launch permits.
fn of_family(family: Family) -> Result<(), String> {
    numbered(OF_FAMILY, |number, devices| {
        let (program, mut failures) = (tutorials::program(family, number), Vec::new());
        let mut fails = |what: String| failures.push(format!("program {number}{what}\n{}", program.text));
        match tutorials::cases(&program) {
            Ok((cases, images)) => cases.iter().enumerate().for_each(|(launch, text)| {
                let mut fails = |what: String| fails(format!(", launch {launch}{what}"));
                if let Err(error) = every_image(text, &images, devices, &mut fails) {
                    fails(format!(": {error}"));
                }
            }),
            Err(error) => fails(format!(": {error}")),
        }
        failures
    })
}

/// A launch on every device: by the image that it chooses, and by each one that the device runs and the arguments permit.
fn every_image(text: &str, images: &[Image], devices: &[Device], fails: &mut impl FnMut(String)) -> Result<(), String> {
    let (func, setup) = (parse(text).map_err(|e| e.to_string())?, Setup::parse(text)?);
    let strongest = setup.strongest_of_orders(&func)?;
    let expected = meant(&func, &setup)?;
    // As aligned as buffers are.
    let args = setup.args(&func, &vec![1 << 20; setup.buffers.len()])?;
    for device in devices {
        let runs = |image: &&Image| {
            image.specialization <= strongest[usize::from(image.order)]
                && device.compute_capability().is_some_and(|capability| image.target.runs_on(capability))
                && tensor_maps::encode(image, &func, &args).is_some()
                && tensor_maps::takes_pitches(image, &func, &args)
                && image.takes(setup.grid, device.multiprocessors())
        };
        // By themselves, and those among which a launch chooses. What it makes of a view's strides along axes of one element is not what the
        // case says, so that one by itself assumes nothing.
        let alone = |image: &Image| {
            let name = format!(", {}, {}", image.target.name(), image.assumptions());
            let mut image = image.clone();
            (image.specialization, image.order) = (Specialization::Generic, 0);
            (name, vec![image])
        };
        let mut all = vec![(String::new(), images.to_vec())];
        all.extend(images.iter().filter(runs).map(alone));
        for (name, images) in all {
            let metadata = metadata_of_views(&func, func.to_string(), images);
            match execute(device, text, &func, metadata) {
                Ok(found) if found == expected => {}
                Ok(found) => fails(format!(" on {device}{name}:\n{}", difference(&expected, &found))),
                Err(error) => fails(format!(" on {device}{name}: {error}")),
            }
        }
    }
    Ok(())
}

/// What goes wrong with as many programs as are asked for.
fn numbered(default: u64, failures: impl Fn(u64, &[Device]) -> Vec<String> + Sync) -> Result<(), String> {
    let setting = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, programs) = (setting("TRITON_RANDOM_FIRST", 0), setting("TRITON_RANDOM_PROGRAMS", default));
    let devices = match std::env::var("TRITON_RANDOM_DEVICE") {
        Ok(name) => vec![name.parse::<Device>().map_err(|error| error.to_string())?],
        Err(_) => devices(),
    };
    let seeds: Vec<u64> = (first..first + programs).collect();
    let failures: Vec<String> = parallel::map(&seeds, |&seed| failures(seed, &devices)).into_iter().flatten().collect();
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
    let strongest = Setup::parse(&case.text)?.strongest(&func, 0)?;
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
