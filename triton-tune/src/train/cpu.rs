//! Training on the CPU: Adam on mini-batches, each computed in shards by all threads.
//!
//! A batch is always cut into the same shards, whose gradients are added in their order, so that the result does not depend on the
//! number of threads.

use super::outer::{Outer, Values};
use super::{Network, Options, Samples, Trainer};
use crate::error::{Error, Result};
use fastrand::Rng;
use rayon::prelude::*;
use triton_select::model::{LANES, Lanes, Layer, Packed};

/// Samples of a shard.
const SHARD: usize = 16 * LANES;

/// Trains on all threads of the CPU.
///
/// ```
/// use triton_tune::train::{Cpu, Options, Samples, Trainer};
///
/// // y = |x|
/// let inputs: Vec<f32> = (0..2048).map(|index| index as f32 / 1024.0 - 1.0).collect();
/// let samples = Samples { width: 1, targets: inputs.iter().map(|x| x.abs()).collect(), inputs };
/// let options = Options { hidden: vec![16], epochs: 200, batch: 128, rates: [1e-2, 1e-4], seed: 1 };
/// let network = Cpu.fit(&samples, &options, &mut |_, _| {})?;
/// assert!(network.error(&samples) < 1e-3);
/// # Ok::<(), triton_tune::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Trainer for Cpu {
    fn fit(&self, samples: &Samples, options: &Options, progress: &mut dyn FnMut(usize, f64)) -> Result<Network> {
        options.check()?;
        if samples.is_empty() || samples.inputs.len() != samples.len() * samples.width || samples.width == 0 {
            let found = format!("{} of {} inputs each", samples.len(), samples.width);
            return Err(Error::value("the samples", found, "at least one, with inputs", "record data first"));
        }
        let mut rng = Rng::with_seed(options.seed);
        let mut network = Network::random(samples.width, &options.hidden, &mut rng);
        let mut order: Vec<usize> = (0..samples.len()).collect();
        let mut adam = Adam::new(&network);
        let mut shards: Vec<Shard> =
            (0..options.batch.min(samples.len()).div_ceil(SHARD)).map(|_| Shard::new(&network)).collect();
        let steps = options.epochs * samples.len().div_ceil(options.batch);
        let mut step = 0;
        for epoch in 1..=options.epochs {
            rng.shuffle(&mut order);
            let mut loss = 0.0;
            for batch in order.chunks(options.batch) {
                let forward = network.packed();
                let backward: Vec<Packed> = network.layers.iter().map(transposed).collect();
                let used = batch.len().div_ceil(SHARD);
                shards[..used].par_iter_mut().zip(batch.par_chunks(SHARD)).for_each(|(shard, chosen)| {
                    shard.step(samples, chosen, 2.0 / batch.len() as f32, &forward, &backward);
                });
                let (first, rest) = shards[..used].split_at_mut(1);
                loss += first[0].loss + rest.iter().map(|shard| shard.loss).sum::<f64>();
                for shard in rest {
                    first[0].gradients.add(&shard.gradients);
                }
                let [from, to] = options.rates;
                let at = step as f32 / (steps.max(2) - 1) as f32;
                let rate = to + (from - to) * 0.5 * (1.0 + (std::f32::consts::PI * at).cos());
                adam.step(&mut network, &first[0].gradients, rate);
                step += 1;
            }
            let loss = loss / samples.len() as f64;
            if !loss.is_finite() {
                return Err(Error::value("the error of an epoch", loss, "a finite number", "lower the learning rate"));
            }
            progress(epoch, loss);
        }
        Ok(network)
    }
}

/// A layer from outputs to inputs.
fn transposed(layer: &Layer) -> Packed {
    Packed::new(layer.outputs, layer.inputs, None, |o, i| layer.weights[i * layer.outputs + o])
}

/// A gradient, or a moment of it, for each weight.
struct Gradients(Vec<Layer>);

impl Gradients {
    fn zeros(network: &Network) -> Self {
        let zero = |layer: &Layer| Layer {
            weights: vec![0.0; layer.weights.len()],
            bias: vec![0.0; layer.bias.len()],
            ..*layer
        };
        Self(network.layers.iter().map(zero).collect())
    }

