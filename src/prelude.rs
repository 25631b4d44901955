//! What kernels and the programs that launch them import: `use triton::prelude::*;`. The functions of the language are not
//! included: the body of a kernel has them without an import.
//!
//! [`Tensor`] is the host's, a buffer with a shape. In the parameters of a kernel the same name means [`lang::Tensor`](crate::lang::Tensor),
//! whatever is imported.

pub use crate::lang::{AcqRel, Acquire, Float, Int, Num, Ptr, PtrMut, Relaxed, Release, TensorMut, Tf32, Tile};
pub use crate::{
    AsPtrArg, AsPtrMutArg, Buffer, Device, DevicePtr, DevicePtrMut, Element, Event, Graph, Grid, IntoView, IntoViewMut,
    Pinned, Scratch, Stream, Tensor, View, ViewMut, bf16, f16,
};
