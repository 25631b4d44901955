//! Types of the body are element types and tiles.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let a: [i32; 2] = [1, 2];
    //~ `[i32; 2]`: the type `[i32; 2]` is not part of the kernel language [T0001]
    //~   help: types are element types and `Tile<T>`
    let b: &i32 = n;
    //~ `&i32`: the type `&i32` is not part of the kernel language [T0001]
    //~   help: types are element types and `Tile<T>`
    let c: _ = n;
    //~ `_`: the type `_` is not part of the kernel language [T0001]
    //~   help: leave the annotation out, or write the type
    let d = n as _;
    //~ `_`: the type `_` is not part of the kernel language [T0001]
    //~   help: leave the annotation out, or write the type
    store(x, 1.0.to::<4>(), true);
    //~ `4`: `4` is used where only a type is allowed [T0001]
}

fn main() {}
