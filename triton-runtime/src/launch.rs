//! Launching: all checks on the host, then one call of the driver.

use crate::allocation::{Allocation, Ordered};
use crate::args::{LaunchArg, Owner};
use crate::capture::{Recorder, Step};
use crate::cpu;
use crate::device::Device;
use crate::driver::context::Context;
use crate::driver::prepared::{Kept, Parts};
use crate::driver::stream::RawStream;
use crate::error::{Error, Result, describe};
use crate::foreign::Foreign;
use crate::gpu::Gpu;
use crate::grid::Grid;
use crate::kernel::{Code, Holds, Kernel, Wait};
use crate::load::{LoadInfo, Loaded};
use crate::reach::Reach;
use crate::sim::SimStream;
use crate::stream::{Stream, StreamBackend};
use crate::{tensor_map, trace};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use triton_ir::interval;
use triton_ir::ir::Function;
use triton_ir::metadata::{Arg, ComputeCapability, Image, KernelMetadata, ParamMetadata, ParamType, Specialization};
use triton_ir::types::DType;

#[cfg(feature = "compiler")]
mod explain;
mod traced;

pub mod mode {
    //! Who is responsible for a kernel's accesses: the types that a [`Launch`](super::Launch) is marked with.

    /// A launch that cannot break memory safety: the kernel takes views and scalars. A view's elements were all checked
    /// to be in its buffer when it was made, the kernel keeps to the view's extents, and the launch orders it with the
    /// buffer's other uses.
    #[derive(Debug)]
    pub enum Safe {}

    /// A launch whose caller guarantees the kernel's accesses: it takes raw pointers.
    #[derive(Debug)]
    pub enum Unsafe {}
}

use mode::{Safe, Unsafe};

/// A kernel with its `N` arguments, ready to be launched. Calling the kernel returns it.
#[must_use = "a launch does nothing until `.launch(..)`"]
pub struct Launch<'a, S, const N: usize> {
    kernel: &'static Kernel,
    pub(crate) args: [LaunchArg<'a>; N],
    config: usize,
    mode: PhantomData<S>,
}

