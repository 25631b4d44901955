//! Candidates, prepared so that a call predicts all their times without allocation.

use super::dense::{LANES, Lanes, Packed};
use super::{Feature, Model, Target};
use crate::error::{Error, Result};

/// Candidates with their part of the first layer.
#[derive(Clone, Debug)]
pub struct Ranking {
    candidates: usize,
    context: Vec<Feature>,
    /// The first layer's weights of the context, an input's adjacent, and its biases.
    first: Vec<f32>,
    bias: Vec<f32>,
    /// For each block of candidates, each unit of the first layer.
    parts: Vec<Lanes>,
    /// The layers that follow.
    rest: Vec<Packed>,
    target: Target,
}

/// Memory that calls use; the first call makes it, or [`Ranking::scratch`].
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    first: Vec<f32>,
    rows: [Vec<Lanes>; 2],
}

/// Makes memory as long as it has to be; it never shrinks.
fn grow<T: Clone>(memory: &mut Vec<T>, length: usize, value: T) {
    if memory.len() < length {
        memory.resize(length, value);
    }
}

impl Ranking {
    pub(super) fn new<C: AsRef<[f32]>>(model: &Model, choices: &[C]) -> Result<Self> {
        let (context, choice) = (model.context(), model.choice());
        let [first, rest @ ..] = model.layers() else {
            return Err(Error::Invalid { what: "the number of layers", found: "0".into(), expected: "1".into() });
        };
        let units = first.outputs;
        let (of_context, of_choice) = first.weights.split_at(context.len() * units);
        let mut parts = vec![[0.0; LANES]; choices.len().div_ceil(LANES) * units];
        if let Some(found) = choices.iter().map(|values| values.as_ref().len()).find(|&length| length != choice.len()) {
            return Err(Error::Length { of: "a candidate", found, expected: choice.len() });
        }
        // All candidates of a block at once: one after the other would take longer than all else of a first choice.
        for (block, parts) in choices.chunks(LANES).zip(parts.chunks_exact_mut(units)) {
            for (index, (feature, weights)) in choice.iter().zip(of_choice.chunks_exact(units)).enumerate() {
                let mut values = [0.0; LANES];
                for (lane, of) in values.iter_mut().zip(block) {
                    *lane = of.as_ref().get(index).map_or(0.0, |&value| feature.apply(value));
                }
                for (row, weight) in parts.iter_mut().zip(weights) {
                    row.iter_mut().zip(&values).for_each(|(sum, value)| *sum += weight * value);
                }
            }
        }
        let packed = rest.iter().map(|layer| {
            let outputs = layer.outputs;
            Packed::new(layer.inputs, outputs, Some(&layer.bias), |i, o| layer.weights[i * outputs + o])
        });
        Ok(Self {
            candidates: choices.len(),
            context: context.to_vec(),
            first: of_context.to_vec(),
            bias: first.bias.clone(),
            parts,
            rest: packed.collect(),
            target: model.target(),
        })
    }

    /// The number of candidates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.candidates
    }

    /// Whether there is no candidate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.candidates == 0
    }

    /// Memory with which a call allocates nothing.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let mut scratch = Scratch::default();
        self.grow(&mut scratch);
        scratch
    }

    fn grow(&self, scratch: &mut Scratch) {
        let units = self.bias.len();
        grow(&mut scratch.first, units, 0.0);
        let rows = self.rest.iter().map(Packed::rows).fold(units, usize::max);
        scratch.rows.iter_mut().for_each(|memory| grow(memory, rows, [0.0; LANES]));
    }

    /// Predicts log₂ µs of every candidate, by the values of the context's features as [`Model::context`] lists them.
    ///
    /// Nothing is allocated once `scratch` has served a call of this ranking.
    ///
    /// # Errors
    /// [`Error::Length`]: `context` or `times` has another length.
    pub fn times(&self, context: &[f32], scratch: &mut Scratch, times: &mut [f32]) -> Result<()> {
        if context.len() != self.context.len() {
            return Err(Error::Length { of: "the context", found: context.len(), expected: self.context.len() });
        }
        if times.len() != self.candidates {
            return Err(Error::Length { of: "the slice of times", found: times.len(), expected: self.candidates });
        }
        self.grow(scratch);
        let units = self.bias.len();
        let [current, next] = &mut scratch.rows;
        let (mut current, mut next) = (current, next);

        let first = &mut scratch.first[..units];
        first.copy_from_slice(&self.bias);
        for ((feature, &value), weights) in self.context.iter().zip(context).zip(self.first.chunks_exact(units)) {
            let value = feature.apply(value);
            for (sum, weight) in first.iter_mut().zip(weights) {
                *sum += weight * value;
            }
        }
        // Without a layer that follows, the first one is linear.
        let least = if self.rest.is_empty() { f32::NEG_INFINITY } else { 0.0 };
        for (parts, times) in self.parts.chunks_exact(units).zip(times.chunks_mut(LANES)) {
            for ((row, part), sum) in current.iter_mut().zip(parts).zip(&*first) {
                for (value, part) in row.iter_mut().zip(part) {
                    *value = (part + sum).max(least);
                }
            }
            for (index, layer) in (1..).zip(&self.rest) {
                layer.apply(index < self.rest.len(), current, next);
                std::mem::swap(&mut current, &mut next);
            }
            for (time, value) in times.iter_mut().zip(&current[0]) {
                *time = self.target.mean + self.target.scale * value;
            }
        }
        Ok(())
    }

    /// The candidate of the shortest predicted time, the first of several; none if there is no candidate.
    ///
    /// # Errors
    /// Those of [`Ranking::times`].
    pub fn best(&self, context: &[f32], scratch: &mut Scratch, times: &mut [f32]) -> Result<Option<usize>> {
        self.times(context, scratch, times)?;
        Ok(times.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map(|(index, _)| index))
    }
}
