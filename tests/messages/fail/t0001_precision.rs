//! A precision belongs to the first operand of a product of `f32`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>) {
    let i = arange(0, 16).expand_dims(1) * 16 + arange(0, 16).expand_dims(0);
    let (v, w) = (load(x + i, true), load(y + i, true));
    let acc = zeros::<f32>([16, 16]);
    let a = v.precision(Tf32);
    let b = dot(v, v.precision(Tf32), acc);
    let c = dot(w.precision(Tf32), w, acc);
    let d = dot(v.precision(), v, acc);
    store(out + i, b + c + d, true);
}

fn main() {}
