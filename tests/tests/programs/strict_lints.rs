//! A crate that forbids and denies much sees no lint of generated code.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes)]

mod kernels {
    use triton::prelude::*;

    /// Scales.
    #[triton::kernel(T = [f32], BLOCK = [64])]
    pub(crate) fn scale<T: Float, const BLOCK: i32>(x: PtrMut<T>, factor: T, #[multiple_of(16)] n: i32) {
        let i = program_id(0) * BLOCK + arange(0, BLOCK);
        store(x + i, load(x + i, i < n) * factor, i < n);
    }

    /// Counts.
    #[triton::kernel]
    pub(crate) fn count(n: PtrMut<i32>) {
        store(n, load(n, true) + 1, true);
    }
}

pub(crate) fn main() {
    use triton::prelude::*;
    let stream = Device::cpu().stream().unwrap();
    let mut x = stream.zeros::<f32>(4).unwrap();
    let _ = kernels::scale::<f32, 64>(&mut x, 2.0, 4);
    let mut n = stream.zeros::<i32>(1).unwrap();
    let _ = kernels::count(&mut n);
}
