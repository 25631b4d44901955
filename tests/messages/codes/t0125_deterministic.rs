//! Programs add to memory in an unspecified order, which shows in sums of floats.
use triton::prelude::*;

#[triton::kernel(deterministic = true)]
fn kernel(x: PtrMut<f32>, n: PtrMut<i32>, view: TensorMut<f64, 1>) {
    atomic_add(n, 1, true);
    atomic_add(x, 1.0, true);
    //~ `x`: `atomic_add` on memory of `f32` in a `deterministic` kernel [T0125]
    //~   note: programs add in an unspecified order, and every order rounds differently
    //~   help: let every program store its own partial sum, and add those in a second launch
    view.atomic_add([0], full::<f64>([8], 1.0));
    //~ `atomic_add`: `atomic_add` on memory of `f64` in a `deterministic` kernel [T0125]
    //~   note: programs add in an unspecified order, and every order rounds differently
    //~   help: let every program store its own partial sum, and add those in a second launch
}

fn main() {}
