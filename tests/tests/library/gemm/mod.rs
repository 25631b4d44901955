//! Cases of the family of matrix products.

mod errors;
mod instances;
mod others;
mod products;

use crate::harness::{Case, Family};

/// Matrix products.
pub const FAMILY: Family = Family::new("gemm", cases);

fn cases() -> Vec<Case> {
    let mut cases = products::cases();
    cases.extend(instances::cases());
    cases.extend(errors::cases());
    cases.extend(others::cases());
    cases
}
