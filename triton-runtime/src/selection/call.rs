//! What a selector is told of a call.

use super::Machine;
use super::saved::{self, Output, Saved};
use crate::args::LaunchArg;
use crate::error::{Error, Result};
use crate::kernel::Code;
use crate::stream::Stream;
use std::cell::Cell;
use std::fmt;
use triton_ir::hash::fnv1a;
use triton_ir::metadata::{Image, KernelMetadata, Text};

/// Chooses the member of a pool that a launch runs: a table, a model, or a tuner that measures.
pub trait Selector {
    /// The number of the member to run, one that [fits](Call::fits); `None` leaves it to the launch, which runs its [prior](Call::prior), else the first that
    /// does.
    ///
    /// It may [launch](Call::launch) members. What they change has to be as before when it returns: see [`Call::save`].
    ///
    /// # Errors
    /// What the launch shall report instead of running. One that cannot choose says `None`.
    fn select(&self, call: &mut Call<'_>) -> Result<Option<usize>>;

    /// Hears that the member which it chose could not be loaded or launched. It is then asked again, until every member that fits has failed.
    fn failed(&self, call: &Call<'_>, index: usize, error: &Error) {
        let _ = (call, index, error);
    }

    /// Why it chooses as it does, for people who ask; `None` if it cannot say.
    fn explain(&self, call: &Call<'_>) -> Option<Explained> {
        let _ = call;
        None
    }
}

/// What a selector says of a choice.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Explained {
    /// Why this member, in a few words: `it is the fastest that was measured on this machine`.
    pub reason: String,
    /// Microseconds that were measured of each member, by its number; infinite if it failed.
    pub measured: Vec<Option<f64>>,
}

impl Explained {
    /// A reason, and what was measured.
    pub fn new(reason: impl Into<String>, measured: Vec<Option<f64>>) -> Explained {
        Explained { reason: reason.into(), measured }
    }
}

impl<S: Selector + ?Sized> Selector for &S {
    fn select(&self, call: &mut Call<'_>) -> Result<Option<usize>> {
        (**self).select(call)
    }

    fn failed(&self, call: &Call<'_>, index: usize, error: &Error) {
        (**self).failed(call, index, error);
    }

    fn explain(&self, call: &Call<'_>) -> Option<Explained> {
        (**self).explain(call)
    }
}

/// A launch that waits for a choice: of the members of a pool, or of what a library chooses among that is not one pool, such as instances of several
/// kernels in several numbers of splits.
pub trait Pending {
    /// The pool's name, how many members it has, and a number that no other pool of the program has.
    fn pool(&self) -> (&str, usize, usize);

    /// The name of a member.
    fn name(&self, index: usize) -> Option<&dyn fmt::Display>;

    /// Kernel metadata of a member, and the number of its config; `None` of one that is not the instance of a kernel.
    fn metadata(&self, index: usize) -> Option<(&'static KernelMetadata, usize)> {
        let _ = index;
        None
    }

    /// What has to be the same of a member for a time that was measured to hold. By default a hash of its name and code.
    fn fingerprint(&self, index: usize) -> u64 {
        let (Some(name), Some((metadata, config))) = (self.name(index), self.metadata(index)) else { return 0 };
        fingerprint(name, metadata, config)
    }

    /// Whether it may run: what was asked of it, and whether the device of the stream has code.
    fn fits(&self, index: usize) -> bool;

    /// The member that the library chooses by itself, if it does: it runs where no selector has an answer, instead of the first that fits.
    fn prior(&self) -> Option<usize> {
        None
    }

    /// Tells the arguments of a launch: at least those that it changes.
    fn arguments(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>]));

    /// Enqueues a member.
    ///
    /// # Errors
    /// Those of a launch.
    fn run(&mut self, index: usize) -> Result<()>;

    /// The code that it would run, to be loaded ahead; `None` if that is not known, or the stream is not of a GPU.
    ///
    /// # Errors
    /// Those of a launch that are found out without loading.
    fn code(&mut self, index: usize) -> Result<Option<Code>> {
        let _ = index;
        Ok(None)
    }

    /// Microseconds that it is estimated to take on a device; `None` if there is no estimate.
    ///
    /// # Errors
    /// Those of [`Call::estimate`].
    fn estimate(&mut self, index: usize, machine: &Machine) -> Result<Option<f64>> {
        let _ = (index, machine);
        Ok(None)
    }
}

/// A launch whose member is to be chosen. Members are numbered from 0, as in [`Pool::members`](crate::Pool::members).
pub struct Call<'c> {
    key: &'c [i64],
    stream: &'c Stream,
    pending: &'c mut (dyn Pending + 'c),
    saved: Option<Saved>,
    /// The member that was last found to fit: a selector that asks spares the launch from asking again.
    fitting: Cell<Option<usize>>,
}

