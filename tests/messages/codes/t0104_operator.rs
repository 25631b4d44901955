//! Operators and functions that an element type does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n);
    let a = v & v;
    //~ `&`: cannot use `&` on `tile of f32[128]` and `tile of f32[128]` [T0104]
    //~   help: `&` is defined on integers and `bool`
    let b = !v;
    //~ `!v`: `!` is not defined on `tile of f32[128]` [T0104]
    //~   note: it is defined on `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`
    //~   help: convert with `.to::<..>()` where that is meant
    let c = sqrt(i);
    //~ `i`: `sqrt` is not defined on `tile of i32[128]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let d = (i < n) + (i < n);
    //~ `+`: cannot add `tile of bool[128]` and `tile of bool[128]` [T0104]
    //~   help: `bool` has `&`, `|`, `^`, `!`, `==` and `!=`
    let e = v << 1;
    //~ `<<`: cannot use `<<` on `tile of f32[128]` and `integer literal` [T0104]
    //~   help: `<<` is defined on integers
    let f = -(i < n);
    //~ `-(i < n)`: `-` is not defined on `tile of bool[128]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    store(x + i, v, i < n && n > 0);
    //~ `&&`: `&&` takes two `bool`, found `tile of bool[128]` on the left [T0104]
    //~   help: write `&` to combine tiles element by element
}

fn main() {}
