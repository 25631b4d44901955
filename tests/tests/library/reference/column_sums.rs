//! Sums of columns in `f64`.

use super::number::{Number, Total, totals};

/// The sums of the columns.
pub fn column_sums<N: Into<Number> + Copy>(x: &[N], columns: usize) -> Vec<Number> {
    let mut sums = vec![Total::default(); columns];
    x.iter().zip((0..columns).cycle()).for_each(|(x, j)| sums[j] += *x);
    totals(sums)
}
