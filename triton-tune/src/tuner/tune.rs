//! One key whose choice is not known yet.

use super::Tuner;
use super::bench::{Bench, Snapshot, failure};
use super::compare::difference;
use crate::error::{BoxError, Error, Failure, Result};
use crate::measure::{Effort, Launch, Trial};
use crate::search::{Found, halve};
use std::sync::{Arc, TryLockError};
use std::time::Instant;
use triton::selection::{Machine, Output};
use triton_select::{Candidates, Known, Source, Table};

impl Tuner {
    /// Candidates as they are for a call, and what is known of them.
    pub(super) fn snapshot(&self, candidates: &dyn Candidates) -> (Arc<Known>, Snapshot) {
        let known = self.selection.known(candidates);
        (known.clone(), Snapshot::of(known, candidates))
    }

    /// The candidate for a key that was not chosen for before.
    pub(super) fn tune(
        &self,
        candidates: &Snapshot,
        known: &Known,
        key: &[i64],
        can_measure: bool,
        bench: &mut dyn Bench,
    ) -> Result<usize> {
        let selection = &self.selection;
        let recorded = selection.recorded(known, candidates, key);
        // Candidates that are new, or whose line was damaged, are measured; times of the others count.
        let lacks = |source| source == Source::Store && can_measure && self.lacks_times(candidates, known, key);
        if let Some(chosen) = recorded.filter(|chosen| !lacks(chosen.source)) {
            selection.remember(candidates, key, chosen.index, true);
            return Ok(chosen.index);
        }
        let mut is_final = false;
        if can_measure {
            // Another thread that measures would be in the way, and a launch that selects must not wait for itself.
            let alone = match self.measuring.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if alone.is_some() {
                if let Some(index) = self.measured(candidates, known, key, bench)? {
                    selection.remember(candidates, key, index, true);
                    return Ok(index);
                }
                // Nor would it be possible at the next call.
                is_final = true;
            }
        }
        let guessed = recorded.or_else(|| selection.guess(known, candidates, key));
        let chosen = guessed.ok_or_else(|| Error::NoCandidate { op: known.op().to_string() })?;
        selection.remember(candidates, key, chosen.index, is_final);
        Ok(chosen.index)
    }

    /// Whether fewer candidates were measured than would be.
    fn lacks_times(&self, candidates: &Snapshot, known: &Known, key: &[i64]) -> bool {
        let fit = (0..candidates.len()).filter(|&index| candidates.fits(index)).count();
        let wanted = if known.ranked(key).is_some() { fit.min(self.top) } else { fit };
        self.selection.measured_count(known, key) < wanted
    }

    /// Measures; `None` if what launches change cannot be kept aside, or compared.
    fn measured(
        &self,
        candidates: &Snapshot,
        known: &Known,
        key: &[i64],
        bench: &mut dyn Bench,
    ) -> Result<Option<usize>> {
        let works = |index: &usize| self.selection.works(known, candidates, key, *index);
        let all: Vec<usize> = (0..candidates.len()).filter(works).collect();
        if all.len() < 2 {
            return Ok(all.first().copied());
        }
        if !bench.save(self.memory) {
            return Ok(None);
        }
        // By the model, else in an order that tells nothing: the clocks change while it measures.
        let order = known.ranked(key).map(|order| order.into_iter().filter(works).collect());
        let (order, top): (Vec<usize>, usize) = match order {
            Some(order) => (order, self.top),
            None => (shuffled(all.clone(), key), usize::MAX),
        };
        let until = self.budget.and_then(|budget| Instant::now().checked_add(budget));
        let mut trials = Trials { tuner: self, known, key, bench, first: all[0], right: None };
        let mut found = Found::default();
        for part in order.chunks(top) {
            // Where every one of the model's first fails, the next are measured.
            let time = |index: usize| self.selection.time(known, key, index);
            let new: Vec<usize> = part.iter().copied().filter(|&index| time(index).is_none()).collect();
            trials.bench.load(&new, until);
            let next = trials.run(part, until);
            found.times = next.times;
            found.failures.extend(next.failures);
            let broken = found.failures.iter().any(|(_, failure)| failure.of_device().is_some());
            if !found.times.is_empty() || broken {
                break;
            }
        }
        let restored = trials.bench.restore();
        if found.failures.iter().any(|(_, failure)| matches!(failure, Failure::Unchecked(_))) {
            return restored.map(|()| None).map_err(Error::Device);
        }
        if let Some(error) = found.failures.iter().find_map(|(_, failure)| failure.of_device()) {
            return Err(Error::Device(error.clone()));
        }
        restored?;
        self.conclude(candidates, known, key, found)
    }

