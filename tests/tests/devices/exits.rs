//! `break`, `continue` and `return` in loops, and `loop`.

use super::devices;
use triton::lang::Counter;
use triton::prelude::*;

/// out[pid] = the index of the first element of row pid that is above `least`, or -1; with a step, of those elements alone.
#[triton::kernel]
fn first_above(x: Ptr<f32>, out: PtrMut<i32>, n: i32, step: i32, least: f32) {
    let row = x + program_id(0) * n;
    let mut found = -1;
    for i in 0..n {
        if load(row + i, true) > least {
            found = i;
            break;
        }
    }
    let mut stepped = -1;
    for i in (0..n).step_by(step) {
        if load(row + i, true) <= least {
            continue;
        }
        stepped = i;
        break;
    }
    store(out + 2 * program_id(0), found, true);
    store(out + 2 * program_id(0) + 1, stepped, true);
}

#[test]
fn a_search_ends_where_it_finds() -> triton::Result<()> {
    let (rows, n) = (9, 21);
    let x: Vec<f32> = (0..rows * n).map(|i| (i * 37 % 101) as f32).collect();
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        for (step, least) in [(1, 90.0), (3, 70.0), (5, 98.0), (100, 200.0)] {
            let mut out = stream.zeros::<i32>(2 * rows)?;
            // SAFETY: n elements a row, and two results.
            unsafe { first_above(&dx, &mut out, n as i32, step as i32, least).launch(&stream, rows as u32)? };
            let first =
                |row: &[f32], step: usize| (0..n).step_by(step).find(|&i| row[i] > least).map_or(-1, |i| i as i32);
            let expected: Vec<i32> = x.chunks(n).flat_map(|row| [first(row, 1), first(row, step)]).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}, {step}, {least}");
        }
    }
    Ok(())
}

/// Counters near the end of their type, which never wrap.
#[triton::kernel(N = [i32, u32, i64, u64])]
fn last_counter<N: Counter>(out: PtrMut<N>, start: N, end: N, step: N, turns: i32) {
    let mut count = 0;
    let mut last = start;
    for i in (start..end).step_by(step) {
        if count == turns {
            break;
        }
        count += 1;
        last = i;
    }
    store(out, last, true);
    for i in start..end {
        last = i;
        if i == end - 1 {
            continue;
        } else if turns < 0 {
            break;
        }
    }
    store(out + 1, last, true);
}

#[test]
fn counters_do_not_wrap() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(2)?;
        // SAFETY: two elements.
        unsafe { last_counter(&mut out, i32::MAX - 10, i32::MAX, 7, 100).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [i32::MAX - 3, i32::MAX - 1], "{device}");
        // SAFETY: as above.
        unsafe { last_counter(&mut out, i32::MIN, i32::MAX, i32::MAX, -1).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [i32::MAX - 1, i32::MIN], "{device}");
        // SAFETY: as above.
        unsafe { last_counter(&mut out, 5, 5, 3, 100).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [5, 5], "{device}");
        let mut out = stream.zeros::<u32>(2)?;
        // SAFETY: as above.
        unsafe { last_counter(&mut out, u32::MAX - 9, u32::MAX, 4, 100).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [u32::MAX - 1, u32::MAX - 1], "{device}");
        let mut out = stream.zeros::<u64>(2)?;
        // SAFETY: as above.
        unsafe { last_counter(&mut out, u64::MAX - 9, u64::MAX, 4, 2).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [u64::MAX - 5, u64::MAX - 1], "{device}");
        let mut out = stream.zeros::<i64>(2)?;
        // SAFETY: as above.
        unsafe { last_counter(&mut out, -3, 9, 5, 100).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [7, 8], "{device}");
    }
    Ok(())
}

#[test]
fn a_step_that_is_not_positive_is_an_error() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut out = stream.zeros::<i32>(2)?;
    for step in [0, -1] {
        // SAFETY: two elements.
        let error = unsafe { last_counter(&mut out, 0, 9, step, 3).launch(&stream, 1) }.unwrap_err();
        assert!(error.to_string().contains("divided by 0"), "{error}");
    }
    Ok(())
}

