//! The binary: `cargo triton`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_triton::run(std::env::args_os())
}
