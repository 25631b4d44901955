//! What products are, in `f64`.

use super::activation::activation;
use triton_kernels::Activation;

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
