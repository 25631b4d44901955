//! Names and literals that PTX or rustc would read differently.

use triton::prelude::*;

#[triton::kernel]
fn größe(out: PtrMut<i64>) {
    store(out, 5_000_000_000, true);
    store(out + 1, -5_000_000_000, true);
}

#[triton::function]
fn large(x: i64) -> i64 {
    x + 3_000_000_000
}

#[triton::kernel]
fn 数(out: PtrMut<i64>, n: i64) {
    println!("{n} of {}", large(n));
    store(out, large(3_000_000_000), true);
}

fn main() -> triton::Result<()> {
    for device in [Device::cpu(), Device::sim()] {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i64>(2)?;
        // SAFETY: `out` has two elements.
        unsafe { größe(&mut out).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [5_000_000_000, -5_000_000_000]);
        // SAFETY: as above.
        unsafe { 数(&mut out, 1).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?[0], 6_000_000_000);
    }
    Ok(())
}
