//! What kernels and the programs that launch them import: `use triton::prelude::*;`.

pub use crate::lang::Scalar as _;
pub use crate::lang::{
    Float, Int, Num, Ptr, PtrMut, Tensor, TensorMut, Tf32, Tile, abs, all, all_axis, any, any_axis, arange, argmax,
    argmax_axis, argmin, argmin_axis, atomic_add, atomic_and, atomic_cas, atomic_max, atomic_min, atomic_or,
    atomic_xchg, atomic_xor, ceil, clamp, cos, dot, erf, exp, exp2, floor, fma, full, load, load_or, log, log2, max,
    max_axis, max_of, min, min_axis, min_of, num_programs, program_id, reduce, reduce_axis, round, rsqrt, sigmoid, sin,
    sqrt, store, sum, sum_axis, tanh, trunc, where_, zeros,
};
pub use crate::{
    AsPtr, AsPtrMut, AsTensor, AsTensorMut, Buffer, Device, DevicePtr, Element, Event, Grid, Pinned, Stream, View,
    ViewMut, bf16, f16,
};
