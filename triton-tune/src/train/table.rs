//! Recorded rows as columns of numbers.

use crate::data::{Data, Row};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::hash::Hash;

/// What a column depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The context alone.
    Context,
    /// The choice alone.
    Choice,
    /// Both together.
    Joint,
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// What it depends on.
    pub part: Part,
    /// A number for each row.
    pub values: Vec<f64>,
}

/// Columns, times, and which rows share a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns: those of the context, of the choice, and joint ones.
    pub columns: Vec<Column>,
    /// Microseconds.
    pub us: Vec<f64>,
    /// The floating-point operations of each row, if they are known: an estimate `flops`, or 2·m·n·k.
    pub flops: Option<Vec<f64>>,
    /// The microseconds that were expected of each row, if they are known: an estimate `us`.
    pub expected: Option<Vec<f64>>,
    /// A number for each row, which rows of one context share.
    pub contexts: Vec<usize>,
}

/// Numbers the values of an iterator: the same number for the same value.
fn numbered<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> Vec<usize> {
    let mut known = HashMap::new();
    keys.map(|key| {
        let next = known.len();
        *known.entry(key).or_insert(next)
    })
    .collect()
}

impl Table {
    /// The columns of recorded data, and, if `compiled`, what the compiler knows: registers, shared memory, estimates.
    ///
    /// Estimates are sorted by what they depend on in these rows.
    ///
    /// # Errors
    /// No rows.
    pub fn new(data: &Data, compiled: bool) -> Result<Self> {
        let rows = &data.rows;
        if rows.is_empty() {
            return Err(Error::value("the number of recorded rows", 0, "at least one", "record data first"));
        }
        let contexts = numbered(rows.iter().map(|row| (&row.device, &row.op, &row.context)));
        let choices = numbered(rows.iter().map(|row| (&row.op, &row.choice)));
        let column = |name: &str, part: Part, value: &dyn Fn(&Row) -> f64| Column {
            name: name.to_owned(),
            part,
            values: rows.iter().map(value).collect(),
        };
        let schema = &data.schema;
        let number = |values: &[i64], index: usize| values.get(index).map_or(0.0, |&value| value as f64);
        let mut columns = Vec::new();
        for (index, name) in schema.context.iter().enumerate() {
            columns.push(column(name, Part::Context, &|row| number(&row.context, index)));
        }
        for (index, name) in schema.choice.iter().enumerate() {
            columns.push(column(name, Part::Choice, &|row| number(&row.choice, index)));
        }
        let estimate = |index: usize| move |row: &Row| row.estimates.get(index).copied().unwrap_or(0.0);
        if compiled {
            columns.push(column("registers", Part::Choice, &|row| f64::from(row.registers)));
            columns.push(column("shared", Part::Choice, &|row| f64::from(row.shared)));
            for (index, name) in schema.estimates.iter().enumerate() {
                let mut column = column(name, Part::Joint, &estimate(index));
                let parts = [(Part::Context, &contexts), (Part::Choice, &choices)];
                let found = parts.into_iter().find(|(_, groups)| constant(groups, &column.values));
                column.part = found.map_or(Part::Joint, |(part, _)| part);
                columns.push(column);
            }
        }
        columns.sort_by_key(|column| column.part);

        let position = |names: &[String], name: &str| names.iter().position(|known| known == name);
        let extents = ["m", "n", "k"].map(|name| position(&schema.context, name));
        let flops = match (position(&schema.estimates, "flops"), extents) {
            (Some(index), _) => Some(rows.iter().map(estimate(index)).collect()),
            (None, [Some(m), Some(n), Some(k)]) => {
                let product = |row: &Row| 2.0 * [m, n, k].map(|at| number(&row.context, at)).iter().product::<f64>();
                Some(rows.iter().map(product).collect())
            }
            (None, _) => None,
        };
        let expected = position(&schema.estimates, "us").map(|index| rows.iter().map(estimate(index)).collect());
        Ok(Self { columns, us: rows.iter().map(|row| row.us).collect(), flops, expected, contexts })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.us.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.us.is_empty()
    }
}

/// Whether each group has one value.
fn constant(groups: &[usize], values: &[f64]) -> bool {
    let mut known = HashMap::new();
    groups.iter().zip(values).all(|(group, &value)| *known.entry(group).or_insert(value) == value)
}
