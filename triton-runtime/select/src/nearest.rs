//! Which keys are near each other.

/// The distance of two keys: the Euclidean one of the logarithms of their numbers, so that 64 is as far from 128 as 4096 from 8192. `None` if they
/// have different lengths, or a number has another sign: flags and missing axes are not near each other.
///
/// ```
/// use triton_select::distance;
///
/// assert!(distance(&[4096, 16], &[4100, 16]) < distance(&[4096, 16], &[4096, 24]));
/// assert_eq!(distance(&[1, -1], &[1, 1]), None);
/// ```
pub fn distance(a: &[i64], b: &[i64]) -> Option<f64> {
    if a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.signum() * b.signum() < 0) {
        return None;
    }
    let log = |word: i64| (word.unsigned_abs() as f64 + 1.0).log2();
    Some(a.iter().zip(b).map(|(&a, &b)| (log(a) - log(b)).powi(2)).sum::<f64>().sqrt())
}
