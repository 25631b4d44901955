//! Collectives of GPUs, by NCCL.
//!
//! **Invariant:** `unsafe` code is only in this folder. Nothing here panics because the library is missing, old or fails, nor ends the process.
//!
//! Every communicator is non-blocking: a call of the library returns before it is done, and is asked until it is, so that waiting for a rank that
//! does not come ends. A failure aborts the communicator, which is then told to each later call.

#![allow(unsafe_code, reason = "the library's interface is C")]

mod api;
mod watch;

use crate::backend::Backend;
use crate::call::{Call, Descriptor, Kind, agree};
use crate::error::{Error, Result};
use crate::exchange::{Exchange, deadline};
use crate::id::Id;
use crate::meeting::Meeting;
use crate::options::Options;
use crate::place::Place;
use crate::reduce::Reduce;
use api::{Api, Code, CommHandle, Config, IN_PROGRESS, SUCCESS, UniqueId};
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use triton::{Buffer, DType, Device, Operand, Region, Stream};
use watch::{Watch, Watched};

/// How long the library is asked without a pause: most calls are done at once.
const BRISK: Duration = Duration::from_millis(2);

/// The most that dropping waits for other ranks.
const FAREWELL: Duration = Duration::from_secs(10);

impl Id {
    /// A new name for a world of GPUs, which NCCL makes: other ranks find this process by it.
    ///
    /// # Errors
    /// [`Error::NoLibrary`], or what NCCL says.
    pub fn of_gpus() -> Result<Id> {
        Ok(Id::from_bytes(api::get()?.unique_id()?))
    }
}

/// A rank that meets the others.
///
/// # Errors
/// [`Error::NoLibrary`], [`Error::Nccl`], and those of a meeting.
pub(crate) fn connect(device: &Device, place: Place, meeting: &Meeting, options: Options) -> Result<Box<dyn Backend>> {
    if let Meeting::Id(id) = meeting {
        return Ok(Box::new(Nccl::new(device, place, *id.as_bytes(), None, options)?));
    }
    among(device, place, meeting.connect(place, options.timeout)?, options)
}

/// A rank that has met the others: rank 0 gives them the id.
///
/// # Errors
/// [`Error::NoLibrary`], [`Error::Nccl`].
pub(crate) fn among(
    device: &Device,
    place: Place,
    exchange: Arc<dyn Exchange>,
    options: Options,
) -> Result<Box<dyn Backend>> {
    let own = if place.rank == 0 {
        api::get().and_then(|api| api.unique_id()).map(Vec::from)
    } else {
        api::get().map(|_| Vec::new())
    };
    let all = exchange.all_gather(own.clone().unwrap_or_default(), deadline(options.timeout));
    // The own failure says more than what others make of it.
    own?;
    let all = all.map_err(|failure| failure.of("meeting the other ranks", options.timeout))?;
    let id: [u8; 128] = (*all[0]).try_into().map_err(|_| Error::Gone { rank: 0 })?;
    Ok(Box::new(Nccl::new(device, place, id, Some(exchange), options)?))
}

/// A communicator of NCCL.
struct Nccl {
    shared: Arc<Shared>,
    /// What the other ranks know of this one; `None` if they met by an id.
    exchange: Option<Arc<dyn Exchange>>,
    /// The number of the next collective, if ranks compare them.
    compared: Option<Mutex<u64>>,
    rank: usize,
    timeout: Duration,
}

/// What calls need, those of a replay too.
struct Shared {
    comm: Arc<Comm>,
    /// `None` once it has ended.
    watch: Mutex<Option<Watch>>,
    /// What a barrier reduces.
    barrier: Buffer<f32>,
    timeout: Duration,
}

/// The library's communicator. It is used by one thread at a time.
struct Comm {
    api: &'static Api,
    rank: usize,
    world: usize,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Null once it has ended.
    handle: CommHandle,
    /// The first failure.
    failure: Option<Error>,
    /// Whether a call has had it as its own error.
    is_told: bool,
}

// SAFETY: the library's handles may be used from any thread, by one at a time, as the mutex around this sees to.
unsafe impl Send for State {}

