//! `&&` and `||` short-circuit.

use super::devices;
use triton::prelude::*;

/// Whether the last of `n` elements is positive; with none of them there is nothing to read.
#[triton::kernel]
fn last_is_positive(x: Ptr<i32>, out: PtrMut<i32>, n: i32) {
    let mut found = 0;
    if n > 0 && load(x + (n - 1), true) > 0 {
        found = 1;
    }
    store(out, found, true);
}

/// The index of the first 0, or `n`.
#[triton::kernel]
fn first_zero(x: Ptr<i32>, out: PtrMut<i32>, n: i32) {
    let mut i = 0;
    while i < n && load(x + i, true) != 0 {
        i += 1;
    }
    store(out, i, true);
}

/// Divisions that a test of the divisor guards.
#[triton::kernel]
fn guarded(out: TensorMut<i32, 1>, a: i32, b: i32) {
    let above = b != 0 && a / b > 2;
    let below = b == 0 || a % b == 1;
    let nested = a > 0 && (b == 0 || 100 / b > 3) && b < 50;
    out.store([0], full([1], above.to::<i32>()));
    out.store([1], full([1], below.to::<i32>()));
    out.store([2], full([1], nested.to::<i32>()));
}

/// The right side may be a block that assigns.
#[triton::kernel]
fn assigns(out: TensorMut<i32, 1>, a: i32) {
    let mut count = 0;
    let both = a > 0 && {
        count += 1;
        a > 10
    };
    if both || a == -1 {
        count += 10;
    }
    out.store([0], full([1], count));
}

#[test]
fn the_right_side_is_evaluated_where_it_decides() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x = stream.upload(&[1, 2, 3, 4])?;
        let mut out = stream.zeros::<i32>(4)?;
        for (n, expected) in [(0, 0), (4, 1)] {
            // SAFETY: the kernel reads element n - 1 of 4, if there is one.
            unsafe { last_is_positive(&x, &mut out, n).launch(&stream, 1)? };
            assert_eq!(stream.download(&out)?[0], expected, "{device}, {n}");
        }
        // SAFETY: the kernel reads the elements before 4.
        unsafe { first_zero(&x, &mut out, 4).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?[0], 4, "{device}");
        for (a, b) in [(5, 0), (9, 3), (9, 4), (-7, 2), (1, 60), (3, 30)] {
            guarded(out.view_mut([4])?, a, b).launch(&stream, 1)?;
            let expected = [b != 0 && a / b > 2, b == 0 || a % b == 1, a > 0 && (b == 0 || 100 / b > 3) && b < 50];
            assert_eq!(stream.download(&out)?[..3], expected.map(i32::from), "{device}, {a} and {b}");
        }
        for (a, expected) in [(0, 0), (5, 1), (11, 11), (-1, 10)] {
            assigns(out.view_mut([4])?, a).launch(&stream, 1)?;
            assert_eq!(stream.download(&out)?[0], expected, "{device}, {a}");
        }
    }
    Ok(())
}
