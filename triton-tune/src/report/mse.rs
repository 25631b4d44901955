//! The papers' networks on recorded data: ISAAC's Table 2, the thesis' Table 4.1 and Figure 4.7.

use super::text;
use crate::data::Data;
use crate::error::Result;
use crate::train::{ARCHITECTURES, Fitted, Options, Scale, Split, Table, TargetKind, Trainer, split};

/// What is trained on, and what is held out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// What networks predict.
    pub target: TargetKind,
    /// Rows that are held out.
    pub held_out: usize,
    /// The most rows that are trained on.
    pub samples: usize,
    /// The most weights: larger networks are left out.
    pub weights: usize,
    /// Networks of each row, of other seeds, whose errors are averaged.
    pub networks: usize,
    /// What random numbers start from.
    pub seed: u64,
}

/// The rows that are trained on and those that are held out, by row and by context.
#[must_use]
pub fn splits(table: &Table, setting: &Setting) -> [[Vec<usize>; 2]; 2] {
    [Split::Sample, Split::Context].map(|by| {
        let [mut train, test] = split(table, by, setting.held_out, setting.seed);
        train.truncate(setting.samples);
        [train, test]
    })
}

/// The name of a network: its hidden layers.
fn name(hidden: &[usize]) -> String {
    hidden.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The weights of a network.
fn weights(inputs: usize, hidden: &[usize]) -> usize {
    let units = [inputs].into_iter().chain(hidden.iter().copied());
    units.zip(hidden.iter().copied().chain([1])).map(|(from, to)| (from + 1) * to).sum()
}

/// The mean squared error of each network, on held-out rows and on held-out contexts, with logarithms, with what the compiler knows
/// beside them, and without logarithms, beside the papers'. Errors are of the standardised target; `progress` is called after each
/// epoch with the epochs that are done, and all of them.
///
/// # Errors
/// Those of [`Fitted::train`].
pub fn mse(
    data: &Data,
    setting: &Setting,
    options: &Options,
    trainer: &dyn Trainer,
    mut progress: impl FnMut(usize, usize),
) -> Result<String> {
    let tables = [Table::new(data, false)?, Table::new(data, true)?];
    // Features, and whether what the compiler knows is among them.
    let kinds = [(Scale::Log, 0), (Scale::Log, 1), (Scale::Raw, 0)];
    let inputs = tables[1].columns.len();
    let networks: Vec<_> =
        ARCHITECTURES.iter().filter(|network| weights(inputs, network.hidden) <= setting.weights).collect();
    let splits = splits(&tables[0], setting);
    let repeats = setting.networks.max(1);
    let all = networks.len() * kinds.len() * splits.len() * options.epochs * repeats;
    let (mut done, mut rows) = (0, Vec::new());
    for network in networks {
        let mut row = vec![name(network.hidden), String::new()];
        for [train, test] in &splits {
            let mut errors = Vec::new();
            for (scale, table) in kinds {
                let mut error = 0.0;
                let mut epoch = |_: usize, _: f64| {
                    done += 1;
                    progress(done, all);
                };
                let table = &tables[table];
                for repeat in 0..repeats as u64 {
                    let seed = options.seed + repeat;
                    let options = Options { hidden: network.hidden.to_vec(), seed, ..options.clone() };
                    let fitted = Fitted::train(table, train, (scale, setting.target), trainer, &options, &mut epoch)?;
                    row[1] = format!("{:.0}k", fitted.network.weights() as f64 / 1000.0);
                    error += fitted.error(table, test) / repeats as f64;
                }
                errors.push(error);
            }
            row.extend(errors.iter().map(|error| format!("{error:.4}")));
            row.push(format!("{:.1}", errors[2] / errors[0]));
        }
        row.push(network.paper.to_string());
        row.push(network.paper_raw.map_or_else(String::new, |raw| format!("{raw} ({:.1})", raw / network.paper)));
        rows.push(row);
    }
    let header = [
        "hidden layers",
        "weights",
        "rows: log",
        "compiled",
        "raw",
        "raw/log",
        "contexts: log",
        "compiled",
        "raw",
        "raw/log",
        "paper: log",
        "raw (ratio)",
    ];
    let [[train, test], [train_contexts, test_contexts]] = &splits;
    Ok(format!(
        "{}; {} rows trained on and {} held out by row, {} and {} by context; {} epochs\n{}",
        match setting.target {
            TargetKind::Time => "log₂ µs, standardised",
            TargetKind::Factor => "log₂ of a factor, standardised",
            TargetKind::Tflops => "TFLOPS, standardised",
        },
        train.len(),
        test.len(),
        train_contexts.len(),
        test_contexts.len(),
        options.epochs,
        text(&header, &rows),
    ))
}

/// The errors of one network by the number of rows that it is trained on: 1000, 2000, 5000 and so on, held out by row and by
/// context.
///
/// # Errors
/// Those of [`Fitted::train`].
pub fn by_size(
    data: &Data,
    setting: &Setting,
    options: &Options,
    trainer: &dyn Trainer,
    mut progress: impl FnMut(usize, usize),
) -> Result<[Vec<(usize, f64)>; 2]> {
    let table = Table::new(data, false)?;
    let splits = [Split::Sample, Split::Context].map(|by| split(&table, by, setting.held_out, setting.seed));
    let sizes = |most: usize| {
        let most = most.min(setting.samples);
        let decades = std::iter::successors(Some(1000), |decade: &usize| decade.checked_mul(10));
        let steps = decades.take_while(move |decade| *decade < most).flat_map(|decade| [1, 2, 5].map(|by| by * decade));
        steps.filter(move |size| *size < most).chain([most]).collect::<Vec<usize>>()
    };
    let all: usize = splits.iter().map(|[train, _]| sizes(train.len()).len() * options.epochs).sum();
    let (mut done, mut curves) = (0, [Vec::new(), Vec::new()]);
    for ([train, test], curve) in splits.into_iter().zip(&mut curves) {
        for size in sizes(train.len()) {
            let mut epoch = |_: usize, _: f64| {
                done += 1;
                progress(done, all);
            };
            let kind = (Scale::Log, setting.target);
            let fitted = Fitted::train(&table, &train[..size], kind, trainer, options, &mut epoch)?;
            curve.push((size, fitted.error(&table, &test)));
        }
    }
    Ok(curves)
}
