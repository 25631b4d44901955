//! Numbers of rows or classes, of either width.

use crate::Result;
use crate::operation::Call;
use crate::operation::{Extents, Operand, Shaped};
use triton::prelude::*;

/// Numbers of rows or classes: a view or a tensor of `i32`, or of `i64`, as PyTorch has them, of any rank.
#[derive(Clone, Debug)]
pub struct Ids<'a>(Width<'a>);

#[derive(Clone, Debug)]
enum Width<'a> {
    I32(Operand<View<'a, i32, 1>>),
    I64(Operand<View<'a, i64, 1>>),
}

/// What kernels take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers<'a> {
    I32(View<'a, i32, 1>),
    I64(View<'a, i64, 1>),
}

impl<'a> Ids<'a> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.extents().all().iter().product()
    }

    /// They, as one axis.
    ///
    /// # Errors
    /// [`Error::Merge`](crate::Error::Merge).
    pub(crate) fn numbers(self, op: &'static str, operand: &'static str) -> Result<Numbers<'a>> {
        Ok(match self.0 {
            Width::I32(of) => Numbers::I32(of.take(op, operand)?),
            Width::I64(of) => Numbers::I64(of.take(op, operand)?),
        })
    }

    /// They, as one axis, for kernels that take both widths: one of the views has no elements.
    ///
    /// # Errors
    /// [`Error::Merge`](crate::Error::Merge).
    pub(crate) fn both(self, call: Call<'a>, operand: &'static str) -> Result<(View<'a, i32, 1>, View<'a, i64, 1>)> {
        let none = call.stream.device();
        Ok(match self.numbers(call.op, operand)? {
            Numbers::I32(of) => (of, View::none(none)),
            Numbers::I64(of) => (View::none(none), of),
        })
    }

    /// They, as rows, for kernels that take both widths: one of the views has no elements.
    ///
    /// # Errors
    /// [`Error::Merge`](crate::Error::Merge).
    #[cfg(feature = "index")]
    pub(crate) fn rows(
        self,
        call: Call<'a>,
        operand: &'static str,
        shape: [usize; 2],
    ) -> Result<(View<'a, i32, 2>, View<'a, i64, 2>)> {
        let none = call.stream.device();
        Ok(match self.numbers(call.op, operand)? {
            Numbers::I32(of) => (of.split(0, shape)?, View::none(none)),
            Numbers::I64(of) => (View::none(none), of.split(0, shape)?),
        })
    }
}

impl Shaped for Ids<'_> {
    fn extents(&self) -> Extents {
        match &self.0 {
            Width::I32(of) => *of.shape(),
            Width::I64(of) => *of.shape(),
        }
    }
}

macro_rules! ids {
    ($($id:ty = $variant:ident;)*) => {$(
        impl<'a, const R: usize> From<View<'a, $id, R>> for Ids<'a> {
            fn from(view: View<'a, $id, R>) -> Ids<'a> {
                Ids(Width::$variant(Operand::merged(view, 0)))
            }
        }

        impl<'a, const R: usize> From<&'a Tensor<$id, R>> for Ids<'a> {
            fn from(tensor: &'a Tensor<$id, R>) -> Ids<'a> {
                tensor.as_view().into()
            }
        }
    )*};
}

ids! {
    i32 = I32;
    i64 = I64;
}

/// The number of each row, or −1 if there is no such row of `count`.
#[triton::function]
pub(crate) fn rows_of<I: Int>(ids: Tile<I>, count: i32) -> Tile<i32> {
    select((ids >= 0) & (ids < count.to::<I>()), ids.to::<i32>(), -1)
}

/// The number of each row in a shard of `count` rows, whose row 0 is row `first` of all, or −1 if the shard has no such row. It is compared before
/// it is subtracted: no number overflows.
#[triton::function]
pub(crate) fn rows_from<I: Int>(ids: Tile<I>, first: i64, count: i32) -> Tile<i32> {
    let own = maximum(ids.to::<i64>(), first) - first;
    select((ids.to::<i64>() >= first) & (own < count.to::<i64>()), own.to::<i32>(), -1)
}
