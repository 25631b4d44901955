//! A grid has three axes.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let a = program_id(3);
    //~ `3`: the grid has axes 0, 1 and 2, found 3 [T0113]
    //~   help: write 0, 1 or 2; more axes are computed, as in `program_id(0) / n`
    let b = num_programs(-1);
    //~ `-1`: the grid has axes 0, 1 and 2, found -1 [T0113]
    //~   help: write 0, 1 or 2; more axes are computed, as in `program_id(0) / n`
    store(x + a + b, 1.0, true);
}

fn main() {}
