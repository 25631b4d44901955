//! The binary `triton-tune`.

use std::process::ExitCode;

fn main() -> ExitCode {
    triton_tune::cli(std::env::args_os())
}
