//! Activations in `f64`.

use super::number::Number;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use triton_kernels::Activation;

/// 1 / (1 + e⁻ˣ).
pub fn sigmoid(x: Number) -> Number {
    1.0 / ((-x).exp() + 1.0)
}

fn softplus(x: Number) -> Number {
    x.max(0.0) + ((-x.abs()).exp() + 1.0).ln()
}

const TANH: [f64; 2] = [0.797_884_560_802_865_4, 0.044715];
const QUICK: f64 = 1.702;

/// Where a gate has closed: what is less counts as this, so that 0 · ∞ is not a term.
const CLOSED: f64 = -1e4;

/// f(x).
pub fn activation(kind: Activation, x: impl Into<Number>) -> Number {
    let x: Number = x.into();
    let gated = if x < CLOSED.into() { CLOSED.into() } else { x };
    let cubic = |x: Number| (x + x.square() * x * TANH[1]) * TANH[0];
    let slope = |slope: f32, f: Number| if x < 0.0.into() { f * f64::from(slope) } else { x };
    match kind {
        Activation::Identity => x,
        Activation::Relu => {
            if x.value < 0.0 {
                0.0.into()
            } else {
                x
            }
        }
        Activation::Gelu => gated * 0.5 * ((x * FRAC_1_SQRT_2).erf() + 1.0),
        Activation::GeluTanh => gated * 0.5 * (cubic(x).tanh() + 1.0),
        Activation::Silu => gated * sigmoid(x),
        Activation::Sigmoid => sigmoid(x),
        Activation::Tanh => x.tanh(),
        Activation::Softplus => softplus(x),
        Activation::Mish => gated * softplus(x).tanh(),
        Activation::Relu6 => x.clamp(0.0, 6.0),
        Activation::HardSigmoid => (x / 6.0 + 0.5).clamp(0.0, 1.0),
        Activation::HardSwish => gated * (x / 6.0 + 0.5).clamp(0.0, 1.0),
        Activation::QuickGelu => gated * sigmoid(x * QUICK),
        Activation::LeakyRelu(of) => slope(of, x),
        Activation::Elu(of) => slope(of, x.exp_m1()),
        _ => panic!("no reference of {kind:?}"),
    }
}

/// f'(x).
pub fn derivative(kind: Activation, x: impl Into<Number>) -> Number {
    let x: Number = x.into();
    let is_above = |least: f64| x > least.into();
    // A NaN stays one.
    let step = |low: f64, high: f64, inside: f64| match is_above(low) && x < high.into() {
        _ if x.value.is_nan() => x,
        true => inside.into(),
        false => 0.0.into(),
    };
    // It is at its limit long before.
    let x = x.clamp(CLOSED, -CLOSED);
    let s = sigmoid(x);
    let one = Number::from(1.0);
    match kind {
        Activation::Identity => one,
        Activation::Relu => match x.value.is_nan() {
            true => x,
            false => f64::from(u8::from(is_above(0.0))).into(),
        },
        Activation::Gelu => {
            let density = (-x.square() / 2.0).exp() / (2.0 * PI).sqrt();
            ((x * FRAC_1_SQRT_2).erf() + 1.0) * 0.5 + x * density
        }
        Activation::GeluTanh => {
            let t = ((x + x.square() * x * TANH[1]) * TANH[0]).tanh();
            (t + 1.0) * 0.5 + x * 0.5 * (one - t * t) * TANH[0] * (x.square() * (3.0 * TANH[1]) + 1.0)
        }
        Activation::Silu => s * (x * (one - s) + 1.0),
        Activation::Sigmoid => s * sigmoid(-x),
        Activation::Tanh => sigmoid(x * 2.0) * sigmoid(x * -2.0) * 4.0,
        Activation::Softplus => s,
        Activation::Mish => {
            let t = softplus(x).tanh();
            t + x * (one - t * t) * s
        }
        Activation::Relu6 => step(0.0, 6.0, 1.0),
        Activation::HardSigmoid => step(-3.0, 3.0, 1.0 / 6.0),
        Activation::HardSwish => {
            if x <= (-3.0).into() {
                0.0.into()
            } else if x < 3.0.into() {
                x / 3.0 + 0.5
            } else {
                x * 0.0 + 1.0
            }
        }
        Activation::QuickGelu => {
            let s = sigmoid(x * QUICK);
            s * (x * (one - s) * QUICK + 1.0)
        }
        Activation::LeakyRelu(slope) => {
            if is_above(0.0) {
                one
            } else {
                x * 0.0 + f64::from(slope)
            }
        }
        Activation::Elu(slope) => {
            if is_above(0.0) {
                one
            } else {
                x.exp() * f64::from(slope)
            }
        }
        _ => panic!("no reference of {kind:?}"),
    }
}
