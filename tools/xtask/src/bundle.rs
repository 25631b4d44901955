//! `bundle`: everything that a GPU host without Rust needs, in `target/gpu/`.
//!
//! Examples, the tests that use a GPU, the benchmarks, conformance and the cases of the library, built in release and stripped, beside a `run.sh`:
//! `run.sh examples|tests|bench|papers|users|tune|collect|costs|conformance`.

use crate::{Outcome, executables, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Largest bundle in bytes.
const LIMIT: u64 = 128 << 20;

/// Test binaries that go along: package, test, and the bundle's folder for it.
const TESTS: &[(&str, &str, &str)] = &[
    ("triton-runtime", "cuda", "tests"),
    ("triton-tests", "devices", "tests"),
    ("triton-tests", "conformance", "conformance"),
    ("triton-tests", "library", "conformance"),
];

/// Where the stand-in for the driver is, which `triton-cust` is linked with.
const STUB: &str = "target/cuda-stub";

/// Makes the bundle.
pub fn bundle() -> Outcome {
    let dir = root().join("target/gpu");
    if dir.exists() {
        std::fs::remove_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let mut executables = build(&root(), &["build", "--examples", "--package", "triton-dsl"], "examples")?;
    executables.extend(build(&root(), &["build", "--package", "triton-kernels", "--example", "digits"], "examples")?);
    let tuned = ["build", "--package", "triton-tune", "--example", "tuned_softmax"];
    executables.extend(build(&root(), &tuned, "examples")?);
    for (package, test, folder) in TESTS {
        // The package's programs are built too.
        let built = build(&root(), &["test", "--no-run", "--package", package, "--test", test], folder)?;
        let is_test =
            |file: &Path| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{test}-")));
        executables.extend(built.into_iter().filter(|(_, file)| is_test(file)));
    }
    executables.extend(build(&root(), &["build", "--package", "triton-bench"], "bench")?);
    let tuner = ["build", "--package", "triton-tune", "--features", "cli,jit", "--bin", "triton-tune"];
    executables.extend(build(&root(), &tuner, "bench")?);
    crate::stub::stub(&root().join(STUB))?;
    executables.extend(build(&root().join("bridges/triton-cust"), &["build", "--examples"], "examples")?);
    for (folder, file) in &executables {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        // Cargo appends a hash to tests.
        let name = if TESTS.iter().any(|(.., of_tests)| folder == of_tests) {
            name.rsplit_once('-').map_or(&*name, |(n, _)| n)
        } else {
            &*name
        };
        copy(file, &dir.join(folder).join(name))?;
    }
    let scripts = [
        ("tools/benchmarks", "run.sh"),
        ("tools/benchmarks", "peers.py"),
        ("tools/benchmarks", "cublaslt.py"),
        ("tools/benchmarks", "tutorials.py"),
        ("tools/benchmarks", "tutorial_kernels.py"),
        ("triton-tune/python", "autotune.py"),
        ("triton-tune/python", "mse.py"),
    ];
    for (folder, script) in scripts {
        copy(&root().join(folder).join(script), &dir.join(script))?;
    }
    let size = size(&dir);
    if size > LIMIT {
        return Err(format!("the bundle has {size} bytes, the limit is {LIMIT}"));
    }
    let (count, mib) = (executables.len(), size as f64 / f64::from(1 << 20));
    println!("bundle: {count} programs, {mib:.1} MiB in {}", dir.display());
    Ok(())
}

/// Builds in release, stripped, and returns the executables with the folder they belong to.
fn build(workspace: &Path, args: &[&str], folder: &str) -> Result<Vec<(String, PathBuf)>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(args).args(["--release", "--message-format=json-render-diagnostics"]).current_dir(workspace);
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "true").env("CUDA_LIBRARY_PATH", root().join(STUB));
    Ok(executables(&mut cargo)?.into_iter().map(|file| (folder.to_string(), file)).collect())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let failed = |e: std::io::Error| format!("{} to {}: {e}", from.display(), to.display());
    std::fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed)?;
    std::fs::copy(from, to).map(|_| ()).map_err(failed)
}

fn size(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|e| if e.path().is_dir() { size(&e.path()) } else { e.metadata().map_or(0, |m| m.len()) }).sum()
}
