//! Types, shapes and literals. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn shapes(x: Ptr<f32>, out: PtrMut<f32>, view: Tensor<f32, 2>, made: TensorMut<f32, 1>, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, i < n);
    let a = arange(0, 100); //~ arange(0, 100)
    let b = arange(0, n); //~ n
    let c = zeros::<f32>([6]); //~ [6]
    let d = zeros::<f32>([n]); //~ n
    let e = zeros::<f32>([1 << 24]); //~ [1 << 24]
    let f = v + zeros::<f32>([32]); //~ +
    let g = v + i; //~ +
    let h = v + 1; //~ 1
    let j = i + 1.0; //~ 1.0
    let k = v & v; //~ &
    let l = v && v; //~ &&
    let m = !v; //~ !v
    let o = -true; //~ -true
    let p = v % v; //~ %
    let q = v as f16; //~ v as f16
    let r = v.to::<bool>(); //~ v
    let s = v.reshape([8, 4]); //~ [8, 4]
    let t = v.permute([1, 0]); //~ [1, 0]
    let u = v.expand_dims(3); //~ 3
    let w = v.transpose(); //~ transpose
    let y = sum_axis(v, 1); //~ sum_axis(v, 1)
    let z = sum_axis(v, n); //~ sum_axis(v, n)
    if v > 0.0 {} //~ v > 0.0
    if n {} //~ n
    while v > 0.0 {} //~ v > 0.0
    store(out, v, true); //~ v
    store(out + i, i, i < n); //~ i
    store(x + i, v, i < n); //~ x + i
    store(out + i, v, i); //~ i
    load(n, true); //~ n
    load(v, true); //~ v
    atomic_add(x + i, v, true); //~ x + i
    view.load([0], [16]); //~ [0]
    view.load([0, 0], [16]); //~ [16]
    view.load([0, 0], [16, 3]); //~ [16, 3]
    view.store([0, 0], view.load([0, 0], [16, 16])); //~ store
    made.store([0], 1.0); //~ 1.0
    made.store([0], i); //~ i
    view.dim(2); //~ 2
    view.load([0u32, 0u32], [16, 16]); //~ 0u32
}

#[triton::kernel]
fn numbers(x: Ptr<f32>, out: PtrMut<i32>, n: i32, u: u32, wide: i64) {
    let b = 300u8; //~ 300u8
    let c = 1 / 0; //~ /
    let d = n + 2147483648; //~ 2147483648
    let e = n + u; //~ +
    let f = n + wide; //~ +
    let g = n << wide; //~ <<
    let h = u - 1.5; //~ 1.5
    let j = -u; //~ -u
    let k = x * 2; //~ *
    let l = x + 1.5; //~ 1.5
    let m = x - x; //~ -
    let o = x == x; //~ ==
    let p: f32 = n; //~ n
    let q: i32 = 1.5; //~ 1.5
    let r = select(n, 1, 2); //~ n
    let s = select(n > 0, 1, 2.0); //~ 2.0
    let t = program_id(3); //~ 3
    let w = maximum(n, 1.0); //~ 1.0
    let y = sqrt(n); //~ n
    let z = exp(n); //~ n
    let mut aa = n;
    aa = 1.5; //~ 1.5
    let mut ab = n;
    ab += u; //~ +=
    let mut ac = n;
    if n > 0 {
        ac = arange(0, 4); //~ arange(0, 4)
    }
    let bb = if n > 0 { 1 } else { 1.5 }; //~ if n > 0 { 1 } else { 1.5 }
    for i in 0..1.5 {} //~ 1.5
    for i in 0..arange(0, 4) {} //~ arange(0, 4)
    const SIZE: i32 = n; //~ n
    let cc = dot(zeros::<f32>([16, 16]), zeros::<f32>([32, 16]), zeros::<f32>([16, 16])); //~ dot(zeros::<f32>([16, 16]), zeros::<f32>([32, 16]), zeros::<f32>([16, 16]))
    let dd = dot(zeros::<f16>([16, 16]), zeros::<f16>([16, 16]), zeros::<f16>([16, 16])); //~ zeros::<f16>([16, 16])
    let ee = reduce(arange(0, 64), |a, b| (a, b)); //~ (a, b)
    assert!(n); //~ n
    println!("{}", x); //~ x
}

fn main() {}
