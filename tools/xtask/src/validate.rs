//! `validate`: every PTX snapshot goes through the vendor's assembler, and every image of the cases that have them.
//!
//! Registers and spills of each snapshot are recorded in the file `resources.txt` of its folder, so that
//! a regression is a difference; `BLESS=1` renews the record. Of functions that are inlined, the file `lines.txt` records
//! which lines the disassembler then gives to the instructions of the images for every launch.

use crate::assembler::{NVDISASM, PTXAS, Scratch, architectures, assemble, images};
use crate::{Outcome, output, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use triton_core::metadata::Target;

pub fn validate() -> Outcome {
    let Some(ptxas) = PTXAS.require("validate")? else { return Ok(()) };
    let lowered = files("tests/corpus/lower", "ptx")?;
    let snapshots =
        lowered.iter().map(|path| Ok((name(path), read(path)?, Target::LEAST))).collect::<Outcome<Vec<_>>>()?;
    validate_folder(&ptxas, "tests/corpus/lower", &snapshots)?;
    // Of most images the corpus has only what differs from the first: they are made again.
    let mut snapshots = Vec::new();
    for case in files("tests/corpus/ptx", "tir")? {
        for image in images(&read(&case)?)? {
            let extension = format!("{}.{}.ptx", image.target.name(), image.assumptions());
            snapshots.push((name(&case.with_extension(extension)), image.text().into_owned(), image.target));
        }
    }
    snapshots.sort_by(|a, b| a.0.cmp(&b.0));
    validate_folder(&ptxas, "tests/corpus/ptx", &snapshots)?;
    let Some(nvdisasm) = NVDISASM.require("validate")? else { return Ok(()) };
    snapshots.retain(|(name, text, _)| name.ends_with(".generic.ptx") && text.contains("inlined_at"));
    validate_lines([&ptxas, &nvdisasm], "tests/corpus/ptx", &snapshots)
}

fn files(folder: &str, extension: &str) -> Outcome<Vec<PathBuf>> {
    let folder = root().join(folder);
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Assembles the texts, and compares with the record of the folder.
fn validate_folder(ptxas: &Path, folder: &str, snapshots: &[(String, String, Target)]) -> Outcome {
    let scratch = Scratch::new("validate")?;
    let (mut record, mut failures, mut all) = (String::new(), Vec::new(), 0);
    for (name, text, target) in snapshots {
        let file = scratch.write(name, text)?;
        for arch in architectures(*target) {
            all += 1;
            match assemble(ptxas, &file, arch, Path::new("/dev/null")) {
                Ok(found) => {
                    let (registers, spilled) = (found.registers, found.spill_stores);
                    record += &format!("{name} on {arch}: {registers} registers, {spilled} bytes spilled\n");
                }
                Err(error) => failures.push(error),
            }
        }
    }
    if !failures.is_empty() {
        let failed = failures.len();
        return Err(format!("{failed} of {all} assemblies failed:\n{}", failures.join("\n")));
    }
    compare(&root().join(folder).join("resources.txt"), &record)?;
    println!("validate: {} images of {folder} assembled, {all} times", snapshots.len());
    Ok(())
}

/// Assembles the texts with line tables, and compares the lines and calls of instructions with the record of the folder.
fn validate_lines([ptxas, nvdisasm]: [&Path; 2], folder: &str, snapshots: &[(String, String, Target)]) -> Outcome {
    let scratch = Scratch::new("validate-lines")?;
    let mut record = String::new();
    for (name, text, target) in snapshots {
        let (ptx, cubin) = (scratch.write(name, text)?, scratch.file("cubin"));
        for arch in architectures(*target) {
            output(Command::new(ptxas).args(["-lineinfo", "-arch", arch, "-o"]).args([&cubin, &ptx]))?;
            let listing = output(Command::new(nvdisasm).args(["-gi", "-c"]).arg(&cubin))?;
            record += &format!("{name} on {arch}:\n");
            record.extend(listing.lines().filter_map(|line| Some(format!("{}\n", line.trim().strip_prefix("//## ")?))));
        }
    }
    compare(&root().join(folder).join("lines.txt"), &record)?;
    println!("validate: the lines of inlined functions of {folder} are as recorded");
    Ok(())
}

fn compare(file: &Path, record: &str) -> Outcome {
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        return std::fs::write(file, record).map_err(|e| format!("{}: {e}", file.display()));
    }
    let known = std::fs::read_to_string(file).unwrap_or_default();
    if known == record {
        return Ok(());
    }
    let changed: Vec<&str> = record.lines().filter(|line| !known.lines().any(|k| k == *line)).collect();
    Err(format!("what was found differs from {}; BLESS=1 renews it:\n{}", file.display(), changed.join("\n")))
}
