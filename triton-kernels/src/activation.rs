//! The table of activations.

/// A function that is applied to each element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Activation {
    /// x.
    #[default]
    Identity = 0,
    /// max(x, 0): [`relu`](crate::functions::relu).
    Relu = 1,
    /// x · Φ(x): [`gelu`](crate::functions::gelu).
    Gelu = 2,
    /// Its approximation by a tanh: [`gelu_tanh`](crate::functions::gelu_tanh).
    GeluTanh = 3,
    /// x · sigmoid(x): [`silu`](crate::functions::silu).
    Silu = 4,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid = 5,
    /// The hyperbolic tangent.
    Tanh = 6,
    /// log(1 + eˣ): [`softplus`](crate::functions::softplus).
    Softplus = 7,
    /// x · tanh(log(1 + eˣ)): [`mish`](crate::functions::mish).
    Mish = 8,
}

impl Activation {
    /// All of them.
    pub const ALL: [Activation; 9] = [
        Activation::Identity,
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Softplus,
        Activation::Mish,
    ];
}

/// Activations in `f64`.
#[cfg(feature = "check")]
pub mod reference {
    use super::Activation;
    use std::f64::consts::{FRAC_1_SQRT_2, PI};

    /// The error function: a series, or a continued fraction.
    pub fn erf(x: f64) -> f64 {
        let a = x.abs();
        if a < 3.0 {
            let (mut term, mut sum, mut n) = (a, a, 0.0);
            while term.abs() > 1e-17 * sum.abs() {
                n += 1.0;
                term *= -a * a / n;
                sum += term / (2.0 * n + 1.0);
            }
            return (2.0 / PI.sqrt() * sum).copysign(x);
        }
        let fraction = (1..=60).rev().fold(0.0, |of, k| f64::from(k) / 2.0 / (a + of));
        (1.0 - (-a * a).exp() / (PI.sqrt() * (a + fraction))).copysign(x)
    }

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    fn softplus(x: f64) -> f64 {
        x.max(0.0) + (-x.abs()).exp().ln_1p()
    }

    const TANH: [f64; 2] = [0.797_884_560_802_865_4, 0.044715];

    /// f(x).
    pub fn activation(kind: Activation, x: f64) -> f64 {
        match kind {
            Activation::Identity => x,
            Activation::Relu => x.max(0.0),
            Activation::Gelu => x * 0.5 * (1.0 + erf(x * FRAC_1_SQRT_2)),
            Activation::GeluTanh => 0.5 * x * (1.0 + (TANH[0] * (x + TANH[1] * x.powi(3))).tanh()),
            Activation::Silu => x * sigmoid(x),
            Activation::Sigmoid => sigmoid(x),
            Activation::Tanh => x.tanh(),
            Activation::Softplus => softplus(x),
            Activation::Mish => x * softplus(x).tanh(),
        }
    }

    /// f'(x).
    pub fn derivative(kind: Activation, x: f64) -> f64 {
        let s = sigmoid(x);
        match kind {
            Activation::Identity => 1.0,
            Activation::Relu => f64::from(u8::from(x > 0.0)),
            Activation::Gelu => 0.5 * (1.0 + erf(x * FRAC_1_SQRT_2)) + x * (-x * x / 2.0).exp() / (2.0 * PI).sqrt(),
            Activation::GeluTanh => {
                let t = (TANH[0] * (x + TANH[1] * x.powi(3))).tanh();
                0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * TANH[0] * (1.0 + 3.0 * TANH[1] * x * x)
            }
            Activation::Silu => s * (1.0 + x * (1.0 - s)),
            Activation::Sigmoid => s * (1.0 - s),
            Activation::Tanh => 1.0 - x.tanh().powi(2),
            Activation::Softplus => s,
            Activation::Mish => {
                let t = softplus(x).tanh();
                t + x * (1.0 - t * t) * s
            }
        }
    }
}
