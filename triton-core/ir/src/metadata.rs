//! Kernel metadata: a compiled kernel as data, which is embedded in the program and from which every device launches.
//!
//! Nothing here is tied to a driver: CPU, GPU, simulator and foreign bindings read the same metadata. All of it can be
//! written as a `const`, so embedding costs no start-up time.
//!
//! **Invariant:** what a launcher needs to know about an [`Image`] stands beside its text; launching parses no PTX.

mod machine;
mod promise;
mod targets;
mod tensor_map;
mod text;

use crate::types::DType;
pub use machine::Machine;
pub use promise::{Promise, Promised};
use std::borrow::Cow;
use std::fmt;
pub use targets::{ComputeCapability, SegmentBytes, Target, TargetInfo, Targets};
pub use tensor_map::{MapElements, MapSwizzle, TensorMap};
pub use text::{Inflate, Text};

/// One compiled instance of a kernel: `add::<f32, 1024>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelMetadata {
    /// The function's name.
    pub kernel: Cow<'static, str>,
    /// The instance as the user writes it: `add::<f32, 1024>`.
    pub instance: Cow<'static, str>,
    /// The parameters as the user writes them, in order. The IR and the code have [`ParamType::words`] for each.
    pub params: Cow<'static, [ParamMetadata]>,
    /// The same instance compiled with different options; the first is the default.
    pub configs: Cow<'static, [Config]>,
}

/// A parameter as the launcher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamMetadata {
    /// The parameter's name.
    pub name: Cow<'static, str>,
    /// What is passed.
    pub ty: ParamType,
    /// Checked at launch: the scalar's value, or the pointer's or view's address in bytes, is a multiple of this.
    pub multiple_of: u32,
    /// Whether this parameter takes part in specialization (see [`Specialization`]): pointers, views and integers do, unless
    /// `#[no_specialize]`.
    pub specialize: bool,
    /// What specializations promise of it, if it takes part. Of an integer the compiler finds it from what accesses through pointers
    /// gain; of a view each extent and each stride has a promise of its own, and this is that of its address.
    pub promised: Promised,
    /// What they promise of it in each other [order](Image::order); nothing else than that where there is none.
    pub orders: Cow<'static, [Promised]>,
}

/// What is passed for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamType {
    /// The address of elements that the kernel reads.
    Ptr(DType),
    /// The address of elements that the kernel reads and writes.
    PtrMut(DType),
    /// A number or `bool`.
    Scalar(DType),
    /// A view: the address of its first element, then its `rank` extents, then its `rank` strides in elements. Everything that
    /// these describe lies inside the buffer, and the elements of a mutable one do not overlap.
    Tensor {
        /// The type of the elements.
        dtype: DType,
        /// Dimensions, from 1 to [`MAX_RANK`].
        rank: u8,
        /// Whether the kernel writes the elements too.
        mutable: bool,
    },
}

/// The most dimensions that a view has.
pub const MAX_RANK: usize = 5;

impl ParamType {
    /// The most parameters of the code that stand for one of the user: those of a view with [`MAX_RANK`] dimensions.
    pub const MAX_WORDS: usize = 1 + 2 * MAX_RANK;

    /// How many parameters of the IR and of the code stand for this one, in a row: 1; for a view 1 + 2 · rank, which are the
    /// address, the extents as `i32` and the strides as `i64`.
    pub const fn words(self) -> usize {
        match self {
            ParamType::Ptr(_) | ParamType::PtrMut(_) | ParamType::Scalar(_) => 1,
            ParamType::Tensor { rank, .. } => 1 + 2 * rank as usize,
        }
    }

    /// The type of a scalar; `None` for what begins with an address.
    pub const fn scalar(self) -> Option<DType> {
        match self {
            ParamType::Scalar(dtype) => Some(dtype),
            ParamType::Ptr(_) | ParamType::PtrMut(_) | ParamType::Tensor { .. } => None,
        }
    }

    /// Whether the kernel may write to what is passed.
    pub const fn is_mutable(self) -> bool {
        match self {
            ParamType::PtrMut(_) | ParamType::Tensor { mutable: true, .. } => true,
            ParamType::Ptr(_) | ParamType::Scalar(_) | ParamType::Tensor { mutable: false, .. } => false,
        }
    }
}

