//! An instance that was not compiled, with the code of another kernel.

use triton::prelude::*;

#[triton::kernel(T = [f32])]
fn fill<T: Float>(out: TensorMut<T, 1>) {
    out.store([0], full([16], T::ONE));
}

#[triton::kernel]
fn poke(out: PtrMut<f32>) {
    store(out, 1.0, true);
}

impl FillInstance<f64> for triton::Compiled {
    fn kernel() -> &'static triton::Kernel {
        <triton::Compiled as PokeInstance>::kernel()
    }
}

fn main() {}
