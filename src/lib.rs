//! GPU kernels as ordinary Rust.
//!
//! A kernel is a function over *tiles*, blocks of values that one program of the launch works on. `cargo build`
//! type-checks it, compiles it to PTX and embeds it in the binary; the program launches it through the CUDA driver.
//! Nothing else is installed. On a machine without a GPU the same program builds, and runs on the CPU.
//!
//! ```
//! use triton::prelude::*;
//!
//! /// out = x + y, elementwise.
//! #[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
//! pub fn add<T: Num, const BLOCK: i32>(x: Tensor<T, 1>, y: Tensor<T, 1>, out: TensorMut<T, 1>) {
//!     let start = program_id(0) * BLOCK;
//!     out.store([start], x.load([start], [BLOCK]) + y.load([start], [BLOCK]));
//! }
//!
//! fn main() -> triton::Result<()> {
//!     let device = Device::best(); // GPU 0 if there is one, else the CPU
//!     let stream = device.stream()?;
//!     let x = stream.tensor(&vec![1.0f32; 4096], [4096])?;
//!     let y = stream.tensor(&vec![2.0f32; 4096], [4096])?;
//!     let mut out = stream.tensor_zeros::<f32, _>([4096])?;
//!     add::<f32, 1024>(&x, &y, &mut out).launch(&stream, 4096 / 1024)?;
//!     assert!(stream.download(&out)?.iter().all(|v| *v == 3.0));
//!     Ok(())
//! }
//! ```
//!
//! - [`kernel`] has the options of the attribute.
//! - [`lang`] is the language: what a kernel's body may call, with shapes, meaning and errors.
//! - [`prelude`] is what both kernels and the programs that launch them import.
//! - The feature `sim` adds `Device::sim()`, which runs the PTX of kernels on the CPU, and reports races, uninitialised memory
//!   and other mistakes that a GPU lets pass.
//! - The feature `compiler` adds `explain` and `estimate` to a [`Launch`]: what the compiler chose, and how long it estimates that the launch takes.
//!   A program without it has no compiler in it.
//!
//! The compiler runs inside the attribute, and cargo builds it without optimisation: of a program with up to some hundred kernels that is the fastest
//! build. Kernels that run long on the CPU device, or on `Device::sim()`, in debug builds want these crates optimised, which have their inner loops:
//!
//! ```toml
//! [profile.dev.package.triton-ir]
//! opt-level = 3
//! [profile.dev.package.triton-runtime]
//! opt-level = 3
//! # With the feature `sim`:
//! # [profile.dev.package.triton-sim]
//! # opt-level = 3
//! ```

// Generated code names the façade by its path, also in the façade's own tests.
extern crate self as triton;

/// The type that bounds of generic host code name for the kernels of a program.
///
/// A kernel is compiled for the instances in its lists. A function that launches one with a type parameter of its own asks for
/// the instance by the kernel's trait, whose name is the kernel's in camel case with `Instance`:
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel(T = [f32, i32], BLOCK = [256])]
/// fn double<T: Num, const BLOCK: i32>(x: TensorMut<T, 1>) {
///     let i = program_id(0) * BLOCK;
///     let v = x.load([i], [BLOCK]);
///     x.store([i], v + v);
/// }
///
/// /// Twice each number, on any device.
/// fn doubled<T: Num>(device: &Device, numbers: &[T]) -> triton::Result<Vec<T>>
/// where
///     triton::Compiled: DoubleInstance<T, 256>,
/// {
///     let stream = device.stream()?;
///     let mut x = stream.upload(numbers)?;
///     double::<T, 256>(x.view_mut([numbers.len()])?).launch(&stream, numbers.len().div_ceil(256))?;
///     stream.download(&x)
/// }
///
/// assert_eq!(doubled(&Device::cpu(), &[1, 2, 3])?, [2, 4, 6]);
/// assert_eq!(doubled(&Device::cpu(), &[0.5f32])?, [1.0]);
/// # Ok::<(), triton::Error>(())
/// ```
#[derive(Debug)]
pub enum Compiled {}

mod bits;
pub mod lang;
pub mod prelude;

pub use half::{bf16, f16};
pub use triton_macros::{constant, function, kernel, params};
#[doc(hidden)]
pub use triton_runtime::aliasing;
#[cfg(feature = "cudarc")]
pub use triton_runtime::interop;
#[cfg(feature = "sim")]
pub use triton_runtime::sim;
pub use triton_runtime::{
    AsPtrArg, AsPtrMutArg, Buffer, BufferSlice, BufferSliceMut, Choice, ComputeCapability, Constants, DType, Device,
    DeviceData, DeviceDataMut, DevicePtr, DevicePtrMut, Element, Error, Event, Graph, Grid, GridSize, IntoView,
    IntoViewMut, Kernel, Launch, LaunchArg, LoadInfo, Operand, OtherError, Pinned, Pool, Program, ProgramError,
    ProgramFault, Region, Result, Scratch, Selecting, Selector, ShapeError, Stream, Tensor, Tuned, View, ViewMut,
    Workspace, cache, launch, metadata, pool, selection,
};
#[cfg(feature = "safetensors")]
pub use triton_runtime::{Weights, WeightsError};

/// What generated code needs. Not public: it changes with every version.
#[doc(hidden)]
pub mod __private {
    pub mod bits {
        pub use crate::bits::*;
    }
    pub use half::{bf16, f16};
    pub use std::borrow::Cow;
    pub use triton_ir::embed;
    pub use triton_ir::metadata::{
        Config, Image, KernelMetadata, MapElements, MapSwizzle, ParamMetadata, ParamType, ProgramMap, Promised,
        Specialization, Target, TensorMap, Text,
    };
    pub use triton_ir::types::DType;
    pub use triton_macros::link;
    pub use triton_runtime::inflate;
    pub use triton_runtime::pool::Member;
    pub use triton_runtime::{AsPtrArg, AsPtrMutArg, Kernel, Launch, LaunchArg, Params, Pool, Slots, Tuned};

    /// Takes the place of a kernel that did not compile, or in an editor; the program that would call it does not
    /// build.
    pub fn not_compiled() -> ! {
        panic!("the kernel was not compiled")
    }
}
