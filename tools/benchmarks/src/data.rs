//! Random inputs, and comparing results with a reference in f64. Both by all cores: the operands have 10⁸ elements.

use crate::kernels::{Number, Value};
use rand::SeedableRng;
use rand::rngs::SmallRng;

/// Elements that share a seed, so that the values do not depend on the number of cores.
const STRIDE: usize = 1 << 20;

/// Threads that run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Random values, as [`Value::random`] makes them.
pub fn random<T: Value>(len: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::from_bits(0); len];
    let share = len.div_ceil(cores()).next_multiple_of(STRIDE).max(STRIDE);
    std::thread::scope(|scope| {
        for (first, part) in (0..).step_by(share / STRIDE).zip(values.chunks_mut(share)) {
            scope.spawn(move || {
                for (i, part) in (first..).zip(part.chunks_mut(STRIDE)) {
                    let mut rng = SmallRng::seed_from_u64(seed.wrapping_add(i));
                    part.fill_with(|| T::random(&mut rng));
                }
            });
        }
    });
    values
}

/// ‖found − expected‖ / ‖expected‖, NaN if any element found is NaN.
pub fn error<T: Number>(found: &[T], expected: impl Fn(usize) -> f64 + Sync) -> f64 {
    let share = found.len().div_ceil(cores()).max(1);
    let expected = &expected;
    let sums = std::thread::scope(|scope| {
        let parts = found.chunks(share).enumerate().map(|(part, values)| {
            scope.spawn(move || {
                let mut sums = (0.0, 0.0);
                for (i, value) in (part * share..).zip(values) {
                    let reference = expected(i);
                    sums.0 += (value.to_f64() - reference).powi(2);
                    sums.1 += reference.powi(2);
                }
                sums
            })
        });
        let parts: Vec<_> = parts.collect();
        // A part that panicked is not a number.
        parts
            .into_iter()
            .map(|p| p.join().unwrap_or((f64::NAN, f64::NAN)))
            .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    });
    if sums.0 == 0.0 { 0.0 } else { (sums.0 / sums.1).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs() {
        assert_eq!(random::<f32>(0, 7), [0.0; 0]);
        let values: Vec<f32> = random(3 * STRIDE + 5, 7);
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.01 && (square - 1.0).abs() < 0.01, "{mean} {square}");
        assert_eq!(values, random::<f32>(3 * STRIDE + 5, 7));
        assert_ne!(values, random::<f32>(3 * STRIDE + 5, 8));
        let bytes: Vec<i8> = random(STRIDE, 7);
        assert!((i8::MIN..=i8::MAX).all(|byte| bytes.contains(&byte)));
    }

    #[test]
    fn errors() {
        let cases: &[(&[f32], &[f64], f64)] = &[
            (&[], &[], 0.0),
            (&[3.0, 4.0], &[3.0, 4.0], 0.0),
            (&[3.0, 5.0], &[3.0, 4.0], 0.2),
            (&[0.0, 0.0], &[3.0, 4.0], 1.0),
        ];
        for (found, expected, error) in cases {
            assert_eq!(super::error(found, |i| expected[i]), *error, "{found:?}");
        }
        assert!(error(&[1.0, f32::NAN], |_| 1.0).is_nan());
    }
}
