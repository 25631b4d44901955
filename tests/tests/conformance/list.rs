//! The list of cases.

use crate::case::Case;
use crate::{
    atomics, casts, closures, control, functions, gathers, long, operators, pointers, products, reductions, scans,
    shapes, views,
};
use std::collections::BTreeSet;

/// Every case.
pub fn cases() -> Vec<Case> {
    let families = [
        operators::integers::cases,
        operators::floats::cases,
        operators::bools::cases,
        operators::choice::cases,
        functions::cases,
        casts::cases,
        pointers::cases,
        views::cases,
        gathers::cases,
        atomics::cases,
        shapes::cases,
        reductions::cases,
        long::cases,
        closures::cases,
        scans::cases,
        products::cases,
        control::cases,
    ];
    families.into_iter().flat_map(|family| family()).collect()
}

/// The functions and methods of the language that at least one case is there for.
pub fn covered() -> BTreeSet<&'static str> {
    cases().iter().flat_map(|case| case.functions).copied().collect()
}
