//! `counts`: what the vendor's assembler makes of kernels, as numbers: registers, spills, shared memory, barriers, and the
//! instructions of the main path and of the innermost loop by class.
//!
//! The record is `tests/corpus/counts/counts.txt`, a line for each image and architecture; `BLESS=1` renews it. Without a GPU
//! it shows what a change of the compiler does to code, before anything is measured. A spill is a failure that `BLESS=1` does
//! not silence, and so is an innermost loop that uses local memory or waits for the memory of the device.

use crate::assembler::{NVDISASM, PTXAS, Scratch, architectures, assemble, images};
use crate::sass::{Profile, profile};
use crate::{Outcome, output, root};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use triton_core::metadata::{Image, Specialization};
use triton_tests::expand::{Kernel, expand};
use triton_tests::parallel;

/// Files whose kernels are counted: those of the benchmarks, and the others.
const SOURCES: &[&str] = &[
    "benchmarks/src/rows.rs",
    "benchmarks/src/tiles.rs",
    "benchmarks/src/products.rs",
    "benchmarks/src/groups.rs",
    "benchmarks/src/fused.rs",
    "tests/corpus/counts/kernels.rs",
];

const RECORD: &str = "tests/corpus/counts/counts.txt";

/// Counts the images whose line of the record begins with `part`: all of them for an empty one.
pub fn counts(part: &str) -> Outcome {
    let Some(ptxas) = PTXAS.require("counts")? else { return Ok(()) };
    let Some(nvdisasm) = NVDISASM.require("counts")? else { return Ok(()) };
    let tools = Tools { ptxas, nvdisasm, scratch: Scratch::new("counts")? };
    let subjects = subjects(part)?;
    let pairs = |index: usize| architectures(subjects[index].image.target).into_iter().map(move |arch| (index, arch));
    let jobs: Vec<(usize, &str)> = (0..subjects.len()).flat_map(pairs).collect();
    let lines = all(parallel::map(&jobs, |&(index, arch)| tools.count(index, &subjects[index], arch)))?;
    let path = root().join(RECORD);
    let mut failures = faults(&lines);
    if part.is_empty() && failures.is_empty() && std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        let text: String = lines.iter().map(|line| format!("{}: {}\n", line.key, line.numbers)).collect();
        return std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()));
    }
    let record = std::fs::read_to_string(&path).unwrap_or_default();
    let record: String = record.lines().filter(|line| line.starts_with(part)).map(|line| format!("{line}\n")).collect();
    let changes = changes(&record, &lines);
    if !changes.is_empty() {
        failures.push(format!("{} lines differ from {RECORD}; BLESS=1 renews it:", changes.len()));
        failures.extend(changes);
    }
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    println!("counts: {} images, assembled {} times, are as recorded, and none spills", subjects.len(), jobs.len());
    Ok(())
}

/// An image and its name: `softmax::<4096> divisible16`.
struct Subject {
    name: String,
    image: Image,
}

/// A line of the record.
struct Line {
    /// `softmax::<4096> divisible16 sm_90a`.
    key: String,
    /// Bytes that are stored to and loaded from local memory.
    spilled: u32,
    /// Instructions that the innermost loop should not have.
    stalls: Vec<String>,
    /// What stands after the key.
    numbers: String,
}

/// Every image of every kernel whose name and images begin with `part`.
fn subjects(part: &str) -> Outcome<Vec<Subject>> {
    let kernels: Vec<Kernel> = all(parallel::map(SOURCES, |file| kernels(file)))?.into_iter().flatten().collect();
    let named: Vec<&Kernel> = kernels
        .iter()
        .filter(|kernel| {
            let name = name(kernel, &kernels);
            name.starts_with(part) || part.starts_with(&name)
        })
        .collect();
    let compiled = parallel::map(&named, |kernel| Ok((name(kernel, &kernels), images(&kernel.ir)?)));
    let mut subjects: Vec<Subject> = Vec::new();
    for (name, images) in all(compiled)? {
        if subjects.iter().any(|subject| subject.name.starts_with(&format!("{name} "))) {
            return Err(format!("two kernels of {} are `{name}`", SOURCES.join(" and ")));
        }
        let named = |image: Image| {
            // What a device runs alone has a line of its own beside that of the general code.
            let native = if image.target.info().exact { " native" } else { "" };
            let programs = image.programs.suffix();
            Subject { name: format!("{name} {}{native}{programs}", image.specialization.name()), image }
        };
        // Code of one architecture alone is written for views that TMA can read; what it is for others is never compared.
        let counts = |image: &Image| !image.target.info().exact || image.specialization >= Specialization::Aligned16;
        subjects.extend(images.into_iter().filter(counts).map(named));
    }
    subjects.retain(|subject| subject.name.starts_with(part));
    Ok(subjects)
}

