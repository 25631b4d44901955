//! The table of activations.

/// A function that is applied to each element. At ±∞ it has its limit there: 0 where a gate closes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// x.
    #[default]
    Identity,
    /// max(x, 0): [`relu`](crate::functions::relu).
    Relu,
    /// x · Φ(x): [`gelu`](crate::functions::gelu).
    Gelu,
    /// Its approximation by a tanh: [`gelu_tanh`](crate::functions::gelu_tanh).
    GeluTanh,
    /// x · sigmoid(x): [`silu`](crate::functions::silu).
    Silu,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// log(1 + eˣ): [`softplus`](crate::functions::softplus).
    Softplus,
    /// x · tanh(log(1 + eˣ)): [`mish`](crate::functions::mish).
    Mish,
    /// min(max(x, 0), 6): [`relu6`](crate::functions::relu6).
    Relu6,
    /// min(max(x / 6 + 1/2, 0), 1): [`hard_sigmoid`](crate::functions::hard_sigmoid).
    HardSigmoid,
    /// x · min(max(x / 6 + 1/2, 0), 1): [`hard_swish`](crate::functions::hard_swish).
    HardSwish,
    /// x · sigmoid(1.702 x): [`quick_gelu`](crate::functions::quick_gelu).
    QuickGelu,
    /// x, and below 0 this positive multiple of it: [`leaky_relu`](crate::functions::leaky_relu).
    LeakyRelu(f32),
    /// x, and below 0 this multiple of eˣ − 1: [`elu`](crate::functions::elu).
    Elu(f32),
}

impl Activation {
    /// All of them, with the parameters that PyTorch has by default.
    pub const ALL: [Activation; 15] = [
        Activation::Identity,
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Softplus,
        Activation::Mish,
        Activation::Relu6,
        Activation::HardSigmoid,
        Activation::HardSwish,
        Activation::QuickGelu,
        Activation::LeakyRelu(0.01),
        Activation::Elu(1.0),
    ];

    /// The number by which kernels know it: what [`activate`](crate::functions::activate) takes.
    pub const fn number(self) -> i32 {
        match self {
            Activation::Identity => 0,
            Activation::Relu => 1,
            Activation::Gelu => 2,
            Activation::GeluTanh => 3,
            Activation::Silu => 4,
            Activation::Sigmoid => 5,
            Activation::Tanh => 6,
            Activation::Softplus => 7,
            Activation::Mish => 8,
            Activation::Relu6 => 9,
            Activation::HardSigmoid => 10,
            Activation::HardSwish => 11,
            Activation::QuickGelu => 12,
            Activation::LeakyRelu(_) => 13,
            Activation::Elu(_) => 14,
        }
    }

    /// The parameter of [`LeakyRelu`](Activation::LeakyRelu) and [`Elu`](Activation::Elu); 0 of the others.
    pub const fn slope(self) -> f32 {
        match self {
            Activation::LeakyRelu(slope) | Activation::Elu(slope) => slope,
            Activation::Identity
            | Activation::Relu
            | Activation::Gelu
            | Activation::GeluTanh
            | Activation::Silu
            | Activation::Sigmoid
            | Activation::Tanh
            | Activation::Softplus
            | Activation::Mish
            | Activation::Relu6
            | Activation::HardSigmoid
            | Activation::HardSwish
            | Activation::QuickGelu => 0.0,
        }
    }
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
    const QUICK: f64 = 1.702;

    /// Where a gate has closed: what is less counts as this, so that 0 · ∞ is not a term.
    const CLOSED: f64 = -1e4;

    /// f(x).
    pub fn activation(kind: Activation, x: f64) -> f64 {
        let gated = if x < CLOSED { CLOSED } else { x };
        match kind {
            Activation::Identity => x,
            Activation::Relu => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Activation::Gelu => gated * 0.5 * (1.0 + erf(x * FRAC_1_SQRT_2)),
            Activation::GeluTanh => 0.5 * gated * (1.0 + (TANH[0] * (x + TANH[1] * x.powi(3))).tanh()),
            Activation::Silu => gated * sigmoid(x),
            Activation::Sigmoid => sigmoid(x),
            Activation::Tanh => x.tanh(),
            Activation::Softplus => softplus(x),
            Activation::Mish => gated * softplus(x).tanh(),
            Activation::Relu6 => x.clamp(0.0, 6.0),
            Activation::HardSigmoid => (x / 6.0 + 0.5).clamp(0.0, 1.0),
            Activation::HardSwish => gated * (x / 6.0 + 0.5).clamp(0.0, 1.0),
            Activation::QuickGelu => gated * sigmoid(QUICK * x),
            Activation::LeakyRelu(slope) => {
                if x < 0.0 {
                    f64::from(slope) * x
                } else {
                    x
                }
            }
            Activation::Elu(slope) => {
                if x < 0.0 {
                    f64::from(slope) * x.exp_m1()
                } else {
                    x
                }
            }
        }
    }

    /// f'(x).
    pub fn derivative(kind: Activation, x: f64) -> f64 {
        let step = |low: f64, high: f64, inside: f64| {
            if x.is_nan() {
                x
            } else if x > low && x < high {
                inside
            } else {
                0.0
            }
        };
        // It is at its limit long before.
        let x = x.clamp(CLOSED, -CLOSED);
        let s = sigmoid(x);
        match kind {
            Activation::Identity => 1.0,
            Activation::Relu => {
                if x.is_nan() {
                    x
                } else {
                    f64::from(u8::from(x > 0.0))
                }
            }
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
            Activation::Relu6 => step(0.0, 6.0, 1.0),
            Activation::HardSigmoid => step(-3.0, 3.0, 1.0 / 6.0),
            Activation::HardSwish => {
                if x <= -3.0 {
                    0.0
                } else if x < 3.0 {
                    x / 3.0 + 0.5
                } else {
                    x * 0.0 + 1.0
                }
            }
            Activation::QuickGelu => {
                let s = sigmoid(QUICK * x);
                s * (1.0 + QUICK * x * (1.0 - s))
            }
            Activation::LeakyRelu(slope) => {
                if x > 0.0 {
                    1.0
                } else {
                    x * 0.0 + f64::from(slope)
                }
            }
            Activation::Elu(slope) => {
                if x > 0.0 {
                    1.0
                } else {
                    f64::from(slope) * x.exp()
                }
            }
        }
    }
}
