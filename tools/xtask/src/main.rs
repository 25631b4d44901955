//! Tasks of the repository: `cargo xtask NAME`.
//!
//! | task | what it does |
//! |---|---|
//! | `ci` | runs `.ci/run`: everything that a change must pass |
//! | `validate` | assembles every PTX snapshot with the vendor's `ptxas`, and compares registers and spills with the record |
//! | `counts [PART]` | assembles kernels, and compares registers, spills, barriers and instructions by class with the record: of those whose name begins with PART |
//! | `corpus` | runs the compiler's text tests, without building anything that uses the compiler |
//! | `bundle` | lays examples, tests and benchmarks in `target/gpu/`, to run on a GPU host without Rust |
//! | `stub DIR` | makes a stand-in `libcuda.so` in `DIR/lib64`, to link crates that need one at build time |
//! | `reproduce` | builds a crate with kernels in two folders and compares the PTX |
//! | `same REVISION` | compares the code of every kernel in tests, examples, benchmarks and conformance with that revision's |
//! | `seeds [--seeds N] [--first SEED]` | runs conformance and the library's samples from other seeds than that of `cargo test` |
//! | `candle [OPTIONS]` | tests the bridge to candle on the CPU, linked with stand-ins for CUDA; options are those of `cargo test` |
//! | `candle host` | builds the bridge's tests and programs for a GPU host, with candle's own kernels, in `target/candle-host/` |
//! | `ide` | asks rust-analyzer about a sample kernel: hover, completion, go to definition, diagnostics |

mod assembler;
mod bundle;
mod candle;
mod counts;
mod ide;
mod reproduce;
mod same;
mod sass;
mod seeds;
mod stub;
mod validate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a task returns: an error is one sentence.
type Outcome<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["ci"] => ci(),
        ["validate"] => validate::validate(),
        ["counts"] => counts::counts(""),
        ["counts", part] => counts::counts(part),
        ["corpus"] => corpus(),
        ["bundle"] => bundle::bundle(),
        ["stub", dir] => stub::stub(Path::new(dir)),
        ["reproduce"] => reproduce::reproduce(),
        ["same", revision] => same::same(revision),
        ["seeds", ref options @ ..] => seeds::seeds(options),
        ["candle", "host"] => candle::host(),
        ["candle", ref options @ ..] => candle::test(options),
        ["ide"] => ide::ide(),
        _ => {
            Err("tasks: ci, validate, counts [PART], corpus, bundle, stub DIR, reproduce, same REVISION, seeds, candle [host], ide"
                .into())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what a change must pass, with its output.
fn ci() -> Outcome {
    let run = root().join(".ci/run");
    let status = std::process::Command::new(&run).status().map_err(|e| format!("{}: {e}", run.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", run.display())) }
}

/// Runs the compiler's text tests. `cargo test -p triton-tests --test corpus` does the same, but builds the façade first.
fn corpus() -> Outcome {
    let count = triton_tests::corpus::run_all(&root().join("tests/corpus"))
        .map_err(|failures| format!("{} cases failed:\n\n{}", failures.len(), failures.join("\n\n")))?;
    println!("corpus: {count} cases passed");
    Ok(())
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

/// Runs a command to its end, and returns what it printed.
fn output(command: &mut std::process::Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{shown}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{shown} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// The programs that a `cargo` with `--message-format=json-render-diagnostics` builds.
fn executables(cargo: &mut std::process::Command) -> Result<Vec<PathBuf>, String> {
    let messages = output(cargo)?;
    let executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    });
    Ok(executables.collect())
}
