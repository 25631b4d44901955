//! Looks for an input that makes the parser or the compiler panic.

use clap::Parser;
use std::time::{Duration, Instant};
use triton_tests::fuzz::{corpus, input, run};

#[derive(Parser)]
#[command(about)]
struct Options {
    /// How long to look
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Where to begin; the cases that follow are numbered from there
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Runs this case alone, and prints it
    #[arg(long)]
    case: Option<u64>,
}

fn main() {
    let options = Options::parse();
    let seeds = corpus::seeds();
    println!("{} kernels, functions, constants and structs to begin with", seeds.len());
    if let Some(case) = options.case {
        let input = input(&seeds, case);
        println!("{:?}({})\n{}", input.attribute, input.args, input.item);
        println!("{:?}", run(&input));
        return;
    }
    // A panic that is caught is reported below; its trace would bury the report.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = triton_tests::root().join("target/fuzz");
    if let Err(error) = std::fs::create_dir_all(&folder) {
        println!("cannot write to {}: {error}", folder.display());
    }
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(options.minutes * 60.0));
    let (mut case, mut found, mut slowest) = (options.seed, 0, (Duration::ZERO, 0));
    while start.elapsed() < limit {
        // What overflows the stack ends the process: the number of the case is on disk then.
        let _ = std::fs::write(folder.join(format!("case-{}", options.seed)), case.to_string());
        let (input, begun) = (input(&seeds, case), Instant::now());
        if let Err(message) = run(&input) {
            found += 1;
            println!("case {case}: {message}");
        }
        slowest = slowest.max((begun.elapsed(), case));
        case += 1;
    }
    let count = case - options.seed;
    println!("slowest: case {} in {:.1} s", slowest.1, slowest.0.as_secs_f64());
    println!("fuzz: {count} cases, {found} failed");
    if found > 0 {
        std::process::exit(1);
    }
}
