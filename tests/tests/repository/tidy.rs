//! The repository's own rules, as a test: file headers and lengths, what pure crates may name, where `unsafe` may be, which
//! words are refused, and that tables which must agree do.

#[path = "tidy/words.rs"]
mod words;

use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    triton_tests::root()
}

/// Every Rust file of the repository, relative to the root, with its text.
pub(crate) fn sources() -> Vec<(String, String)> {
    let files = files("rs");
    assert!(files.len() > 80, "only {} files were found", files.len());
    files
}

/// Every file of the repository with this extension, relative to the root, with its text.
pub(crate) fn files(extension: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the repository").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "wip" {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let relative = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
                files.push((relative, std::fs::read_to_string(&path).expect("a file of the repository")));
            }
        }
    }
    files.sort();
    files
}

pub(crate) fn report(failures: Vec<String>) {
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn files_begin_with_their_purpose_and_stay_short() {
    let mut failures = Vec::new();
    for (path, text) in sources() {
        if !text.starts_with("//!") {
            failures.push(format!("{path}: begin the file with `//!` and what it is for"));
        }
        let lines = text.lines().count();
        if lines > 600 {
            failures.push(format!("{path}: {lines} lines; the most is 600: split it by purpose"));
        }
        for word in ["todo!(", "unimplemented!(", "#[ignore", "#[should_panic"] {
            // This file names the words.
            if text.contains(word) && path != "tests/tests/repository/tidy.rs" {
                failures.push(format!("{path}: `{word}` is not allowed here"));
            }
        }
    }
    report(failures);
}

/// Where the libraries are.
const LIBRARIES: &[&str] = &[
    "src/",
    "triton-core/src/",
    "triton-core/ir/src/",
    "triton-kernels/macros/src/",
    "triton-macros/src/",
    "triton-sim/src/",
    "triton-macros/syntax/src/",
    "triton-runtime/src/",
    "triton-runtime/select/src/",
    "triton-tune/src/",
    "tests/src/",
    "triton-sim/hardware/src/",
    "bridges/triton-collective/src/",
];

/// What the compiler and the simulator, which are pure, do not name.
const IMPURE: &[&str] = &["std::fs", "std::env", "std::process", "std::thread", "std::net"];

/// The compiler and the simulator read no file, no environment and no network. Which crate and module names which, the map says.
#[test]
fn the_compiler_and_the_simulator_are_pure() {
    let mut failures = Vec::new();
    for (path, text) in sources() {
        let threads = path.starts_with("triton-sim/src/");
        if !threads && !path.starts_with("triton-core/") {
            continue;
        }
        for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
            let refused = IMPURE.iter().filter(|word| !(threads && **word == "std::thread"));
            for word in refused.filter(|word| line.contains(**word)) {
                failures.push(format!("{path}: `{word}` is not for this folder: {}", line.trim()));
            }
        }
    }
    report(failures);
}

/// The simulator is behind a feature: of the libraries, one folder names it, and what an error has of it.
#[test]
fn the_simulator_is_named_in_one_folder() {
    let mut failures = Vec::new();
    for (path, text) in sources() {
        let library = LIBRARIES.iter().any(|l| path.starts_with(l) && !["triton-sim/src/", "tests/src/"].contains(l));
        if !library || path.starts_with("triton-runtime/src/sim/") || path == "triton-runtime/src/findings.rs" {
            continue;
        }
        for line in text.lines().filter(|l| !l.trim_start().starts_with("//") && l.contains("triton_sim")) {
            failures.push(format!("{path}: `triton_sim` is for triton-runtime/src/sim/: {}", line.trim()));
        }
    }
    report(failures);
}

/// `unsafe` blocks of libraries are where the driver is called.
#[test]
fn unsafe_code_is_where_the_driver_is_called() {
    let driver =
        ["triton-runtime/src/driver/", "triton-sim/hardware/src/device.rs", "bridges/triton-collective/src/nccl/"];
    let mut failures = Vec::new();
    for (path, text) in sources() {
        let starts = |list: &[&str]| list.iter().any(|l| path.starts_with(l));
        let library = starts(LIBRARIES) && !starts(&driver);
        for line in text.lines().filter(|_| library) {
            let code = line.trim_start();
            // What the attribute emits is tokens here: `#p` is the façade's private module.
            let emitted = path.starts_with("triton-macros/syntax/src/") && code.contains("unsafe { #p::");
            if !code.starts_with("//") && code.contains("unsafe {") && !emitted {
                failures.push(format!("{path}: {code}"));
            }
        }
    }
    report(failures);
}

