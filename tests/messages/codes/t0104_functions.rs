//! Elementwise functions on types that do not have them.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f64>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n);
    let a = floor(i);
    //~ `i`: `floor` is not defined on `tile of i32[128]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let b = ceil(i < n);
    //~ `i < n`: `ceil` is not defined on `tile of bool[128]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: convert with `.to::<..>()` where that is meant
    let c = trunc(2);
    //~ `2`: `trunc` is not defined on `i32` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let d = rsqrt(n);
    //~ `n`: `rsqrt` is not defined on `i32` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let e = sin(i);
    //~ `i` in column 17: `sin` is not defined on `tile of i32[128]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let f = cos(n);
    //~ `n`: `cos` is not defined on `i32` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let g = mul_hi(v, v);
    //~ `v`: `mul_hi` is not defined on `tile of f64[128]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`
    //~   help: convert with `.to::<..>()` where that is meant
    store(x + i, rsqrt(trunc(v)), i < n);
}

fn main() {}
