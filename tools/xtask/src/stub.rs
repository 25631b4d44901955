//! `stub DIR`: stand-ins for libraries of CUDA, for crates that need them when they are linked.
//!
//! `cust` links `libcuda` at build time, candle links five libraries of the toolkit; a machine without a driver and a toolkit has none.
//! A stand-in exports every function that the bindings name; each returns 100 (no device), so a program that finds no other library
//! at run time says so. `DIR/lib64` is for linking: nothing looks there when a program starts, so that on a machine with a driver
//! the real `libcuda.so.1` is found. `DIR/run`, on `LD_LIBRARY_PATH`, lets programs start where there is no driver.

use crate::{Outcome, output, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library of CUDA that a stand-in is made of.
pub struct Library {
    /// As linkers have it: `cuda` of `libcuda.so`.
    pub name: &'static str,
    /// The number of its interface, which a program asks for when it starts.
    pub version: u32,
    /// The functions that bindings declare.
    pub functions: Vec<String>,
}

/// The two functions of the driver whose answer bindings read whatever the code is.
const DESCRIPTIONS: &str = r#"
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(_: i32, text: *mut *const std::ffi::c_char) -> i32 {
    unsafe { *text = c"CUDA_ERROR_NO_DEVICE".as_ptr() };
    0
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_: i32, text: *mut *const std::ffi::c_char) -> i32 {
    unsafe { *text = c"no driver: this is a stand-in for libcuda".as_ptr() };
    0
}
"#;

/// Makes the driver's, of what `cust`'s bindings declare.
pub fn stub(dir: &Path) -> Outcome {
    let bindings = source(&root().join("bridges/triton-cust"), "cust_raw")?.join("cuda.rs");
    let driver = Library { name: "cuda", version: 1, functions: declared(&bindings, "pub fn ")? };
    library(dir, &driver)?;
    println!("stub: {} functions in {}", driver.functions.len(), dir.join("lib64/libcuda.so").display());
    Ok(())
}

/// Makes one library.
pub fn library(dir: &Path, of: &Library) -> Outcome {
    let (lib, run) = (dir.join("lib64"), dir.join("run"));
    for folder in [&lib, &run] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let Library { name, version, functions } = of;
    let mut text = String::from("#![allow(non_snake_case)]\n");
    let described = if *name == "cuda" { DESCRIPTIONS } else { "" };
    text += described;
    for function in functions.iter().filter(|function| !described.contains(&format!("fn {function}("))) {
        text += &format!("#[unsafe(no_mangle)] pub extern \"C\" fn {function}() -> i32 {{ 100 }}\n");
    }
    let file = dir.join(format!("{name}.rs"));
    std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    let (linked, started) = (lib.join(format!("lib{name}.so")), run.join(format!("lib{name}.so.{version}")));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    output(
        Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
            .args([&linked, &file])
            .arg(format!("-Clink-arg=-Wl,-soname,lib{name}.so.{version}")),
    )?;
    std::fs::copy(&linked, &started).map(|_| ()).map_err(|e| format!("{}: {e}", started.display()))
}

/// The functions that bindings declare, each on a line that begins with these words.
pub fn declared(bindings: &Path, words: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(bindings).map_err(|e| format!("{}: {e}", bindings.display()))?;
    let of = |line: &str| -> Option<String> {
        let rest = line.trim_start().strip_prefix(words)?;
        Some(rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
    };
    let mut names: Vec<String> =
        text.lines().filter_map(of).filter(|name| name.starts_with("cu") || name.starts_with("nv")).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { Err(format!("{} declares no function", bindings.display())) } else { Ok(names) }
}

/// The sources of a package on which the crate in a folder depends.
pub fn source(folder: &Path, package: &str) -> Result<PathBuf, String> {
    let metadata = output(
        Command::new(env!("CARGO")).args(["metadata", "--all-features", "--format-version", "1"]).current_dir(folder),
    )?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(|e| e.to_string())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let manifest = packages.iter().find(|p| p["name"] == package).and_then(|p| p["manifest_path"].as_str());
    let manifest = manifest.ok_or_else(|| format!("{} does not depend on {package}", folder.display()))?;
    Ok(Path::new(manifest).with_file_name("src"))
}