impl<'c> Call<'c> {
    pub(super) fn new(key: &'c [i64], stream: &'c Stream, pending: &'c mut (dyn Pending + 'c)) -> Call<'c> {
        Call { key, stream, pending, saved: None, fitting: Cell::new(None) }
    }

    /// The pool's name: the kernel with the arguments that are not chosen, such as `matmul::<bf16>`.
    pub fn pool(&self) -> &str {
        self.pending.pool().0
    }

    /// A number that no other pool of this program has.
    #[inline]
    pub fn pool_id(&self) -> usize {
        self.pending.pool().2
    }

    /// How many members there are: at least one.
    pub fn members(&self) -> usize {
        self.pending.pool().1
    }

    /// What describes the call: see [`Selecting::key`](super::Selecting::key).
    #[inline]
    pub fn key(&self) -> &[i64] {
        self.key
    }

    /// The stream of the launch.
    #[inline]
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// The name of a member: `BM=128 BN=64 num_warps=8 num_stages=3`. Empty if there is no such member.
    pub fn name(&self, index: usize) -> String {
        self.pending.name(index).map(ToString::to_string).unwrap_or_default()
    }

    /// Kernel metadata of a member, and the number of its config.
    pub fn metadata(&self, index: usize) -> Option<(&'static KernelMetadata, usize)> {
        self.pending.metadata(index)
    }

    /// A hash of a member: its name, its code of every target, and what its launch has to know. It changes with the kernel, its options and the
    /// compiler; a time that was measured holds as long as it does not.
    ///
    /// It reads all of the member's code: keep it.
    pub fn fingerprint(&self, index: usize) -> u64 {
        self.pending.fingerprint(index)
    }

    /// Whether a member may run: it is one of those that the caller allows, and the device of the stream has code of it.
    #[inline]
    pub fn fits(&self, index: usize) -> bool {
        let fits = self.fitting.get() == Some(index) || self.pending.fits(index);
        if fits {
            self.fitting.set(Some(index));
        }
        fits
    }

    /// The member that the library which launches chooses by itself; `None` if it leaves that to selectors, as a pool does.
    pub fn prior(&self) -> Option<usize> {
        self.pending.prior()
    }

    /// Launches a member with the arguments of the call. All checks of a launch are made.
    ///
    /// # Errors
    /// Those of the launch.
    pub fn launch(&mut self, index: usize) -> Result<()> {
        self.pending.run(index)
    }

    /// The code that such a launch would run, to be loaded ahead of it; `None` if the stream is not of a GPU. The grid is asked for.
    ///
    /// # Errors
    /// Those of the launch that are found out without loading.
    pub fn code(&mut self, index: usize) -> Result<Option<Code>> {
        self.pending.code(index)
    }

    /// What such a launch is estimated to take on a device, in microseconds: nothing is launched, and the device need not be there. Of a member of a
    /// pool the compiler says it, in some milliseconds, and the grid is asked for: `None` in a program without the feature `compiler`. A library
    /// that chooses among its own kernels may have estimates without it.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::Argument`], [`Error::MultipleOf`], [`Error::Grid`], [`Error::Ir`].
    pub fn estimate(&mut self, index: usize, machine: &Machine) -> Result<Option<f64>> {
        self.pending.estimate(index, machine)
    }

    /// How many bytes [`Call::save`] copies; `None` if it cannot: an argument is a mutable pointer of unknown length, or a view in thousands
    /// of pieces.
    pub fn saved_bytes(&mut self) -> Option<usize> {
        let mut bytes = None;
        self.pending.arguments(&mut |args| bytes = saved::bytes(args));
        bytes
    }

    /// Copies all that the mutable arguments name, in the order of the stream, for [`Call::restore`]: a view's elements, of a pointer the rest of its
    /// buffer. `false` if it cannot: see [`Call::saved_bytes`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Capture`], or a fault of earlier work.
    pub fn save(&mut self) -> Result<bool> {
        let (mut saved, stream) = (Ok(None), self.stream);
        self.pending.arguments(&mut |args| saved = Saved::of(args, stream));
        self.saved = saved?;
        Ok(self.saved.is_some())
    }

    /// Enqueues writing everything back that was saved; nothing if nothing was.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub fn restore(&mut self) -> Result<()> {
        self.saved.as_ref().map_or(Ok(()), |saved| saved.restore(self.stream))
    }

    /// What the mutable arguments hold once earlier work is done, copied on the device in the order of the stream.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Capture`], or a fault of earlier work.
    pub fn outputs(&mut self) -> Result<Vec<Output>> {
        let (mut outputs, stream) = (Ok(Vec::new()), self.stream);
        self.pending.arguments(&mut |args| outputs = saved::outputs(args, stream));
        outputs
    }
}

/// A hash of a member's name, its code of every target, and what its launch has to know.
fn fingerprint(name: &dyn fmt::Display, metadata: &KernelMetadata, config: usize) -> u64 {
    let (images, ir) = match metadata.configs.get(config) {
        Some(config) => (&config.images[..], hash(&config.ir)),
        None => (&[][..], 0),
    };
    let words = images.iter().flat_map(|image: &Image| {
        let shape = [image.threads, image.cluster[0], image.shared_bytes, image.specialization as u32];
        [hash(&image.ptx)].into_iter().chain(shape.map(u64::from))
    });
    // A kernel without code for a GPU is its IR.
    let words = words.chain(images.is_empty().then_some(ir)).flat_map(u64::to_le_bytes);
    fnv1a(name.to_string().into_bytes().into_iter().chain(words))
}

/// The hash of a text as it is embedded: inflating it would cost more than it tells.
fn hash(text: &Text) -> u64 {
    if let Text::Deflated { bytes, .. } = text {
        return fnv1a(bytes.iter().copied());
    }
    fnv1a(text.get().bytes())
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({}, {:?}, {:?})", self.pool(), self.key, self.stream)
    }
}