/// As the user writes it: `Tensor<f32, 2>`.
impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamType::Ptr(t) => write!(f, "Ptr<{t}>"),
            ParamType::PtrMut(t) => write!(f, "PtrMut<{t}>"),
            ParamType::Scalar(t) => write!(f, "{t}"),
            ParamType::Tensor { dtype, rank, mutable: false } => write!(f, "Tensor<{dtype}, {rank}>"),
            ParamType::Tensor { dtype, rank, mutable: true } => write!(f, "TensorMut<{dtype}, {rank}>"),
        }
    }
}

/// One choice of options: its meaning, and its code for each target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Warps that run one program.
    pub num_warps: u32,
    /// The tile IR at stage 0 as text: what the CPU executes.
    pub ir: Text,
    /// Code, best target first; of one target that of [multicast peers](ProgramMap::Peers), then the most specialized
    /// image first. A launch takes the first one that runs on the device and assumes no more than holds of the
    /// arguments, passing over images with [tensor maps](Image::tensor_maps) that the views do not allow; the last one
    /// is generic and takes no tensor map. Behind it are those of other [orders](Image::order), which stand for themselves.
    pub images: Cow<'static, [Image]>,
}

/// PTX for one target, with what a launch must know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The lowest device that can load it.
    pub target: Target,
    /// What the code assumes. The launcher checks and picks.
    pub specialization: Specialization,
    /// Which strides are 1 under it, of operands of products through pointers: 0 where those along the last axis of tiles are (operands in
    /// row-major order), and a number from 1 on where others are (some in column-major order): see [`ParamMetadata::orders`].
    pub order: u8,
    /// Name of the entry point.
    pub entry: Cow<'static, str>,
    /// PTX text that ends in a NUL byte, as the driver requires.
    pub ptx: Text,
    /// The version of PTX that the text is in, which decides what drivers load it.
    pub ptx_version: (u32, u32),
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster, which run a program together.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Whether the code has one parameter more, the last: the address of 16 bytes of memory that host and device
    /// can access, aligned to 16 bytes, or 0. A failed assertion writes there, before it stops the launch, the number
    /// of its text in the IR plus 1 and the index of the program, each as a `u32`.
    pub has_assert_buffer: bool,
    /// Whether the code takes for granted that no dividend of a remainder of tiles of signed integers is negative. A launch takes the
    /// image only if that follows from its arguments and its grid.
    pub assumes_dividends: bool,
    /// The mapping of blocks to programs.
    pub programs: ProgramMap,
    /// How many blocks of a multiprocessor hide the latency of one: the loader compiles again, so that a thread has fewer registers,
    /// if fewer would be resident, and does not otherwise.
    pub wanted_blocks: u32,
    /// The most registers of a thread, if the code bounds them (`.maxnreg`): the loader compiles it once then, as it is.
    pub max_registers: Option<u32>,
    /// The tensor maps that the code takes after the kernel's parameters and before any others: 128 bytes each, aligned to
    /// 64. A launch takes the image only if a map can describe each of their views.
    pub tensor_maps: Cow<'static, [TensorMap]>,
}

/// What generated code and other front ends make metadata by: all fields, in their order.
#[doc(hidden)]
impl KernelMetadata {
    pub const fn new(
        kernel: Cow<'static, str>,
        instance: Cow<'static, str>,
        params: Cow<'static, [ParamMetadata]>,
        configs: Cow<'static, [Config]>,
    ) -> KernelMetadata {
        KernelMetadata { kernel, instance, params, configs }
    }
}

#[doc(hidden)]
impl ParamMetadata {
    pub const fn new(
        name: Cow<'static, str>,
        ty: ParamType,
        multiple_of: u32,
        specialize: bool,
        promised: Promised,
        orders: Cow<'static, [Promised]>,
    ) -> ParamMetadata {
        ParamMetadata { name, ty, multiple_of, specialize, promised, orders }
    }
}

#[doc(hidden)]
impl Config {
    pub const fn new(num_warps: u32, ir: Text, images: Cow<'static, [Image]>) -> Config {
        Config { num_warps, ir, images }
    }
}

