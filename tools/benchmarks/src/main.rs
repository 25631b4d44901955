//! Kernels compared with their peers, on one GPU in one run.
//!
//! | command | what it does |
//! |---|---|
//! | `compare` | times our kernels and the peers interleaved in shuffled order, checks results, prints a table |
//! | `papers` | the papers' tables of matrix products, beside cuBLAS and the fastest of cuBLASLt, as `compare` measures |
//! | `users` | what users write, Triton's tutorials by pointers and by views, beside Triton's own, as `compare` measures |
//! | `plot` | a chart of what `compare` wrote; needs no GPU |
//! | `tune` | times every compiled instance of ours: where [`kernels::shipped`] comes from |
//! | `tune-products` | times candidate instances of matrix products: where the table of [`triton_kernels::select`] comes from |
//! | `winners` | times every instance of the library: the table of the fastest that [`triton_kernels::select`] embeds |
//! | `judge` | what the rows of the table and a model choose, beside the fastest that `winners` has measured; needs no GPU |
//! | `select` | the table from shapes to instances of matrix products, and what it chooses for each case; needs no GPU |
//! | `launch` | host time of a warm launch, beside a bare `cuLaunchKernel` |
//! | `first-launch` | time of a kernel's first launch in a process, with an empty and with a warm cache of code |
//! | `compile` | time from embedded IR to PTX, and of the interpreter at stage 2; needs no GPU |
//! | `library` | what a library builds on: gathered rows, linear layers, sums in one launch, graphs, pools |
//! | `epilogues` | products with a function of the user's, by `gemm_with!`, beside those with ReLU and a residual |
//! | `collectives` | all-reduce by size, and a tensor-parallel pair of products, on several GPUs, beside what a model predicts |
//! | `costs` | the constants of the compiler's cost model, measured on the GPU |
//! | `cpu` | an addition and a matrix product on the CPU device, beside the time they may take |
//! | `sim` | a matrix product on the PTX simulator, beside the time it may take |
//! | `serve` | what `compare` starts: processes [`protocol::Request`]s from its standard input |

mod case;
mod collectives;
mod compare;
mod compare_users;
mod compile;
mod coordinator;
mod costs;
mod cpu;
mod data;
mod dtype;
mod epilogues;
mod first_launch;
mod fused;
mod judge;
mod kernels;
mod launch;
mod library;
mod linear;
mod papers;
mod plot;
mod products;
mod protocol;
mod raw;
mod reference;
mod rows;
mod select;
mod serve;
mod shapes;
mod side;
mod sim;
mod state;
mod stats;
mod table;
mod tiles;
mod timing;
mod tune;
mod tune_products;
mod users;
mod verdicts;
mod winners;

use clap::{Args, Parser};
use std::path::PathBuf;
use std::process::ExitCode;

/// An error is a sentence for the person who runs the benchmark.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(about, disable_help_subcommand = true)]
enum Command {
    /// Ours and the peers interleaved in one run
    Compare(compare::Options),
    /// The papers' tables of matrix products, ours beside cuBLAS and cuBLASLt
    Papers(papers::Options),
    /// What users write: Triton's tutorials by pointers and by views, beside Triton's own
    Users(compare_users::Options),
    /// A chart of what `compare` wrote: ours over the fastest peer, case by case; needs no GPU
    Plot(plot::Options),
    /// Every compiled instance of ours, ranked
    Tune(tune::Options),
    /// Candidate instances of matrix products, ranked
    TuneProducts(tune_products::Options),
    /// The fastest instance of the library for products of the papers' tables: the table that it embeds
    Winners(winners::Options),
    /// What the rows of the table and a model choose, beside the fastest that `winners` has measured; needs no GPU
    Judge(judge::Options),
    /// The table from shapes to instances of matrix products, and what it chooses for each case; needs no GPU
    Select(select::Options),
    /// Host time of a warm launch beside a bare cuLaunchKernel
    Launch(launch::Options),
    /// Time of a kernel's first launch in a process, with an empty and with a warm cache of code
    FirstLaunch(first_launch::Options),
    /// Time from embedded IR to PTX; needs no GPU
    Compile(compile::Options),
    /// What a library builds on: gathered rows, sums in one launch, graphs, pools
    Library(library::Options),
    /// Products with an epilogue of the user's beside the library's
    Epilogues(epilogues::Options),
    /// All-reduce by size, and a tensor-parallel pair of products, on several GPUs
    Collectives(collectives::Options),
    /// The constants of the compiler's cost model, measured on the GPU
    Costs(costs::Options),
    /// An addition and a matrix product on the CPU device, beside the time they may take
    Cpu(cpu::Options),
    /// A matrix product on the PTX simulator, beside the time it may take
    Sim(sim::Options),
    /// Processes requests from standard input; started by `compare`
    #[command(hide = true)]
    Serve(serve::Options),
}

/// Options that several commands share.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Where kernels run: a CUDA device, or the CPU to try the benchmark itself
    #[arg(long, default_value = "cuda")]
    device: String,
    /// Elements of the largest operand of `add`, a multiple of 64
    #[arg(long, default_value_t = 1 << 27, value_parser = clap::value_parser!(u32).range(64..=1 << 30))]
    n: u32,
    /// MiB that are written before each repetition, to empty the L2 cache; at least twice its size
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=4096))]
    flush_mib: u32,
    /// Seed of inputs and order; random and reported if it is not given
    #[arg(long)]
    seed: Option<u64>,
    /// File for every repetition and everything that was found, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Writes results as JSON, if a file was asked for.
fn write_json(path: Option<&PathBuf>, value: &impl serde::Serialize) -> Outcome {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(value)?;
    std::fs::write(path, text + "\n").map_err(|e| format!("{}: {e}", path.display()))?;
    println!("written: {}", path.display());
    Ok(())
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Compare(options) => compare::compare(&options),
        Command::Papers(options) => papers::papers(&options),
        Command::Users(options) => compare_users::compare_users(&options),
        Command::Plot(options) => plot::plot(&options),
        Command::Tune(options) => tune::tune(&options),
        Command::TuneProducts(options) => tune_products::tune_products(&options),
        Command::Winners(options) => winners::winners(&options),
        Command::Judge(options) => judge::judge(&options),
        Command::Select(options) => select::select(&options),
        Command::Launch(options) => launch::launch(&options),
        Command::FirstLaunch(options) => first_launch::first_launch(&options),
        Command::Compile(options) => compile::compile(&options),
        Command::Library(options) => library::library(&options),
        Command::Epilogues(options) => epilogues::epilogues(&options),
        Command::Collectives(options) => collectives::collectives(&options),
        Command::Costs(options) => costs::costs(&options),
        Command::Cpu(options) => cpu::cpu(&options),
        Command::Sim(options) => sim::sim(&options),
        Command::Serve(options) => serve::serve(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("triton-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
