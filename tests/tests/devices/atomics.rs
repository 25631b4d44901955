//! Atomic updates: many programs that update the same memory; no update may be lost.

use super::devices;
use triton::prelude::*;

/// counts[b] += how many of x are b; 64 programs that all contend for 16 counters.
#[triton::kernel(configs = [(BLOCK = 1024), (BLOCK = 64), (BLOCK = 256, num_warps = 1)])]
fn histogram<const BLOCK: i32>(x: Ptr<i32>, counts: PtrMut<u32>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let bucket = load(x + i, i < n);
    atomic_add(counts + bucket, 1, i < n);
}

#[test]
fn no_update_is_lost() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let n = 50_000;
        let x: Vec<i32> = (0..n).map(|i| i / 7 * 5 % 16).collect();
        let expected: Vec<u32> = (0..16).map(|b| x.iter().filter(|&&v| v == b).count() as u32).collect();
        let dx = stream.upload(&x)?;
        let mut counts = stream.zeros::<u32>(16)?;
        // SAFETY: the mask keeps loads below n, and every element is below 16.
        unsafe { histogram::<1024>(&dx, &mut counts, n).launch(&stream, n as usize / 1024 + 1)? };
        assert_eq!(stream.download(&counts)?, expected, "{device}");
        // SAFETY: as above.
        unsafe { histogram::<64>(&dx, &mut counts, n).launch(&stream, n as usize / 64 + 1)? };
        // SAFETY: as above.
        unsafe { histogram::<256>(&dx, &mut counts, n).launch(&stream, n as usize / 256 + 1)? };
        let thrice: Vec<u32> = expected.iter().map(|c| 3 * c).collect();
        assert_eq!(stream.download(&counts)?, thrice, "{device}");
    }
    Ok(())
}

/// Every program takes tickets: one by itself, and one for each of a tile's elements; it marks those that it got.
#[triton::kernel(SIZE = [16, 512])]
fn tickets<const SIZE: i32>(next: PtrMut<i32>, taken: PtrMut<i32>, many: PtrMut<i32>) {
    let mine = atomic_add(next, 1, true);
    // All threads have to know the same ticket.
    let i = arange(0, SIZE);
    store(taken + mine * SIZE + i, full([SIZE], program_id(0) + 1), true);
    let ours = atomic_add(next + i + 1, 1, true);
    atomic_add(many + ours * SIZE + i, 1, true);
}

#[test]
fn everybody_gets_another_ticket() -> triton::Result<()> {
    macro_rules! check {
        ($size:literal) => {
            for device in devices() {
                let stream = device.stream()?;
                let programs = 300;
                let mut next = stream.zeros::<i32>(1 + $size)?;
                let mut taken = stream.zeros::<i32>(programs * $size)?;
                let mut many = stream.zeros::<i32>(programs * $size)?;
                // SAFETY: there are as many tickets as programs.
                unsafe { tickets::<$size>(&mut next, &mut taken, &mut many).launch(&stream, programs)? };
                assert_eq!(stream.download(&next)?, vec![programs as i32; 1 + $size], "{device}");
                let taken = stream.download(&taken)?;
                let mut owners: Vec<i32> = taken.chunks($size).map(|row| row[0]).collect();
                assert!(taken.chunks($size).all(|row| row.iter().all(|owner| *owner == row[0])), "{device}");
                owners.sort();
                assert!(owners.iter().copied().eq(1..=programs as i32), "{device}: {owners:?}");
                assert!(stream.download(&many)?.iter().all(|count| *count == 1), "{device}");
            }
        };
    }
    check!(16);
    check!(512);
    Ok(())
}

/// An update by compare-and-swap: 64-bit sums of squares.
#[triton::kernel]
fn squares(sum: PtrMut<i64>) {
    let me = program_id(0).to::<i64>();
    let mut expected = atomic_add(sum, 0, true);
    let mut found = atomic_cas(sum, expected, expected + me * me);
    while found != expected {
        expected = found;
        found = atomic_cas(sum, expected, expected + me * me);
    }
}

#[test]
fn updates_of_ones_own() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut sum = stream.zeros::<i64>(1)?;
        // SAFETY: one element.
        unsafe { squares(&mut sum).launch(&stream, 400)? };
        assert_eq!(stream.download(&sum)?, [(0..400).map(|i| i * i).sum::<i64>()], "{device}");
    }
    Ok(())
}

