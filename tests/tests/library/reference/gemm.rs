//! What products are, in `f64`.

use super::activation::{activation, sigmoid};
use super::column_sums::column_sums;
use super::number::{Number, Total};
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
    /// The roundoff of the elements of c.
    pub rounding: f64,
}

/// Activations that the kernels of a product apply. For others c is stored before.
const FUSED: [Activation; 8] = [
    Activation::Identity,
    Activation::Relu,
    Activation::Gelu,
    Activation::GeluTanh,
    Activation::Silu,
    Activation::QuickGelu,
    Activation::Sigmoid,
    Activation::Tanh,
];

impl Product {
    /// The new c.
    pub fn result(&self) -> Vec<Number> {
        let [batch, m, n, k] = self.shape;
        let mut out = Vec::with_capacity(batch * m * n);
        let of = |values: &[f64], i: usize, absent: f64| values.get(i).copied().unwrap_or(absent);
        for i in 0..batch * m {
            let mut sums = vec![Total::default(); n];
            for s in 0..k {
                let (a, row) = (self.a[i * k + s], &self.b[(i / m * k + s) * n..][..n]);
                sums.iter_mut().zip(row).for_each(|(sum, b)| sum.add_product(a, *b));
            }
            for (j, sum) in sums.into_iter().enumerate() {
                let at = i * n + j;
                let scale = self.alpha * of(&self.row_scales, i % m, 1.0) * of(&self.column_scales, j, 1.0);
                let old = if self.beta == 0.0 { 0.0 } else { self.beta * self.c[at] };
                let v = sum.number() * scale + old + of(&self.bias, j, 0.0) + of(&self.row_bias, i % m, 0.0);
                out.push(self.activated(v) + of(&self.residual, at, 0.0));
            }
        }
        out
    }
    /// Whether c is stored before the activation.
    fn is_stored(&self) -> bool {
        !FUSED.contains(&self.activation)
    }

    fn activated(&self, v: Number) -> Number {
        if self.activation == Activation::Identity {
            return v;
        }
        let v = if self.is_stored() { v.stored(self.rounding) } else { v };
        narrow(self.activation, v, self.rounding)
    }

    /// The sums of the columns of a result, as they are before it is rounded, or after.
    pub fn column_sums(&self, result: &[Number]) -> Vec<Number> {
        let stored = |c: &Number| if self.is_stored() { c.stored(self.rounding) } else { *c };
        column_sums(&result.iter().map(stored).collect::<Vec<_>>(), self.shape[2])
    }
}

/// An activation in an epilogue whose result has this roundoff.
pub fn narrow(kind: Activation, v: Number, rounding: f64) -> Number {
    let y = activation(kind, v);
    let magnitude = v.value.abs();
    // A gate is the root of 1 / d²: where d² is not a number of `f32` any more, it is 0.
    let closed = 2f64.powi(-63) * (magnitude + 2.0);
    match (kind, rounding > 1e-5) {
        // Within |x| · 2⁻¹² + 3 · 10⁻⁵, and within 7 · 10⁻⁸, as the functions `gelu_approx` and `gelu_logistic` of the library say.
        (Activation::Gelu | Activation::GeluTanh, true) => y.off_by(magnitude / 4096.0 + 3e-5),
        (Activation::Gelu, false) => y.off_by(7e-8 + closed),
        // By a difference that loses the digits of what is near 0.
        (Activation::Tanh, _) if rounding > 1e-10 => (sigmoid(v * 2.0) * 2.0 - 1.0).off_by(closed),
        // Within 2 · 10⁻⁷ of the larger of 1 and the result, as `Gemm::activation` says: the instructions for exponentials and roots are approximations.
        (Activation::Sigmoid | Activation::Silu | Activation::QuickGelu, _) if rounding > 1e-10 => {
            y.off_by(closed + 2e-7 * y.value.abs().max(1.0))
        }
        _ => y.off_by(closed),
    }
}
