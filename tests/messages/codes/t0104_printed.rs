//! What cannot be printed, and what cannot be asserted.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, a: Tensor<f32, 1>, n: i32) {
    println!("{}", x);
    //~ `x`: `println!` prints numbers, `bool` and tiles of these, found `pointer to f32` [T0104]
    //~   help: print what is loaded through a pointer, and the parts of a tuple
    println!("{} {}", n, a);
    //~ `a`: `println!` prints numbers, `bool` and tiles of these, found `Tensor<f32, 1>` [T0104]
    //~   help: print what is loaded through a pointer, and the parts of a tuple
    println!("{} {}", arange(0, 32), arange(0, 64));
    //~ `arange(0, 64)`: `tile of i32[64]` in one line with a tile of shape [32] [T0103]
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
    println!("{} {} {} {} {} {} {} {} {}", n, n, n, n, n, n, n, n, n);
    //~ `println!("{} {} {} {} {} {} {} {} {}", n, n, n, n, n, n, n, n, n)`: a line of 9 values; the maximum is 8 [T0101]
    //~   help: print several lines
    println!("{}", store(x, 1.0, true));
    //~ `store(x, 1.0, true)`: this call yields no value [T0116]
    assert!(n, "a number");
    //~ `n`: an assertion is of `bool` or a tile of `bool`, found `i32` [T0105]
    //~   help: compare, as in `i < n`
    assert!(load(x + arange(0, 32), true), "a tile of numbers");
    //~ `load(x + arange(0, 32), true)`: an assertion is of `bool` or a tile of `bool`, found `tile of f32[32]` [T0105]
    //~   help: compare, as in `i < n`
}

fn main() {}
