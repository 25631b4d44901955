//! Wrong operands of `join`, `interleave` and `split`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(p: PtrMut<f32>, x: f32, n: i32) {
    let (v, w) = (full([64], x), full([32], x));
    let _ = join(v, x);
    //~ `x`: `join` is for tiles, found `f32` [T0104]
    //~   help: make a tile of a number with `full(shape, number)`
    let _ = join(1.0, v);
    //~ `1.0`: `join` is for tiles, found `float literal` [T0104]
    //~   help: make a tile of a number with `full(shape, number)`
    let _ = interleave(v, w);
    //~ `w`: `interleave` of shape [64] and `tile of f32[32]` [T0103]
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
    let _ = interleave(v, v.to::<f16>());
    //~ `v.to::<f16>()`: `interleave` of `tile of f32[64]` and `tile of f16[64]` [T0102]
    //~   help: write `.to::<f32>()` here
    let _ = join(v, p + arange(0, 64));
    //~ `p + arange(0, 64)`: `join` of `tile of f32[64]` and `tile of pointers to f32, [64]` [T0102]
    //~   help: join tiles of one element type
    let _ = join(v.reshape([2, 2, 2, 2, 4]), v.reshape([2, 2, 2, 2, 4]));
    //~ `join(v.reshape([2, 2, 2, 2, 4]), v.reshape([2, 2, 2, 2, 4]))`: a tile with more than 5 dimensions [T0123]
    //~   help: remove an axis with `reshape` before
    let _ = join(full([1048576], 1i8), full([1048576], 2i8));
    //~ `join(full([1048576], 1i8), full([1048576], 2i8))`: a tile of more than 1048576 elements [T0108]
    //~   help: let several programs share the work
    let _ = split(v);
    //~ `v`: `split` takes a tile whose last axis has 2 elements, found `tile of f32[64]` [T0123]
    //~   help: make the pairs the last axis with `reshape` or `permute`
    let _ = split(full([2], x));
    //~ `full([2], x)`: `split` of `tile of f32[2]` would be two numbers [T0123]
    //~   help: insert an axis with `x.expand_dims(0)`
    let _ = split(x);
    //~ `x`: `split` is for tiles, found `f32` [T0104]
    //~   help: make a tile of a number with `full(shape, number)`
    let _ = split(v, v);
    //~ `split(v, v)`: `split` takes 1 argument, 2 given [T0101]
    //~   help: write `split(x)`
    let (a, b, c) = split(v.reshape([32, 2]));
    //~ `(a, b, c)`: 3 names for a tuple of 2 [T0115]
    //~   help: write as many names as there are values, with `_` for one that is not needed
}

fn main() {}
