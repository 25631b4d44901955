//! What the examples that time operations share: each repetition is timed after the L2 cache was overwritten.

use triton::{Buffer, Device, Element, Stream, Tensor};
use triton_kernels::Result;

const REPETITIONS: usize = 20;

/// A stream, and what overwrites the L2 cache. No example uses all of it.
pub struct Timer {
    pub stream: Stream,
    flush: Buffer<i32>,
}

#[allow(dead_code, reason = "each example uses a part")]
impl Timer {
    pub fn new(device: &Device) -> Result<Timer> {
        let stream = device.stream()?;
        Ok(Timer { flush: stream.zeros::<i32>(1 << 26)?, stream })
    }

    /// Median milliseconds.
    pub fn time(&mut self, mut run: impl FnMut(&Stream) -> Result<()>) -> Result<f64> {
        let mut events = Vec::new();
        // Later launches may run better code, which is compiled beside the first ones.
        run(&self.stream)?;
        self.stream.device().finish_compiling();
        for i in 0..REPETITIONS + 3 {
            self.stream.fill(&mut self.flush, i as i32)?;
            let start = self.stream.record_timed_event()?;
            run(&self.stream)?;
            events.push((start, self.stream.record_timed_event()?));
        }
        self.stream.synchronize()?;
        let times = events[3..].iter().map(|(start, end)| Ok(end.since(start)?.as_secs_f64() * 1e3));
        let mut times = times.collect::<Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[REPETITIONS / 2])
    }

    /// A copy that moves this many bytes in all.
    pub fn copy(&mut self, bytes: usize) -> Result<f64> {
        let from = self.stream.uninit::<i32>(bytes / 8)?;
        let mut to = self.stream.uninit::<i32>(bytes / 8)?;
        self.time(|stream| Ok(stream.copy(&from, &mut to)?))
    }

    /// Times what moves this many bytes at least, and prints the rate.
    pub fn report(&mut self, what: &str, bytes: usize, run: impl FnMut(&Stream) -> Result<()>) -> Result<()> {
        let (copied, found) = (self.copy(bytes)?, self.time(run)?);
        let rate = bytes as f64 / found / 1e9;
        println!(
            "{what}: {:.1} us, {rate:.2} TB/s, {:.3} of a copy ({:.1} us)",
            found * 1e3,
            copied / found,
            copied * 1e3
        );
        Ok(())
    }
}

/// Numbers from −2 to 2.
pub fn numbers<T: Element, const R: usize>(
    stream: &Stream,
    shape: [usize; R],
    of: fn(f32) -> T,
) -> Result<Tensor<T, R>> {
    let small: Vec<T> =
        (0..1 << 20).map(|i: u32| of((i.wrapping_mul(2_654_435_761) >> 16) as f32 / 16384.0 - 2.0)).collect();
    let mut all = stream.tensor_uninit(shape)?;
    let count = all.len();
    for begin in (0..count).step_by(small.len()) {
        let part = small.len().min(count - begin);
        stream.copy_from_host(&small[..part], &mut all.buffer_mut().slice_mut(begin..begin + part)?)?;
    }
    Ok(all)
}
