//! Scans in kernels, against plain Rust: a recurrence, the compaction of a stream, and the same bits whatever the layout.

use super::devices;
use triton::prelude::*;
use triton_tests::numbers::Random;

/// The selective scan of state space models (Gu and Dao, "Mamba", 2023): h[t, c] = a[t, c] · h[t − 1, c] + b[t, c], from 0 on. A program
/// has N channels and goes through time in steps of T; the state after each block of them is carried.
#[triton::kernel(configs = [(T = 16, N = 32, num_warps = 4), (T = 64, N = 4, num_warps = 2)])]
fn selective_scan<const T: i32, const N: i32>(a: Tensor<f32, 2>, b: Tensor<f32, 2>, h: TensorMut<f32, 2>) {
    let channel = program_id(0) * N;
    let mut state = zeros::<f32>([N]);
    for t in (0..a.dim(0)).step_by(T) {
        let steps = (a.load([t, channel], [T, N]), b.load([t, channel], [T, N]));
        // A step after a step is a step.
        let (decay, since) = scan(steps, 0, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
        let now = decay * state.expand_dims(0) + since;
        h.store([t, channel], now);
        let last = (arange(0, T) == T - 1).expand_dims(1);
        state = sum_axis(select(last, now, 0.0), 0);
    }
}

#[test]
fn recurrences() -> triton::Result<()> {
    let (steps, channels) = (128, 50);
    let mut random = Random::new(5);
    let a: Vec<f32> = (0..steps * channels).map(|_| random.signed_unit().abs()).collect();
    let b: Vec<f32> = (0..steps * channels).map(|_| random.signed_unit()).collect();
    let mut expected = vec![0.0f64; steps * channels];
    for i in 0..expected.len() {
        let before = if i < channels { 0.0 } else { expected[i - channels] };
        expected[i] = f64::from(a[i]) * before + f64::from(b[i]);
    }
    for device in devices() {
        let stream = device.stream()?;
        let (da, db, shape) = (stream.upload(&a)?, stream.upload(&b)?, [steps, channels]);
        for wide in [true, false] {
            let mut h = stream.upload(&vec![f32::NAN; steps * channels])?;
            let (a, b, out) = (da.view(shape)?, db.view(shape)?, h.view_mut(shape)?);
            match wide {
                true => selective_scan::<16, 32>(a, b, out).launch(&stream, channels.div_ceil(32))?,
                false => selective_scan::<64, 4>(a, b, out).launch(&stream, channels.div_ceil(4))?,
            }
            for (i, (found, expected)) in stream.download(&h)?.iter().zip(&expected).enumerate() {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{device}, element {i}: {found}, not {expected}");
            }
        }
    }
    Ok(())
}

/// How many elements of each block are kept.
#[triton::kernel]
fn count_kept(x: Ptr<i32>, n: i32, counts: PtrMut<i32>) {
    let i = program_id(0) * 512 + arange(0, 512);
    let keep = (i < n) & (load(x + i, i < n) % 3 == 0);
    store(counts + program_id(0), sum(keep.to::<i32>()), true);
}

/// Where each of at most 64 blocks begins: the sum of those before it.
#[triton::kernel]
fn begins(counts: Ptr<i32>, blocks: i32, begins: PtrMut<i32>) {
    let i = arange(0, 64);
    let count = load(counts + i, i < blocks);
    store(begins + i, cumsum(count, 0) - count, i < blocks);
}

/// Keeps the elements that 3 divides, in order.
#[triton::kernel]
fn compact(x: Ptr<i32>, n: i32, begins: Ptr<i32>, kept: PtrMut<i32>) {
    let i = program_id(0) * 512 + arange(0, 512);
    let v = load(x + i, i < n);
    let keep = (i < n) & (v % 3 == 0);
    let place = load(begins + program_id(0), true) + cumsum(keep.to::<i32>(), 0) - 1;
    store(kept + place, v, keep);
}

#[test]
fn stream_compaction() -> triton::Result<()> {
    let mut random = Random::new(11);
    let x: Vec<i32> = (0..5000).map(|_| random.below(1000) as i32).collect();
    let expected: Vec<i32> = x.iter().copied().filter(|v| v % 3 == 0).collect();
    let (n, blocks) = (x.len() as i32, x.len().div_ceil(512));
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        let (mut counts, mut starts) = (stream.zeros::<i32>(blocks)?, stream.zeros::<i32>(blocks)?);
        let mut kept = stream.upload(&vec![-1; expected.len()])?;
        // SAFETY: accesses are masked to the elements of x and to the blocks; as many are kept as `kept` has.
        unsafe {
            count_kept(&dx, n, &mut counts).launch(&stream, blocks)?;
            begins(&counts, blocks as i32, &mut starts).launch(&stream, 1)?;
            compact(&dx, n, &starts, &mut kept).launch(&stream, blocks)?;
        }
        assert_eq!(stream.download(&kept)?, expected, "{device}");
    }
    Ok(())
}

/// Sums so far of rows and of columns, which `deterministic` is not needed for.
#[triton::kernel(configs = [(W = 1, num_warps = 1), (W = 4, num_warps = 4), (W = 16, num_warps = 16)])]
fn sums_so_far<const W: i32>(x: Ptr<f32>, rows: PtrMut<f32>, columns: PtrMut<f32>) {
    let i = arange(0, 4096).reshape([8, 512]);
    let tile = load(x + i, true);
    store(rows + i, cumsum(tile, 1), true);
    store(columns + i, scan_reverse(tile, 0, |after, x| after + x), true);
}

/// One bit of the index after the other: the order that is documented.
fn sklansky(x: &mut [f32]) {
    for bit in 0..x.len().trailing_zeros() {
        let before = x.to_vec();
        for i in (0..x.len()).filter(|i| i >> bit & 1 == 1) {
            x[i] += before[(i >> bit << bit) - 1];
        }
    }
}

#[test]
fn scans_have_the_same_bits_everywhere() -> triton::Result<()> {
    let mut random = Random::new(23);
    let x: Vec<f32> = (0..4096).map(|_| random.signed_unit() * 1000.0).collect();
    let mut by_rows = x.clone();
    by_rows.chunks_mut(512).for_each(sklansky);
    let mut by_columns = x.clone();
    for column in 0..512 {
        let mut line: Vec<f32> = x.iter().copied().skip(column).step_by(512).collect();
        line.reverse();
        sklansky(&mut line);
        line.iter().rev().enumerate().for_each(|(row, &v)| by_columns[row * 512 + column] = v);
    }
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        for warps in [1, 4, 16] {
            let (mut rows, mut columns) = (stream.zeros::<f32>(4096)?, stream.zeros::<f32>(4096)?);
            // SAFETY: all have the 4096 elements of the tile.
            unsafe {
                match warps {
                    1 => sums_so_far::<1>(&dx, &mut rows, &mut columns).launch(&stream, 1)?,
                    4 => sums_so_far::<4>(&dx, &mut rows, &mut columns).launch(&stream, 1)?,
                    _ => sums_so_far::<16>(&dx, &mut rows, &mut columns).launch(&stream, 1)?,
                }
            }
            assert_eq!(stream.download(&rows)?, by_rows, "{device}, {warps} warps, rows");
            assert_eq!(stream.download(&columns)?, by_columns, "{device}, {warps} warps, columns");
        }
    }
    Ok(())
}
