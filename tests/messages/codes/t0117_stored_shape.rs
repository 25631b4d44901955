//! Values and masks broadcast to the pointers, never the other way round.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    store(x, load(x + i, i < n), true);
    //~ `load(x + i, i < n)`: the stored value is `tile of f32[128]`, but one element is accessed [T0117]
    //~   help: give it one value, or access a tile, as by `p + arange(0, 64)`
    store(x, 1.0, i < n);
    //~ `i < n`: the mask is `tile of bool[128]`, but one element is accessed [T0117]
    //~   help: give it one value, or access a tile, as by `p + arange(0, 64)`
    let v = load(x, i < n);
    //~ `i < n`: the mask is `tile of bool[128]`, but one element is accessed [T0117]
    //~   help: give it one value, or access a tile, as by `p + arange(0, 64)`
    let j = arange(0, 256);
    store(x + i, 1.0, j < n);
    //~ `j < n`: the mask is `tile of bool[256]`, which does not broadcast to the shape [128] of the access [T0117]
    //~   help: give it that shape, or one that broadcasts to it, as by `x.expand_dims(1)`
}

fn main() {}
