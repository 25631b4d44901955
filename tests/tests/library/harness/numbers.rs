//! What families share: shapes, numbers at random, bounds of errors, gradients by finite differences.

use super::{Operand, Order, Outcome, Random, Scalar, compare_above, normal};

/// What a result of type `T` may differ by, of sums of `terms` numbers in `f32`.
pub fn bound<T: Scalar>(terms: usize) -> f64 {
    let single = (1.0 + 2.0 * (terms as f64).sqrt()) * f32::rounding();
    if T::rounding() > f32::rounding() { 1.25 * T::rounding() + single } else { single }
}

/// Orders in turns, so that neighbouring cases have others.
pub fn order(turn: usize) -> Order {
    Order::ALL[turn % Order::ALL.len()]
}

/// All pairs of extents.
pub fn pairs(rows: &[usize], columns: &[usize]) -> Vec<[usize; 2]> {
    rows.iter().flat_map(|&m| columns.iter().map(move |&n| [m, n])).collect()
}

/// Compares an analytic gradient with central differences, in `f64`: `f` at `x`, and the gradient for x from one for its result.
pub fn gradient(
    what: &str,
    random: &mut Random,
    x: &[f64],
    f: impl Fn(&[f64]) -> Vec<f64>,
    backward: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) -> Outcome {
    let h = 1e-5;
    let y = f(x);
    let dy: Vec<f64> = y.iter().map(|_| normal(random)).collect();
    // Both sums are rounded, and their difference is divided by the step: a derivative that cancels is not closer than that.
    let terms: f64 = y.iter().zip(&dy).map(|(y, dy)| (y * dy).abs()).sum();
    let (close, rounded) = (1e-6, f64::EPSILON * terms / h);
    let mut at = x.to_vec();
    let mut weighted = |i: usize, step: f64| {
        at[i] = x[i] + step;
        let y: f64 = f(&at).iter().zip(&dy).map(|(y, dy)| y * dy).sum();
        at[i] = x[i];
        y
    };
    let differences: Vec<f64> = (0..x.len()).map(|i| (weighted(i, h) - weighted(i, -h)) / (2.0 * h)).collect();
    let name = format!("the gradient {what} of the reference");
    compare_above(&name, &backward(x, &dy), &differences, close, rounded / close)
}

/// Numbers of mean 0 and variance 1.
pub fn normals(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal(random)).collect()
}

/// Numbers as an operand.
pub fn operand<T: Scalar, const R: usize>(shape: [usize; R], order: Order, values: &[f64]) -> Operand<T, R> {
    let mut values = values.iter();
    Operand::new(shape, order, || values.next().copied().unwrap_or(0.0))
}