#[doc(hidden)]
impl Image {
    #[allow(clippy::too_many_arguments, reason = "each field, so that generated code misses none")]
    pub const fn new(
        target: Target,
        specialization: Specialization,
        order: u8,
        entry: Cow<'static, str>,
        ptx: Text,
        ptx_version: (u32, u32),
        threads: u32,
        cluster: [u32; 3],
        shared_bytes: u32,
        has_assert_buffer: bool,
        assumes_dividends: bool,
        programs: ProgramMap,
        wanted_blocks: u32,
        max_registers: Option<u32>,
        tensor_maps: Cow<'static, [TensorMap]>,
    ) -> Image {
        Image {
            target,
            specialization,
            order,
            entry,
            ptx,
            ptx_version,
            threads,
            cluster,
            shared_bytes,
            has_assert_buffer,
            assumes_dividends,
            programs,
            wanted_blocks,
            max_registers,
            tensor_maps,
        }
    }
}

/// The lines of PTX that are code: all but locations in the source, files and names of inlined functions.
pub fn code_lines(ptx: &str) -> impl Iterator<Item = &str> {
    let is_location =
        |line: &str| ["\t.loc ", ".file ", ".section .debug_str "].iter().any(|word| line.starts_with(word));
    ptx.lines().filter(move |line| !is_location(line))
}

/// The PTX version that has the fences between blocks of a cluster which wait for shared memory alone.
pub const CLUSTER_PTX: (u32, u32) = (8, 6);
/// The PTX version that adds vectors to memory.
pub const VECTOR_UPDATE_PTX: (u32, u32) = (8, 1);
/// The PTX version whose locations name inlined functions.
pub const INLINED_PTX: (u32, u32) = (7, 2);

impl Image {
    /// Whether a launch of a grid of programs takes this image, on a device with this number of multiprocessors. A persistent one is for
    /// more programs than blocks are resident together.
    pub fn takes(&self, programs: [u32; 3], multiprocessors: u32) -> bool {
        match self.programs {
            ProgramMap::Identity => true,
            ProgramMap::Persistent => {
                // Registers are known of what is loaded alone, and such blocks have few.
                let resident = self.target.resident_blocks(self.threads, 0, self.shared_bytes) * multiprocessors;
                (u64::from(resident) + 1..=ProgramMap::MAX_PROGRAMS).contains(&count(programs))
            }
            // A block without a program takes as long as another.
            ProgramMap::Peers => {
                let few = !programs[0].is_multiple_of(2) && programs[0] <= ProgramMap::FEW_PROGRAMS;
                !few && programs[0] < ProgramMap::MAX_BLOCKS
            }
        }
    }

    /// Whether a launch takes this image, as far as rows of the views of its tensor maps go that are as many bytes apart. Peers share
    /// what they load where these rows begin inside a sector: of each then more is read than is used.
    pub fn takes_pitches(&self, mut pitches: impl Iterator<Item = u64>) -> bool {
        let sector = u64::from(self.target.info().sector_bytes);
        self.programs != ProgramMap::Peers || pitches.any(|pitch| !pitch.is_multiple_of(sector))
    }

    /// The blocks along x, y and z that run a grid of programs, if this many are resident on the device together; `None` if clusters of
    /// them are more along an axis than any device runs.
    pub fn blocks(&self, programs: [u32; 3], resident: u32) -> Option<[u32; 3]> {
        let mut blocks = self.programs.blocks(programs, resident);
        for (blocks, of_cluster) in blocks.iter_mut().zip(self.cluster) {
            let fits = |all: &u32| of_cluster == 1 || *all <= ProgramMap::MAX_BLOCKS;
            *blocks = blocks.checked_mul(of_cluster).filter(fits)?;
        }
        Some(blocks)
    }

    /// The lowest CUDA driver version that loads the code, as `cuDriverGetVersion` counts: 1000·major + 10·minor.
    pub fn driver(&self) -> u32 {
        let of_version = match self.ptx_version {
            CLUSTER_PTX => 12070,
            VECTOR_UPDATE_PTX => 12010,
            _ => 0,
        };
        self.target.driver().max(of_version)
    }

    /// What the code assumes, by name: `divisible16`, and in another order than the first its number behind a dot.
    pub fn assumptions(&self) -> String {
        let name = self.specialization.name();
        if self.order == 0 { name.into() } else { format!("{name}.{}", self.order) }
    }

    /// The PTX without its NUL byte. It is inflated anew by each call if it is [deflated](Text::Deflated).
    pub fn text(&self) -> Cow<'_, str> {
        match self.ptx.get() {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches('\0')),
            Cow::Owned(mut text) => {
                text.truncate(text.trim_end_matches('\0').len());
                Cow::Owned(text)
            }
        }
    }
}

