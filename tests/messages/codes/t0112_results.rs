//! Numbers that do not fit, and undefined results.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, y: PtrMut<i32>) {
    let i = arange(0, 64);
    store(y, 340282366920938463463374607431768211455, true);
    //~ `340282366920938463463374607431768211455`: this literal fits no integer type [T0112]
    store(y, i32::MIN / -1, true);
    //~ `/`: this quotient does not fit `i32` [T0112]
    //~   help: convert the dividend to a wider type with `.to::<..>()`
    store(x + i, load(x + i, true) + 1, true);
    //~ `1`: an integer literal where `f32` is needed [T0112]
    //~   help: write `1.0`
    store(x + i, 1.0, (i < 3) & 1);
    //~ `1` in column 33: an integer literal where `bool` is needed [T0112]
    //~   help: write `true` or `false`
}

fn main() {}
