//! Built-in functions take a fixed number of arguments.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0);
    //~ `arange(0)`: `arange` takes 2 arguments, 1 given [T0101]
    //~   help: write `arange(0, n)`
    let v = load(x);
    //~ `load(x)`: `load` takes 2 arguments, 1 given [T0101]
    //~   help: write `load(p, mask)`; `load(p, true)` reads every element
    let p = program_id();
    //~ `program_id()`: `program_id` takes 1 argument, 0 given [T0101]
    //~   help: write `program_id(axis)`
    store(out, 1.0, true, 2);
    //~ `store(out, 1.0, true, 2)`: `store` takes 3 arguments, 4 given [T0101]
    //~   help: write `store(p, value, mask)`
    let w = maximum(n);
    //~ `maximum(n)`: `maximum` takes 2 arguments, 1 given [T0101]
    //~   help: write `maximum(a, b)`
}

fn main() {}
