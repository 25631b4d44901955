//! A kernel is not a method.
use triton::prelude::*;

struct Model;

impl Model {
    #[triton::kernel]
    fn forward(&self, x: PtrMut<f32>) {
        store(x, 1.0, true);
    }
}

fn main() {}
