//! Tiles of no type, and of two.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, zeros([64]), true);
    //~ `zeros`: `zeros` needs one element type, found 0 [T0119]
    //~   help: write `zeros::<f32>([4, 128])`
    store(x + i, full::<f32, f32>([64], 1.0), true);
    //~ `full::<f32, f32>`: `full` takes one element type, found 2 [T0119]
}

fn main() {}
