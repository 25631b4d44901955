//! `validate`: every PTX snapshot goes through the vendor's assembler, and every image of the cases that have them.
//!
//! `ptxas` is looked for in `$PTXAS`, then on the path. Where `CI` is set its absence is a failure; elsewhere the check says
//! that it was skipped. Registers and spills of each snapshot are recorded in the file `resources.txt` of its folder, so that
//! a regression is a difference; `BLESS=1` renews the record.

use crate::{Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use triton_core::ir::parse::parse;
use triton_core::metadata::Specialization;
use triton_core::passes;

/// Devices that every snapshot for `sm_80` must assemble for.
const ARCHITECTURES: &[&str] = &["sm_80", "sm_90a"];

pub fn validate() -> Outcome {
    let Some(ptxas) = find() else {
        if std::env::var_os("CI").is_some() {
            return Err("ptxas is neither in $PTXAS nor on the path".into());
        }
        println!("validate: skipped, ptxas is neither in $PTXAS nor on the path");
        return Ok(());
    };
    let lowered = files("tests/corpus/lower", "ptx")?;
    let snapshots = lowered.iter().map(|path| Ok((name(path), read(path)?))).collect::<Outcome<Vec<_>>>()?;
    validate_folder(&ptxas, "tests/corpus/lower", &snapshots)?;
    // Of most images the corpus has only what differs from the first: they are made again.
    let mut snapshots = Vec::new();
    for case in files("tests/corpus/ptx", "tir")? {
        let mut func = parse(&read(&case)?).map_err(|e| e.to_string())?;
        passes::run(passes::OPTIMISE, &mut func, Specialization::Generic)?;
        for image in triton_core::images(&func).map_err(|e| e.to_string())? {
            let extension = format!("{}.{}.ptx", image.target.name(), image.specialization.name());
            snapshots.push((name(&case.with_extension(extension)), image.text().to_owned()));
        }
    }
    snapshots.sort();
    validate_folder(&ptxas, "tests/corpus/ptx", &snapshots)
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
fn validate_folder(ptxas: &Path, folder: &str, snapshots: &[(String, String)]) -> Outcome {
    let temporary = std::env::temp_dir().join(format!("triton-validate-{}", std::process::id()));
    std::fs::create_dir_all(&temporary).map_err(|e| format!("{}: {e}", temporary.display()))?;
    let (mut record, mut failures) = (String::new(), Vec::new());
    for (name, text) in snapshots {
        let file = temporary.join(name);
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        for arch in ARCHITECTURES {
            match assemble(ptxas, &file, arch) {
                Ok(resources) => record += &format!("{name} on {arch}: {resources}\n"),
                Err(error) => failures.push(error),
            }
        }
    }
    let _ = std::fs::remove_dir_all(&temporary);
    if !failures.is_empty() {
        let (failed, all) = (failures.len(), 2 * snapshots.len());
        return Err(format!("{failed} of {all} assemblies failed:\n{}", failures.join("\n")));
    }
    compare(&root().join(folder).join("resources.txt"), &record)?;
    let (count, devices) = (snapshots.len(), ARCHITECTURES.join(" and "));
    println!("validate: {count} images of {folder} assembled for {devices}");
    Ok(())
}

fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PTXAS") {
        return Some(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("ptxas")).find(|candidate| candidate.is_file())
}

/// `40 registers, 0 bytes spilled`.
fn assemble(ptxas: &Path, snapshot: &Path, arch: &str) -> Result<String, String> {
    let run = Command::new(ptxas)
        .args(["-v", "-arch", arch, "-o", "/dev/null"])
        .arg(snapshot)
        .output()
        .map_err(|e| format!("{}: {e}", ptxas.display()))?;
    let log = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() {
        return Err(format!("{} on {arch}:\n{log}", snapshot.display()));
    }
    let number_before = |word: &str| {
        let words: Vec<&str> = log.split_whitespace().collect();
        let at = words.iter().position(|w| w.trim_end_matches(',') == word)?;
        words.get(at.checked_sub(1)?).map(|n| n.to_string())
    };
    let registers = number_before("registers").unwrap_or_else(|| "?".into());
    let spilled = log.lines().find(|l| l.contains("spill stores")).map_or("0".into(), |line| {
        line.split(',')
            .find(|part| part.contains("spill stores"))
            .map_or("?", |p| p.trim())
            .split(' ')
            .next()
            .unwrap_or("?")
            .to_string()
    });
    Ok(format!("{registers} registers, {spilled} bytes spilled"))
}

fn compare(file: &Path, record: &str) -> Outcome {
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        return std::fs::write(file, record).map_err(|e| format!("{}: {e}", file.display()));
    }
    let known = std::fs::read_to_string(file).unwrap_or_default();
    let changed: Vec<&str> = record.lines().filter(|line| !known.lines().any(|k| k == *line)).collect();
    if changed.is_empty() && known.lines().count() == record.lines().count() {
        return Ok(());
    }
    Err(format!("registers or spills differ from {}; BLESS=1 renews it:\n{}", file.display(), changed.join("\n")))
}
