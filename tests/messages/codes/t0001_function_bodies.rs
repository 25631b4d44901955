//! What is not a function for kernels, and what their bodies cannot hold.
use triton::prelude::*;

#[triton::function]
fn early(x: Tile<f32>, n: i32) -> Tile<f32> {
    if n > 0 {
        return x;
        //~ `return`: a `return` in a function for kernels is not part of the kernel language [T0015]
        //~   help: write the value as the last expression of the function, chosen by `if` or `select`
    }
    x + 1.0
}

#[triton::function]
fn matched(x: Tile<f32>, n: i32) -> Tile<f32> {
    match n {
    //~ `match`: `match` is not part of the kernel language [T0015]
    //~   help: write `if a == b { .. } else { .. }`, or, element by element, `select(a == b, x, y)`
        0 => x,
        _ => -x,
    }
}

#[triton::function]
struct NoFunction;
//~ `struct NoFunction;`: `#[triton::function]` is for a function with a body, and for nothing else [T0001]

#[triton::constant]
fn no_constant() {}
//~ `fn no_constant() {}`: `#[triton::constant]` is for a `const`, and for nothing else [T0001]

#[triton::params]
enum NoStruct {}
//~ `enum NoStruct {}`: `#[triton::params]` is for a struct, and for nothing else [T0001]

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, early(load(x + i, true), 1), true);
}

fn main() {}
