//! `add` over lengths with and without tails, aligned and misaligned pointers, in `f32` and `f16`: exact everywhere, and
//! nothing beyond the end is touched.

use super::devices;
use triton::prelude::*;
use triton_tests::numbers::Random;

#[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

/// Elements before and after the result that must stay unchanged.
const GUARD: usize = 32;

macro_rules! check {
    ($device:expr, $t:ty, $block:literal, $n:expr, $offset:expr, $of:expr) => {{
        let (n, offset): (usize, usize) = ($n, $offset);
        let mut random = Random::new((n * 31 + offset) as u64);
        let of: fn(f32) -> $t = $of;
        let stream = $device.stream()?;
        let x: Vec<$t> = (0..n + offset).map(|_| of(random.signed_unit())).collect();
        let y: Vec<$t> = (0..n + offset).map(|_| of(random.signed_unit())).collect();
        let poison = of(777.0);
        let (dx, dy) = (stream.upload(&x)?, stream.upload(&y)?);
        let mut out = stream.upload(&vec![poison; n + offset + 2 * GUARD])?;
        let start = GUARD + offset;
        let launch_x = dx.slice(offset..)?;
        let launch_y = dy.slice(offset..)?;
        let mut launch_out = out.slice_mut(start..)?;
        let launch = add::<$t, $block>(&launch_x, &launch_y, &mut launch_out, n as i32);
        // SAFETY: the mask keeps every access below n, which the three slices have.
        unsafe { launch.launch(&stream, n.div_ceil($block))? };
        let result = stream.download(&out)?;
        for (i, found) in result.iter().enumerate() {
            let expected = match i.checked_sub(start).filter(|&k| k < n) {
                Some(k) => of(f32::from(x[k + offset]) + f32::from(y[k + offset])),
                None => poison,
            };
            assert!(
                found.to_bits() == expected.to_bits(),
                "{}, {} elements, offset {offset}, element {i}: {found} instead of {expected}",
                $device,
                n
            );
        }
    }};
}

#[test]
fn add_is_exact() -> triton::Result<()> {
    for device in devices() {
        for n in [1, 15, 16, 17, 255, 256, 257, 1000, 1024, 4096, 100_000, 131_072, 1_000_003] {
            if device.is_sim() && n > 4096 {
                continue;
            }
            for offset in [0, 1, 2, 3, 4, 8, 16] {
                check!(device, f32, 256, n, offset, |x| x);
                check!(device, f32, 1024, n, offset, |x| x);
                check!(device, f16, 256, n, offset, f16::from_f32);
                check!(device, f16, 1024, n, offset, f16::from_f32);
            }
        }
    }
    Ok(())
}

/// 2²⁷ elements, on a GPU only: the size that the benchmark times.
#[test]
fn large_add_is_exact_on_a_gpu() -> triton::Result<()> {
    for device in devices().into_iter().filter(|d| d.ordinal().is_some()) {
        for (n, offset) in [(1 << 27, 0), ((1 << 27) - 3, 0), ((1 << 27) - 16, 1)] {
            check!(device, f32, 1024, n, offset, |x| x);
            check!(device, f16, 1024, n, offset, f16::from_f32);
        }
    }
    Ok(())
}

/// A grid with a zero does nothing, and says so by succeeding.
#[test]
fn an_empty_grid_is_no_launch() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let x = stream.zeros::<f32>(0)?;
        let mut out = stream.zeros::<f32>(0)?;
        // SAFETY: no program runs.
        unsafe { add::<f32, 256>(&x, &x, &mut out, 0).launch(&stream, 0)? };
        stream.synchronize()?;
    }
    Ok(())
}
