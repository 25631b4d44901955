//! A network that learns from several others (distillation).
//!
//! A program computes the choice's part of the first layer once, so that its network reads columns of the context or of the choice
//! alone. How many tiles an extent has, and how many waves of blocks a launch is, depends on both, and no small network finds it
//! in some ten thousand samples. Teachers read it, and the mean of several is nearer to the truth than each. What they say of many
//! more calls than were recorded is what the network of the program learns.

use super::{Column, Fitted, Options, Part, Scale, Table, TargetKind, Trainer};
use crate::data::{Data, Row};
use crate::error::{Error, Result};
use crate::space::tensor::judge;
use fastrand::Rng;

/// How a network is taught.
#[derive(Clone, Debug, PartialEq)]
pub struct Lessons {
    /// The networks that teach.
    pub teachers: usize,
    /// How they are trained.
    pub options: Options,
    /// Calls that they predict, beside the recorded ones.
    pub calls: usize,
}

impl Fitted {
    /// Fits a network to what several others predict, which are fitted to recorded rows. Call `progress` after each epoch of each
    /// network, with its number and the error of its steps.
    ///
    /// # Errors
    /// Those of [`Fitted::train`].
    pub fn taught(
        data: &Data,
        lessons: &Lessons,
        trainer: &dyn Trainer,
        options: &Options,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Self> {
        if lessons.teachers == 0 {
            return Err(Error::value("the number of teachers", 0, "at least one", "train on the data itself"));
        }
        let kind = (Scale::Log, TargetKind::Time);
        let recorded = with_tiles(data)?;
        let mut all = data.clone();
        all.rows.extend(calls(data, lessons.calls, &mut Rng::with_seed(options.seed)));
        let asked = with_tiles(&all)?;
        let every = |table: &Table| (0..table.len()).collect::<Vec<usize>>();
        let (mut sums, mut target) = (vec![0.0; asked.len()], [0.0; 2]);
        for teacher in 0..lessons.teachers {
            let options = Options { seed: options.seed + teacher as u64, ..lessons.options.clone() };
            let fitted = Self::train(&recorded, &every(&recorded), kind, trainer, &options, progress)?;
            let predictions = fitted.network.predict(&fitted.features.samples(&asked, &every(&asked)));
            sums.iter_mut().zip(predictions).for_each(|(sum, prediction)| *sum += f64::from(prediction));
            // The same for all of them.
            target = fitted.features.output.map(f64::from);
        }
        let [mean, deviation] = target;
        let us = |sum: &f64| (mean + deviation * sum / lessons.teachers as f64).exp2();
        let mut table = Table::new(&all, false)?;
        table.us = sums.iter().map(us).collect();
        Self::train(&table, &every(&table), kind, trainer, options, progress)
    }
}

/// The most M, N and K of a call that was not recorded.
const MOST: [i64; 3] = [8192, 8192, 131_072];
/// Draws for a call that rules accept.
const DRAWS: usize = 20;

/// Calls that were not recorded: choices of other rows, as far as rules of products accept them, with extents that are up to twice as large or small.
fn calls(data: &Data, count: usize, rng: &mut Rng) -> Vec<Row> {
    let judge = judge(&data.schema);
    let rows = &data.rows;
    let mut calls = Vec::with_capacity(count);
    for _ in 0..count.saturating_mul(DRAWS) {
        if calls.len() == count {
            break;
        }
        let mut row = rows[rng.usize(..rows.len())].clone();
        let other = &rows[rng.usize(..rows.len())];
        row.choice.clone_from(&other.choice);
        if let Some(judge) = judge {
            for (extent, most) in row.context.iter_mut().zip(MOST) {
                let moved = (*extent as f64 * (2.0 * rng.f64() - 1.0).exp2()) as i64;
                // What is aligned stays so.
                let of = if *extent % 8 == 0 { 8 } else { 1 };
                *extent = (moved / of * of).clamp(of, most);
            }
            if judge(&row.context, &row.choice).is_some() {
                continue;
            }
        }
        calls.push(row);
    }
    calls
}

/// The columns of the data, and what its launches of products are: blocks, waves of one block on each multiprocessor, steps of a block along K, and what
/// tiles compute over what is asked for.
fn with_tiles(data: &Data) -> Result<Table> {
    let mut table = Table::new(data, false)?;
    let names = ["m", "n", "k", "BM", "BN", "BK", "splits"];
    let found = names.map(|name| table.columns.iter().position(|column| column.name == name));
    let [Some(m), Some(n), Some(k), Some(bm), Some(bn), Some(bk), Some(splits)] = found else { return Ok(table) };
    let columns: Vec<[f64; 4]> = (0..table.len())
        .map(|row| {
            let [m, n, k, bm, bn, bk, splits] =
                [m, n, k, bm, bn, bk, splits].map(|column| table.columns[column].values[row].max(1.0));
            let tiles = (m / bm).ceil() * (n / bn).ceil();
            let blocks = tiles * splits;
            let waves = (blocks / multiprocessors(&data.rows[row].device)).ceil();
            [blocks, waves, (k / (bk * splits)).ceil(), tiles * bm * bn / (m * n)]
        })
        .collect();
    for (index, name) in ["blocks", "waves", "steps", "padding"].into_iter().enumerate() {
        let values = columns.iter().map(|values| values[index]).collect();
        table.columns.push(Column { name: name.to_owned(), part: Part::Joint, values });
    }
    Ok(table)
}

/// The multiprocessors that a device is said to have; those of an H200 if it is not said.
fn multiprocessors(device: &str) -> f64 {
    let said = device.split(", ").find_map(|part| part.strip_suffix(" multiprocessors")?.parse().ok());
    said.unwrap_or(132.0)
}
