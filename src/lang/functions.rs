//! The functions of the language, as the body of every kernel and function sees them: nothing has to be imported.
//!
//! A host program does not see them. Called by its path from there, one ends the build:
//!
//! ```compile_fail
//! let larger = triton::lang::maximum(1, 2);
//! ```

pub use super::Scalar as _;
pub use super::{
    abs, all, all_axis, any, any_axis, arange, argmax, argmax_axis, argmin, argmin_axis, atomic_add, atomic_and,
    atomic_cas, atomic_max, atomic_min, atomic_or, atomic_xchg, atomic_xor, ceil, clamp, cos, cummax, cummin, cumprod,
    cumsum, dot, erf, exp, exp2, fence, floor, fma, full, interleave, join, load, load_or, log, log2, max, max_axis,
    max_constancy, max_contiguous, maximum, min, min_axis, minimum, mul_hi, multiple_of, num_programs, program_id,
    reduce, reduce_axis, round, rsqrt, scan, scan_reverse, select, sigmoid, sin, split, sqrt, store, sum, sum_axis,
    tanh, tanh_approx, trunc, unroll, zeros,
};
