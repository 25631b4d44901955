//! The kernels: a layer forwards, a layer backwards, the loss, and the step that updates the weights.
//!
//! All parameters are views and numbers, so that launching them is safe. Views are padded with zeros: 10 classes fill a tile of
//! 16 columns, and the last batch of an epoch is as long as it is.

use triton::prelude::*;

/// Rows of the tile that a program computes.
#[triton::constant]
pub const ROWS: i32 = 32;

/// Columns of that tile; no fewer than there are classes.
#[triton::constant]
pub const COLUMNS: i32 = 16;

/// How much of a product's inner dimension is in registers at a time.
#[triton::constant]
const DEPTH: i32 = 16;

/// How weights follow their gradient: stochastic gradient descent with momentum.
#[triton::params]
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// The learning rate.
    pub rate: f32,
    /// How much of the last step is kept.
    pub momentum: f32,
}

/// y = x · weights + bias, and what is negative of it becomes 0 if there is a ReLU.
#[triton::kernel(RELU = [true, false])]
pub fn forward<const RELU: bool>(
    x: Tensor<f32, 2>,
    weights: Tensor<f32, 2>,
    bias: Tensor<f32, 1>,
    y: TensorMut<f32, 2>,
) {
    let (i, j) = (program_id(0) * ROWS, program_id(1) * COLUMNS);
    let bias = bias.load([j], [COLUMNS]).expand_dims(0).broadcast_to([ROWS, COLUMNS]);
    let sum = product(x, weights, (i, j), bias);
    y.store([i, j], if RELU { relu(sum) } else { sum });
}

/// dx = dy · weightsᵀ: how the loss depends on a layer's input `x`, which came out of a ReLU. The weights are passed transposed.
#[triton::kernel]
pub fn backward(dy: Tensor<f32, 2>, weights_t: Tensor<f32, 2>, x: Tensor<f32, 2>, dx: TensorMut<f32, 2>) {
    let (i, j) = (program_id(0) * ROWS, program_id(1) * COLUMNS);
    let sum = product(dy, weights_t, (i, j), zeros::<f32>([ROWS, COLUMNS]));
    dx.store([i, j], select(x.load([i, j], [ROWS, COLUMNS]) > 0.0, sum, 0.0));
}

/// A step along the gradients of a layer: xᵀ · dy of the weights, and the sums of dy's columns of the biases. Gradients never
/// leave the registers. `x` is passed transposed.
#[triton::kernel(deterministic = true)]
pub fn descend(
    x_t: Tensor<f32, 2>,
    dy: Tensor<f32, 2>,
    weights: TensorMut<f32, 2>,
    weights_velocity: TensorMut<f32, 2>,
    bias: TensorMut<f32, 1>,
    bias_velocity: TensorMut<f32, 1>,
    sgd: Sgd,
) {
    let (i, j) = (program_id(0) * ROWS, program_id(1) * COLUMNS);
    let gradient = product(x_t, dy, (i, j), zeros::<f32>([ROWS, COLUMNS]));
    let (weight, velocity) = (weights.load([i, j], [ROWS, COLUMNS]), weights_velocity.load([i, j], [ROWS, COLUMNS]));
    let (weight, velocity) = step(weight, velocity, gradient, sgd);
    weights.store([i, j], weight);
    weights_velocity.store([i, j], velocity);

    // One program for each tile of columns sees to the biases, too.
    if program_id(0) == 0 {
        let mut gradient = zeros::<f32>([COLUMNS]);
        for k in (0..dy.dim(0)).step_by(ROWS) {
            gradient += sum_axis(dy.load([k, j], [ROWS, COLUMNS]), 0);
        }
        let (value, velocity) = step(bias.load([j], [COLUMNS]), bias_velocity.load([j], [COLUMNS]), gradient, sgd);
        bias.store([j], value);
        bias_velocity.store([j], velocity);
    }
}

/// The cross-entropy of every image, the class that is thought likeliest, and the gradient of the mean loss.
#[triton::kernel(deterministic = true)]
pub fn cross_entropy(
    logits: Tensor<f32, 2>,
    labels: Tensor<i32, 1>,
    loss: TensorMut<f32, 1>,
    guess: TensorMut<i32, 1>,
    gradient: TensorMut<f32, 2>,
) {
    let i = program_id(0) * ROWS;
    let class = arange(0, COLUMNS).expand_dims(0);
    // Past the last class the view gives 0, which would be a class like any other.
    let logit = select(class < logits.dim(1), logits.load([i, 0], [ROWS, COLUMNS]), f32::NEG_INFINITY);
    let is_label = class == labels.load([i], [ROWS]).expand_dims(1);

    let (probability, log_total) = softmax(logit);
    loss.store([i], log_total - sum_axis(select(is_label, logit, 0.0), 1));
    guess.store([i], argmax_axis(logit, 1));
    gradient.store([i, 0], (probability - is_label.to::<f32>()) / (logits.dim(0) as f32));
}

/// The tile of `start` + a · b whose first element is at `at`.
#[triton::function]
fn product(a: Tensor<f32, 2>, b: Tensor<f32, 2>, at: (i32, i32), start: Tile<f32>) -> Tile<f32> {
    let (i, j) = at;
    let mut sum = start;
    for k in (0..a.dim(1)).step_by(DEPTH) {
        sum = dot(a.load([i, k], [ROWS, DEPTH]), b.load([k, j], [DEPTH, COLUMNS]), sum);
    }
    sum
}

/// What is negative becomes 0.
#[triton::function]
fn relu(x: Tile<f32>) -> Tile<f32> {
    maximum(x, 0.0)
}

/// The softmax of every row, and the logarithm of what the row's exponentials sum up to.
#[triton::function]
fn softmax(x: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
    let largest = max_axis(x, 1);
    let e = exp_down(x - largest.expand_dims(1));
    let total = sum_axis(e, 1);
    (e / total.expand_dims(1), log(total) + largest)
}

/// eˣ for x ≤ 0, within 3 ulp; 0 below e⁻⁴⁰.
///
/// `exp` is as exact, but its last bit may differ from device to device. This is made of operations that are rounded alike on
/// all, because the difference would not stay in the last bit: sooner or later it decides whether a ReLU is open.
#[triton::function]
fn exp_down(x: Tile<f32>) -> Tile<f32> {
    // eˣ = eʳ / 2ᵏ, where r = x + k · ln 2 is between −ln 2 and 0.
    let near = maximum(x, -40.0);
    let k = (near * -std::f32::consts::LOG2_E).to::<i64>();
    let r = fma(k.to::<f32>(), std::f32::consts::LN_2, near);
    // Taylor: 1 + r/1 · (1 + r/2 · (1 + r/3 · ..)).
    let mut e = r / 11.0 + 1.0;
    for n in 1..11 {
        e = fma(r / ((11 - n) as f32), e, 1.0);
    }
    select(x < -40.0, 0.0, e / (1 << k).to::<f32>())
}

/// Weights and velocities after one step.
#[triton::function]
fn step(weight: Tile<f32>, velocity: Tile<f32>, gradient: Tile<f32>, sgd: Sgd) -> (Tile<f32>, Tile<f32>) {
    let velocity = sgd.momentum * velocity + gradient;
    (weight - sgd.rate * velocity, velocity)
}
