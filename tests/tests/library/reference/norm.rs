//! Norms of rows in `f64`.

/// The mean of a row, 0 without it, and its scale.
pub fn statistics(x: &[f64], with_mean: bool, epsilon: f64) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = if with_mean { x.iter().sum::<f64>() / n } else { 0.0 };
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, 1.0 / (variance + epsilon).sqrt())
}

/// Of one row.
pub fn norm(x: &[f64], weight: &[f64], bias: Option<&[f64]>, epsilon: f64) -> Vec<f64> {
    let (mean, scale) = statistics(x, bias.is_some(), epsilon);
    let bias_of = |j: usize| bias.map_or(0.0, |bias| bias[j]);
    x.iter().enumerate().map(|(j, x)| (x - mean) * scale * weight[j] + bias_of(j)).collect()
}
