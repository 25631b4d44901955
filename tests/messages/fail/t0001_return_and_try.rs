//! A kernel ends at its end, or by a `return` between its statements.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true)?;
    for i in 0..n {
        if i == 2 {
            return;
        }
    }
    let w = if n > 0 {
        return;
    } else {
        1.0
    };
    store(x, return, true);
    return v;
}

fn main() {}
