//! Cases of the family of matrix products.

mod errors;
mod instances;
mod others;
mod products;

use crate::harness::{Case, Family, Scalar};

/// Matrix products.
pub const FAMILY: Family = Family::new("gemm", cases);

fn cases() -> Vec<Case> {
    let mut cases = products::cases();
    cases.extend(instances::cases());
    cases.extend(errors::cases());
    cases.extend(others::cases());
    cases
}

/// What a sum of K products, rounded to `C`, may differ by: ‖error‖ / ‖result‖. Products of whole numbers are exact.
fn bound<T: Scalar, C: Scalar>(k: usize) -> f64 {
    let addition = if size_of::<T>() == 8 { 2f64.powi(-53) } else { 2f64.powi(-24) };
    (1.0 + 2.0 * (k as f64).sqrt()) * addition + 1.25 * C::rounding()
}
