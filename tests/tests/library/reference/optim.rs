//! Steps of optimizers in `f64`.

use super::number::Number;
use triton_kernels::optim::{AdamWOptions, SgdOptions};

/// Weight and velocity after a step.
pub fn sgd(w: f64, g: f64, v: f64, options: SgdOptions) -> [Number; 2] {
    let [rate, momentum, dampening, decay] =
        [options.rate, options.momentum, options.dampening, options.decay].map(f64::from);
    let (w, v) = (Number::from(w), Number::from(v));
    let g = w * decay + g;
    if momentum == 0.0 {
        return [w - g * rate, v];
    }
    let v = v * momentum + g * (1.0 - dampening);
    [w - if options.nesterov { g + v * momentum } else { v } * rate, v]
}

/// Weight, mean and square after a step.
pub fn adamw(w: f64, g: f64, m: f64, v: f64, options: AdamWOptions) -> [Number; 3] {
    let AdamWOptions { rate, beta1, beta2, epsilon, decay, step } = options;
    let [rate, beta1, beta2, epsilon, decay] = [rate, beta1, beta2, epsilon, decay].map(f64::from);
    let [w, g, m, v] = [w, g, m, v].map(Number::from);
    let (m, v) = (m * beta1 + g * (1.0 - beta1), v * beta2 + g.square() * (1.0 - beta2));
    let (unbiased, scale) = (m / (1.0 - beta1.powi(step as i32)), v / (1.0 - beta2.powi(step as i32)));
    [w * (1.0 - rate * decay) - unbiased * rate / (scale.sqrt() + epsilon), m, v]
}
