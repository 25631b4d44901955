//! Shapes that are not arrays, and tiles of six dimensions.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, zeros::<f32>(64), true);
    //~ `64`: a shape is an array, found `integer literal` [T0123]
    //~   help: write it as `[4, 128]`
    store(x + i, zeros::<f32>([2, 2, 2, 2, 4]).expand_dims(0), true);
    //~ `expand_dims`: a tile with more than 5 dimensions [T0123]
    //~   help: remove an axis with `reshape`
}

fn main() {}