/// The text after `///` of the lines right above an offset.
fn doc_above(text: &str) -> String {
    let lines =
        text.lines().rev().map(str::trim_start).take_while(|line| line.starts_with("//") || line.starts_with('#'));
    let mut lines: Vec<&str> = lines.filter_map(|line| line.strip_prefix("///")).collect();
    lines.reverse();
    lines.join("\n")
}

/// What a function of the language lacks in its documentation: its errors, and an example.
fn lacking(doc: &str) -> Option<&'static str> {
    match (doc.contains("\n # Compile errors\n"), doc.contains("```\n use triton::prelude::*;")) {
        (true, true) => None,
        (false, _) => Some("a section `# Compile errors`"),
        (true, false) => Some("an example"),
    }
}

/// The sources of the language, except what is not public.
fn language() -> Vec<(String, String)> {
    let hidden = ["src/lang/op.rs", "src/lang/control.rs"];
    let files = sources().into_iter().filter(|(path, _)| path.starts_with("src/lang/"));
    files.filter(|(path, _)| !hidden.contains(&path.as_str())).collect()
}

/// Functions and methods of the language have documentation with errors and an example.
#[test]
fn stubs_have_errors_and_examples() {
    let mut failures = Vec::new();
    let mut count = 0;
    for (path, text) in language() {
        let starts = text.match_indices("pub fn ").chain(text.match_indices("    fn to<"));
        for (at, _) in starts {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let name = text[at..].trim_start().split(['<', '(']).next().unwrap_or_default();
            // Those that a macro declares are looked at where it is called.
            if text[line..at].contains("//") || name.contains('$') {
                continue;
            }
            count += 1;
            if let Some(what) = lacking(&doc_above(&text[..line])) {
                failures.push(format!("{path}: `{name}` lacks {what}"));
            }
        }
    }
    let views = std::fs::read_to_string(root().join("src/lang/view.rs")).expect("the views");
    let (before, updates) = views.split_once("\nupdates! {\n").expect("the updates of views");
    let (updates, _) = updates.split_once("\n}\n").expect("their end");
    let errors = before.contains(
        "            /// # Compile errors\n            /// `at` does not have one `i32` or `i64` scalar per axis",
    );
    for (at, name) in updates.match_indices("\n    atomic_") {
        count += 1;
        let errors = if errors { "\n # Compile errors\n" } else { "" };
        if let Some(what) = lacking(&format!("{errors}{}", doc_above(&updates[..at]))) {
            let name = updates[at + name.len()..].lines().next().unwrap_or_default();
            failures.push(format!("src/lang/view.rs: `atomic_{name}` lacks {what}"));
        }
    }
    assert!(count >= triton_core::sema::BUILTINS.len() + 15, "only {count} functions and methods were found");
    report(failures);
}

/// Functions of the language: the checker's table and the documented stubs have the same names and parameters, and the page
/// of the language links each.
#[test]
fn built_ins_have_stubs() {
    let stubs: String = language().into_iter().map(|(_, text)| text).collect();
    let mut failures = Vec::new();
    let page = std::fs::read_to_string(root().join("src/lang/mod.rs")).expect("the page of the language");
    let page: String = page.lines().filter_map(|line| line.strip_prefix("//!")).collect();
    for builtin in triton_core::sema::BUILTINS {
        let start = [format!("pub fn {}<", builtin.name), format!("pub fn {}(", builtin.name)];
        let Some(at) = start.iter().find_map(|s| stubs.find(s.as_str())) else {
            failures.push(format!("`{}` has no stub in src/lang/", builtin.name));
            continue;
        };
        let signature = &stubs[at..at + stubs[at..].find(['{', ';']).unwrap_or(0)];
        let missing = builtin.params.iter().find(|p| !signature.contains(&format!("{p}: ")));
        if let Some(param) = missing {
            failures.push(format!("the stub of `{}` has no parameter `{param}`: {signature}", builtin.name));
        }
        if ![format!("]({})", builtin.name), format!("[`{}`]", builtin.name)].iter().any(|link| page.contains(link)) {
            failures.push(format!("the page of src/lang/mod.rs does not link `{}`", builtin.name));
        }
        let sentences = doc_above(&stubs[..at]).replace('\n', "").to_lowercase();
        let bound = match builtin.ulps() {
            None => continue,
            Some(0) => vec![" exact".to_string(), "correctly rounded".into()],
            Some(ulps) => vec![format!("within {ulps} ulp")],
        };
        if !bound.iter().any(|words| sentences.contains(words)) {
            failures.push(format!("the stub of `{}` does not say `{}`", builtin.name, bound.join("` or `")));
        }
    }
    report(failures);
}

