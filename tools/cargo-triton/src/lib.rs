//! `cargo triton`: looks into the kernels of a program that cargo builds. Nothing is asked of the program but that it is built with
//! triton-dsl of the same version: its executable holds the tile IR of each kernel, and everything else is made of that.
//!
//! The library is for the binary and its tests.

pub mod advice;
pub mod commands;
pub mod drawn;
pub mod error;
pub mod inspect;
pub mod lines;
pub mod machine_code;
pub mod page;
pub mod program;
pub mod proof;
pub mod replay;
pub mod resources;
pub mod roofline;
pub mod timeline;
pub mod trace;

use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// As cargo calls it: `cargo-triton triton show ..`; or by its own name.
#[derive(Parser)]
#[command(name = "cargo triton", bin_name = "cargo triton", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the command of some arguments, the first of which is the program's name.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_some_and(|arg| arg == "triton") {
        args.remove(1);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help does not fail.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match cli.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
