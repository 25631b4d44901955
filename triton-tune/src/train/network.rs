//! Layers, and what they predict.

use fastrand::Rng;
use rayon::prelude::*;
use triton_select::model::{LANES, Lanes, Layer, Packed};

/// Standardised inputs and targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The inputs of a sample.
    pub width: usize,
    /// The inputs, those of a sample adjacent.
    pub inputs: Vec<f32>,
    /// A target for each sample.
    pub targets: Vec<f32>,
}

impl Samples {
    /// The number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The inputs of some samples, a lane each: a row for each input.
    pub(super) fn gather(&self, samples: &[usize], rows: &mut [Lanes]) {
        for (lane, &sample) in samples.iter().enumerate().take(LANES) {
            let inputs = &self.inputs[sample * self.width..][..self.width];
            for (row, &input) in rows.iter_mut().zip(inputs) {
                row[lane] = input;
            }
        }
    }
}

/// Layers with ReLU between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// The layers.
    pub layers: Vec<Layer>,
}

impl Network {
    /// Random weights, of a variance that keeps that of the activations (He et al. 2015).
    #[must_use]
    pub fn random(inputs: usize, hidden: &[usize], rng: &mut Rng) -> Self {
        let mut inputs = inputs;
        let layers = hidden.iter().chain(&[1]).map(|&outputs| {
            let bound = (6.0 / inputs.max(1) as f32).sqrt();
            let weights = (0..inputs * outputs).map(|_| bound * (2.0 * rng.f32() - 1.0)).collect();
            let layer = Layer { inputs, outputs, weights, bias: vec![0.0; outputs] };
            inputs = outputs;
            layer
        });
        Self { layers: layers.collect() }
    }

    /// The layers as the loop reads them.
    pub(super) fn packed(&self) -> Vec<Packed> {
        let pack = |layer: &Layer| {
            let outputs = layer.outputs;
            Packed::new(layer.inputs, outputs, Some(&layer.bias), |i, o| layer.weights[i * outputs + o])
        };
        self.layers.iter().map(pack).collect()
    }

    /// The prediction for each sample.
    #[must_use]
    pub fn predict(&self, samples: &Samples) -> Vec<f32> {
        let layers = self.packed();
        let rows = layers.iter().map(Packed::rows).fold(samples.width, usize::max);
        let mut predictions = vec![0.0; samples.len()];
        let chunk = 64 * LANES;
        predictions.par_chunks_mut(chunk).enumerate().for_each(|(index, predictions)| {
            let (mut current, mut next) = (vec![[0.0; LANES]; rows], vec![[0.0; LANES]; rows]);
            for (block, predictions) in predictions.chunks_mut(LANES).enumerate() {
                let first = index * chunk + block * LANES;
                let block: Vec<usize> = (first..first + predictions.len()).collect();
                samples.gather(&block, &mut current);
                for (index, layer) in layers.iter().enumerate() {
                    layer.apply(index + 1 < layers.len(), &current, &mut next);
                    std::mem::swap(&mut current, &mut next);
                }
                predictions.copy_from_slice(&current[0][..predictions.len()]);
            }
        });
        predictions
    }

    /// The mean squared error.
    #[must_use]
    pub fn error(&self, samples: &Samples) -> f64 {
        let errors = self.predict(samples).into_iter().zip(&samples.targets);
        errors.map(|(found, &target)| f64::from(found - target).powi(2)).sum::<f64>() / samples.len().max(1) as f64
    }

    /// The number of weights and biases.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.layers.iter().map(|layer| layer.weights.len() + layer.bias.len()).sum()
    }
}
