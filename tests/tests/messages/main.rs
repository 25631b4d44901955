//! Every message a user can meet at `cargo build`.
//!
//! `codes` has those with a code of ours, and needs no rustc; `rustc` has those that rustc has a part in, and is for one version
//! of it.

mod codes;
mod rustc;

use std::path::{Path, PathBuf};

/// The files of a folder of `tests/messages` that have this extension.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = triton_tests::root().join("tests/messages").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    paths
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("an expected text")
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

#[test]
fn no_message_shows_the_inside() {
    let inside = [
        "triton_ir",
        "triton_core",
        "triton_macros",
        "triton_syntax",
        "proc_macro",
        "__private",
        "Diagnostic",
        "panicked",
        "lang::op",
        "the_kernel_",
        "was_compiled_for",
        "E0080",
    ];
    for path in files("fail", "stderr").into_iter().chain(files("codes", "rs")) {
        for line in text(&path).lines() {
            // The net that catches what neither the compiler nor rustc reports speaks through const evaluation.
            let line = line.replace("evaluation panicked:", "");
            let found = inside.iter().find(|name| line.contains(**name));
            assert!(found.is_none(), "{} shows {found:?}: {line}", path.display());
        }
    }
}