/// sums[j] += the sum of column j; tiles that are partly out of bounds.
#[triton::kernel(configs = [(M = 16, N = 32), (M = 1, N = 64)])]
fn column_sums<const M: i32, const N: i32>(x: Tensor<i32, 2>, sums: TensorMut<i32, 1>, largest: TensorMut<i32, 2>) {
    let (i, j) = (program_id(0) * M, program_id(1) * N);
    let v = x.load([i, j], [M, N]);
    sums.atomic_add([j], sum_axis(v, 0));
    let old = largest.atomic_max([i - 1, j - 1], v);
    // Nothing is there before, and 0 outside.
    sums.atomic_add([j], sum_axis(old, 0));
}

#[test]
fn views_are_updated_inside_their_bounds() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        for (rows, columns) in [(50, 70), (1, 1), (33, 64)] {
            let x: Vec<i32> = (1..=(rows * columns) as i32).collect();
            let dx = stream.upload(&x)?;
            let guard = 8;
            let mut sums = stream.zeros::<i32>(columns + guard)?;
            let mut largest = stream.zeros::<i32>(rows * columns + guard)?;
            {
                let mut sums = sums.slice_mut(..columns)?;
                let mut largest = largest.slice_mut(..rows * columns)?;
                let (sums, largest) = (sums.view_mut([columns])?, largest.view_mut([rows, columns])?);
                let grid = (rows.div_ceil(16), columns.div_ceil(32));
                column_sums::<16, 32>(dx.view([rows, columns])?, sums, largest).launch(&stream, grid)?;
            }
            let mut expected: Vec<i32> = (0..columns).map(|j| x.iter().skip(j).step_by(columns).sum()).collect();
            expected.extend(vec![0; guard]);
            assert_eq!(stream.download(&sums)?, expected, "{device} {rows} x {columns}");
            let shifted = |k: usize| {
                let (i, j) = (k / columns + 1, k % columns + 1);
                if k < rows * columns && i < rows && j < columns { x[i * columns + j] } else { 0 }
            };
            let expected: Vec<i32> = (0..rows * columns + guard).map(shifted).collect();
            assert_eq!(stream.download(&largest)?, expected, "{device} {rows} x {columns}");
        }
    }
    Ok(())
}

/// The sum of x: each program adds a part, and the last one that is done adds what all of them found, in their order.
#[triton::kernel(ORDER = [0, 1], num_warps = 4)]
fn total<const ORDER: i32>(
    x: Tensor<f32, 2>,
    parts: TensorMut<f32, 2>,
    count: TensorMut<i32, 1>,
    out: TensorMut<f32, 1>,
) {
    let (i, programs) = (program_id(0), num_programs(0));
    parts.store([i, 0], sum_axis(x.load([i * 16, 0], [16, 64]), 0).expand_dims(0));
    let before = if ORDER == 1 {
        count.order(AcqRel).atomic_add_at([0], 1, true)
    } else {
        fence();
        let before = count.atomic_add_at([0], 1, true);
        fence();
        before
    };
    if before == programs - 1 {
        let mut all = zeros::<f32>([64]);
        for k in (0..programs).step_by(4) {
            all += sum_axis(parts.load([k, 0], [4, 64]), 0);
        }
        out.store([0], all);
        // Fences do not order the updates themselves.
        count.atomic_xchg([0], zeros::<i32>([1]));
    }
}

/// The same with nothing that orders the parts before the count.
#[triton::kernel(num_warps = 4)]
fn unordered_total(x: Tensor<f32, 2>, parts: TensorMut<f32, 2>, count: TensorMut<i32, 1>, out: TensorMut<f32, 1>) {
    let (i, programs) = (program_id(0), num_programs(0));
    parts.store([i, 0], sum_axis(x.load([i * 16, 0], [16, 64]), 0).expand_dims(0));
    let before = count.order(Relaxed).atomic_add_at([0], 1, true);
    if before == programs - 1 {
        let mut all = zeros::<f32>([64]);
        for k in (0..programs).step_by(4) {
            all += sum_axis(parts.load([k, 0], [4, 64]), 0);
        }
        out.store([0], all);
        count.store([0], zeros::<i32>([1]));
    }
}

/// A spin lock around an update that is not atomic.
#[triton::kernel(num_warps = 2)]
fn locked(lock: PtrMut<i32>, value: PtrMut<i32>) {
    let mut taken = atomic_cas(lock.order(Acquire), 0, 1);
    while taken != 0 {
        taken = atomic_cas(lock.order(Acquire), 0, 1);
    }
    let i = arange(0, 128);
    store(value + i, load(value + (i ^ 64), true) + 1, true);
    atomic_xchg(lock.order(Release), 0, true);
}

