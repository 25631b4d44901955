//! A `let` binds a name, `_` or a tuple to a value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v;
    //~ `let v;`: a `let` without a value is not part of the kernel language [T0001]
    //~   help: give the variable a value where it is declared
    let Some(w) = n else { return };
    //~ `else`: `let .. else` is not part of the kernel language [T0015]
    //~   help: a kernel has no enums: write an `if`
    let ref y = n;
    //~ `ref y`: this pattern is not part of the kernel language [T0001]
    //~   help: write a name, `_`, or a tuple of these
    let z @ _ = n;
    //~ `z @ _`: this pattern is not part of the kernel language [T0001]
    //~   help: write a name, `_`, or a tuple of these
    store(x, 1.0, true);
}

fn main() {}
