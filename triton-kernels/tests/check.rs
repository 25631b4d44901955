//! A sample of the cases of `check`, always the same: the whole is one command,
//! `cargo run --release -p triton-kernels --features check --bin check`, and `cargo xtask seeds` runs other samples.
#![cfg(all(feature = "check", feature = "gemm", feature = "rows"))]

#[path = "check/samples.rs"]
mod samples;

use samples::SAMPLES;
use std::process::Command;

/// Runs a sample of a family on a device.
fn sample(device: &str, family: &str) {
    let listed = SAMPLES.iter().find(|(on, of, _)| (*on, *of) == (device, family));
    let (.., count) = listed.expect("a row of the samples");
    let mut check = Command::new(env!("CARGO_BIN_EXE_check"));
    check.args(["--device", device, "--family", family, "--sample", &count.to_string(), "--seed", "1"]);
    let output = check.output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&format!("check: {count} passed, 0 failed")), "{said}");
}

#[test]
fn products_on_the_cpu() {
    sample("cpu", "gemm");
}

#[test]
fn products_on_the_simulator() {
    sample("sim", "gemm");
}

#[test]
fn rows_on_the_cpu() {
    sample("cpu", "rows");
}

#[test]
fn rows_on_the_simulator() {
    sample("sim", "rows");
}

#[cfg(feature = "conv")]
#[test]
fn convolutions_on_the_cpu() {
    sample("cpu", "conv");
}

#[cfg(feature = "conv")]
#[test]
fn convolutions_on_the_simulator() {
    sample("sim", "conv");
}

#[cfg(feature = "attention")]
#[test]
fn attention_on_the_cpu() {
    sample("cpu", "attention");
}

#[cfg(feature = "attention")]
#[test]
fn attention_on_the_simulator() {
    sample("sim", "attention");
}

#[cfg(feature = "sparse")]
#[test]
fn block_sparse_attention_on_the_cpu() {
    sample("cpu", "sparse");
}

#[cfg(feature = "sparse")]
#[test]
fn block_sparse_attention_on_the_simulator() {
    sample("sim", "sparse");
}

#[cfg(feature = "contract")]
#[test]
fn contractions_on_the_cpu() {
    sample("cpu", "contract");
}

#[cfg(feature = "contract")]
#[test]
fn contractions_on_the_simulator() {
    sample("sim", "contract");
}
