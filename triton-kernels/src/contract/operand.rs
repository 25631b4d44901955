//! Operands of any number of axes.

use super::few::Few;
use crate::error::{Error, Result};
use triton::{Buffer, Element, Tensor, View, ViewMut};

/// A number for each axis.
pub(super) type Numbers = Few<usize, 12>;

/// The operation of errors.
pub(super) const OP: &str = "contract";

/// An operand of any number of axes that is read: a [`View`] of up to five of them, or [`Modes::new`] for more, and for none.
#[derive(Clone, Debug)]
pub struct Modes<'a, T> {
    /// All memory from the first element to the last.
    pub(super) memory: Result<View<'a, T, 1>>,
    pub(super) shape: Numbers,
    pub(super) strides: Numbers,
}

/// The same to be written.
#[derive(Debug)]
pub struct ModesMut<'a, T> {
    pub(super) memory: Result<ViewMut<'a, T, 1>>,
    pub(super) shape: Numbers,
    pub(super) strides: Numbers,
}

/// Elements from the first to the last.
fn span(shape: &[usize], strides: &[usize]) -> Result<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let reach = |sum: usize, (extent, stride): (&usize, &usize)| sum.checked_add((extent - 1).checked_mul(*stride)?);
    let span = shape.iter().zip(strides).try_fold(1, reach).filter(|span| i32::try_from(*span).is_ok());
    span.ok_or_else(|| Error::Unsupported {
        op: OP,
        found: format!("an operand of {shape:?} with strides {strides:?}"),
        expected: "one that spans less than 2³¹ elements",
        fix: "contract parts of it",
    })
}

/// Strides that were passed, or row-major ones.
fn strides_of(shape: &[usize], strides: Option<&[isize]>) -> Result<Numbers> {
    let Some(strides) = strides else {
        let inside = |axis: usize| &shape[axis + 1..];
        let of = |axis: usize| inside(axis).iter().fold(1usize, |all, extent| all.saturating_mul((*extent).max(1)));
        return Ok((0..shape.len()).map(of).collect());
    };
    let wrong = |found: String, expected| Error::Value {
        op: OP,
        parameter: "strides",
        found,
        expected,
        fix: "pass a stride, in elements, for each axis",
    };
    if strides.len() != shape.len() {
        let found = format!("of {} axes where the shape has {}", strides.len(), shape.len());
        return Err(wrong(found, "a stride for each axis"));
    }
    let of = |stride: &isize| usize::try_from(*stride).map_err(|_| wrong(format!("{strides:?}"), "0 or more each"));
    strides.iter().map(of).collect()
}

impl<'a, T: Element> Modes<'a, T> {
    /// The first elements of a buffer as an array of any number of axes: row-major, or with a stride for each axis, in elements, of which 0 repeats.
    /// Without axes it is one element. What does not fit the buffer is an error of the launch.
    ///
    /// ```
    /// use triton::prelude::*;
    /// use triton_kernels::contract::{Modes, ModesMut};
    ///
    /// # fn main() -> triton_kernels::Result<()> {
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.upload(&[2.0f32; 64])?;
    /// let mut sum = stream.uninit::<f32>(1)?;
    /// // Six axes, and none.
    /// let (x, z) = (Modes::new(&x, &[2; 6], None), ModesMut::new(&mut sum, &[], None));
    /// triton_kernels::contract::contract("abcdef,abcdef->", x.clone(), x, z).launch(&stream)?;
    /// assert_eq!(stream.download(&sum)?, [256.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(buffer: &'a Buffer<T>, shape: &[usize], strides: Option<&[isize]>) -> Modes<'a, T> {
        let of = strides_of(shape, strides);
        let memory = of.as_ref().map_err(Clone::clone).and_then(|of| Ok(buffer.view([span(shape, of)?])?));
        Modes { memory, shape: shape.iter().copied().collect(), strides: of.unwrap_or_else(|_| Few::from_iter([])) }
    }
}

