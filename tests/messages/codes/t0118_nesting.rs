//! Expressions are nested at most 256 deep.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
    //~ `n` in column 1288: an expression nested more than 256 deep [T0118]
    //~   help: bind parts of it with `let`
    store(x + v, 1.0, true);
}

fn main() {}
