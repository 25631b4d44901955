//! What cannot be converted.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let m = i.to::<bool>();
    //~ `i`: `tile of i32[128]` cannot be converted to `bool` [T0114]
    //~   help: compare it, as in `x != 0`
    let a = x.to::<i32>();
    //~ `x`: `pointer to f32` cannot be converted to `i32` [T0114]
    let b = n as bool;
    //~ `n`: `i32` cannot be converted to `bool` [T0114]
    //~   help: compare it, as in `x != 0`
    let c = i as f32;
    //~ `i as f32`: `as` converts scalars, this is `tile of i32[128]` [T0114]
    //~   help: write `.to::<f32>()`
    store(x + i, 1.0, m);
    let wide = i.bitcast::<u64>();
    //~ `i` in column 16: `tile of i32[128]` has 32 bits an element, `u64` has 64 [T0114]
    //~   help: `bitcast` keeps the bits: `i32` has those of `u32`, `f32`; `to` converts
    let half = 1.0.bitcast::<u16>();
    //~ `1.0`: `f32` has 32 bits an element, `u16` has 16 [T0114]
    //~   help: `bitcast` keeps the bits: `f32` has those of `i32`, `u32`; `to` converts
    let bits = (i == n).bitcast::<u8>();
    //~ `i == n`: the bits of `tile of bool[128]` are not those of a `u8` [T0114]
    //~   help: convert it: `x.to::<u8>()` is 0 or 1
    let flag = n.bitcast::<bool>();
    //~ `n`: the bits of `i32` are not those of a `bool` [T0114]
    //~   help: compare it, as in `x != 0`
    let address = x.bitcast::<u64>();
    //~ `x`: the bits of `pointer to f32` are not those of a `u64` [T0114]
    //~   help: only numbers and tiles of them have `bitcast`
    let pair = (i, n).bitcast::<u32>();
    //~ `(i, n)`: the bits of `tuple` are not those of a `u32` [T0114]
    //~   help: only numbers and tiles of them have `bitcast`
    let many = i.bitcast::<u32, i32>();
    //~ `bitcast`: `bitcast` needs one element type, found 2 [T0119]
    //~   help: write `.bitcast::<f32>()`
    let given = i.bitcast::<u32>(n);
    //~ `bitcast`: `bitcast` takes no arguments, 1 given [T0101]
    //~   help: write `.bitcast::<f32>()`
    let shaped = i.bitcast::<Tile<u32>>();
    //~ `Tile<u32>`: `bitcast` needs an element type, found `Tile<..>` [T0119]
    //~   help: name only the element type, as in `.bitcast::<f32>()`: the shape stays
}

fn main() {}
