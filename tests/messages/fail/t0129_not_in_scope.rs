//! Functions that nothing brings into scope: those of Triton that are written otherwise, and a misspelled one.
use triton::prelude::*;

#[triton::kernel]
fn of_triton(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, n: i32, seed: u64) {
    let v = x.load([cdiv(n, 4)], [16]);
    let noise = rand(seed, arange(0, 16)) + randn(seed, arange(0, 16));
    out.store([randint(seed, 0, 10)], softmax(v) + noise);
}

#[triton::kernel]
fn misspelled(x: PtrMut<f32>) {
    store(x, laod(x, true), true);
}

#[triton::function]
fn of_a_function(x: Tile<f32>) -> Tile<f32> {
    frobnicated(x) - mean(x)
}

#[triton::kernel]
fn calls_it(x: TensorMut<f32, 1>) {
    x.store([0], of_a_function(x.load([0], [16])));
}

macro_rules! kernels {
    ($($name:ident)*) => {$(
        mod $name {
            use triton::prelude::*;

            #[triton::kernel]
            fn kernel(x: TensorMut<f32, 1>) {
                x.store([0], $name(x.load([0], [16])));
            }
        }
    )*};
}

kernels!(erfc);

fn main() {}
