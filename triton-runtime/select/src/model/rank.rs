//! A model as a part of a selection: it finds its numbers by the names of the candidates and in the key of the call.

use super::{Model, Ranking, Scratch};
use crate::candidate::Candidates;
use crate::predict::{Predict, Rank};
use std::sync::{Mutex, PoisonError};

/// The candidates' features are found by their names ([`Candidate::feature`](crate::Candidate::feature)), those of the context are the
/// numbers of the key in order. A model that asks for a feature which one of the candidates does not have is not for them, and has no opinion of
/// a key with another count of numbers.
///
/// A model does not know which operation it was trained for. Where a program has several with the same features, a closure says so:
///
/// ```
/// use triton::Device;
/// use triton_select::{Candidates, Predict, Rank, Selection, model::Model};
///
/// # let bytes = [0; 8];
/// let model = Model::parse(&bytes).ok();
/// let for_products = move |candidates: &dyn Candidates| -> Option<Box<dyn Predict>> {
///     if candidates.op().starts_with("product") { model.rank(candidates) } else { None }
/// };
/// let selection = Selection::new(&Device::best()).model(for_products);
/// ```
impl Rank for Model {
    fn rank(&self, candidates: &dyn Candidates) -> Option<Box<dyn Predict>> {
        let features = |index| self.choice().iter().map(move |feature| candidates.feature(index, &feature.name));
        let choices = (0..candidates.len()).map(|index| features(index).collect());
        let choices = choices.collect::<Option<Vec<Vec<f32>>>>()?;
        let ranking = self.ranking(&choices).ok()?;
        let memory = Memory { context: vec![0.0; self.context().len()], scratch: ranking.scratch() };
        Some(Box::new(Ready { ranking, memory: Mutex::new(memory) }))
    }
}

/// Candidates that are ready for a call.
struct Ready {
    ranking: Ranking,
    /// A thread that finds it in use waits some microseconds.
    memory: Mutex<Memory>,
}

struct Memory {
    context: Vec<f32>,
    scratch: Scratch,
}

impl Predict for Ready {
    fn predict(&self, key: &[i64], times: &mut [f32]) -> bool {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let Memory { context, scratch } = &mut *memory;
        if key.len() != context.len() {
            return false;
        }
        context.iter_mut().zip(key).for_each(|(value, &word)| *value = word as f32);
        self.ranking.times(context, scratch, times).is_ok()
    }
}
