//! Event-timed repetitions with a cold L2 cache.

use crate::Outcome;
use crate::kernels::fill;
use crate::stats::median;
use triton::{Buffer, Device, Stream};

/// Milliseconds below which the host may not be ahead of the device. The peers' side has the same limit.
const SHORT: f64 = 0.25;

/// A stream, and the buffer whose writing empties the L2 cache.
pub struct Timer {
    /// Where everything is enqueued.
    pub stream: Stream,
    flush: Buffer<i32>,
    next: i32,
}

impl Timer {
    /// On a device, with a buffer of this many MiB.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(device: &Device, flush_mib: u32) -> triton::Result<Timer> {
        let stream = device.stream()?;
        let flush = stream.zeros((flush_mib as usize) << 18)?;
        Ok(Timer { stream, flush, next: 0 })
    }

    /// Milliseconds of each repetition. What the warm-up finds to be short is captured once and launched as a graph, so that the host's
    /// time to enqueue it does not show.
    ///
    /// # Errors
    /// Of the launches.
    pub fn time(&mut self, warmup: u32, reps: u32, mut run: impl FnMut(&Stream) -> Outcome) -> Outcome<Vec<f64>> {
        let warm = self.repeat(warmup, &mut run)?;
        self.stream.device().finish_compiling();
        if median(&warm).is_none_or(|ms| ms >= SHORT) {
            return self.repeat(reps, run);
        }
        let mut outcome = Ok(());
        let graph = self.stream.capture(|stream| {
            outcome = run(stream);
            Ok(())
        });
        outcome?;
        let graph = graph?;
        let mut launch = |stream: &Stream| Ok(graph.launch(stream)?);
        // The first launch moves the graph to the device.
        self.repeat(1, &mut launch)?;
        self.repeat(reps, launch)
    }

    /// Nothing waits for the device between repetitions, so that the host is ahead of it.
    fn repeat(&mut self, reps: u32, mut run: impl FnMut(&Stream) -> Outcome) -> Outcome<Vec<f64>> {
        let mut events = Vec::new();
        for _ in 0..reps {
            self.empty_cache()?;
            let start = self.stream.record_timed_event()?;
            run(&self.stream)?;
            events.push((start, self.stream.record_timed_event()?));
        }
        self.stream.synchronize()?;
        events.iter().map(|(start, end)| Ok(end.since(start)?.as_secs_f64() * 1e3)).collect()
    }

    fn empty_cache(&mut self) -> triton::Result<()> {
        self.next = self.next.wrapping_add(1);
        let len = self.flush.len();
        let n = i32::try_from(len).unwrap_or(i32::MAX);
        let launch = fill::<i32, 1024>(&mut self.flush, self.next, n);
        // SAFETY: the mask keeps accesses below the buffer's length.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            launch.launch(&self.stream, len.div_ceil(1024))
        }
    }
}
