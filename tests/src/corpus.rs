//! Runner of the compiler's text tests.
//!
//! A case is a file `NAME.tir` of tile IR whose first line names the test, as in `; test run`. What is expected stands at its end,
//! on lines that begin with `;>`. PTX stands in files of its own, which assemblers and editors can read: the image for every
//! launch whole, the others as what differs from it. `BLESS=1` in the environment renews what is expected.
//!
//! | test | output | where it is expected |
//! |---|---|---|
//! | `parse` | the function printed again | it is the case itself, but for its comments |
//! | `verify` | the error of parser or verifier | case |
//! | `pass=NAME` | the function after that pass of stage 0; a later pass: the function before and after it, as a difference with every line | case |
//! | `layout` | the function at stage 1 | case |
//! | `synchronize` | the function at stage 2 | case |
//! | `barriers` | the errors of the interpreter at stage 2, with each barrier deleted in turn | case |
//! | `faults` | the errors of a function at stage 2, with each of the faults planted that its lines `; plant NAME: old => new` say | case |
//! | `explain` | the layouts that are chosen, and their cost | case |
//! | `run` | the buffers after the grid has run, the same before and after each pass, and of the PTX on the simulator | case |
//! | `ptx` | the images | `NAME.TARGET.generic.ptx`, `NAME.TARGET.SPECIALIZATION.diff` |
//! | `lower` | the code for `sm_80` of a function that is at stage 1 or 2 already | `NAME.ptx` |
//!
//! `layout`, `synchronize`, `explain` and `pass` are for every launch, or for the specialization whose name follows, with its target and
//! `multicast`.

use crate::{parallel, run};
use std::path::{Path, PathBuf};
use triton_core::ir::Stage;
use triton_core::ir::parse::parse;
use triton_core::ir::print::print;
use triton_core::metadata::{Specialization, Target};
use triton_core::passes::{self, Env};

/// Runs every case under `folder`, and returns how many there were.
///
/// # Errors
/// A text for each case that failed.
pub fn run_all(folder: &Path) -> Result<usize, Vec<String>> {
    let mut cases = Vec::new();
    collect(folder, &mut cases);
    cases.sort();
    let failure = |path: &PathBuf| {
        check(path).err().map(|e| format!("{}: {e}", path.strip_prefix(folder).unwrap_or(path).display()))
    };
    let failures: Vec<String> = parallel::map(&cases, failure).into_iter().flatten().collect();
    if failures.is_empty() { Ok(cases.len()) } else { Err(failures) }
}

fn collect(folder: &Path, cases: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, cases);
        } else if path.extension().is_some_and(|e| e == "tir") {
            cases.push(path);
        }
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let command =
        text.lines().next().and_then(|l| l.strip_prefix("; test ")).ok_or("the first line must be `; test ..`")?;
    let (test, env) = match command.split_once(' ') {
        Some((test, of)) if matches!(test, "layout" | "synchronize" | "explain") || test.starts_with(PASS) => {
            (test, env(of)?)
        }
        Some(_) | None => (command, Env::new(Target::Sm80, Specialization::Generic)),
    };
    match test {
        "parse" => {
            let printed = print(&parse(&text).map_err(|e| e.to_string())?);
            let code: String = text.lines().filter(|l| !l.starts_with(';')).map(|l| format!("{l}\n")).collect();
            if printed == code { Ok(()) } else { Err(difference(&code, &printed)) }
        }
        "verify" => match parse(&text) {
            Ok(_) => Err("the verifier found nothing wrong".into()),
            Err(error) => expect(path, &text, &format!("{error}\n")),
        },
        "explain" => {
            let func = parse(&text).map_err(|e| e.to_string())?;
            expect(path, &text, &triton_core::explain(&func, env.target, env.specialization)?)
        }
        "layout" | "synchronize" => {
            let mut func = parse(&text).map_err(|e| e.to_string())?;
            let env = env.verified();
            passes::run(passes::SPECIALISE, &mut func, &env)?;
            passes::run(passes::LAY_OUT, &mut func, &env)?;
            if test == "synchronize" {
                passes::run(passes::SYNCHRONIZE, &mut func, &env)?;
            }
            let printed = print(&func);
            parse(&printed).map_err(|e| format!("what was printed cannot be read: {e}\n{printed}"))?;
            expect(path, &text, &printed)
        }
        "ptx" => ptx(path, &text),
        "lower" => {
            let mut func = parse(&text).map_err(|e| e.to_string())?;
            let env = Env::new(Target::Sm80, Specialization::Generic).verified();
            if func.stage == Stage::LaidOut {
                passes::run(passes::SYNCHRONIZE, &mut func, &env)?;
            }
            let kernel = triton_core::ptx::lower::lower(&func, env.target, env.specialization);
            let kernel = kernel.map_err(|e| e.to_string())?;
            compare(&path.with_extension("ptx"), &triton_core::ptx::text::print::print(&kernel))
        }
        "barriers" => expect(path, &text, &run::without_each_barrier(&text)?),
        "faults" => expect(path, &text, &run::with_each_fault(&text)?),
        "run" => expect(path, &text, &run::run(&text)?),
        _ => {
            let name = test.strip_prefix(PASS).ok_or_else(|| format!("`{command}` is not a test"))?;
            expect(path, &text, &pass(&text, name, &env.verified())?)
        }
    }
}

