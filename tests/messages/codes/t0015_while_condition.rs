//! The condition of a `while` changes nothing.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<i32>, n: i32) {
    let mut i = 0;
    while {
    //~ `{ ..`: the condition of a `while` assigns to `i` [T0015]
    //~   help: assign before the loop and at the end of its body
        i += 1;
        i < n
    } {
        store(x + i, i, true);
    }
}

fn main() {}
