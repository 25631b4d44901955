//! Atomic updates of types that no target updates in one step.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: PtrMut<f32>, b: PtrMut<bf16>, c: PtrMut<i16>, d: PtrMut<bool>, e: TensorMut<u8, 1>) {
    let i = arange(0, 16);
    atomic_max(a + i, 1.0, true);
    atomic_add(b + i, 1.0, true);
    atomic_add(c, 1, true);
    atomic_or(d, true, true);
    atomic_xchg(d, true, true);
    e.atomic_add([0], full([16], 1));
    e.atomic_cas([0], 0, full([16], 1));
}

fn main() {}
