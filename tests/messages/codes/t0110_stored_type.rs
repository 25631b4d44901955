//! A stored value has the type of the memory.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    store(out + i, load(y + i, i < n), i < n);
    //~ `load(y + i, i < n)`: the stored value is `tile of f16[128]`, the memory holds `f32` [T0110]
    //~   help: write `.to::<f32>()`
    store(out + i, i, i < n);
    //~ `i` in column 20: the stored value is `tile of i32[128]`, the memory holds `f32` [T0110]
    //~   help: write `.to::<f32>()`
    let v = load_or(x + i, i < n, i);
    //~ `i` in column 35: the value for masked-off elements is `tile of i32[128]`, the memory holds `f32` [T0110]
    //~   help: write `.to::<f32>()`
    store(out + i, v, true);
}

fn main() {}
