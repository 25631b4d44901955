//! A kernel stands in a module or function, not in an `impl`.
use triton::prelude::*;

struct Model;

impl Model {
    #[triton::kernel]
    fn forward(x: PtrMut<f32>) {
        store(x, 1.0, true);
    }
}

fn main() {}
