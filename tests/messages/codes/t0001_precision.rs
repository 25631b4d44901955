//! A precision belongs to the first operand of a product of `f32`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>) {
    let i = arange(0, 16).expand_dims(1) * 16 + arange(0, 16).expand_dims(0);
    let (v, w) = (load(x + i, true), load(y + i, true));
    let acc = zeros::<f32>([16, 16]);
    let a = v.precision(Tf32);
    //~ `precision`: `precision` is only allowed on the first operand of `dot` [T0001]
    //~   help: write `dot(a.precision(Tf32), b, acc)`
    let b = dot(v, v.precision(Tf32), acc);
    //~ `precision`: `precision` is only allowed on the first operand of `dot` [T0001]
    //~   help: write `dot(a.precision(Tf32), b, acc)`
    let c = dot(w.precision(Tf32), w, acc);
    //~ `w`: `precision` on `tile of f16[16,16]` [T0104]
    //~   help: only `f32` operands take a precision; leave it out
    let d = dot(v.precision(), v, acc);
    //~ `precision`: `precision` takes 1 argument, 0 given [T0101]
    //~   help: write `precision(Tf32)`
    store(out + i, b + c + d, true);
}

fn main() {}
