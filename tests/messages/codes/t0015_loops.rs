//! What leaves a loop is a statement of it, and has no value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let found = loop {
    //~ `loop`: a loop as a value is not part of the kernel language [T0015]
    //~   help: write the loop as a statement; assign its results to variables declared before it
        if n > 3 {
            break 4;
        }
    };
    break;
    //~ `break`: a `break` outside a loop [T0015]
    //~   help: a kernel ends by `return;`
    for i in 0..n {
        let v = if i > 3 { break } else { 1.0 };
        //~ `break`: a `break` inside an expression is not part of the kernel language [T0015]
        //~   help: write `if .. { break; }` as a statement of the loop
        store(x + i, continue, true);
        //~ `continue`: a `continue` inside an expression is not part of the kernel language [T0015]
        //~   help: write `if .. { continue; }` as a statement of the loop
        let w = {
            if i > 2 {
                continue;
                //~ `continue`: a `continue` inside an expression is not part of the kernel language [T0015]
                //~   help: write `if .. { continue; }` as a statement of the loop
            }
            2.0
        };
        loop {
            break i;
            //~ `i`: a `break` with a value is not part of the kernel language [T0015]
            //~   help: assign the value to a variable declared before the loop, and write `break;`
        }
        for j in 0..i {
            let u = {
                for k in 0..j {
                    if k > 2 {
                        return;
                        //~ `return`: a `return` inside an expression is not part of the kernel language [T0015]
                        //~   help: write `if .. { return; }` as a statement of the kernel
                    }
                    if k > 1 {
                        continue;
                    }
                }
                1.0
            };
        }
    }
    if n > 2 {
        continue;
        //~ `continue`: a `continue` outside a loop [T0015]
        //~   help: a kernel ends by `return;`
    }
}

fn main() {}