impl Nccl {
    /// The rank of a world that an id names, on a stream's device. It waits for the other ranks.
    ///
    /// # Errors
    /// [`Error::NoLibrary`], [`Error::Nccl`], [`Error::Timeout`].
    fn new(
        device: &Device,
        place: Place,
        id: [u8; 128],
        exchange: Option<Arc<dyn Exchange>>,
        options: Options,
    ) -> Result<Nccl> {
        let (api, timeout, stream) = (api::get()?, options.timeout, device.stream()?);
        let barrier = stream.zeros(1)?;
        stream.synchronize()?;
        let number = |n: usize| c_int::try_from(n).unwrap_or(c_int::MAX);
        let state = Arc::new(Mutex::new(State { handle: std::ptr::null_mut(), failure: None, is_told: false }));
        let made = state.clone();
        // The device's context is current within.
        stream.external(&[], move |_, _| {
            let mut config = Config::new(options.max_blocks);
            let mut state = lock(&made);
            // SAFETY: the pointers are to a handle and a description, which the library copies.
            let code = unsafe {
                let (rank, world) = (number(place.rank), number(place.world));
                (api.ncclCommInitRankConfig)(&mut state.handle, world, UniqueId(id), rank, &mut config)
            };
            Ok(api.check("ncclCommInitRankConfig", code)?)
        })?;
        let comm = Arc::new(Comm { api, rank: place.rank, world: place.world, state });
        comm.settle("meeting the other ranks", timeout)?;
        let watch = Mutex::new(Some(Watch::new(comm.clone(), exchange.clone(), timeout)?));
        let shared = Arc::new(Shared { comm, watch, barrier, timeout });
        Ok(Nccl { shared, exchange, compared: options.checked.then(Mutex::default), rank: place.rank, timeout })
    }
}

/// Locks without caring whether another thread panicked meanwhile: what is guarded is consistent between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Comm {
    /// The handle for one call of the library.
    fn with<R>(&self, call: impl FnOnce(&'static Api, CommHandle) -> R) -> Result<R> {
        let mut state = lock(&self.state);
        match state.failure.clone() {
            Some(first) if state.is_told => Err(Error::Aborted { first: Box::new(first) }),
            // The thread that watches has found it.
            Some(first) => {
                state.is_told = true;
                Err(first)
            }
            None if state.handle.is_null() => Err(Error::Gone { rank: self.rank }),
            None => Ok(call(self.api, state.handle)),
        }
    }

    /// Asks until the last call is done.
    fn settle(&self, operation: &'static str, timeout: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let mut state = SUCCESS;
            let code = self.with(|api, handle| {
                // SAFETY: the communicator has not ended, and the pointer is to a code.
                unsafe { (api.ncclCommGetAsyncError)(handle, &mut state) }
            })?;
            let failed = if code == SUCCESS { state } else { code };
            match failed {
                SUCCESS => return Ok(()),
                IN_PROGRESS if start.elapsed() < timeout => {
                    if start.elapsed() < BRISK {
                        std::thread::yield_now();
                    } else {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                }
                IN_PROGRESS => return Err(self.failed(Error::timeout(operation, timeout))),
                code => return Err(self.failed_with(operation, code)),
            }
        }
    }

    /// Fails by a code of the library.
    #[cold]
    fn failed_with(&self, call: &'static str, code: Code) -> Error {
        let error = self.with(|api, handle| api.error(call, code, handle));
        self.failed(error.unwrap_or_else(|failure| failure))
    }

    /// Fails, and returns the first failure.
    fn failed(&self, error: Error) -> Error {
        self.fail(error.clone());
        let mut state = lock(&self.state);
        state.is_told = true;
        state.failure.clone().unwrap_or(error)
    }

    /// Ends it: with the other ranks, if that is in order and they come.
    fn end(&self, in_order: bool) {
        if !in_order {
            return self.abort();
        }
        let Ok(code) = self.with(|api, handle| {
            // SAFETY: the communicator has not ended.
            unsafe { (api.ncclCommFinalize)(handle) }
        }) else {
            return;
        };
        let quiet = (code == SUCCESS || code == IN_PROGRESS) && self.settle("ending", FAREWELL).is_ok();
        if !quiet {
            return self.abort();
        }
        let mut state = lock(&self.state);
        let handle = std::mem::replace(&mut state.handle, std::ptr::null_mut());
        if !handle.is_null() {
            // SAFETY: this is the last use of the handle. What the library says then is of no interest.
            let _ = unsafe { (self.api.ncclCommDestroy)(handle) };
        }
    }

    /// Ends it now. Kernels that wait for other ranks end, too.
    fn abort(&self) {
        let mut state = lock(&self.state);
        let handle = std::mem::replace(&mut state.handle, std::ptr::null_mut());
        if !handle.is_null() {
            // SAFETY: this is the last use of the handle. What the library says then is of no interest.
            let _ = unsafe { (self.api.ncclCommAbort)(handle) };
        }
    }
}

