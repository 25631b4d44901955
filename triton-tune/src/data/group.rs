//! Rows of one context together.

use super::Row;
use std::collections::BTreeMap;

/// The rows of one context on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'a> {
    /// The rows, in the order of the data.
    pub rows: Vec<&'a Row>,
}

impl Group<'_> {
    /// The shortest time, in µs.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.rows.iter().map(|row| row.us).fold(f64::INFINITY, f64::min)
    }
}

/// Groups rows by device, operation and context, in their order.
#[must_use]
pub fn group(rows: &[Row]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(&str, &str, &[i64]), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry((&row.device, &row.op, &row.context)).or_default().push(row);
    }
    groups.into_values().map(|rows| Group { rows }).collect()
}
