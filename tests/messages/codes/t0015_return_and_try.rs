//! A kernel ends at its end, or by a `return` between its statements.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true)?;
    //~ `?`: `?` is not part of the kernel language [T0015]
    //~   help: nothing in a kernel returns a `Result`
    for i in 0..n {
        if i == 2 {
            return;
            //~ `return`: a `return` in a loop is not part of the kernel language [T0015]
            //~   help: let the loop end by its condition, and write `if .. { return; }` after it
        }
    }
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
