//! Candidates that fail, for tests of what is done then.

use super::{Measure, Trial};
use crate::error::{BoxError, Failure};
use std::collections::HashMap;
use triton::Stream;

/// How a candidate fails.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trouble {
    /// Its code cannot be loaded.
    Load,
    /// It is refused at the launch.
    Launch,
    /// It does not end in time.
    TimeOut,
    /// It ends at once, after this many microseconds, whatever they are.
    Lie(f64),
    /// It is launched as often, before the time is told.
    Repeat(u32),
}

/// Measures as another does, but some candidates fail.
#[derive(Debug)]
pub struct Failing<M> {
    inner: M,
    troubles: HashMap<String, Trouble>,
}

impl<M: Measure> Failing<M> {
    /// None fails yet.
    pub fn new(inner: M) -> Failing<M> {
        Failing { inner, troubles: HashMap::new() }
    }

    /// Lets a candidate fail.
    pub fn with(mut self, member: &str, trouble: Trouble) -> Failing<M> {
        self.troubles.insert(member.to_string(), trouble);
        self
    }
}

impl<M: Measure> Measure for Failing<M> {
    fn can_measure(&self, stream: &Stream) -> bool {
        self.inner.can_measure(stream)
    }

    fn is_kept(&self) -> bool {
        self.inner.is_kept()
    }

    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        let refused = |why: &str| Err(Failure::Launch(BoxError::from(why)));
        match self.troubles.get(trial.member()) {
            None => self.inner.measure(trial),
            Some(Trouble::Load) => refused("the code cannot be loaded"),
            Some(Trouble::Launch) => refused("the launch is refused"),
            Some(Trouble::TimeOut) => Err(Failure::TimedOut { limit_us: 50_000.0 }),
            Some(Trouble::Lie(us)) => Ok(*us),
            Some(Trouble::Repeat(times)) => {
                (0..*times).try_for_each(|_| trial.launch())?;
                self.inner.measure(trial)
            }
        }
    }
}
