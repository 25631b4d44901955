//! Cases of convolutions.

mod errors;
mod real;
mod shift;
mod whole;

use crate::harness::{Case, Family, Order};
use crate::reference::conv::Conv;

/// Convolutions and their gradients.
pub const FAMILY: Family = Family::new("conv", cases);

fn cases() -> Vec<Case> {
    let files = [whole::cases, real::cases, shift::cases, errors::cases];
    files.iter().flat_map(|cases| cases()).collect()
}

/// How images may lie in memory.
const ORDERS: [Order; 4] = [Order::Rows, Order::Planes, Order::Odd, Order::Columns];

/// The name of a convolution in those of cases.
fn name(of: &Conv) -> String {
    let Conv { x, w, stride, padding, dilation } = of;
    format!("{x:?} by {w:?} stride {stride:?} padding {padding:?} dilation {dilation:?}")
}

/// The shape of w.
fn weights(of: &Conv) -> [usize; 4] {
    let [k, r, s] = of.w;
    [k, r, s, of.x[3]]
}

/// The shape of y.
fn output(of: &Conv) -> [usize; 4] {
    let [p, q] = of.places();
    [of.x[0], p, q, of.w[0]]
}
