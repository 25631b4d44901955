//! Random programs: every pass leaves the result as it is, and code is made for them.

use triton_core::ir::print::print;
use triton_core::metadata::{Specialization, Target};
use triton_core::passes::{self, Env};
use triton_tests::numbers::Random;
use triton_tests::parallel;
use triton_tests::random::frontend::{check, kernel};
use triton_tests::random::squares;
use triton_tests::random::tutorials::{self, CODE, Family};
use triton_tests::run::run;

#[test]
fn passes_change_no_result() {
    let mut random = Random::new(99);
    for _ in 0..60 {
        let (mut func, elements) = squares::program(&mut random);
        let code = print(&func);
        let xs: Vec<String> = (0..elements).map(|i| format!("{}.0", (i * 37) % 61)).collect();
        let buffers = format!("; buffer x f32 {}\n; buffer out f32 zeros {elements}", xs.join(" "));
        let result = run(&format!("; test run\n; grid 1 1 1\n{buffers}\n; args x out\n{code}"));
        assert!(result.as_ref().is_ok_and(|r| !r.starts_with("error")), "{result:?}\n{code}");
        passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified()).unwrap();
        triton_core::images(&func).unwrap_or_else(|e| panic!("{e}\n{code}"));
    }
}

/// As many as a debug build runs in a few seconds. `TRITON_RANDOM_PROGRAMS` says how many, `TRITON_RANDOM_FIRST` the number of
/// the first.
const PROGRAMS: u64 = 100;

/// The share of programs that fill rings is at least one in this number.
const RINGS: u64 = 16;

/// Failures that are reported in full.
const SHOWN: usize = 3;

/// What the attributes make of a kernel gives what a walk over its tree gives, on the interpreter and on the simulator.
#[test]
fn kernels_of_the_language_mean_what_they_say() {
    let setting = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, programs) = (setting("TRITON_RANDOM_FIRST", 0), setting("TRITON_RANDOM_PROGRAMS", PROGRAMS));
    let seeds: Vec<u64> = (first..first + programs).collect();
    let rings = |&seed: &u64| {
        let made = std::panic::catch_unwind(|| kernel(seed));
        let kernel = match made {
            Ok(Ok(kernel)) => kernel,
            Ok(Err(error)) => return Err(format!("program {seed}: {error}")),
            Err(_) => return Err(format!("program {seed}: the reference panics")),
        };
        check(&kernel).map_err(|error| format!("program {seed}: {error}\n{}{}", kernel.header, kernel.text))
    };
    let (mut with_rings, mut failures) = (0, Vec::new());
    for result in parallel::map(&seeds, rings) {
        match result {
            Ok(rings) => with_rings += u64::from(rings > 0),
            Err(failure) => failures.push(failure),
        }
    }
    println!("{with_rings} of {programs} programs fill rings");
    let firsts: Vec<&str> = failures.iter().filter_map(|f| f.lines().next()).collect();
    let shown = failures[..failures.len().min(SHOWN)].join("\n");
    assert!(failures.is_empty(), "{} failures:\n{}\n{shown}", failures.len(), firsts.join("\n"));
    assert!(
        programs < PROGRAMS || with_rings * RINGS >= programs,
        "only {with_rings} of {programs} programs fill rings"
    );
}

/// As many of a family as a debug build runs in a few seconds.
const OF_FAMILY: u64 = 32;

/// Pointers that loops step, indices that wrap around, strides that are arguments: each launch runs every image that it permits.
#[test]
fn kernels_over_pointers_mean_the_same_in_every_image() {
    every_image(Family::Pointers);
}

/// Operands that are converted and scaled between load and product, likewise.
#[test]
fn kernels_that_convert_operands_mean_the_same_in_every_image() {
    every_image(Family::Converted);
}

/// Runs the programs of a family, and prints what they reached: the first ones have to reach all of it.
fn every_image(family: Family) {
    let setting = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, programs) = (setting("TRITON_RANDOM_FIRST", 0), setting("TRITON_RANDOM_PROGRAMS", OF_FAMILY));
    let numbers: Vec<u64> = (first..first + programs).collect();
    let results = parallel::map(&numbers, |&number| {
        let program = tutorials::program(family, number);
        let checked = std::panic::catch_unwind(|| tutorials::check(&program)).unwrap_or_else(|_| Err("a panic".into()));
        let fails = |error| format!("program {number}: {error}\n{}{}", program.launches.join(""), program.text);
        checked.map(|reached| (reached, program.text.contains(") % "))).map_err(fails)
    });
    let (mut images, mut code, mut wrapped, mut turned, mut failures) = ([[0; 4]; 2], [0; 4], 0, 0, Vec::new());
    for result in results {
        match result {
            Ok((reached, wraps)) => {
                reached.images.iter().for_each(|&(target, of)| images[target as usize][of as usize] += 1);
                code.iter_mut().zip(reached.code).for_each(|(n, is_there)| *n += u64::from(is_there));
                wrapped += u64::from(wraps && reached.code[0]);
                turned += reached.turned;
            }
            Err(failure) => failures.push(failure),
        }
    }
    for (target, counts) in Target::ALL.iter().zip(images) {
        let counts = Specialization::ALL.iter().zip(counts).map(|(of, n)| format!("{} {n}", of.name()));
        let counts: Vec<String> = counts.collect();
        println!("{family:?}: launches by image of {}: {}", target.name(), counts.join(", "));
    }
    let counts: Vec<String> = CODE.iter().zip(code).map(|(name, n)| format!("{name} {n}")).collect();
    println!(
        "{family:?}: of {programs} programs have {}; copies by indices that wrap around {wrapped}; launches in other orders {turned}",
        counts.join(", ")
    );
    let firsts: Vec<&str> = failures.iter().filter_map(|f| f.lines().next()).collect();
    let shown = failures[..failures.len().min(SHOWN)].join("\n");
    assert!(failures.is_empty(), "{} failures:\n{}\n{shown}", failures.len(), firsts.join("\n"));
    if first > 0 || programs < OF_FAMILY {
        return;
    }
    // There is no code for Hopper alone that assumes nothing.
    assert!(images[Target::Sm80 as usize].iter().all(|&n| n > 0), "not every image of {} ran", Target::Sm80.name());
    assert!(
        images[Target::Sm90a as usize][2..].iter().all(|&n| n > 0),
        "not every image of {} ran",
        Target::Sm90a.name()
    );
    assert!(wrapped > 0, "nothing is copied ahead by indices that wrap around");
    assert!(turned > 0, "no image for column-major operands ran");
    for (name, n) in CODE.iter().zip(code) {
        // Threads copy through pointers.
        let is_asked = family == Family::Converted || *name != "cp.async.bulk";
        assert!(n > 0 || !is_asked, "no program has {name}");
    }
}
