//! Which element types operations take, and how generic code reaches the kernels that were compiled for them.

use crate::Result;
use crate::operation::Call;
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
    /// Runs the body of an operation for this type.
    #[doc(hidden)]
    fn run<O: Launches>(operation: O::Of<'_, Self>, call: Call<'_>) -> Result<()>;
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

/// The bodies of an operation for each element type.
pub trait Launches {
    /// The builder.
    type Of<'a, T: FloatElement>;

    /// Of `f32`.
    ///
    /// # Errors
    /// Those of the operation.
    fn of_f32(operation: Self::Of<'_, f32>, call: Call<'_>) -> Result<()>;

    /// Of `f16`.
    ///
    /// # Errors
    /// Those of the operation.
    fn of_f16(operation: Self::Of<'_, f16>, call: Call<'_>) -> Result<()>;

    /// Of `bf16`.
    ///
    /// # Errors
    /// Those of the operation.
    fn of_bf16(operation: Self::Of<'_, bf16>, call: Call<'_>) -> Result<()>;
}

macro_rules! elements {
    ($($t:ident: $of:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl FloatElement for $t {
            fn run<O: Launches>(operation: O::Of<'_, $t>, call: Call<'_>) -> Result<()> {
                O::$of(operation, call)
            }
        }
    )*};
}

elements! {
    f32: of_f32;
    f16: of_f16;
    bf16: of_bf16;
}
