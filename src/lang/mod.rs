//! The kernel language: what a kernel's body may be written with.
//!
//! A launch runs one *program* of the kernel for each point of its grid; [`program_id`] is its index. A program works
//! on *tiles*: blocks of values of one element type, whose shape is a compile-time constant. The functions here are
//! never called: the attribute compiles the body, and rustc checks its names and types against these declarations.
//! Shapes are checked by the attribute alone.
//!
//! # Values
//!
//! | type | what it is |
//! |---|---|
//! | [`Tile<T>`](Tile) | a block of `T`; `T` is `bool`, an integer of 8 to 64 bits, [`f16`], [`bf16`], `f32` or `f64` |
//! | [`Ptr<T>`](Ptr), [`PtrMut<T>`](PtrMut) | an address of elements; plus a tile of offsets, a tile of addresses |
//! | [`Tensor<T, 2>`](Tensor), [`TensorMut<T, 2>`](TensorMut) | memory with a shape and strides; every access is checked |
//! | `T` | a number or `bool` that the whole program shares: parameters, generic constants, [`program_id`], [`num_programs`] |
//!
//! A type parameter has a bound: [`Num`] for every number, [`Float`] or [`Int`] for operations that only these have;
//! [`Bitwise`] for integers and `bool`, [`Counter`] for loop counters, and [`Element`](crate::Element) for all of them.
//!
//! # Operators
//!
//! All operators are elementwise. Their operands have the same element type: there is no implicit conversion, and
//! [`.to::<U>()`](Tile::to) converts, and [`.bitcast::<U>()`](Tile::bitcast) reads the same bits as another type. A literal takes the type of the other operand: `2`
//! beside an integer, `2.0` beside a float. Shapes broadcast as in NumPy: the
//! shorter one is padded with ones on the left, and an extent of 1 is repeated; a scalar broadcasts to every shape.
//!
//! | operators | on | result |
//! |---|---|---|
//! | `+ - * /`, unary `-` | numbers | the same type; integers wrap |
//! | `%` | integers | the same type, with the sign of the left operand |
//! | `== != < <= > >=` | numbers, `bool` (only `==`, `!=`) | `bool` |
//! | `& \| ^ !` | integers, `bool` | the same type |
//! | `<< >>` | integers | the same type; a shift by the width or more gives 0 (or the sign) |
//! | `&& \|\|` | scalar `bool` | `bool`; short-circuiting |
//! | `as` | scalars | the type written, as in Rust |
//! | `+ -` | a pointer and an integer offset, in elements | a pointer |
//!
//! An integer division by 0, the quotient of the smallest integer and −1, and a loop step that is not positive are
//! errors of the program. The CPU device and the simulator report them. A GPU does not: a quotient is unspecified
//! there, and a loop may run once or forever.
//!
//! # Elementwise functions
//!
//! Their result has the operand's type and shape. It is exact, or within a stated number of ulp (units in the last
//! place of `f32`, or of `f64` for itself) from the exact one; `f16` and `bf16` are computed in `f32` and rounded once more.
//!
//! | spelling | on | how exact |
//! |---|---|---|
//! | [`abs(x)`](abs), [`minimum(a, b)`](minimum), [`maximum(a, b)`](maximum) | numbers | exact |
//! | [`clamp(x, lo, hi)`](clamp) | numbers | exact |
//! | [`mul_hi(a, b)`](mul_hi) | integers | exact: the upper half of the product |
//! | [`floor(x)`](floor), [`ceil`], [`trunc`], [`round`] | floats | exact |
//! | [`sqrt(x)`](sqrt), [`fma(a, b, c)`](fma), and `+ - * /` | floats | correctly rounded |
//! | [`rsqrt(x)`](rsqrt) | floats | 2 ulp, of `f64` for `f64` |
//! | [`exp(x)`](exp), [`exp2(x)`](exp2) | floats | 2 ulp; of `f64` 1, with the same bits on every device |
//! | [`log(x)`](log), [`log2(x)`](log2) | floats | 1 ulp, 2 ulp (of `f64` 1); the same bits on every device |
//! | [`sin(x)`](sin), [`cos(x)`](cos) | floats | 2 ulp, of `f64` 1; the same bits on every device |
//! | [`sigmoid(x)`](sigmoid), [`tanh(x)`](tanh), [`erf(x)`](erf) | floats | 5 ulp, 3 ulp, 2 ulp; of `f64` 3, 2 and 1, with the same bits on every device |
//! | [`tanh_approx(x)`](tanh_approx) | `f32` | within 2⁻¹¹ of its value: one instruction of the GPU |
//! | [`select(mask, a, b)`](select) | numbers, `bool` | `a` or `b` |
//!
//! # Shapes, reductions, scans, products
//!
//! | spelling | what it is |
//! |---|---|
//! | [`arange(lo, hi)`](arange), [`zeros::<T>([64])`](zeros), [`full([64], 1.0)`](full) | new tiles; a shape is an array |
//! | [`x.expand_dims(1)`](Tile::expand_dims), [`x.broadcast_to([16, 64])`](Tile::broadcast_to) | more axes |
//! | [`x.reshape([64, 4])`](Tile::reshape), [`x.transpose()`](Tile::transpose), [`x.permute([1, 0])`](Tile::permute) | the same elements in another shape |
//! | [`join(a, b)`](join), [`split(x)`](split), [`interleave(a, b)`](interleave) | two tiles along a last axis of 2, and back; in turns along the last axis |
//! | [`sum(x)`](sum), [`max`], [`min`], [`argmax`], [`argmin`], [`any`], [`all`] | one value of a whole tile |
//! | [`sum_axis(x, 1)`](sum_axis), [`max_axis`], [`min_axis`], [`argmax_axis`], [`argmin_axis`], [`any_axis`], [`all_axis`] | a tile without that axis |
//! | [`dot(a, b, acc)`](dot), [`dot(a.precision(Tf32), b, acc)`](Tile::precision) | the product of two matrices, or of each pair of two batches |
//! | [`reduce(x, f)`](reduce), [`reduce_axis(x, 1, f)`](reduce_axis) | a reduction by a closure |
//! | [`cumsum(x, 1)`](cumsum), [`cumprod`], [`cummax`], [`cummin`] | of each element, and all before it along an axis: a tile of the same shape |
//! | [`scan(x, 1, f)`](scan), [`scan_reverse(x, 1, f)`](scan_reverse) | the same by a closure; from the end |
//!
//! # Memory
//!
//! | spelling | what it does |
//! |---|---|
//! | [`load(p, mask)`](load), [`load_or(p, mask, other)`](load_or), [`store(p, v, mask)`](store) | through pointers |
//! | [`a.load([i, j], [16, 16])`](Tensor::load), [`a.load_or([i, j], [16, 16], 1)`](Tensor::load_or), [`c.store([i, j], v)`](TensorMut::store) | through views |
//! | [`a.get([i, j])`](Tensor::get), [`a.gather([i, j], mask)`](Tensor::gather), [`a.gather_or([i, j], mask, 1)`](Tensor::gather_or), [`c.scatter([i, j], v, mask)`](TensorMut::scatter) | one element of a view; an index per element |
//! | [`a.dim(0)`](Tensor::dim), [`a.stride(0)`](Tensor::stride) | the shape and the strides of a view |
//! | [`atomic_add(p, v, mask)`](atomic_add), [`atomic_min`], [`atomic_max`], [`atomic_and`], [`atomic_or`], [`atomic_xor`], [`atomic_xchg`] | updates in one step, and gives what was there |
//! | [`atomic_cas(p, compare, v)`](atomic_cas) | the same where the old value is `compare` |
//! | [`c.atomic_add([i, j], v)`](TensorMut::atomic_add), .., [`c.atomic_cas([i, j], compare, v)`](TensorMut::atomic_cas) | through views |
//! | [`c.order(AcqRel).atomic_add(..)`](TensorMut::order), [`atomic_add(p.order(Release), ..)`](PtrMut::order), [`fence()`](fence) | orders other accesses of the program, as other programs see them |
//! | [`multiple_of(p, 16)`](multiple_of), [`max_contiguous(i, 8)`](max_contiguous), [`max_constancy(i, 4)`](max_constancy) | promises what is not found of indices and pointers, and yields them |
//! | [`c.atomic_add_at([i, j], v, mask)`](TensorMut::atomic_add_at), .., [`c.atomic_cas_at([i, j], compare, v, mask)`](TensorMut::atomic_cas_at) | the same with an index per element |
//!
//! # Statements
//!
//! `let` with a name, `_` or a tuple of them; shadowing; `mut` and assignment, also compound (`+=`) and of tuples
//! (`(a, b) = (b, a)`); `const` items; blocks as expressions; tuples; `#[cfg(..)]` and lint levels on statements. What
//! is not listed is reported by the attribute, with its span.
//!
//! | statement | meaning |
//! |---|---|
//! | `if c { .. } else if d { .. } else { .. }` | `c` is one `bool`; as a value, both branches have one type and shape, or are tuples of such. A compile-time constant chooses its branch: the other one may have another shape |
//! | `for i in lo..hi` | counts an `i32`, `i64`, `u32` or `u64` up to, but not including, `hi` |
//! | `for i in (lo..hi).step_by(s)` | the same in steps of `s`, which is positive |
//! | `for i in` [`unroll(lo..hi)`](unroll) | the same while compiling: `i` is a compile-time constant in each iteration |
//! | `while c { .. }`, `loop { .. }` | while `c`, one `bool`, holds; until it is left |
//! | `break;`, `continue;`, `break 'a;` | leaves a loop, or an iteration; `'a: for ..` names a loop around others |
//! | `assert!(c)`, `assert!(c, "what is wrong")` | stops the launch unless `c`, a `bool` or every element of a mask, holds |
//! | `const { assert!(c, "what is wrong") }` | the same at compile time, for each instance |
//! | `println!("row {}: {}", i, x)` | prints numbers and tiles; a placeholder is `{}` or `{name}` |
//! | `return;` | ends the program; between the kernel's statements, in loops too, or in an `if` there |
//!
//! A variable that is assigned in a loop or a branch keeps its element type and shape.
//!
//! # Functions, constants, structs
//!
//! A kernel calls functions with [`#[triton::function]`](crate::function), by any path to them, which may take closures and other
//! functions (`f: impl Fn(Tile<f32>) -> Tile<f32>`), and reads fields of
//! parameters that are structs with [`#[triton::params]`](crate::params). It can name constants of the program: their
//! values are embedded in its code. Extents of tiles can only be computed from those with
//! [`#[triton::constant]`](crate::constant), and from the constants of `std::f32::consts` and of element types, such as `f32::MAX`.
//!
//! ```
//! use triton::prelude::*;
//!
//! #[triton::constant]
//! const WIDTH: i32 = 256;
//!
//! /// The sigmoid linear unit.
//! #[triton::function]
//! fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
//!     x * sigmoid(x)
//! }
//!
//! #[triton::kernel(T = [f32, bf16])]
//! fn activate<T: Float>(x: PtrMut<T>, n: i32) {
//!     let i = program_id(0) * WIDTH + arange(0, WIDTH);
//!     store(x + i, silu(load(x + i, i < n)), i < n);
//! }
//! ```
//!
//! # Assertions
//!
//! An `assert!` is checked at run time, in every program, unless the kernel sets `assertions = false`. A failing one
//! stops the launch: the next call to its device (on the CPU device, the launch itself) returns
//! [`Error::DeviceAssert`](crate::Error::DeviceAssert), which names the kernel, the line, the program and the message. A GPU
//! is then unusable for the rest of the process.
//!
//! ```
//! use triton::prelude::*;
//!
//! #[triton::kernel(BLOCK = [128, 256])]
//! fn gather<const BLOCK: i32>(x: Ptr<f32>, index: Ptr<i32>, out: PtrMut<f32>, n: i32) {
//!     const { assert!(BLOCK % 128 == 0, "whole warps") }
//!     let i = program_id(0) * BLOCK + arange(0, BLOCK);
//!     let at = load(index + i, i < n);
//!     assert!((at >= 0) & (at < n), "an index outside x");
//!     store(out + i, load(x + at, i < n), i < n);
//! }
//! ```
//!
//! # Printing
//!
//! `println!` prints a line in every program. If one of its values is a tile, it prints a line for each element, which
//! starts with the program and the index of the element: `(2, 0, 0)[17] x = 0.5`. Lines of different programs, and
//! those of a tile's elements, come in any order. A GPU prints when the host synchronizes, floats with enough digits to
//! distinguish them, and drops lines beyond the driver's buffer of 1 MiB.
//!
//! ```
//! use triton::prelude::*;
//!
//! #[triton::kernel]
//! fn watch(x: Ptr<f32>, n: i32) {
//!     let i = program_id(0) * 4 + arange(0, 4);
//!     println!("program {} of {}", program_id(0), num_programs(0));
//!     println!("x = {}, {} of {}", load(x + i, i < n), i, n);
//! }
//! ```
//!
//! ```
//! use triton::prelude::*;
//!
//! /// out[r] = the largest element of row r, or -1 for one without elements.
//! #[triton::kernel]
//! fn largest(x: Ptr<f32>, length: Ptr<i32>, out: PtrMut<f32>, rows: i32) {
//!     let row = program_id(0);
//!     if row >= rows {
//!         return;
//!     }
//!     let n = load(length + row, true);
//!     let mut best = load_or(x + row * 1024, n > 0, -1.0);
//!     for i in 1..n {
//!         best = maximum(best, load(x + row * 1024 + i, true));
//!     }
//!     store(out + row, best, true);
//! }
//! ```
//!
//! [`f16`]: crate::f16
//! [`bf16`]: crate::bf16

