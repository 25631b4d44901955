//! A `for` counts upwards, through a range with both ends; a range is not a value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let r = 0..n;
    //~ `0..n`: a range is not part of the kernel language [T0001]
    //~   help: the integers from `lo` to `hi` are `arange(lo, hi)`, a tile
    let a = [0.0; 4];
    //~ `[0.0; 4]`: `[value; count]` is not part of the kernel language [T0001]
    //~   help: a tile of one value is `full([count], value)`
    for i in 0..=n {}
    //~ `0..=n`: a range with `..=` is not part of the kernel language [T0015]
    //~   help: write `lo..hi + 1`
    for i in 0.. {}
    //~ `0..`: a `for` loops over a range with both ends [T0015]
    //~   help: write `lo..hi`
    for i in ..n {}
    //~ `..n`: a `for` loops over a range with both ends [T0015]
    //~   help: write `lo..hi`
    for i in (0..n).rev() {}
    //~ `(0..n).rev()`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: a range counts up: write `for i in 0..n`, and `let k = n - 1 - i;`
    for i in (0..n).step_by(2).step_by(3) {}
    //~ `(0..n).step_by(2).step_by(3)`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`
    for i in x {}
    //~ `x`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`
    for mut i in 0..n {}
    //~ `mut i`: the counter of a `for` cannot be `mut` [T0015]
    //~   help: write `for i in ..`, or `for _ in ..`
    for (i, j) in 0..n {}
    //~ `(i, j)`: the counter of a `for` is one number [T0015]
    //~   help: write `for i in ..`, or `for _ in ..`
    store(x + r, 1.0, true);
}

fn main() {}
