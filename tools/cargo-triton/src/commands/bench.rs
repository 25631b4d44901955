//! `cargo triton bench`.

use crate::error::{Error, Result, at};
use crate::program::Target;
use crate::trace::{Contents, Trace};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The options.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo triton bench target/release/before target/release/after\n  cargo triton bench rev:HEAD~1 rev:HEAD --example softmax --release --rounds 9\n\nBoth programs run in turns, in an order that changes from round to round; of each kernel's launches a run's median counts. Times are those of the device; without a GPU those of the CPU device."
)]
pub struct Args {
    /// A program, or `rev:REVISION` for the chosen target of a revision of this repository
    a: String,
    /// Another
    b: String,
    #[command(flatten)]
    target: Target,
    /// How often each program runs
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// A file for a plot, as SVG
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Arguments of both programs
    #[arg(last = true)]
    args: Vec<String>,
}

/// The medians of the runs of each kernel.
type Times = BTreeMap<String, Vec<f64>>;

/// A kernel in both programs.
#[derive(Debug, PartialEq)]
struct Row {
    kernel: String,
    /// Least, median and most microseconds.
    a: [f64; 3],
    b: [f64; 3],
    /// The median of A over that of B in the same round, with the least and the most.
    ratio: [f64; 3],
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let programs = [self.program(&self.a)?, self.program(&self.b)?];
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} runs").unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(2 * self.rounds as u64).with_style(style);
        let (mut times, mut devices): ([Times; 2], Vec<String>) = Default::default();
        for round in 0..self.rounds {
            // As often first as second.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for which in order {
                let trace = Trace::of(&programs[which], &self.args, Contents::Timed)?;
                if let Some(status) = trace.failure {
                    return Err(Error::Run(status));
                }
                devices.extend(trace.launches.iter().map(|launch| launch.device.clone()));
                let mut of_run: Times = BTreeMap::new();
                trace.times.into_iter().for_each(|(kernel, us)| of_run.entry(kernel).or_default().push(us));
                for (kernel, all) in of_run {
                    times[which].entry(kernel).or_default().push(spread(all)[1]);
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        let [a, b] = times;
        let rows = rows(a, b);
        if rows.is_empty() {
            return Err(Error::NoLaunch(" of the same name in both".into()));
        }
        println!("{:<44} {:>26} {:>26} {:>24}", "kernel", "A us", "B us", "A over B");
        for Row { kernel, a, b, ratio } in &rows {
            let shown = |[least, median, most]: [f64; 3], digits: usize| {
                format!("{median:.digits$} [{least:.digits$}, {most:.digits$}]")
            };
            println!("{kernel:<44} {:>26} {:>26} {:>24}", shown(*a, 1), shown(*b, 1), shown(*ratio, 3));
        }
        devices.sort();
        devices.dedup();
        println!("on {}", devices.join(", "));
        println!("medians and ranges of {} runs; A is {}, B is {}", self.rounds, self.a, self.b);
        if let Some(path) = &self.plot {
            at(path, std::fs::write(path, plot(&rows, &self.a, &self.b)))?;
            println!("{}", path.display());
        }
        Ok(())
    }

    /// A program by its path, or the one that a revision builds.
    fn program(&self, name: &str) -> Result<PathBuf> {
        let Some(revision) = name.strip_prefix("rev:") else {
            let path = PathBuf::from(name);
            return if path.is_file() {
                Ok(path)
            } else {
                let why = "there is no such program: name a file, or `rev:REVISION` of this repository";
                Err(Error::Value(name.to_string(), why.into()))
            };
        };
        let root = self.target.root();
        let git = |folder: &Path, args: &[&str]| {
            let failed = |why: String| Error::Tool { tool: format!("git {}", args.join(" ")), why };
            let output = Command::new("git").arg("-C").arg(folder).args(args).output();
            let output = output.map_err(|error| failed(error.to_string()))?;
            match output.status.success() {
                true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
                false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_string())),
            }
        };
        let commit = git(&root, &["rev-parse", "--short=12", revision])?;
        let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?);
        let folder = root.join("target/triton/revisions").join(&commit);
        if !folder.exists() {
            git(&top, &["worktree", "prune"])?;
            git(&top, &["worktree", "add", "--detach", &folder.display().to_string(), &commit])?;
        }
        let inside = root.strip_prefix(&top).unwrap_or(Path::new(""));
        let target = Target { manifest_path: Some(folder.join(inside).join("Cargo.toml")), ..self.target.clone() };
        Ok(target.read()?.path)
    }
}

