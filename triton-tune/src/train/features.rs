//! Columns as inputs of a network: transformed and standardised.

use super::{Part, Samples, Table};
use crate::error::{Error, Result};
use triton_select::model::{Feature, Transform};

/// How numbers enter the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scale {
    /// log₂; flags stay 0 and 1, and columns with zeros are log₂(x + 1).
    Log,
    /// As they are.
    Raw,
}

/// What the network predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// log₂ of microseconds.
    Time,
    /// log₂ of microseconds over those that the estimate `us` expects: by which factor it errs.
    Factor,
    /// Floating-point operations in units of 10¹² a second, as ISAAC's published code does.
    Tflops,
}

/// The features of a network, and how its output is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    pub(super) list: Vec<(Feature, Part)>,
    pub(super) target: TargetKind,
    /// Mean and standard deviation of the target.
    pub(super) output: [f32; 2],
}

/// Mean and standard deviation; of a column of one value, 1 for the deviation.
fn moments(values: impl Iterator<Item = f64> + Clone) -> [f32; 2] {
    let (count, sum) = values.clone().fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    let mean = sum / f64::max(count, 1.0);
    let deviation = (values.map(|value| (value - mean).powi(2)).sum::<f64>() / f64::max(count, 1.0)).sqrt();
    [mean as f32, if deviation > 1e-9 * mean.abs().max(1e-9) { deviation as f32 } else { 1.0 }]
}

impl Features {
    /// Decides transforms by all rows, and standardises by these.
    ///
    /// # Errors
    /// No rows; TFLOPS of rows whose operations are not known.
    pub fn new(table: &Table, rows: &[usize], scale: Scale, target: TargetKind) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::value("the number of rows to train on", 0, "at least one", "hold fewer rows out"));
        }
        if target == TargetKind::Tflops && table.flops.is_none() {
            let expected = "an estimate `flops`, or extents `m`, `n` and `k`";
            return Err(Error::value("what TFLOPS are computed of", "nothing", expected, "train for `time`"));
        }
        if target == TargetKind::Factor && !table.expected.iter().flatten().all(|&us| us > 0.0) {
            return Err(Error::value(
                "an estimate `us`",
                "a time that is not positive",
                "microseconds",
                "leave its row out",
            ));
        }
        if target == TargetKind::Factor && table.expected.is_none() {
            let expected = "a column `estimate.us`";
            return Err(Error::value("what times are factors of", "nothing", expected, "train for times"));
        }
        let list = table.columns.iter().map(|column| {
            let flag = column.values.iter().all(|&value| value == 0.0 || value == 1.0);
            let zeros = column.values.iter().any(|&value| value <= 0.0);
            let transform = match scale {
                Scale::Raw => Transform::Raw,
                Scale::Log if flag => Transform::Raw,
                Scale::Log if zeros => Transform::Log2PlusOne,
                Scale::Log => Transform::Log2,
            };
            let [mean, scale] = moments(rows.iter().map(|&row| transform.apply(column.values[row] as f32).into()));
            (Feature { name: column.name.clone(), transform, mean, scale }, column.part)
        });
        let list = list.collect();
        let output = moments(rows.iter().map(|&row| value(table, target, row)));
        Ok(Self { list, target, output })
    }

    /// What a network is fitted to, or measured by.
    #[must_use]
    pub fn samples(&self, table: &Table, rows: &[usize]) -> Samples {
        let mut inputs = Vec::with_capacity(rows.len() * self.list.len());
        for &row in rows {
            let values = self.list.iter().zip(&table.columns);
            inputs.extend(values.map(|((feature, _), column)| feature.apply(column.values[row] as f32)));
        }
        let [mean, scale] = self.output.map(f64::from);
        let target = |row: &usize| ((value(table, self.target, *row) - mean) / scale) as f32;
        Samples { width: self.list.len(), inputs, targets: rows.iter().map(target).collect() }
    }

    /// The names of the features.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|(feature, _)| feature.name.as_str())
    }
}

/// The target of a row.
fn value(table: &Table, target: TargetKind, row: usize) -> f64 {
    match target {
        TargetKind::Time => table.us[row].log2(),
        TargetKind::Factor => (table.us[row] / table.expected.as_ref().map_or(1.0, |us| us[row])).log2(),
        TargetKind::Tflops => table.flops.as_ref().map_or(0.0, |flops| flops[row] / table.us[row] * 1e-6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Data, Row, Schema};

    fn table(estimates: &[&str], rows: &[(f64, f64)]) -> Table {
        let row = |&(us, of): &(f64, f64)| Row {
            context: vec![1],
            choice: vec![1],
            estimates: vec![of; estimates.len()],
            us,
            ..Row::default()
        };
        let schema = Schema::new(["m"], ["tile"], estimates.iter().copied());
        let data = Data { schema, rows: rows.iter().map(row).collect(), dropped: false };
        Table::new(&data, false).expect("there are rows")
    }

    #[test]
    fn factors_are_of_the_estimate_of_microseconds() {
        let features = |table: &Table| Features::new(table, &[0, 1], Scale::Log, TargetKind::Factor);
        let known = table(&["us"], &[(8.0, 4.0), (8.0, 1.0)]);
        assert_eq!(features(&known).expect("there is an estimate").output, [2.0, 1.0]);
        for unknown in [table(&["cycles"], &[(8.0, 4.0), (8.0, 1.0)]), table(&["us"], &[(8.0, 4.0), (8.0, 0.0)])] {
            assert!(features(&unknown).is_err());
        }
    }
}
