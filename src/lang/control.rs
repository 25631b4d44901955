//! Conditions and ranges as rustc sees them in a kernel's body. Not public.

use super::op::IntLiteral;
use super::{Condition, Int, stub};

/// `c` in `if c` and `while c`.
#[inline]
pub fn cond<C: Condition>(condition: C) -> bool {
    let _ = condition;
    stub()
}

/// What a `for` can count with: `i32`, `i64`, `u32` and `u64`.
///
/// ```
/// use triton::lang::Counter;
/// use triton::prelude::*;
///
/// #[triton::kernel(N = [i32, i64])]
/// fn sum_of<N: Counter>(x: Ptr<f32>, out: PtrMut<f32>, n: N) {
///     let mut total = 0.0;
///     for i in 0..n {
///         total += load(x + i.to::<i64>(), true);
///     }
///     store(out, total, true);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a `for` cannot count with `{Self}`",
    label = "not a type to count with",
    note = "counters are `i32`, `i64`, `u32` or `u64`"
)]
pub trait Counter: Int {}

macro_rules! counters {
    ($($t:ty)*) => { $(#[diagnostic::do_not_recommend] impl Counter for $t {})* };
}

counters!(i32 i64 u32 u64);

/// The two ends of a range.
#[diagnostic::on_unimplemented(
    message = "the ends of a range have the same integer type, not `{Self}` and `{B}`",
    label = "from a `{Self}` to a `{B}`",
    note = "there is no implicit conversion: convert one end with `.to::<..>()`",
    note = "counters are `i32`, `i64`, `u32` or `u64`"
)]
pub trait Ends<B> {
    /// What it counts with.
    type Counter: Counter;
}

#[diagnostic::do_not_recommend]
impl<T: Counter> Ends<T> for T {
    type Counter = T;
}
#[diagnostic::do_not_recommend]
impl<T: Counter> Ends<IntLiteral> for T {
    type Counter = T;
}
#[diagnostic::do_not_recommend]
impl<T: Counter> Ends<T> for IntLiteral {
    type Counter = T;
}
#[diagnostic::do_not_recommend]
impl Ends<IntLiteral> for IntLiteral {
    type Counter = i32;
}

/// The numbers of a `for`.
#[derive(Clone, Copy, Debug)]
pub struct Range<T>(T);

/// `lo..hi`.
#[inline]
pub fn range<A: Ends<B>, B>(lo: A, hi: B) -> Range<A::Counter> {
    let _ = (lo, hi);
    stub()
}

impl<T: Counter> Range<T> {
    /// Every `step`-th of them.
    #[inline]
    pub fn step_by(self, step: T) -> Range<T> {
        let _ = step;
        stub()
    }
}

impl<T: Counter> Iterator for Range<T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        stub()
    }
}
