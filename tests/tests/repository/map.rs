//! The map of the repository: crates and modules name each other as a table says, and files of one folder in one direction.
//!
//! `BLESS=1 cargo test -p triton-tests --test repository` renews what ARCHITECTURE.md shows of the table.

mod source;
mod table;

use super::tidy::{files, report, root};
use source::{Crate, Module, Reference, siblings};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use table::{CORE, CRATES, IR, Row, SYNTAX, USERS};

/// An arrow, and where it comes from.
type Found = BTreeMap<(String, String), String>;

/// The sources of a crate in a folder.
fn sources(folder: &str) -> Crate {
    let folder = format!("{folder}/");
    let files = files("rs");
    Crate::read(files.iter().filter_map(|(path, text)| Some((path.strip_prefix(&folder)?, text.as_str()))))
}

/// Compares what was found with a table: each arrow is in it, each of its arrows was found, and a row names rows before it, or rows of
/// `others`.
fn compare(name: &str, table: &[Row], others: &[&[Row]], found: &Found) {
    let mut failures = Vec::new();
    let mut allowed = BTreeSet::new();
    for (index, (from, named)) in table.iter().enumerate() {
        for to in *named {
            allowed.insert((from.to_string(), to.to_string()));
            if !others.iter().copied().flatten().chain(&table[..index]).any(|(row, _)| row == to) {
                failures.push(format!("{name}: the row of `{from}` names `{to}`, which is not a row that it may name"));
            }
        }
    }
    let unknown = found.iter().filter(|(arrow, _)| !allowed.contains(arrow));
    failures.extend(
        unknown.map(|((from, to), at)| format!("{name}: `{from}` names `{to}`, which is not in the table: {at}")),
    );
    let unused = allowed.iter().filter(|arrow| !found.contains_key(arrow));
    failures
        .extend(unused.map(|(from, to)| format!("{name}: `{from}` does not name `{to}`: remove it from the table")));
    report(failures);
}

/// The crates that a Cargo.toml depends on, except for tests and examples, and its own name.
pub(crate) fn manifest(text: &str) -> (String, Vec<String>) {
    let (mut section, mut name, mut names) = ("", String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.split('.').next().unwrap_or_default().trim();
            let needed = section.ends_with("dependencies]")
                && !section.contains("dev-")
                && section != "[workspace.dependencies]";
            if section == "[package]" && key == "name" {
                name = value.trim().trim_matches('"').to_owned();
            } else if needed {
                names.push(key.to_owned());
            }
        }
    }
    (name, names)
}

/// The Cargo.toml of each crate: its path, and its text.
fn manifests() -> impl Iterator<Item = (String, String)> {
    // Crates of users, which tests build.
    let is_user = |path: &str| path.starts_with("tests/") && path != "tests/Cargo.toml";
    files("toml").into_iter().filter(move |(path, _)| path.ends_with("Cargo.toml") && !is_user(path))
}

/// The folder of the sources of each crate.
fn folders() -> BTreeMap<String, String> {
    manifests().map(|(path, text)| (manifest(&text).0, path.replace("Cargo.toml", "src"))).collect()
}

#[test]
fn crates_depend_as_the_table_says() {
    let mut found = Found::new();
    let mut crates = BTreeSet::new();
    for (path, text) in manifests() {
        let (name, names) = manifest(&text);
        let ours = names.into_iter().filter(|dependency| CRATES.iter().any(|(row, _)| row == dependency));
        found.extend(ours.map(|dependency| ((name.clone(), dependency), path.clone())));
        crates.insert(name);
    }
    compare("crates", CRATES, &[], &found);
    let rows: BTreeSet<String> = CRATES.iter().map(|(row, _)| row.to_string()).collect();
    assert_eq!(crates, rows, "the crates, and the rows of the table");
}

