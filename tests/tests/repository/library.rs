//! Each operation of the library has cases against a reference, a row among the declared ones, its gradient, and a row in the book.

use super::tidy::{report, sources};
use std::collections::BTreeSet;

/// Operations whose builders are written by hand: their operands are not views of one type. They check their extents themselves.
const BY_HAND: &[&str] = &["gemm", "gemm_batched", "gemv", "linear_backward", "contract"];

/// The public functions of the library that return builders, by the attribute or by hand.
fn operations() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, text) in sources() {
        let Some(file) = path.strip_prefix("triton-kernels/src/") else { continue };
        if ["functions/", "operation/", "select/"].iter().any(|of| file.starts_with(of)) || !text.contains("operation(")
        {
            continue;
        }
        for after in text.split("\npub fn ").skip(1) {
            let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let head = after.split('{').next().unwrap_or_default();
            if head.contains("call: Call") || head.contains("impl IntoView") {
                names.insert(name);
            }
        }
    }
    names.extend(BY_HAND.iter().map(ToString::to_string));
    names
}

/// The documentation of an operation.
fn documentation(name: &str) -> String {
    let is_before = |line: &&str| line.starts_with("///") || line.starts_with('#');
    let of = |text: &str| {
        let at = [format!("\npub fn {name}<"), format!("\npub fn {name}(")].iter().find_map(|head| text.find(head))?;
        let lines: Vec<&str> = text[..at].lines().rev().take_while(is_before).collect();
        Some(lines.join("\n"))
    };
    let library = sources().into_iter().filter(|(path, _)| path.starts_with("triton-kernels/src/"));
    library.filter_map(|(_, text)| of(&text)).collect()
}

/// Whether a text calls a function of this name.
fn calls(text: &str, name: &str) -> bool {
    let before = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| before(at) && text[at + name.len()..].starts_with(['(', ':']))
}

#[test]
fn every_operation_of_the_library_has_its_tests_and_its_row() {
    let all = sources();
    let cases = || all.iter().filter_map(|(path, text)| Some((path.strip_prefix("tests/tests/library/")?, text)));
    let text_of =
        |file: &str| cases().find(|(path, _)| *path == file).map(|(_, text)| text.as_str()).unwrap_or_default();
    let declared = text_of("declared.rs");
    let book = include_str!("../../../docs/src/library.md");
    let operations = operations();
    let mut failures = Vec::new();
    if operations.len() < 40 {
        failures.push(format!("{} operations are found: the test looks in the wrong place", operations.len()));
    }
    for name in &operations {
        let against = cases().any(|(path, text)| {
            !["declared.rs", "graphs/"].iter().any(|of| path.starts_with(of))
                && calls(text, name)
                && text.contains("reference")
        });
        if !against {
            failures.push(format!("`{name}` has no case against a reference in tests/tests/library"));
        }
        let is_subject = cases().any(|(_, text)| {
            text.split("subject!(").skip(1).any(|row| row.trim_start().starts_with(&format!("\"{name}\"")))
        });
        if !BY_HAND.contains(&name.as_str()) && !is_subject && !declared.contains(&format!("\"{name}\"")) {
            failures.push(format!("`{name}` has no `subject!` in tests/tests/library"));
        }
        if !is_subject && !cases().any(|(path, text)| path.starts_with("graphs/") && calls(text, name)) {
            failures.push(format!("`{name}` has no `subject!` and no form in tests/tests/library/graphs"));
        }
        if !book.contains(&format!("`{name}`")) {
            failures.push(format!("`{name}` has no row in docs/src/library.md"));
        }
        let gradient = operations.contains(&format!("{name}_backward"));
        if !name.contains("_backward") && !gradient && !documentation(name).contains("Its gradient: ") {
            failures.push(format!(
                "`{name}` has no `{name}_backward`, and its documentation does not say `Its gradient: ..`"
            ));
        }
    }
    report(failures);
}
