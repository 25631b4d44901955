//! Streams and events of the driver.

use super::context::Context;
use super::types::{CUevent_st, CUstream_st};
use super::{Handle, NOT_READY, cu};
use crate::error::Error;
use crate::lock;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A stream; destroyed with the last use unless it is foreign.
#[derive(Debug)]
pub(crate) struct RawStream {
    pub(crate) context: &'static Context,
    pub(super) handle: Handle<CUstream_st>,
    /// Unlike the handle, never reused for another stream.
    pub(super) id: u64,
    owned: bool,
    /// What a foreign stream lives as long as, if that is known.
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl RawStream {
    fn next_id() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Relaxed)
    }

    /// A new stream that does not wait for the legacy default stream.
    pub(crate) fn new(context: &'static Context) -> Result<RawStream, Error> {
        context.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is to a stream handle; 1 is CU_STREAM_NON_BLOCKING.
        unsafe { cu!(context.driver, cuStreamCreate(&mut handle, 1)) }?;
        Ok(RawStream { context, handle: Handle(handle), id: RawStream::next_id(), owned: true, _kept: None })
    }

    /// The same, whose work is started before that of others.
    pub(crate) fn urgent(context: &'static Context) -> Result<RawStream, Error> {
        context.enter()?;
        let (mut least, mut greatest, mut handle) = (0, 0, std::ptr::null_mut());
        // SAFETY: the pointers are to integers.
        unsafe { cu!(context.driver, cuCtxGetStreamPriorityRange(&mut least, &mut greatest)) }?;
        // SAFETY: as above.
        unsafe { cu!(context.driver, cuStreamCreateWithPriority(&mut handle, 1, greatest)) }?;
        Ok(RawStream { context, handle: Handle(handle), id: RawStream::next_id(), owned: true, _kept: None })
    }

    /// A foreign stream, which is not destroyed.
    ///
    /// # Safety
    /// The handle is a stream of this context and stays valid while this value lives.
    pub(crate) unsafe fn foreign(context: &'static Context, handle: *mut c_void) -> RawStream {
        RawStream { context, handle: Handle(handle.cast()), id: RawStream::next_id(), owned: false, _kept: None }
    }

    /// The same, which keeps another value as long as it lives.
    #[cfg(feature = "cudarc")]
    pub(super) fn keeping(self, value: Arc<dyn Any + Send + Sync>) -> RawStream {
        RawStream { _kept: Some(value), ..self }
    }

    /// The driver's handle.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.handle.0.cast()
    }

    /// Whether everything enqueued so far is done.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        self.context.enter()?;
        // SAFETY: the stream is alive.
        let code = unsafe { (self.context.driver.api.cuStreamQuery)(self.handle.0) };
        if code == NOT_READY {
            return Ok(false);
        }
        self.context.driver.check("cuStreamQuery", code).map(|()| true)
    }

    /// Waits until everything enqueued so far is done.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the stream is alive.
        unsafe { cu!(self.context.driver, cuStreamSynchronize(self.handle.0)) }
    }

    /// Makes what is enqueued from now on wait for an event.
    pub(crate) fn wait(&self, event: &RawEvent) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: both are alive; 0 is the default flag.
        unsafe { cu!(self.context.driver, cuStreamWaitEvent(self.handle.0, event.handle.0, 0)) }
    }

    /// Makes what is enqueued from now on wait for everything enqueued so far on another stream, which may be of another device.
    pub(crate) fn wait_for(&self, other: &RawStream) -> Result<(), Error> {
        // An event is of the device that records it.
        let context = other.context;
        context.enter()?;
        let at_hand = lock(&context.events).pop();
        let event = match at_hand {
            Some(event) => event,
            None => RawEvent::make(context, false)?,
        };
        // SAFETY: the event and the stream are alive.
        let recorded = unsafe { cu!(context.driver, cuEventRecord(event.0, other.handle.0)) };
        let entered = recorded.and_then(|()| self.context.enter());
        // SAFETY: as above.
        let done = entered.and_then(|()| unsafe { cu!(context.driver, cuStreamWaitEvent(self.handle.0, event.0, 0)) });
        // A wait refers to what the event had recorded when it was enqueued, so the event can be reused at once.
        lock(&context.events).push(event);
        done
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        if self.owned && self.context.enter().is_ok() {
            // SAFETY: this is the last use of the handle; the driver lets enqueued work finish. A failure at the end of
            // the process is of no interest.
            let _ = unsafe { cu!(self.context.driver, cuStreamDestroy_v2(self.handle.0)) };
        }
    }
}

/// An event.
#[derive(Debug)]
pub(crate) struct RawEvent {
    context: &'static Context,
    handle: Handle<CUevent_st>,
}

impl RawEvent {
    fn make(context: &Context, timed: bool) -> Result<Handle<CUevent_st>, Error> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is to an event handle; 2 is CU_EVENT_DISABLE_TIMING. The context is current.
        unsafe { cu!(context.driver, cuEventCreate(&mut handle, if timed { 0 } else { 2 })) }?;
        Ok(Handle(handle))
    }

    /// An event at the end of what is enqueued on a stream.
    pub(crate) fn record(stream: &RawStream, timed: bool) -> Result<RawEvent, Error> {
        stream.context.enter()?;
        let event = RawEvent { context: stream.context, handle: RawEvent::make(stream.context, timed)? };
        event.record_again(stream)?;
        Ok(event)
    }

    /// Moves the event to the end of what is enqueued on a stream.
    pub(crate) fn record_again(&self, stream: &RawStream) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: both are alive.
        unsafe { cu!(self.context.driver, cuEventRecord(self.handle.0, stream.handle.0)) }
    }

    /// Waits for it on the host.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the event is alive.
        unsafe { cu!(self.context.driver, cuEventSynchronize(self.handle.0)) }
    }

    /// Whether everything before it is done.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        self.context.enter()?;
        // SAFETY: the event is alive.
        let code = unsafe { (self.context.driver.api.cuEventQuery)(self.handle.0) };
        if code == NOT_READY {
            return Ok(false);
        }
        self.context.driver.check("cuEventQuery", code).map(|()| true)
    }

    /// Milliseconds from one timed event to another, negative if they are in the other order; waits for both.
    pub(crate) fn elapsed_ms(start: &RawEvent, end: &RawEvent) -> Result<f32, Error> {
        start.synchronize()?;
        end.synchronize()?;
        let mut time = 0.0f32;
        // SAFETY: both events are alive, and the pointer is to a float.
        unsafe { cu!(start.context.driver, cuEventElapsedTime(&mut time, start.handle.0, end.handle.0)) }?;
        Ok(time)
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: this is the last use of the handle; the driver defers the destruction where the event is pending.
            let _ = unsafe { cu!(self.context.driver, cuEventDestroy_v2(self.handle.0)) };
        }
    }
}
