//! Samples of a space: uniform ones, and ones of a model that learns from accepted samples what is legal.
//!
//! The model is an independent categorical distribution of each parameter with a Dirichlet prior (ISAAC §4.1; thesis §4.2.2). It
//! is fitted again and again on its own accepted samples. Acceptance rises while entropy falls: samples that are legal but alike are
//! worth little, so that both are reported, and refits stop when the entropy has lost [`Options::max_bits`].

mod distribution;
mod stream;

pub use stream::Stream;

use crate::error::{Error, Result};
use crate::space::Candidates;
use distribution::Distribution;
use fastrand::Rng;
use rayon::prelude::*;
use std::cmp::Reverse;

/// The prior that the papers use: this many samples of each value before the first one is seen.
pub const PRIOR: f64 = 100.0;

/// Draws the index of a value for each parameter.
///
/// ```
/// use triton_tune::sample::{PRIOR, Sampler};
///
/// let mut sampler = Sampler::new(&[2, 4], PRIOR, 0.2)?;
/// assert_eq!(sampler.entropy(), 3.0);
/// // Only candidates with the second value of the first parameter were accepted.
/// sampler.fit((0..10_000).map(|index| [1, index % 4]));
/// assert!(sampler.entropy() < 2.1);
///
/// let mut indices = [0; 2];
/// sampler.draw(&mut fastrand::Rng::with_seed(7), &mut indices);
/// assert!(indices[0] < 2 && indices[1] < 4);
/// # Ok::<(), triton_tune::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    prior: f64,
    uniform: f64,
    parameters: Vec<Distribution>,
}

impl Sampler {
    /// A uniform sampler of parameters that have this many values. After [`Sampler::fit`], the share `uniform` of its samples stays
    /// uniform, so that every value stays alive.
    ///
    /// # Errors
    /// A parameter without a value, a prior that is not positive, a share outside 0 to 1.
    pub fn new(values: &[usize], prior: f64, uniform: f64) -> Result<Self> {
        if values.contains(&0) {
            return Err(Error::value("the number of values of a parameter", 0, "at least 1", "give it a value"));
        }
        if !(prior.is_finite() && prior > 0.0) {
            return Err(Error::value("the prior", prior, "a positive number", "use 100, as the papers do"));
        }
        if !(0.0..=1.0).contains(&uniform) {
            return Err(Error::value("the uniform share", uniform, "0 to 1", "use 0.2"));
        }
        let parameters = values.iter().map(|&count| Distribution::new(&vec![1.0; count])).collect();
        Ok(Self { prior, uniform, parameters })
    }

    /// Draws an index of each parameter.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, indices: &mut [usize]) {
        let uniform = self.uniform > 0.0 && rng.f64() < self.uniform;
        for (distribution, index) in self.parameters.iter().zip(indices) {
            *index = if uniform { distribution.draw_uniform(rng) } else { distribution.draw(rng) };
        }
    }

    /// Estimates the distributions from accepted samples and the prior; what was learnt before is forgotten.
    pub fn fit<S: AsRef<[usize]>>(&mut self, accepted: impl IntoIterator<Item = S>) {
        let mut counts: Vec<Vec<f64>> =
            self.parameters.iter().map(|values| vec![self.prior; values.probabilities().len()]).collect();
        for sample in accepted {
            for (counts, &index) in counts.iter_mut().zip(sample.as_ref()) {
                if let Some(count) = counts.get_mut(index) {
                    *count += 1.0;
                }
            }
        }
        self.parameters = counts.iter().map(|counts| Distribution::new(counts)).collect();
    }

    /// The probability of each value of each parameter, without the uniform share.
    pub fn probabilities(&self) -> impl Iterator<Item = &[f64]> {
        self.parameters.iter().map(Distribution::probabilities)
    }

    /// The entropy of the distributions in bits, without the uniform share.
    #[must_use]
    pub fn entropy(&self) -> f64 {
        let bits = |&p: &f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        self.probabilities().flatten().map(bits).sum()
    }
}

