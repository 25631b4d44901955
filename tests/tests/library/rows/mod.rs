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

use crate::harness::{Case, Family, gradient, normals, operand, order, pairs};
use crate::reference::number::Number;

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
fn by_rows<A>(x: &[A], columns: usize, f: impl Fn(usize, &[A]) -> Vec<Number>) -> Vec<Number> {
    x.chunks(columns.max(1)).enumerate().flat_map(|(i, row)| f(i, row)).collect()
}
