//! Attributes of parameters.
use triton::prelude::*;

#[triton::kernel]
fn kernel(
    #[multiple_of(0)] a: i32,
    #[multiple_of(16)] b: f32,
    #[multiple_of(12)] c: PtrMut<f32>,
    #[no_specialize] d: bool,
    #[aligned] e: i32,
    #[multiple_of] f: i32,
    #[multiple_of(4)]
    #[multiple_of(8)]
    g: i32,
) {
    store(c, b, d);
}

fn main() {}
