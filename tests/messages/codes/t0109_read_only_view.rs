//! A store through a read-only view, of another type, and a view where a value is needed.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    a.store([0], zeros::<f32>([16]));
    //~ `store`: a store through `Tensor`, which is read-only [T0109]
    //~   help: declare the parameter as `TensorMut<f32, 1>`
    out.store([0], zeros::<f16>([16]));
    //~ `zeros::<f16>([16])`: the stored value is `tile of f16[16]`, the view holds `f32` [T0110]
    //~   help: write `.to::<f32>()`
    let v = a + 1.0;
    //~ `+`: cannot add `Tensor<f32, 1>` and `float literal` [T0104]
    //~   help: both sides are numbers or tiles
}

fn main() {}
