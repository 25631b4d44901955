//! A `let` binds a name, `_` or a tuple to a value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v;
    let Some(w) = n else { return };
    let ref y = n;
    let z @ _ = n;
    store(x, 1.0, true);
}

fn main() {}
