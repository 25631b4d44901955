//! Functions of the library, on types that they do not take.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<i32>) {
    let i = arange(0, 64);
    store(x + i, sigmoid(load(x + i, true)), true);
    //~ `load(x + i, true)`: `sigmoid` is not defined on `tile of i32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    store(x + i, select(clamp(load(x + i, true) > 0, false, true), 1, 0), true);
    //~ `load(x + i, true) > 0`: `clamp` is not defined on `tile of bool[64]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
}

fn main() {}