impl Watched for Comm {
    fn fail(&self, error: Error) {
        lock(&self.state).failure.get_or_insert(error);
        self.abort();
    }
}

impl Nccl {
    /// Refuses collectives that differ from those of the other ranks.
    fn compare(&self, calls: &[Call]) -> Result<()> {
        let (Some(number), Some(exchange)) = (&self.compared, &self.exchange) else { return Ok(()) };
        let mut number = lock(number);
        for call in calls.iter().filter(|call| !matches!(call.kind, Kind::Send { .. } | Kind::Receive { .. })) {
            let ours = Descriptor::new(call, *number);
            *number += 1;
            let all = exchange.all_gather(ours.to_bytes().to_vec(), deadline(self.timeout));
            let all = all.map_err(|failure| failure.of(call.kind.name(), self.timeout))?;
            let all: Vec<_> = all.iter().map(|bytes| Descriptor::split(bytes).map(|(theirs, _)| theirs)).collect();
            agree(self.rank, &all, ours)?;
        }
        Ok(())
    }
}

impl Backend for Nccl {
    fn enqueue(&self, stream: &Stream, operands: &[Operand<'_>], calls: Vec<Call>) -> Result<()> {
        if let Some(rank) = self.exchange.as_ref().and_then(|exchange| exchange.gone()) {
            return Err(self.shared.comm.failed(Error::Gone { rank }));
        }
        self.shared.comm.with(|_, _| ())?;
        self.compare(&calls).map_err(|error| self.shared.comm.failed(error))?;
        let shared = self.shared.clone();
        Ok(stream.external(operands, move |stream, regions| Ok(shared.enqueue(stream, &calls, regions)?))?)
    }

    fn synchronize(&self, stream: &Stream) -> Result<()> {
        self.shared.synchronize(stream)
    }

    fn check(&self) -> Result<()> {
        self.shared.comm.with(|_, _| ())
    }

    fn leave(&self, in_order: bool) {
        let watch = lock(&self.shared.watch).take();
        // Joined without the lock: a failure takes it.
        drop(watch);
        // Of a world that has lost a rank nothing comes to wait for.
        let is_whole = self.exchange.as_ref().is_none_or(|exchange| exchange.gone().is_none());
        self.shared.comm.end(in_order && is_whole);
        if let Some(exchange) = &self.exchange {
            exchange.leave(in_order);
        }
    }
}

/// The number of a type, and how many of it are as many elements: what is only moved is bytes where the library has no such type.
fn typed(dtype: DType, count: usize) -> (c_int, usize) {
    match dtype {
        DType::Bool | DType::U8 => (1, count),
        DType::I8 => (0, count),
        DType::I16 | DType::U16 => (1, 2 * count),
        DType::I32 => (2, count),
        DType::U32 => (3, count),
        DType::I64 => (4, count),
        DType::U64 => (5, count),
        DType::F16 => (6, count),
        DType::F32 => (7, count),
        DType::F64 => (8, count),
        DType::BF16 => (9, count),
    }
}

impl Shared {
    /// Enqueues calls as one group, on memory of the device, whose context is current.
    fn enqueue(&self, stream: &Stream, calls: &[Call], regions: &[Region]) -> Result<()> {
        let Some(queue) = stream.as_raw() else { return Ok(()) };
        let comm = &self.comm;
        let name = calls.first().map_or("group", |call| call.kind.name());
        comm.with(|api, handle| {
            // A group's calls may wait for each other, and are one launch.
            // SAFETY: no argument.
            let mut done = api.check("ncclGroupStart", unsafe { (api.ncclGroupStart)() });
            for call in calls {
                done = done.and_then(|()| self.call(handle, call, regions, queue));
            }
            // What was begun is ended, also after an error.
            // SAFETY: no argument.
            let ended = api.check("ncclGroupEnd", unsafe { (api.ncclGroupEnd)() });
            done.and(ended)
        })?
        .map_err(|error| comm.failed(error))?;
        comm.settle(name, self.timeout)?;
        if let (Some(watch), false) = (&*lock(&self.watch), stream.is_captured()) {
            watch.push(stream.record_event()?, name);
        }
        Ok(())
    }

