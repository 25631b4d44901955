//! Names that the language reserves, and those of Python.
use triton::prelude::*;

#[triton::function]
fn pow(x: f32, n: i32) -> f32 {
//~ `pow`: `pow` is a name of the language [T0129]
//~   help: choose another name: in a kernel this one is the language's
    x * n.to::<f32>()
}

#[triton::function]
fn maximum(a: f32, b: f32) -> f32 {
//~ `maximum`: `maximum` is a name of the language [T0129]
//~   help: choose another name: in a kernel this one is the language's
    a + b
}

#[triton::kernel]
fn reserved(x: PtrMut<f32>) {
    store(x, topk(load(x, true)), true);
    //~ `topk`: the language has no function `topk` [T0129]
    //~   help: the largest element is `max(x)`, its index `argmax(x)`; for the next one mask it off and repeat
}

#[triton::kernel]
fn python(x: PtrMut<f32>) {
    let y = tl.exp(load(x, true));
    //~ `tl`: `tl.exp(..)` is not Rust [T0129]
    //~   help: write `exp(x)`
    store(x, y.to(tl.float32), true);
}

#[triton::kernel]
fn associated(x: PtrMut<f32>, n: i32) {
    store(x, f32::max(load(x, true), 1.0), true);
    //~ `f32::max`: `f32::max` is not a function of the language [T0129]
    //~   help: write `maximum(a, b)`
    store(x, f32::from(n), true);
    //~ `f32::from`: `f32::from` is not a function of the language [T0129]
    //~   help: write `x.to::<f32>()`
    store(x, f32::powi(load(x, true), 2), true);
    //~ `f32::powi`: `f32::powi` is not a function of the language [T0129]
    //~   help: multiply, or write `exp2(y * log2(x))` for a positive `x`
}

#[triton::kernel]
fn of_a_view(x: TensorMut<f32, 1>) {
    x.store([0], x.load([0], [32]).squared());
    //~ `squared`: `tile of f32[32]` has no method `squared` [T0129]
    //~   help: numbers and tiles have `to` and `bitcast`; tiles have `reshape`, `transpose`, `permute`, `expand_dims` and `broadcast_to`, too
    x.fill(0.0);
    //~ `fill`: `TensorMut<f32, 1>` has no method `fill` [T0129]
    //~   help: write `full([64], 1.0)`
}

fn main() {}