impl<'a, S, const N: usize> Launch<'a, S, N> {
    /// Arguments in the order of the parameters. For generated code, and for other front ends.
    ///
    /// # Safety
    /// `S` is [`Unsafe`] if a parameter of the kernel is a raw pointer.
    #[doc(hidden)]
    #[allow(unsafe_code, reason = "the caller must vouch for the mode")]
    pub unsafe fn new(kernel: &'static Kernel, args: [LaunchArg<'a>; N]) -> Launch<'a, S, N> {
        Launch::of(kernel, args, 0)
    }

    /// The same for a config, of a mode that the caller vouches for.
    pub(crate) fn of(kernel: &'static Kernel, args: [LaunchArg<'a>; N], config: usize) -> Launch<'a, S, N> {
        Launch { kernel, args, config, mode: PhantomData }
    }

    /// Takes another instance with parameters of the same types.
    #[inline]
    pub(crate) fn set(&mut self, kernel: &'static Kernel, config: usize) {
        (self.kernel, self.config) = (kernel, config);
    }

    /// Chooses among the instance's configs, numbered from 0 (the default) in the order of `configs = [..]`. A number that does
    /// not exist is an error of the launch.
    pub fn config(self, index: usize) -> Launch<'a, S, N> {
        Launch { config: index, ..self }
    }

    /// Kernel metadata: the parameters, the IR and the code of this instance.
    pub fn metadata(&self) -> &'static KernelMetadata {
        self.kernel.metadata()
    }

    /// Loads the kernel's code for a device ahead of the first launch, which is then as fast as the others, and returns
    /// its resource usage: the generic code first, then the more specialized. Empty for the CPU and the simulator.
    ///
    /// All images of the chosen config are loaded, whatever the arguments are; nothing is launched.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::NoImage`], [`Error::DriverTooOld`], [`Error::Jit`], [`Error::SharedMemory`],
    /// [`Error::Ir`], or what driver or simulator say.
    pub fn load(&self, device: &Device) -> Result<Vec<LoadInfo>> {
        self.kernel.load(device, self.config)
    }

    /// The values that the code receives, in the order of its parameters: for other bindings. A view is several of them
    /// ([`ParamType::words`]): its address, its extents, its strides.
    pub fn args(&self) -> impl Iterator<Item = Arg> {
        self.args.iter().flat_map(LaunchArg::values)
    }

    /// Checks the arguments and picks the code for a device of this compute capability, and for a driver of this version (as
    /// `cuDriverGetVersion` counts) if there is one: for other bindings, which check buffers by themselves. Code with
    /// assertions takes one argument more, the last ([`Image::has_assert_buffer`]); 0 is one that serves.
    ///
    /// Launches by words pass no tensor map and have no grid yet, so that an image with [tensor maps](Image::tensor_maps), or one that
    /// [asks for more](Image::assumes_dividends) than the arguments, is never given: it is the next one that this device runs. One of [clusters](Image::cluster) is given only if there is no other, as not every binding launches them.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::Argument`], [`Error::MultipleOf`], [`Error::NoImage`], [`Error::DriverTooOld`].
    pub fn image(&self, capability: ComputeCapability, driver: Option<u32>) -> Result<&'static Image> {
        let holds = self.check_args()?;
        let gpu = Gpu::of(capability, driver);
        let chosen = |takes: fn(&Image) -> bool| {
            let takes = |image: &Image| takes(image) && image.tensor_maps.is_empty() && !image.assumes_dividends;
            self.kernel.select(self.config, &gpu, holds, takes).map(|(_, image)| image)
        };
        chosen(|image| image.cluster == [1; 3]).or_else(|_| chosen(|_| true))
    }

    /// Checks types and multiples; returns the specialization that holds.
    #[inline]
    fn check_args(&self) -> Result<Holds> {
        let params = &self.metadata().params;
        if params.len() != N {
            return Err(self.wrong_argument(params.len().min(N)));
        }
        let mut specialization = Specialization::Divisible16;
        for (i, (arg, param)) in self.args.iter().zip(params.iter()).enumerate() {
            if arg.ty != param.ty {
                return Err(self.wrong_argument(i));
            }
            let bits = arg.bits();
            if param.multiple_of > 1 && !keeps(param, bits) {
                return Err(self.not_a_multiple(param, bits));
            }
            if param.specialize {
                specialization = specialization.min(arg.specialization(param.promised));
            }
        }
        match specialization == Specialization::Generic {
            true => Ok(self.in_other_orders()),
            false => Ok(Holds { specialization, order: 0 }),
        }
    }

    /// What holds of arguments of which nothing does in the first order: in the one in which most does.
    #[cold]
    fn in_other_orders(&self) -> Holds {
        let params = &self.metadata().params;
        let orders = params.iter().map(|param| param.orders.len() as u8).max().unwrap_or(0);
        let in_order = |order: u8| {
            let each = self.args.iter().zip(params.iter()).filter(|(_, param)| param.specialize);
            let each = each.map(|(arg, param)| arg.specialization(param.promised.in_order(&param.orders, order)));
            Holds { specialization: each.min().unwrap_or(Specialization::Generic), order }
        };
        let most = (1..=orders).map(in_order).max_by_key(|holds| holds.specialization);
        most.filter(|holds| holds.specialization > Specialization::Generic).unwrap_or_default()
    }

    #[cold]
    fn wrong_argument(&self, index: usize) -> Error {
        let or = |ty: Option<ParamType>, nothing: &str| ty.map_or(nothing.to_string(), describe);
        Error::Argument {
            kernel: self.metadata().instance.to_string(),
            index,
            found: or(self.args.get(index).map(|a| a.ty), "missing"),
            expected: or(self.metadata().params.get(index).map(|p| p.ty), "no argument"),
        }
    }

    #[cold]
    fn not_a_multiple(&self, param: &ParamMetadata, bits: u64) -> Error {
        let value = match param.ty.scalar() {
            None => format!("{bits:#x}"),
            Some(t) => signed(t, bits).map_or(bits.to_string(), |v| v.to_string()),
        };
        Error::MultipleOf {
            kernel: self.metadata().instance.to_string(),
            param: param.name.to_string(),
            multiple_of: param.multiple_of,
            value,
        }
    }

    /// The name of an argument, for messages.
    #[cold]
    fn name(&self, index: usize) -> String {
        let name = self.metadata().params.get(index).map_or("?", |p| &p.name);
        format!("argument `{name}` of `{}`", self.metadata().instance)
    }

    /// All checks, and the launch.
    #[inline]
    pub(crate) fn enqueue(&self, stream: &Stream, grid: Grid) -> Result<()> {
        if self.again(stream, grid)? { Ok(()) } else { self.first(stream, grid) }
    }

    /// Makes the launch as it was made before, if it is kept: then all checks held, but for the devices of buffers.
    #[inline]
    pub(crate) fn again(&self, stream: &Stream, grid: Grid) -> Result<bool> {
        let (StreamBackend::Cuda(raw), Some(programs)) = (stream.backend(), grid.fitting()) else { return Ok(false) };
        let Some(prepared) = self.kernel.prepared(raw.context, self.config) else { return Ok(false) };
        let Some(launch) = prepared.find(self.hash(programs), programs, self.values()) else { return Ok(false) };
        let _ordered = if self.is_in_order(stream) { None } else { self.order(stream)? };
        launch.launch(raw)?;
        Ok(true)
    }

    /// Whether there is nothing to check of the owners of memory and nothing to order: nearly always, which one look at each buffer says.
    #[inline]
    fn is_in_order(&self, stream: &Stream) -> bool {
        let is_arg = |arg: &LaunchArg<'_>| match arg.owner {
            Owner::Buffer(allocation) => allocation.is_in_order(stream, arg.ty.is_mutable()),
            Owner::Foreign(_) => false,
            Owner::None => true,
        };
        stream.recorder().is_none() && self.args.iter().all(is_arg)
    }

    /// Checks the devices of buffers, and orders the launch with their other uses.
    #[inline(never)]
    fn order(&self, stream: &Stream) -> Result<Ordered> {
        self.check_devices(stream)?;
        Allocation::order(stream, self.uses())
    }

    /// The arguments, each with its type.
    #[inline]
    fn values(&self) -> impl Iterator<Item = (ParamType, &[u64])> + Clone {
        self.args.iter().map(|arg| (arg.ty, arg.words()))
    }

    /// Of all words and the grid, so that launches that differ in an extent alone, such as of a cache that grows, do not take each other's place;
    /// not 0. Each argument has a hash of its own, which the core computes beside those of the others: one word is mixed after the other, in 5 cycles each.
    #[inline]
    fn hash(&self, programs: [u32; 3]) -> u64 {
        let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let mut mixed = programs.iter().fold(0, |hash, &size| mix(hash, size.into()));
        for arg in &self.args {
            mixed = mix(mixed, arg.words().iter().fold(0, |hash, &word| mix(hash, word)));
        }
        // The low bits choose the place.
        (mixed ^ mixed >> 32) | 1 << 63
    }

    /// Rejects buffers of another device.
    #[inline]
    fn check_devices(&self, stream: &Stream) -> Result<()> {
        self.args.iter().enumerate().try_for_each(|(i, arg)| match arg.owner {
            Owner::Buffer(allocation) => allocation.check(stream, || self.name(i)),
            Owner::Foreign(owner) => self.check_foreign(stream, i, owner),
            Owner::None => Ok(()),
        })
    }

    /// The same of memory of another owner, away from the code of other launches.
    #[cold]
    fn check_foreign(&self, stream: &Stream, index: usize, owner: Foreign<'_>) -> Result<()> {
        owner.check(stream.device(), || self.name(index))
    }

    /// The same with all checks.
    #[inline(never)]
    fn first(&self, stream: &Stream, grid: Grid) -> Result<()> {
        self.kernel.config(self.config)?;
        let holds = self.check_args()?;
        self.check_devices(stream)?;
        let dims = self.dims(grid)?;
        if trace::is_on() {
            return self.traced(stream, holds, dims);
        }
        self.on_device(stream, holds, dims)
    }

    /// After all checks.
    fn on_device(&self, stream: &Stream, holds: Holds, dims: [u32; 3]) -> Result<()> {
        match stream.backend() {
            StreamBackend::Cuda(raw) => self.on_cuda(stream, raw, holds, dims),
            StreamBackend::Sim(queue) => self.on_sim(stream, queue, holds, dims),
            StreamBackend::Cpu => self.on_cpu(stream, dims),
        }
    }

    /// The buffers of the arguments, and whether they are written.
    #[inline]
    fn uses(&self) -> impl Iterator<Item = (&'a Arc<Allocation>, bool)> + Clone {
        self.args.iter().filter_map(|arg| Some((arg.allocation()?, arg.ty.is_mutable())))
    }

    /// Takes down work on a device that does it in the call.
    #[cold]
    fn record(&self, stream: &Stream, recorder: &Recorder<Stream>, step: Step<Stream>) -> Result<()> {
        let _ordered = Allocation::order(stream, self.uses())?;
        recorder.add_step(step)
    }

    /// Not inlined: the driver evicts the code of a launch on a GPU from the core's caches each time, so that less is to be fetched again.
    #[inline(never)]
    fn on_cpu(&self, stream: &Stream, dims: [u32; 3]) -> Result<()> {
        let function = self.kernel.function(self.config)?;
        if dims.contains(&0) {
            return Ok(());
        }
        let mut values = [[Arg::Scalar(0); ParamType::MAX_WORDS]; N];
        let mut count = 0;
        for (value, arg) in values.as_flattened_mut().iter_mut().zip(self.args()) {
            *value = arg;
            count += 1;
        }
        let mut foreign = [Reach::default(); N];
        for (reach, arg) in foreign.iter_mut().zip(&self.args) {
            *reach = arg.reach().unwrap_or_default();
        }
        // Most launches have none, and then the memory of the device is taken as it is.
        let others = if foreign.iter().all(|reach| reach.bytes == 0) { 0 } else { N };
        let run = move || cpu::run(function, &values.as_flattened()[..count], &foreign[..others], dims);
        match stream.recorder() {
            None => run(),
            // A graph may outlive the slice.
            Some(_) if self.args.iter().filter_map(LaunchArg::foreign).any(Foreign::is_borrowed) => {
                stream.refuse_capture("a view of a slice of the host")
            }
            Some(recorder) => self.record(stream, recorder, Step::alone(move |_| run())),
        }
    }

    /// Whether there is code for these arguments and this grid on the device of a stream.
    #[inline]
    pub(crate) fn has_image(&self, stream: &Stream, grid: Grid) -> Result<bool> {
        let Some(gpu) = stream.gpu() else { return Ok(true) };
        let (holds, dims) = (self.check_args()?, self.dims(grid)?);
        let takes = |image: &Image| self.takes(image, dims, &gpu);
        Ok(self.kernel.find(self.config, &gpu, holds, takes)?.is_some())
    }

    /// Whether a launch over a grid of programs may take an image, beside what its specialization asks of each argument.
    #[inline]
    fn takes(&self, image: &Image, dims: [u32; 3], gpu: &Gpu) -> bool {
        image.takes(dims, gpu.multiprocessors) && self.has_maps(image) && self.keeps_dividends(image, dims)
    }

    /// Whether no dividend is negative that an image takes for granted not to be.
    #[inline]
    fn keeps_dividends(&self, image: &Image, dims: [u32; 3]) -> bool {
        let keeps = |function: &Function| {
            let args: Vec<Arg> = self.args().collect();
            interval::keeps_dividends(function, interval::Launch { args: &args, programs: dims })
        };
        !image.assumes_dividends || self.kernel.function(self.config).is_ok_and(keeps)
    }

    /// Whether the tensor maps of an image can describe the views.
    #[inline]
    fn has_maps(&self, image: &Image) -> bool {
        image.tensor_maps.is_empty()
            || tensor_map::can_take(image, &self.args.each_ref().map(|arg| (arg.ty, arg.words())))
    }

    /// The code that it would run over a grid, which can be loaded ahead by any thread; `None` if the stream is not of a GPU.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::Argument`], [`Error::MultipleOf`], [`Error::NoImage`], [`Error::DriverTooOld`], [`Error::Grid`].
    pub fn code(&self, stream: &Stream, grid: impl Into<Grid>) -> Result<Option<Code>> {
        let Some(raw) = stream.raw() else { return Ok(None) };
        let (context, holds, dims) = (raw.context, self.check_args()?, self.dims(grid.into())?);
        let (index, _) = self.selected(&context.gpu, holds, dims)?;
        Ok(Some(Code { kernel: self.kernel, config: self.config, index, context }))
    }

    /// The image for a device and a grid of programs, with its number in the config.
    #[inline]
    fn selected(&self, gpu: &Gpu, holds: Holds, dims: [u32; 3]) -> Result<(usize, &'static Image)> {
        self.kernel.select(self.config, gpu, holds, |image| self.takes(image, dims, gpu))
    }

    /// The sizes of a grid.
    #[inline]
    fn dims(&self, grid: Grid) -> Result<[u32; 3]> {
        grid.dims_of(&self.metadata().instance)
    }

    /// The blocks that run a grid of programs.
    #[inline]
    fn blocks(&self, image: &Image, programs: [u32; 3], resident: u32) -> Result<[u32; 3]> {
        // The driver knows the limits of the grid itself.
        image.blocks(programs, resident).ok_or_else(|| self.too_many(image, programs))
    }

    /// More blocks than a grid can have.
    #[cold]
    fn too_many(&self, image: &Image, programs: [u32; 3]) -> Error {
        let of_cluster = image.cluster[0].max(1);
        let expected = format!("at most {}: a cluster of {of_cluster} blocks runs each", i32::MAX as u32 / of_cluster);
        Error::Grid { kernel: self.metadata().instance.to_string(), axis: 'x', found: i64::from(programs[0]), expected }
    }

    /// The code of single blocks, on a device that does not run clusters as large as an image's: more than 8 blocks it need not.
    #[cold]
    fn without_clusters(
        &self,
        context: &'static Context,
        holds: Holds,
        refused: &Image,
        wait: Wait,
    ) -> Result<(&'static Loaded, &'static Image)> {
        let takes = |image: &Image| image.cluster == [1; 3] && image.tensor_maps.is_empty() && !image.assumes_dividends;
        let chosen = self.kernel.select(self.config, &context.gpu, holds, takes);
        let (index, image) = chosen.map_err(|_| Error::Cluster {
            kernel: self.metadata().instance.to_string(),
            blocks: refused.cluster.iter().product(),
            device: context.to_string(),
        })?;
        Ok((self.kernel.loaded(context, self.config, index, wait)?, image))
    }

    /// Not inlined, as [`Launch::on_cpu`].
    #[inline(never)]
    fn on_sim(&self, stream: &Stream, queue: &SimStream, holds: Holds, dims: [u32; 3]) -> Result<()> {
        let gpu = queue.gpu();
        let (_, image) = self.selected(&gpu, holds, dims)?;
        let blocks = self.blocks(image, dims, gpu.multiprocessors)?;
        if dims.contains(&0) {
            return Ok(());
        }
        let programs = image.programs.words(dims);
        let Some(recorder) = stream.recorder() else {
            return queue.run(
                self.metadata(),
                self.config,
                image,
                blocks,
                self.args.each_ref().map(LaunchArg::words),
                programs,
            );
        };
        let (kernel, config) = (self.metadata(), self.config);
        let values = self.args.each_ref().map(|arg| arg.words().to_vec());
        let run = move |stream: &Stream| match stream.backend() {
            StreamBackend::Sim(queue) => {
                queue.run(kernel, config, image, blocks, values.each_ref().map(Vec::as_slice), programs)
            }
            // A graph is launched on streams of its device alone.
            StreamBackend::Cpu | StreamBackend::Cuda(_) => Ok(()),
        };
        self.record(stream, recorder, Step::alone(run))
    }

    #[inline]
    fn on_cuda(&self, stream: &Stream, raw: &RawStream, holds: Holds, dims: [u32; 3]) -> Result<()> {
        let context = raw.context;
        let (index, mut image) = self.selected(&context.gpu, holds, dims)?;
        if dims.contains(&0) {
            return Ok(());
        }
        // What a graph launches is what was captured.
        let wait = if stream.recorder().is_some() { Wait::Settled } else { Wait::No };
        let mut loaded = self.kernel.loaded(context, self.config, index, wait)?;
        if loaded.code.resident == 0 {
            (loaded, image) = self.without_clusters(context, holds, image, wait)?;
        }
        let blocks = self.blocks(image, dims, loaded.code.resident)?;
        let _ordered = Allocation::order(stream, self.uses())?;
        let values = self.args.each_ref().map(LaunchArg::words);
        let programs = image.programs.words(dims);
        let slot = loaded.assertion_slot.as_ref();
        loaded.code.function.launch(raw, blocks, &values, &loaded.maps, programs.as_ref(), slot)?;
        // What is traced comes this way each time.
        let is_kept = loaded.is_settled && !trace::is_on();
        if let Some(prepared) = self.kernel.prepared(context, self.config).filter(|_| is_kept) {
            prepared.note(self.hash(dims), || {
                let more: Vec<u64> = programs.iter().flatten().chain(slot).copied().collect();
                let (function, maps) = (&loaded.code.function, &loaded.maps);
                let parts = Parts { function, maps, programs: dims, blocks, more: &more };
                Kept::new(context.driver, self.values(), &parts)
            });
        }
        Ok(())
    }
}

