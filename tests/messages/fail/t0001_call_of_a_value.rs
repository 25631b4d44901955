//! Functions are called by their names.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = (load)(x, true);
    let w = (if n > 0 { load } else { load })(x, true);
    store(x, <f32 as Default>::default(), true);
}

fn main() {}
