//! Every operation of the language on every element type, checked against references of its own on any device.
//!
//! A [`case::Case`] is an operation on an element type in one configuration: shape, warps, and how memory lies, which decides
//! among the images of a kernel. It runs one launch over hundreds of elements or more and looks at all memory that the launch was
//! given, also around it. Integers, moves of data and IEEE operations must be right to the bit (any NaN is any other); of other
//! functions each row says how many units in the last place they may be off. There is no other tolerance.
//!
//! References are integers of 128 bits and arithmetic on floats from its definition ([`float`]), and `f64` for functions with a
//! bound: no expected value is computed by the compiler.
//!
//! | to add | where |
//! |---|---|
//! | a function of one float | a row of [`functions`] |
//! | an operator or an exact function | a row of [`operators`] |
//! | a reduction, an atomic update | a row of [`reductions`], [`atomics`] |

#![allow(unsafe_code, reason = "kernels over raw pointers; each launch says why its pointers are in bounds")]

pub mod atomics;
pub mod case;
pub mod casts;
pub mod closures;
pub mod control;
pub mod elementwise;
pub mod float;
pub mod functions;
pub mod inputs;
pub mod memory;
pub mod operators;
pub mod pointers;
pub mod products;
pub mod random;
pub mod reductions;
pub mod reference;
pub mod shapes;
pub mod value;
pub mod views;

use std::collections::BTreeSet;

/// Every case.
pub fn cases() -> Vec<case::Case> {
    let families = [
        operators::integers::cases,
        operators::floats::cases,
        operators::bools::cases,
        operators::choice::cases,
        functions::cases,
        casts::cases,
        pointers::cases,
        views::cases,
        atomics::cases,
        shapes::cases,
        reductions::cases,
        closures::cases,
        products::cases,
        control::cases,
    ];
    families.into_iter().flat_map(|family| family()).collect()
}

/// The functions and methods of the language that at least one case is there for.
pub fn covered() -> BTreeSet<&'static str> {
    cases().iter().flat_map(|case| case.functions).copied().collect()
}