/// The compiler's `run` cases all go to the devices, but for those that end in an error.
#[test]
fn run_cases_go_to_the_devices() {
    let corpus = std::fs::read_to_string(root().join("tests/tests/devices/corpus.rs")).expect("the list of cases");
    let folder = root().join("tests/corpus/run");
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the cases").flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_case = path.extension().is_some_and(|e| e == "tir");
        let expected = triton_tests::corpus::expected(&std::fs::read_to_string(&path).unwrap_or_default());
        if is_case && !expected.starts_with("error") && !corpus.contains(&format!("    {name},\n")) {
            failures.push(format!("{name} is not in tests/tests/devices/corpus.rs"));
        }
    }
    report(failures);
}

/// Messages, documentation and comments use the terms of the book's glossary.
#[test]
fn words_are_those_of_the_field() {
    let mut failures = Vec::new();
    let files = files("rs").into_iter().chain(files("md"));
    for (path, text) in files {
        let refused = words::refused(&text).into_iter();
        failures.extend(refused.map(|(line, phrase, better)| format!("{path}:{line}: `{phrase}`: write `{better}`")));
    }
    report(failures);
}

/// What the project names lies inside it.
#[test]
fn no_paths_of_a_machine() {
    let mut failures = Vec::new();
    let names =
        ["README.md", "ARCHITECTURE.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "tools/benchmarks/RESULTS.md"];
    let names = names.map(str::to_owned);
    let pages = ["docs/src", "docs/src/errors"].into_iter().flat_map(|folder| {
        let files = std::fs::read_dir(root().join(folder)).expect("the pages of the book").flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".md")).map(move |name| format!("{folder}/{name}"))
    });
    for name in names.into_iter().chain(pages) {
        let text = std::fs::read_to_string(Path::new(&root()).join(&name)).unwrap_or_default();
        if text.is_empty() {
            failures.push(format!("{name} is missing"));
        }
        for line in text.lines().filter(|l| l.contains("/home/") || l.contains("/root/")) {
            failures.push(format!("{name}: {line}"));
        }
    }
    report(failures);
}

/// The tuner compiles products from the library's own files, but for the one whose K is split: the library's has an epilogue, and takes what that takes.
#[test]
fn the_tuners_split_product_is_the_librarys() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a file of the repository");
    let (ours, librarys) = (read("triton-tune/kernels/split.rs"), read("triton-kernels/src/linear/kernels/split.rs"));
    let body = |text: &str| {
        let start = text.find("let (m, n, s) =").expect("the programs of the kernel");
        let end = text[start..].find("done.store(").expect("the last program of a tile") + start;
        let words: Vec<String> = text[start..end].split_whitespace().map(str::to_string).collect();
        words.join(" ")
    };
    assert_eq!(body(&ours), body(&librarys));
    let stored = "c.store([m, n], total.to::<";
    assert!(ours.contains(&format!("{stored}T>());")) && librarys.contains(&format!("{stored}C>());")));
}

/// A crate of many kernels has no unit tests of its own, as these would compile each kernel once more: what its files have is compiled
/// into tests beside them, by `#[path]`.
#[test]
fn unit_tests_of_libraries_without_a_test_run_elsewhere() {
    let sources = sources();
    let mut failures = Vec::new();
    for (path, manifest) in files("toml") {
        let Some(folder) = path.strip_suffix("Cargo.toml").filter(|_| manifest.contains("[lib]\ntest = false\n"))
        else {
            continue;
        };
        let (library, tests) = (format!("{folder}src/"), format!("{folder}tests/"));
        let of_tests = sources.iter().filter(|(path, _)| path.starts_with(&tests));
        let included = of_tests.flat_map(|(_, text)| text.split("#[path = \"../../src/").skip(1));
        let included: Vec<&str> = included.filter_map(|rest| rest.split('"').next()).collect();
        assert!(!included.is_empty(), "{tests}: no file of {library} is included");
        for (path, _) in sources.iter().filter(|(_, text)| text.contains("#[test]")) {
            let Some(file) = path.strip_prefix(&library) else { continue };
            let is_included =
                |name: &&str| name.strip_suffix("mod.rs").map_or(file == *name, |folder| file.starts_with(folder));
            if !included.iter().any(is_included) {
                failures.push(format!("{path}: its tests run nowhere: include it in {tests}"));
            }
        }
    }
    report(failures);
}
