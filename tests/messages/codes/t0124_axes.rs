//! Axes that a tile does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f32, 2>, out: PtrMut<f32>) {
    let v = a.load([0, 0], [16, 16]);
    let r = sum_axis(v, 2);
    //~ `2`: axis 2 of `tile of f32[16,16]`: it must be from 0 to 1 [T0124]
    //~   help: axes are counted from 0, outermost first
    let s = sum_axis(arange(0, 16), 0);
    //~ `sum_axis(arange(0, 16), 0)`: `sum_axis` yields a tile, `tile of i32[16]` has one axis [T0124]
    //~   help: write `sum(..)` for a number
    let c = cumsum(v, 2);
    //~ `2`: axis 2 of `tile of f32[16,16]`: it must be from 0 to 1 [T0124]
    //~   help: axes are counted from 0, outermost first
    let e = cumsum(zeros::<f32>([2, 96]), 1);
    //~ `1`: `cumsum` along an axis of `tile of f32[2,96]` whose extent, 96, is not a power of two [T0124]
    //~   help: scans are along extents of powers of two: take 128
    let f = argmax(zeros::<f32>([2, 96]));
    //~ `argmax(zeros::<f32>([2, 96]))`: `argmax` of `tile of f32[2,96]`, which cannot be flattened [T0124]
    //~   help: an axis whose extent is not a power of two is flattened with those after it alone: take the index along one axis
    let d = scan(arange(0, 16), 1, |a, b| a + b);
    //~ `1` in column 33: axis 1 of `tile of i32[16]`: it must be from 0 to 0 [T0124]
    //~   help: axes are counted from 0, outermost first
    let t = arange(0, 16).transpose();
    //~ `transpose`: `transpose` exchanges the last two axes, `tile of i32[16]` has one [T0124]
    //~   help: insert one with `x.expand_dims(0)`
    let u = v.permute([0, 0]);
    //~ `[0, 0]`: an order of `tile of f32[16,16]` names each of its 2 axes once [T0124]
    //~   help: write them in their new order, as in `[1, 0]`
    let w = v.expand_dims(4);
    //~ `4`: axis 4 of `tile of f32[16,16]`: it must be from 0 to 2 [T0124]
    //~   help: axes are counted from 0, outermost first
    store(out, a.dim(2).to::<f32>(), true);
    //~ `2`: axis 2 of `Tensor<f32, 2>`: it must be from 0 to 1 [T0124]
    //~   help: axes are counted from 0, outermost first
}

fn main() {}
