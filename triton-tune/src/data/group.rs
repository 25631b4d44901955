//! Rows of one context together.

use super::{Data, Row};
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

impl Data {
    /// Leaves out rows that take more than this many times as long as the fastest of their context.
    pub fn retain_within(&mut self, times: f64) {
        let mut is_close = vec![false; self.rows.len()];
        for group in group(&self.rows) {
            let most = group.best() * times;
            group.rows.iter().zip(&group.places).for_each(|(row, &place)| is_close[place] = row.us <= most);
        }
        let mut is_close = is_close.into_iter();
        self.rows.retain(|_| is_close.next().unwrap_or(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_slower_rows_are_left_out_of_their_context() {
        let row = |m: i64, us: f64| Row { context: vec![m], us, ..Row::default() };
        let rows = vec![row(1, 2.0), row(2, 9.0), row(1, 6.1), row(1, 6.0), row(2, 20.0)];
        let mut data = Data { rows, ..Data::default() };
        data.retain_within(3.0);
        assert_eq!(data.rows.iter().map(|row| row.us).collect::<Vec<_>>(), [2.0, 9.0, 6.0, 20.0]);
    }
}
