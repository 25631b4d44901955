//! Every generic parameter has values.
use triton::prelude::*;

#[triton::kernel]
fn no_list<T: Num>(x: PtrMut<T>) {
//~ `T`: `T` has no values: the kernel is compiled for a list of them [T0009]
//~   help: write `#[triton::kernel(T = [f32, f16])]`
    store(x, load(x, true), true);
}

#[triton::kernel(T = [f32], B = [])]
//~ `B`: the list of `B` is empty: the kernel would never be compiled [T0009]
//~   help: write values between the brackets, as in `B = [256, 1024]`
fn empty_list<T: Num, const B: i32>(x: PtrMut<T>) {
    store(x, load(x, true), B > 1);
}

#[triton::kernel(T = [f32], configs = [(B = 1), (num_warps = 2)])]
//~ `(num_warps = 2)`: this configuration gives no value for `B` [T0009]
fn missing_in_config<T: Num, const B: i32>(x: PtrMut<T>) {
    store(x, load(x, true), B > 1);
}

fn main() {}
