//! `match` is not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = match n {
    //~ `match`: `match` is not part of the kernel language [T0015]
    //~   help: write `if a == b { .. } else { .. }`, or, element by element, `select(a == b, x, y)`
        0 => 1.0,
        _ => 2.0,
    };
    store(x, v, true);
}

fn main() {}
