//! Functions are called by their names.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = (load)(x, true);
    //~ `(load)`: only a function can be called, by its name [T0001]
    //~   help: write `name(..)`
    let w = (if n > 0 { load } else { load })(x, true);
    //~ `(if n > 0 { load } else { load })`: only a function can be called, by its name [T0001]
    //~   help: write `name(..)`
    store(x, <f32 as Default>::default(), true);
    //~ `<f32 as Default>::default`: the path `<f32 as Default>::default` is not part of the kernel language [T0001]
}

fn main() {}
