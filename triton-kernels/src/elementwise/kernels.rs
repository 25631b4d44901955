//! The kernels of operations of elements, and for which types there are some.

use super::turn::turn;
use super::{Elements, ElementsMut, elementwise};
use crate::Result;
use crate::operation::Call;
use triton::Element;
use triton::prelude::*;

mod sealed {
    pub trait Sealed {}
    pub trait Copied<Y> {}
    pub trait Selected {}
}

/// What two elements become; numbers as in [`two_numbers`] and [`two_integers`].
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum Kind {
    Add,
    Sub,
    Mul,
    Max,
    Min,
    Div,
}

/// The same of tiles.
#[triton::function]
fn two_numbers(a: Tile<f32>, b: Tile<f32>, kind: i32) -> Tile<f32> {
    if kind == 0 {
        a + b
    } else if kind == 1 {
        a - b
    } else if kind == 2 {
        a * b
    } else if kind == 3 {
        select((b > a) | (b != b), b, a)
    } else if kind == 4 {
        select((b < a) | (b != b), b, a)
    } else {
        a / b
    }
}

/// The same of integers, which have no quotient here.
#[triton::function]
fn two_integers(a: Tile<i32>, b: Tile<i32>, kind: i32) -> Tile<i32> {
    if kind == 0 {
        a + b
    } else if kind == 1 {
        a - b
    } else if kind == 2 {
        a * b
    } else if kind == 3 {
        maximum(a, b)
    } else {
        minimum(a, b)
    }
}

/// x, but no less than `low`, and then no more than `high`. NaN stays.
#[triton::function]
fn bounded<T: Num>(x: Tile<T>, low: T, high: T) -> Tile<T> {
    let x = select(x < low, low, x);
    select(x > high, high, x)
}

macro_rules! numbers {
    ($($t:ident $scalar:ident $two:ident $bounded:ident $of:path;)*) => {$(
        elementwise!(
            crate = crate, $two,
            |a: $t, b: $t; number: $scalar, is_number: bool, kind: i32| -> $t {
                let b = select(is_number, number, b.to::<$scalar>());
                $of(a.to::<$scalar>(), b, kind)
            }
        );
        elementwise!(
            crate = crate, $bounded,
            |x: $t; low: $scalar, high: $scalar| -> $t { bounded::<$scalar>(x.to::<$scalar>(), low, high) }
        );

        impl sealed::Sealed for $t {}

        impl Arithmetic for $t {
            type Number = $scalar;

            fn two(kind: Kind, a: Elements<'_, $t>, b: Term<'_, $t>, y: ElementsMut<'_, $t>, call: Call<'_>) -> Result<()> {
                let (b, number) = match b {
                    Term::Elements(b) => (b, None),
                    Term::Number(number) => (Elements::absent(call.stream.device()), Some(number)),
                };
                let is_number = number.is_some();
                $two(a, b, number.unwrap_or_default(), is_number, kind as i32, y).call(call)
            }

            fn clamp(x: Elements<'_, $t>, low: $scalar, high: $scalar, y: ElementsMut<'_, $t>, call: Call<'_>) -> Result<()> {
                $bounded(x, low, high, y).call(call)
            }
        }

        impl From<$scalar> for Term<'_, $t> {
            fn from(number: $scalar) -> Self {
                Term::Number(number)
            }
        }
    )*};
}

numbers! {
    f32 f32 two_f32 clamp_f32 two_numbers;
    f16 f32 two_f16 clamp_f16 two_numbers;
    bf16 f32 two_bf16 clamp_bf16 two_numbers;
    i32 i32 two_i32 clamp_i32 two_integers;
}

/// An element type of arithmetic: `f32`, [`f16`](struct@f16) and [`bf16`], computed in `f32` and rounded once, or `i32`, which wraps around.
pub trait Arithmetic: Element + sealed::Sealed {
    /// A number of the host: `f32`, or `i32`.
    type Number: Copy;

    /// Enqueues an operation of two operands.
    ///
    /// # Errors
    /// Those of the operation.
    #[doc(hidden)]
    fn two(
        kind: Kind,
        a: Elements<'_, Self>,
        b: Term<'_, Self>,
        y: ElementsMut<'_, Self>,
        call: Call<'_>,
    ) -> Result<()>;

