//! `counts`: what the vendor's assembler makes of kernels, as numbers: registers, spills, shared memory, barriers, and the
//! instructions of the main path and of the innermost loop by class.
//!
//! The record is `tests/corpus/counts/counts.txt`, a line for each image and architecture; `BLESS=1` renews it. Without a GPU
//! it shows what a change of the compiler does to code, before anything is measured. A spill, but of what users write, is a failure that
//! `BLESS=1` does not silence, and so is an innermost loop that uses local memory or waits for the memory of the device.
//!
//! Beside it, `hashes.txt` has a hash of each PTX and its line. The assembler makes the same of the same text, so an image whose hash is
//! recorded keeps its line and is not assembled: of thousands, those that a change does not reach.

use crate::assembler::{NVDISASM, PTXAS, Scratch, architectures, assemble, images};
use crate::sass::{Profile, profile};
use crate::{Outcome, output, root};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use triton_core::hash::fnv1a;
use triton_core::metadata::{Image, Specialization, code_lines};
use triton_tests::expand::{Kernel, expand};
use triton_tests::parallel;

/// Files whose kernels are counted: those of the benchmarks, of the library's products, and the others. The last file of a row has them, and
/// those before it the functions that they call.
const SOURCES: &[&[&str]] = &[
    &["tools/benchmarks/src/rows.rs"],
    &["tools/benchmarks/src/tiles.rs"],
    &["tools/benchmarks/src/products.rs"],
    &["tools/benchmarks/src/fused.rs"],
    &["triton-kernels/src/functions/gemm.rs", "triton-kernels/src/linear/kernels/whole.rs"],
    &["tests/corpus/counts/kernels.rs"],
];

/// The same of what users write, in the tiles of Triton's tutorials: of these a spill is a number like the others, as code for arguments
/// that keep nothing has more to hold than a thread has registers.
const USERS: &[&[&str]] = &[
    &["tools/benchmarks/src/users/attention.rs"],
    &["triton-kernels/src/functions/philox.rs", "tools/benchmarks/src/users/elementwise.rs"],
    &["tools/benchmarks/src/users/layer_norm.rs"],
    &["tools/benchmarks/src/users/mixed.rs"],
    &["tools/benchmarks/src/users/persistent.rs"],
    &["tools/benchmarks/src/users/products.rs"],
    &["tools/benchmarks/src/users/rows.rs"],
    &["tools/benchmarks/src/users/scans.rs"],
];

const RECORD: &str = "tests/corpus/counts/counts.txt";

/// Without it every image is assembled.
const HASHES: &str = "tests/corpus/counts/hashes.txt";

/// Counts the images whose line of the record begins with `part`: all of them for an empty one.
pub fn counts(part: &str) -> Outcome {
    let Some(ptxas) = PTXAS.require("counts")? else { return Ok(()) };
    let Some(nvdisasm) = NVDISASM.require("counts")? else { return Ok(()) };
    let assembler = output(Command::new(&ptxas).arg("--version"))?;
    let (lines, hashes) = (read(RECORD), read(HASHES));
    let known = Known { assembler, lines: entries(&lines), hashes: entries(&hashes) };
    let tools = Tools { ptxas, nvdisasm, scratch: Scratch::new("counts")?, known };
    let subjects = subjects(part)?;
    let pairs = |index: usize| architectures(subjects[index].image.target).into_iter().map(move |arch| (index, arch));
    let jobs: Vec<(usize, &str)> = (0..subjects.len()).flat_map(pairs).collect();
    let found = all(parallel::map(&jobs, |&(index, arch)| tools.count(index, &subjects[index], arch)))?;
    let mut failures = faults(&found);
    if part.is_empty() && failures.is_empty() && std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        let text: String = found.iter().map(|line| format!("{}: {}\n", line.key, line.numbers)).collect();
        write(RECORD, &text)?;
        let hashes: String = found.iter().map(|line| format!("{}: {}\n", line.key, line.hash)).collect();
        return write(HASHES, &hashes);
    }
    let recorded: String =
        lines.lines().filter(|line| line.starts_with(part)).map(|line| format!("{line}\n")).collect();
    let changes = changes(&recorded, &found);
    if !changes.is_empty() {
        failures.push(format!("{} lines differ from {RECORD}; BLESS=1 renews it:", changes.len()));
        failures.extend(changes);
    }
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let assembled = found.iter().filter(|line| line.assembled).count();
    println!(
        "counts: {} images, {} lines, are as recorded, and none of ours spills; {assembled} lines were assembled, the PTX of the others is known",
        subjects.len(),
        jobs.len()
    );
    Ok(())
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_default()
}

