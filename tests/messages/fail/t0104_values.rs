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
    store(x + i + options, v, true);
    store(x + i + a, v, true);
    store(x + i + (1, 2), v, true);
    store(x + v, v, true);
    store(x + i, sum(n), true);
    store(x + i, full::<f32>([64], v), true);
    store(x + i, n.reshape([64]), true);
    store(x + i, options.speed, true);
}

fn main() {}