    /// Enqueues bounds.
    ///
    /// # Errors
    /// Those of the operation.
    #[doc(hidden)]
    fn clamp(
        x: Elements<'_, Self>,
        low: Self::Number,
        high: Self::Number,
        y: ElementsMut<'_, Self>,
        call: Call<'_>,
    ) -> Result<()>;
}

/// The second operand of arithmetic: elements, or a number of the host, `f32` of floats.
#[derive(Clone, Copy, Debug)]
pub enum Term<'a, T: Arithmetic> {
    /// A view or a tensor; one of one element is a number of the device.
    Elements(Elements<'a, T>),
    /// A number of the host.
    Number(T::Number),
}

impl<'a, T: Arithmetic, const R: usize> From<View<'a, T, R>> for Term<'a, T> {
    fn from(view: View<'a, T, R>) -> Term<'a, T> {
        Term::Elements(view.into())
    }
}

impl<'a, T: Arithmetic, const R: usize> From<&'a Tensor<T, R>> for Term<'a, T> {
    fn from(tensor: &'a Tensor<T, R>) -> Term<'a, T> {
        Term::Elements(tensor.into())
    }
}

/// An element type that is copied to `Y`: each of `f32`, [`f16`](struct@f16) and [`bf16`] to each of them, `u8`, `i32`, `i64` and `bool` to themselves and to `f32`,
/// `f32` to `i32`, and `i32` to `i64` and the other way.
#[diagnostic::on_unimplemented(message = "there is no copy of `{Self}` as `{Y}`")]
pub trait CopyTo<Y: Element>: Element + sealed::Copied<Y> {
    /// Enqueues it.
    ///
    /// # Errors
    /// Those of the operation.
    #[doc(hidden)]
    fn copy(x: Elements<'_, Self>, y: ElementsMut<'_, Y>, call: Call<'_>) -> Result<()>;
}

macro_rules! copies {
    ($($name:ident $x:ident $y:ident $($turn:ident)?;)*) => {$(
        elementwise!(crate = crate, $name, |x: $x| -> $y { x });

        impl sealed::Copied<$y> for $x {}

        impl CopyTo<$y> for $x {
            #[allow(unused_mut, reason = "few copies are turned")]
            fn copy(x: Elements<'_, $x>, mut y: ElementsMut<'_, $y>, call: Call<'_>) -> Result<()> {
                $(if $turn(x, &mut y, call)? {
                    return Ok(());
                })?
                $name(x, y).call(call)
            }
        }
    )*};
}

copies! {
    copy_f32 f32 f32 turn;
    copy_f32_f16 f32 f16;
    copy_f32_bf16 f32 bf16;
    copy_f16_f32 f16 f32;
    copy_f16 f16 f16 turn;
    copy_f16_bf16 f16 bf16;
    copy_bf16_f32 bf16 f32;
    copy_bf16_f16 bf16 f16;
    copy_bf16 bf16 bf16 turn;
    copy_u8 u8 u8;
    copy_u8_f32 u8 f32;
    copy_i32 i32 i32 turn;
    copy_i32_f32 i32 f32;
    copy_i32_i64 i32 i64;
    copy_f32_i32 f32 i32;
    copy_i64 i64 i64;
    copy_i64_f32 i64 f32;
    copy_i64_i32 i64 i32;
    copy_bool bool bool;
    copy_bool_f32 bool f32;
}

/// An element type that is chosen: `f32`, [`f16`](struct@f16), [`bf16`], `i32`.
pub trait Select: Element + sealed::Selected {
    /// Enqueues it.
    ///
    /// # Errors
    /// Those of the operation.
    #[doc(hidden)]
    fn select(
        condition: Elements<'_, bool>,
        a: Elements<'_, Self>,
        b: Elements<'_, Self>,
        y: ElementsMut<'_, Self>,
        call: Call<'_>,
    ) -> Result<()>;
}

macro_rules! selects {
    ($($name:ident $t:ident;)*) => {$(
        elementwise!(crate = crate, $name, |condition: bool, a: $t, b: $t| -> $t { select(condition, a, b) });

        impl sealed::Selected for $t {}

        impl Select for $t {
            fn select(
                condition: Elements<'_, bool>,
                a: Elements<'_, $t>,
                b: Elements<'_, $t>,
                y: ElementsMut<'_, $t>,
                call: Call<'_>,
            ) -> Result<()> {
                $name(condition, a, b, y).call(call)
            }
        }
    )*};
}

selects! {
    select_f32 f32;
    select_f16 f16;
    select_bf16 bf16;
    select_i32 i32;
}
