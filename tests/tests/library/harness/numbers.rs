//! What families share: shapes, numbers at random, gradients by finite differences.

use super::{Failure, Operand, Order, Outcome, Random, Scalar, normal};
use crate::reference::number::{Number, values};

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
    f: impl Fn(&[f64]) -> Vec<Number>,
    backward: impl Fn(&[f64], &[f64]) -> Vec<Number>,
) -> Outcome {
    let h = 1e-5;
    let y = f(x);
    let dy: Vec<f64> = y.iter().map(|_| normal(random)).collect();
    // Both sums are rounded, and their difference is divided by the step: a derivative that cancels is not closer than that.
    let terms: f64 = y.iter().zip(&dy).map(|(y, dy)| (y.value * dy).abs()).sum();
    let mut at = x.to_vec();
    let mut weighted = |i: usize, step: f64| {
        at[i] = x[i] + step;
        let y: f64 = f(&at).iter().zip(&dy).map(|(y, dy)| y.value * dy).sum();
        at[i] = x[i];
        y
    };
    let differences: Vec<f64> = (0..x.len()).map(|i| (weighted(i, h) - weighted(i, -h)) / (2.0 * h)).collect();
    let most = differences.iter().fold(0.0, |most: f64, of| most.max(of.abs()));
    // Differences are off by h² / 6 third derivatives, which are of the size of the first ones.
    let close = 1e-6 * most + f64::EPSILON * terms / h;
    let found = values(&backward(x, &dy));
    match found.iter().zip(&differences).position(|(a, b)| (a - b).abs() > close) {
        None => Ok(()),
        Some(i) => {
            let (found, expected) = (found[i], differences[i]);
            let text =
                format!("the gradient {what} of the reference: element {i} is {found}, not {expected} ± {close:.2e}");
            Err(Failure(text))
        }
    }
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
