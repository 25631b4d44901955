//! `stub DIR`: a stand-in `libcuda.so`, for crates that need the driver library when they are linked.
//!
//! `cust` links `libcuda` at build time, which a machine without a driver does not have. The stand-in exports every function
//! that `cust`'s bindings name; each returns 100 (no device), so a program that finds no other library at run time says so.
//! On a machine with a driver the real `libcuda.so.1` is found instead.

use crate::{Outcome, output, root};
use std::path::Path;
use std::process::Command;

pub fn stub(dir: &Path) -> Outcome {
    let names = driver_functions()?;
    let lib = dir.join("lib64");
    std::fs::create_dir_all(&lib).map_err(|e| format!("{}: {e}", lib.display()))?;
    let mut source = String::from("#![allow(non_snake_case)]\n");
    for name in &names {
        source += &format!("#[unsafe(no_mangle)] pub extern \"C\" fn {name}() -> i32 {{ 100 }}\n");
    }
    let file = dir.join("stub.rs");
    std::fs::write(&file, source).map_err(|e| format!("{}: {e}", file.display()))?;
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    output(
        Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "cdylib", "-Clink-arg=-Wl,-soname,libcuda.so.1", "-o"])
            .arg(lib.join("libcuda.so"))
            .arg(&file),
    )?;
    println!("stub: {} functions in {}", names.len(), lib.join("libcuda.so").display());
    Ok(())
}

/// The functions that the bindings below `cust` declare, read from their source.
fn driver_functions() -> Result<Vec<String>, String> {
    let metadata = output(Command::new(env!("CARGO")).args(["metadata", "--format-version", "1"]).current_dir(root()))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(|e| e.to_string())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let manifest = packages.iter().find(|p| p["name"] == "cust_raw").and_then(|p| p["manifest_path"].as_str());
    let manifest = manifest.ok_or("the workspace does not depend on cust_raw")?;
    let source = Path::new(manifest).with_file_name("src").join("cuda.rs");
    let text = std::fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut names: Vec<String> = text
        .match_indices("pub fn cu")
        .map(|(at, _)| text[at + 7..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
        .collect();
    names.sort();
    names.dedup();
    if names.is_empty() { Err(format!("{} declares no function", source.display())) } else { Ok(names) }
}
