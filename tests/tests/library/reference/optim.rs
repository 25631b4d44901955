//! Steps of optimizers in `f64`.

use triton_kernels::rows::{AdamWOptions, SgdOptions};

/// Weight and velocity after a step.
pub fn sgd(w: f64, g: f64, v: f64, options: SgdOptions) -> [f64; 2] {
    let [rate, momentum, dampening, decay] =
        [options.rate, options.momentum, options.dampening, options.decay].map(f64::from);
    let g = g + decay * w;
    if momentum == 0.0 {
        return [w - rate * g, v];
    }
    let v = momentum * v + (1.0 - dampening) * g;
    [w - rate * if options.nesterov { g + momentum * v } else { v }, v]
}

/// Weight, mean and square after a step.
pub fn adamw(w: f64, g: f64, m: f64, v: f64, options: AdamWOptions) -> [f64; 3] {
    let AdamWOptions { rate, beta1, beta2, epsilon, decay, step } = options;
    let [rate, beta1, beta2, epsilon, decay] = [rate, beta1, beta2, epsilon, decay].map(f64::from);
    let (m, v) = (beta1 * m + (1.0 - beta1) * g, beta2 * v + (1.0 - beta2) * g * g);
    let (unbiased, scale) = (m / (1.0 - beta1.powi(step as i32)), v / (1.0 - beta2.powi(step as i32)));
    [(1.0 - rate * decay) * w - rate * unbiased / (scale.sqrt() + epsilon), m, v]
}
