//! Times that a tuner has measured, as recorded rows.

use super::{Data, Row, Schema};
use crate::error::{Error, Result};
use triton_select::{Record, Table};

/// The columns of a candidate's name, and their values: those that are whole numbers, or `true` or `false`. Not every member of a pool has
/// `max_registers` or `cluster_k`.
fn numbers(member: &str) -> Vec<(&str, i64)> {
    let fields = member.split(' ').filter_map(|field| field.split_once('='));
    let fields = fields.filter(|(name, _)| !["max_registers", "cluster_k"].contains(name));
    let number = |value: &str| match value {
        "true" => Some(1),
        "false" => Some(0),
        _ => value.parse().ok(),
    };
    fields.filter_map(|(name, value)| Some((name, number(value)?))).collect()
}

impl Data {
    /// The times of an operation in a table, such as that of a [`Store`](crate::Store), as rows to train on. `context` names the numbers of
    /// its keys; the names of the candidates have those of the choice. Left out are candidates that failed, keys with another count of
    /// numbers, and candidates without the columns that the first one has.
    ///
    /// ```
    /// use triton_tune::{Record, Table, data::Data};
    ///
    /// let mut table = Table::new("NVIDIA H200");
    /// for (member, us) in [("ROWS=1 num_warps=4", 9.0), ("ROWS=16 num_warps=4", 4.5), ("ROWS=64 num_warps=4", f64::INFINITY)] {
    ///     let (op, key) = ("row_sums".into(), vec![1000, 300]);
    ///     table.insert(Record { op, pool: 0, key, member: member.into(), fingerprint: 0, us });
    /// }
    /// let data = Data::from_table(&table, "row_sums", ["rows", "columns"])?;
    /// assert_eq!(data.schema.choice, ["ROWS", "num_warps"]);
    /// assert_eq!(data.rows.iter().map(|row| (row.choice[0], row.us)).collect::<Vec<_>>(), [(1, 9.0), (16, 4.5)]);
    /// # Ok::<(), triton_tune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The table has no times of the operation, or none that fits the names.
    pub fn from_table<'a>(table: &Table, op: &str, context: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut ops: Vec<String> = table.records().map(|record| record.op).collect();
        ops.dedup();
        if !ops.iter().any(|known| known == op) {
            return Err(Error::name("operation", op, ops));
        }
        let context: Vec<&str> = context.into_iter().collect();
        let fits = |record: &Record| record.op == op && record.us.is_finite() && record.key.len() == context.len();
        let records: Vec<Record> = table.records().filter(fits).collect();
        let columns: Vec<&str> = records
            .first()
            .map_or(Vec::new(), |record| numbers(&record.member).iter().map(|(name, _)| *name).collect());
        let schema = Schema::new(context.iter().copied(), columns.iter().copied(), []);
        let row = |record: &Record| {
            let numbers = numbers(&record.member);
            let choice =
                columns.iter().map(|column| numbers.iter().find(|(name, _)| name == column).map(|(_, value)| *value));
            Some(Row {
                device: table.device().to_owned(),
                op: op.to_owned(),
                context: record.key.clone(),
                choice: choice.collect::<Option<_>>()?,
                us: record.us,
                ..Row::default()
            })
        };
        let rows: Vec<Row> = records.iter().filter_map(row).collect();
        if rows.is_empty() {
            let key = table.records().find(|record| record.op == op).map_or(0, |record| record.key.len());
            let found = format!("{} names", context.len());
            let expected = format!("one for each of the {key} numbers of the keys");
            return Err(Error::value("what the key is called", found, expected, "name each number of the key"));
        }
        Ok(Self { schema, rows, dropped: false })
    }
}