impl<'a, T: Element> ModesMut<'a, T> {
    /// As [`Modes::new`], of an array that is written. No two of its elements may alias.
    pub fn new(buffer: &'a mut Buffer<T>, shape: &[usize], strides: Option<&[isize]>) -> ModesMut<'a, T> {
        let of = strides_of(shape, strides).and_then(|of| {
            // What is too far apart is another error, and is found first.
            let span = span(shape, &of)?;
            match triton::aliasing(shape, &of) {
                None => Ok((of, span)),
                Some(reason) => Err(Error::Value {
                    op: OP,
                    parameter: "strides",
                    found: format!("{:?} for {shape:?}: {reason}", &*of),
                    expected: "no two elements that may alias",
                    fix: "let each stride be larger than what all smaller ones reach",
                }),
            }
        });
        let memory = match &of {
            Err(error) => Err(error.clone()),
            Ok((_, span)) => buffer.view_mut([*span]).map_err(Error::from),
        };
        let of = of.map(|(of, _)| of);
        ModesMut { memory, shape: shape.iter().copied().collect(), strides: of.unwrap_or_else(|_| Few::from_iter([])) }
    }
}

macro_rules! of_view {
    ($($modes:ident $view:ident $as_view:ident $tensor:ty;)*) => {$(
        impl<'a, T: Element, const R: usize> From<$view<'a, T, R>> for $modes<'a, T> {
            fn from(view: $view<'a, T, R>) -> $modes<'a, T> {
                // Views have no negative strides.
                let (shape, strides) = (view.shape(), view.strides().map(isize::unsigned_abs));
                let memory = span(&shape, &strides).and_then(|span| Ok(view.as_strided([span], [1])?));
                $modes { memory, shape: shape.into_iter().collect(), strides: strides.into_iter().collect() }
            }
        }

        impl<'a, T: Element, const R: usize> From<$tensor> for $modes<'a, T> {
            fn from(tensor: $tensor) -> $modes<'a, T> {
                tensor.$as_view().into()
            }
        }
    )*};
}

of_view! {
    Modes View as_view &'a Tensor<T, R>;
    ModesMut ViewMut as_view_mut &'a mut Tensor<T, R>;
}

mod sealed {
    pub trait Sealed {}
    impl<T, const R: usize> Sealed for triton::View<'_, T, R> {}
    impl<T, const R: usize> Sealed for triton::ViewMut<'_, T, R> {}
    impl<T, const R: usize> Sealed for &triton::Tensor<T, R> {}
    impl<T, const R: usize> Sealed for &mut triton::Tensor<T, R> {}
    impl<T> Sealed for super::Modes<'_, T> {}
    impl<T> Sealed for super::ModesMut<'_, T> {}
}

/// An operand of `R` axes: a [`View`] or a [`Tensor`] of that rank, or [`Modes`], whose axes are counted by the launch.
#[diagnostic::on_unimplemented(
    message = "the notation names another number of axes than `{Self}` has",
    label = "the notation names {R} axes of this operand",
    note = "pass a `View` or a `&Tensor` of as many axes, or `Modes` for any number"
)]
pub trait OfRank<'a, T: 'a, const R: usize>: sealed::Sealed + Into<Modes<'a, T>> {}

impl<'a, T: Element, const R: usize> OfRank<'a, T, R> for View<'a, T, R> {}
impl<'a, T: Element, const R: usize> OfRank<'a, T, R> for &'a Tensor<T, R> {}
impl<'a, T: Element, const R: usize> OfRank<'a, T, R> for Modes<'a, T> {}

/// The same of an output.
#[diagnostic::on_unimplemented(
    message = "the notation names another number of axes than `{Self}` has",
    label = "the notation names {R} axes of the output",
    note = "pass a `ViewMut` or a `&mut Tensor` of as many axes, or `ModesMut` for any number"
)]
pub trait OfRankMut<'a, T: 'a, const R: usize>: sealed::Sealed + Into<ModesMut<'a, T>> {}

impl<'a, T: Element, const R: usize> OfRankMut<'a, T, R> for ViewMut<'a, T, R> {}
impl<'a, T: Element, const R: usize> OfRankMut<'a, T, R> for &'a mut Tensor<T, R> {}
impl<'a, T: Element, const R: usize> OfRankMut<'a, T, R> for ModesMut<'a, T> {}

/// An operand whose number of axes is checked while the program is compiled: what [`contract!`](macro@crate::contract) passes.
#[doc(hidden)]
pub fn of_rank<'a, T, const R: usize>(operand: impl OfRank<'a, T, R>) -> Modes<'a, T> {
    operand.into()
}

/// The same of an output.
#[doc(hidden)]
pub fn of_rank_mut<'a, T, const R: usize>(operand: impl OfRankMut<'a, T, R>) -> ModesMut<'a, T> {
    operand.into()
}