    fn add(&mut self, other: &Self) {
        for (layer, other) in self.0.iter_mut().zip(&other.0) {
            layer.weights.iter_mut().zip(&other.weights).for_each(|(sum, value)| *sum += value);
            layer.bias.iter_mut().zip(&other.bias).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Adam (Kingma and Ba 2015).
struct Adam {
    first: Gradients,
    second: Gradients,
    step: i32,
}

impl Adam {
    fn new(network: &Network) -> Self {
        Self { first: Gradients::zeros(network), second: Gradients::zeros(network), step: 0 }
    }

    fn step(&mut self, network: &mut Network, gradients: &Gradients, rate: f32) {
        let (b1, b2) = (0.9f32, 0.999f32);
        self.step += 1;
        let (c1, c2) = (1.0 - b1.powi(self.step), 1.0 - b2.powi(self.step));
        let update = |values: &mut [f32], gradients: &[f32], first: &mut [f32], second: &mut [f32]| {
            let moments = first.iter_mut().zip(second);
            for ((value, gradient), (first, second)) in values.iter_mut().zip(gradients).zip(moments) {
                *first = b1 * *first + (1.0 - b1) * gradient;
                *second = b2 * *second + (1.0 - b2) * gradient * gradient;
                *value -= rate * (*first / c1) / ((*second / c2).sqrt() + 1e-8);
            }
        };
        let moments = self.first.0.iter_mut().zip(&mut self.second.0);
        for ((layer, gradient), (first, second)) in network.layers.iter_mut().zip(&gradients.0).zip(moments) {
            update(&mut layer.weights, &gradient.weights, &mut first.weights, &mut second.weights);
            update(&mut layer.bias, &gradient.bias, &mut first.bias, &mut second.bias);
        }
    }
}

/// What a thread needs for its part of a batch.
struct Shard {
    /// The values that each layer reads, and those of the last one: for each block of samples, a row for each unit.
    values: Vec<Vec<Lanes>>,
    /// The rows of a block: units, rounded up to what a layer writes.
    strides: Vec<usize>,
    units: Vec<usize>,
    /// Gradients of the values of a layer, and of the one before it.
    current: Vec<Lanes>,
    next: Vec<Lanes>,
    outer: Outer,
    gradients: Gradients,
    loss: f64,
}

impl Shard {
    fn new(network: &Network) -> Self {
        let first = network.layers.first().map_or(0, |layer| layer.inputs);
        let units: Vec<usize> = [first].into_iter().chain(network.layers.iter().map(|layer| layer.outputs)).collect();
        let strides: Vec<usize> = units.iter().map(|units| units.next_multiple_of(4)).collect();
        let blocks = SHARD / LANES;
        let most = strides.iter().copied().max().unwrap_or(0) * blocks;
        Self {
            values: strides.iter().map(|stride| vec![[0.0; LANES]; stride * blocks]).collect(),
            strides,
            units,
            current: vec![[0.0; LANES]; most],
            next: vec![[0.0; LANES]; most],
            outer: Outer::default(),
            gradients: Gradients::zeros(network),
            loss: 0.0,
        }
    }

    /// Computes the gradients of some samples, with `scale` for each, and the sum of squared errors.
    fn step(&mut self, samples: &Samples, chosen: &[usize], scale: f32, forward: &[Packed], backward: &[Packed]) {
        let blocks = chosen.len().div_ceil(LANES);
        let layers = forward.len();
        for (block, chosen) in chosen.chunks(LANES).enumerate() {
            samples.gather(chosen, &mut self.values[0][block * self.strides[0]..][..self.strides[0]]);
            for (layer, packed) in forward.iter().enumerate() {
                let (before, after) = self.values.split_at_mut(layer + 1);
                let input = &before[layer][block * self.strides[layer]..][..self.strides[layer]];
                let output = &mut after[0][block * self.strides[layer + 1]..][..self.strides[layer + 1]];
                packed.apply(layer + 1 < layers, input, output);
            }
        }
        self.loss = 0.0;
        let stride = self.strides[layers];
        for (block, chosen) in chosen.chunks(LANES).enumerate() {
            let gradient = &mut self.current[block * stride..][..stride];
            gradient.fill([0.0; LANES]);
            // Lanes past the last sample have no error.
            for (lane, &sample) in chosen.iter().enumerate() {
                let error = self.values[layers][block * stride][lane] - samples.targets[sample];
                self.loss += f64::from(error).powi(2);
                gradient[0][lane] = scale * error;
            }
        }
        for layer in (0..layers).rev() {
            let [stride, after] = [self.strides[layer], self.strides[layer + 1]];
            let input = Values { rows: &self.values[layer][..blocks * stride], stride, units: self.units[layer] };
            let gradient =
                Values { rows: &self.current[..blocks * after], stride: after, units: self.units[layer + 1] };
            let sums = &mut self.gradients.0[layer];
            self.outer.sum(input, gradient, &mut sums.weights, &mut sums.bias);
            if layer == 0 {
                break;
            }
            for block in 0..blocks {
                let from = &self.current[block * after..][..after];
                let to = &mut self.next[block * stride..][..stride];
                backward[layer].apply(false, from, to);
                // The slope of ReLU.
                let values = &self.values[layer][block * stride..][..stride];
                for (to, values) in to.as_flattened_mut().iter_mut().zip(values.as_flattened()) {
                    *to = if *values > 0.0 { *to } else { 0.0 };
                }
            }
            std::mem::swap(&mut self.current, &mut self.next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradients agree with differences of the error.
    #[test]
    fn gradients_are_slopes() {
        let mut rng = Rng::with_seed(5);
        for (width, hidden, count) in [(3, vec![5usize, 9], 21), (1, vec![], 3), (6, vec![4, 4, 4], 128)] {
            let network = Network::random(width, &hidden, &mut rng);
            let mut random = |count: usize| (0..count).map(|_| 2.0 * rng.f32() - 1.0).collect::<Vec<f32>>();
            let samples = Samples { width, inputs: random(count * width), targets: random(count) };
            let chosen: Vec<usize> = (0..count).collect();
            let gradients = |network: &Network| {
                let backward: Vec<Packed> = network.layers.iter().map(transposed).collect();
                let mut shard = Shard::new(network);
                shard.step(&samples, &chosen, 2.0, &network.packed(), &backward);
                shard
            };
            let shard = gradients(&network);
            let step = 1e-3;
            for layer in 0..network.layers.len() {
                for weight in 0..network.layers[layer].weights.len() {
                    let moved = |by: f32| {
                        let mut network = network.clone();
                        network.layers[layer].weights[weight] += by;
                        gradients(&network).loss
                    };
                    let slope = (moved(step) - moved(-step)) / f64::from(2.0 * step);
                    let found = f64::from(shard.gradients.0[layer].weights[weight]);
                    // ReLU's corners make the difference inexact.
                    assert!((found - slope).abs() <= 0.02 * slope.abs() + 0.2, "{hidden:?}: {found}, {slope}");
                }
            }
        }
    }
}
