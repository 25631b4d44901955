//! Times of a GPU, by its events.

use super::{Effort, Measure, Trial};
use crate::error::{BoxError, Failure};
use std::sync::{Mutex, PoisonError};
use triton::{Buffer, Stream};

/// Microseconds of a batch: events tell half of one, so that a batch is exact to a quarter of a percent.
const BATCH_US: f64 = 200.0;
/// Microseconds of a batch that only tells what is slow: of one short launch, the host's part would be most.
const ROUGH_US: f64 = 25.0;
/// The most launches of a batch: the driver queues 1024.
const MOST: f64 = 512.0;
/// A candidate that takes this many times as long as the best is not launched again.
const SLOW: f64 = 50.0;
/// Nor one that takes as many microseconds.
const SLOW_US: f64 = 50_000.0;
/// Launches before the first that counts: of the first the code is loaded, and the clocks rise.
const WARM_UPS: u32 = 2;
/// Batches that differ by more than this share are measured again.
const SPREAD: f64 = 0.05;

/// Measures on a GPU: after two launches that do not count, the median of three batches of launches of 200 µs or more, of five if they differ
/// by more than 5 %. A candidate that takes 50 times as long as the best, or 50 ms, is launched once.
///
/// On the CPU and the simulator it does not measure: their times tell nothing of a GPU.
#[derive(Debug, Default)]
pub struct Device {
    flush_bytes: usize,
    /// What overwrites the cache, made at the first launch.
    flush: Mutex<Option<Buffer<i32>>>,
}

impl Device {
    /// One that launches batches back to back, so that what fits the L2 cache is in it.
    pub fn new() -> Device {
        Device::default()
    }

    /// Overwrites this many bytes before each launch, for the times of operands that are in memory: twice the L2 cache, 128 MiB on an H200.
    pub fn flush(self, bytes: usize) -> Device {
        Device { flush_bytes: bytes, ..self }
    }

    /// Microseconds of a launch, of several.
    fn batch(&self, trial: &mut Trial<'_>, runs: u32) -> Result<f64, Failure> {
        let stream = trial.stream().clone();
        let event = || stream.record_timed_event().map_err(launch);
        let mut events = Vec::new();
        if self.flush_bytes == 0 {
            let start = event()?;
            for _ in 0..runs {
                trial.launch()?;
            }
            events.push((start, event()?));
        }
        for _ in 0..if self.flush_bytes == 0 { 0 } else { runs } {
            self.empty_cache(&stream)?;
            let start = event()?;
            trial.launch()?;
            events.push((start, event()?));
        }
        let mut seconds = 0.0;
        for (start, end) in &events {
            seconds += end.since(start).map_err(launch)?.as_secs_f64();
        }
        Ok(seconds * 1e6 / f64::from(runs.max(1)))
    }

    fn empty_cache(&self, stream: &Stream) -> Result<(), Failure> {
        let mut flush = self.flush.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = flush.as_ref().is_some_and(|buffer| buffer.device() == stream.device());
        if !fits {
            *flush = Some(stream.uninit(self.flush_bytes / size_of::<i32>()).map_err(launch)?);
        }
        flush.as_mut().map_or(Ok(()), |buffer| stream.fill(buffer, 1)).map_err(launch)
    }

    fn precise(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        let mut once = 0.0;
        for _ in 0..WARM_UPS {
            once = self.batch(trial, 1)?;
        }
        if is_slow(once, trial.best_us()) {
            return Ok(once);
        }
        let runs = launches(BATCH_US, once);
        let mut times = Vec::new();
        for _ in 0..3 {
            times.push(self.batch(trial, runs)?);
        }
        times.sort_by(f64::total_cmp);
        if times[2] > times[0] * (1.0 + SPREAD) {
            for _ in 0..2 {
                times.push(self.batch(trial, runs)?);
            }
            times.sort_by(f64::total_cmp);
        }
        Ok(times[times.len() / 2])
    }
}

/// Launches that take this long together.
fn launches(us: f64, once: f64) -> u32 {
    (us / once.max(0.1)).ceil().clamp(1.0, MOST) as u32
}

/// Whether it is too slow to be launched again.
fn is_slow(us: f64, best: Option<f64>) -> bool {
    us > best.map_or(SLOW_US, |best| (best * SLOW).min(SLOW_US))
}

fn launch(error: triton::Error) -> Failure {
    Failure::Launch(BoxError::from(error))
}

impl Measure for Device {
    fn can_measure(&self, stream: &Stream) -> bool {
        stream.device().ordinal().is_some()
    }

    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        let Effort::Rough(runs) = trial.effort() else { return self.precise(trial) };
        if runs <= 1 {
            let mut once = self.batch(trial, 1)?;
            // The first launch loads the code of what could not be loaded ahead, and may compile it.
            if is_slow(once, trial.best_us().map(|best| best * SLOW)) {
                once = self.batch(trial, 1)?;
            }
            if is_slow(once, trial.best_us().map(|best| best * SLOW)) {
                return Ok(once);
            }
            return self.batch(trial, launches(ROUGH_US, once));
        }
        let least = trial.best_us().map_or(1, |best| launches(ROUGH_US, best));
        self.batch(trial, runs.max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triton::Device as Gpu;

    #[test]
    fn only_a_gpu_is_measured() {
        let stream = Gpu::cpu().stream().expect("the CPU has streams");
        assert!(!Device::new().can_measure(&stream));
    }

    #[test]
    fn slow_candidates() {
        let cases =
            [(49_000.0, None, false), (51_000.0, None, true), (499.0, Some(10.0), false), (501.0, Some(10.0), true)];
        for (us, best, expected) in cases {
            assert_eq!(is_slow(us, best), expected, "{us} {best:?}");
        }
    }

    #[test]
    fn a_first_launch_that_compiles_is_not_slow_code() {
        let stream = Gpu::cpu().stream().expect("the CPU has streams");
        let mut compiled = false;
        let mut launch = || {
            let ms = if std::mem::replace(&mut compiled, true) { 0 } else { 60 };
            std::thread::sleep(std::time::Duration::from_millis(ms));
            Ok(())
        };
        let (effort, best_us) = (Effort::Rough(1), Some(10.0));
        let mut trial =
            Trial { op: "op", key: &[], member: "a", effort, best_us, stream: &stream, launch: &mut launch };
        let us = Device::new().measure(&mut trial).expect("it runs");
        assert!(us < 10_000.0, "{us} us");
    }

    /// The host's clock takes the place of a GPU's.
    #[test]
    fn launches_are_counted() {
        let stream = Gpu::cpu().stream().expect("the CPU has streams");
        for (device, effort, expected) in [
            (Device::new(), Effort::Rough(1), 2..=2),
            (Device::new(), Effort::Rough(8), 8..=8),
            (Device::new().flush(64), Effort::Rough(4), 4..=4),
            // Two that do not count, and three or five batches of one or more.
            (Device::new(), Effort::Precise, 5..=2 + 5 * MOST as usize),
        ] {
            let mut count = 0;
            let mut launch = || {
                count += 1;
                std::thread::sleep(std::time::Duration::from_micros(50));
                Ok(())
            };
            let mut trial =
                Trial { op: "op", key: &[], member: "a", effort, best_us: None, stream: &stream, launch: &mut launch };
            let us = device.measure(&mut trial).expect("it runs");
            assert!(us > 40.0 && expected.contains(&count), "{effort:?}: {us} us, {count} launches");
        }
    }
}
