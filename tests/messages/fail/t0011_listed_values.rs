//! What a list can hold.
use triton::prelude::*;

#[triton::kernel(T = [f32, usize, folat, 3, f32], B = [1, 2147483648, -1, f32, 1.5, 2u8, 1 + 1], FAST = [true, 1])]
fn kernel<T: Num, const B: i32, const FAST: bool>(x: PtrMut<T>) {
    store(x, load(x, true), FAST & (B > 1));
}

fn main() {}
