//! What a list can hold.
use triton::prelude::*;

#[triton::kernel(T = [f32, usize, folat, 3, f32], B = [1, 2147483648, -1, f32, 1.5, 2u8, 1 + 1], FAST = [true, 1])]
//~ `usize`: `usize` is not an element type, as `T` must be [T0011]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: write element types, as in `T = [f32, f16]`
//~ `folat`: `folat` is not an element type, as `T` must be [T0011]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: write element types, as in `T = [f32, f16]`
//~ `3` in column 42: `3` is not an element type, as `T` must be [T0011]
//~   note: the element types are `bool`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`
//~   help: write element types, as in `T = [f32, f16]`
//~ `f32` in column 45: `f32` is listed twice for `T` [T0011]
//~   help: leave it out
//~ `2147483648`: `2147483648` is not a value of `B`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `B = [256, 1024]`
//~ `f32` in column 75: `f32` is not a value of `B`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `B = [256, 1024]`
//~ `1.5`: `1.5` is not a value of `B`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `B = [256, 1024]`
//~ `2u8`: `2u8` is not a value of `B`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `B = [256, 1024]`
//~ `1 + 1`: `1+1` is not a value of `B`, which takes an integer literal of `i32` [T0011]
//~   help: write literals, as in `B = [256, 1024]`
//~ `1` in column 112: `1` is not a value of `FAST`, which takes `true` or `false` [T0011]
//~   help: write literals, as in `FAST = [false, true]`
fn kernel<T: Num, const B: i32, const FAST: bool>(x: PtrMut<T>) {
    store(x, load(x, true), FAST & (B > 1));
}

fn main() {}
