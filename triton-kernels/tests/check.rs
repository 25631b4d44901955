//! A sample of the cases of `check`, always the same: the whole is one command,
//! `cargo run --release -p triton-kernels --features check --bin check`, and `cargo xtask seeds` runs other samples.
#![cfg(all(feature = "check", feature = "gemm", feature = "rows"))]

#[path = "check/samples.rs"]
mod samples;

use samples::SAMPLES;
use std::process::Command;

/// Runs a sample of a family on a device.
fn sample(device: &'static str, family: &str) {
    let listed = SAMPLES.iter().find(|(on, of, _)| (*on, *of) == (device, family));
    let (.., count) = listed.expect("a row of the samples");
    let said = run(device, family, &["--sample", &count.to_string()]);
    assert!(said.contains(&format!("check: {count} passed, 0 failed")), "{said}");
}

/// The same on a simulated GPU without the instructions of Hopper and with 99 KiB of shared memory, which has no code of some instances.
#[cfg(all(feature = "conv", feature = "attention", feature = "contract"))]
#[test]
fn operations_on_a_simulated_gpu_of_compute_capability_8_6() {
    for family in ["gemm", "conv", "attention", "contract"] {
        let listed = SAMPLES.iter().find(|(on, of, _)| (*on, *of) == ("sim 8.6", family));
        let (.., count) = listed.expect("a row of the samples");
        let said = run("sim 8.6", family, &["--sample", &count.to_string()]);
        assert!(said.contains(" passed, 0 failed"), "{said}");
    }
}

/// Runs the cases of a family whose names contain a text.
fn all(device: &'static str, family: &str, filter: &str) {
    let said = run(device, family, &["--filter", filter]);
    assert!(said.contains(" passed, 0 failed"), "{said}");
}

fn run(device: &'static str, family: &str, arguments: &[&str]) -> String {
    let mut check = Command::new(env!("CARGO_BIN_EXE_check"));
    let (device, capability) = samples::device(device);
    check.args(["--device", device, "--family", family, "--seed", "1"]).args(arguments);
    let output = check.env("TRITON_DSL_CAPABILITY", capability).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
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

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn the_edge_on_the_cpu() {
    sample("cpu", "edge");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn the_edge_on_the_simulator() {
    sample("sim", "edge");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn reported_values_on_the_cpu() {
    all("cpu", "edge", "reported");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn reported_values_on_the_simulator() {
    all("sim", "edge", "reported");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn known_failures_on_the_cpu() {
    all("cpu", "edge", "known");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn sizes_on_the_cpu() {
    all("cpu", "extents", "sizes");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn sizes_on_the_simulator() {
    all("sim", "extents", "sizes");
}

#[cfg(all(feature = "conv", feature = "attention", feature = "sparse", feature = "contract"))]
#[test]
fn graphs_on_the_cpu() {
    all("cpu", "graphs", "graph of");
}
