//! Atomic updates of memory that is only read.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<i32>, a: Tensor<i32, 1>) {
    atomic_add(x, 1, true);
    //~ `x`: `atomic_add` through `Ptr`, which is read-only [T0109]
    //~   help: declare the parameter as `PtrMut<i32>`
    atomic_cas(x + arange(0, 16), 1, 2);
    //~ `x + arange(0, 16)`: `atomic_cas` through `Ptr`, which is read-only [T0109]
    //~   help: declare the parameter as `PtrMut<i32>`
    a.atomic_add([0], full([16], 1));
    //~ `atomic_add`: `atomic_add` through `Tensor`, which is read-only [T0109]
    //~   help: declare the parameter as `TensorMut<i32, 1>`
    a.atomic_cas([0], 0, full([16], 1));
    //~ `atomic_cas`: `atomic_cas` through `Tensor`, which is read-only [T0109]
    //~   help: declare the parameter as `TensorMut<i32, 1>`
}

fn main() {}
