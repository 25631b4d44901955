//! Graphs of the driver: what was enqueued on a stream while it was captured, launched again as a whole.

use super::context::Context;
use super::stream::RawStream;
use super::types::{CUgraphExec_st, CUstreamCaptureMode};
use super::{Handle, cu};
use crate::error::Error;

/// A stream that is captured. Dropping ends that, and forgets what was captured.
pub(crate) struct Capturing<'a> {
    /// Until it has ended.
    stream: Option<&'a RawStream>,
}

impl<'a> Capturing<'a> {
    /// Captures what is enqueued on a stream from now on. Calls on other streams and of the device stay allowed, such as loading a kernel at its
    /// first launch: a stream that nothing else is enqueued on cannot be disturbed by them.
    pub(crate) fn begin(stream: &'a RawStream) -> Result<Capturing<'a>, Error> {
        stream.context.enter()?;
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive.
        unsafe { cu!(stream.context.driver, cuStreamBeginCapture_v2(stream.handle.0, mode)) }?;
        Ok(Capturing { stream: Some(stream) })
    }

    /// Ends the capture, and makes what was captured ready to launch.
    pub(crate) fn end(mut self) -> Result<RawGraph, Error> {
        let Some(stream) = self.stream.take() else { return Err(Error::CaptureEnded) };
        let context = stream.context;
        context.enter()?;
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is alive, and the pointer is to a graph handle.
        unsafe { cu!(context.driver, cuStreamEndCapture(stream.handle.0, &mut graph)) }?;
        let mut exec = std::ptr::null_mut();
        // SAFETY: the graph is alive, the pointer is to a handle, and 0 stands for no flags.
        let ready = unsafe { cu!(context.driver, cuGraphInstantiateWithFlags(&mut exec, graph, 0)) };
        // SAFETY: this is the last use of the graph. What was made of it is a copy.
        let _ = unsafe { cu!(context.driver, cuGraphDestroy(graph)) };
        ready.map(|()| RawGraph { context, exec: Handle(exec) })
    }
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        let Some(stream) = self.stream else { return };
        if stream.context.enter().is_err() {
            return;
        }
        let driver = stream.context.driver;
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is alive, and the pointer is to a graph handle.
        let ended = unsafe { cu!(driver, cuStreamEndCapture(stream.handle.0, &mut graph)) };
        if ended.is_ok() && !graph.is_null() {
            // SAFETY: this is the last use of the graph.
            let _ = unsafe { cu!(driver, cuGraphDestroy(graph)) };
        }
    }
}

/// A graph that is ready to launch. Callers see to it that the memory that its work uses is alive, and that no two threads launch it at a
/// time.
#[derive(Debug)]
pub(crate) struct RawGraph {
    context: &'static Context,
    exec: Handle<CUgraphExec_st>,
}

impl RawGraph {
    /// Enqueues all of it on a stream of its device.
    pub(crate) fn launch(&self, stream: &RawStream) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: both are alive.
        unsafe { cu!(self.context.driver, cuGraphLaunch(self.exec.0, stream.handle.0)) }
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: this is the last use of the handle; a graph that runs is destroyed when it is done.
            let _ = unsafe { cu!(self.context.driver, cuGraphExecDestroy(self.exec.0)) };
        }
    }
}