/// The largest element of x. A program writes a note before it raises the maximum: the programs that find it there read the note.
#[triton::kernel(T = [f16, bf16, f32, f64], num_warps = 2)]
fn largest<T: Float>(x: Tensor<T, 1>, top: TensorMut<T, 1>, notes: TensorMut<i32, 1>, out: TensorMut<i32, 1>) {
    let i = program_id(0);
    notes.store([i], full([1], i + 1));
    let before: T = top.order(AcqRel).atomic_max_at([0], max(x.load([i * 128], [128])), true);
    let found = before.to::<i32>();
    if found >= 0 {
        out.store([i], notes.load([found], [1]) - (found + 1));
    }
}

#[test]
fn a_maximum_of_floats_publishes() -> triton::Result<()> {
    macro_rules! check {
        ($t:ty, $of:expr) => {
            for device in devices() {
                let stream = device.stream()?;
                // That of program i is i.
                let element = |k: usize| if k % 128 == k / 128 { (k / 128) as f32 } else { -1.0 };
                let x: Vec<$t> = (0..40 * 128).map(|k| $of(element(k))).collect();
                let (x, mut top) = (stream.upload(&x)?, stream.upload(&[$of(f32::NEG_INFINITY)])?);
                let (mut notes, mut out) = (stream.zeros::<i32>(40)?, stream.zeros::<i32>(40)?);
                let views = (x.view([40 * 128])?, top.view_mut([1])?, notes.view_mut([40])?, out.view_mut([40])?);
                largest::<$t>(views.0, views.1, views.2, views.3).launch(&stream, 40)?;
                assert_eq!(stream.download(&top)?, [$of(39.0)], "{device}");
                assert_eq!(stream.download(&out)?, [0; 40], "{device}");
            }
        };
    }
    check!(f16, f16::from_f32);
    check!(bf16, bf16::from_f32);
    check!(f32, |x: f32| x);
    check!(f64, f64::from);
    Ok(())
}

fn columns(rows: usize) -> (Vec<f32>, Vec<f32>) {
    let x: Vec<f32> = (0..rows * 64).map(|i| (i * 7 % 23) as f32 - 9.0).collect();
    let sum = |j: usize| (0..rows).map(|i| x[i * 64 + j]).sum();
    let sums = (0..64).map(sum).collect();
    (x, sums)
}

#[test]
fn the_last_program_sees_what_all_have_written() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let (x, sums) = columns(16 * 37);
        let x = stream.upload(&x)?;
        let (mut parts, mut count) = (stream.zeros::<f32>(37 * 64)?, stream.zeros::<i32>(1)?);
        for turn in 0..20 {
            let mut out = stream.zeros::<f32>(64)?;
            let views = (x.view([16 * 37, 64])?, parts.view_mut([37, 64])?, count.view_mut([1])?, out.view_mut([64])?);
            match turn % 2 {
                0 => total::<0>(views.0, views.1, views.2, views.3).launch(&stream, 37)?,
                _ => total::<1>(views.0, views.1, views.2, views.3).launch(&stream, 37)?,
            }
            assert_eq!(stream.download(&out)?, sums, "{device}");
        }
        assert_eq!(stream.download(&count)?, [0], "{device}");
    }
    Ok(())
}

#[test]
fn the_simulator_finds_an_order_that_is_too_weak() -> triton::Result<()> {
    let stream = Device::sim().stream()?;
    let x = stream.upload(&columns(16 * 5).0)?;
    let (mut parts, mut count) = (stream.zeros::<f32>(5 * 64)?, stream.zeros::<i32>(1)?);
    let mut out = stream.zeros::<f32>(64)?;
    let views = (x.view([80, 64])?, parts.view_mut([5, 64])?, count.view_mut([1])?, out.view_mut([64])?);
    let error = unordered_total(views.0, views.1, views.2, views.3).launch(&stream, 5).unwrap_err().to_string();
    assert!(error.contains("a race"), "{error}");
    Ok(())
}

#[test]
fn a_lock_excludes_programs() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let (mut lock, mut value) = (stream.zeros::<i32>(1)?, stream.zeros::<i32>(128)?);
        // SAFETY: the kernel accesses the one lock, and 128 elements.
        unsafe { locked(&mut lock, &mut value).launch(&stream, 50)? };
        assert_eq!(stream.download(&value)?, [50; 128], "{device}");
    }
    Ok(())
}
