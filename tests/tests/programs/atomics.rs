//! Atomic accesses through one pointer and through many, with results used and unused.
#![deny(warnings)]
use triton::prelude::*;

#[triton::kernel(T = [i32, u64])]
fn integers<T: Int>(p: PtrMut<T>, value: T, n: i32) {
    let i = arange(0, 64);
    let mask = i < n;
    atomic_add(p, value, true);
    atomic_add(p + i, 1, mask);
    let old = atomic_min(p + i, value, mask) + atomic_max(p + i, value + 1, mask);
    let old = old + atomic_and(p + i, old, true) + atomic_or(p + i, old, n > 0);
    let one = atomic_xor(p, value, n > 0);
    store(p + i, old + atomic_xchg(p + i, one, mask), true);
    let mut seen = atomic_cas(p, 0, value);
    while seen != 0 {
        seen = atomic_cas(p, 0, value);
    }
    store(p + i, atomic_cas(p + i, one, old), true);
}

#[triton::kernel]
fn floats(p: PtrMut<f32>, q: PtrMut<f64>) {
    let i = arange(0, 64);
    atomic_add(p, sum(load(p + i, true)), true);
    atomic_add(q + i, load(q + i, true), true);
    store(p + i, atomic_xchg(p + i, 0.5, true), true);
}

#[triton::kernel(T = [f16, bf16])]
fn halves<T: Float>(p: PtrMut<T>, value: T) {
    store(p + arange(0, 16), atomic_cas(p + arange(0, 16), 0.0, value), true);
    atomic_add(p + arange(0, 16), value, true);
    store(p, atomic_xchg(p, value, true), true);
}

#[triton::kernel(T = [f16, bf16, f32, f64])]
fn extremes<T: Float>(p: PtrMut<T>, x: TensorMut<T, 2>, value: T) {
    let i = arange(0, 16);
    atomic_min(p, value, true);
    let v = atomic_max(p + i, value, i < 5) + atomic_min((p + i).order(AcqRel), 2.0, true);
    x.atomic_max([0, 0], v.expand_dims(0));
    store(p + i, x.order(Release).atomic_min_at([i, i], v, true), true);
}

#[triton::kernel]
fn views(x: TensorMut<i32, 2>, sums: TensorMut<f32, 1>, n: i32) {
    let at = [program_id(0) * 16, n];
    let ones = full([16, 32], 1);
    x.atomic_add(at, ones);
    let old = x.atomic_min(at, ones) + x.atomic_max(at, ones) + x.atomic_xor(at, ones);
    let old = x.atomic_and(at, old) | x.atomic_or(at, old) | x.atomic_xchg(at, ones);
    x.store(at, x.atomic_cas(at, 0, old) + x.atomic_cas(at, old, ones) + x.atomic_cas(at, n, ones));
    sums.atomic_add([n], sum_axis(old.to::<f32>(), 1));
}

pub(crate) fn main() {}
