//! Atomic updates of types that memory is not updated in.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: PtrMut<f32>, b: PtrMut<u16>, c: PtrMut<i16>, d: PtrMut<bool>, e: TensorMut<u8, 1>) {
    let i = arange(0, 16);
    atomic_or(a + i, 1.0, true);
    //~ `a + i`: `atomic_or` is not defined on memory of `f32` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`
    atomic_max(b + i, 1, true);
    //~ `b + i`: `atomic_max` is not defined on memory of `u16` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    atomic_add(c, 1, true);
    //~ `c` in column 16: `atomic_add` is not defined on memory of `i16` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    atomic_or(d, true, true);
    //~ `d`: `atomic_or` is not defined on memory of `bool` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`
    atomic_xchg(d, true, true);
    //~ `d`: `atomic_xchg` is not defined on memory of `bool` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    e.atomic_add([0], full([16], 1));
    //~ `atomic_add`: `atomic_add` is not defined on memory of `u8` [T0104]
    //~   help: the memory may hold `i32`, `i64`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
    e.atomic_cas([0], 0, full([16], 1));
    //~ `atomic_cas`: `atomic_cas` is not defined on memory of `u8` [T0104]
    //~   help: the memory may hold `i16`, `i32`, `i64`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
}

fn main() {}
