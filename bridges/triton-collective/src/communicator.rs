//! Communicators: what a rank calls collectives by.

use crate::alone::Alone;
use crate::backend::Backend;
use crate::copies::{Board, Copies};
use crate::error::{Error, Result};
use crate::exchange::{Exchange, together};
use crate::group::Group;
use crate::host::Host;
use crate::meeting::Meeting;
use crate::nccl;
use crate::options::Options;
use crate::place::Place;
use crate::reduce::Reduce;
use std::fmt;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use triton::{Device, Element, IntoView, IntoViewMut, Stream};

/// One rank of a world: a device that takes part in collectives.
///
/// Collectives are enqueued on a stream, in the order of the other uses of their operands. All ranks of a world call the same collectives in the same order;
/// a rank that calls from several threads orders its calls itself. Operands are contiguous views or tensors of the communicator's device, whose elements
/// the collective takes in row-major order, whatever their shape. Lengths are the same on all ranks, and may be 0.
///
/// On the CPU and on the simulator a call waits for the other ranks, and has done its work when it returns. Calls can be
/// [captured](triton::Stream::capture): all ranks then replay in the same order, too.
///
/// A failure of a collective, such as a time-out or a rank that ended, is the end of the communicator: each later call is
/// [`Error::Aborted`], with the first failure. Dropping it tells the others; what they have from this rank stays theirs. Clones are the same rank.
///
/// ```
/// use triton::Device;
/// use triton_collective::{Communicator, Reduce, Result};
///
/// fn rank(communicator: Communicator) -> Result<Vec<f32>> {
///     let stream = communicator.device().stream()?;
///     let mut x = stream.tensor(&[communicator.rank() as f32, 1.0], [2])?;
///     communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
///     Ok(stream.download(&x)?)
/// }
///
/// # fn main() -> Result<()> {
/// // Three ranks on the CPU, each a thread.
/// let communicators = Communicator::all(&[Device::cpu(), Device::cpu(), Device::cpu()])?;
/// let threads: Vec<_> = communicators.into_iter().map(|one| std::thread::spawn(|| rank(one))).collect();
/// for thread in threads {
///     assert_eq!(thread.join().unwrap()?, [0.0 + 1.0 + 2.0, 3.0]);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Communicator(Arc<Inner>);

struct Inner {
    device: Device,
    place: Place,
    backend: Box<dyn Backend>,
    /// Its own, once it was asked for.
    stream: OnceLock<Stream>,
    /// Of GPUs of one process.
    copies: Option<Arc<Copies>>,
}

/// How a communicator is made.
impl Communicator {
    /// A rank that meets the others, and waits until all have come.
    ///
    /// # Errors
    /// [`Error::World`] of a place that does not fit, [`Error::Meeting`] of an address or file that cannot be used, [`Error::Timeout`] if ranks do
    /// not come in time.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_collective::{Communicator, Id, Options, Place, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let id = Id::new();
    /// let barrier = move |rank| -> Result<()> {
    ///     let communicator = Communicator::new(&Device::cpu(), Place::new(rank, 2), id, Options::default())?;
    ///     communicator.barrier(&communicator.device().stream()?)
    /// };
    /// let other = std::thread::spawn(move || barrier(1));
    /// barrier(0)?;
    /// other.join().unwrap()
    /// # }
    /// ```
    pub fn new(device: &Device, place: Place, meeting: impl Into<Meeting>, options: Options) -> Result<Communicator> {
        place.check()?;
        let meeting = meeting.into();
        let is_gpu = device.ordinal().is_some();
        // An id of GPUs is NCCL's.
        let is_alone = place.world == 1 && !(is_gpu && matches!(meeting, Meeting::Id(_)));
        let backend: Box<dyn Backend> = if is_alone {
            Box::new(Alone)
        } else if is_gpu {
            nccl::connect(device, place, &meeting, options)?
        } else {
            Box::new(Host::new(place, options.timeout, meeting.connect(place, options.timeout)?))
        };
        Ok(Communicator::of(device, place, backend, None))
    }

    fn of(device: &Device, place: Place, backend: Box<dyn Backend>, copies: Option<Arc<Copies>>) -> Communicator {
        Communicator(Arc::new(Inner { device: device.clone(), place, backend, stream: OnceLock::new(), copies }))
    }

