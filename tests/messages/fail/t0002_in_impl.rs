//! A kernel is in a module or function, not in an `impl`.
use triton::prelude::*;

struct Model;

trait Layer {
    #[triton::function]
    fn halved(x: Tile<f32>) -> Tile<f32> {
        x * 0.5
    }
}

impl Model {
    #[triton::kernel]
    fn forward(x: PtrMut<f32>) {
        store(x, 1.0, true);
    }

    #[triton::function]
    fn doubled(x: Tile<f32>) -> Tile<f32> {
        x + x
    }
}

fn main() {}
