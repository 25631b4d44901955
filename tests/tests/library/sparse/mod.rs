//! Cases of block-sparse attention.

mod attention;
mod errors;
mod problem;
mod products;
mod softmax;

use crate::harness::{Case, Family};

/// Block-sparse attention.
pub const FAMILY: Family = Family::new("sparse", cases);

fn cases() -> Vec<Case> {
    let files = [products::cases, softmax::cases, attention::cases, errors::cases];
    files.iter().flat_map(|cases| cases()).collect()
}
