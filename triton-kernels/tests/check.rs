//! A sample of the cases of `check`, another one each day: the whole is one command, `cargo run --release -p triton-kernels --features check --bin check`.
#![cfg(all(feature = "check", feature = "gemm", feature = "rows"))]

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs a sample of a family on a device. The seed is in what a failure prints.
fn sample(device: &str, family: &str, count: usize) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (day, count) = ((seconds / 86400).to_string(), count.to_string());
    let mut check = Command::new(env!("CARGO_BIN_EXE_check"));
    check.args(["--device", device, "--family", family, "--sample", &count, "--seed", &day]);
    let output = check.output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&format!("check: {count} passed, 0 failed")), "{said}");
}

#[test]
fn products_on_the_cpu() {
    sample("cpu", "gemm", 200);
}

#[test]
fn products_on_the_simulator() {
    sample("sim", "gemm", 40);
}

#[test]
fn rows_on_the_cpu() {
    sample("cpu", "rows", 300);
}

#[test]
fn rows_on_the_simulator() {
    sample("sim", "rows", 40);
}

#[cfg(feature = "conv")]
#[test]
fn convolutions_on_the_cpu() {
    sample("cpu", "conv", 200);
}

#[cfg(feature = "conv")]
#[test]
fn convolutions_on_the_simulator() {
    sample("sim", "conv", 20);
}

#[cfg(feature = "attention")]
#[test]
fn attention_on_the_cpu() {
    sample("cpu", "attention", 60);
}

#[cfg(feature = "attention")]
#[test]
fn attention_on_the_simulator() {
    sample("sim", "attention", 8);
}

#[cfg(feature = "sparse")]
#[test]
fn block_sparse_attention_on_the_cpu() {
    sample("cpu", "sparse", 200);
}

#[cfg(feature = "sparse")]
#[test]
fn block_sparse_attention_on_the_simulator() {
    sample("sim", "sparse", 20);
}

#[cfg(feature = "contract")]
#[test]
fn contractions_on_the_cpu() {
    sample("cpu", "contract", 200);
}

#[cfg(feature = "contract")]
#[test]
fn contractions_on_the_simulator() {
    sample("sim", "contract", 30);
}
