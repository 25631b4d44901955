//! Sums of columns in `f64`.

/// The sums of the columns.
pub fn column_sums(x: &[f64], columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    x.iter().zip((0..columns).cycle()).for_each(|(x, j)| sums[j] += x);
    sums
}
