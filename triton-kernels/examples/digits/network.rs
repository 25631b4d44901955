//! The network on a device: two layers, what flows between them, and the operations that make a step.
//!
//! They are those of `triton-kernels`; `classify`, which it does not have, is a kernel beside them. All parameters are views and numbers, so
//! that every launch is safe, and what is past the end of a view is never touched: the last batch of an epoch is as long as it is.

use crate::data::{CLASSES, Digits, PIXELS};
use std::ops::Range;
use triton::prelude::*;
use triton_kernels::gemm::Gemm;
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
    pub weights: Parameter<2>,
    pub bias: Parameter<1>,
}

/// Numbers that are learnt, their gradient, and how fast they move.
pub struct Parameter<const R: usize> {
    pub values: Tensor<f32, R>,
    gradient: Tensor<f32, R>,
    velocity: Tensor<f32, R>,
}

/// Images on the device, what the network says of each, and what flows through it for one batch of them.
pub struct Images {
    pixels: Tensor<f32, 2>,
    labels: Tensor<i32, 1>,
    pub loss: Tensor<f32, 1>,
    pub guess: Tensor<i32, 1>,
    hidden: Tensor<f32, 2>,
    hidden_gradient: Tensor<f32, 2>,
    sum_gradient: Tensor<f32, 2>,
    logits: Tensor<f32, 2>,
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
        let (stream, n) = (&self.stream, batch.len());
        let mut hidden = images.hidden.narrow_mut(0, ..n)?;
        let mut logits = images.logits.narrow_mut(0, ..n)?;

        self.hidden
            .product(images.pixels.narrow(0, batch.clone())?, &mut hidden)
            .activation(Activation::Relu)
            .launch(stream)?;
        self.output.product(hidden.as_view(), &mut logits).launch(stream)?;
        classify(&logits, images.guess.narrow_mut(0, batch.clone())?).launch(stream, n.div_ceil(ROWS as usize))?;
        cross_entropy(logits, images.labels.narrow(0, batch.clone())?, images.loss.narrow_mut(0, batch)?)
            .gradient_in_place()
            .gradient_scale(1.0 / n as f32)
            .launch(stream)
    }

    /// Reads a batch of images and learns from it.
    pub fn learn(&mut self, images: &mut Images, batch: Range<usize>, options: SgdOptions) -> Result<()> {
        self.read(images, batch.clone())?;
        let (stream, n) = (&self.stream, batch.len());
        let (hidden, logits_gradient) = (images.hidden.narrow(0, ..n)?, images.logits.narrow(0, ..n)?);
        let mut hidden_gradient = images.hidden_gradient.narrow_mut(0, ..n)?;
        let mut sum_gradient = images.sum_gradient.narrow_mut(0, ..n)?;

        self.output.descend(stream, hidden, logits_gradient, Some(hidden_gradient.reborrow()), options)?;
        // What a ReLU made is above 0 where what it was made of is.
        activation_backward(Activation::Relu, hidden, &hidden_gradient, &mut sum_gradient).launch(stream)?;
        self.hidden.descend(stream, images.pixels.narrow(0, batch)?, sum_gradient.as_view(), None, options)
    }
}

impl Layer {
    /// Weights that keep the size of what passes through a ReLU (He et al., "Delving Deep into Rectifiers", 2015).
    fn new(stream: &Stream, inputs: usize, outputs: usize, random: &mut fastrand::Rng) -> Result<Layer> {
        let most = (6.0 / inputs as f32).sqrt();
        let weights: Vec<f32> = (0..inputs * outputs).map(|_| most * (2.0 * random.f32() - 1.0)).collect();
        Ok(Layer {
            weights: Parameter::new(stream, &weights, [inputs, outputs])?,
            bias: Parameter::new(stream, &vec![0.0; outputs], [outputs])?,
        })
    }

    /// x · weights + bias.
    fn product<'a>(&'a self, x: View<'a, f32, 2>, y: &'a mut ViewMut<'_, f32, 2>) -> Gemm<'a, f32, f32> {
        gemm(x, &self.weights.values, y).bias(&self.bias.values).deterministic(true)
    }

    /// The gradient of the input `x`, and a step along those of the layer, whose output has the gradient `dy`.
    fn descend(
        &mut self,
        stream: &Stream,
        x: View<f32, 2>,
        dy: View<f32, 2>,
        dx: Option<ViewMut<f32, 2>>,
        options: SgdOptions,
    ) -> Result<()> {
        let Layer { weights, bias } = self;
        let launch = linear_backward(x, &weights.values, dy).dw(&mut weights.gradient).db(&mut bias.gradient);
        let launch = if let Some(dx) = dx { launch.dx(dx) } else { launch };
        launch.deterministic(true).launch(stream)?;
        weights.descend(stream, options)?;
        bias.descend(stream, options)
    }
}

impl<const R: usize> Parameter<R> {
    fn new(stream: &Stream, values: &[f32], shape: [usize; R]) -> Result<Parameter<R>> {
        let (gradient, velocity) = (stream.tensor_zeros(shape)?, stream.tensor_zeros(shape)?);
        Ok(Parameter { values: stream.tensor(values, shape)?, gradient, velocity })
    }

    fn descend(&mut self, stream: &Stream, options: SgdOptions) -> Result<()> {
        let row = [1, self.values.len()];
        let launch = sgd(self.values.reshape_mut(row)?, self.gradient.reshape(row)?, options);
        launch.velocity(self.velocity.reshape_mut(row)?).launch(stream)
    }
}

impl Images {
    /// Brings images to the device, of which at most `batch` are read at once.
    pub fn upload(stream: &Stream, digits: &Digits, batch: usize) -> Result<Images> {
        Ok(Images {
            pixels: stream.tensor(&digits.pixels, [digits.len(), PIXELS])?,
            labels: stream.tensor(&digits.labels, [digits.len()])?,
            loss: stream.tensor_zeros([digits.len()])?,
            guess: stream.tensor_zeros([digits.len()])?,
            hidden: stream.tensor_zeros([batch, HIDDEN])?,
            hidden_gradient: stream.tensor_zeros([batch, HIDDEN])?,
            sum_gradient: stream.tensor_zeros([batch, HIDDEN])?,
            logits: stream.tensor_zeros([batch, CLASSES])?,
        })
    }
}
