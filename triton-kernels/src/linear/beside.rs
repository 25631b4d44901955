//! What is asked for beside a product, and what kernels with an epilogue take of it. A plain product has none of it, and moves no views of what is absent.

use super::kernels::epilogue::Epilogue;
use super::operands::for_each;
use crate::activation::Activation;
use crate::error::{Result, extent};
use std::ops::Range;
use triton::{Device, Element, View};

/// What the products of a row or column are multiplied by.
#[derive(Clone, Copy, Debug)]
pub enum Scale<'a> {
    /// All of them by one number: a view of one element.
    Tensor(View<'a, f32, 1>),
    /// Those of each row of a, or column of b, by a number of its own.
    Each(View<'a, f32, 1>),
}

/// What is asked for, not checked.
pub(super) struct Beside<'a, C> {
    pub(super) bias: Option<View<'a, C, 1>>,
    pub(super) row_bias: Option<View<'a, C, 1>>,
    pub(super) residual: Option<View<'a, C, 3>>,
    pub(super) scale_a: Option<Scale<'a>>,
    pub(super) scale_b: Option<Scale<'a>>,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) activation: Activation,
}

/// What a kernel with an epilogue takes beside its operands.
#[derive(Clone, Copy)]
pub struct Fused<'a, C, const R: usize> {
    pub(super) residual: View<'a, C, R>,
    pub(super) bias: View<'a, C, 1>,
    pub(super) row_bias: View<'a, C, 1>,
    pub(super) row_scales: View<'a, f32, 1>,
    pub(super) column_scales: View<'a, f32, 1>,
    pub(super) options: Epilogue,
}

impl<C> Default for Beside<'_, C> {
    fn default() -> Self {
        Beside {
            bias: None,
            row_bias: None,
            residual: None,
            scale_a: None,
            scale_b: None,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::Identity,
        }
    }
}

impl<'a, C: Element> Beside<'a, C> {
    /// Whether nothing is asked for.
    pub(super) fn is_nothing(&self) -> bool {
        let of_numbers = (self.alpha, self.beta, self.activation) == (1.0, 0.0, Activation::Identity);
        let has_views = self.bias.is_some() || self.row_bias.is_some() || self.residual.is_some();
        of_numbers && !has_views && self.scale_a.is_none() && self.scale_b.is_none()
    }

    /// What a product takes that is stored in a shape, after all checks, with or without the sums of columns. The axes of a product that is none of a batch
    /// are counted without the first.
    pub(super) fn checked(
        &self,
        op: &'static str,
        [batch, m, n]: [usize; 3],
        batched: bool,
        sums: bool,
        device: &'a Device,
    ) -> Result<Fused<'a, C, 3>> {
        let length = |operand, view: Option<View<'a, C, 1>>, expected, fix| match view {
            Some(view) => extent(op, operand, 0, [view.shape()[0], expected], fix).map(|()| view),
            None => Ok(View::none(device)),
        };
        let bias = length("bias", self.bias, n, "it has an element for each column of c")?;
        let row_bias = length("row_bias", self.row_bias, m, "it has an element for each row of c")?;
        let residual = match self.residual {
            None => View::none(device),
            Some(residual) => {
                let residual = for_each(residual, batch)?;
                let found = residual.shape();
                let first = usize::from(!batched);
                (first..3).try_for_each(|i| {
                    extent(op, "residual", i - first, [found[i], [batch, m, n][i]], "it has the shape of c")
                })?;
                residual
            }
        };
        let scale = |operand, scale: Option<Scale<'a>>, count| -> Result<View<'a, f32, 1>> {
            match scale {
                None => Ok(View::none(device)),
                Some(Scale::Tensor(view)) => {
                    extent(op, operand, 0, [view.shape()[0], 1], "one number is for all products")?;
                    Ok(view.broadcast(0, count)?)
                }
                Some(Scale::Each(view)) => {
                    let fix = "it has an element for each row of a or column of b";
                    extent(op, operand, 0, [view.shape()[0], count], fix)?;
                    Ok(view)
                }
            }
        };
        let (mut row_scales, mut column_scales) =
            (scale("scale_a", self.scale_a, m)?, scale("scale_b", self.scale_b, n)?);
        if self.alpha == 0.0 {
            (row_scales, column_scales) = (View::none(device), View::none(device));
        }
        let (alpha, beta) = (self.alpha, self.beta);
        let options = Epilogue { alpha, beta, sums, ..Epilogue::default() }.with::<C>(self.activation);
        Ok(Fused { residual, bias, row_bias, row_scales, column_scales, options })
    }
}

impl<'a, C: Element, const R: usize> Fused<'a, C, R> {
    /// Nothing beside the product.
    pub(super) fn none(device: &'a Device) -> Fused<'a, C, R> {
        let (bias, scales) = (View::none(device), View::none(device));
        Fused {
            residual: View::none(device),
            bias,
            row_bias: bias,
            row_scales: scales,
            column_scales: scales,
            options: Epilogue::default(),
        }
    }
}

impl<'a, C: Element> Fused<'a, C, 3> {
    /// That of the transpose.
    pub(super) fn transpose(self) -> Fused<'a, C, 3> {
        Fused {
            residual: self.residual.transpose(),
            bias: self.row_bias,
            row_bias: self.bias,
            row_scales: self.column_scales,
            column_scales: self.row_scales,
            ..self
        }
    }

    /// What is done before an activation that is left out.
    pub(super) fn begun(self, device: &'a Device) -> Fused<'a, C, 3> {
        Fused { residual: View::none(device), options: self.options.begun(), ..self }
    }

    /// That of some products of the batch and some columns.
    pub(super) fn part(&self, products: Range<usize>, columns: Range<usize>) -> Result<Fused<'a, C, 3>> {
        let Fused { residual, bias, column_scales: scales, .. } = *self;
        Ok(Fused {
            residual: match residual.shape().contains(&0) {
                true => residual,
                false => residual.narrow(0, products)?.narrow(2, columns.clone())?,
            },
            bias: if bias.shape() == [0] { bias } else { bias.narrow(0, columns.clone())? },
            column_scales: if scales.shape() == [0] { scales } else { scales.narrow(0, columns)? },
            ..*self
        })
    }

    /// That of one product of the batch.
    pub(super) fn select(&self, device: &'a Device, index: usize) -> triton::Result<Fused<'a, C, 2>> {
        let Fused { residual, bias, row_bias, row_scales, column_scales, options } = *self;
        let residual = if residual.shape()[0] == 0 { View::none(device) } else { residual.select(0, index)? };
        Ok(Fused { residual, bias, row_bias, row_scales, column_scales, options })
    }
}
