//! A kernel that a macro of the user's writes.
#![allow(dead_code, reason = "a public kernel of a program is not called here")]
use triton::prelude::*;

macro_rules! unary {
    ($name:ident, $x:ident => $e:expr) => {
        #[triton::kernel(BLOCK = [128])]
        pub fn $name<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
            let i = program_id(0) * BLOCK + arange(0, BLOCK);
            let $x = load(x + i, i < n);
            store(x + i, $e, i < n);
        }
    };
}

unary!(square, v => v * v);
unary!(negate, v => -v);
unary!(affine, v => 2.0 * v + 1.0);

pub(crate) fn main() {}