/// Prime numbers below n, tile by tile; loops with labels, exits out of two of them, and a tile that is carried.
#[triton::kernel]
fn primes(out: PtrMut<i32>, n: i32, most: i32) {
    let (mut k, mut found) = (1, 0);
    let mut sums = zeros::<i32>([64]);
    'numbers: loop {
        k += 1;
        let mut d = 2;
        while d * d <= k {
            if k >= n {
                break 'numbers;
            }
            if k % d == 0 {
                continue 'numbers;
            }
            d += 1;
        }
        if k >= n || found == most {
            break;
        }
        store(out + found, k, true);
        found += 1;
        sums += arange(0, 64) * k;
    }
    store(out + 64 + arange(0, 64), sums, true);
}

#[test]
fn exits_of_nested_loops() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        for (n, most) in [(2, 9), (30, 64), (100, 10), (200, 64)] {
            let mut out = stream.zeros::<i32>(128)?;
            // SAFETY: at most 64 numbers and 64 sums.
            unsafe { primes(&mut out, n, most).launch(&stream, 1)? };
            let all = (2..n).filter(|k| (2..*k).all(|d| k % d != 0)).take(most as usize);
            let mut expected: Vec<i32> = all.collect();
            let sum: i32 = expected.iter().sum();
            expected.resize(64, 0);
            expected.extend((0..64).map(|i| i * sum));
            assert_eq!(stream.download(&out)?, expected, "{device}, {n}, {most}");
        }
    }
    Ok(())
}

/// A `return` out of two loops: what follows them runs if it is not reached. The condition of a `while` is not tested after an exit.
#[triton::kernel]
fn locate(x: Ptr<i32>, out: PtrMut<i32>, n: i32, wanted: i32) {
    let at = out + 2 * program_id(0);
    if wanted < 0 {
        store(at, -2, true);
        for i in 0..n {
            if i + wanted == 0 {
                return;
            }
        }
    }
    for row in 0..n {
        let mut column = 0;
        while load(x + row * n + column, true) <= wanted {
            if load(x + row * n + column, true) == wanted {
                store(at, row, true);
                store(at + 1, column, true);
                return;
            }
            column += 1;
            if column == n {
                break;
            }
        }
    }
    store(at, -1, true);
}

#[test]
fn returns_from_nested_loops() -> triton::Result<()> {
    let n = 7;
    let x: Vec<i32> = (0..n * n).map(|i| 3 * i).collect();
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        for (wanted, expected) in
            [(0, [0, 0]), (60, [2, 6]), (144, [6, 6]), (61, [-1, 0]), (-3, [-2, 0]), (-9, [-1, 0])]
        {
            let mut out = stream.zeros::<i32>(2)?;
            // SAFETY: n rows of n elements, and two results.
            unsafe { locate(&dx, &mut out, n, wanted).launch(&stream, 1)? };
            assert_eq!(stream.download(&out)?, expected, "{device}, {wanted}");
        }
    }
    Ok(())
}

/// The number of halvings until a number is odd.
#[triton::function]
fn trailing_zeros(mut x: i32) -> i32 {
    let mut zeros = 0;
    loop {
        if x % 2 != 0 || zeros == 31 {
            break;
        }
        x /= 2;
        zeros += 1;
    }
    zeros
}

#[triton::kernel]
fn count_zeros(out: PtrMut<i32>, n: i32) {
    for i in 1..n {
        if trailing_zeros(i) > 3 {
            break;
        }
        store(out + i, trailing_zeros(i), true);
    }
}

#[test]
fn loops_of_functions_have_exits_of_their_own() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(20)?;
        // SAFETY: below 20.
        unsafe { count_zeros(&mut out, 20).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [0, 0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0, 0, 0, 0, 0], "{device}");
    }
    Ok(())
}
