//! Values and masks broadcast to the pointers, never the other way round.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    store(x, load(x + i, i < n), true);
    //~ `load(x + i, i < n)`: the stored value is `tile of f32[128]`, which does not broadcast to one pointer [T0117]
    //~   help: give both the same shape: a tile of pointers is `pointer + indices`, as in `p + arange(0, 64)`
    store(x, 1.0, i < n);
    //~ `i < n`: the mask is `tile of bool[128]`, which does not broadcast to one pointer [T0117]
    //~   help: give both the same shape: a tile of pointers is `pointer + indices`, as in `p + arange(0, 64)`
    let v = load(x, i < n);
    //~ `i < n`: the mask is `tile of bool[128]`, which does not broadcast to one pointer [T0117]
    //~   help: give both the same shape: a tile of pointers is `pointer + indices`, as in `p + arange(0, 64)`
    let j = arange(0, 256);
    store(x + i, 1.0, j < n);
    //~ `j < n`: the mask is `tile of bool[256]`, which does not broadcast to pointers of shape [128] [T0117]
    //~   help: give both the same shape: a tile of pointers is `pointer + indices`, as in `p + arange(0, 64)`
}

fn main() {}