    /// The number of a reduction.
    fn reduction(&self, reduce: Reduce) -> c_int {
        match reduce {
            Reduce::Sum => 0,
            Reduce::Product => 1,
            Reduce::Max => 2,
            Reduce::Min => 3,
            // That of one rank is the sum, and NCCL 2.28 leaves the last elements out where it averages more than 16 KiB of one rank.
            Reduce::Average if self.comm.world == 1 => 0,
            Reduce::Average => 4,
        }
    }

    /// One call of the library.
    fn call(&self, comm: CommHandle, call: &Call, regions: &[Region], queue: *mut c_void) -> Result<()> {
        let api = self.comm.api;
        let address = |operand: Option<usize>| {
            let region = operand.and_then(|index| regions.get(index));
            std::ptr::with_exposed_provenance_mut::<c_void>(region.map_or(0, |region| region.address() as usize))
        };
        let (input, output) = (address(call.input.or(call.output)), address(call.output.or(call.input)));
        let ((ty, count), rank) =
            (typed(call.dtype, call.count), |of: usize| c_int::try_from(of).unwrap_or(c_int::MAX));
        // SAFETY: `Communicator` has checked that the operands have as many elements as the call counts, and their uses are ordered with this
        // stream's work. The communicator has not ended, and is used by one thread at a time.
        unsafe {
            match call.kind {
                Kind::AllReduce(reduce) => api.check(
                    "ncclAllReduce",
                    (api.ncclAllReduce)(input, output, count, ty, self.reduction(reduce), comm, queue),
                ),
                Kind::AllGather => {
                    api.check("ncclAllGather", (api.ncclAllGather)(input, output, count, ty, comm, queue))
                }
                Kind::ReduceScatter(reduce) => api.check(
                    "ncclReduceScatter",
                    (api.ncclReduceScatter)(input, output, count, ty, self.reduction(reduce), comm, queue),
                ),
                Kind::Broadcast { root } => {
                    api.check("ncclBroadcast", (api.ncclBroadcast)(input, output, count, ty, rank(root), comm, queue))
                }
                Kind::Send { peer } => api.check("ncclSend", (api.ncclSend)(input, count, ty, rank(peer), comm, queue)),
                Kind::Receive { peer } => {
                    api.check("ncclRecv", (api.ncclRecv)(output, count, ty, rank(peer), comm, queue))
                }
                Kind::Barrier => {
                    let one = std::ptr::with_exposed_provenance_mut::<c_void>(self.barrier.address() as usize);
                    let (ty, count) = typed(DType::F32, 1);
                    api.check(
                        "ncclAllReduce",
                        (api.ncclAllReduce)(one, one, count, ty, self.reduction(Reduce::Sum), comm, queue),
                    )
                }
            }
        }
    }

    /// Waits on the host until a stream's work is done, or it will not be.
    fn synchronize(&self, stream: &Stream) -> Result<()> {
        let start = Instant::now();
        if let Some(watch) = &*lock(&self.watch) {
            // Collectives of a graph's replay are known by nothing else.
            watch.push(stream.record_event()?, "synchronize");
        }
        while !stream.is_done()? {
            // The watch thread fails where another rank has ended, or a call is out of time.
            self.comm.with(|_, _| ())?;
            if start.elapsed() > self.timeout {
                return Err(self.comm.failed(Error::timeout("synchronize", self.timeout)));
            }
            if start.elapsed() < BRISK {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
        self.comm.settle("synchronize", self.timeout)
    }
}
