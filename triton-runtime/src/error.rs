//! The one error type: what was found, what was expected, and how to fix it.

mod from;
mod make;
mod text;

use crate::other::OtherError;
pub(crate) use text::{describe, few};
use text::{devices, elements, left, location, of_kernel, reshaped, version};
pub use triton_ir::interp::ProgramFault;
use triton_ir::metadata::ComputeCapability;
use triton_ir::types::DType;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong on a device or before a launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver on this machine, or it cannot be used.
    #[error("no CUDA driver: {reason}; install the NVIDIA driver, or use Device::cpu()")]
    #[non_exhaustive]
    NoDriver {
        /// Why, as the end of a sentence.
        reason: String,
    },

    /// The driver is older than what the code needs.
    #[error(
        "the CUDA driver is too old: it supports CUDA {}, but CUDA {} or newer is needed; update the NVIDIA driver",
        version(*.found),
        version(*.needed)
    )]
    #[non_exhaustive]
    DriverTooOld {
        /// The driver's version, as `cuDriverGetVersion` counts: 1000·major + 10·minor.
        found: u32,
        /// The lowest supported version, counted likewise.
        needed: u32,
    },

    /// No member of a pool is as asked.
    #[error("the pool `{pool}` has no member {asked}; its members: {}", few(.members))]
    #[non_exhaustive]
    Choice {
        /// The pool's name.
        pool: String,
        /// What was asked.
        asked: String,
        /// The names of its members.
        members: Vec<String>,
    },

    /// A selector tried the members of a pool, and none could be launched.
    #[error("every member of the pool `{pool}` that fits the call failed: {}; launch one by `.named(..)` for its own error", few(.failures))]
    #[non_exhaustive]
    Selection {
        /// The pool's name.
        pool: String,
        /// Of each member its name, and why it failed.
        failures: Vec<String>,
    },

    /// No CUDA device has this number.
    #[error("there is no CUDA device {index}: {}", devices(*.count))]
    #[non_exhaustive]
    NoDevice {
        /// The number asked for.
        index: usize,
        /// How many devices the driver has.
        count: usize,
    },

    /// No device has this name.
    #[error("there is no device `{found}`; write `best`, `cpu`, `cuda`, `cuda:1`, or `sim` with the feature `sim`")]
    #[non_exhaustive]
    DeviceName {
        /// What was written.
        found: String,
    },

    /// A buffer or event of one device was used on another.
    #[error(
        "{what} is on {found}, but the stream is on {expected}; copy it through the host, or use a stream of its device"
    )]
    #[non_exhaustive]
    WrongDevice {
        /// Which thing, in words: "argument `x`".
        what: String,
        /// The device it is on.
        found: String,
        /// The device of the stream.
        expected: String,
    },

    /// Two lengths differ that must be equal.
    #[error("the source has {source_len} elements, but the destination has {len}; copy between slices of equal length")]
    #[non_exhaustive]
    Length {
        /// Elements of the source.
        source_len: usize,
        /// Elements of the destination.
        len: usize,
    },

    /// A slice reaches outside its buffer.
    #[error("the range {start}..{end} does not lie in a buffer of {len} elements")]
    #[non_exhaustive]
    OutOfRange {
        /// First element.
        start: usize,
        /// One past the last element.
        end: usize,
        /// Elements of the buffer.
        len: usize,
    },

    /// A view reaches outside its buffer, or outside the slice it was made of.
    #[error(
        "a view {shape:?} with strides {strides:?} from element {offset} on needs {needed} elements, but there are {len}; \
         use smaller extents or strides, or a larger buffer"
    )]
    #[non_exhaustive]
    View {
        /// The extents.
        shape: Vec<usize>,
        /// The strides in elements.
        strides: Vec<isize>,
        /// Elements before the view's first.
        offset: usize,
        /// How many elements the buffer must have; `u64::MAX` also stands for more.
        needed: u64,
        /// How many it has.
        len: usize,
    },

    /// An extent of a view that does not fit the `i32` of kernels.
    #[error("axis {axis} of the view has {found} elements, but an extent is at most 2147483647; use several views")]
    #[non_exhaustive]
    Extent {
        /// Which axis, from 0.
        axis: usize,
        /// The extent.
        found: usize,
    },

    /// A negative stride of a view.
    #[error("the stride of axis {axis} of the view is {found}, but strides are not negative; order the axis forwards")]
    #[non_exhaustive]
    Stride {
        /// Which axis, from 0.
        axis: usize,
        /// The stride in elements.
        found: isize,
    },

    /// An axis that a view does not have.
    #[error("the view has no axis {found}: it has {rank}, numbered from 0")]
    #[non_exhaustive]
    Axis {
        /// The axis asked for, or the one after it if two are needed.
        found: usize,
        /// How many there are.
        rank: usize,
    },

    /// What is not an order of the axes of a view.
    #[error("{found:?} is not an order of the axes of the view; name each of 0 to {} once", .found.len().saturating_sub(1))]
    #[non_exhaustive]
    Permutation {
        /// The axes that were named.
        found: Vec<usize>,
    },

    /// A range, or an index, outside an axis of a view.
    #[error("the range {start}..{end} does not lie in axis {axis} of the view, which has {extent} elements")]
    #[non_exhaustive]
    AxisRange {
        /// Which axis, from 0.
        axis: usize,
        /// First index.
        start: usize,
        /// One past the last index.
        end: usize,
        /// The extent of the axis.
        extent: usize,
    },

    /// Two extents whose product is not that of the axis that they divide.
    #[error(
        "axis {axis} of the view has {extent} elements, and does not split into {} times {}; the product of \
         the two must be {extent}",
        .found[0],
        .found[1]
    )]
    #[non_exhaustive]
    Split {
        /// Which axis, from 0.
        axis: usize,
        /// Its extent.
        extent: usize,
        /// The extents asked for, outer and inner.
        found: [usize; 2],
    },

    /// Two axes of a view that no single stride describes.
    #[error(
        "axes {axis} and {} of the view, with extents {extents:?} and strides {strides:?}, do not merge: the first \
         stride must be the second one times the second extent; copy the elements to a buffer in which they are dense",
        .axis + 1
    )]
    #[non_exhaustive]
    Merge {
        /// The outer axis, from 0; the inner one is the next.
        axis: usize,
        /// The extents of the two.
        extents: [usize; 2],
        /// The strides of the two, in elements.
        strides: [isize; 2],
    },

    /// An axis of several elements that was to be repeated.
    #[error("axis {axis} of the view has {found} elements, but an axis is repeated only if it has 1; narrow it first")]
    #[non_exhaustive]
    Broadcast {
        /// Which axis, from 0.
        axis: usize,
        /// Its extent.
        found: usize,
    },

    /// Two indices of a mutable view alias, or may alias.
    #[error(
        "a mutable view {shape:?} with strides {strides:?}: {reason}; no two of its elements may alias: use larger \
         strides, or a read-only view"
    )]
    #[non_exhaustive]
    Overlap {
        /// The extents.
        shape: Vec<usize>,
        /// The strides in elements.
        strides: Vec<isize>,
        /// The message: two indices that alias, or why it is not known that there are none.
        reason: String,
    },

    /// Axes that no strides give the elements of a view: another number of elements, or elements that lie in another order.
    #[error("a view of shape {from:?} with strides {strides:?} cannot be reshaped to {to:?}: {}", reshaped(from, to))]
    #[non_exhaustive]
    Reshape {
        /// The extents.
        from: Vec<usize>,
        /// The strides in elements.
        strides: Vec<isize>,
        /// The extents asked for.
        to: Vec<usize>,
    },

    /// A view with gaps, or in another order than row-major, where memory without gaps is taken.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} is not contiguous; copy it into a tensor, and pass that"
    )]
    #[non_exhaustive]
    Contiguous {
        /// The extents.
        shape: Vec<usize>,
        /// The strides in elements.
        strides: Vec<isize>,
    },

    /// One device cannot access memory of another.
    #[error(
        "{device} cannot access memory of {peer}: the hardware has no way between them; copy by stream.copy_to_peer(..)"
    )]
    #[non_exhaustive]
    Peer {
        /// The device that would access it.
        device: String,
        /// The device whose memory it is.
        peer: String,
    },

    /// A shape of another number of elements than the values of a tensor.
    #[error("a tensor of shape {shape:?} has {} elements, but there are {len}", elements(shape))]
    #[non_exhaustive]
    Shape {
        /// The extents.
        shape: Vec<usize>,
        /// How many elements there are.
        len: usize,
    },

    /// Bytes that are not whole elements.
    #[error("{found} bytes are not a whole number of elements of {element}, of {} bytes", element.bytes())]
    #[non_exhaustive]
    Bytes {
        /// How many there are.
        found: usize,
        /// The element type.
        element: DType,
    },

    /// Memory of another owner that a kernel of the device cannot access as elements of the type.
    #[error("a view of memory at {address:#x} on {device}: {reason}")]
    #[non_exhaustive]
    Foreign {
        /// The address of the first element.
        address: u64,
        /// The device.
        device: String,
        /// What is wrong with it.
        reason: String,
    },

    /// Other strides, another offset or other axes of a view that [`split_at`](crate::ViewMut::split_at) made: they could name elements that the
    /// other part has.
    #[error(
        "a part of a view that was split keeps to its elements, found other strides or another offset; change the view before \
         `split_at`, or narrow, permute and select"
    )]
    Part,

    /// The device does not have that much free memory.
    #[error("out of memory on {device}: {requested} bytes were requested{}", left(*.free, *.total))]
    #[non_exhaustive]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes that were free, if the device reports it (0 otherwise).
        free: u64,
        /// Bytes the device has, if it reports it (0 otherwise).
        total: u64,
        /// The device.
        device: String,
    },

    /// Scratch memory was not left zero by the one that used it before.
    #[error(
        "scratch memory of {device} was not left zero by its last user: byte {byte} of {len} is {value}; a kernel that takes \
         scratch memory writes zeros to what it has written before it ends"
    )]
    #[non_exhaustive]
    Scratch {
        /// The first byte that is not zero.
        byte: usize,
        /// Its value.
        value: u8,
        /// Bytes of the memory.
        len: usize,
        /// The device.
        device: String,
    },

    /// What a graph cannot hold was done on a stream that is captured.
    #[error(
        "{what} cannot be captured: a graph is work of the device alone; do it before the capture, or on a stream that is not \
         captured"
    )]
    #[non_exhaustive]
    Capture {
        /// What was done, in words.
        what: &'static str,
    },

    /// A stream was used after its capture.
    #[error("the capture of the stream has ended; launch its graph, on another stream")]
    CaptureEnded,

    /// An argument is not the multiple that the kernel's parameter requires.
    #[error(
        "`{kernel}`: argument `{param}` is {value}, which is not a multiple of {multiple_of} as \
         `#[multiple_of({multiple_of})]` on the parameter asks"
    )]
    #[non_exhaustive]
    MultipleOf {
        /// The kernel's instance.
        kernel: String,
        /// The parameter's name.
        param: String,
        /// The multiple that the parameter requires.
        multiple_of: u32,
        /// What was passed: a number, or an address in hexadecimal.
        value: String,
    },

    /// An argument is not what the kernel takes.
    #[error("`{kernel}`: argument {index} is {found}, but the kernel takes {expected}")]
    #[non_exhaustive]
    Argument {
        /// The kernel's instance.
        kernel: String,
        /// Which argument, from 0.
        index: usize,
        /// What was passed.
        found: String,
        /// What was expected.
        expected: String,
    },

    /// A grid that no device can run.
    #[error("the grid{} has {found} programs along {axis}, but it must have {expected}", of_kernel(.kernel))]
    #[non_exhaustive]
    Grid {
        /// The kernel's instance; empty if the grid is of none.
        kernel: String,
        /// `x`, `y` or `z`.
        axis: char,
        /// What was passed; numbers beyond `i64` are clamped.
        found: i64,
        /// What is allowed, in words.
        expected: String,
    },

    /// The kernel has fewer configs.
    #[error(
        "`{kernel}` has {count} configs, numbered from 0, but config {index} was asked for; list it in `configs = [..]`"
    )]
    #[non_exhaustive]
    Config {
        /// The kernel's instance.
        kernel: String,
        /// The config asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },

    /// The kernel was compiled for other devices only.
    #[error(
        "`{kernel}` was compiled for {targets}, which a device of compute capability {capability} cannot run; \
         use a newer GPU or Device::cpu()"
    )]
    #[non_exhaustive]
    NoImage {
        /// The kernel's instance.
        kernel: String,
        /// The device's compute capability.
        capability: ComputeCapability,
        /// The targets that it was compiled for.
        targets: String,
    },

    /// `TRITON_DSL_CAPABILITY` is not a compute capability that the device can stand for.
    #[error(
        "TRITON_DSL_CAPABILITY is `{found}`; set it to a compute capability from {least} to the device's, {device}, or unset it"
    )]
    #[non_exhaustive]
    Capability {
        /// What it is.
        found: String,
        /// The least that there is code for.
        least: ComputeCapability,
        /// The device's.
        device: ComputeCapability,
    },

    /// A block needs more shared memory than the device has.
    #[error(
        "`{kernel}` needs {needed} bytes of shared memory a block, but {device} has {limit}; use smaller tiles or fewer stages"
    )]
    #[non_exhaustive]
    SharedMemory {
        /// The kernel's instance.
        kernel: String,
        /// Bytes needed.
        needed: u32,
        /// Bytes there are.
        limit: u32,
        /// The device.
        device: String,
    },

    /// The kernel's blocks run in clusters that the device does not run, and there is no code of single blocks.
    #[error(
        "`{kernel}` runs in clusters of {blocks} blocks, which {device} does not run; leave out `targets`, so that there is code without clusters"
    )]
    #[non_exhaustive]
    Cluster {
        /// The kernel's instance.
        kernel: String,
        /// Blocks of a cluster.
        blocks: u32,
        /// The device.
        device: String,
    },

    /// The driver's compiler rejected the PTX. This is a bug in the kernel compiler: please report it with the log.
    #[error("the driver could not compile `{kernel}` ({message}); please report this as a bug, with the log:\n{log}")]
    #[non_exhaustive]
    Jit {
        /// The kernel's instance.
        kernel: String,
        /// The driver's error.
        message: String,
        /// The log of the driver's compiler.
        log: String,
    },

    /// The embedded IR of a kernel cannot be read. This is a bug in the kernel compiler.
    #[error("the embedded IR of `{kernel}` cannot be read ({message}); please report this as a bug")]
    #[non_exhaustive]
    Ir {
        /// The kernel's instance.
        kernel: String,
        /// What is wrong with it, and where.
        message: String,
    },

    /// A fault of a program on the CPU device, such as an access outside its buffers.
    #[error(transparent)]
    Program(ProgramFault),

    /// The simulator reported faults in a launch: for each, a line that names source, kernel, block, warp, lane and
    /// instruction.
    #[cfg(feature = "sim")]
    #[error("{0}")]
    Simulation(crate::findings::Findings),

    /// The simulator does not support the code of a kernel. This is a bug in the simulator or in the kernel compiler.
    #[cfg(feature = "sim")]
    #[error("the simulator cannot run `{kernel}` ({message}); please report this as a bug")]
    #[non_exhaustive]
    Simulator {
        /// The kernel's instance.
        kernel: String,
        /// What it does not support, and where in the PTX.
        message: String,
    },

    /// An `assert!` of a kernel did not hold. On a GPU the launch has returned before, and the call that reports this is a later
    /// one; the device is then unusable for this process.
    #[error("{}kernel `{kernel}`, program ({}): assertion failed: {message}", location(file, *.line), .program.map(|i| i.to_string()).join(", "))]
    #[non_exhaustive]
    DeviceAssert {
        /// The kernel's name.
        kernel: String,
        /// The source file, as rustc names it; empty if it is not known.
        file: String,
        /// The line in it, from 1; 0 if it is not known.
        line: u32,
        /// The program in which it failed: one of them, if there were several.
        program: [u32; 3],
        /// What the assertion says: its message, or its condition.
        message: String,
    },

    /// A kernel launched earlier corrupted the device's context: this process cannot use the device any more.
    #[error(
        "{call} failed: {message}. A kernel launched earlier caused this: an address outside its buffers, a misaligned \
         address, or a buffer freed too early. The device cannot be used any more by this process. Run \
         it on Device::cpu() to have every access checked, or under `compute-sanitizer`, which names the source location"
    )]
    #[non_exhaustive]
    Device {
        /// The driver function that reported it; the fault was earlier.
        call: &'static str,
        /// The driver's description.
        message: String,
    },

    /// The driver rejected a call.
    #[error("{call} failed with code {code}: {message}")]
    #[non_exhaustive]
    Driver {
        /// The driver function.
        call: &'static str,
        /// Its `CUresult`.
        code: i32,
        /// The driver's description.
        message: String,
    },

    /// The time between two events is not known.
    #[error(
        "{reason}; record both events by Stream::record_timed_event, the earlier one first, on streams of one device"
    )]
    #[non_exhaustive]
    Timing {
        /// What is wrong with them.
        reason: &'static str,
    },

    /// An error of other code, such as of a library's operation: see [`OtherError`].
    #[error(transparent)]
    Other(OtherError),
}
