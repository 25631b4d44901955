//! Errors that a call causes in a function, and in a function that this one calls.
use triton::prelude::*;

mod inner {
    use triton::prelude::*;

    #[triton::function]
    pub fn add_row(x: Tile<f32>, row: Tile<f32>) -> Tile<f32> {
        x + row
    }
}

#[triton::function]
fn bias(x: Tile<f32>, row: Tile<f32>) -> Tile<f32> {
    inner::add_row(x * 2.0, row)
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let v = load(x + arange(0, 64), true);
    store(x + arange(0, 64), bias(v, zeros::<f32>([32])), true);
    store(x + arange(0, 64), clamp(v, zeros::<f32>([32]), 1.0), true);
}

fn main() {}
