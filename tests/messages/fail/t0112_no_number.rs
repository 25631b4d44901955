//! Arithmetic of literals whose result no type has.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<i64>) {
    store(out, -(-170141183460469231731687303715884105727 - 1), true);
    store(out, 1 << 100, true);
    store(out, 1 << -1, true);
    store(out, 5 % 0, true);
    store(out, 170141183460469231731687303715884105727 + 1, true);
    const { assert!(18446744073709551615 < 1, "compared as numbers") }
}

fn main() {}
