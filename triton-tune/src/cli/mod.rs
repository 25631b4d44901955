//! The command line: `triton-tune`, and any program that calls [`cli`].

#[cfg(feature = "jit")]
mod collect;
mod model;
mod tables;

use crate::error::{Error, Result};
use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// The tuner: samples, data, models, pools.
#[derive(Parser)]
#[command(name = "triton-tune", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints a table of the papers, ours beside it.
    #[command(subcommand)]
    Table(tables::Table),
    /// Draws a figure of the papers.
    #[command(subcommand)]
    Plot(tables::Plot),
    /// Measures instances of products that no list has on this GPU, and writes a row for each sample.
    #[cfg(feature = "jit")]
    Collect(collect::Collect),
    /// Trains a network on recorded data and writes the model that programs embed.
    Train(model::Train),
    /// Chooses the few instances that a program embeds, by recorded data.
    Prune(model::Prune),
    /// Measures a model's choices in contexts that were completely recorded.
    Regret(model::Regret),
    /// Measures this CPU.
    #[command(subcommand)]
    Bench(tables::Bench),
}

/// Runs the command line with these arguments, of which the first one is the program's name.
///
/// ```
/// let code = triton_tune::cli(["triton-tune", "table", "space", "--contexts", "2"]);
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// ```
pub fn cli<I, T>(arguments: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help is an error of parsing, too; if it cannot be printed, there is no one to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        // What reads the output has had enough.
        Err(Error::File { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("triton-tune: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Table(table) => table.run(),
        Command::Plot(plot) => plot.run(),
        #[cfg(feature = "jit")]
        Command::Collect(collect) => collect.run(),
        Command::Train(train) => train.run(),
        Command::Prune(prune) => prune.run(),
        Command::Regret(regret) => regret.run(),
        Command::Bench(bench) => bench.run(),
    }
}

/// A bar on the terminal, if there is one.
fn bar(length: usize, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:20} {bar:40} {pos}/{len} {eta}");
    let bar = ProgressBar::new(length as u64).with_message(what);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Prints a text.
fn print(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).map_err(Error::file("standard output"))
}
