//! Cases of dense attention.

mod errors;
mod products;

use crate::harness::{Case, Family};

/// Dense attention and its gradients.
pub const FAMILY: Family = Family::new("attention", cases);

fn cases() -> Vec<Case> {
    let mut cases = products::cases();
    cases.extend(errors::cases());
    cases
}
