//! `stub DIR`: a stand-in `libcuda.so`, for crates that need the driver library when they are linked.
//!
//! `cust` links `libcuda` at build time, which a machine without a driver does not have. The stand-in exports every function
//! that `cust`'s bindings name; each returns 100 (no device), so a program that finds no other library at run time says so.
//! `DIR/lib64` is for linking: nothing looks there when a program starts, so that on a machine with a driver the real
//! `libcuda.so.1` is found. `DIR/run`, on `LD_LIBRARY_PATH`, lets programs start where there is no driver.

use crate::{Outcome, output, root};
use std::path::Path;
use std::process::Command;

/// The two functions whose answer the bindings read whatever the code is.
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

/// Makes the library.
pub fn stub(dir: &Path) -> Outcome {
    let names = driver_functions()?;
    let (lib, run) = (dir.join("lib64"), dir.join("run"));
    for folder in [&lib, &run] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let mut source = String::from("#![allow(non_snake_case)]\n");
    source += DESCRIPTIONS;
    for name in names.iter().filter(|name| !DESCRIPTIONS.contains(&format!("fn {name}("))) {
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
    let library = run.join("libcuda.so.1");
    std::fs::copy(lib.join("libcuda.so"), &library).map_err(|e| format!("{}: {e}", library.display()))?;
    println!("stub: {} functions in {}", names.len(), lib.join("libcuda.so").display());
    Ok(())
}

/// The functions that the bindings below `cust` declare, read from their source.
fn driver_functions() -> Result<Vec<String>, String> {
    let metadata = output(
        Command::new(env!("CARGO")).args(["metadata", "--format-version", "1"]).current_dir(root().join("triton-cust")),
    )?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(|e| e.to_string())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let manifest = packages.iter().find(|p| p["name"] == "cust_raw").and_then(|p| p["manifest_path"].as_str());
    let manifest = manifest.ok_or("triton-cust does not depend on cust_raw")?;
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
