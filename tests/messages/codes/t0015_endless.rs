//! A loop that nothing ends.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    loop {
    //~ `loop`: nothing ends this loop [T0015]
    //~   help: end it with `if .. { break; }`, or write `while condition { .. }`
        store(x, 1.0, true);
        for i in 0..n {
            if i > 2 {
                break;
            }
        }
    }
    while true {
    //~ `while`: nothing ends this loop [T0015]
    //~   help: end it with `if .. { break; }`, or write `while condition { .. }`
        store(x, 1.0, true);
    }
}

fn main() {}
