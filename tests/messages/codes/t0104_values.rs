//! Things that are not what an operation needs: fields of tiles, structs, views and tuples where numbers are needed.
use triton::prelude::*;

#[triton::params]
#[derive(Clone, Copy)]
struct Options {
    rate: f32,
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>, a: Tensor<f32, 2>, options: Options, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(x + i, v + v.rate, true);
    //~ `v` in column 22: `tile of f32[64]` has no fields [T0104]
    //~   help: destructure a tuple with `let (a, b) = ..`
    store(x + i + options, v, true);
    //~ `options`: `Options` where a value is needed [T0104]
    //~   help: take one of its fields
    store(x + i + a, v, true);
    //~ `a`: `Tensor<f32, 2>` where a value is needed [T0104]
    //~   help: read a tile of it with `.load(at, shape)`
    store(x + i + (1, 2), v, true);
    //~ `(1, 2)`: a tuple where one value is needed [T0104]
    //~   help: destructure it with `let (a, b) = ..`
    store(x + v, v, true);
    //~ `v`: a pointer moves by an integer, found `tile of f32[64]` [T0104]
    //~   help: index by integers, as in `p + arange(0, 64)`
    store(x + i, sum(n), true);
    //~ `n`: `sum` reduces a tile, found `i32` [T0104]
    store(x + i, full::<f32>([64], v), true);
    //~ `v`: `full` repeats one number, found `tile of f32[64]` [T0104]
    store(x + i, n.reshape([64]), true);
    //~ `n`: `reshape` is for tiles, found `i32` [T0104]
    //~   help: make a tile of a number with `full(shape, number)`
    store(x + i, options.speed, true);
}

fn main() {}