/// The kernels of a file.
fn kernels(file: &str) -> Outcome<Vec<Kernel>> {
    let path = root().join(file);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let expansion = expand(&text).map_err(|e| format!("{file}:{e}"))?;
    let errors = expansion.messages.iter().filter(|message| !message.text.starts_with("warning"));
    let errors: Vec<String> = errors.map(|e| format!("{file}:{}: {}", e.start.0, e.text)).collect();
    if errors.is_empty() { Ok(expansion.kernels) } else { Err(errors.join("\n")) }
}

/// The instance, and the config where it has several.
fn name(kernel: &Kernel, kernels: &[Kernel]) -> String {
    let several = kernels.iter().any(|other| other.instance == kernel.instance && other.config > 0);
    if several { format!("{} config {}", kernel.instance, kernel.config) } else { kernel.instance.clone() }
}

/// The results, or all errors.
fn all<T>(results: Vec<Outcome<T>>) -> Outcome<Vec<T>> {
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => done.push(value),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(done) } else { Err(errors.join("\n")) }
}

/// What images go through.
struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
    scratch: Scratch,
}

impl Tools {
    /// The line of an image, whose number names its files.
    fn count(&self, index: usize, subject: &Subject, arch: &str) -> Outcome<Line> {
        let key = format!("{} {arch}", subject.name);
        let failure = |error: String| format!("{key}: {error}");
        let ptx = self.scratch.write(&format!("{index}.{arch}.ptx"), &subject.image.text())?;
        let cubin = self.scratch.file(&format!("{index}.{arch}.cubin"));
        let resources = assemble(&self.ptxas, &ptx, arch, &cubin).map_err(failure)?;
        let listing = output(Command::new(&self.nvdisasm).arg("-c").arg(&cubin)).map_err(failure)?;
        let Profile { barriers, path, innermost, stalls } = profile(&listing).map_err(failure)?;
        let spilled = resources.spill_stores + resources.spill_loads;
        let (registers, shared) = (resources.registers, subject.image.shared_bytes);
        let mut numbers =
            format!("{registers} registers, {spilled} spilled, {shared} shared, {barriers} barriers; path {path}");
        if let Some(innermost) = innermost {
            numbers += &format!("; loop {innermost}");
        }
        Ok(Line { key, spilled, stalls, numbers })
    }
}

/// What no image may do: spill, or stall in its innermost loop.
fn faults(lines: &[Line]) -> Vec<String> {
    let spilled = lines.iter().filter(|line| line.spilled > 0);
    let spills = spilled.map(|line| format!("{} spills {} bytes", line.key, line.spilled));
    let stalled = lines.iter().filter(|line| !line.stalls.is_empty());
    spills
        .chain(stalled.map(|line| format!("{} has {} in its innermost loop", line.key, line.stalls.join(", "))))
        .collect()
}

/// The lines of the record that differ: what was recorded, and what is found.
fn changes(record: &str, lines: &[Line]) -> Vec<String> {
    let recorded: BTreeMap<&str, &str> = record.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut changes = Vec::new();
    for Line { key, numbers, .. } in lines {
        match recorded.get(key.as_str()) {
            Some(old) if old == numbers => {}
            Some(old) => changes.push(format!("{key}\n    old: {old}\n    new: {numbers}")),
            None => changes.push(format!("{key}\n    new: {numbers}")),
        }
    }
    let gone = recorded.iter().filter(|(key, _)| !lines.iter().any(|line| line.key == **key));
    changes.extend(gone.map(|(key, old)| format!("{key}\n    old: {old}")));
    changes
}

#[test]
fn spills_and_stalls_are_failures() {
    let line = |key: &str, spilled, stalls: &[&str]| Line {
        key: key.into(),
        spilled,
        stalls: stalls.iter().map(|&name| name.to_owned()).collect(),
        numbers: String::new(),
    };
    let lines = [line("a", 0, &[]), line("b", 8, &[]), line("c", 0, &["MEMBAR.ALL.GPU", "ERRBAR"])];
    assert_eq!(faults(&lines), ["b spills 8 bytes", "c has MEMBAR.ALL.GPU, ERRBAR in its innermost loop"]);
}

#[test]
fn changes_have_the_old_and_the_new_line() {
    let line =
        |key: &str, numbers: &str| Line { key: key.into(), spilled: 0, stalls: Vec::new(), numbers: numbers.into() };
    let lines = [line("a", "1"), line("b", "2"), line("c", "3")];
    assert_eq!(changes("a: 1\nb: 2\nc: 3\n", &lines), [] as [&str; 0]);
    let changed = changes("a: 1\nb: 4\nd: 5\n", &lines);
    assert_eq!(changed, ["b\n    old: 4\n    new: 2", "c\n    new: 3", "d\n    old: 5"]);
}
