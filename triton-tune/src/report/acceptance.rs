//! ISAAC's Table 1: how many samples are legal, before and after the sampler has learnt.

use super::text;
use crate::error::Result;
use crate::sample::{Options, Round, fit};
use crate::space::{Candidates, isaac, tensor, thesis};

/// A space, and what a paper says of it.
struct Entry {
    space: Box<dyn Candidates>,
    /// The share of uniform samples, and of the fitted sampler.
    paper: Option<[&'static str; 2]>,
    fits: usize,
}

fn entries() -> Vec<Entry> {
    let gemm = Some(["0.1 %", "20 %"]);
    let conv = Some(["0.1 %", "15 %"]);
    vec![
        Entry { space: Box::new(isaac::gemm()), paper: gemm, fits: 8 },
        Entry { space: Box::new(isaac::gemm_derived()), paper: gemm, fits: 3 },
        Entry { space: Box::new(isaac::conv()), paper: conv, fits: 8 },
        Entry { space: Box::new(isaac::conv_derived()), paper: conv, fits: 3 },
        Entry { space: Box::new(thesis::gemm(thesis::Cores::V100)), paper: None, fits: 3 },
        Entry { space: Box::new(thesis::gemm(thesis::Cores::H200)), paper: None, fits: 3 },
        Entry { space: Box::new(tensor::gemm()), paper: None, fits: 3 },
    ]
}

/// The table, space by space: acceptance, entropy and the rule that rejects most, of the uniform sampler and of each fit, without a
/// uniform share.
///
/// `part` is called with each space's part of the table, `progress` with the rounds done and all of them.
///
/// # Errors
/// Options that a sampler refuses, and those of `part`.
pub fn acceptance(
    options: &Options,
    mut progress: impl FnMut(usize, usize),
    mut part: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let entries = entries();
    let all: usize = entries.iter().map(|entry| entry.fits + 1).sum();
    let mut done = 0;
    for entry in entries {
        let mut rounds = Vec::new();
        let options = Options { fits: entry.fits, mixture: 0.0, max_bits: f64::INFINITY, ..*options };
        fit(entry.space.as_ref(), &options, |round| {
            rounds.push(round.clone());
            done += 1;
            progress(done, all);
        })?;
        part(&rows(entry.space.as_ref(), &rounds, entry.paper, &options))?;
    }
    Ok(())
}

fn rows(space: &dyn Candidates, rounds: &[Round], paper: Option<[&str; 2]>, options: &Options) -> String {
    let start = rounds.first().map_or(0.0, |round| round.entropy);
    let limit = Options::default().max_bits;
    let rows: Vec<Vec<String>> = rounds
        .iter()
        .map(|round| {
            let [uniform, fitted] = paper.unwrap_or(["", ""]);
            let last = round.fit + 1 == rounds.len();
            let total: usize = round.rejected.iter().map(|(_, count)| count).sum();
            let most = round
                .rejected
                .first()
                .map(|(rule, count)| format!("{rule} {:.0} %", 100.0 * *count as f64 / total.max(1) as f64));
            vec![
                if round.fit == 0 { "uniform".into() } else { format!("fit {}", round.fit) },
                format!("{:.3} %", 100.0 * round.acceptance),
                (if round.fit == 0 {
                    uniform
                } else if last {
                    fitted
                } else {
                    ""
                })
                .into(),
                format!("{:.1}", round.entropy),
                format!("{:+.1}", round.entropy - start),
                if start - round.entropy > limit { "stopped before".into() } else { String::new() },
                most.unwrap_or_default(),
            ]
        })
        .collect();
    let header = ["sampler", "accepted", "paper", "entropy, bits", "change", "collection", "rejected most by"];
    format!(
        "{}: {:.1e} candidates, prior {}, {} accepted samples a fit\n{}\n",
        space.title(),
        space.size(),
        options.prior,
        options.accepted,
        text(&header, &rows),
    )
}
