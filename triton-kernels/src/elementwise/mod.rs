//! Operations of elements, which are broadcast: arithmetic, conversions, copies, choices, and [`elementwise!`] for those of your own.
//!
//! Operands are views or tensors of up to five axes, of any strides. As in NumPy, an operand may have fewer axes than the result, of which the last ones are
//! meant, and is repeated along axes of extent 1. A number that is on the device is an operand of one element; one of the host is an argument.
//!
//! ```
//! use triton::prelude::*;
//! use triton_kernels::elementwise::elementwise;
//!
//! elementwise!(axpy, |x: bf16, y: bf16; factor: f32| -> bf16 { x.to::<f32>() * factor + y.to::<f32>() });
//!
//! # fn main() -> triton_kernels::Result<()> {
//! let stream = Device::cpu().stream()?;
//! let (x, y) = (stream.tensor(&[bf16::ONE; 6], [2, 3])?, stream.tensor(&[bf16::from_f32(0.5); 3], [3])?);
//! let mut z = stream.tensor_uninit::<bf16, _>([2, 3])?;
//! axpy(&x, &y, 2.0, &mut z).launch(&stream)?;
//! assert_eq!(stream.download(&z)?, [bf16::from_f32(2.5); 6]);
//! # Ok(())
//! # }
//! ```
//!
//! Axes that are one in memory of all operands are merged. Where rows of all of them are whole vectors of 16 bytes, tiles are read and written as vectors, and what
//! is repeated along a row is read once. Rows of few elements are numbered through, and elements are found one by one, which is slower.

mod arithmetic;
mod copy;
mod kernels;
mod operand;
mod turn;
mod walk;

use crate::Result;
use crate::operation::{Call, Request};
use std::fmt;
use triton::Stream;

pub use arithmetic::{add, clamp, div, maximum, minimum, mul, sub};
pub use copy::{concat, copy, select};
pub use kernels::{Arithmetic, CopyTo, Select, Term};
pub use operand::{Elements, ElementsMut};
pub use triton_kernels_macros::elementwise;
#[doc(hidden)]
pub use walk::{Layout, Part, Walk};

/// An operation of elements with its operands: what [`elementwise!`] declares returns it.
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct Elementwise<F> {
    op: &'static str,
    run: F,
}

impl<F: FnOnce(Call<'_>) -> Result<()>> Elementwise<F> {
    #[doc(hidden)]
    pub fn new(op: &'static str, run: F) -> Elementwise<F> {
        Elementwise { op, run }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::Rank`](crate::Error::Rank) of an operand that is not repeated to the extents of the result, or an
    /// error of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        (self.run)(Call::new(Request::new(self.op), stream, None))
    }

    /// As a part of another operation.
    pub(crate) fn call(self, call: Call<'_>) -> Result<()> {
        (self.run)(call)
    }
}

impl<F> fmt::Debug for Elementwise<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Elementwise({})", self.op)
    }
}
