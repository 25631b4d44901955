//! The smallest and the largest that is allowed.
use triton::prelude::*;

/// A tile of one element, and axes of one element.
#[triton::kernel(num_warps = 32)]
fn one(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(0, 1);
    let v = load(x + i, true) + 1.0;
    let w = v.reshape([1, 1, 1, 1, 1]).permute([4, 3, 2, 1, 0]);
    let s = sum_axis(w, 2);
    store(out + i, s.reshape([1]) * sum(v), true);
    let z = zeros::<f32>([1, 1]);
    let m = dot(z, z, z);
    store(out + i + 1, m.reshape([1]), i < 1);
    let old = atomic_add(out + 2 + i, 1.0, true);
    store(out + 3 + i, old, true);
}

/// Five dimensions, each way round.
#[triton::kernel(num_warps = 32)]
fn five(x: Ptr<i32>, out: PtrMut<i32>) {
    let i = arange(0, 32);
    let v = load(x + i, true).reshape([2, 2, 2, 2, 2]);
    let t = v.permute([4, 3, 2, 1, 0]);
    let s = sum_axis(t, 4) + max_axis(t, 0);
    store(out + arange(0, 16), s.reshape([16]), true);
    store(out + arange(0, 32), t.reshape([32]), true);
}

/// The largest tile, by the most threads. It does not fit their registers.
#[triton::kernel(num_warps = 32, warnings = false)]
fn large(x: Ptr<i8>, out: PtrMut<i8>) {
    let i = arange(0, 1048576);
    store(out + i, load(x + i, true), true);
}

/// Exchanges that together need more memory than a block has.
#[triton::kernel(num_warps = 32)]
fn exchanges(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 16384);
    for k in 0..n {
        store(out + i, load(x + i + k, true).reshape([128, 128]).transpose().reshape([16384]), true);
        store(out + i, load(x + i + k * 2, true).reshape([64, 256]).transpose().reshape([16384]), true);
        store(out + i, load(x + i + k * 3, true).reshape([256, 64]).transpose().reshape([16384]), true);
    }
}

/// Offsets beyond 2 GiB, and numbers at the ends of their types.
#[triton::kernel]
fn far(x: Ptr<f64>, out: PtrMut<f64>, n: i64) {
    let i = arange(0, 128);
    let v = load(x + i + 2147483520, true) + load(x + 2147483647, true);
    store(out + i + 9223372036854775807i64, v, true);
    store(out + (i - 2147483647 - 1), v, true);
    for k in (-9223372036854775807i64..9223372036854775807i64).step_by(9223372036854775807i64) {
        store(out + k, sum(v), k < n);
    }
    for k in (0..2147483647).step_by(2147483647) {
        store(out + k, sum(v), true);
    }
    let s = 1i32 << 31;
    store(out + s, 0.0, (1i64 << 63) < n);
}

pub(crate) fn main() {}
