//! Shapes that are not arrays, and tiles of six dimensions.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, zeros::<f32>(64), true);
    store(x + i, zeros::<f32>([2, 2, 2, 2, 4]).expand_dims(0), true);
}

fn main() {}
