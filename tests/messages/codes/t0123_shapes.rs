//! Shapes that a tile, or a view, does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f32, 2>, out: TensorMut<f32, 2>, n: i32) {
    let i = zeros::<f32>([4, 500]);
    //~ `[4, 500]`: an extent of 500 = 125 · 4, whose odd factor is more than 31 [T0123]
    //~   help: take 512: a view masks off what is out of bounds; mask off the rest with `select(i < 500, x, 0.0)`
    let j = full([2, 2, 2, 2, 2, 2], 1.0);
    //~ `[2, 2, 2, 2, 2, 2]`: a shape has 6 entries; a tile has 1 to 5 dimensions [T0123]
    //~   help: write it as `[4, 128]`
    let o = zeros::<f32>([2, 96]).reshape([192]);
    //~ `[192]`: `tile of f32[2,96]` to [192] reshapes across an extent that is not a power of two [T0123]
    //~   help: an odd factor stays the outermost part of its axis: `[2, 96]` can become `[2, 12, 8]`, but not `[192]`
    let p = zeros::<f32>([4, 0]);
    //~ `[4, 0]`: an extent of 0 [T0123]
    //~   help: an extent is 1 or more
    let k = arange(0, 64).reshape([4, 8]);
    //~ `[4, 8]`: `tile of i32[64]` has 64 elements, the shape [4,8] has 32 [T0123]
    //~   help: the extents multiply to 64
    let l = a.load([n], [4, 4]);
    //~ `[n]`: an index with 1 entries for `Tensor<f32, 2>` [T0123]
    //~   help: write 2, one for each axis
    let m = a.load([n, n], [4]);
    //~ `[4]`: a tile with 1 dimension for `Tensor<f32, 2>` [T0123]
    //~   help: write an extent for each axis of the view: 1 for one that is fixed, as in `[1, 64]`
    out.store([0, 0], arange(0, 16).to::<f32>());
    //~ `arange(0, 16).to::<f32>()`: a tile with 1 dimension for `TensorMut<f32, 2>` [T0123]
    //~   help: a tile has as many dimensions as its view: add one of extent 1, `x.expand_dims(0)`
}

fn main() {}
