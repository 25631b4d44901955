//! A block has no label, and a loop is named by its own.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    'outer: {
    //~ `'outer:`: a block with a label is not part of the kernel language [T0015]
    //~   help: write an `if` around what `break` would skip
        store(x, 1.0, true);
    }
    'a: for i in 0..n {
        if i > 3 {
            break 'b;
            //~ `break`: no loop around this `break` has the label `'b` [T0015]
            //~   help: write `'b: for ..` before the loop that is meant
        }
        'c: while i > n {
            continue 'd;
            //~ `continue`: no loop around this `continue` has the label `'d` [T0015]
            //~   help: write `'d: for ..` before the loop that is meant
        }
    }
}

fn main() {}
