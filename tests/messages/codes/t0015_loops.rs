//! A loop ends by its range or its condition, and nowhere else.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    loop {
    //~ `loop`: `loop` is not part of the kernel language [T0015]
    //~   help: write `while condition { .. }`
        store(x, 1.0, true);
    }
    for i in 0..n {
        if i > 3 {
            break;
            //~ `break`: `break` is not part of the kernel language [T0015]
            //~   help: let the condition of a `while` end the loop
        }
        if i > 2 {
            continue;
            //~ `continue`: `continue` is not part of the kernel language [T0015]
            //~   help: put what it would skip into an `if`
        }
    }
    'outer: while n > 0 {}
    //~ `'outer`: a label is not part of the kernel language [T0015]
    //~   help: a loop ends by its condition or range: there is no `break` to name it
    'inner: for _ in 0..n {}
    //~ `'inner`: a label is not part of the kernel language [T0015]
    //~   help: a loop ends by its condition or range: there is no `break` to name it
}

fn main() {}
