//! There are no strings in a kernel.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let t = "text";
    //~ `"text"`: a string or byte literal is not part of the kernel language [T0018]
    //~   help: strings are only allowed in `assert!` and `println!`
    let c = 'c';
    //~ `'c'`: a string or byte literal is not part of the kernel language [T0018]
    //~   help: strings are only allowed in `assert!` and `println!`
    let b = b"bytes";
    //~ `b"bytes"`: a string or byte literal is not part of the kernel language [T0018]
    //~   help: strings are only allowed in `assert!` and `println!`
}

fn main() {}
