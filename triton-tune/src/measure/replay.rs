//! Times that were recorded before.

use super::{Measure, Trial};
use crate::data::{Data, Member};
use crate::error::Failure;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use triton::Stream;
use triton_select::{Candidate, Table};

/// Answers with recorded times, on any device, and drops what was not recorded: for tests of selection without a GPU.
///
/// ```
/// use triton::Device;
/// use triton_tune::{Replay, Tuner};
///
/// let replay = Replay::new().time("op", &[4096], "BLOCK=64", 8.5);
/// // Without the environment, so that no file keeps what was made up.
/// let tuner = Tuner::from_vars(&Device::cpu(), |_| None)?.measure(replay);
/// # Ok::<(), triton_tune::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Replay {
    times: HashMap<String, HashMap<Vec<i64>, HashMap<String, f64>>>,
    launches: bool,
    noise: Option<(f64, Mutex<fastrand::Rng>)>,
}

impl Replay {
    /// Nothing is recorded yet.
    pub fn new() -> Replay {
        Replay::default()
    }

    /// Adds all times of a table, whichever code they were measured of.
    pub fn table(self, table: &Table) -> Replay {
        table.records().fold(self, |replay, record| replay.time(&record.op, &record.key, &record.member, record.us))
    }

    /// Adds the time of a candidate for a key, in microseconds.
    pub fn time(mut self, op: &str, key: &[i64], member: &str, us: f64) -> Replay {
        let times = self.times.entry(op.to_string()).or_default().entry(key.to_vec()).or_default();
        times.insert(member.to_string(), us);
        self
    }

    /// Adds recorded rows, which are of one device: the context is the key, and each choice is the candidate [`Member`]. Of rows with the same choice the
    /// shortest time counts.
    pub fn data(mut self, data: &Data) -> Replay {
        for row in &data.rows {
            let member = Member::new(&data.schema, &row.choice);
            let of_key = self.times.get(&row.op).and_then(|keys| keys.get(&row.context));
            let before = of_key.and_then(|times| times.get(&*member.name())).copied();
            self = self.time(&row.op, &row.context, &member.name(), row.us.min(before.unwrap_or(f64::INFINITY)));
        }
        self
    }

    /// Launches each candidate as well, once each time that it is measured.
    pub fn launching(self) -> Replay {
        Replay { launches: true, ..self }
    }

    /// Multiplies each answer by a random factor between 1 − `share` and 1 + `share`, as measuring does.
    pub fn noise(self, share: f64, seed: u64) -> Replay {
        Replay { noise: Some((share, Mutex::new(fastrand::Rng::with_seed(seed)))), ..self }
    }
}

impl Measure for Replay {
    fn can_measure(&self, _: &Stream) -> bool {
        true
    }

    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        if self.launches {
            trial.launch()?;
        }
        let times = self.times.get(trial.op()).and_then(|keys| keys.get(trial.key()));
        let us = *times.and_then(|times| times.get(trial.member())).ok_or(Failure::NotRecorded)?;
        let factor = self.noise.as_ref().map_or(1.0, |(share, rng)| {
            1.0 + share * (2.0 * rng.lock().unwrap_or_else(PoisonError::into_inner).f64() - 1.0)
        });
        Ok(us * factor)
    }
}
