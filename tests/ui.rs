//! Every message a user can meet at `cargo build`: cases under `tests/ui`, with the expected text beside them.
//!
//! `TRYBUILD=overwrite cargo test --test ui` renews the expected texts.

use std::path::{Path, PathBuf};
use triton_core::diag::Code;

#[test]
fn messages_are_as_expected() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn every_code_has_a_case() {
    let cases = files("rs");
    let names: Vec<_> = cases.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    // A mistake of the compiler has no kernel that shows it.
    let missing = Code::ALL.iter().filter(|code| **code != Code::T0199).map(|code| code.name());
    let missing: Vec<_> = missing.filter(|code| !names.iter().any(|n| n.starts_with(&code.to_lowercase()))).collect();
    assert!(missing.is_empty(), "no case in tests/ui/fail for {missing:?}");
    // A case is named after the code that its expected text shows.
    for path in files("stderr") {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_uppercase();
        let code = name.split('_').next().unwrap_or_default();
        if Code::ALL.iter().any(|known| known.name() == code) {
            assert!(text(&path).contains(&format!("[{code}]")), "{} does not show {code}", path.display());
        }
    }
}

#[test]
fn no_message_shows_the_inside() {
    let inside = ["triton_core", "triton_macros", "triton_syntax", "proc_macro", "__private", "Diagnostic", "panicked"];
    for path in files("stderr") {
        for line in text(&path).lines() {
            // The net that catches what neither the compiler nor rustc reports speaks through const evaluation.
            let line = line.replace("evaluation panicked:", "");
            let found = inside.iter().find(|name| line.contains(**name));
            assert!(found.is_none(), "{} shows {found:?}: {line}", path.display());
        }
    }
}

/// An error points at a call of each function of the language.
#[test]
fn every_function_has_a_case() {
    let shown: String = files("stderr").iter().map(|path| text(path)).collect();
    let called = |name: &str| {
        ["(", "::<"].iter().any(|open| {
            let call = format!("{name}{open}");
            // Not the end of another name, and no help that says how to write it.
            shown.lines().filter(|line| line.contains(" | ")).any(|line| {
                line.match_indices(&call)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            })
        })
    };
    let missing: Vec<_> = triton_core::sema::BUILTINS.iter().map(|b| b.name).filter(|name| !called(name)).collect();
    assert!(missing.is_empty(), "no case in tests/ui/fail shows an error at {missing:?}");
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui/fail");
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    paths
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("an expected text")
}
