//! `same REVISION`: every image of every kernel in tests, examples, benchmarks and conformance has the code it had at that revision.
//!
//! Both trees are checked with one target folder, while the attributes write what they compile (`TRITON_DSL_DUMP_DIR`). Nothing is
//! linked or run. Code is compared by instance, config, target and specialization; source locations do not count, and neither does
//! the crate a kernel stands in.

use crate::{Outcome, output, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

pub fn same(revision: &str) -> Outcome {
    let work = root().join("target/same");
    let mut resolve = Command::new("git");
    resolve.args(["rev-parse", "--short=16", revision]).current_dir(root());
    let commit = output(&mut resolve)?.trim().to_owned();
    let before = work.join(&commit);
    if !before.join("complete").exists() {
        let tree = work.join("tree");
        let _ = worktree(&["remove", "--force"], &tree, &[]);
        worktree(&["add", "--detach"], &tree, &[&commit])?;
        let dumped = dump(&tree, &before);
        worktree(&["remove", "--force"], &tree, &[])?;
        dumped?;
        std::fs::write(before.join("complete"), "").map_err(|e| format!("{}: {e}", before.display()))?;
    }
    let after = work.join("now");
    if after.exists() {
        std::fs::remove_dir_all(&after).map_err(|e| format!("{}: {e}", after.display()))?;
    }
    dump(&root(), &after)?;
    let (old, new) = (images(&before)?, images(&after)?);
    let lost: Vec<&str> = old.difference(&new).map(String::as_str).collect();
    if old.is_empty() {
        return Err(format!("{commit} has no images, or its attributes cannot write them"));
    }
    if !lost.is_empty() {
        let (before, after) = (before.display(), after.display());
        return Err(format!(
            "{} of {} images of {commit} are missing or differ; their texts are in {before} and {after}:\n{}",
            lost.len(),
            old.len(),
            lost.join("\n")
        ));
    }
    println!("same: {} images are as at {commit}, {} are new", old.len(), new.len() - old.len());
    Ok(())
}

fn worktree(words: &[&str], tree: &Path, rest: &[&str]) -> Outcome {
    let mut git = Command::new("git");
    git.arg("worktree").args(words).arg(tree).args(rest).current_dir(root());
    output(&mut git).map(drop)
}

/// Checks every target of a tree, so that its attributes write their images to a folder.
fn dump(tree: &Path, folder: &Path) -> Outcome {
    let target = root().join("target/same/build");
    let cargo = |args: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(args).current_dir(tree).env("CARGO_TARGET_DIR", &target).env("TRITON_DSL_DUMP_DIR", folder);
        cargo
    };
    // Cargo would not run the attributes of a package that it finds fresh. And it takes a file of one tree for the other tree's, where its
    // time is before that one's build: so no package of the workspace may stay.
    let metadata = output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let names = packages.filter_map(|package| package["name"].as_str());
    let clean: Vec<&str> = ["clean", "--quiet"].into_iter().chain(names.flat_map(|name| ["--package", name])).collect();
    output(&mut cargo(&clean))?;
    output(&mut cargo(&["check", "--workspace", "--all-targets", "--quiet"])).map(drop)
}

/// The names of the images in a folder: each has the hash of its code.
fn images(folder: &Path) -> Result<BTreeSet<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.ends_with(".ptx")).collect())
}
