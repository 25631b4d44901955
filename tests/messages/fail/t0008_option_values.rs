//! Options with values that they cannot have.
use triton::prelude::*;

#[triton::kernel(num_warps = 3)]
fn three(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(num_warps = "4")]
fn text(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = 3)]
fn no_list(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = [])]
fn empty(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = [3])]
fn no_parenthesis(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = [(3)])]
fn no_assignment(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = [(num_warps = 4), (num_warps = 4)])]
fn repeated(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(crate = 5)]
fn no_path(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(num_warps)]
fn no_value(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

fn main() {}
