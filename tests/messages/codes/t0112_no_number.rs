//! Arithmetic of literals whose result no type has.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<i64>) {
    store(out, -(-170141183460469231731687303715884105727 - 1), true);
    //~ `-(-170141183460469231731687303715884105727 - 1)`: `0 - -170141183460469231731687303715884105728` fits no integer type [T0112]
    //~   help: compute it in smaller parts, or in floats
    store(out, 1 << 100, true);
    //~ `<<`: `1 << 100` fits no integer type [T0112]
    //~   help: shift by 0 to 63 bits
    store(out, 1 << -1, true);
    //~ `<<`: `1 << -1` fits no integer type [T0112]
    //~   help: shift by 0 to 63 bits
    store(out, 5 % 0, true);
    //~ `%`: this divides by zero [T0112]
    //~   help: divide by another number
    store(out, 170141183460469231731687303715884105727 + 1, true);
    //~ `+`: `170141183460469231731687303715884105727 + 1` fits no integer type [T0112]
    //~   help: compute it in smaller parts, or in floats
    const { assert!(18446744073709551615 < 1, "compared as numbers") }
    //~ `18446744073709551615 < 1`: the assertion does not hold: compared as numbers [T0122]
    //~   note: in the instance `kernel`
}

fn main() {}
