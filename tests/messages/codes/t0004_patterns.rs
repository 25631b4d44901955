//! A parameter is a plain name.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, (a, b): (i32, i32), _: i32, mut n: i32, ref m: i32) {
//~ `(a, b)`: a kernel's parameter is a plain name, not `(a, b)` [T0004]
//~   help: give it a name, and destructure it in the body
//~ `_`: a kernel's parameter is a plain name, not `_` [T0004]
//~   help: give it a name, and destructure it in the body
//~ `mut n`: a kernel's parameter cannot be `mut` [T0004]
//~   help: shadow it in the body: `let mut x = x;`
//~ `ref m`: a kernel's parameter is a plain name, not `ref m` [T0004]
//~   help: give it a name, and destructure it in the body
    store(x, 1.0, true);
}

fn main() {}
