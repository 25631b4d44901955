//! Loops that are unrolled while compiling.

use super::devices;
use triton::prelude::*;

/// For each k, the sums of runs of 2^k neighbours, one after the other: 64 of one element, then 32 of two, ..
#[triton::kernel(SIZE = [1, 64, 1024], LOG = [0, 6, 10])]
fn pyramid<const SIZE: i32, const LOG: i32>(x: Ptr<i32>, out: PtrMut<i32>) {
    let v = load(x + arange(0, SIZE), true);
    let mut at = 0;
    if 1 << LOG == SIZE {
        for k in unroll(0..LOG + 1) {
            let sums = sum_axis(v.reshape([SIZE >> k, 1 << k]), 1);
            store(out + at + arange(0, SIZE >> k), sums, true);
            at += SIZE >> k;
        }
    }
}

#[test]
fn counters_make_shapes() -> triton::Result<()> {
    let x: Vec<i32> = (0..1024).map(|i| i * i % 1000 - 300).collect();
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        for log in [0, 6, 10] {
            let size = 1usize << log;
            let mut out = stream.zeros::<i32>(2 * size)?;
            match log {
                // SAFETY: below 2·SIZE.
                0 => unsafe { pyramid::<1, 0>(&dx, &mut out).launch(&stream, 1)? },
                // SAFETY: the same.
                6 => unsafe { pyramid::<64, 6>(&dx, &mut out).launch(&stream, 1)? },
                // SAFETY: the same.
                _ => unsafe { pyramid::<1024, 10>(&dx, &mut out).launch(&stream, 1)? },
            };
            let sums = |k: usize| x[..size].chunks(1 << k).map(|run| run.iter().sum()).collect::<Vec<i32>>();
            let mut expected: Vec<i32> = (0..=log).flat_map(sums).collect();
            expected.push(0);
            assert_eq!(stream.download(&out)?, expected, "{device}, {size}");
        }
    }
    Ok(())
}

/// Constants choose branches and ends; what is not known is tested when the kernel runs.
#[triton::kernel]
fn exits(out: PtrMut<i32>, n: i32) {
    let mut width = 1;
    for i in unroll(0..100) {
        if width == 16 {
            break;
        }
        if i % 2 == 1 {
            continue;
        }
        width *= 2;
        store(out + arange(0, width), width, true);
    }
    let mut sum = 0;
    'outer: for i in unroll((2..20).step_by(3)) {
        for j in unroll(0..3) {
            if i * j > n {
                break 'outer;
            }
            if j > n {
                continue 'outer;
            }
            sum += if i == 5 { 100 } else { i + j };
        }
    }
    store(out + 16, sum, true);
    for i in 0..n {
        for j in unroll(0..4) {
            if i * j == 6 {
                store(out + 17, i * 10 + j, true);
                return;
            }
        }
    }
    store(out + 17, -1, true);
}

#[test]
fn constants_and_exits() -> triton::Result<()> {
    let sums = |n: i32| {
        let mut sum = 0;
        'outer: for i in (2..20).step_by(3) {
            for j in 0..3 {
                if i * j > n {
                    break 'outer;
                }
                if j > n {
                    continue 'outer;
                }
                sum += if i == 5 { 100 } else { i + j };
            }
        }
        sum
    };
    for device in devices() {
        let stream = device.stream()?;
        for (n, last) in [(-1, -1), (0, -1), (1, -1), (3, 23), (9, 23), (50, 23)] {
            let mut out = stream.zeros::<i32>(18)?;
            // SAFETY: 18 elements.
            unsafe { exits(&mut out, n).launch(&stream, 1)? };
            let found = stream.download(&out)?;
            assert_eq!(found[..16], [16; 16], "{device}, {n}");
            assert_eq!(found[16..], [sums(n), last], "{device}, {n}");
        }
    }
    Ok(())
}

/// With a counter of another type, and over nothing.
#[triton::kernel]
fn spellings(out: PtrMut<i64>) {
    let mut sum = 0i64;
    for i in unroll(0i64..5) {
        sum += i * i;
    }
    for _ in unroll(3..3) {
        sum = -1;
    }
    store(out, sum, true);
}

#[test]
fn other_spellings() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i64>(1)?;
        // SAFETY: one element.
        unsafe { spellings(&mut out).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [30], "{device}");
    }
    Ok(())
}
