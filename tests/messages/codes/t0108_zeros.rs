//! A tile of more elements than there can be.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    store(x, sum(zeros::<f32>([2048, 2048])), true);
    //~ `[2048, 2048]`: a tile of more than 1048576 elements [T0108]
    //~   help: let several programs share the work
}

fn main() {}
