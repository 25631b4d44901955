//! Functions that the others are made of.

use triton::prelude::*;

#[triton::function]
pub(crate) fn cube(x: Tile<f32>) -> Tile<f32> {
    x * x * x
}

/// `x` times `N`.
#[triton::function]
pub fn scale<T: Num, const N: i32>(x: Tile<T>) -> Tile<T> {
    x * N.to::<T>()
}
