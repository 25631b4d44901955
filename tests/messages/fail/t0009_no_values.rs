//! Every generic parameter has values.
use triton::prelude::*;

#[triton::kernel]
fn no_list<T: Num>(x: PtrMut<T>) {
    store(x, load(x, true), true);
}

#[triton::kernel(T = [f32], B = [])]
fn empty_list<T: Num, const B: i32>(x: PtrMut<T>) {
    store(x, load(x, true), B > 1);
}

#[triton::kernel(T = [f32], configs = [(B = 1), (num_warps = 2)])]
fn missing_in_config<T: Num, const B: i32>(x: PtrMut<T>) {
    store(x, load(x, true), B > 1);
}

fn main() {}
