//! Our side of `users`: every spelling of every row by the fastest of its instances.

use super::ready;
use crate::Outcome;
use crate::protocol::{Entry, Reply, Work};
use crate::stats::median;
use crate::timing::Timer;
use crate::users::{Case, Row, Spelling, prepare};
use std::time::{Duration, Instant};
use triton::Device;

/// How long instances are tried; later the first is taken. The peers' side has the same limit.
const TUNING: Duration = Duration::from_secs(120);

/// A spelling of a row.
struct Spelled {
    case: usize,
    spelling: Spelling,
    /// The number of its instance.
    instance: usize,
    /// What that is called.
    note: String,
}

/// Everything that is prepared.
pub struct Side {
    timer: Timer,
    cases: Vec<Case>,
    rows: Vec<Box<dyn Row>>,
    entries: Vec<Spelled>,
}

impl Side {
    /// Makes inputs, and chooses instances, on a GPU by measuring them.
    ///
    /// # Errors
    /// Of the device, mostly because memory runs out.
    pub fn new(device: &Device, cases: Vec<Case>, seed: u64, flush_mib: u32) -> Outcome<Side> {
        let mut timer = Timer::new(device, flush_mib)?;
        let seeds = (0u64..).map(|i| seed.wrapping_add(i << 40));
        let mut rows = cases
            .iter()
            .zip(seeds)
            .map(|(case, seed)| prepare(case, &timer.stream, seed))
            .collect::<Outcome<Vec<_>>>()?;
        let until = Instant::now() + TUNING;
        let is_measured = timer.stream.device().ordinal().is_some();
        let mut entries = Vec::new();
        for (case, row) in rows.iter_mut().enumerate() {
            for spelling in Spelling::ALL {
                let instances = row.instances(spelling);
                let mut timed: Vec<(f64, usize)> = Vec::new();
                let mut is_complete = true;
                if is_measured && instances.len() > 1 {
                    for (instance, name) in instances.iter().enumerate() {
                        if Instant::now() > until {
                            is_complete = false;
                            break;
                        }
                        // One that does not run is not a reason to lose the others.
                        match timer.time(2, 7, |stream| row.launch(stream, spelling, instance)) {
                            Ok(ms) => timed.extend(median(&ms).map(|ms| (ms, instance))),
                            Err(error) => eprintln!("ours: {}, {}: {error}", cases[case].name, name),
                        }
                    }
                }
                let instance = timed.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, instance)| instance);
                if let Some(name) = instances.get(instance) {
                    let note = if is_complete { name.clone() } else { format!("{name}, not all tried") };
                    entries.push(Spelled { case, spelling, instance, note });
                }
            }
        }
        Ok(Side { timer, cases, rows, entries })
    }

    /// The reply to what prepared this.
    pub fn ready(&self) -> Reply {
        let entry = |of: &Spelled| {
            let work = Work { case: self.cases[of.case].name.clone(), entry: of.spelling.name().to_string() };
            Entry { work, note: of.note.clone() }
        };
        let bytes = self.cases.iter().map(|case| case.bytes).sum();
        ready(self.timer.stream.device(), self.entries.iter().map(entry).collect(), bytes)
    }

    /// The place of an entry in the list.
    fn entry(&self, work: &Work) -> Outcome<usize> {
        let is = |of: &Spelled| self.cases[of.case].name == work.case && of.spelling.name() == work.entry;
        let found = self.entries.iter().position(is);
        found.ok_or_else(|| format!("there is no `{}` of `{}`", work.entry, work.case).into())
    }

    /// Runs an entry once, and compares what it has computed.
    ///
    /// # Errors
    /// Of the launches.
    pub fn check(&mut self, work: &Work) -> Outcome<Reply> {
        let Spelled { case, spelling, instance, .. } = self.entries[self.entry(work)?];
        let (row, stream) = (&mut self.rows[case], &self.timer.stream);
        row.poison(stream)?;
        row.launch(stream, spelling, instance)?;
        let (error, stray) = row.compare(stream)?;
        Ok(Reply::Checked { error: (!error.is_nan()).then_some(error), bound: self.cases[case].bound, stray })
    }

    /// Milliseconds of each repetition.
    ///
    /// # Errors
    /// Of the launches.
    pub fn time(&mut self, work: &Work, warmup: u32, reps: u32) -> Outcome<Vec<f64>> {
        let Spelled { case, spelling, instance, .. } = self.entries[self.entry(work)?];
        let row = &mut self.rows[case];
        self.timer.time(warmup, reps, |stream| row.launch(stream, spelling, instance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::users::cases;

    /// Every instance of every spelling computes what it should, on the CPU device.
    #[test]
    fn every_instance() {
        let stream = Device::cpu().stream().expect("a stream");
        for case in cases(64, &[]) {
            let mut row = prepare(&case, &stream, 7).expect("operands");
            let mut count = 0;
            for spelling in Spelling::ALL {
                for (instance, name) in row.instances(spelling).iter().enumerate() {
                    row.poison(&stream).expect("poisoned");
                    row.launch(&stream, spelling, instance).expect("a launch");
                    let (error, stray) = row.compare(&stream).expect("a comparison");
                    assert!(error <= case.bound && stray == 0, "{}, {spelling:?} {name}: {error}, {stray}", case.name);
                    count += 1;
                }
            }
            assert!(count > 0, "{}", case.name);
            // What is compared is the result.
            row.poison(&stream).expect("poisoned");
            let (error, _) = row.compare(&stream).expect("a comparison");
            assert!(error.is_nan(), "{}: nothing was computed, and the error is {error}", case.name);
        }
    }
}
