//! A closure is an argument of a reduction, and nothing else; it has bare parameters and a body.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let f = |a: f32| a * 2.0;
    //~ `|a: f32| a * 2.0`: a closure that is not an argument of a function is not part of the kernel language [T0016]
    //~   help: write a `#[triton::function]` beside the kernel
    let i = arange(0, 64);
    let v = load(x + i, true);
    let a = reduce(v, |a: f32, b: f32| a + b);
    //~ `f32`: a type on a closure's parameter is not part of the kernel language [T0016]
    //~   help: leave it out: the tile has it
    //~ `f32` in column 35: a type on a closure's parameter is not part of the kernel language [T0016]
    //~   help: leave it out: the tile has it
    let b = reduce(v, move |a, b| a + b);
    //~ `move`: `move` on a closure is not part of the kernel language [T0016]
    //~   help: write `|a, b| ..`
    let c = reduce(v, |a, b| -> f32 { a + b });
    //~ `f32`: a return type on a closure is not part of the kernel language [T0016]
    //~   help: write `|a, b| ..`
    let d = reduce(v, |mut a, b| a + b);
    //~ `mut`: `mut` on a closure's parameter is not part of the kernel language [T0016]
    //~   help: compute with `let` in its body
    let e = reduce((v, v), |(mut a, b), (c, d)| (a + c, b + d));
    //~ `mut`: `mut` on a closure's parameter is not part of the kernel language [T0016]
    //~   help: compute with `let` in its body
    let g = reduce(v, |a, [b]| a + b);
    //~ `[b]`: this pattern is not part of the kernel language [T0001]
    //~   help: write a name, `_`, or a tuple of these
    let h = reduce(v, |a, b| {
        return a;
        //~ `return`: a `return` inside an expression is not part of the kernel language [T0015]
        //~   help: write `if .. { return; }` as a statement of the kernel
    });
    let j = v.reshape(|a, b| a);
    //~ `|a, b| a`: a closure that is not an argument of a function is not part of the kernel language [T0016]
    //~   help: write a `#[triton::function]` beside the kernel
    store(x, f(1.0), true);
}

fn main() {}
