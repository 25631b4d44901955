//! Times that the compiler estimates.

use super::{Measure, Trial};
use crate::error::Failure;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use triton::Stream;
use triton::selection::Machine;

/// The operation, the key and the candidate.
type Trialled = (String, Vec<i64>, String);

/// Answers with what the compiler estimates that a launch takes on a device that need not be there: see [`Machine`]. It is for streams of the CPU and
/// the simulator, deterministic, and for members of pools alone. The compiler is in a program whose `triton-dsl` has the feature `compiler`.
///
/// Of recorded products the estimates rank the candidates with a correlation of 0.9; what they rank first takes some 1.13 times as long as the best.
/// Members that wait for memory alike have the same estimate: the first of them is chosen. What it tells is not kept in the file of times.
///
/// ```
/// use triton::prelude::*;
/// use triton::selection::Machine;
/// use triton_tune::{CostModel, Tuner};
///
/// /// x = 2x
/// #[triton::kernel(BLOCK = [64, 4096], tune = [BLOCK])]
/// fn double<const BLOCK: i32>(x: TensorMut<f32, 1>) {
///     let i = program_id(0) * BLOCK;
///     x.store([i], x.load([i], [BLOCK]) * 2.0);
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::cpu();
/// let stream = device.stream()?;
/// let tuner = Tuner::from_vars(&device, |_| None)?.measure(CostModel::new(Machine::H200));
/// let mut x = stream.tensor(&[1.0f32; 100], [100])?;
/// let mut chosen = None;
/// double_tuned(&mut x).with(&tuner).launch(&stream, |choice| {
///     chosen = Some(choice.BLOCK);
///     100usize.div_ceil(choice.BLOCK as usize)
/// })?;
/// assert_eq!(chosen, Some(64));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CostModel {
    machine: Machine,
    /// A candidate is asked for several times, and an estimate takes some milliseconds.
    known: Mutex<HashMap<Trialled, f64>>,
}

impl CostModel {
    /// Of a device.
    pub fn new(machine: Machine) -> CostModel {
        CostModel { machine, known: Mutex::default() }
    }
}

impl Measure for CostModel {
    fn can_measure(&self, stream: &Stream) -> bool {
        stream.device().ordinal().is_none()
    }

    fn is_kept(&self) -> bool {
        false
    }

    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        let key = (trial.op().to_string(), trial.key().to_vec(), trial.member().to_string());
        if let Some(us) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(*us);
        }
        let us = trial.estimate(&self.machine)?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, us);
        Ok(us)
    }
}
