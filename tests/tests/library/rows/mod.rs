//! Cases of operations over rows.

mod activation;
mod column_sums;
mod distance;
mod dropout;
mod groups;
mod lookup;
mod loss;
mod norm;
mod optim;
mod softmax;

use crate::harness::{Case, Family, bound, gradient, normals, operand, order, pairs};

/// Operations over rows.
pub const FAMILY: Family = Family::new("rows", cases);

fn cases() -> Vec<Case> {
    let files = [
        column_sums::cases,
        softmax::cases,
        norm::cases,
        activation::cases,
        distance::cases,
        dropout::cases,
        loss::cases,
        lookup::cases,
        optim::cases,
        groups::cases,
    ];
    files.iter().flat_map(|cases| cases()).collect()
}

/// A function of rows, applied to each.
fn by_rows(x: &[f64], columns: usize, f: impl Fn(usize, &[f64]) -> Vec<f64>) -> Vec<f64> {
    x.chunks(columns.max(1)).enumerate().flat_map(|(i, row)| f(i, row)).collect()
}
