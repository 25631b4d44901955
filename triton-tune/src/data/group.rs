//! Rows of one context together.

use super::Row;
use std::collections::BTreeMap;

/// The rows of one context on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group<'a> {
    /// The rows, in the order of the data.
    pub rows: Vec<&'a Row>,
    /// Their places in the data, counted from 0.
    pub places: Vec<usize>,
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
    let mut groups: BTreeMap<(&str, &str, &[i64]), Group> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        let group = groups.entry((&row.device, &row.op, &row.context)).or_default();
        group.rows.push(row);
        group.places.push(place);
    }
    groups.into_values().collect()
}
