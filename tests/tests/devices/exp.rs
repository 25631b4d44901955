//! `exp` of every `f32`, on the GPU: the error that the language promises is the largest there is.

use triton::prelude::*;

#[triton::kernel]
fn exponential(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let i = program_id(0) * 1024;
    out.store([i], exp(x.load([i], [1024])));
}

/// Numbers of one launch.
const CHUNK: u32 = 1 << 24;

/// The error in units of the last place of the exact value; infinite where one is NaN or infinite and the other is not.
fn error(x: f32, found: f32) -> f64 {
    let exact = f64::from(x).exp();
    // What rounds to infinity is as well.
    let overflows = exact >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
    if exact.is_nan() || overflows {
        return if exact.is_nan() == found.is_nan() && (exact.is_nan() || found == f32::INFINITY) {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let unit = 2f64.powi((exact.log2().floor() as i32).max(-126) - 23);
    (f64::from(found) - exact).abs() / unit
}

/// The largest error of a run of numbers, and where it is.
fn largest(first: u32, found: &[f32]) -> (f64, f32) {
    let numbers = (0..).map(|i: usize| f32::from_bits(first.wrapping_add(i as u32)));
    let errors = numbers.zip(found).map(|(x, &found)| (error(x, found), x));
    errors.fold((0.0, 0.0), |most, next| if next.0 > most.0 { next } else { most })
}

#[test]
fn error_of_exp() -> triton::Result<()> {
    for device in super::devices() {
        let stream = device.stream()?;
        // All numbers on a GPU; a few of each exponent elsewhere.
        let all = device.ordinal().is_some();
        let chunks: Vec<(u32, u32)> = if all {
            (0..=u32::MAX / CHUNK).map(|chunk| (chunk * CHUNK, CHUNK)).collect()
        } else {
            (0..64).map(|exponent| (exponent << 26 | 0x155_5555, 64)).collect()
        };
        let mut most = (0.0, 0.0);
        for (first, count) in chunks {
            let numbers: Vec<f32> = (first..=first + (count - 1)).map(f32::from_bits).collect();
            let (x, mut out) = (stream.upload(&numbers)?, stream.zeros::<f32>(numbers.len())?);
            let n = numbers.len();
            exponential(x.view([n])?, out.view_mut([n])?).launch(&stream, n.div_ceil(1024))?;
            let found = stream.download(&out)?;
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            let part = n.div_ceil(threads);
            // Counted in 64 bits: one beyond the last number is none.
            let starts = (u64::from(first)..).step_by(part).map(|start| start as u32);
            let parts: Vec<(u32, &[f32])> = starts.zip(found.chunks(part)).collect();
            let errors = std::thread::scope(|scope| {
                let running: Vec<_> =
                    parts.iter().map(|&(first, part)| scope.spawn(move || largest(first, part))).collect();
                running.into_iter().map(|thread| thread.join().unwrap_or((f64::INFINITY, 0.0))).collect::<Vec<_>>()
            });
            most = errors.into_iter().fold(most, |most, next| if next.0 > most.0 { next } else { most });
        }
        println!("exp on {device}: largest error {:.3} ulp, at {:e}", most.0, most.1);
        assert!(most.0 <= 2.0, "exp on {device}: {} ulp at {:e}", most.0, most.1);
    }
    Ok(())
}
