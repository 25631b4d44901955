//! Loops that cannot be unrolled.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32, x: f32) {
    for i in unroll(0..n) {
    //~ `n` in column 24: a bound of `unroll` must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
        store(out + i, 1.0, true);
    }
    for i in unroll(0..5000) {
    //~ `for i in unroll(0..5000)`: 5000 iterations of an unrolled loop; a kernel has 4096 in all [T0121]
    //~   help: write `for i in lo..hi`, which is not unrolled
        store(out + i, 1.0, true);
    }
    for i in unroll((0..9).step_by(0)) {
    //~ `0` in column 36: a step of 0: it must be positive [T0121]
    //~   help: write a step of 1 or more
        store(out + i, 1.0, true);
    }
    for i in unroll(0..3) {
        store(out + arange(0, 1 << i), arange(0, 35 << i).to::<f32>(), true);
        //~ `arange(0, 35 << i)`: `arange(0, 35)` has 35 = 35 · 1 elements: the odd factor is more than 31 [T0106]
        //~   help: take 36 elements and mask off the rest, as in `load(p + i, i < 35)`
    }
    let mut v = zeros::<f32>([8]);
    for i in unroll(0..2) {
        v = v.reshape([2, 4 >> i]);
        //~ `v.reshape([2, 4 >> i])`: `v` is `tile of f32[8]`, it cannot become `tile of f32[2,4]` [T0115]
        //~   help: a variable keeps its element type and shape: give `v` the final one at first
    }
}

fn main() {}
