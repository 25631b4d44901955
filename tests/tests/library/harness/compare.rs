//! Comparisons of results with references, element by element.

use super::{Failure, Outcome, Scalar};
use crate::reference::number::Number;

/// The roundoff of the arithmetic of an operation on elements of type `T`, and what underflows in it: a number that is less, times the factors that
/// a case has, counts as 0. The reference computes in `f64` too, and is off by as much as an operation in `f64`.
fn arithmetic<T: Scalar>() -> [f64; 2] {
    match (1e-10..).contains(&T::rounding()) {
        true => [2f64.powi(-24), 2f64.powi(-100)],
        false => [2f64.powi(-52), 2f64.powi(-1000)],
    }
}

/// What a result that is stored as `T` may be off by: what its computation is off by, and what its rounding adds.
pub fn tolerance<T: Scalar>(expected: &Number) -> f64 {
    // What is not computed is the number itself.
    if expected.error == 0.0 {
        return (T::of(expected.value).value() - expected.value).abs();
    }
    let [unit, underflow] = arithmetic::<T>();
    let computed = unit * expected.error;
    let rounding = if T::rounding() > unit { T::rounding() * (expected.value.abs() + computed) } else { 0.0 };
    computed + rounding + T::range()[0] + underflow
}

/// Whether a result that is stored as `T` is within the tolerance. What is not finite has to be the same; a number that may round to an infinity
/// may be one.
pub fn agrees<T: Scalar>(found: f64, expected: &Number) -> bool {
    let (value, tolerance) = (expected.value, tolerance::<T>(expected));
    if found.is_finite() && value.is_finite() {
        return (found - value).abs() <= tolerance;
    }
    let overflows = found == f64::INFINITY.copysign(value) && value.abs() + tolerance >= T::range()[2];
    found == value || (found.is_nan() && value.is_nan()) || overflows
}

fn lengths<E>(what: &str, found: &[f64], expected: &[E]) -> Outcome {
    match found.len() == expected.len() {
        true => Ok(()),
        false => Err(Failure(format!("{what}: {} elements instead of {}", found.len(), expected.len()))),
    }
}

/// Compares a result, stored as `T`, with its reference: |found − expected| is at most the bound of its error.
///
/// # Errors
/// The first element that differs by more.
pub fn compare<T: Scalar>(what: &str, found: &[f64], expected: &[Number]) -> Outcome {
    lengths(what, found, expected)?;
    let differs = |(found, expected): (&f64, &Number)| !agrees::<T>(*found, expected);
    match found.iter().zip(expected).position(differs) {
        None => Ok(()),
        Some(i) => {
            let (found, expected, tolerance) = (found[i], expected[i].value, tolerance::<T>(&expected[i]));
            Err(Failure(format!("{what}: element {i} is {found}, but {expected} ± {tolerance:.2e} is expected")))
        }
    }
}

/// Compares a result with one that is exact.
///
/// # Errors
/// The first element that differs.
pub fn same(what: &str, found: &[f64], expected: &[f64]) -> Outcome {
    lengths(what, found, expected)?;
    let differs = |(found, expected): (&f64, &f64)| found != expected && !(found.is_nan() && expected.is_nan());
    match found.iter().zip(expected).position(differs) {
        None => Ok(()),
        Some(i) => Err(Failure(format!("{what}: element {i} is {}, but {} is expected", found[i], expected[i]))),
    }
}
