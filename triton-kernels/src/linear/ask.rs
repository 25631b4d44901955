//! What a selector of the caller's is asked: which candidate computes a product.

use super::choose::{Source, Wanted, instances};
use super::memory::Chosen;
use super::pools::Form;
use crate::error::Result;
use crate::select::{Candidates, Kernel, Kind, Order, Plan, Problem};
use std::any::TypeId;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use triton::selection::{Key, Machine, Pending, run, selected};
use triton::{LaunchArg, Selector, Stream};
use triton_select::{Candidate as _, Candidates as _};

/// A product that can be launched again and again, by several plans.
pub(super) trait Repeat {
    /// Tells what a launch changes.
    fn changed(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>]));

    /// Enqueues it by a plan.
    ///
    /// # Errors
    /// Those of a launch.
    fn enqueue(&mut self, plan: Plan) -> Result<()>;
}

/// What is chosen among for all products of a source: built once, since it has hundreds of names.
struct Listed {
    of: (TypeId, Kind, Order, Form, Machine, Option<usize>),
    candidates: Candidates,
    name: String,
    id: usize,
}

/// The lists that were asked for, of which a program has a few.
static LISTS: Mutex<Vec<Arc<Listed>>> = Mutex::new(Vec::new());

fn listed<S: Source>(problem: &Problem, form: Form, stream: &Stream) -> Arc<Listed> {
    let of = (TypeId::of::<S>(), problem.kind, problem.order, form, problem.machine, stream.device().ordinal());
    let mut all = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = all.iter().find(|list| list.of == of) {
        return found.clone();
    }
    let candidates = Candidates::new(*problem, instances::<S>(problem, form, stream));
    let name = format!("{}{}", candidates.op(), S::suffix(form));
    let mut hasher = DefaultHasher::new();
    (TypeId::of::<S>(), problem.kind, problem.order, form as u8, candidates.id()).hash(&mut hasher);
    let made = Arc::new(Listed { of, candidates, name, id: hasher.finish() as usize });
    all.push(made.clone());
    made
}

/// A product whose plan is to be chosen.
pub(super) struct Asked<'p> {
    list: Arc<Listed>,
    candidates: Candidates,
    /// What is chosen without a selector.
    plan: Plan,
    splits: Option<usize>,
    key: Key,
    product: &'p mut dyn Repeat,
}

impl<'p> Asked<'p> {
    pub(super) fn new<S: Source>(
        problem: Problem,
        Chosen { form, plan }: Chosen,
        wanted: &Wanted<'_>,
        stream: &Stream,
        product: &'p mut dyn Repeat,
    ) -> Asked<'p> {
        let list = listed::<S>(&problem, form, stream);
        let candidates = list.candidates.of(problem);
        let [m, n, k, a, b, _] = candidates.key();
        let mut key = Key::from([m, n, k, a, b, i64::from(wanted.aligned)]);
        if problem.batch > 1 {
            key.push(problem.batch);
        }
        Asked { list, candidates, plan, splits: wanted.splits, key, product }
    }

    /// Enqueues what the selector chooses.
    pub(super) fn launch(&mut self, stream: &Stream, selector: &dyn Selector) -> Result<()> {
        let key = self.key.clone();
        Ok(run(self, &key, stream, Some(selector))?)
    }

    /// What the selector chooses.
    pub(super) fn selected(&mut self, stream: &Stream, selector: &dyn Selector) -> Result<Plan> {
        let key = self.key.clone();
        let index = selected(self, &key, stream, Some(selector))?;
        Ok(self.plan(index))
    }

    /// The plan of a candidate; behind the last one is the plan that is chosen without a selector.
    fn plan(&self, index: usize) -> Plan {
        let of = self.candidates.get(index).map(|of| of.plan(self.candidates.problem(), "chosen by the selector"));
        of.unwrap_or(self.plan)
    }
}

impl Pending for Asked<'_> {
    fn pool(&self) -> (&str, usize, usize) {
        (&self.list.name, self.candidates.len() + 1, self.list.id)
    }

    fn name(&self, index: usize) -> Option<&dyn fmt::Display> {
        match self.candidates.get(index) {
            Some(candidate) => Some(candidate),
            None => Some(&self.plan),
        }
    }

    fn fingerprint(&self, index: usize) -> u64 {
        self.candidates.get(index).map_or(0, |candidate| candidate.fingerprint())
    }

    /// The plan behind the last candidate may run where it is none of them: two names of one plan would be measured twice.
    fn fits(&self, index: usize) -> bool {
        let problem = self.candidates.problem();
        let Some(candidate) = self.candidates.get(index) else {
            let is_plan = |index: usize| self.fits(index) && self.plan(index).is(&self.plan);
            return index == self.candidates.len() && !(0..index).any(is_plan);
        };
        let plan = candidate.plan(problem, "");
        let is_split = matches!(plan.kernel, Kernel::Split { .. });
        self.candidates.fits(index)
            && self
                .splits
                .is_none_or(|asked| is_split == (asked > 1) && plan.in_splits(problem, asked).splits == plan.splits)
    }

    fn prior(&self) -> Option<usize> {
        (0..=self.candidates.len()).find(|index| self.fits(*index) && self.plan(*index).is(&self.plan))
    }

    fn arguments(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>])) {
        self.product.changed(tell);
    }

    fn run(&mut self, index: usize) -> triton::Result<()> {
        let plan = self.plan(index);
        Ok(self.product.enqueue(plan)?)
    }

    fn estimate(&mut self, index: usize, machine: &Machine) -> triton::Result<Option<f64>> {
        let problem = Problem { machine: *machine, ..*self.candidates.problem() };
        // Of types without an estimate all candidates are alike.
        Ok(Some(self.candidates.get(index).and_then(|of| of.estimate(&problem)).unwrap_or(1.0)))
    }
}
