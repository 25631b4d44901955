//! The parser: what it makes of texts, what it refuses and how, and that no text makes it panic.

mod chance;
mod corpus;
mod dump;
mod errors;

use std::fs;
use std::path::{Path, PathBuf};

/// The PTX files of a folder of the repository and of its folders, in the order of their names.
fn ptx_files(folder: &str) -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "ptx") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut files);
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text")
}

/// Each text of `cases` and what was made of it lie side by side; `BLESS=1` renews the latter.
#[test]
fn texts_become_what_is_expected() {
    let files = ptx_files("triton-sim/tests/parse/cases");
    assert!(files.len() > 5);
    for path in files {
        let found = match triton_sim::parse::parse(&read(&path)) {
            Ok(module) => dump::module(&module),
            Err(error) => panic!("{}:{error}", path.display()),
        };
        let expected = path.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            fs::write(expected, found).expect("a file that can be written");
        } else {
            assert_eq!(found, read(&expected), "{}", path.display());
        }
    }
}
