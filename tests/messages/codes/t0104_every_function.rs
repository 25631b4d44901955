//! Functions on types that they are not defined on, one line for each.
use triton::prelude::*;

#[triton::kernel]
fn elementwise(i: Ptr<u32>, m: Ptr<bool>) {
    let (i, m) = (load(i + arange(0, 64), true), load(m + arange(0, 64), true));
    let _ = abs(i);
    //~ `i`: `abs` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = exp2(i);
    //~ `i`: `exp2` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = log(i);
    //~ `i`: `log` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = log2(i);
    //~ `i`: `log2` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = fma(i, i, i);
    //~ `i`: `fma` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = minimum(m, m);
    //~ `m` in column 21: `minimum` is not defined on `tile of bool[64]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = round(i);
    //~ `i`: `round` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = tanh(i);
    //~ `i`: `tanh` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
    let _ = tanh_approx(i);
    //~ `i`: `tanh_approx` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f32`
    //~   help: write `.to::<f32>()`
    let _ = erf(i);
    //~ `i`: `erf` is not defined on `tile of u32[64]` [T0104]
    //~   note: it is defined on `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<f32>()`
}

#[triton::kernel]
fn reductions(x: Ptr<f32>, m: Ptr<bool>) {
    let (x, m) = (load(x + arange(0, 64), true), load(m + arange(0, 64), true));
    let (x, m) = (x.reshape([8, 8]), m.reshape([8, 8]));
    let _ = any(x);
    //~ `x`: `any` is not defined on `tile of f32[8,8]` [T0104]
    //~   note: it is defined on `bool`
    //~   help: convert with `.to::<..>()` where that is meant
    let _ = all(x);
    //~ `x`: `all` is not defined on `tile of f32[8,8]` [T0104]
    //~   note: it is defined on `bool`
    //~   help: convert with `.to::<..>()` where that is meant
    let _ = any_axis(x, 0);
    //~ `x` in column 22: `any_axis` is not defined on `tile of f32[8,8]` [T0104]
    //~   note: it is defined on `bool`
    //~   help: convert with `.to::<..>()` where that is meant
    let _ = all_axis(x, 1);
    //~ `x` in column 22: `all_axis` is not defined on `tile of f32[8,8]` [T0104]
    //~   note: it is defined on `bool`
    //~   help: convert with `.to::<..>()` where that is meant
    let _ = max(m);
    //~ `m` in column 17: `max` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = min(m);
    //~ `m` in column 17: `min` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = max_axis(m, 0);
    //~ `m` in column 22: `max_axis` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = min_axis(m, 1);
    //~ `m` in column 22: `min_axis` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = argmax(m);
    //~ `m` in column 20: `argmax` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = argmin(m);
    //~ `m` in column 20: `argmin` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = argmax_axis(m, 0);
    //~ `m` in column 25: `argmax_axis` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = argmin_axis(m, 2);
    //~ `m` in column 25: `argmin_axis` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = cumsum(m, 0);
    //~ `m` in column 20: `cumsum` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = cumprod(m, 0);
    //~ `m` in column 21: `cumprod` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = cummax(m, 1);
    //~ `m` in column 20: `cummax` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = cummin(m, 1);
    //~ `m` in column 20: `cummin` is not defined on `tile of bool[8,8]` [T0104]
    //~   note: it is defined on `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    //~   help: write `.to::<i32>()`, which is 0 or 1
    let _ = scan(x, 0, |a, b| a < b);
    //~ `a < b`: the closure yields `bool`, `f32` is scanned [T0115]
    //~   help: yield a number of the tile's element type: convert with `.to::<..>()`
    let _ = scan_reverse(x, 1, |a, b| a < b);
    //~ `a < b`: the closure yields `bool`, `f32` is scanned [T0115]
    //~   help: yield a number of the tile's element type: convert with `.to::<..>()`
    let _ = reduce_axis(x, 0, |a, b| a < b);
    //~ `a < b`: the closure yields `bool`, `f32` is reduced [T0115]
    //~   help: yield a number of the tile's element type: convert with `.to::<..>()`
}

#[triton::kernel]
fn atomics(x: PtrMut<f32>, short: PtrMut<i16>) {
    atomic_min(short, 1, true);
    //~ `short`: `atomic_min` is not defined on memory of `i16` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    atomic_and(x, 1.0, true);
    //~ `x`: `atomic_and` is not defined on memory of `f32` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`
    atomic_xor(x, 1.0, true);
    //~ `x` in column 16: `atomic_xor` is not defined on memory of `f32` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`
}

fn main() {}
