//! Cases of convolutions.

mod errors;
mod groups;
mod real;
mod shift;
mod volumes;
mod whole;

use crate::harness::{Case, Family, Order, Subject};
use crate::reference::conv::Conv;

/// Convolutions and their gradients.
pub const FAMILY: Family = Family::new("conv", cases);

fn cases() -> Vec<Case> {
    let files = [whole::cases, groups::cases, volumes::cases, real::cases, shift::cases, errors::cases];
    files.iter().flat_map(|cases| cases()).collect()
}

/// What is tried of each of these operations.
pub fn subjects() -> Vec<Subject> {
    [groups::subjects(), volumes::subjects()].into_iter().flatten().collect()
}

/// How images may lie in memory.
const ORDERS: [Order; 4] = [Order::Rows, Order::Planes, Order::Odd, Order::Columns];

/// The name of a convolution in those of cases.
fn name(of: &Conv) -> String {
    let Conv { x, w, stride, padding, dilation, groups } = of;
    let groups = if *groups == 1 { String::new() } else { format!(" groups {groups}") };
    format!("{x:?} by {w:?} stride {stride:?} padding {padding:?} dilation {dilation:?}{groups}")
}

/// The shape of w.
fn weights(of: &Conv) -> [usize; 4] {
    let [k, r, s] = of.w;
    [k, r, s, of.x[3] / of.groups]
}

/// The shape of y.
fn output(of: &Conv) -> [usize; 4] {
    let [p, q] = of.places();
    [of.x[0], p, q, of.w[0]]
}
