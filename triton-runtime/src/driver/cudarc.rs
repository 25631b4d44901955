//! What cudarc and the runtime lend each other: handles of streams, and memory.
//!
//! Both use the primary context of a device, which is checked here. What is made of it, streams and views, is in `interop`.

use super::context::Context;
use super::stream::RawStream;
use crate::error::Error;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, SyncOnDrop};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// CUDA_ERROR_INVALID_CONTEXT: "Data types used by CUDA driver", CUresult.
const INVALID_CONTEXT: i32 = 201;

/// Rejects a context of cudarc that is not the one of ours.
pub(crate) fn check(call: &'static str, context: &Context, theirs: &CudaContext) -> Result<(), Error> {
    if context.pointer() == theirs.cu_ctx().cast() {
        return Ok(());
    }
    let message = format!("cudarc's context is not the primary context of {context}, which CudaContext::new gives");
    Err(Error::Driver { call, code: INVALID_CONTEXT, message })
}

impl RawStream {
    /// A stream of cudarc, which lives as long as this.
    ///
    /// # Errors
    /// It is not of the device's primary context.
    pub(crate) fn of_cudarc(context: &'static Context, stream: &Arc<CudaStream>) -> Result<RawStream, Error> {
        check("Stream::from_cudarc", context, stream.context())?;
        // SAFETY: the stream is of this context, as was checked, and is kept.
        let raw = unsafe { RawStream::foreign(context, stream.cu_stream().cast()) };
        Ok(raw.keeping(stream.clone()))
    }

    /// The same stream for cudarc.
    ///
    /// # Safety
    /// This stream lives as long as what is returned, and what cudarc makes with it.
    ///
    /// # Errors
    /// cudarc's context is not the device's primary context.
    pub(crate) unsafe fn to_cudarc(&self, context: &Arc<CudaContext>) -> Result<Arc<CudaStream>, Error> {
        check("Stream::to_cudarc", self.context, context)?;
        // SAFETY: the stream is of this context, as was checked, and the caller keeps it.
        Ok(unsafe { context.wrap_borrowed_stream(self.pointer().cast()) })
    }
}

/// Memory of cudarc for work of a stream. Dropping it tells cudarc that the work is enqueued.
pub(crate) struct Borrowed<'a> {
    address: u64,
    /// Elements.
    len: usize,
    _sync: SyncOnDrop<'a>,
}

impl<'a> Borrowed<'a> {
    /// What `device_ptr` and `device_ptr_mut` give, with a number of elements.
    pub(crate) fn new(len: usize, (address, sync): (u64, SyncOnDrop<'a>)) -> Borrowed<'a> {
        Borrowed { address, len, _sync: sync }
    }

    /// The address of the first element.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A view of all elements. `make` is the constructor of a view of a device's memory: of an address, of the number of elements that may be
    /// accessed from there on, and of extents and strides.
    pub(crate) fn view<'v, D, A, S, V>(
        &'v self,
        device: &'v D,
        (extents, strides): (A, S),
        make: unsafe fn(&'v D, u64, usize, A, S) -> V,
    ) -> V {
        // SAFETY: cudarc's slice has this many elements from the address on, and is borrowed for longer than `'v`: exclusively, if the view is
        // mutable. The maker of this value has promised that work with the view is ordered with cudarc's.
        unsafe { make(device, self.address, self.len, extents, strides) }
    }
}

impl fmt::Debug for Borrowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements from {:#x} on", self.len, self.address)
    }
}

/// A slice of cudarc over memory that it must not free.
struct Lent<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> Lent<T> {
    /// # Safety
    /// As of [`lend`].
    unsafe fn new(stream: &Arc<CudaStream>, address: u64, len: usize) -> Lent<T> {
        // SAFETY: the caller vouches for the memory. cudarc does not free it, since the slice is leaked.
        Lent(ManuallyDrop::new(unsafe { stream.upgrade_device_ptr::<T>(address, len) }))
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        // SAFETY: this is the last use of the field.
        let slice = unsafe { ManuallyDrop::take(&mut self.0) };
        // This makes the slice's stream wait for the work on other streams that cudarc knows of.
        slice.leak();
    }
}

/// Lends `len` elements from an address on to cudarc while `work` runs. When this returns, or `work` panics, what cudarc has enqueued on the
/// elements on any stream is ordered before what follows on `stream`, as far as cudarc tracks it.
///
/// # Safety
/// The elements are initialized memory of the stream's device, and nothing writes them while `work` runs. They are not freed before the work that
/// `work` enqueues is done.
pub(crate) unsafe fn lend<T, R>(
    stream: &Arc<CudaStream>,
    address: u64,
    len: usize,
    work: impl FnOnce(CudaView<'_, T>) -> R,
) -> R {
    // SAFETY: the caller vouches for the memory.
    let lent = unsafe { Lent::<T>::new(stream, address, len) };
    work(lent.0.as_view())
}

/// As [`lend`], to be written.
///
/// # Safety
/// As of [`lend`], and nothing else accesses the elements while `work` runs.
pub(crate) unsafe fn lend_mut<T, R>(
    stream: &Arc<CudaStream>,
    address: u64,
    len: usize,
    work: impl FnOnce(CudaViewMut<'_, T>) -> R,
) -> R {
    // SAFETY: as above.
    let mut lent = unsafe { Lent::<T>::new(stream, address, len) };
    work(lent.0.as_view_mut())
}
