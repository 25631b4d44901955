//! Random programs: every pass leaves the result as it is, and code is made for them.

use triton_core::ir::print::print;
use triton_core::passes::{self, Env};
use triton_tests::numbers::Random;
use triton_tests::parallel;
use triton_tests::random::frontend::{check, kernel};
use triton_tests::random::squares;
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
