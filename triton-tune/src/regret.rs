//! How good a model's choices are, by complete measurements: contexts in which every candidate was timed.

use crate::data::{Data, group};
use crate::error::{Error, Result};
use crate::train::{Part, Table};
use triton_select::model::{Feature, Model, Scratch};

/// The time of what was chosen over the best time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The geometric mean over contexts.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
}

impl Summary {
    pub(crate) fn new(ratios: impl Iterator<Item = f64> + Clone) -> Self {
        let (count, sum) = ratios.clone().fold((0.0, 0.0), |(count, sum), ratio| (count + 1.0, sum + ratio.ln()));
        Self { mean: (sum / f64::max(count, 1.0)).exp(), worst: ratios.fold(1.0, f64::max) }
    }
}

/// The choices in one context.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The context's values.
    pub context: Vec<i64>,
    /// The candidates that were timed.
    pub candidates: usize,
    /// The best time, in µs.
    pub best: f64,
    /// The time of the model's first choice.
    pub first: f64,
    /// The best time of its first few, as if they had been measured again.
    pub top: f64,
}

/// Choices in all contexts that have enough candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Regret {
    /// The choices.
    pub choices: Vec<Choice>,
    /// The model's first choice.
    pub first: Summary,
    /// The best of its first few.
    pub top: Summary,
}

/// The columns of a table that features of a context or of a choice are.
pub(crate) fn columns<'t>(table: &'t Table, features: &[Feature], part: Part) -> Result<Vec<&'t Vec<f64>>> {
    let of_part = || table.columns.iter().filter(move |column| column.part == part);
    let find = |name: &String| of_part().find(|column| column.name == *name).map(|column| &column.values);
    let known = || of_part().map(|column| &column.name);
    let found = features
        .iter()
        .map(|feature| find(&feature.name).ok_or_else(|| Error::name("column of the data", &feature.name, known())));
    found.collect()
}

/// Measures a model's choices in the contexts of data that have at least `candidates` rows: the first one, and the best of `top`.
///
/// # Errors
/// A feature of the model that the data lacks, or that is not of the context or of the choice there; no such context.
pub fn regret(model: &Model, data: &Data, top: usize, candidates: usize) -> Result<Regret> {
    let table = Table::new(data, true)?;
    let (context, choice) =
        (columns(&table, model.context(), Part::Context)?, columns(&table, model.choice(), Part::Choice)?);
    let of_row =
        |columns: &[&Vec<f64>], row: usize| -> Vec<f32> { columns.iter().map(|values| values[row] as f32).collect() };
    let (mut choices, mut scratch) = (Vec::new(), Scratch::default());
    for group in group(&data.rows).iter().filter(|group| group.rows.len() >= candidates.max(1)) {
        let values: Vec<Vec<f32>> = group.places.iter().map(|&place| of_row(&choice, place)).collect();
        let mut times = vec![0.0; values.len()];
        let call = of_row(&context, group.places[0]);
        model.ranking(&values)?.times(&call, &mut scratch, &mut times)?;
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let chosen = order.iter().take(top.max(1)).map(|&index| group.rows[index].us);
        choices.push(Choice {
            context: group.rows[0].context.clone(),
            candidates: values.len(),
            best: group.best(),
            first: group.rows[order[0]].us,
            top: chosen.fold(f64::INFINITY, f64::min),
        });
    }
    if choices.is_empty() {
        let largest = group(&data.rows).iter().map(|group| group.rows.len()).max().unwrap_or(0);
        let (what, expected) = ("the number of rows of the largest context", format!("at least {candidates}"));
        return Err(Error::value(what, largest, expected, "ask for fewer, by `--candidates`"));
    }
    let first = Summary::new(choices.iter().map(|choice| choice.first / choice.best));
    let top = Summary::new(choices.iter().map(|choice| choice.top / choice.best));
    Ok(Regret { choices, first, top })
}
