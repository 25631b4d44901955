//! The packages that are published: each has its licences, a readme and a list of what ships, and CONTRIBUTING.md publishes all of them,
//! dependencies first.

use super::map::manifest;
use super::tidy::{files, report, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A published package: its folder, relative to the root, and its Cargo.toml.
struct Package {
    folder: String,
    manifest: String,
}

impl Package {
    fn name(&self) -> String {
        manifest(&self.manifest).0
    }

    /// The bytes of a file of the package.
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(root().join(&self.folder).join(name)).ok()
    }
}

/// Every package without `publish = false`.
fn published() -> Vec<Package> {
    let manifests = files("toml").into_iter().filter_map(|(path, manifest)| {
        let folder = path.strip_suffix("Cargo.toml")?.to_owned();
        Some(Package { folder, manifest })
    });
    let published = manifests
        .filter(|package| package.manifest.contains("[package]") && !package.manifest.contains("publish = false"));
    let published: Vec<Package> = published.collect();
    assert!(published.len() >= 11, "only {} published packages were found", published.len());
    published
}

/// What a package has of another one's files: `include_str!` and `mod` reach no further than a package, and a link is a file of one line in a clone of
/// Windows.
const COPIES: [(&str, &str); 5] = [
    ("docs/src/errors", "tools/cargo-triton/src/errors"),
    ("triton-kernels/src/contract/notation.rs", "triton-kernels/macros/src/notation.rs"),
    ("triton-kernels/src/functions/gemm.rs", "triton-tune/kernels/functions/gemm.rs"),
    ("triton-kernels/src/functions/split.rs", "triton-tune/kernels/functions/split.rs"),
    ("triton-kernels/src/linear/kernels/whole.rs", "triton-tune/kernels/whole.rs"),
];

/// The files of a folder by their names, or the file of a path; empty where there is none.
fn texts(path: &Path) -> BTreeMap<PathBuf, String> {
    let of = |path: PathBuf| Some((path.clone(), std::fs::read_to_string(&path).ok()?));
    match std::fs::read_dir(path) {
        Ok(folder) => folder.flatten().filter_map(|entry| of(entry.path())).collect(),
        Err(_) => of(path.to_owned()).into_iter().collect(),
    }
}

#[test]
fn copies_are_what_they_are_of() {
    let mut failures = Vec::new();
    for (from, to) in COPIES {
        let (from, to) = (root().join(from), root().join(to));
        let place = |file: &Path| {
            file.strip_prefix(&from).ok().filter(|rest| rest.parent().is_some()).map(|rest| to.join(rest))
        };
        let wanted = texts(&from).into_iter().map(|(file, text)| (place(&file).unwrap_or_else(|| to.clone()), text));
        let (wanted, mut found): (BTreeMap<PathBuf, String>, _) = (wanted.collect(), texts(&to));
        assert!(!wanted.is_empty(), "{} is missing", from.display());
        for (file, text) in &wanted {
            if found.remove(file).as_ref() == Some(text) {
                continue;
            }
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(file, text).expect("a copy is written");
            } else {
                failures
                    .push(format!("{} differs from the file that it is a copy of: BLESS=1 copies it", file.display()));
            }
        }
        failures.extend(found.keys().map(|file| format!("{} is a copy of nothing", file.display())));
    }
    report(failures);
}

#[test]
fn there_are_no_links() {
    fn walk(folder: &Path, links: &mut Vec<String>) {
        for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default();
            if path.is_symlink() {
                links.push(format!("{} is a link: copy the file", path.display()));
            } else if path.is_dir() && name != "target" && name != ".git" {
                walk(&path, links);
            }
        }
    }
    let mut links = Vec::new();
    walk(&root(), &mut links);
    report(links);
}

#[test]
fn packages_have_their_licences() {
    let mut failures = Vec::new();
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"] {
        let text = std::fs::read(root().join(name)).expect("a licence at the root");
        for package in published() {
            let path = format!("{}{name}", package.folder);
            if package.file(name).as_ref() != Some(&text) {
                failures.push(format!("{path}: copy the file of the root"));
            }
        }
    }
    report(failures);
}

#[test]
fn packages_have_a_readme_and_say_what_ships() {
    let mut failures = Vec::new();
    for package in published() {
        let manifest = format!("{}Cargo.toml", package.folder);
        for line in ["readme = \"README.md\"", "include = ["] {
            if !package.manifest.lines().any(|found| found.starts_with(line)) {
                failures.push(format!("{manifest}: it has no line `{line}`"));
            }
        }
        for file in ["/README.md", "/LICENSE-*", "/NOTICE"] {
            if !package.manifest.contains(&format!("\"{file}\"")) {
                failures.push(format!("{manifest}: `include` lacks `{file}`"));
            }
        }
        let Some(readme) = package.file("README.md") else {
            failures.push(format!("{}README.md is missing", package.folder));
            continue;
        };
        let readme = String::from_utf8(readme).expect("text");
        if !readme.starts_with(&format!("# {}\n", package.name())) {
            failures.push(format!("{}README.md does not begin with the name of the package", package.folder));
        }
        for link in readme.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let inside = link.is_empty() || link.contains("://");
            if !inside && !root().join(&package.folder).join(link).exists() {
                failures.push(format!("{}README.md: `{link}` leads nowhere", package.folder));
            }
        }
    }
    report(failures);
}

/// A readme with a program is a doctest of its crate; that of the façade, one of whose programs uses the library, is one of the library.
#[test]
fn programs_of_readmes_are_run() {
    let mut failures = Vec::new();
    for package in published() {
        let readme = String::from_utf8(package.file("README.md").unwrap_or_default()).expect("text");
        let (crate_of, path) = match &*package.folder {
            "" => ("triton-kernels/", "../../README.md"),
            folder => (folder, "../README.md"),
        };
        let file = format!("{crate_of}src/lib.rs");
        let source = std::fs::read_to_string(root().join(&file)).expect("a source of the package");
        if readme.contains("\n```rust") && !source.contains(&format!("include_str!(\"{path}\")")) {
            failures.push(format!("{file} does not run the programs of {path}"));
        }
    }
    report(failures);
}

/// `cargo publish` needs what a package depends on to be published: also for tests, unless the version is left out.
#[test]
fn packages_are_published_after_what_they_depend_on() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let (_, order) = text.split_once("`cargo publish` in the order ").expect("the order of the release");
    let (order, _) = order.split_once(';').expect("the end of the order");
    let order: Vec<&str> = order.split([',', ' ', '\n']).filter(|name| !name.is_empty()).collect();

    let published = published();
    let names: BTreeSet<String> = published.iter().map(Package::name).collect();
    assert_eq!(
        order.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        names,
        "the order, and the packages"
    );
    assert_eq!(order.len(), names.len(), "a package is published once");

    let mut failures = Vec::new();
    for package in &published {
        let (name, mut dependencies) = manifest(&package.manifest);
        let (_, tests) = package.manifest.split_once("[dev-dependencies]\n").unwrap_or_default();
        let tests = tests.lines().take_while(|line| !line.starts_with('['));
        let versioned = tests.filter(|line| line.contains("workspace") || line.contains("version"));
        dependencies.extend(versioned.filter_map(|line| Some(line.split(['.', ' ']).next()?.to_owned())));
        let place = |name: &str| order.iter().position(|listed| *listed == name);
        for dependency in dependencies.iter().filter(|dependency| names.contains(*dependency)) {
            if place(dependency) >= place(&name) {
                failures.push(format!("`{name}` depends on `{dependency}`, which is published later"));
            }
        }
    }
    report(failures);
}