#[test]
fn modules_name_each_other_as_the_table_says() {
    let folders = folders();
    let ir = sources(&folders["triton-ir"]);
    let none: &[&[Row]] = &[];
    for (name, table, others) in
        [("triton-ir", IR, none), ("triton-core", CORE, &[IR]), ("triton-syntax", SYNTAX, none)]
    {
        let folder = &folders[name];
        let sources = sources(folder);
        let mut found = Found::new();
        for reference in sources.references() {
            if let Some((from, to)) = siblings(&reference).filter(|(from, _)| from.len() == 1) {
                found.insert((from[0].clone(), to[0].clone()), format!("{folder}/{}", reference.location));
            }
        }
        if !others.is_empty() {
            for Reference { from, to, location } in sources.names_in(&[("triton_ir", &ir)]) {
                // The root re-exports what is of the other crate.
                if let Some(from) = from.first() {
                    found.insert((from.clone(), to[0].clone()), format!("{folder}/{location}"));
                }
            }
        }
        compare(name, table, others, &found);
        let rows: BTreeSet<String> = table.iter().map(|(row, _)| row.to_string()).collect();
        assert_eq!(sources.top(), rows, "the modules of {name}, and the rows of its table");
    }
}

#[test]
fn crates_name_the_modules_that_the_table_says() {
    let folders = folders();
    let (ir, core) = (sources(&folders["triton-ir"]), sources(&folders["triton-core"]));
    let mut found = Found::new();
    for (name, _) in USERS {
        let folder = &folders[*name];
        for Reference { to, location, .. } in sources(folder).names_in(&[("triton_ir", &ir), ("triton_core", &core)]) {
            found.insert((name.to_string(), to[0].clone()), format!("{folder}/{location}"));
        }
    }
    compare("users of triton-ir and triton-core", USERS, &[IR, CORE], &found);
}

/// The modules that can be reached from one by arrows.
fn reached<'a>(from: &'a Module, arrows: &'a BTreeMap<(Module, Module), String>) -> BTreeSet<&'a Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = arrows.keys().filter(|(from, _)| from == module).map(|(_, to)| to);
        open.extend(next.filter(|to| seen.insert(*to)));
    }
    seen
}

/// Files of a folder, and folders beside them, name each other in one direction: what two of them share is in a third one, or in
/// the folder's `mod.rs`. Methods are apart: one type may have them in several files.
#[test]
fn files_of_a_folder_form_no_circle() {
    let mut failures = Vec::new();
    for folder in folders().into_values() {
        let references = sources(&folder).references();
        let arrows = references.iter().filter_map(|reference| Some((siblings(reference)?, reference.location.clone())));
        let arrows: BTreeMap<(Module, Module), String> = arrows.collect();
        for ((from, to), location) in &arrows {
            if reached(to, &arrows).contains(from) {
                let (from, to) = (from.join("::"), to.join("::"));
                failures.push(format!("`{from}` names `{to}`, which leads back to it: {folder}/{location}"));
            }
        }
    }
    report(failures);
}

/// The table as a block of text.
fn drawing() -> String {
    let mut out = String::new();
    let mut rows = |title: &str, table: &[Row], own: bool| {
        let width = table.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let _ = writeln!(out, "{title}");
        for (name, targets) in table.iter().filter(|(_, targets)| own || !targets.is_empty()) {
            let line = format!("  {name:width$} → {}", targets.join(", "));
            let _ = writeln!(out, "{}", if targets.is_empty() { format!("  {name}") } else { line });
        }
        out.push('\n');
    };
    rows("crates", CRATES, false);
    rows("modules of triton-ir and triton-core that they name", USERS, true);
    rows("modules of triton-ir", IR, true);
    rows("modules of triton-core, and what they name of both", CORE, true);
    rows("modules of triton-syntax", SYNTAX, true);
    format!("{}\n", out.trim_end())
}

#[test]
fn the_architecture_shows_the_table() {
    let path = root().join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).expect("ARCHITECTURE.md");
    let (start, end) = ("<!-- shown: arrows -->\n\n```text\n", "```\n");
    let (before, rest) = page.split_once(start).expect("the marker of the arrows");
    let (shown, after) = rest.split_once(end).expect("the end of the arrows");
    if shown == drawing() {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, format!("{before}{start}{}{end}{after}", drawing())).expect("the page can be written");
        return;
    }
    panic!(
        "ARCHITECTURE.md does not show the arrows of the table: BLESS=1 cargo test -p triton-tests --test repository renews it"
    );
}
