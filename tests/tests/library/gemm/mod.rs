//! Cases of the family of matrix products.

mod errors;
mod instances;
mod others;
mod products;
mod with;

use crate::harness::{Case, Family};

pub(crate) use with::placed_bf16;

/// Matrix products.
pub const FAMILY: Family = Family::new("gemm", cases);

fn cases() -> Vec<Case> {
    let mut cases = products::cases();
    cases.extend(instances::cases());
    cases.extend(errors::cases());
    cases.extend(others::cases());
    cases.extend(with::cases());
    cases
}