    /// A world of one rank, for programs that run on one device, too. Collectives are copies then, and need no NCCL.
    ///
    /// # Errors
    /// None so far.
    ///
    /// ```
    /// use triton_collective::{Communicator, Reduce, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let communicator = Communicator::alone(&triton::Device::cpu())?;
    /// let stream = communicator.device().stream()?;
    /// let mut x = stream.tensor(&[1, 2], [2])?;
    /// communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
    /// assert_eq!(stream.download(&x)?, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn alone(device: &Device) -> Result<Communicator> {
        Ok(Communicator::of(device, Place::new(0, 1), Box::new(Alone), None))
    }

    /// The ranks of a world of one process: one for each device, in their order. Each goes to a thread of its own, as collectives wait for all ranks.
    ///
    /// The CPU and the simulator may stand there several times, a GPU once. A world is of GPUs alone, or without any.
    ///
    /// # Errors
    /// [`Error::World`] without a device, [`Error::Device`] of devices of different sorts; of GPUs [`Error::NoLibrary`], or what NCCL says.
    pub fn all(devices: &[Device]) -> Result<Vec<Communicator>> {
        Communicator::all_with(devices, Options::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// Those of [`Communicator::all`].
    pub fn all_with(devices: &[Device], options: Options) -> Result<Vec<Communicator>> {
        let world = devices.len();
        Place::new(0, world).check()?;
        let is_gpu = |device: &Device| device.ordinal().is_some();
        if let Some(other) = devices.iter().find(|device| is_gpu(device) != is_gpu(&devices[0])) {
            let (found, expected) = (other.to_string(), devices[0].to_string());
            return Err(Error::Device { what: "another rank", found, expected });
        }
        if world == 1 {
            return Ok(vec![Communicator::alone(&devices[0])?]);
        }
        let board = Board::new(devices);
        let one = |rank: usize, exchange: Arc<dyn Exchange>, device: &Device| {
            let place = Place::new(rank, world);
            let copies = board.clone().map(|board| Copies::new(board, rank, exchange.clone(), options.timeout));
            let backend: Box<dyn Backend> = if is_gpu(device) {
                nccl::among(device, place, exchange, options)?
            } else {
                Box::new(Host::new(place, options.timeout, exchange))
            };
            Ok(Communicator::of(device, place, backend, copies.map(Arc::new)))
        };
        // Ranks of NCCL wait for each other here.
        std::thread::scope(|scope| {
            let ranks = together(world).into_iter().zip(devices).enumerate();
            let threads: Vec<_> =
                ranks.map(|(rank, (exchange, device))| scope.spawn(move || one(rank, exchange, device))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }

    /// The rank that the launcher says, which meets the others as the launcher says: [`Place::from_environment`] and
    /// [`Meeting::from_environment`]. A world of one rank needs no address.
    ///
    /// The device is the caller's choice, on a host with several GPUs `Device::cuda(Place::from_environment()?.local_rank)`.
    ///
    /// # Errors
    /// [`Error::Environment`] names the variable that is missing or malformed; and those of [`Communicator::new`].
    pub fn from_environment(device: &Device, options: Options) -> Result<Communicator> {
        let place = Place::from_environment()?;
        if place.world == 1 {
            return Communicator::alone(device);
        }
        Communicator::new(device, place, Meeting::from_environment()?, options)
    }

    /// Which rank this is, from 0.
    pub fn rank(&self) -> usize {
        self.0.place.rank
    }

    /// The world size: the number of ranks.
    pub fn world(&self) -> usize {
        self.0.place.world
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Its copies between GPUs of one process.
    pub(crate) fn copies(&self) -> Option<&Arc<Copies>> {
        self.0.copies.as_ref()
    }

    /// Ends it as after a failure: the others need not wait until the time is out.
    pub(crate) fn fail(&self) {
        self.0.backend.leave(false);
    }

    /// A stream for collectives that run beside other work: the same each time, of high priority, so that a collective need not wait until a
    /// kernel that fills the device has ended.
    ///
    /// # Errors
    /// What the driver says.
    pub fn stream(&self) -> Result<Stream> {
        if let Some(stream) = self.0.stream.get() {
            return Ok(stream.clone());
        }
        let stream = self.0.device.high_priority_stream()?;
        Ok(self.0.stream.get_or_init(|| stream).clone())
    }

    /// The part of `len` things that this rank has, where each has as many as the others, or one more: those of a lower rank come first.
    ///
    /// ```
    /// # use triton_collective::{Communicator, Result};
    /// # fn main() -> Result<()> {
    /// use triton::Device;
    ///
    /// let all = Communicator::all(&[Device::cpu(), Device::cpu(), Device::cpu()])?;
    /// let parts: Vec<_> = all.iter().map(|rank| rank.shard(8)).collect();
    /// assert_eq!(parts, [0..3, 3..6, 6..8]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn shard(&self, len: usize) -> Range<usize> {
        let Place { rank, world, .. } = self.0.place;
        let (each, more) = (len / world, len % world);
        let start = |rank: usize| rank * each + rank.min(more);
        start(rank)..start(rank + 1)
    }
}

/// Collectives.
///
/// Each has the errors of its operands, which are found before anything is enqueued ([`Error::Device`], [`Error::Runtime`] of a view that is not contiguous,
/// and those that are listed), and then those of the others: [`Error::Mismatch`], [`Error::Timeout`], [`Error::Gone`], [`Error::Aborted`]. On a GPU the
/// latter may be found by a later call, by [`synchronize`](Communicator::synchronize) at last.
impl Communicator {
    /// Each element becomes its reduction over all ranks, in place.
    ///
    /// # Errors
    /// [`Error::Type`] of a reduction that the element type does not have.
    pub fn all_reduce<'a, T: Element, const R: usize>(
        &self,
        stream: &Stream,
        x: impl IntoViewMut<'a, T, R>,
        reduce: Reduce,
    ) -> Result<()> {
        self.group(stream, |group| group.all_reduce(x, reduce))
    }

    /// y becomes the reduction of x over all ranks. Both have the same number of elements.
    ///
    /// # Errors
    /// [`Error::Length`], and [`Error::Type`] of a reduction that the element type does not have.
    ///
    /// ```
    /// use triton_collective::{Communicator, Reduce, Result};
    ///
    /// # fn main() -> Result<()> {
    /// # let communicator = Communicator::alone(&triton::Device::cpu())?;
    /// let stream = communicator.device().stream()?;
    /// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let mut y = stream.tensor_zeros::<f32, _>([4])?;
    /// communicator.all_reduce_into(&stream, &x, &mut y, Reduce::Max)?;
    /// let error = communicator.all_reduce_into(&stream, &x, y.narrow_mut(0, 1..)?, Reduce::Max).unwrap_err().to_string();
    /// assert_eq!(error, "`all_reduce_into`: y has 3 elements, but 4 are expected: as many as x has, 4");
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_reduce_into<'a, T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        x: impl IntoView<'a, T, R>,
        y: impl IntoViewMut<'a, T, S>,
        reduce: Reduce,
    ) -> Result<()> {
        self.group(stream, |group| group.all_reduce_into(x, y, reduce))
    }

    /// y becomes the x of all ranks, one after the other in their order: it has world size times as many elements as x.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn all_gather<'a, T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        x: impl IntoView<'a, T, R>,
        y: impl IntoViewMut<'a, T, S>,
    ) -> Result<()> {
        self.group(stream, |group| group.all_gather(x, y))
    }

    /// y becomes one part of the reduction of x over all ranks: x has world size times as many elements as y, and rank r gets the r-th part.
    ///
    /// # Errors
    /// [`Error::Length`], and [`Error::Type`] of a reduction that the element type does not have.
    pub fn reduce_scatter<'a, T: Element, const R: usize, const S: usize>(
        &self,
        stream: &Stream,
        x: impl IntoView<'a, T, R>,
        y: impl IntoViewMut<'a, T, S>,
        reduce: Reduce,
    ) -> Result<()> {
        self.group(stream, |group| group.reduce_scatter(x, y, reduce))
    }

    /// x becomes that of the rank `root`.
    ///
    /// # Errors
    /// [`Error::Peer`] of a root that the world does not have.
    pub fn broadcast<'a, T: Element, const R: usize>(
        &self,
        stream: &Stream,
        x: impl IntoViewMut<'a, T, R>,
        root: usize,
    ) -> Result<()> {
        self.group(stream, |group| group.broadcast(x, root))
    }

    /// Sends x to a peer, which [receives](Communicator::receive) as many elements of the same type. Between two ranks, what is sent first is received
    /// first.
    ///
    /// On the CPU it does not wait for the receiver; on a GPU the stream does. Ranks that send to each other do so in a
    /// [group](Communicator::group).
    ///
    /// # Errors
    /// [`Error::Peer`] of a peer that the world does not have, or that is this rank.
    pub fn send<'a, T: Element, const R: usize>(
        &self,
        stream: &Stream,
        x: impl IntoView<'a, T, R>,
        peer: usize,
    ) -> Result<()> {
        self.group(stream, |group| group.send(x, peer))
    }

    /// x becomes what a peer [sends](Communicator::send).
    ///
    /// # Errors
    /// [`Error::Peer`] of a peer that the world does not have, or that is this rank.
    pub fn receive<'a, T: Element, const R: usize>(
        &self,
        stream: &Stream,
        x: impl IntoViewMut<'a, T, R>,
        peer: usize,
    ) -> Result<()> {
        self.group(stream, |group| group.receive(x, peer))
    }

    /// What is on the stream after it comes after all that is on the streams of all ranks before it.
    ///
    /// # Errors
    /// Those of all collectives.
    pub fn barrier(&self, stream: &Stream) -> Result<()> {
        self.group(stream, |group| {
            group.barrier();
            Ok(())
        })
    }

    /// Enqueues calls together: they may run at the same time, and wait for each other in no order. So ranks that send to each other, or around a ring, do
    /// not wait for ever, and a rank may send to itself. If `calls` fails, none is enqueued.
    ///
    /// # Errors
    /// Those of `calls`, and of the collectives in it. [`Error::Peer`] if this rank sends to itself more, or less, than it receives from itself.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_collective::{Communicator, Result};
    ///
    /// /// Passes a number to the next rank.
    /// fn turn(communicator: Communicator) -> Result<i32> {
    ///     let (rank, world) = (communicator.rank(), communicator.world());
    ///     let stream = communicator.device().stream()?;
    ///     let x = stream.tensor(&[rank as i32], [1])?;
    ///     let mut y = stream.tensor_zeros::<i32, _>([1])?;
    ///     communicator.group(&stream, |group| {
    ///         group.send(&x, (rank + 1) % world)?;
    ///         group.receive(&mut y, (rank + world - 1) % world)
    ///     })?;
    ///     Ok(stream.download(&y)?[0])
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let communicators = Communicator::all(&[Device::cpu(), Device::cpu(), Device::cpu()])?;
    /// let threads: Vec<_> = communicators.into_iter().map(|one| std::thread::spawn(|| turn(one))).collect();
    /// let numbers: Result<Vec<i32>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    /// assert_eq!(numbers?, [2, 0, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn group<'a>(&self, stream: &Stream, calls: impl FnOnce(&mut Group<'_, 'a>) -> Result<()>) -> Result<()> {
        let Inner { device, place, backend, .. } = &*self.0;
        if stream.device() != device {
            let (found, expected) = (stream.device().to_string(), device.to_string());
            return Err(Error::Device { what: "the stream", found, expected });
        }
        let mut group = Group::new(*place, device);
        calls(&mut group)?;
        let (operands, calls) = group.finish()?;
        if calls.is_empty() {
            return Ok(());
        }
        backend.enqueue(stream, &operands, calls)
    }

    /// Waits on the host until everything enqueued so far is done, at most for the time-out.
    ///
    /// # Errors
    /// A failure of that work, [`Error::Timeout`] among them; [`Error::Runtime`] if the stream is captured.
    pub fn synchronize(&self, stream: &Stream) -> Result<()> {
        self.0.backend.synchronize(stream)
    }

    /// The first failure, if there was one, or a rank that is known to have failed. Does not wait.
    ///
    /// # Errors
    /// That failure.
    pub fn check(&self) -> Result<()> {
        self.0.backend.check()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.backend.leave(!std::thread::panicking());
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator(rank {} of {} on {})", self.rank(), self.world(), self.device())
    }
}

