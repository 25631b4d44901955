//! Activations in `f64`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use triton_kernels::Activation;

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
        _ => panic!("no reference of {kind:?}"),
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
        _ => panic!("no reference of {kind:?}"),
    }
}
