//! `reproduce`: the same crate, built in two folders, embeds the same bytes of PTX and IR.

use crate::{Outcome, output, root};
use std::path::Path;
use std::process::Command;

/// The program that prints everything its kernels embed.
const CRATE: &str = "tests/crates/stranger";

pub fn reproduce() -> Outcome {
    let work = root().join("target/reproduce");
    let mut printed = Vec::new();
    for name in ["one", "another-folder/deeper"] {
        let dir = work.join(name);
        copy(&root().join(CRATE), &dir)?;
        // The copy finds the façade where the original did.
        let manifest = dir.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
        let text = text.replace("path = \"../../..\"", &format!("path = {:?}", root().display().to_string()));
        std::fs::write(&manifest, text).map_err(|e| format!("{}: {e}", manifest.display()))?;
        // The façade is not built twice: it is the kernels that stand in two folders.
        let target = root().join("target/crates");
        let mut run = Command::new(env!("CARGO"));
        run.args(["run", "--quiet", "--", "--dump"]).current_dir(&dir).env("CARGO_TARGET_DIR", target);
        printed.push(output(&mut run)?);
    }
    match &printed[..] {
        [first, second] if first == second && first.contains(".entry") => {
            println!("reproduce: {} bytes of PTX and IR are the same from two folders", first.len());
            Ok(())
        }
        [first, _] if !first.contains(".entry") => Err("the crate printed no PTX".into()),
        _ => Err("two folders gave different PTX or IR".into()),
    }
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let failed = |e: std::io::Error| format!("{} to {}: {e}", from.display(), to.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name() == "target" {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            std::fs::copy(&source, &target).map_err(failed)?;
        }
    }
    Ok(())
}
