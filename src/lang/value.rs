//! The types of values.

use super::stub;
use crate::Element;
use std::marker::PhantomData;

/// A block of values that one program works on.
///
/// Its shape is a compile-time constant and is not part of the Rust type; every extent is a power of two, or
/// an odd number of at most 31 times one, and a tile has at most 2²⁰ elements. Tiles are values: they are copied, never changed in place.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn squares(out: PtrMut<f32>) {
///     let i: Tile<i32> = arange(0, 128); // tile of i32[128]
///     let x: Tile<f32> = i.to::<f32>();
///     store(out + i, x * x, true);
/// }
/// ```
pub struct Tile<T>(PhantomData<T>);

/// An address of elements that a kernel reads.
///
/// As a parameter it takes a device buffer, `&Buffer<T>`. `pointer + offset` counts in elements; with a tile of offsets it
/// is a tile of addresses, which [`load`](crate::lang::load) reads.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn copy(x: Ptr<u8>, out: PtrMut<u8>, n: i32) {
///     let i = program_id(0) * 1024 + arange(0, 1024);
///     store(out + i, load(x + i, i < n), i < n);
/// }
/// ```
pub struct Ptr<T>(PhantomData<T>);

/// An address of elements that a kernel reads and writes.
///
/// As a parameter it takes `&mut Buffer<T>`. Arithmetic is that of [`Ptr`]; [`store`](crate::lang::store) writes.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn clear(x: PtrMut<i64>, n: i32) {
///     let i = program_id(0) * 1024 + arange(0, 1024);
///     store(x + i, 0, i < n);
/// }
/// ```
pub struct PtrMut<T>(PhantomData<T>);

macro_rules! values {
    ($($name:ident)*) => { $(
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
    )* };
}

values!(Tile Ptr PtrMut);

impl<T: Element> Tile<T> {
    /// Converts every element, as Rust's `as` does.
    ///
    /// The shape stays. Float to integer truncates and saturates, with NaN giving 0; integer to a narrower
    /// integer wraps; to a float, the nearest value. `bool` becomes 0 or 1.
    ///
    /// # Compile errors
    /// `U` is not given, or is not an element type; `U` is `bool` and `T` is not: a number becomes `bool` only by a
    /// comparison.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn widen(x: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    ///     let i = program_id(0) * 256 + arange(0, 256);
    ///     store(out + i, load(x + i, i < n).to::<f32>(), i < n);
    /// }
    /// ```
    #[inline]
    pub fn to<U: Element>(self) -> Tile<U> {
        stub()
    }

    /// The bits of every element as those of another element type of the same width.
    ///
    /// The shape stays, and so does every bit, those of a NaN too: as Rust's [`f32::to_bits`] and [`f32::from_bits`], for
    /// any two of `i32`, `u32`, `f32`; of `i64`, `u64`, `f64`; of `i16`, `u16`, `f16`, `bf16`; of `i8`, `u8`. On a GPU it
    /// takes no instruction, but one between `i8` and `u8`.
    ///
    /// # Compile errors
    /// `U` is not given, or is not an element type; it has another width than `T`; one of them is `bool`.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Rounds towards zero to the 8 bits of mantissa that `bf16` has.
    /// #[triton::kernel]
    /// fn cut(x: PtrMut<f32>, n: i32) {
    ///     let i = program_id(0) * 256 + arange(0, 256);
    ///     let bits = load(x + i, i < n).bitcast::<u32>();
    ///     store(x + i, (bits & 0xffff_0000).bitcast::<f32>(), i < n);
    /// }
    ///
    /// fn main() -> triton::Result<()> {
    ///     let stream = Device::cpu().stream()?;
    ///     let mut x = stream.upload(&[1.0f32, 3.1415927, -3.1415927])?;
    ///     // SAFETY: the mask keeps every access below 3.
    ///     unsafe { cut(&mut x, 3).launch(&stream, 1)? };
    ///     assert_eq!(stream.download(&x)?, [1.0, 3.140625, -3.140625]);
    ///     Ok(())
    /// }
    /// ```
    #[inline]
    pub fn bitcast<U: Element>(self) -> Tile<U> {
        stub()
    }
}

/// The conversion methods of numbers in a kernel.
pub trait Scalar: Element {
    /// Converts a number, as [`Tile::to`] converts a tile's elements.
    ///
    /// Unlike `as` it also takes and gives [`f16`](crate::f16), [`bf16`](crate::bf16) and generic types. A literal
    /// keeps its default type before: `1.to::<T>()` is the number 1 of any `T`.
    ///
    /// # Compile errors
    /// Those of [`Tile::to`].
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel(T = [f16, f32])]
    /// fn scale<T: Float>(x: PtrMut<T>, factor: f32, n: i32) {
    ///     let i = program_id(0) * 256 + arange(0, 256);
    ///     store(x + i, load(x + i, i < n) * factor.to::<T>(), i < n);
    /// }
    /// ```
    #[inline]
    fn to<U: Element>(self) -> U {
        stub()
    }

    /// The bits of a number as those of another element type of the same width, as [`Tile::bitcast`] of a tile's elements.
    ///
    /// # Compile errors
    /// Those of [`Tile::bitcast`].
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn exponents(x: Ptr<f32>, out: PtrMut<i32>, n: i32) {
    ///     for i in (program_id(0)..n).step_by(num_programs(0)) {
    ///         let bits = load(x + i, true).bitcast::<u32>();
    ///         store(out + i, (bits >> 23 & 0xff).to::<i32>() - 127, true);
    ///     }
    /// }
    /// ```
    #[inline]
    fn bitcast<U: Element>(self) -> U {
        stub()
    }
}

impl<T: Element> Scalar for T {}
