//! `validate`: every PTX snapshot goes through the vendor's assembler.
//!
//! `ptxas` is looked for in `$PTXAS`, then on the path. Where `CI` is set its absence is a failure; elsewhere the check says
//! that it was skipped. Registers and spills of each snapshot are recorded in the file `resources.txt` of its folder, so that
//! a regression is a difference; `BLESS=1` renews the record.

use crate::{Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where snapshots are.
const FOLDERS: &[&str] = &["tests/corpus/ptx", "tests/corpus/lower"];

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
    for folder in FOLDERS {
        validate_folder(&ptxas, folder)?;
    }
    Ok(())
}

fn validate_folder(ptxas: &Path, name: &str) -> Outcome {
    let folder = root().join(name);
    let mut snapshots: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    snapshots.sort();
    let (mut record, mut failures) = (String::new(), Vec::new());
    for snapshot in &snapshots {
        for arch in ARCHITECTURES {
            match assemble(ptxas, snapshot, arch) {
                Ok(resources) => {
                    let name = snapshot.file_name().unwrap_or_default().to_string_lossy();
                    record += &format!("{name} on {arch}: {resources}\n");
                }
                Err(error) => failures.push(error),
            }
        }
    }
    if !failures.is_empty() {
        return Err(format!(
            "{} of {} assemblies failed:\n{}",
            failures.len(),
            2 * snapshots.len(),
            failures.join("\n")
        ));
    }
    compare(&folder.join("resources.txt"), &record)?;
    let (count, devices) = (snapshots.len(), ARCHITECTURES.join(" and "));
    println!("validate: {count} snapshots of {name} assembled for {devices}");
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