fn write(file: &str, text: &str) -> Outcome {
    let path = root().join(file);
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Lines `key: value`.
fn entries(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(": "));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// What is recorded.
struct Known {
    /// What the assembler says of its version.
    assembler: String,
    lines: BTreeMap<String, String>,
    hashes: BTreeMap<String, String>,
}

impl Known {
    /// A hash of an image's text for an architecture and of its line, as this assembler makes it.
    fn hash(&self, text: &str, numbers: &str) -> String {
        let all =
            code_lines(text).chain([numbers, self.assembler.as_str()]).flat_map(|line| line.bytes().chain([b'\n']));
        format!("{:016x}", fnv1a(all))
    }

    /// The recorded line of a text that is assembled for an architecture.
    fn line(&self, key: &str, text: &str) -> Option<&str> {
        let (numbers, hash) = (self.lines.get(key)?, self.hashes.get(key)?);
        (self.hash(text, numbers) == *hash).then_some(numbers)
    }
}

/// An image and its name: `softmax::<4096> divisible16`.
struct Subject {
    name: String,
    image: Image,
    /// Whether it is of [`USERS`].
    may_spill: bool,
}

/// A line of the record.
struct Line {
    /// `softmax::<4096> divisible16 sm_90a`.
    key: String,
    /// Bytes that are stored to and loaded from local memory, of an image that may not.
    spilled: u32,
    /// Instructions that the innermost loop should not have.
    stalls: Vec<String>,
    /// What stands after the key.
    numbers: String,
    /// What stands after the key in `hashes.txt`.
    hash: String,
    /// Whether it was assembled, and not found in the record.
    assembled: bool,
}

/// Every image of every kernel whose name and images begin with `part`.
fn subjects(part: &str) -> Outcome<Vec<Subject>> {
    let files = [SOURCES, USERS].concat();
    let found = all(parallel::map(&files, |files| kernels(files)))?;
    let ours = found[..SOURCES.len()].iter().map(Vec::len).sum();
    let kernels: Vec<Kernel> = found.into_iter().flatten().collect();
    let is_named = |kernel: &Kernel| {
        let name = name(kernel, &kernels);
        name.starts_with(part) || part.starts_with(&name)
    };
    let named: Vec<(usize, &Kernel)> = kernels.iter().enumerate().filter(|(_, kernel)| is_named(kernel)).collect();
    let compiled =
        parallel::map(&named, |&(index, kernel)| Ok((name(kernel, &kernels), index >= ours, images(&kernel.ir)?)));
    let mut subjects: Vec<Subject> = Vec::new();
    for (name, may_spill, images) in all(compiled)? {
        if subjects.iter().any(|subject| subject.name.starts_with(&format!("{name} "))) {
            return Err(format!("two kernels of {} are `{name}`", files.concat().join(" and ")));
        }
        let named = |image: Image| {
            // What a device runs alone has a line of its own beside that of the general code.
            let native = if image.target.info().exact { " native" } else { "" };
            let programs = image.programs.suffix();
            let name = format!("{name} {}{native}{programs}", image.assumptions());
            Subject { name, image, may_spill }
        };
        // Code of one architecture alone is written for views that TMA can read; what it is for others is never compared.
        let counts = |image: &Image| !image.target.info().exact || image.specialization >= Specialization::Aligned16;
        subjects.extend(images.into_iter().filter(counts).map(named));
    }
    subjects.retain(|subject| subject.name.starts_with(part));
    Ok(subjects)
}

/// The kernels of files that call one another, taken as one.
fn kernels(files: &[&str]) -> Outcome<Vec<Kernel>> {
    let mut all = String::new();
    for file in files {
        let path = root().join(file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        // The documentation of a file stands at its beginning alone.
        text.lines().filter(|line| !line.starts_with("//!")).for_each(|line| all.extend([line, "\n"]));
    }
    let files = files.join(" and ");
    let expansion = expand(&all).map_err(|e| format!("{files}: {e}"))?;
    let errors = expansion.messages.iter().filter(|message| !message.text.starts_with("warning"));
    let errors: Vec<String> = errors.map(|e| format!("{files}: {}", e.text)).collect();
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
    known: Known,
}

impl Tools {
    /// The line of an image, whose number names its files.
    fn count(&self, index: usize, subject: &Subject, arch: &str) -> Outcome<Line> {
        let key = format!("{} {arch}", subject.name);
        let failure = |error: String| format!("{key}: {error}");
        let text = subject.image.text();
        if let Some(numbers) = self.known.line(&key, &text) {
            // No line with a fault is ever recorded.
            let (numbers, hash) = (numbers.to_owned(), self.known.hash(&text, numbers));
            return Ok(Line { key, spilled: 0, stalls: Vec::new(), numbers, hash, assembled: false });
        }
        let ptx = self.scratch.write(&format!("{index}.{arch}.ptx"), &text)?;
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
        let hash = self.known.hash(&text, &numbers);
        let (mut spilled, mut stalls) = (spilled, stalls);
        if subject.may_spill {
            spilled = 0;
            stalls.retain(|stall| !stall.starts_with("LDL") && !stall.starts_with("STL"));
        }
        Ok(Line { key, spilled, stalls, numbers, hash, assembled: true })
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

#[cfg(test)]
mod tests {
    use super::{Known, Line, changes, entries, faults};

    fn line(key: &str, numbers: &str) -> Line {
        let (key, numbers) = (key.into(), numbers.into());
        Line { key, spilled: 0, stalls: Vec::new(), numbers, hash: String::new(), assembled: true }
    }

    #[test]
    fn spills_and_stalls_are_failures() {
        let mut lines = [line("a", ""), line("b", ""), line("c", "")];
        lines[1].spilled = 8;
        lines[2].stalls = vec!["MEMBAR.ALL.GPU".into(), "ERRBAR".into()];
        assert_eq!(faults(&lines), ["b spills 8 bytes", "c has MEMBAR.ALL.GPU, ERRBAR in its innermost loop"]);
    }

    #[test]
    fn changes_have_the_old_and_the_new_line() {
        let lines = [line("a", "1"), line("b", "2"), line("c", "3")];
        assert_eq!(changes("a: 1\nb: 2\nc: 3\n", &lines), [] as [&str; 0]);
        let changed = changes("a: 1\nb: 4\nd: 5\n", &lines);
        assert_eq!(changed, ["b\n    old: 4\n    new: 2", "c\n    new: 3", "d\n    old: 5"]);
    }

    #[test]
    fn a_recorded_line_is_that_of_the_text_the_numbers_and_the_assembler() {
        let text = "\tadd\n\t.loc 1 2 3\n\tret\n";
        let mut known = Known { assembler: "13.0".into(), lines: entries("a: 1 register\n"), hashes: entries("") };
        assert_eq!(known.line("a", text), None);
        let hash = known.hash(text, "1 register");
        known.hashes.insert("a".into(), hash);
        assert_eq!(known.line("a", text), Some("1 register"));
        assert_eq!(known.line("a", "\tadd\n\t.loc 1 9 9\n\tret\n"), Some("1 register"), "lines are not code");
        assert_eq!(known.line("a", "\tsub\n\tret\n"), None);
        known.lines.insert("a".into(), "2 registers".into());
        assert_eq!(known.line("a", text), None, "a line that was edited");
        known.lines.insert("a".into(), "1 register".into());
        known.assembler = "13.1".into();
        assert_eq!(known.line("a", text), None);
    }
}
