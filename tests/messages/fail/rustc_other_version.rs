//! A function whose hidden macro is of another version, and one that is called as a macro.
use triton::prelude::*;

#[triton::function]
fn mine(x: Tile<f32>) -> Tile<f32> {
    x
}

// As a kernel of another version would.
mine! { v0 [triton::link] [] [mine] { kernel [] {} { fn kernel() {} } } {} }

mine!(1);

fn main() {}
