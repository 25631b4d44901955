//! Atomic updates of memory that several programs share.

use super::{Load, Mask, Store, stub};

/// Adds a value to elements of memory, and returns their old values.
///
/// As with all functions `atomic_..`, each element is updated by one atomic read-modify-write at device scope. Updates
/// are *relaxed*: they order neither different elements nor other accesses. A plain `load` may return a stale value; to
/// observe the updates of other programs, use an atomic one, such as `atomic_add(p, 0, true)`. To publish other memory to
/// other programs, give the update an [order](crate::lang::PtrMut::order).
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
/// Integers wrap. The order in which programs add is unspecified, so the last bits of a sum of floats vary between
/// launches; a subnormal `f32` may be flushed to 0 on a GPU. Sums of `f16` and `bf16` are rounded at each addition.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not floats or integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn histogram(x: Ptr<i32>, counts: PtrMut<u32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let bucket = load(x + i, i < n);
///     atomic_add(counts + bucket, 1, i < n);
/// }
/// ```
#[inline]
pub fn atomic_add<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by a value where that is smaller, and returns their old values.
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
/// What is smaller is as [`minimum`](crate::lang::minimum) says: of a number and NaN the number stays, and −0 is less than +0.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not floats or integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn smallest(x: Ptr<i32>, out: PtrMut<i32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     atomic_min(out, min(load_or(x + i, i < n, i32::MAX)), true);
/// }
/// ```
#[inline]
pub fn atomic_min<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by a value where that is larger, and returns their old values.
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
/// What is larger is as [`maximum`](crate::lang::maximum) says: of a number and NaN the number stays, and −0 is less than +0.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not floats or integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn largest(x: Ptr<i32>, out: PtrMut<i32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     atomic_max(out, max(load_or(x + i, i < n, i32::MIN)), true);
/// }
/// ```
#[inline]
pub fn atomic_max<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by the bitwise `&` of them and a value, and returns their old values.
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn clear_bits(bits: Ptr<i32>, words: PtrMut<i32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let bit = load(bits + i, i < n);
///     atomic_and(words + (bit >> 5), !(1 << (bit & 31)), i < n);
/// }
/// ```
#[inline]
pub fn atomic_and<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by the bitwise `|` of them and a value, and returns their old values.
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn set_bits(bits: Ptr<i32>, words: PtrMut<i32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let bit = load(bits + i, i < n);
///     atomic_or(words + (bit >> 5), 1 << (bit & 31), i < n);
/// }
/// ```
#[inline]
pub fn atomic_or<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by the bitwise `^` of them and a value, and returns their old values.
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn flip_bits(bits: Ptr<i32>, words: PtrMut<i32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let bit = load(bits + i, i < n);
///     atomic_xor(words + (bit >> 5), 1 << (bit & 31), i < n);
/// }
/// ```
#[inline]
pub fn atomic_xor<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by a value, and returns their old values.
///
/// `p` is one pointer or a tile of them; `value` and `mask` broadcast to its shape, and so does the result: the old
/// values. Where `mask` is `false` nothing is changed, and the result is 0. Pointers may alias: each value counts.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not floats or integers of 32 or 64 bits;
/// `value` is of another element type; `value` or `mask` has a larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn take(slots: PtrMut<i32>, out: PtrMut<i32>) {
///     let i = arange(0, 64);
///     store(out + program_id(0) * 64 + i, atomic_xchg(slots + i, -1, true), true);
/// }
/// ```
#[inline]
pub fn atomic_xchg<P: Load + Store<V>, V>(p: P, value: V, mask: impl Mask) -> P::Out {
    let _ = (p, value, mask);
    stub()
}

/// Replaces elements of memory by `value` where they are equal to `compare`, and returns their old values: where one is
/// `compare`, the exchange took place.
///
/// `p` is one pointer or a tile of them; `compare` and `value` broadcast to its shape, and so does the result: the old
/// values. Floats are compared by their bits. (It has no mask; where some elements must not be accessed, use a view.)
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`](crate::lang::Ptr); its elements are not numbers of 16, 32 or 64 bits; `compare`
/// or `value` is of another element type, or has a larger shape than `p`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn claim(owner: PtrMut<i32>, won: PtrMut<bool>) {
///     let me = program_id(0);
///     let before = atomic_cas(owner, -1, me);
///     store(won + me, before == -1, true);
/// }
/// ```
#[inline]
pub fn atomic_cas<P: Load + Store<C> + Store<V>, C, V>(p: P, compare: C, value: V) -> P::Out {
    let _ = (p, compare, value);
    stub()
}
