//! Kernels of `triton-dsl` through the [`cust`] bindings: its context, its streams, its buffers.
//!
//! For programs that use `cust` already. Others are better served by the binding of `triton` itself, which finds the driver
//! at run time, caches machine code on disk and orders buffers.
//!
//! ```no_run
//! use cust::memory::{CopyDestination, DeviceBuffer};
//! use cust::stream::{Stream, StreamFlags};
//! use triton::prelude::*;
//! use triton_cust::{Modules, ptr, ptr_mut};
//!
//! /// out = x + y, elementwise.
//! #[triton::kernel(T = [f32], BLOCK = [512])]
//! fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
//!     let i = program_id(0) * BLOCK + arange(0, BLOCK);
//!     let mask = i < n;
//!     store(out + i, load(x + i, mask) + load(y + i, mask), mask);
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let _context = cust::quick_init()?;
//! let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
//! let modules = Modules::new()?;
//! let x = DeviceBuffer::from_slice(&[1.0f32; 4096])?;
//! let y = DeviceBuffer::from_slice(&[2.0f32; 4096])?;
//! let mut out = DeviceBuffer::from_slice(&[0.0f32; 4096])?;
//! let launch = unsafe {
//!     modules.launch(add::<f32, 512>(&ptr(&x), &ptr(&y), &mut ptr_mut(&mut out), 4096), &stream, 4096 / 512)
//! };
//! launch?;
//! stream.synchronize()?;
//! let mut result = [0.0f32; 4096];
//! out.copy_to(&mut result)?;
//! assert!(result.iter().all(|v| *v == 3.0));
//! # Ok(())
//! # }
//! ```
//!
//! # Element types
//! Those of the kernel that `cust` can hold: integers, `f32`, `f64`, `bool`. `cust` 0.3.2 knows the `f16` of `half` 1, not
//! that of `half` 2 which kernels use: keep such data in a `DeviceBuffer<u16>`, and pass [`triton::DevicePtr::new`] or
//! [`triton::DevicePtrMut::new`] of its address.
//!
//! # What `cust` 0.3.2 cannot do
//! Its launch has no attributes, so that a kernel that runs in clusters of blocks is rejected with
//! [`Error::Unsupported`]. Of code that copies by tensor maps, the code without them is launched in its place.
//!
//! # Assertions
//! An `assert!` that fails stops the kernel, and `cust` reports a failed launch; which one it was is reported by the
//! binding of `triton` itself and by the CPU device.
//!
//! # Building without a driver
//! `cust` links `libcuda` when a program is built, so that this crate is a workspace of its own. Without a driver:
//!
//! ```text
//! cargo xtask stub target/cuda-stub                               # in the repository: a stand-in for the library
//! cd bridges/triton-cust && cargo build --examples                # links target/cuda-stub/lib64
//! LD_LIBRARY_PATH=$PWD/../../target/cuda-stub/run cargo test      # cust finds no device, and says so
//! ```

mod args;
mod error;
mod modules;

pub use args::{ptr, ptr_mut};
pub use error::Error;
pub use modules::{Modules, image};
