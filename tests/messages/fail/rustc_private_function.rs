//! A function that is private to its module.
use triton::prelude::*;

mod inner {
    use triton::prelude::*;

    #[triton::function]
    fn secret(x: Tile<f32>) -> Tile<f32> {
        x
    }
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, inner::secret(load(x + i, true)), true);
}

fn main() {}
