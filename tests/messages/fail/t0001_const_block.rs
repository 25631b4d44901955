//! A `const` block asserts, and does nothing else.
use triton::prelude::*;

#[triton::kernel(BLOCK = [64])]
fn kernel<const BLOCK: i32>(x: PtrMut<f32>) {
    let size = const { BLOCK * 2 };
    const {
        assert!(BLOCK > 0);
        assert!(BLOCK < 128);
    }
    const { println!("{}", BLOCK) }
    const {}
    store(x, const { assert!(BLOCK > 0) }, true);
}

fn main() {}