/// What an image assumes of the parameters that are specialized, beside their own `multiple_of`. Each member implies those
/// before it.
///
/// Nothing is assumed of a view's extents but of the last one, and of that under [`Specialization::Divisible16`] alone. The
/// stride of an axis with at most one element does not matter: a launch passes 1 for the last axis, and 0 for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Specialization {
    /// Nothing: code for any arguments.
    Generic,
    /// The last stride of every view is 1, and so is every integer that is the stride along the last axis of pointers
    /// ([`Promised::Unit`]).
    UnitStride,
    /// Beside that, every pointer and every view's first element are aligned to 16 bytes, and the other strides of every view
    /// are whole multiples of 16 bytes: rows begin aligned. So are integers that are other strides of pointers ([`Promised::Pitch`]).
    Aligned16,
    /// Beside that, the rows of every view are whole multiples of 16 bytes long, too: its last extent is divisible by the elements in
    /// them. Other integers are divisible by 16, or by what accesses through pointers gain from ([`Promised::Extent`]).
    Divisible16,
}

impl Specialization {
    /// Every member, from the least to the most.
    pub const ALL: &'static [Specialization] =
        &[Specialization::Generic, Specialization::UnitStride, Specialization::Aligned16, Specialization::Divisible16];

    /// A word for file names and messages: `generic`, `unit_stride`, `aligned16`, `divisible16`.
    pub const fn name(self) -> &'static str {
        match self {
            Specialization::Generic => "generic",
            Specialization::UnitStride => "unit_stride",
            Specialization::Aligned16 => "aligned16",
            Specialization::Divisible16 => "divisible16",
        }
    }
}

/// It prints as its [name](Specialization::name).
impl fmt::Display for Specialization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The mapping of blocks to the programs of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramMap {
    /// As many blocks as programs, along each axis. Which block runs which program is for the code to say.
    Identity,
    /// A row of as many blocks as are resident together, each of which runs programs until all have run. The code takes the numbers of
    /// programs along x, y and z as three parameters of type `u32`, after the tensor maps and before the assert buffer's. It has a tensor
    /// map at least.
    Persistent,
    /// As many blocks as programs, or one more along x: two peers along x are a cluster, whose programs share what they load. The code
    /// takes the numbers of programs, as a persistent one, and has a tensor map at least.
    Peers,
}

impl ProgramMap {
    /// The most blocks of a grid along x.
    const MAX_BLOCKS: u32 = i32::MAX as u32;

    /// The most programs along x that are few: beside a block without a program, the others wait for the L2 cache less.
    const FEW_PROGRAMS: u32 = 6;

    /// The most programs that blocks run one after the other: code counts them in an `i32`.
    const MAX_PROGRAMS: u64 = 1 << 30;

    /// The blocks, or clusters of them, along x, y and z that run a grid of programs, if this many are resident on the device together.
    const fn blocks(self, programs: [u32; 3], resident: u32) -> [u32; 3] {
        match self {
            ProgramMap::Identity => programs,
            ProgramMap::Peers => [programs[0].div_ceil(2), programs[1], programs[2]],
            ProgramMap::Persistent => {
                let all = count(programs);
                [if all < resident as u64 { all as u32 } else { resident }, 1, 1]
            }
        }
    }

    /// What tells apart, in lists, the images of one specialization.
    #[doc(hidden)]
    pub fn suffix(self) -> &'static str {
        match self {
            ProgramMap::Identity => "",
            ProgramMap::Persistent => " persistent",
            ProgramMap::Peers => " peers",
        }
    }

    /// The numbers of programs as parameters of the code; none if it takes none.
    pub fn words(self, programs: [u32; 3]) -> Option<[u64; 3]> {
        match self {
            ProgramMap::Identity => None,
            ProgramMap::Persistent | ProgramMap::Peers => Some(programs.map(u64::from)),
        }
    }
}

/// The programs of a grid; the largest number if they are more.
const fn count([x, y, z]: [u32; 3]) -> u64 {
    (x as u64).saturating_mul(y as u64).saturating_mul(z as u64)
}

/// The value of a parameter of the IR and of the code, independent of the device. An argument of the user is
/// [`ParamType::words`] of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The bits of a scalar, zero-extended.
    Scalar(u64),
    /// An address on the device.
    Ptr(u64),
}

impl Arg {
    /// The bits that the kernel receives.
    pub fn bits(self) -> u64 {
        match self {
            Arg::Scalar(bits) | Arg::Ptr(bits) => bits,
        }
    }
}
