//! Errors that a call causes in a function, and in a function that this one calls.
use triton::prelude::*;

mod inner {
    use triton::prelude::*;

    #[triton::function]
    pub fn add_row(x: Tile<f32>, row: Tile<f32>) -> Tile<f32> {
        x + row
        //~ `+`: cannot add `tile of f32[64]` and `tile of f32[32]` [T0103]
        //~   note: in `add_row`, called at t0103_inside_a_function.rs:19:5
        //~   note: in `bias`, called at t0103_inside_a_function.rs:25:30
        //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
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
    //~ `clamp`: in `clamp`, called here: `maximum` of shape [64] and `tile of f32[32]` [T0103]
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
}

fn main() {}
