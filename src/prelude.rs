//! What kernels and the programs that launch them import: `use triton::prelude::*;`.

pub use crate::lang::Scalar as _;
pub use crate::lang::{
    Float, Int, Num, Ptr, PtrMut, Tile, abs, arange, fma, load, load_or, max, min, num_programs, program_id, sqrt,
    store, where_,
};
pub use crate::{AsPtr, AsPtrMut, Buffer, Device, DevicePtr, Element, Event, Grid, Pinned, Stream, bf16, f16};