/// Runs the same work on several devices of one process, each with its rank, on a thread of its own, and returns what each gave, in their order.
///
/// # Errors
/// Those of [`Communicator::all`], and the error of the rank that failed first; the others then end by it.
///
/// ```
/// use triton::Device;
/// use triton_collective::{Reduce, Result, on_all};
///
/// # fn main() -> Result<()> {
/// let sums = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> Result<Vec<f32>> {
///     let stream = communicator.device().stream()?;
///     let mut x = stream.tensor(&[1.0f32, communicator.rank() as f32], [2])?;
///     communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
///     Ok(stream.download(&x)?)
/// })?;
/// assert_eq!(sums, [[2.0, 1.0], [2.0, 1.0]]);
/// # Ok(())
/// # }
/// ```
pub fn on_all<R: Send, E: From<triton::Error> + Send>(
    devices: &[Device],
    work: impl Fn(&Communicator) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let communicators = Communicator::all(devices).map_err(triton::Error::from)?;
    let first = Mutex::new(None);
    let results: Vec<Option<R>> = std::thread::scope(|scope| {
        let rank = |communicator: Communicator| {
            scope.spawn(|| {
                let communicator = communicator;
                match work(&communicator) {
                    Ok(result) => Some(result),
                    Err(error) => {
                        first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        // Those that wait for this rank need not wait until the time is out.
                        communicator.fail();
                        None
                    }
                }
            })
        };
        let threads: Vec<_> = communicators.into_iter().map(rank).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(results.into_iter().flatten().collect()),
    }
}

/// `count` devices from one on: the same one of the CPU or the simulator, CUDA devices of consecutive numbers.
///
/// # Errors
/// [`triton::Error::NoDevice`] names the first that does not exist.
pub fn devices_from(first: &Device, count: usize) -> triton::Result<Vec<Device>> {
    let of = |i: usize| first.ordinal().map_or_else(|| Ok(first.clone()), |number| Device::cuda(number + i));
    (0..count).map(of).collect()
}
