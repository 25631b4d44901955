//! A compiled kernel as data: what is embedded in the program and what every device launches from.
//!
//! Nothing here is tied to a driver: CPU, GPU, simulator and foreign bindings read the same records. All of it can be
//! written as a `const`, so embedding costs no start-up time.
//!
//! **Invariant:** what a launcher needs to know about an [`Image`] stands beside its text; nobody parses PTX to find out.

use crate::ir::types::DType;
use std::borrow::Cow;

/// One compiled instance of a kernel: `add::<f32, 1024>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The function's name.
    pub kernel: Cow<'static, str>,
    /// The instance as the user writes it: `add::<f32, 1024>`.
    pub instance: Cow<'static, str>,
    /// The parameters as the user writes them, in order. The IR and the code have [`ParamType::words`] for each.
    pub params: Cow<'static, [ParamRecord]>,
    /// The same instance compiled with different options; the first is the default.
    pub variants: Cow<'static, [Variant]>,
}

/// A parameter as the launcher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamRecord {
    /// The parameter's name.
    pub name: Cow<'static, str>,
    /// What is passed.
    pub ty: ParamType,
    /// A promise checked at launch: the scalar's value, or the pointer's or view's address in bytes, is a multiple of this.
    pub multiple_of: u32,
    /// Whether this parameter takes part in specialisation (see [`Promise`]): pointers, views and integers do, unless
    /// `#[general]`.
    pub specialise: bool,
}

/// What is passed for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// The address of elements that the kernel reads.
    Ptr(DType),
    /// The address of elements that the kernel reads and writes.
    PtrMut(DType),
    /// A number or `bool`.
    Scalar(DType),
    /// A view: the address of its first element, then its `rank` extents, then its `rank` strides in elements. Nothing that
    /// these describe lies outside the buffer, and no two elements of a mutable view are one.
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
}

/// One choice of options: its meaning, and its code for each target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Warps that run one program.
    pub num_warps: u32,
    /// The tile IR at stage 0 as text: what the CPU executes.
    pub ir: Cow<'static, str>,
    /// Code, best target first; of one target, the image that relies on most first, and one that relies on nothing last.
    pub images: Cow<'static, [Image]>,
}

/// PTX for one target, with what a launch must know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The lowest device that can load it.
    pub target: Target,
    /// What the code relies on. The launcher checks and picks; an image of the same target that relies on nothing is always
    /// there.
    pub promise: Promise,
    /// Name of the entry point.
    pub entry: Cow<'static, str>,
    /// PTX text that ends in a NUL byte, as the driver wants it.
    pub ptx: Cow<'static, str>,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Whether the code has one parameter more than the kernel, the last: the address of 16 bytes of memory that host and device
    /// see, aligned to 16 bytes, or 0. A failed assertion writes there, before it stops the launch, the number of its text in
    /// the IR plus 1 and the index of the program, each as a `u32`.
    pub report: bool,
    /// How physical blocks walk the virtual programs.
    pub programs: ProgramMap,
}

impl Image {
    /// The PTX without its NUL byte.
    pub fn text(&self) -> &str {
        self.ptx.trim_end_matches('\0')
    }
}

/// A generation of devices that code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Compute capability 8.0 and everything above.
    Sm80,
}

impl Target {
    /// The name PTX gives it.
    pub fn name(self) -> &'static str {
        match self {
            Target::Sm80 => "sm_80",
        }
    }

    /// How many blocks of so many threads a multiprocessor can run at once, if each thread has so many registers: it has 64 K
    /// registers and 2048 threads.
    pub fn resident_blocks(self, threads: u32, registers: u32) -> u32 {
        match self {
            // Registers are given out by eights to each thread.
            Target::Sm80 => ((64 << 10) / (threads * registers.next_multiple_of(8).max(8))).min(2048 / threads).min(32),
        }
    }

    /// Bytes of shared memory that a block can have.
    pub const fn shared_bytes(self) -> u32 {
        match self {
            Target::Sm80 => 163 << 10,
        }
    }

    /// Whether a device of this compute capability (major, minor) can run the code.
    pub fn runs_on(self, capability: (u32, u32)) -> bool {
        match self {
            Target::Sm80 => capability >= (8, 0),
        }
    }

    /// The lowest CUDA driver version that loads the code, as `cuDriverGetVersion` counts: 1000·major + 10·minor.
    pub fn driver(self) -> u32 {
        match self {
            Target::Sm80 => 12000,
        }
    }
}

/// What an image relies on, beside the parameters' own promises. Each member implies those before it.
///
/// A view that specialises takes part as a whole: it keeps [`Promise::Aligned`] as a pointer does, and
/// [`Promise::Divisible`] if beside that its last stride is 1 (or its last extent at most 1), and its last extent and all
/// its other strides, in elements, are divisible by 16. Nothing is promised of its other extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// Nothing.
    Nothing,
    /// Every specialising pointer, and every specialising view's first element, is aligned to 16 bytes.
    Aligned,
    /// Beside that, every specialising integer is divisible by 16, and so are the extent and strides of every specialising
    /// view, as said above.
    Divisible,
}

impl Promise {
    /// Every promise, from the least to the most.
    pub const ALL: &'static [Promise] = &[Promise::Nothing, Promise::Aligned, Promise::Divisible];

    /// A word for file names and messages.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Nothing => "general",
            Promise::Aligned => "aligned",
            Promise::Divisible => "specialised",
        }
    }
}

/// How physical blocks walk the virtual programs of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramMap {
    /// Block (x, y, z) runs program (x, y, z).
    Identity,
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
