//! Graphs: work that was captured once and is launched many times.

use crate::capture::{Recording, Step, Use};
use crate::device::Device;
use crate::driver::graph::{Capturing, RawGraph};
use crate::error::{Error, Result};
use crate::stream::Stream;
use std::fmt;

/// Work of a device that was captured, ready to be launched as a whole, any number of times. Made by [`Stream::capture`].
///
/// On a GPU a launch of a graph costs about as much as that of one kernel, however many it has. It does the work that was captured with
/// the arguments of that time: the same numbers, buffers, views and grids. What the buffers hold is up to the moment, so that new inputs are
/// copied into the same buffers before a launch, and results out of them after it.
///
/// A graph keeps its buffers alive. Each launch is one use of them all, in the order of their other uses, whichever streams these are on.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::best().stream()?;
/// let mut x = stream.upload(&[1.0f32, 2.0])?;
/// let (mut y, mut z) = (stream.zeros::<f32>(2)?, stream.zeros::<f32>(2)?);
/// let graph = stream.capture(|stream| {
///     stream.copy(&x, &mut y)?;
///     stream.copy(&y, &mut z)
/// })?;
/// assert_eq!(stream.download(&z)?, [0.0, 0.0], "nothing has run");
/// graph.launch(&stream)?;
/// assert_eq!(stream.download(&z)?, [1.0, 2.0]);
/// stream.copy_from_host(&[3.0, 4.0], &mut x)?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.download(&z)?, [3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub struct Graph {
    device: Device,
    work: Work,
    /// After the work: it is destroyed first.
    uses: Vec<Use<Stream>>,
}

/// How it is done again.
enum Work {
    Cuda(RawGraph),
    /// In the call, one after the other.
    Host(Vec<Step<Stream>>),
}

impl Stream {
    /// Captures what `work` enqueues on the stream that it is given, a new one of this device. None of it runs before the graph is launched.
    ///
    /// A graph holds launches, copies on the device and fills. Everything about a launch is checked now, and code that is not loaded yet is
    /// loaded. [Scratch](crate::Scratch) memory may be taken. What the host takes part in cannot be captured: new buffers, copies from and to the host,
    /// events, and waiting are [`Error::Capture`] on the captured stream. Calls on other streams are not captured: they do their work.
    ///
    /// # Errors
    /// Those of `work`, of which then nothing is captured, errors of other types as [`Error::Other`]; [`Error::Capture`] if this stream is itself captured; or what the driver says.
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        self.refuse_capture("a capture")?;
        let stream = self.captured()?;
        let capturing = stream.raw().map(Capturing::begin).transpose()?;
        let open = Open { stream: &stream, capturing };
        work(&stream)?;
        let (work, uses) = open.end()?;
        Ok(Graph { device: self.device().clone(), work, uses })
    }
}

/// A capture that has not ended. Dropping ends it, and forgets what was captured.
struct Open<'a> {
    stream: &'a Stream,
    capturing: Option<Capturing<'a>>,
}

impl Open<'_> {
    fn end(mut self) -> Result<(Work, Vec<Use<Stream>>)> {
        // What another thread has taken down is also enqueued then, and nothing follows.
        let _alone = self.stream.device().replays().enter();
        let Recording { uses, steps } = self.stream.recorder().ok_or(Error::CaptureEnded)?.end()?;
        let work = match self.capturing.take() {
            Some(capturing) => Work::Cuda(capturing.end()?),
            None => Work::Host(steps),
        };
        Ok((work, uses))
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(Ok(forgotten)) = self.stream.recorder().map(|recorder| {
            let _alone = self.stream.device().replays().enter();
            let recording = recorder.end();
            self.capturing = None;
            recording
        }) {
            // Not under the lock: memory may be freed.
            drop(forgotten);
        }
    }
}

impl Graph {
    /// Enqueues all of its work. On the CPU and the simulator it has run when this returns.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Capture`] if the stream is captured, a fault of earlier work; on the CPU and the simulator those of the
    /// launches, too, of which the ones after it have not run.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        if self.device != *stream.device() {
            return Err(Error::WrongDevice {
                what: "the graph".to_string(),
                found: self.device.to_string(),
                expected: stream.device().to_string(),
            });
        }
        stream.refuse_capture("the launch of a graph")?;
        let replays = self.device.replays();
        let mut alone = Some(replays.enter());
        for (memory, writes) in &self.uses {
            memory.order(stream, *writes)?;
        }
        match &self.work {
            Work::Cuda(graph) => stream.raw().map_or(Ok(()), |raw| graph.launch(raw)),
            Work::Host(steps) => steps.iter().try_for_each(|step| {
                if step.is_alone {
                    alone.get_or_insert_with(|| replays.enter());
                } else {
                    alone = None;
                }
                (step.work)(stream)
            }),
        }
    }

    /// The device whose work it is.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} buffers on {})", self.uses.len(), self.device)
    }
}
