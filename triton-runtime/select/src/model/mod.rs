//! A network that predicts times: its features, its layers, its file, and how it ranks candidates.
//!
//! A *context* is what a call is given: extents, layouts, types. A *choice* is what the tuner may decide: tile sizes, warps, splits.
//! The network maps the features of both to the log₂ of microseconds. Its hidden layers have ReLU, its last layer is linear
//! (Tillet 2020, §4.3; ISAAC, §5).
//!
//! ```
//! use triton_select::model::{Feature, Layer, Model, Scratch, Target, Transform};
//!
//! // log₂ µs = log₂ m − log₂ tile: larger tiles are faster.
//! let feature = |name: &str| Feature { name: name.into(), transform: Transform::Log2, mean: 0.0, scale: 1.0 };
//! let layers = vec![
//!     Layer { inputs: 2, outputs: 2, weights: vec![1.0, 0.0, 0.0, 1.0], bias: vec![0.0, 0.0] },
//!     Layer { inputs: 2, outputs: 1, weights: vec![1.0, -1.0], bias: vec![0.0] },
//! ];
//! let model = Model::new(vec![feature("m")], vec![feature("tile")], layers, Target { mean: 0.0, scale: 1.0 })?;
//! let model = Model::parse(&model.to_bytes())?;
//!
//! let ranking = model.ranking(&[[16.0], [64.0]])?;
//! let (mut scratch, mut times) = (Scratch::default(), [0.0; 2]);
//! ranking.times(&[1024.0], &mut scratch, &mut times)?;
//! assert_eq!(times, [6.0, 4.0]);
//! # Ok::<(), triton_select::Error>(())
//! ```

mod dense;
mod file;
mod rank;
mod ranking;

pub use dense::{LANES, Lanes, Packed};
pub use ranking::{Ranking, Scratch};

use crate::error::{Error, Result};

/// How the value of a feature enters the network, before it is standardised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transform {
    /// As it is: flags of 0 and 1, and every feature of a network that is compared with those of logarithms.
    Raw,
    /// log₂ x. Values that are not positive count as 2⁻²⁰.
    Log2,
    /// log₂(x + 1), for features that may be 0.
    Log2PlusOne,
}

impl Transform {
    /// The transformed value.
    #[must_use]
    pub fn apply(self, value: f32) -> f32 {
        let least = 1.0 / (1 << 20) as f32;
        match self {
            Self::Raw => value,
            Self::Log2 => value.max(least).log2(),
            Self::Log2PlusOne => (value + 1.0).max(least).log2(),
        }
    }
}

/// A feature: a named number, and how it enters the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// The name, by which the numbers of a call are found.
    pub name: String,
    /// What is applied first.
    pub transform: Transform,
    /// The mean of the transformed values, which is subtracted.
    pub mean: f32,
    /// Their standard deviation, which divides.
    pub scale: f32,
}

impl Feature {
    /// The value that enters the network.
    #[must_use]
    pub fn apply(&self, value: f32) -> f32 {
        (self.transform.apply(value) - self.mean) / self.scale
    }
}

/// A layer: `output[o] = bias[o] + Σᵢ weights[i · outputs + o] · input[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The number of inputs.
    pub inputs: usize,
    /// The number of outputs.
    pub outputs: usize,
    /// `inputs · outputs` weights; those of an input are adjacent.
    pub weights: Vec<f32>,
    /// A number for each output.
    pub bias: Vec<f32>,
}

/// What the network's output stands for: `log₂ µs = mean + scale · output`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The mean of log₂ µs in the data.
    pub mean: f32,
    /// Its standard deviation.
    pub scale: f32,
}

/// A network that predicts log₂ of microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    context: Vec<Feature>,
    choice: Vec<Feature>,
    layers: Vec<Layer>,
    target: Target,
}

/// The most layers of a model.
const MOST_LAYERS: usize = 32;
/// The most units of a layer.
const MOST_UNITS: usize = 4096;

