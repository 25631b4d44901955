//! What products are, in `f64`.

use crate::Activation;

/// f(x).
pub fn activation(kind: Activation, x: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    match kind {
        Activation::Identity => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x * normal(x),
        Activation::GeluTanh => x * sigmoid(2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)),
        Activation::Silu => x * sigmoid(x),
        Activation::Sigmoid => sigmoid(x),
        Activation::Tanh => x.tanh(),
        Activation::Softplus => softplus(x),
        Activation::Mish => x * softplus(x).tanh(),
    }
}

/// The distribution function of the normal distribution: (1 + erf(x / √2)) / 2, by the series of erf or, for a large |x|, the continued fraction of
/// erfc (Abramowitz and Stegun, 7.1.6 and 7.1.14).
pub fn normal(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let density = (-z * z).exp() / std::f64::consts::PI.sqrt();
    let upper = if z < 3.0 {
        let (mut term, mut sum, mut n) = (z, z, 1.0);
        while term > 1e-18 * sum {
            term *= 2.0 * z * z / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        0.5 - density * sum
    } else {
        let fraction = (1..60).rev().fold(z, |below, i| z + f64::from(i) / 2.0 / below);
        0.5 * density / fraction
    };
    if x < 0.0 { upper } else { 1.0 - upper }
}

/// A product and its epilogue. Operands are \[B, M, K\], \[B, K, N\] and \[B, M, N\], the last axis first; what is absent is empty.
#[derive(Clone, Debug, Default)]
pub struct Product {
    /// B, M, N, K.
    pub shape: [usize; 4],
    /// a.
    pub a: Vec<f64>,
    /// b.
    pub b: Vec<f64>,
    /// The old c.
    pub c: Vec<f64>,
    /// A number for each column.
    pub bias: Vec<f64>,
    /// A number for each row.
    pub row_bias: Vec<f64>,
    /// What is added at the end.
    pub residual: Vec<f64>,
    /// What rows are multiplied by.
    pub row_scales: Vec<f64>,
    /// What columns are multiplied by.
    pub column_scales: Vec<f64>,
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What the old c is multiplied by.
    pub beta: f64,
    /// What is applied.
    pub activation: Activation,
}

impl Product {
    /// The new c.
    pub fn result(&self) -> Vec<f64> {
        let [batch, m, n, k] = self.shape;
        let mut out = Vec::with_capacity(batch * m * n);
        let of = |values: &[f64], i: usize, absent: f64| values.get(i).copied().unwrap_or(absent);
        for i in 0..batch * m {
            let mut sums = vec![0.0; n];
            for s in 0..k {
                let (a, row) = (self.a[i * k + s], &self.b[(i / m * k + s) * n..][..n]);
                sums.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
            }
            for (j, sum) in sums.into_iter().enumerate() {
                let at = i * n + j;
                let scale = self.alpha * of(&self.row_scales, i % m, 1.0) * of(&self.column_scales, j, 1.0);
                let old = if self.beta == 0.0 { 0.0 } else { self.beta * self.c[at] };
                let v = scale * sum + old + of(&self.bias, j, 0.0) + of(&self.row_bias, i % m, 0.0);
                out.push(activation(self.activation, v) + of(&self.residual, at, 0.0));
            }
        }
        out
    }
}

/// The sums of the columns of a matrix.
pub fn column_sums(values: &[f64], columns: usize) -> Vec<f64> {
    (0..columns).map(|j| values.iter().skip(j).step_by(columns.max(1)).sum()).collect()
}
