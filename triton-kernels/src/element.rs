//! Which element types operations take, and how generic code reaches the kernels that were compiled for them.

use crate::Result;
use triton::prelude::*;

mod sealed {
    pub trait Sealed {}
}

/// An element type of operations: `f32`, [`f16`](struct@f16) or [`bf16`]. Arithmetic is in `f32`, and results are rounded once.
#[diagnostic::on_unimplemented(
    message = "there are no kernels for `{Self}`",
    label = "neither `f32`, nor `f16`, nor `bf16`",
    note = "convert the operand to `f32`"
)]
pub trait FloatElement: Float + SumOf<Self> + sealed::Sealed {
    /// Runs the operation that was compiled for this type.
    #[doc(hidden)]
    fn dispatch<O: Operation>(operation: O::Of<'_, Self>, stream: &Stream) -> Result<()>;
}

/// An element type of the sums of columns of `T`: `T` itself, or `f32`.
#[diagnostic::on_unimplemented(
    message = "sums of columns of `{T}` are not stored as `{Self}`",
    label = "neither `{T}` nor `f32`"
)]
pub trait SumOf<T: Float>: Float {
    /// The output for `T`, and the one for `f32`, of which one is absent.
    #[doc(hidden)]
    fn outputs<'a>(out: ViewMut<'a, Self, 1>) -> (ViewMut<'a, T, 1>, ViewMut<'a, f32, 1>);
}

impl<T: Float> SumOf<T> for f32 {
    fn outputs<'a>(out: ViewMut<'a, f32, 1>) -> (ViewMut<'a, T, 1>, ViewMut<'a, f32, 1>) {
        (ViewMut::none(out.device()), out)
    }
}

impl SumOf<f16> for f16 {
    fn outputs<'a>(out: ViewMut<'a, f16, 1>) -> (ViewMut<'a, f16, 1>, ViewMut<'a, f32, 1>) {
        let none = ViewMut::none(out.device());
        (out, none)
    }
}

impl SumOf<bf16> for bf16 {
    fn outputs<'a>(out: ViewMut<'a, bf16, 1>) -> (ViewMut<'a, bf16, 1>, ViewMut<'a, f32, 1>) {
        let none = ViewMut::none(out.device());
        (out, none)
    }
}

/// Numbers of rows or classes: a view of `i32`, or of `i64`, as PyTorch has them.
#[cfg(feature = "rows")]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Ids<'a> {
    /// Of 32 bits.
    I32(View<'a, i32, 1>),
    /// Of 64 bits.
    I64(View<'a, i64, 1>),
}

#[cfg(feature = "rows")]
impl Ids<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Ids::I32(view) => view.shape()[0],
            Ids::I64(view) => view.shape()[0],
        }
    }
}

/// Ids of either width, of a view or a tensor.
#[cfg(feature = "rows")]
macro_rules! ids {
    ($($id:ty = $variant:ident;)*) => {$(
        impl<'a> From<View<'a, $id, 1>> for Ids<'a> {
            fn from(view: View<'a, $id, 1>) -> Ids<'a> {
                Ids::$variant(view)
            }
        }

        impl<'a> From<&'a Tensor<$id, 1>> for Ids<'a> {
            fn from(tensor: &'a Tensor<$id, 1>) -> Ids<'a> {
                Ids::$variant(tensor.as_view())
            }
        }
    )*};
}

#[cfg(feature = "rows")]
ids! {
    i32 = I32;
    i64 = I64;
}

/// The number of each row, or −1 if there is no such row of `count`.
#[cfg(feature = "rows")]
#[triton::function]
pub(crate) fn rows_of<I: Int>(ids: Tile<I>, count: i32) -> Tile<i32> {
    select((ids >= 0) & (ids < count.to::<I>()), ids.to::<i32>(), -1)
}

/// An operation whose kernels are compiled for each [`FloatElement`].
#[doc(hidden)]
pub trait Operation {
    /// With its operands.
    type Of<'a, T: FloatElement>;

    fn of_f32(operation: Self::Of<'_, f32>, stream: &Stream) -> Result<()>;

    fn of_f16(operation: Self::Of<'_, f16>, stream: &Stream) -> Result<()>;

    fn of_bf16(operation: Self::Of<'_, bf16>, stream: &Stream) -> Result<()>;
}

macro_rules! elements {
    ($($t:ident: $of:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl FloatElement for $t {
            fn dispatch<O: Operation>(operation: O::Of<'_, $t>, stream: &Stream) -> Result<()> {
                O::$of(operation, stream)
            }
        }
    )*};
}

elements! {
    f32: of_f32;
    f16: of_f16;
    bf16: of_bf16;
}

/// Declares the operation of a builder: what its `launch` calls, of a function that is generic over pools.
macro_rules! operation {
    ($name:ident: $builder:ident by $enqueue:path) => {
        #[doc(hidden)]
        #[derive(Debug)]
        pub struct $name;

        impl $crate::element::Operation for $name {
            type Of<'a, T: $crate::element::FloatElement> = $builder<'a, T>;

            fn of_f32(operation: $builder<'_, f32>, stream: &triton::Stream) -> $crate::Result<()> {
                $enqueue(operation, stream)
            }

            fn of_f16(operation: $builder<'_, triton::f16>, stream: &triton::Stream) -> $crate::Result<()> {
                $enqueue(operation, stream)
            }

            fn of_bf16(operation: $builder<'_, triton::bf16>, stream: &triton::Stream) -> $crate::Result<()> {
                $enqueue(operation, stream)
            }
        }
    };
}

pub(crate) use operation;