/// Whether a value is the multiple that the parameter requires.
#[inline]
fn keeps(param: &ParamMetadata, bits: u64) -> bool {
    match param.ty.scalar().and_then(|t| signed(t, bits)) {
        Some(value) => value % i64::from(param.multiple_of) == 0,
        None => bits.is_multiple_of(u64::from(param.multiple_of)),
    }
}

/// The value of a signed integer's bits.
fn signed(ty: DType, bits: u64) -> Option<i64> {
    let unused = 64 - ty.bits();
    ty.is_signed().then(|| (bits << unused) as i64 >> unused)
}

impl<const N: usize> Launch<'_, Safe, N> {
    /// Enqueues the kernel over a grid of programs. On the CPU device and the simulator it has run when this returns. A grid
    /// with a zero runs nothing.
    ///
    /// # Errors
    /// Before anything is enqueued: [`Error::Config`], [`Error::Argument`], [`Error::MultipleOf`], [`Error::WrongDevice`],
    /// [`Error::Grid`], [`Error::NoImage`], [`Error::DriverTooOld`], [`Error::SharedMemory`], [`Error::Jit`],
    /// [`Error::Ir`]. Otherwise [`Error::Program`], `Error::Simulation` or [`Error::DeviceAssert`] on the CPU and the
    /// simulator, or a fault or a failed assertion of earlier work.
    #[inline]
    pub fn launch(self, stream: &Stream, grid: impl Into<Grid>) -> Result<()> {
        self.enqueue(stream, grid.into())
    }
}

impl<const N: usize> Launch<'_, Unsafe, N> {
    /// Enqueues the kernel over a grid of programs. On the CPU device and the simulator it has run when this returns. A grid
    /// with a zero runs nothing.
    ///
    /// # Errors
    /// As of the safe launch: before anything is enqueued for what can be checked on the host; on the CPU
    /// [`Error::Program`] and on the simulator `Error::Simulation` for every access outside the buffers.
    ///
    /// # Safety
    /// Every program of the grid accesses, through its pointers, only elements of the buffers (or of a
    /// [`DevicePtr`](crate::DevicePtr)'s elements) that were passed, and programs do not race on them; atomic
    /// updates do not race with each other.
    ///
    /// If the [stream is captured](Stream::is_captured), all of this holds for every replay of its graph, whatever the buffers then hold.
    #[inline]
    #[allow(unsafe_code, reason = "the caller must vouch for the kernel's accesses")]
    pub unsafe fn launch(self, stream: &Stream, grid: impl Into<Grid>) -> Result<()> {
        self.enqueue(stream, grid.into())
    }
}

impl<S, const N: usize> fmt::Debug for Launch<'_, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launch({}, config {}, {:?})", self.metadata().instance, self.config, self.args)
    }
}
