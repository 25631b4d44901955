//! Functions, constants and structs of the program that lack the attribute by which kernels know them.
use triton::prelude::*;

fn helper(v: f32) -> f32 {
    v
}

const WIDTH: i32 = 64;

#[triton::kernel]
fn calls(x: PtrMut<f32>) {
    store(x, helper(1.0), true);
}

// As a number it is known; as an extent it must be a compile-time constant.
#[triton::kernel]
fn has_an_extent(x: PtrMut<f32>) {
    store(x + arange(0, WIDTH), WIDTH.to::<f32>(), true);
}

#[triton::function]
fn of_a_function(x: Tile<f32>) -> Tile<f32> {
    x * helper(2.0)
}

#[triton::constant]
const DOUBLE: i32 = 2 * WIDTH;

#[derive(Clone, Copy)]
struct Options {
    rate: f32,
}

#[triton::kernel]
fn takes_a_struct(x: PtrMut<f32>, options: Options) {
    store(x, options.rate, true);
}

fn main() {
    fn local(v: f32) -> f32 {
        v
    }

    #[triton::kernel]
    fn in_a_function(x: PtrMut<f32>) {
        store(x, local(helper(1.0)), true);
    }
}
