//! Elementwise functions.

use crate::polynomial::{self, scale};
use triton::prelude::*;

/// A constant that only this crate's functions know by its name.
#[triton::constant]
const CUBIC: f32 = 0.044_715;

/// The Gaussian error linear unit, by its tanh approximation.
#[triton::function]
pub fn gelu(x: Tile<f32>) -> Tile<f32> {
    let inner = std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2 * (x + CUBIC * polynomial::cube(x));
    0.5 * x * (1.0 + hidden::tanh_(inner))
}

mod hidden {
    use triton::prelude::*;

    #[triton::function]
    pub(super) fn tanh_(x: Tile<f32>) -> Tile<f32> {
        1.0 - 2.0 / (exp(2.0 * x) + 1.0)
    }
}

/// Sigmoid linear unit.
#[triton::function]
pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
    x * sigmoid(x)
}

/// Both, and the cube: a diamond of calls.
#[triton::function]
pub fn all_of_them(x: Tile<f32>) -> Tile<f32> {
    gelu(x) + silu(x) + self::gelu(scale::<f32, 2>(x)) + polynomial::cube(x)
}

/// The larger of the two, and whether it was the first.
#[triton::function]
pub fn larger<T: Num>(pair: (Tile<T>, Tile<T>)) -> (Tile<T>, Tile<bool>) {
    let (a, b) = pair;
    (maximum(a, b), a >= b)
}
