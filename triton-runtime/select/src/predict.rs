//! What a model has to say: times of all candidates for a call.

use crate::candidate::Candidates;
use std::fmt;

/// A model that is ready for one list of candidates.
pub trait Predict: Send + Sync {
    /// Writes the base-2 logarithm of the microseconds that each candidate takes for the call of a key, one for each candidate in their order.
    /// `false` if it has no opinion: it knows no keys of this length, or another number of candidates. Allocates nothing.
    fn predict(&self, key: &[i64], times: &mut [f32]) -> bool;
}

/// A model, which is asked once for each list of candidates.
pub trait Rank: Send + Sync {
    /// Makes it ready for these candidates; `None` if it is not for them.
    fn rank(&self, candidates: &dyn Candidates) -> Option<Box<dyn Predict>>;
}

impl<F: Fn(&dyn Candidates) -> Option<Box<dyn Predict>> + Send + Sync> Rank for F {
    fn rank(&self, candidates: &dyn Candidates) -> Option<Box<dyn Predict>> {
        self(candidates)
    }
}

/// Nothing is for no candidates: a program that embeds a model runs without it, too.
impl<M: Rank> Rank for Option<M> {
    fn rank(&self, candidates: &dyn Candidates) -> Option<Box<dyn Predict>> {
        self.as_ref()?.rank(candidates)
    }
}

impl fmt::Debug for dyn Predict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predict")
    }
}

impl fmt::Debug for dyn Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rank")
    }
}