impl Model {
    /// A model of these parts. The first layer reads the features of the context, then those of the choice.
    ///
    /// # Errors
    /// Sizes that do not fit together, a number that is not finite, a scale that is not positive, a name that repeats.
    pub fn new(context: Vec<Feature>, choice: Vec<Feature>, layers: Vec<Layer>, target: Target) -> Result<Self> {
        let invalid = |what, found: String, expected: String| Err(Error::Invalid { what, found, expected });
        if layers.is_empty() || layers.len() > MOST_LAYERS {
            return invalid("the number of layers", layers.len().to_string(), format!("1 to {MOST_LAYERS}"));
        }
        let mut inputs = context.len() + choice.len();
        for layer in &layers {
            if layer.inputs != inputs {
                return invalid("the inputs of a layer", layer.inputs.to_string(), inputs.to_string());
            }
            if layer.inputs.max(layer.outputs) > MOST_UNITS || layer.inputs.min(layer.outputs) == 0 {
                let found = format!("{} to {}", layer.inputs, layer.outputs);
                return invalid("the units of a layer", found, format!("1 to {MOST_UNITS}"));
            }
            if layer.weights.len() != layer.inputs * layer.outputs {
                let expected = (layer.inputs * layer.outputs).to_string();
                return invalid("the weights of a layer", layer.weights.len().to_string(), expected);
            }
            if layer.bias.len() != layer.outputs {
                return invalid("the biases of a layer", layer.bias.len().to_string(), layer.outputs.to_string());
            }
            if let Some(number) = layer.weights.iter().chain(&layer.bias).find(|number| !number.is_finite()) {
                return invalid("a weight", number.to_string(), "a finite number".into());
            }
            inputs = layer.outputs;
        }
        if inputs != 1 {
            return invalid("the outputs of the last layer", inputs.to_string(), "1".into());
        }
        let features = || context.iter().chain(&choice);
        for (index, feature) in features().enumerate() {
            if feature.name.is_empty() || feature.name.len() > usize::from(u8::MAX) {
                return invalid("a feature's name", feature.name.clone(), "1 to 255 bytes".into());
            }
            if features().take(index).any(|other| other.name == feature.name) {
                return invalid("a feature's name", feature.name.clone(), "another name for each".into());
            }
        }
        let scales = features().map(|feature| (feature.mean, feature.scale)).chain([(target.mean, target.scale)]);
        for (mean, scale) in scales {
            if !(mean.is_finite() && scale.is_finite() && scale > 0.0) {
                let expected = "finite numbers and a positive scale".into();
                return invalid("a mean and scale", format!("{mean} and {scale}"), expected);
            }
        }
        Ok(Self { context, choice, layers, target })
    }

    /// The features of a context, in the order in which [`Ranking::times`] takes their values.
    #[must_use]
    pub fn context(&self) -> &[Feature] {
        &self.context
    }

    /// The features of a choice, in the order in which [`Model::ranking`] takes their values.
    #[must_use]
    pub fn choice(&self) -> &[Feature] {
        &self.choice
    }

    /// The layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What the output stands for.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// The number of weights and biases.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.layers.iter().map(|layer| layer.weights.len() + layer.bias.len()).sum()
    }

    /// Checks that the model has exactly these features, in this order.
    ///
    /// # Errors
    /// [`Error::Features`], with both lists.
    pub fn check_features(&self, context: &[&str], choice: &[&str]) -> Result<()> {
        for (of, model, expected) in [("context", &self.context, context), ("choice", &self.choice, choice)] {
            if !model.iter().map(|feature| feature.name.as_str()).eq(expected.iter().copied()) {
                let found = model.iter().map(|feature| feature.name.clone()).collect();
                let expected = expected.iter().map(|name| (*name).to_owned()).collect();
                return Err(Error::Features { of, found, expected });
            }
        }
        Ok(())
    }

    /// Prepares candidates, each by the values of its features as [`Model::choice`] lists them. Their part of the first layer is
    /// computed here, so that a call computes the part of its context only.
    ///
    /// # Errors
    /// [`Error::Length`]: a candidate has another number of values.
    pub fn ranking<C: AsRef<[f32]>>(&self, choices: &[C]) -> Result<Ranking> {
        Ranking::new(self, choices)
    }
}