/// How acceptance is measured.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Uniform samples that are drawn.
    pub uniform: usize,
    /// Samples that are drawn of each fit.
    pub fitted: usize,
    /// Accepted samples of a fit, at most.
    pub accepted: usize,
    /// Fits.
    pub fits: usize,
    /// The prior.
    pub prior: f64,
    /// The share of samples that stay uniform.
    pub mixture: f64,
    /// The entropy that refits may lose, in bits.
    pub max_bits: f64,
    /// What random numbers start from.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            uniform: 16_000_000,
            fitted: 2_000_000,
            accepted: 10_000,
            fits: 8,
            prior: PRIOR,
            mixture: 0.2,
            max_bits: 4.0,
            seed: 1,
        }
    }
}

/// What one sampler accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// How often it was fitted: 0 is the uniform one.
    pub fit: usize,
    /// The share of its samples that are legal.
    pub acceptance: f64,
    /// Its entropy, in bits.
    pub entropy: f64,
    /// The accepted samples that the next fit is made of.
    pub accepted: usize,
    /// The rules that rejected samples, and how many, the most first.
    pub rejected: Vec<(&'static str, usize)>,
}

/// Samples that are drawn by one thread at a time.
const CHUNK: usize = 1 << 16;

/// What a chunk of samples gave.
#[derive(Default)]
struct Drawn {
    legal: usize,
    accepted: Vec<Vec<usize>>,
    rejected: Vec<(&'static str, usize)>,
}

/// Draws samples and checks them; the same samples on any number of threads.
fn draw(space: &dyn Candidates, sampler: &Sampler, samples: usize, keep: usize, seed: u64) -> Drawn {
    let parameters = space.parameters();
    let chunks = samples.div_ceil(CHUNK);
    let drawn: Vec<Drawn> = (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let mut rng = Rng::with_seed(seed.wrapping_add((chunk as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let mut indices = vec![0; parameters.len()];
            let mut values = vec![0; parameters.len()];
            let mut drawn = Drawn::default();
            for _ in 0..CHUNK.min(samples - chunk * CHUNK) {
                sampler.draw(&mut rng, &mut indices);
                for ((value, parameter), &index) in values.iter_mut().zip(parameters).zip(&indices) {
                    *value = parameter.values[index];
                }
                match space.check(&values) {
                    Ok(()) => {
                        drawn.legal += 1;
                        // Chunks that come first may have few.
                        if drawn.accepted.len() < keep {
                            drawn.accepted.push(indices.clone());
                        }
                    }
                    Err(rejection) => count(&mut drawn.rejected, rejection.rule, 1),
                }
            }
            drawn
        })
        .collect();
    let mut all = Drawn::default();
    for chunk in drawn {
        all.legal += chunk.legal;
        let room = keep - all.accepted.len();
        all.accepted.extend(chunk.accepted.into_iter().take(room));
        for (rule, by) in chunk.rejected {
            count(&mut all.rejected, rule, by);
        }
    }
    all.rejected.sort_by_key(|(_, count)| Reverse(*count));
    all
}

/// Adds to the count of a rule.
fn count(counts: &mut Vec<(&'static str, usize)>, rule: &'static str, by: usize) {
    match counts.iter_mut().find(|(known, _)| *known == rule) {
        Some((_, count)) => *count += by,
        None => counts.push((rule, by)),
    }
}

/// Fits a sampler to a space, and reports acceptance and entropy of the uniform one and of each fit.
///
/// Refits stop before the entropy has lost more than [`Options::max_bits`]; the sampler of the last fit is returned. `report` is
/// called after each round.
///
/// # Errors
/// Options that [`Sampler::new`] refuses.
pub fn fit(space: &dyn Candidates, options: &Options, mut report: impl FnMut(&Round)) -> Result<Sampler> {
    let values: Vec<usize> = space.parameters().iter().map(|parameter| parameter.values.len()).collect();
    let mut sampler = Sampler::new(&values, options.prior, options.mixture)?;
    let start = sampler.entropy();
    for round in 0..=options.fits {
        let samples = if round == 0 { options.uniform } else { options.fitted };
        let seed = options.seed.wrapping_add((round as u64) << 32);
        let drawn = draw(space, &sampler, samples, options.accepted, seed);
        report(&Round {
            fit: round,
            acceptance: drawn.legal as f64 / samples.max(1) as f64,
            entropy: sampler.entropy(),
            accepted: drawn.accepted.len(),
            rejected: drawn.rejected,
        });
        if round == options.fits {
            break;
        }
        let mut next = sampler.clone();
        next.fit(&drawn.accepted);
        if start - next.entropy() > options.max_bits {
            break;
        }
        sampler = next;
    }
    Ok(sampler)
}
