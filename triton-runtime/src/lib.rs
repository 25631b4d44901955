//! Devices, streams, buffers and launches.
//!
//! The only crate of the project that touches a device or the file system. A program that never finds a CUDA driver
//! runs the same kernels on the CPU; nothing here panics because a library, a GPU or a folder is missing.
//!
//! ```
//! use triton_runtime::{Device, Result};
//!
//! # fn main() -> Result<()> {
//! let device = Device::cpu();
//! let stream = device.stream()?;
//! let x = stream.upload(&[1.0f32, 2.0, 3.0])?;
//! let mut y = stream.zeros::<f32>(3)?;
//! stream.copy(&x, &mut y)?;
//! assert_eq!(stream.download(&y)?, [1.0, 2.0, 3.0]);
//! # Ok(())
//! # }
//! ```
//!
//! **Invariant:** a buffer is freed, read and written in the order of its uses, whichever streams they are on: see
//! [`Buffer`].
//!
//! **Invariant:** `unsafe` code is only in the `driver` folder.

mod allocation;
mod args;
#[cfg(feature = "ndarray")]
mod arrays;
mod assertions;
mod axes;
mod buffer;
pub mod cache;
mod capture;
#[cfg(feature = "compiler")]
mod compile;
mod constants;
mod copy;
mod cpu;
mod device;
mod driver;
mod element;
mod error;
mod event;
mod external;
#[cfg(feature = "sim")]
mod findings;
mod foreign;
mod gpu;
mod graph;
mod grid;
mod inflate;
#[cfg(feature = "cudarc")]
pub mod interop;
mod kept;
mod kernel;
pub mod launch;
mod layout;
mod lent;
mod line_info;
mod load;
mod memory;
mod other;
mod overlap;
mod parts;
mod peer;
mod pinned;
pub mod pool;
mod program;
mod raw_parts;
mod reach;
mod replays;
mod scratch;
pub mod selection;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(not(feature = "sim"))]
#[path = "sim/absent.rs"]
mod sim;
mod stream;
mod stream_order;
mod sync {
    //! What `models` replaces by loom's.
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
}
mod tensor;
mod tensor_map;
mod threads;
mod trace;
mod view;
#[cfg(feature = "safetensors")]
mod weights;
mod workspace;

pub use args::{AsPtrArg, AsPtrMutArg, DevicePtr, DevicePtrMut, IntoView, IntoViewMut, LaunchArg, Params, Slots};
pub use buffer::{Buffer, BufferSlice, BufferSliceMut, DeviceData, DeviceDataMut};
pub use constants::Constants;
pub use device::Device;
pub use element::Element;
pub use error::{Error, ProgramFault, Result};
pub use event::Event;
pub use external::{Operand, Region};
pub use graph::Graph;
pub use grid::{Grid, GridSize};
#[doc(hidden)]
pub use inflate::inflate;
pub use kernel::Kernel;
pub use launch::Launch;
pub use load::LoadInfo;
pub use other::OtherError;
#[doc(hidden)]
pub use overlap::aliasing;
pub use pinned::Pinned;
pub use pool::{Choice, Pool, Tuned};
pub use program::{Program, ProgramError};
pub use scratch::Scratch;
pub use selection::{Selecting, Selector};
pub use stream::Stream;
pub use tensor::{ShapeError, Tensor};
pub use triton_ir::metadata::{self, ComputeCapability};
pub use triton_ir::types::DType;
pub use view::{View, ViewMut};
#[cfg(feature = "safetensors")]
pub use weights::{Weights, WeightsError};
pub use workspace::Workspace;

/// Locks without caring whether another thread panicked meanwhile: what we guard is consistent between statements.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
