//! Legal candidates one after another, of a sampler that is refitted as they come.

use super::{Options, Sampler};
use crate::error::{Error, Result};
use crate::space::Candidates;
use fastrand::Rng;

/// Draws before a space counts as empty.
const MOST_DRAWS: u64 = 100_000_000;

/// Legal candidates of a space: what is compiled and measured next.
///
/// ```
/// use triton_tune::sample::{Options, Stream};
/// use triton_tune::space::{Candidates, tensor};
///
/// let space = tensor::gemm();
/// let mut stream = Stream::new(&space, 1000, Options::default())?;
/// for _ in 0..3000 {
///     let candidate = stream.draw()?;
///     assert!(space.check(&candidate).is_ok());
/// }
/// // Acceptance and entropy since each fit.
/// assert!(stream.fits().len() >= 2);
/// # Ok::<(), triton_tune::Error>(())
/// ```
pub struct Stream<'a> {
    space: &'a dyn Candidates,
    sampler: Sampler,
    rng: Rng,
    every: usize,
    max_bits: f64,
    start: f64,
    done: bool,
    drawn: u64,
    accepted: Vec<Vec<usize>>,
    fits: Vec<(f64, f64)>,
}

impl<'a> Stream<'a> {
    /// A stream that is refitted after this many accepted candidates, until the entropy has lost [`Options::max_bits`]. The share
    /// [`Options::mixture`] stays uniform.
    ///
    /// # Errors
    /// Options that [`Sampler::new`] refuses.
    pub fn new(space: &'a dyn Candidates, refit_every: usize, options: Options) -> Result<Self> {
        let values: Vec<usize> = space.parameters().iter().map(|parameter| parameter.values.len()).collect();
        let sampler = Sampler::new(&values, options.prior, options.mixture)?;
        let start = sampler.entropy();
        Ok(Self {
            space,
            sampler,
            rng: Rng::with_seed(options.seed),
            every: refit_every.max(1),
            max_bits: options.max_bits,
            start,
            done: false,
            drawn: 0,
            accepted: Vec::new(),
            fits: Vec::new(),
        })
    }

    /// The next legal candidate: a value of each parameter.
    ///
    /// # Errors
    /// None was found in 10⁸ draws.
    pub fn draw(&mut self) -> Result<Vec<i64>> {
        let parameters = self.space.parameters();
        let mut indices = vec![0; parameters.len()];
        for _ in 0..MOST_DRAWS {
            self.sampler.draw(&mut self.rng, &mut indices);
            self.drawn += 1;
            let values = parameters.iter().zip(&indices);
            let values: Vec<i64> = values.map(|(parameter, &index)| parameter.values[index]).collect();
            if self.space.check(&values).is_ok() {
                self.accepted.push(indices);
                self.refit();
                return Ok(values);
            }
        }
        let found = format!("none in {MOST_DRAWS} draws");
        Err(Error::value("the number of legal candidates", found, "at least one", "switch a rule off"))
    }

    fn refit(&mut self) {
        if self.accepted.len() < self.every {
            return;
        }
        self.fits.push((self.accepted.len() as f64 / self.drawn as f64, self.sampler.entropy()));
        if !self.done {
            let mut next = self.sampler.clone();
            next.fit(&self.accepted);
            self.done = self.start - next.entropy() > self.max_bits;
            if !self.done {
                self.sampler = next;
            }
        }
        self.accepted.clear();
        self.drawn = 0;
    }

    /// The acceptance between refits, and the entropy in bits.
    #[must_use]
    pub fn fits(&self) -> &[(f64, f64)] {
        &self.fits
    }
}
