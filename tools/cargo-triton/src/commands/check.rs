//! `cargo triton check`.

use crate::error::{Error, Result};
use crate::inspect;
use crate::program::Target;
use crate::proof::{Obstacle, obstacle};
use crate::replay;
use crate::trace::{Contents, Launch, Trace};
use indicatif::{ProgressBar, ProgressStyle};
use triton_core::metadata::Image;
use triton_core::span::Span;
use triton_sim::Options;

/// The options.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo triton check --test kernels --seeds 4\n\nThe program or test runs on the CPU device, which takes down what it launches, and what buffers hold. Each launch then runs on the simulator, with as many orders of programs and warps as there are seeds.\n\nfound      a mistake, with its line\nnot found  in these orders and for these inputs there is none\nproved     nor is there for any input of these shapes: no access and no branch depends on what is loaded"
)]
pub struct Args {
    /// Kernels, by name; all by default
    kernels: Vec<String>,
    #[command(flatten)]
    target: Target,
    /// Orders that are tried of each launch
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Every image that a launch may take, in place of the one that it takes
    #[arg(long)]
    all_images: bool,
    /// Warp instructions of a launch at most
    #[arg(long, default_value_t = 200_000_000)]
    most: u64,
    /// Arguments of the program or test
    #[arg(last = true)]
    args: Vec<String>,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let program = self.target.read()?;
        for name in &self.kernels {
            program.named(name)?;
        }
        let trace = Trace::of(&program.path, &self.args, Contents::Taken)?;
        if let Some(status) = &trace.failure {
            eprintln!("warning: {}", Error::Run(status.clone()));
        }
        let is_asked = |launch: &&Launch| {
            let name = |name: &String| launch.instance == *name || launch.instance.split("::<").next() == Some(name);
            self.kernels.is_empty() || self.kernels.iter().any(name)
        };
        let launches: Vec<&Launch> = trace.launches.iter().filter(is_asked).collect();
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(launches.len() as u64).with_style(style);
        let mut wrong = 0;
        for launch in launches {
            bar.set_message(launch.instance.clone());
            let Some(kernel) = program.kernels.iter().find(|kernel| launch.is_of(kernel)) else { continue };
            let images = inspect::images(kernel)?;
            // A buffer that is too large to be written down is zeros on the simulator.
            let is_whole = launch.args.iter().all(|arg| arg.memory.is_none() || arg.data.is_some());
            let input = if is_whole { "this input" } else { "zeros in place of what large buffers held" };
            let mut verdict = match obstacle(&kernel.func) {
                None => "proved     for every input of these shapes".to_string(),
                Some(Obstacle::Data(span)) => {
                    format!(
                        "not found  for {input}: {} depends on what is loaded",
                        place(kernel.func.sources.describe(span))
                    )
                }
                Some(Obstacle::Atomic(Span { .. })) => {
                    "not found  in these orders: it updates memory atomically".to_string()
                }
            };
            let (mut reports, mut told): (Vec<String>, Vec<_>) = Default::default();
            for image in self.images(launch, &images) {
                for seed in 1..=self.seeds {
                    let options = Options { seed, max_instructions: self.most, ..Options::default() };
                    let outcome = match replay::run(kernel, image, launch, launch.programs, &options) {
                        Ok(outcome) => outcome,
                        Err(error) => {
                            verdict = format!("not run    {error}");
                            break;
                        }
                    };
                    for report in &outcome.reports {
                        let key = (report.site.source.clone(), report.fault.name());
                        if !told.contains(&key) {
                            told.push(key);
                            reports.push(format!("{report}\n    on {}, seed {seed}", inspect::name(image)));
                        }
                    }
                }
            }
            if !reports.is_empty() {
                wrong += 1;
                verdict = match reports.len() {
                    1 => "found      1 mistake".into(),
                    count => format!("found      {count} mistakes"),
                };
            }
            bar.suspend(|| {
                println!("{}, {launch}\n  {verdict}", launch.instance);
                reports.iter().for_each(|report| println!("  {}", report.replace('\n', "\n  ")));
            });
            bar.inc(1);
        }
        bar.finish_and_clear();
        if wrong > 0 { Err(Error::Found(wrong)) } else { Ok(()) }
    }

    fn images<'i>(&self, launch: &Launch, images: &'i [Image]) -> Vec<&'i Image> {
        let taken = launch.image();
        let may = |index: usize| Some(index) == taken || self.all_images && launch.may_take(index);
        images.iter().enumerate().filter(|(index, _)| may(*index)).map(|(_, image)| image).collect()
    }
}

fn place(at: Option<String>) -> String {
    at.unwrap_or_else(|| "an access".into())
}
