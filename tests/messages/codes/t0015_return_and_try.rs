//! A kernel ends at its end, or by a `return` between its statements.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true)?;
    //~ `?`: `?` is not part of the kernel language [T0015]
    //~   help: nothing in a kernel returns a `Result`
    let w = if n > 0 {
        return;
        //~ `return`: a `return` inside an expression is not part of the kernel language [T0015]
        //~   help: write `if .. { return; }` as a statement of the kernel
    } else {
        1.0
    };
    store(x, return, true);
    //~ `return`: a `return` inside an expression is not part of the kernel language [T0015]
    //~   help: write `if .. { return; }` as a statement of the kernel
    return v;
    //~ `return`: a kernel returns nothing, so its `return` has no value [T0015]
    //~   help: write `return;`
}

fn main() {}
