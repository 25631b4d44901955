//! `seeds [--seeds N] [--first SEED]`: what chance decides in tests, from other seeds than the one that `cargo test` has.
//!
//! For each seed: conformance on the CPU and on the simulator, and other samples of the library's cases.
//! There is a line for each seed; what fails prints what it said, and the command that repeats it.

use crate::{Outcome, executables, root};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Which seeds run.
struct Options {
    count: u64,
    first: u64,
}

/// A number of a seed: `day` is another one each day, so far from the last day's that no seed runs on two days.
fn options(words: &[&str]) -> Result<Options, String> {
    let (mut count, mut first) = (10, "day");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("`{word}` needs a value"))?;
        match *word {
            "--seeds" => count = value.parse().map_err(|_| format!("`--seeds {value}`: expected a number"))?,
            "--first" => first = value,
            _ => return Err(format!("`{word}` is unknown; expected --seeds N, --first SEED or --first day")),
        }
    }
    if count == 0 {
        return Err("`--seeds 0` runs nothing".into());
    }
    let day = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86400);
    let first = match first {
        "day" => day() * count,
        text => text.parse().map_err(|_| format!("`--first {text}`: expected a number, or `day`"))?,
    };
    Ok(Options { count, first })
}

/// One program's run.
struct Part {
    /// The name of the test.
    test: &'static str,
    program: PathBuf,
    args: Vec<String>,
}

/// The parts of a seed.
fn parts(conformance: &Path, library: &Path, seed: u64) -> Vec<Part> {
    let part = |test: &'static str, program: &Path, args: String| Part {
        test,
        program: program.to_path_buf(),
        args: words(&args),
    };
    vec![
        part("conformance", conformance, format!("--device cpu --seed {seed}")),
        part("conformance", conformance, format!("--device sim --seed {seed}")),
        part("library", library, format!("--seed {seed}")),
    ]
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// The cases that have passed and failed, of what a program prints at its end: `library: 40 passed, 0 failed`.
fn cases(said: &str) -> Option<(u64, u64)> {
    let line = said.lines().rev().find(|line| line.ends_with(" failed"))?;
    let (_, numbers) = line.split_once(": ")?;
    let (passed, failed) = numbers.split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.strip_suffix(" failed")?.parse().ok()?))
}

/// Runs the parts of a seed and prints its line; says whether all have passed.
fn seed(parts: &[Part], seed: u64) -> Outcome<bool> {
    let start = Instant::now();
    let (mut passed, mut failed, mut failures) = (0, 0, String::new());
    for part in parts {
        let mut program = Command::new(&part.program);
        program.args(&part.args).env("TRITON_DSL_CAPABILITY", "").current_dir(root());
        let output = program.output();
        let output = output.map_err(|e| format!("{}: {e}", part.program.display()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let counted = cases(&said);
        passed += counted.map_or(0, |(passed, _)| passed);
        // A program that does not come to its end is a failure.
        let failed_here = counted.map_or(1, |(_, failed)| failed);
        failed += failed_here.max(u64::from(!output.status.success()));
        if failed_here > 0 || !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let cargo = format!("cargo test --release -p triton-tests --test {} --", part.test);
            let _ = write!(failures, "{cargo} {}\n{said}{errors}", part.args.join(" "));
        }
    }
    println!("seed {seed}: {passed} cases passed, {failed} failed, {:.0} s", start.elapsed().as_secs_f64());
    print!("{failures}");
    Ok(failed == 0)
}

/// Builds the programs, and runs them from each seed.
pub fn seeds(words: &[&str]) -> Outcome {
    let options = options(words)?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--package", "triton-tests", "--test", "conformance", "--test", "library"]);
    cargo.args(["--release", "--message-format=json-render-diagnostics"]).current_dir(root());
    let found = executables(&mut cargo)?;
    let program = |name: &str| {
        let of_name = |file: &&PathBuf| file.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name));
        found.iter().find(of_name).ok_or(format!("cargo made no program {name}"))
    };
    let (conformance, library) = (program("conformance-")?, program("library-")?);

    let mut passed = 0;
    for number in options.first..options.first.saturating_add(options.count) {
        passed += u64::from(seed(&parts(conformance, library, number), number)?);
    }
    println!("seeds: {passed} passed, {} failed", options.count - passed);
    if passed == options.count { Ok(()) } else { Err("a seed failed".into()) }
}

#[test]
fn counts_are_read_from_what_programs_print() {
    assert_eq!(cases("library on CPU: 200 cases of gemm, --seed 7\nlibrary: 200 passed, 0 failed\n"), Some((200, 0)));
    assert_eq!(cases("FAILED a: it failed\nconformance: 3 passed, 12 failed\n"), Some((3, 12)));
    assert_eq!(cases("the device is lost\n"), None);
}

#[test]
fn days_have_seeds_of_their_own() -> Outcome {
    let (day, few) = (options(&[])?, options(&["--seeds", "3", "--first", "7"])?);
    assert_eq!((few.first, few.count), (7, 3));
    assert!(day.count == 10 && day.first % 10 == 0);
    for wrong in [&["--first"][..], &["--first", "today"], &["--seeds", "0"], &["--last", "1"]] {
        assert!(options(wrong).is_err(), "{wrong:?}");
    }
    Ok(())
}
