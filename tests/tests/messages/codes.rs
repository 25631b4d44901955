//! Messages with a code, as annotations of the kernels that they are about: `tests/messages/codes`.

use super::{files, stem, text};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use triton_core::diag::Code;
use triton_tests::annotate::{annotate, annotated, messages};
use triton_tests::expand::Message;
use triton_tests::parallel;

fn name(case: &Path) -> String {
    format!("{}.rs", stem(case))
}

/// A case: its path, its text and its messages.
type Case = (PathBuf, String, Vec<Message>);

/// All cases, read once.
fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let read = |case: &PathBuf| {
            let found = messages(&text(case), &name(case)).unwrap_or_else(|e| panic!("{}: {e}", case.display()));
            (case.clone(), text(case), found)
        };
        parallel::map(&files("codes", "rs"), read)
    })
}

#[test]
fn annotations_are_as_expected() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let check = |(case, found, messages): &Case| {
        let (expected, shown) = (annotated(found, messages), case.display());
        if bless && expected != *found {
            // Notes name lines, which annotations shift.
            let settled = annotate(found, &name(case)).unwrap_or_else(|error| panic!("{shown}: {error}"));
            std::fs::write(case, settled).expect("the case is written");
            return None;
        }
        let differs = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
        let differs =
            differs.map(|(made, stands)| format!("{shown}: BLESS=1 renews it\n  made:   {made}\n  stands: {stands}"));
        differs.or_else(|| (expected != *found).then(|| format!("{shown}: BLESS=1 renews it")))
    };
    let failures: Vec<String> = parallel::map(cases(), check).into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let cases = files("codes", "rs").into_iter().chain(files("fail", "rs")).collect::<Vec<_>>();
    let names: Vec<_> = cases.iter().map(|path| stem(path)).collect();
    // A mistake of the compiler has no kernel that shows it.
    let missing = Code::ALL.iter().filter(|code| !matches!(code, Code::T0199)).map(|code| code.name());
    let missing: Vec<_> = missing.filter(|code| !names.iter().any(|n| n.starts_with(&code.to_lowercase()))).collect();
    assert!(missing.is_empty(), "no case in tests/messages/codes for {missing:?}");
    // A case is named after the code that it shows.
    for path in files("codes", "rs") {
        let code = stem(&path).split('_').next().unwrap_or_default().to_uppercase();
        if Code::ALL.iter().any(|known| known.name() == code) {
            assert!(text(&path).contains(&format!("[{code}]")), "{} does not show {code}", path.display());
        }
    }
}

/// An error is about a line that calls each function of the language.
#[test]
fn every_function_has_a_case() {
    let mut shown = String::new();
    for (_, text, messages) in cases() {
        for message in messages {
            let ((first, _), (last, _)) = (message.start, message.end);
            shown.extend(text.lines().skip(first - 1).take(last + 1 - first).flat_map(|line| [line, "\n"]));
        }
    }
    let called = |name: &str| {
        ["(", "::<"].iter().any(|open| {
            // Not the end of another name.
            let part = |c: char| c.is_alphanumeric() || c == '_';
            shown.match_indices(&format!("{name}{open}")).any(|(at, _)| !shown[..at].ends_with(part))
        })
    };
    let missing: Vec<_> = triton_core::sema::BUILTINS.iter().map(|b| b.name).filter(|name| !called(name)).collect();
    assert!(missing.is_empty(), "no case in tests/messages/codes shows an error at {missing:?}");
}

/// What users of Triton or Rust type: there is exactly one error on a line, and it says how to fix it.
#[test]
fn every_mistake_has_one_error_and_a_help() {
    let (mut count, mut failures) = (0, Vec::new());
    for (case, _, found) in cases().iter().filter(|(path, ..)| stem(path).starts_with("mistakes_")) {
        count += found.len();
        for message in found {
            let shown = format!("{}:{}", case.display(), message.start.0);
            if found.iter().filter(|other| other.start.0 == message.start.0).count() > 1 {
                failures.push(format!("{shown}: more than one error"));
            }
            if !message.text.contains("help: ") {
                failures.push(format!("{shown}: no help"));
            }
        }
    }
    assert!(count >= 200, "only {count} mistakes");
    assert!(failures.is_empty(), "of {count} mistakes:\n{}", failures.join("\n"));
}
