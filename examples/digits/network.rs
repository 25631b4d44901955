//! The network on a device: two layers, what flows between them, and the launches that make a step.

use crate::data::{CLASSES, Digits, PIXELS};
use crate::kernels::{COLUMNS, ROWS, Sgd, backward, cross_entropy, descend, forward};
use std::ops::Range;
use triton::Result;
use triton::prelude::*;

/// Neurons between the pixels and the classes.
const HIDDEN: usize = 128;

// The softmax wants all classes in one tile.
const _: () = assert!(CLASSES <= COLUMNS as usize);

/// 64 pixels, 128 neurons with ReLU, 10 classes.
pub struct Network {
    stream: Stream,
    pub hidden: Layer,
    pub output: Layer,
}

/// Weights and biases, and how fast they move.
pub struct Layer {
    inputs: usize,
    outputs: usize,
    pub weights: Buffer<f32>,
    weights_velocity: Buffer<f32>,
    pub bias: Buffer<f32>,
    bias_velocity: Buffer<f32>,
}

/// Images on the device, what the network says of each, and what flows through it for one batch of them.
pub struct Images {
    pixels: Buffer<f32>,
    labels: Buffer<i32>,
    pub loss: Buffer<f32>,
    pub guess: Buffer<i32>,
    hidden: Buffer<f32>,
    hidden_gradient: Buffer<f32>,
    logits: Buffer<f32>,
    logits_gradient: Buffer<f32>,
}

impl Network {
    /// A network that has learnt nothing yet.
    pub fn new(stream: &Stream, random: &mut fastrand::Rng) -> Result<Network> {
        let (hidden, output) =
            (Layer::new(stream, PIXELS, HIDDEN, random)?, Layer::new(stream, HIDDEN, CLASSES, random)?);
        Ok(Network { stream: stream.clone(), hidden, output })
    }

    /// Reads a batch of images: fills in their loss and guess, and the gradient for the last layer.
    pub fn read(&self, images: &mut Images, batch: Range<usize>) -> Result<()> {
        let (start, n) = (batch.start, batch.len());
        let pixels = images.pixels.view([n, PIXELS])?.with_offset(start * PIXELS)?;
        let labels = images.labels.view([n])?.with_offset(start)?;
        let mut hidden = images.hidden.view_mut([n, HIDDEN])?;
        let mut logits = images.logits.view_mut([n, CLASSES])?;

        forward::<true>(pixels, self.hidden.weights()?, self.hidden.bias()?, &mut hidden)
            .launch(&self.stream, tiles(n, HIDDEN))?;
        forward::<false>(&hidden, self.output.weights()?, self.output.bias()?, &mut logits)
            .launch(&self.stream, tiles(n, CLASSES))?;
        cross_entropy(
            &logits,
            labels,
            images.loss.view_mut([n])?.with_offset(start)?,
            images.guess.view_mut([n])?.with_offset(start)?,
            images.logits_gradient.view_mut([n, CLASSES])?,
        )
        .launch(&self.stream, tiles(n, CLASSES))
    }

    /// Reads a batch of images and learns from it.
    pub fn learn(&mut self, images: &mut Images, batch: Range<usize>, sgd: Sgd) -> Result<()> {
        self.read(images, batch.clone())?;
        let (start, n) = (batch.start, batch.len());
        let pixels = images.pixels.view([n, PIXELS])?.with_offset(start * PIXELS)?;
        let hidden = images.hidden.view([n, HIDDEN])?;
        let logits_gradient = images.logits_gradient.view([n, CLASSES])?;
        let mut hidden_gradient = images.hidden_gradient.view_mut([n, HIDDEN])?;

        backward(logits_gradient, self.output.weights()?.transpose(), hidden, &mut hidden_gradient)
            .launch(&self.stream, tiles(n, HIDDEN))?;
        self.output.descend(&self.stream, hidden, logits_gradient, sgd)?;
        self.hidden.descend(&self.stream, pixels, hidden_gradient.as_view(), sgd)
    }
}

impl Layer {
    /// Weights that keep the size of what passes through a ReLU (He et al., "Delving Deep into Rectifiers", 2015).
    fn new(stream: &Stream, inputs: usize, outputs: usize, random: &mut fastrand::Rng) -> Result<Layer> {
        let most = (6.0 / inputs as f32).sqrt();
        let weights: Vec<f32> = (0..inputs * outputs).map(|_| most * (2.0 * random.f32() - 1.0)).collect();
        Ok(Layer {
            inputs,
            outputs,
            weights: stream.upload(&weights)?,
            weights_velocity: stream.zeros(inputs * outputs)?,
            bias: stream.zeros(outputs)?,
            bias_velocity: stream.zeros(outputs)?,
        })
    }

    fn weights(&self) -> Result<View<'_, f32, 2>> {
        self.weights.view([self.inputs, self.outputs])
    }

    fn bias(&self) -> Result<View<'_, f32, 1>> {
        self.bias.view([self.outputs])
    }

    fn descend(&mut self, stream: &Stream, x: View<f32, 2>, dy: View<f32, 2>, sgd: Sgd) -> Result<()> {
        let shape = [self.inputs, self.outputs];
        descend(
            x.transpose(),
            dy,
            self.weights.view_mut(shape)?,
            self.weights_velocity.view_mut(shape)?,
            self.bias.view_mut([self.outputs])?,
            self.bias_velocity.view_mut([self.outputs])?,
            sgd,
        )
        .launch(stream, tiles(self.inputs, self.outputs))
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
            logits: stream.zeros(batch * CLASSES)?,
            logits_gradient: stream.zeros(batch * CLASSES)?,
        })
    }
}

/// The grid of programs that covers a matrix.
fn tiles(rows: usize, columns: usize) -> (usize, usize) {
    (rows.div_ceil(ROWS as usize), columns.div_ceil(COLUMNS as usize))
}