/// What the name of a pass follows in the first line of a case.
const PASS: &str = "pass=";

/// A function after a pass of stage 0 alone; or one before and after a later pass, which those before it in the pipeline precede.
fn pass(text: &str, name: &str, env: &Env) -> Result<String, String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    if let Some(pass) = passes::RELAX.iter().chain(passes::OPTIMISE).find(|pass| pass.name == name) {
        passes::run(std::slice::from_ref(pass), &mut func, env)?;
        return Ok(print(&func));
    }
    for list in [passes::SPECIALISE, passes::LAY_OUT, passes::SYNCHRONIZE] {
        let Some(at) = list.iter().position(|pass| pass.name == name) else {
            passes::run(list, &mut func, env)?;
            continue;
        };
        passes::run(&list[..at], &mut func, env)?;
        let before = print(&func);
        passes::run(&list[at..=at], &mut func, env)?;
        let after = print(&func);
        let difference = similar::TextDiff::from_lines(&before, &after);
        return Ok(difference.iter_all_changes().map(|change| format!("{}{change}", change.tag())).collect());
    }
    Err(format!("`{name}` is not a pass"))
}

/// A specialization, and behind it the target if it is another than the most general one, and whether neighbours may share what they load.
fn env(words: &str) -> Result<Env, String> {
    let (words, multicast) = words.strip_suffix(" multicast").map_or((words, false), |words| (words, true));
    let (name, target) = words.split_once(' ').unwrap_or((words, Target::LEAST.name()));
    let found = Specialization::ALL.iter().find(|specialization| specialization.name() == name).copied();
    let specialization = found.ok_or_else(|| format!("`{name}` is not a specialization"))?;
    let target = Target::from_name(target).ok_or_else(|| format!("`{target}` is not a target"))?;
    Ok(Env { multicast, ..Env::new(target, specialization) })
}

fn ptx(path: &Path, text: &str) -> Result<(), String> {
    let mut func = parse(text).map_err(|e| e.to_string())?;
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified())?;
    let images = triton_core::images(&func).map_err(|e| e.to_string())?;
    let generic = images.iter().find(|image| image.specialization == Specialization::Generic);
    let generic = generic.ok_or("there is no image for every launch")?.text();
    for image in &images {
        let name = format!("{}.{}", image.target.name(), image.assumptions());
        if image.specialization == Specialization::Generic {
            compare(&path.with_extension(name + ".ptx"), &generic)?;
        } else {
            let text = image.text();
            let difference = similar::TextDiff::from_lines(&*generic, &*text);
            let difference = difference.unified_diff().context_radius(1).to_string();
            compare(&path.with_extension(name + ".diff"), &difference)?;
        }
    }
    Ok(())
}

/// What a line of a case begins with that is expected.
const EXPECTED: &str = ";>";

fn bless() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

/// What a case expects.
pub fn expected(case: &str) -> String {
    let lines = case.lines().filter_map(|line| line.strip_prefix(EXPECTED));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

/// Compares with what the case expects, or writes it under `BLESS=1`.
fn expect(path: &Path, case: &str, found: &str) -> Result<(), String> {
    // No line of a case ends in spaces.
    let found: String = found.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let expected = expected(case);
    if expected == found {
        return Ok(());
    }
    if bless() {
        let code = case.lines().filter(|line| !line.starts_with(EXPECTED)).map(|line| format!("{line}\n"));
        let lines = found.lines().map(|line| format!("{EXPECTED} {line}").trim_end().to_owned() + "\n");
        let renewed: String = code.chain(lines).collect();
        return std::fs::write(path, renewed).map_err(|e| format!("{}: {e}", path.display()));
    }
    Err(format!("differs from what it expects; BLESS=1 renews it\n{}", difference(&expected, &found)))
}

/// Compares with the file, or writes it under `BLESS=1`.
fn compare(expected: &Path, found: &str) -> Result<(), String> {
    if bless() {
        return std::fs::write(expected, found).map_err(|e| format!("{}: {e}", expected.display()));
    }
    let name = expected.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text =
        std::fs::read_to_string(expected).map_err(|_| format!("{name} is missing; BLESS=1 writes it\n{found}"))?;
    if text == found {
        Ok(())
    } else {
        Err(format!("differs from {name}; BLESS=1 renews it\n{}", difference(&text, found)))
    }
}

/// The first line that differs, with the one expected.
pub fn difference(expected: &str, found: &str) -> String {
    let line = expected.lines().zip(found.lines()).position(|(a, b)| a != b);
    let line = line.unwrap_or_else(|| expected.lines().count().min(found.lines().count()));
    let of = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_string();
    format!("line {}:\n  expected: {}\n  found:    {}", line + 1, of(expected), of(found))
}