    /// Takes down what was found.
    fn conclude(&self, candidates: &Snapshot, known: &Known, key: &[i64], found: Found) -> Result<Option<usize>> {
        let Some((best, _)) = found.times.first().copied() else {
            let name = |index: usize| known.names().get(index).cloned().unwrap_or_default();
            let failures = found.failures.into_iter().map(|(index, failure)| (name(index), failure)).collect();
            return Err(Error::Candidates { op: known.op().to_string(), failures });
        };
        let record = |index, us| Table::record(candidates, known.fingerprint(), key, index, us);
        for (index, failure) in &found.failures {
            self.selection.fail(candidates, key, *index);
            if failure.is_lasting() {
                self.selection.insert(record(*index, f64::INFINITY));
            }
        }
        for (index, us) in found.times {
            self.selection.insert(record(index, us));
        }
        // The file only saves time: a full disk or a read-only folder is not an error of the launch.
        if self.measure.is_kept() {
            let _ = self.store().save();
        }
        Ok(Some(best))
    }
}

/// An order of its own for each key, the same in each process.
fn shuffled(mut all: Vec<usize>, key: &[i64]) -> Vec<usize> {
    let seed = key.iter().fold(1u64, |seed, &word| seed.wrapping_mul(31).wrapping_add(word as u64));
    fastrand::Rng::with_seed(seed).shuffle(&mut all);
    all
}

/// A candidate of a bench.
struct OfBench<'b> {
    bench: &'b mut dyn Bench,
    index: usize,
}

impl Launch for OfBench<'_> {
    fn launch(&mut self) -> std::result::Result<(), BoxError> {
        self.bench.launch(self.index)
    }

    fn estimate(&mut self, machine: &Machine) -> Option<std::result::Result<f64, BoxError>> {
        self.bench.estimate(self.index, machine)
    }
}

/// Candidates that are tried on one call.
struct Trials<'t> {
    tuner: &'t Tuner,
    known: &'t Known,
    key: &'t [i64],
    bench: &'t mut dyn Bench,
    /// Whose outputs are right.
    first: usize,
    right: Option<Vec<Output>>,
}

impl Trials<'_> {
    fn run(&mut self, order: &[usize], until: Option<Instant>) -> Found {
        let mut checked = Vec::new();
        halve(order, until, &mut |index, effort, best| {
            match self.tuner.selection.time(self.known, self.key, index) {
                Some(us) if us.is_finite() => return Ok(us),
                Some(_) => return Err(Failure::Before),
                None => {}
            }
            self.bench.restore().map_err(failure)?;
            if !checked.contains(&index) {
                self.check(index)?;
                checked.push(index);
            }
            self.measure(index, effort, best)
        })
    }

    fn measure(&mut self, index: usize, effort: Effort, best_us: Option<f64>) -> Result<f64, Failure> {
        let stream = self.bench.stream().clone();
        let mut trial = Trial {
            op: self.known.op(),
            key: self.key,
            member: self.known.names().get(index).map_or("", String::as_str),
            effort,
            best_us,
            stream: &stream,
            launch: &mut OfBench { bench: &mut *self.bench, index },
        };
        self.tuner.measure.measure(&mut trial)
    }

    /// Compares the outputs of a candidate with those of the first one.
    fn check(&mut self, index: usize) -> Result<(), Failure> {
        let Some(tolerance) = self.tuner.tolerance else { return Ok(()) };
        if self.right.is_none() {
            let right = self.outputs(self.first);
            // If the first one fails, the next one takes its place.
            let right = match right {
                Ok(right) => right,
                Err(Failure::Unchecked(error)) => return Err(Failure::Unchecked(error)),
                Err(_) => {
                    self.first = index;
                    self.outputs(index)?
                }
            };
            self.right = Some(right);
        }
        if index == self.first {
            return Ok(());
        }
        let found = self.outputs(index)?;
        let right = self.right.as_deref().unwrap_or_default();
        let error = difference(right, &found, self.bench.stream()).map_err(of_check)?;
        if error <= tolerance {
            return self.bench.restore().map_err(failure);
        }
        let first = self.known.names().get(self.first).cloned().unwrap_or_default();
        Err(Failure::Differs { first, error, tolerance })
    }

    /// What a candidate makes of the arguments as they were.
    fn outputs(&mut self, index: usize) -> Result<Vec<Output>, Failure> {
        self.bench.restore().map_err(failure)?;
        self.bench.launch(index).map_err(Failure::Launch)?;
        let outputs = self.bench.outputs().map_err(of_check)?;
        self.bench.restore().map_err(failure)?;
        Ok(outputs)
    }
}

/// The failure of a comparison: where there is no memory for it, no candidate can be trusted more than another.
fn of_check(error: triton::Error) -> Failure {
    if matches!(error, triton::Error::OutOfMemory { .. }) { Failure::Unchecked(error) } else { failure(error) }
}
