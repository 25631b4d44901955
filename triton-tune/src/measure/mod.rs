//! How long a candidate takes, and who says so.

mod cost_model;
mod device;
mod failing;
#[cfg(feature = "train")]
mod replay;

pub use cost_model::CostModel;
pub use device::Device;
pub use failing::{Failing, Trouble};
#[cfg(feature = "train")]
pub use replay::Replay;

use crate::error::{BoxError, Failure};
use std::fmt;
use triton::Stream;
use triton::selection::Machine;

/// Tells how long candidates take.
pub trait Measure: Send + Sync {
    /// Whether it can tell on this stream, which is not captured.
    fn can_measure(&self, stream: &Stream) -> bool;

    /// Whether what it tells is a time of this device, to be kept in the file of times. An estimate is not.
    fn is_kept(&self) -> bool {
        true
    }

    /// Microseconds of one launch.
    ///
    /// # Errors
    /// Why the candidate is to be dropped.
    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure>;
}

impl<M: Measure + ?Sized> Measure for Box<M> {
    fn can_measure(&self, stream: &Stream) -> bool {
        (**self).can_measure(stream)
    }

    fn is_kept(&self) -> bool {
        (**self).is_kept()
    }

    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        (**self).measure(trial)
    }
}

/// How well to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// By this many launches: to drop what is slow.
    Rough(u32),
    /// As well as is useful: to find the fastest of few.
    Precise,
}

/// A candidate that is to be measured.
pub struct Trial<'t> {
    pub(crate) op: &'t str,
    pub(crate) key: &'t [i64],
    pub(crate) member: &'t str,
    pub(crate) effort: Effort,
    pub(crate) best_us: Option<f64>,
    pub(crate) stream: &'t Stream,
    pub(crate) launch: &'t mut dyn Launch,
}

/// What a trial can do with its candidate.
pub(crate) trait Launch {
    /// Launches it.
    fn launch(&mut self) -> Result<(), BoxError>;
    /// What the compiler estimates of a launch on a device, in microseconds; `None` of what is not a kernel of ours.
    fn estimate(&mut self, machine: &Machine) -> Option<Result<f64, BoxError>>;
}

impl<F: FnMut() -> Result<(), BoxError>> Launch for F {
    fn launch(&mut self) -> Result<(), BoxError> {
        self()
    }

    fn estimate(&mut self, _: &Machine) -> Option<Result<f64, BoxError>> {
        None
    }
}

impl Trial<'_> {
    /// The operation.
    pub fn op(&self) -> &str {
        self.op
    }

    /// The key of the call.
    pub fn key(&self) -> &[i64] {
        self.key
    }

    /// The candidate's name.
    pub fn member(&self) -> &str {
        self.member
    }

    /// How well to measure.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// The shortest time of a candidate so far, in microseconds.
    pub fn best_us(&self) -> Option<f64> {
        self.best_us
    }

    /// The stream of the launches.
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// Launches the candidate.
    ///
    /// # Errors
    /// [`Failure::Launch`].
    pub fn launch(&mut self) -> Result<(), Failure> {
        self.launch.launch().map_err(Failure::Launch)
    }

    /// What the compiler estimates that a launch takes on a device, in microseconds.
    ///
    /// # Errors
    /// [`Failure::NotEstimated`] of a candidate that is not a member of a pool, or in a program without the feature `compiler` of `triton-dsl`;
    /// [`Failure::Launch`].
    pub fn estimate(&mut self, machine: &Machine) -> Result<f64, Failure> {
        self.launch.estimate(machine).ok_or(Failure::NotEstimated)?.map_err(Failure::Launch)
    }
}

impl fmt::Debug for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trial({} of {} for {:?}, {:?})", self.member, self.op, self.key, self.effort)
    }
}

impl fmt::Debug for dyn Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Measure")
    }
}
