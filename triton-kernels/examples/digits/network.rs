//! The network on a device: two layers, what flows between them, and the operations that make a step.
//!
//! They are those of `triton-kernels`; `classify`, which it does not have, is a kernel beside them. All parameters are views and numbers, so
//! that every launch is safe, and what is past the end of a view is never touched: the last batch of an epoch is as long as it is.

use crate::data::{CLASSES, Digits, PIXELS};
use std::ops::Range;
use triton::prelude::*;
use triton_collective::{Communicator, Gradients, Reduce};
use triton_kernels::activation::activation_backward;
use triton_kernels::linear::Gemm;
use triton_kernels::linear::{gemm, linear_backward};
use triton_kernels::loss::cross_entropy;
use triton_kernels::optim::{SgdOptions, sgd};
use triton_kernels::{Activation, Result};

/// Neurons between the pixels and the classes.
const HIDDEN: usize = 128;

/// Images that a program of `classify` sees to.
#[triton::constant]
const ROWS: i32 = 32;

/// Columns of its tile, which holds all classes.
#[triton::constant]
const COLUMNS: i32 = 16;
const _: () = assert!(CLASSES <= COLUMNS as usize);

/// The most likely class of each image. Past the last class of an image there is nothing, which is less than any number.
#[triton::kernel]
fn classify(logits: Tensor<f32, 2>, guess: TensorMut<i32, 1>) {
    let i = program_id(0) * ROWS;
    guess.store([i], argmax_axis(logits.load_or([i, 0], [ROWS, COLUMNS], f32::NEG_INFINITY), 1));
}

/// 64 pixels, 128 neurons with ReLU, 10 classes.
pub struct Network {
    stream: Stream,
    /// The ranks that learn together, each from its part of a batch.
    communicator: Communicator,
    /// Of the output's weights and bias, then of the hidden layer's: as the backward pass makes them.
    gradients: Gradients<f32>,
    pub hidden: Layer,
    pub output: Layer,
}

/// A matrix of weights, and a bias for each of its columns.
pub struct Layer {
    pub weights: Parameter<2>,
    pub bias: Parameter<1>,
}

/// Numbers that are learnt, the number of their gradient, and how fast they move.
pub struct Parameter<const R: usize> {
    pub values: Tensor<f32, R>,
    gradient: usize,
    velocity: Tensor<f32, R>,
}

/// Images on the device, and what the network says of each.
pub struct Images {
    pixels: Tensor<f32, 2>,
    labels: Tensor<i32, 1>,
    pub loss: Tensor<f32, 1>,
    pub guess: Tensor<i32, 1>,
}

impl Network {
    /// A network that has learnt nothing yet.
    pub fn new(stream: &Stream, communicator: &Communicator, random: &mut fastrand::Rng) -> Result<Network> {
        let shapes = [([PIXELS, HIDDEN], 2), ([HIDDEN, CLASSES], 0)];
        let [hidden, output] = shapes.map(|(shape, gradient)| Layer::new(stream, shape, gradient, random));
        let lengths = [HIDDEN * CLASSES, CLASSES, PIXELS * HIDDEN, HIDDEN];
        let gradients = Gradients::new(stream, communicator, &lengths).map_err(triton::Error::from)?;
        let communicator = communicator.clone();
        Ok(Network { stream: stream.clone(), communicator, gradients, hidden: hidden?, output: output? })
    }

    /// Reads a batch of images: fills in their loss and guess. What the neurons gave is returned, with `scale` times the gradient of the losses by the logits.
    pub fn read(&self, images: &mut Images, batch: Range<usize>, scale: f32) -> Result<[Tensor<f32, 2>; 2]> {
        let (stream, n) = (&self.stream, batch.len());
        let (mut hidden, mut logits) = (stream.tensor_uninit([n, HIDDEN])?, stream.tensor_uninit([n, CLASSES])?);
        let pixels = images.pixels.narrow(0, batch.clone())?;
        self.hidden.product(pixels, &mut hidden).activation(Activation::Relu).launch(stream)?;
        self.output.product(hidden.as_view(), &mut logits).launch(stream)?;
        classify(&logits, images.guess.narrow_mut(0, batch.clone())?).launch(stream, n.div_ceil(ROWS as usize))?;
        let labels = images.labels.narrow(0, batch.clone())?;
        let losses = cross_entropy(&mut logits, labels, images.loss.narrow_mut(0, batch)?);
        losses.gradient_in_place().gradient_scale(scale).launch(stream)?;
        Ok([hidden, logits])
    }

