//! Atomic updates by values of another type, under masks that are not `bool`, of another shape, without pointers.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<i32>, a: TensorMut<i32, 1>, n: i32) {
    let i = arange(0, 16);
    atomic_add(x + i, 1.5, true);
    atomic_add(x + i, i.to::<i64>(), true);
    atomic_add(x + i, 1, n);
    atomic_add(x, i, true);
    atomic_add(n, 1, true);
    atomic_add(x + i, 1);
    atomic_cas(x + i, 1.0, i);
    atomic_cas(x + i, 1, i.to::<u32>());
    a.atomic_add([0], zeros::<f32>([16]));
    a.atomic_add([0], 1);
    a.atomic_add([0]);
    a.atomic_cas([0], 1.5, i);
    a.atomic_cas([0], zeros::<i32>([4, 16]), i);
    a.atomic_cas([0], i);
    let v = sum(reduce(i, |a, b| atomic_add(x, a, true)));
}

fn main() {}
