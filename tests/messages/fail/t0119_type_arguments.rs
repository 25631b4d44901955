//! Type arguments, where there are some.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let a = i.to();
    let b = i.to::<f32, f32>();
    let c = i.to::<Tile<f32>>();
    let d = load::<f32>(x, true);
    store(x + i, b, true);
}

fn main() {}