    /// Reads a batch of images and learns from it: a rank from its part.
    pub fn learn(&mut self, images: &mut Images, batch: Range<usize>, options: SgdOptions) -> Result<()> {
        let part = self.communicator.shard(batch.len());
        // The average over the ranks is the gradient of the batch's mean.
        let scale = self.communicator.world() as f32 / batch.len() as f32;
        let batch = batch.start + part.start..batch.start + part.end;
        let [hidden, dy] = self.read(images, batch.clone(), scale)?;
        let (stream, gradients) = (&self.stream, &mut self.gradients);
        let (mut dhidden, mut dsum) = (stream.tensor_uninit(hidden.shape())?, stream.tensor_uninit(hidden.shape())?);
        linear_backward(&hidden, &self.output.weights.values, &dy)
            .dx(&mut dhidden)
            .deterministic(true)
            .launch(stream)?;
        self.output.gradients(stream, hidden.as_view(), &dy, gradients)?;
        // What a ReLU made is above 0 where what it was made of is.
        activation_backward(&hidden, &dhidden, Activation::Relu, &mut dsum).launch(stream)?;
        self.hidden.gradients(stream, images.pixels.narrow(0, batch)?, &dsum, gradients)?;
        self.output.descend(stream, gradients, options)?;
        self.hidden.descend(stream, gradients, options)
    }

    /// Gives all ranks the losses and guesses that each has of its part: those of the others are 0 before.
    pub fn gather(&self, images: &mut Images) -> Result<()> {
        let Images { loss, guess, .. } = images;
        let all = self.communicator.all_reduce(&self.stream, loss, Reduce::Sum);
        let all = all.and_then(|()| self.communicator.all_reduce(&self.stream, guess, Reduce::Sum));
        Ok(all.map_err(triton::Error::from)?)
    }
}

impl Layer {
    /// Weights that keep the size of what passes through a ReLU (He et al., "Delving Deep into Rectifiers", 2015).
    fn new(stream: &Stream, shape: [usize; 2], gradient: usize, random: &mut fastrand::Rng) -> Result<Layer> {
        let (most, zeros) = ((6.0 / shape[0] as f32).sqrt(), vec![0.0; shape[1]]);
        let weights: Vec<f32> = (0..shape[0] * shape[1]).map(|_| most * (2.0 * random.f32() - 1.0)).collect();
        let weights = Parameter::new(stream, &weights, shape, gradient)?;
        Ok(Layer { weights, bias: Parameter::new(stream, &zeros, [shape[1]], gradient + 1)? })
    }

    /// x · weights + bias.
    fn product<'a>(&'a self, x: View<'a, f32, 2>, y: &'a mut Tensor<f32, 2>) -> Gemm<'a, f32, f32> {
        gemm(x, &self.weights.values, y).bias(&self.bias.values).deterministic(true)
    }

    /// The gradients of the layer, whose input was `x` and whose output has the gradient `dy`.
    fn gradients(
        &self,
        stream: &Stream,
        x: View<f32, 2>,
        dy: &Tensor<f32, 2>,
        gradients: &mut Gradients<f32>,
    ) -> Result<()> {
        let [weights, bias] = [self.weights.gradient, self.bias.gradient];
        let shapes = ((weights, self.weights.values.shape()), (bias, self.bias.values.shape()));
        let (dw, db) = gradients.pair_mut(shapes.0, shapes.1).map_err(triton::Error::from)?;
        linear_backward(x, &self.weights.values, dy).dw(dw).db(db).deterministic(true).launch(stream)?;
        Ok([weights, bias]
            .into_iter()
            .try_for_each(|gradient| gradients.ready(gradient))
            .map_err(triton::Error::from)?)
    }

    /// A step along the gradients.
    fn descend(&mut self, stream: &Stream, gradients: &Gradients<f32>, options: SgdOptions) -> Result<()> {
        self.weights.descend(stream, gradients, options)?;
        self.bias.descend(stream, gradients, options)
    }
}

impl<const R: usize> Parameter<R> {
    fn new(stream: &Stream, values: &[f32], shape: [usize; R], gradient: usize) -> Result<Parameter<R>> {
        Ok(Parameter { values: stream.tensor(values, shape)?, gradient, velocity: stream.tensor_zeros(shape)? })
    }

    fn descend(&mut self, stream: &Stream, gradients: &Gradients<f32>, options: SgdOptions) -> Result<()> {
        let row = [1, self.values.len()];
        let gradient = gradients.view(self.gradient, row).map_err(triton::Error::from)?;
        let launch = sgd(self.values.reshape_mut(row)?, gradient, options);
        launch.velocity(self.velocity.reshape_mut(row)?).launch(stream)
    }
}

impl Images {
    /// Brings images to the device.
    pub fn upload(stream: &Stream, digits: &Digits) -> Result<Images> {
        let n = digits.len();
        Ok(Images {
            pixels: stream.tensor(&digits.pixels, [n, PIXELS])?,
            labels: stream.tensor(&digits.labels, [n])?,
            loss: stream.tensor_zeros([n])?,
            guess: stream.tensor_zeros([n])?,
        })
    }
}