use triton_macros::built_ins;

mod atomic;
mod control;
mod dot;
mod element;
pub mod functions;
mod gather;
mod hints;
mod index;
mod library;
mod math;
mod memory;
#[doc(hidden)]
pub mod op;
mod order;
mod reduce;
mod rounding;
mod scan;
mod shape;
mod value;
mod view;

pub use atomic::{atomic_add, atomic_and, atomic_cas, atomic_max, atomic_min, atomic_or, atomic_xchg, atomic_xor};
pub use dot::{Tf32, dot};
pub use element::{Bitwise, Float, Int, Num};
pub use hints::{max_constancy, max_contiguous, multiple_of};
pub use index::{arange, num_programs, program_id, unroll};
pub use library::{clamp, erf, round, sigmoid, tanh};
pub use math::{abs, cos, exp, exp2, fma, log, log2, maximum, minimum, mul_hi, rsqrt, select, sin, sqrt, tanh_approx};
pub use memory::{load, load_or, store};
pub use order::{AcqRel, Acquire, Relaxed, Release, fence};
pub use reduce::{
    all, all_axis, any, any_axis, argmax, argmax_axis, argmin, argmin_axis, max, max_axis, min, min_axis, reduce,
    reduce_axis, sum, sum_axis,
};
pub use rounding::{ceil, floor, trunc};
pub use scan::{cummax, cummin, cumprod, cumsum, scan, scan_reverse};
pub use shape::{full, interleave, join, split, zeros};
pub use value::{Ptr, PtrMut, Scalar, Tile};
pub use view::{Tensor, TensorMut};

pub use control::Counter;
#[doc(hidden)]
pub use control::{Ends, Range, cond, range};
#[doc(hidden)]
pub use dot::Precision;
#[doc(hidden)]
pub use hints::Along;
#[doc(hidden)]
pub use math::{Condition, Join, Mask, Value};
#[doc(hidden)]
pub use memory::{Load, Store};
#[doc(hidden)]
pub use op::{cast, check, float_literal, float_operand, int_literal, integer, literal, neg, not, print, printed};
#[doc(hidden)]
pub use reduce::Reducible;
#[doc(hidden)]
pub use shape::Shape;
#[doc(hidden)]
pub use view::Position;

built_ins!();

/// The body of every function here. None is ever compiled: a twin is not called, and a call from the host ends the build.
// Inlined into a function without generic parameters, the constant would be evaluated where nothing calls it.
#[inline(never)]
fn stub<T>() -> T {
    const { panic!("a function of the kernel language is called outside a kernel") }
}
