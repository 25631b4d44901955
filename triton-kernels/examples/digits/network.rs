//! The network on a device: two layers, what flows between them, and the operations that make a step.
//!
//! They are those of `triton-kernels`; `classify`, which it does not have, is a kernel beside them. All parameters are views and numbers, so
//! that every launch is safe, and what is past the end of a view is never touched: the last batch of an epoch is as long as it is.

use crate::data::{CLASSES, Digits, PIXELS};
use std::ops::Range;
use triton::prelude::*;
use triton_kernels::rows::{SgdOptions, activation_backward, cross_entropy, sgd};
use triton_kernels::{Activation, Result, gemm, linear_backward};

/// Neurons between the pixels and the classes.
const HIDDEN: usize = 128;

/// Images that a program of `classify` sees to.
#[triton::constant]
const ROWS: i32 = 32;

/// Columns of its tile, which holds all classes.
#[triton::constant]
const COLUMNS: i32 = 16;
const _: () = assert!(CLASSES <= COLUMNS as usize);

/// The class of every image that is thought likeliest. Past the last class of an image there is nothing, which is less than any number.
#[triton::kernel]
fn classify(logits: Tensor<f32, 2>, guess: TensorMut<i32, 1>) {
    let i = program_id(0) * ROWS;
    guess.store([i], argmax_axis(logits.load_or([i, 0], [ROWS, COLUMNS], f32::NEG_INFINITY), 1));
}

/// 64 pixels, 128 neurons with ReLU, 10 classes.
pub struct Network {
    stream: Stream,
    pub hidden: Layer,
    pub output: Layer,
}

/// A matrix of weights, and a bias for each of its columns.
pub struct Layer {
    pub weights: Parameter,
    pub bias: Parameter,
}

/// A matrix of numbers that are learnt, their gradient, and how fast they move.
pub struct Parameter {
    shape: [usize; 2],
    pub values: Buffer<f32>,
    gradient: Buffer<f32>,
    velocity: Buffer<f32>,
}

/// Images on the device, what the network says of each, and what flows through it for one batch of them.
pub struct Images {
    pixels: Buffer<f32>,
    labels: Buffer<i32>,
    pub loss: Buffer<f32>,
    pub guess: Buffer<i32>,
    hidden: Buffer<f32>,
    hidden_gradient: Buffer<f32>,
    sum_gradient: Buffer<f32>,
    logits: Buffer<f32>,
}

impl Network {
    /// A network that has learnt nothing yet.
    pub fn new(stream: &Stream, random: &mut fastrand::Rng) -> Result<Network> {
        let (hidden, output) =
            (Layer::new(stream, PIXELS, HIDDEN, random)?, Layer::new(stream, HIDDEN, CLASSES, random)?);
        Ok(Network { stream: stream.clone(), hidden, output })
    }

    /// Reads a batch of images: fills in their loss and guess, and leaves the gradient of the mean loss where the logits were.
    pub fn read(&self, images: &mut Images, batch: Range<usize>) -> Result<()> {
        let (stream, start, n) = (&self.stream, batch.start, batch.len());
        let pixels = images.pixels.view([n, PIXELS])?.with_offset(start * PIXELS)?;
        let labels = images.labels.view([n])?.with_offset(start)?;
        let loss = images.loss.view_mut([n])?.with_offset(start)?;
        let guess = images.guess.view_mut([n])?.with_offset(start)?;
        let mut hidden = images.hidden.view_mut([n, HIDDEN])?;
        let mut logits = images.logits.view_mut([n, CLASSES])?;

        gemm(pixels, self.hidden.weights()?, hidden.reborrow())
            .bias(self.hidden.bias()?)
            .activation(Activation::Relu)
            .deterministic(true)
            .launch(stream)?;
        gemm(hidden.as_view(), self.output.weights()?, logits.reborrow())
            .bias(self.output.bias()?)
            .deterministic(true)
            .launch(stream)?;
        classify(&logits, guess).launch(stream, n.div_ceil(ROWS as usize))?;
        cross_entropy(logits, labels, loss).gradient_in_place().gradient_scale(1.0 / n as f32).launch(stream)
    }

