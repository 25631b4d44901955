//! Control flow in every position, under lints that see each variable of it.
#![deny(warnings)]
use triton::prelude::*;

/// Statement and value, `else if`, nested, with literals of no type yet.
#[triton::kernel(FLIP = [false, true])]
fn branches<const FLIP: bool>(x: PtrMut<f32>, n: i32, p: bool) {
    let i = arange(0, 128);
    let scale = if n > 8 && p { 2.0 } else if FLIP { 0.5 } else { 1.0 };
    let mut v = load(x + i, i < n) * scale;
    if n % 2 == 0 {
        if (n & 4) != 0 {
            v += 1.0;
        } else {
            v = -v;
        }
    }
    if p {
        store(x + i, v, i < n)
    } else {
        store(x + i, 0.0, true)
    }
}

/// Every form of range, counters of four types, nested loops, a counter that is never read.
#[triton::kernel(STEP = [32])]
fn counted<const STEP: i64>(x: PtrMut<i64>, a: u32, b: u64, n: i32) {
    let i = arange(0, 32);
    let mut sum = load(x + i, true);
    for j in 0..n {
        for k in (j..n).step_by(2) {
            sum += k.to::<i64>();
        }
    }
    for j in (0..n as i64).step_by(STEP) {
        sum += j;
    }
    for j in 1..a {
        sum ^= j as i64;
    }
    for j in 1..b {
        sum += j as i64;
    }
    for j in (0..8).step_by(4) {
        sum += j.to::<i64>();
    }
    for _ in -2..n - 1 {
        sum *= 3;
    }
    store(x + i, sum, true);
}

/// Loops with numbers of stages of their own: a literal, a parameter, a constant of the body; options about the code.
#[triton::kernel(AHEAD = [4], targets = ["sm_80"], max_registers = 128)]
fn staged<const AHEAD: i32>(a: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    const HALF: i32 = AHEAD / 2;
    let mut acc = zeros::<f32>([32, 32]);
    #[stages(1)]
    for k in (0..a.dim(1)).step_by(32) {
        acc = dot(a.load([0, k], [32, 32]), a.load([k, 0], [32, 32]), acc);
    }
    #[stages(AHEAD)]
    for k in (0..a.dim(1)).step_by(32) {
        acc = dot(a.load([0, k], [32, 32]), a.load([k, 0], [32, 32]), acc);
    }
    c.store([0, 0], acc);
    #[stages(HALF + 1)]
    for k in (0..a.dim(1)).step_by(32) {
        let b = a.load([0, k], [32, 32]);
        c.store([0, 0], dot(b, a.load([k, 0], [32, 32]), acc));
    }
}

/// A loop by condition; the last statement of a kernel.
#[triton::kernel(T = [f32, f64])]
fn root<T: Float>(x: PtrMut<T>, steps: i32) {
    let v = load(x, true);
    let (mut y, mut left) = (v, steps);
    while left > 0 && y * y > v {
        y = (y + v / y) * 0.5;
        left -= 1;
    }
    if y != v {
        store(x, y, true);
    }
}

/// Leaving early, with and without a semicolon.
#[triton::kernel]
fn early(x: PtrMut<f32>, n: i32) {
    if n == 0 {
        return;
    }
    if n < 0 {
        if n < -1 {
            store(x, 1.0, true);
            return;
        }
        store(x, 2.0, true);
    } else if n == 1 {
        return
    }
    while load(x, true) > 1.0 {
        store(x, load(x, true) * 0.5, true);
    }
}

pub(crate) fn main() {}