/// Least, median and most.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    [at(0), (at((values.len().max(1) - 1) / 2) + at(values.len() / 2)) / 2.0, at(values.len().max(1) - 1)]
}

/// The kernels that both programs launch.
fn rows(a: Times, mut b: Times) -> Vec<Row> {
    let row = |(kernel, a): (String, Vec<f64>)| {
        let b = b.remove(&kernel)?;
        let ratio = spread(a.iter().zip(&b).map(|(a, b)| a / b).collect());
        Some(Row { kernel, a: spread(a), b: spread(b), ratio })
    };
    a.into_iter().filter_map(row).collect()
}

/// Bars of the ratios with their ranges, around 1.
fn plot(rows: &[Row], a: &str, b: &str) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let (left, width, height) = (330.0, 420.0, 26.0);
    let most = rows.iter().map(|row| row.ratio[2]).fold(1.1, f64::max);
    let least = rows.iter().map(|row| row.ratio[0]).fold(0.9, f64::min);
    let x = |ratio: f64| left + (ratio - least) / (most - least) * width;
    let bottom = 40.0 + height * rows.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"840\" height=\"{:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"12\" y=\"20\">time of {} over that of {}: left of 1 it is faster</text>\n",
        bottom + 30.0,
        escape(a),
        escape(b)
    );
    for (index, row) in rows.iter().enumerate() {
        let y = 44.0 + height * index as f64;
        let [least, median, most] = row.ratio.map(x);
        let color = if row.ratio[1] <= 1.0 { "#2a7" } else { "#c53" };
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text><line x1=\"{least:.1}\" x2=\"{most:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\" stroke-width=\"3\"/><circle cx=\"{median:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{color}\"/><text x=\"{:.0}\" y=\"{:.1}\">{:.3}</text>",
            left - 14.0,
            y + 9.0,
            escape(&row.kernel),
            y + 5.0,
            y + 5.0,
            y + 5.0,
            left + width + 14.0,
            y + 9.0,
            row.ratio[1]
        );
    }
    let one = x(1.0);
    let _ = writeln!(
        svg,
        "<line x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"34\" y2=\"{bottom:.1}\" stroke=\"#888\" stroke-dasharray=\"3 3\"/><text x=\"{one:.1}\" y=\"{:.1}\" text-anchor=\"middle\">1</text>\n</svg>",
        bottom + 16.0
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::{Times, plot, rows, spread};

    #[test]
    fn kernels_of_both_programs_are_compared_round_by_round() {
        let times = |of: &[(&str, &[f64])]| of.iter().map(|(k, t)| (k.to_string(), t.to_vec())).collect::<Times>();
        let a = times(&[("add<f32>", &[10.0, 12.0, 11.0]), ("gone", &[1.0])]);
        let b = times(&[("add<f32>", &[20.0, 12.0, 22.0]), ("new", &[1.0])]);
        let rows = rows(a, b);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.a, row.b, row.ratio), ([10.0, 11.0, 12.0], [12.0, 20.0, 22.0], [0.5, 0.5, 1.0]));
        assert_eq!(spread(vec![4.0, 1.0, 2.0, 3.0])[1], 2.5);
        let svg = plot(&rows, "rev:a", "rev:b");
        assert!(svg.contains("add&lt;f32>") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
