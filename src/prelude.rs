//! What kernels and the programs that launch them import: `use triton::prelude::*;`. The functions of the language are not
//! included: the body of a kernel has them without an import.

pub use crate::lang::{AcqRel, Acquire, Float, Int, Num, Ptr, PtrMut, Relaxed, Release, Tensor, TensorMut, Tf32, Tile};
pub use crate::{
    AsPtrArg, AsPtrMutArg, Buffer, Device, DevicePtr, DevicePtrMut, Element, Event, Graph, Grid, IntoTensorArg,
    IntoTensorMutArg, Pinned, Scratch, Stream, View, ViewMut, bf16, f16,
};
