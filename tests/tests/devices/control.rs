//! Control flow in kernels: loop-carried scalars and tiles, branches that write, early return.

use super::devices;
use triton::prelude::*;

/// out[i] = sum over k of x[i + k·stride], k < turns; programs beyond `programs` do nothing.
#[triton::kernel(T = [f32, i64])]
fn strided_sum<T: Num>(x: Ptr<T>, out: PtrMut<T>, n: i32, stride: i32, programs: i32) {
    let pid = program_id(0);
    if pid >= programs {
        return;
    }
    let i = pid * 128 + arange(0, 128);
    let mut acc = load(x + i, i < n);
    let mut at = i + stride;
    for _ in (pid * 128 + stride..n).step_by(stride) {
        acc = acc + load(x + at, at < n);
        at += stride;
    }
    store(out + i, acc, i < stride);
}

#[test]
fn loops_carry_tiles() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        for (n, stride) in [(1000, 256), (4096, 512), (300, 384), (5, 128)] {
            let x: Vec<i64> = (0..n as i64).map(|i| i * i - 7 * i).collect();
            let dx = stream.upload(&x)?;
            let mut out = stream.upload(&vec![-1i64; stride])?;
            // SAFETY: masks keep loads below n and stores below stride.
            unsafe { strided_sum(&dx, &mut out, n, stride as i32, 2).launch(&stream, 3)? };
            let expected: Vec<i64> =
                (0..stride).map(|i| if i < 256 { x.iter().skip(i).step_by(stride).sum() } else { -1 }).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}, {n} {stride}");
        }
    }
    Ok(())
}

/// The steps of the Collatz sequence, by a `while` with branches inside.
#[triton::kernel]
fn collatz(out: PtrMut<i32>, n: i32) {
    let pid = program_id(0);
    if pid < n {
        let mut x = (pid + 1).to::<i64>();
        let mut steps = 0;
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            steps += 1;
        }
        store(out + pid, steps, true);
    } else {
        store(out + pid, -1, true);
    }
}

#[test]
fn whiles_and_branches() -> triton::Result<()> {
    let steps = |mut x: i64| {
        let mut steps = 0;
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            steps += 1;
        }
        steps
    };
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(100)?;
        // SAFETY: one element a program.
        unsafe { collatz(&mut out, 97).launch(&stream, 100)? };
        let expected: Vec<i32> = (1..=100).map(|x| if x <= 97 { steps(x) } else { -1 }).collect();
        assert_eq!(stream.download(&out)?, expected, "{device}");
    }
    Ok(())
}

/// Branches with constant conditions, nested loops, a unit `if`, and a variable that only one branch assigns.
#[triton::kernel(WIDE = [true, false])]
fn triangle<const WIDE: bool>(out: PtrMut<i32>, n: i32) {
    let mut sum = 0;
    let mut last = -1;
    for i in 0..n {
        for j in 0..i + 1 {
            sum += j;
        }
        if i % 3 == 0 {
            last = i;
        }
    }
    if WIDE {
        let i = arange(0, 64);
        store(out + i, i * 0 + sum, true);
    } else {
        store(out, last, true);
    }
}

#[test]
fn known_branches_and_nested_loops() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(64)?;
        // SAFETY: 64 elements, or one.
        unsafe { triangle::<true>(&mut out, 10).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, vec![165; 64], "{device}");
        // SAFETY: as above.
        unsafe { triangle::<false>(&mut out, 12).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?[..2], [9, 165], "{device}");
    }
    Ok(())
}

/// Returns from nested branches; what follows runs in every other case, and sees the outer variables.
#[triton::kernel]
fn leave_early(out: PtrMut<i32>, n: i32) {
    let pid = program_id(0);
    let mut x = 10;
    if pid > 0 {
        let x = pid;
        if x == n {
            return;
        }
        store(out + pid, x, true);
        if x > n {
            store(out + pid, -x, true);
            return;
        } else if x == 1 {
            store(out, 5, true);
        }
    }
    x += pid;
    store(out + pid + 8, x, true);
}

#[test]
fn returns_from_nested_branches() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(16)?;
        // SAFETY: programs 0 to 5 write below 14.
        unsafe { leave_early(&mut out, 3).launch(&stream, 6)? };
        let expected = [5, 1, 2, 0, -4, -5, 0, 0, 10, 11, 12, 0, 0, 0, 0, 0];
        assert_eq!(stream.download(&out)?, expected, "{device}");
    }
    Ok(())
}

/// A block's own variable has the name of an outer one, which stays what it was: a tuple, or a constant that a shape is made of.
#[triton::kernel]
fn shadowed(out: TensorMut<i32, 1>, n: i32) {
    let pair = (n, 2 * n);
    let size = 4;
    let mut sum = 0;
    for i in 0..n {
        let mut pair = i;
        pair += 1;
        let mut size = pair * 10;
        size += i;
        sum += size;
    }
    if n > 2 {
        let mut pair = 1;
        pair += n;
        let mut size = 0;
        while size < pair {
            size += 1;
        }
        sum += size;
    }
    let (a, b) = pair;
    out.store([0], arange(0, size) + sum + a + b);
}

#[test]
fn blocks_shadow_outer_variables() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(4)?;
        shadowed(out.view_mut([4])?, 3).launch(&stream, 1)?;
        // 10 + 21 + 32, then 4, then 3 + 6.
        assert_eq!(stream.download(&out)?, [76, 77, 78, 79], "{device}");
    }
    Ok(())
}

/// Branches that assign alike: constants, and values from before the `if`.
#[triton::kernel]
fn alike(out: PtrMut<i32>, n: i32) {
    let (mut size, mut x, twice) = (1, 0, 2 * n);
    store(out, x + size, true);
    if n > 2 {
        size = 4;
        x = twice;
    } else {
        x = twice;
        size = 4;
    }
    store(out + arange(0, size), x, true);
}

#[test]
fn branches_that_assign_alike() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        for n in [1, 5] {
            let mut out = stream.zeros::<i32>(4)?;
            // SAFETY: four elements.
            unsafe { alike(&mut out, n).launch(&stream, 1)? };
            assert_eq!(stream.download(&out)?, [2 * n; 4], "{device}");
        }
    }
    Ok(())
}