    /// Reads a batch of images and learns from it.
    pub fn learn(&mut self, images: &mut Images, batch: Range<usize>, options: SgdOptions) -> Result<()> {
        self.read(images, batch.clone())?;
        let (stream, start, n) = (&self.stream, batch.start, batch.len());
        let pixels = images.pixels.view([n, PIXELS])?.with_offset(start * PIXELS)?;
        let hidden = images.hidden.view([n, HIDDEN])?;
        let logits_gradient = images.logits.view([n, CLASSES])?;
        let mut hidden_gradient = images.hidden_gradient.view_mut([n, HIDDEN])?;
        let mut sum_gradient = images.sum_gradient.view_mut([n, HIDDEN])?;

        linear_backward(hidden, self.output.weights()?, logits_gradient)
            .dx(hidden_gradient.reborrow())
            .deterministic(true)
            .launch(stream)?;
        // What a ReLU made is above 0 where what it was made of is.
        activation_backward(Activation::Relu, hidden, hidden_gradient.as_view(), sum_gradient.reborrow())
            .launch(stream)?;
        self.output.descend(stream, hidden, logits_gradient, options)?;
        self.hidden.descend(stream, pixels, sum_gradient.as_view(), options)
    }
}

impl Layer {
    /// Weights that keep the size of what passes through a ReLU (He et al., "Delving Deep into Rectifiers", 2015).
    fn new(stream: &Stream, inputs: usize, outputs: usize, random: &mut fastrand::Rng) -> Result<Layer> {
        let most = (6.0 / inputs as f32).sqrt();
        let weights: Vec<f32> = (0..inputs * outputs).map(|_| most * (2.0 * random.f32() - 1.0)).collect();
        Ok(Layer {
            weights: Parameter::new(stream, [inputs, outputs], &weights)?,
            bias: Parameter::new(stream, [1, outputs], &vec![0.0; outputs])?,
        })
    }

    fn weights(&self) -> Result<View<'_, f32, 2>> {
        Ok(self.weights.values.view(self.weights.shape)?)
    }

    fn bias(&self) -> Result<View<'_, f32, 1>> {
        Ok(self.bias.values.view([self.bias.shape[1]])?)
    }

    /// A step along the gradients of the layer, whose input was `x` and whose output has the gradient `dy`.
    fn descend(&mut self, stream: &Stream, x: View<f32, 2>, dy: View<f32, 2>, options: SgdOptions) -> Result<()> {
        let Layer { weights, bias } = self;
        linear_backward(x, weights.values.view(weights.shape)?, dy)
            .dw(weights.gradient.view_mut(weights.shape)?)
            .db(bias.gradient.view_mut([bias.shape[1]])?)
            .deterministic(true)
            .launch(stream)?;
        weights.descend(stream, options)?;
        bias.descend(stream, options)
    }
}

impl Parameter {
    fn new(stream: &Stream, shape: [usize; 2], values: &[f32]) -> Result<Parameter> {
        let (gradient, velocity) = (stream.zeros(values.len())?, stream.zeros(values.len())?);
        Ok(Parameter { shape, values: stream.upload(values)?, gradient, velocity })
    }

    fn descend(&mut self, stream: &Stream, options: SgdOptions) -> Result<()> {
        let (values, gradient) = (self.values.view_mut(self.shape)?, self.gradient.view(self.shape)?);
        sgd(values, gradient, options).velocity(self.velocity.view_mut(self.shape)?).launch(stream)
    }
}

impl Images {
    /// Brings images to the device, of which at most `batch` are read at once.
    pub fn upload(stream: &Stream, digits: &Digits, batch: usize) -> Result<Images> {
        Ok(Images {
            pixels: stream.upload(&digits.pixels)?,
            labels: stream.upload(&digits.labels)?,
            loss: stream.zeros(digits.len())?,
            guess: stream.zeros(digits.len())?,
            hidden: stream.zeros(batch * HIDDEN)?,
            hidden_gradient: stream.zeros(batch * HIDDEN)?,
            sum_gradient: stream.zeros(batch * HIDDEN)?,
            logits: stream.zeros(batch * CLASSES)?,
        })
    }
}
