//! The book in `docs/` and README.md: no page is forgotten, links lead somewhere, and what is shown of messages and code is
//! what the compiler says today. `cargo test --doc` runs the programs.
//!
//! `BLESS=1 cargo test -p triton-tests --test repository` renews what is generated.

#[path = "book/errors.rs"]
mod errors;
#[path = "book/output.rs"]
mod output;
#[path = "book/speed.rs"]
mod speed;

use super::tidy;
use std::path::{Path, PathBuf};
use triton_tests::corpus::difference;

fn folder() -> PathBuf {
    triton_tests::root().join("docs/src")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the Markdown files in a folder, without `.md`, in order.
fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("a folder of the book").flatten();
    let names = files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The names of the pages, without `.md`: `masks`, `errors/t0101`.
fn pages() -> Vec<String> {
    let codes = names(&folder().join("errors")).into_iter().map(|name| format!("errors/{name}"));
    let mut pages: Vec<String> = names(&folder()).into_iter().filter(|name| name != "SUMMARY").chain(codes).collect();
    pages.sort();
    pages
}

/// The pages and README.md, each with its name, its file and its text.
fn files() -> Vec<(String, PathBuf, String)> {
    let readme = triton_tests::root().join("README.md");
    let pages = pages().into_iter().map(|page| (folder().join(format!("{page}.md")), page));
    let files = pages.chain([(readme, "README".to_owned())]);
    files.map(|(path, name)| (name, path.clone(), text(&path))).collect()
}

/// Compares a page with what it should be, or renews it.
fn compare(page: &str, expected: &str) {
    let path = folder().join(page);
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found == expected {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, expected).expect("the page can be written");
        return;
    }
    panic!(
        "docs/src/{page} is not current; BLESS=1 cargo test -p triton-tests --test repository renews it\n{}",
        difference(expected, &found)
    );
}

#[test]
fn every_page_is_listed_and_run() {
    let summary = text(&folder().join("SUMMARY.md"));
    let listed = summary.split("](").skip(1).filter_map(|rest| rest.split(".md)").next());
    let mut listed: Vec<String> = listed.map(str::to_owned).collect();
    listed.sort();
    assert_eq!(pages(), listed, "the pages, and those in SUMMARY.md");

    let source = text(&triton_tests::root().join("tests/src/book.rs"));
    let mut run: Vec<String> = Vec::new();
    for list in source.split("\npages! {").skip(1) {
        let (list, _) = list.split_once("\n}").expect("the end of a list of pages in tests/src/book.rs");
        let (folder, names) = list.split_once("\":").expect("the folder of a list of pages");
        let (_, folder) = folder.split_once("../docs/src/").expect("a folder of the book");
        run.extend(names.split_whitespace().map(|name| format!("{folder}{name}")));
    }
    // Those of the library, of the tuner and of candle have their programs run there, as the façade does not depend on these crates.
    for user in ["triton-kernels/src/lib.rs", "triton-tune/src/lib.rs", "bridges/triton-candle/src/lib.rs"] {
        let source = text(&triton_tests::root().join(user));
        let included = source.split("../docs/src/").skip(1).filter_map(|rest| rest.split(".md\")").next());
        run.extend(included.map(str::to_owned));
    }
    run.sort();
    assert_eq!(
        pages(),
        run,
        "the pages, and those in tests/src/book.rs and in the lib.rs of the library, the tuner and candle's bridge"
    );
}

/// The text without blocks and spans of code.
fn prose(text: &str) -> String {
    let outside = format!("\n{text}");
    let outside: String = outside.split("\n```").step_by(2).collect();
    outside.split('`').step_by(2).collect()
}

#[test]
fn links_lead_to_files() {
    // The pages of errors lead from where the book has them, not from where their copies are.
    let copied = |path: &str| path.starts_with("tools/cargo-triton/src/errors/");
    for (name, text) in tidy::files("md").into_iter().filter(|(path, _)| !copied(path)) {
        let path = triton_tests::root().join(&name);
        let folder = path.parent().expect("a file is in a folder");
        for link in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let inside = target.is_empty() || target.contains("://");
            assert!(inside || folder.join(target).exists(), "{name}: `{link}` leads nowhere");
        }
    }
}

/// A block without a language would be run by rustdoc and shown without colours by mdBook; one that is not run says so by
/// its language.
#[test]
fn programs_are_run() {
    // Pages without a kernel of ours.
    let without = ["cargo_triton", "errors", "errors/t0199", "glossary"];
    for (name, _, text) in files() {
        let fences: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("```")).collect();
        assert!(fences.len().is_multiple_of(2), "{name}.md: a block is open");
        for language in fences.iter().step_by(2) {
            let known = ["rust", "rust,no_run", "text", "toml", "python"].contains(language);
            let fails = name.starts_with("errors/") && *language == "rust,compile_fail";
            assert!(known || fails, "{name}.md: a block of `{language}`");
        }
        assert!(without.contains(&name.as_str()) || fences.contains(&"rust"), "{name}.md has no program");
    }
}
