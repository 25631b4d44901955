//! What is found out about a list of candidates once: names, fingerprints, and what a model says of them.

use crate::candidate::Candidates;
use crate::hash;
use crate::predict::{Predict, Rank};
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// What is known of a list of candidates.
#[derive(Debug)]
pub struct Known {
    op: String,
    names: Vec<String>,
    fingerprints: Vec<u64>,
    fingerprint: u64,
    model: Option<Box<dyn Predict>>,
    /// Candidates that could not be loaded or launched for a key: its hash, and their number.
    failed: RwLock<HashSet<(u64, usize)>>,
}

impl Known {
    pub(crate) fn new(candidates: &dyn Candidates, models: &[Box<dyn Rank>]) -> Known {
        let all = 0..candidates.len();
        let names: Vec<String> = all.clone().map(|index| candidates.name(index).into_owned()).collect();
        let fingerprints: Vec<u64> = all.map(|index| candidates.fingerprint(index)).collect();
        let fingerprint = fingerprints.iter().fold(0, |hash, &of| hash::add(hash, of));
        let model = models.iter().find_map(|model| model.rank(candidates));
        Known { op: candidates.op().into_owned(), names, fingerprints, fingerprint, model, failed: RwLock::default() }
    }

    /// The operation.
    pub fn op(&self) -> &str {
        &self.op
    }

    /// The names, in the order of the candidates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The fingerprint of a candidate.
    pub fn fingerprint_of(&self, index: usize) -> u64 {
        self.fingerprints.get(index).copied().unwrap_or_default()
    }

    /// That of all candidates together.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The candidate of a name, if its code is still that of the fingerprint.
    pub fn find(&self, name: &str, fingerprint: u64) -> Option<usize> {
        let index = self.names.iter().position(|of| of == name)?;
        (self.fingerprints.get(index) == Some(&fingerprint)).then_some(index)
    }

    /// The base-2 logarithms of the microseconds that the model predicts, in the order of the candidates; `None` without a model that has an
    /// opinion.
    pub fn predicted(&self, key: &[i64]) -> Option<Vec<f32>> {
        let model = self.model.as_ref()?;
        let mut times = vec![f32::INFINITY; self.names.len()];
        model.predict(key, &mut times).then_some(times)
    }

    /// The candidates by the times that the model predicts, the fastest first; `None` without a model that has an opinion.
    pub fn ranked(&self, key: &[i64]) -> Option<Vec<usize>> {
        let times = self.predicted(key)?;
        let mut order: Vec<usize> = (0..times.len()).collect();
        // What is not a number is the last.
        let time = |index: usize| if times[index].is_nan() { f32::INFINITY } else { times[index] };
        order.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
        Some(order)
    }

    /// Whether a candidate could not be launched for a key.
    pub(crate) fn has_failed(&self, key: u64, index: usize) -> bool {
        self.failed.read().unwrap_or_else(PoisonError::into_inner).contains(&(key, index))
    }

    pub(crate) fn fail(&self, key: u64, index: usize) {
        self.failed.write().unwrap_or_else(PoisonError::into_inner).insert((key, index));
    }
}
