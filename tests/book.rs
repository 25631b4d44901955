//! The book in `docs/`: no page is forgotten, links lead somewhere, and the messages and code that it shows are what
//! the compiler prints today. `cargo test --doc` runs the programs.
//!
//! `BLESS=1 cargo test --test book` renews what is generated.

#[path = "book/errors.rs"]
mod errors;
#[path = "book/output.rs"]
mod output;

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the pages, without `.md`.
fn pages() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the folder of the book").flatten();
    let names = files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
    let mut names: Vec<String> = names.filter(|name| name != "SUMMARY").collect();
    names.sort();
    names
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
    let line = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    let show = |text: &str| text.lines().nth(line).unwrap_or("the end").to_owned();
    panic!(
        "docs/src/{page} is not current from line {} on:\n  found    {}\n  expected {}\nBLESS=1 cargo test --test book renews it",
        line + 1,
        show(&found),
        show(expected)
    );
}

#[test]
fn every_page_is_listed_and_run() {
    let summary = text(&folder().join("SUMMARY.md"));
    let listed = summary.split("](").skip(1).filter_map(|rest| rest.split(".md)").next());
    let mut listed: Vec<String> = listed.map(str::to_owned).collect();
    listed.sort();
    assert_eq!(pages(), listed, "the pages, and those in SUMMARY.md");

    let source = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/book.rs"));
    let (_, names) = source.split_once("\npages! {").expect("the list of pages in src/book.rs");
    let mut run: Vec<String> = names.trim_end().trim_end_matches('}').split_whitespace().map(str::to_owned).collect();
    run.sort();
    assert_eq!(pages(), run, "the pages, and those in src/book.rs");
}

#[test]
fn links_lead_to_pages() {
    for page in pages() {
        let text = text(&folder().join(format!("{page}.md")));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let inside = target.is_empty() || target.contains("://");
            assert!(inside || folder().join(target).is_file(), "{page}.md: `{link}` leads nowhere");
        }
    }
}

/// A block without a language would be run by rustdoc and shown without colours by mdBook; one that is not run says so by
/// its language.
#[test]
fn programs_are_run() {
    for page in pages() {
        let text = text(&folder().join(format!("{page}.md")));
        let fences: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("```")).collect();
        assert!(fences.len().is_multiple_of(2), "{page}.md: a block is open");
        for language in fences.iter().step_by(2) {
            // `rs` has the colours of Rust, and is not run: kernels that do not compile.
            let known = ["rust", "text", "toml"].contains(language) || (page == "errors" && *language == "rs");
            assert!(known, "{page}.md: a block of `{language}`");
        }
        let is_list = ["errors", "glossary"].contains(&page.as_str());
        assert!(is_list || fences.contains(&"rust"), "{page}.md has no program");
    }
}
