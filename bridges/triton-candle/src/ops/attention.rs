//! Attention.

use crate::call::Call;
use crate::error::{shape as shape_error, wrap};
use crate::layout::ready;
use crate::memory::Memory;
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{Result, Shape, Tensor};
use std::sync::OnceLock;
use triton_kernels::attention as kernels;

/// Options of [`attention`]; the default is that every query sees every key, and the scale 1 / √D.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttentionOptions {
    /// Query i sees the keys up to i + S − L.
    pub causal: bool,
    /// A query sees only the first number of keys before its own, which is key i + S − L, and the second number behind it. With `causal` none are behind it.
    pub window: Option<(usize, usize)>,
    /// What scores are multiplied by.
    pub scale: Option<f32>,
}

struct Attention {
    options: AttentionOptions,
    keeps: bool,
    /// Whether the heads of a token are neighbours in memory, of the result as of q.
    tokens_first: bool,
    /// Logarithms of the sums of rows.
    kept: OnceLock<Memory<f32>>,
}

/// o = softmax(q · kᵀ · scale) · v of each head: q and o are `[Z, H, L, D]`, k and v `[Z, G, S, D]`, where H is a multiple of G: neighbouring
/// heads of q share one of k and v, which are not repeated in memory. `f32`, `f16`, `bf16`; D is at most 256.
///
/// Any strides will do: `x.reshape((z, l, h, d))?.transpose(1, 2)?` is not copied, and then o has that order in memory, too, so that
/// `o.transpose(1, 2)?.reshape((z, l, h * d))` is not either.
///
/// # Errors
/// For other shapes, element types that differ, or longer heads.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use triton_candle::{AttentionOptions, attention};
/// # fn main() -> candle_core::Result<()> {
/// let q = Tensor::zeros((1, 2, 3, 16), DType::F32, &Device::Cpu)?;
/// let k = Tensor::zeros((1, 1, 3, 16), DType::F32, &Device::Cpu)?;
/// let v = Tensor::arange(0f32, 3.0, &Device::Cpu)?.reshape((1, 1, 3, 1))?.broadcast_as((1, 1, 3, 16))?;
/// let o = attention(&q, &k, &v, AttentionOptions { causal: true, ..Default::default() })?;
/// // Each token is the mean of those up to it.
/// assert_eq!(o.narrow(3, 0, 1)?.flatten_all()?.to_vec1::<f32>()?, [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, options: AttentionOptions) -> Result<Tensor> {
    for (operand, x, expected) in [("q", q, "[Z, H, L, D]"), ("k", k, "[Z, G, S, D]"), ("v", v, "[Z, G, S, D]")] {
        if x.rank() != 4 {
            return Err(shape_error("attention", operand, x.dims(), expected));
        }
    }
    let keeps = [q, k, v].iter().any(|x| x.track_op());
    let tokens_first = !q.is_contiguous() && q.transpose(1, 2)?.is_contiguous();
    let operation = Attention { options, keeps, tokens_first, kept: OnceLock::new() };
    let o = apply(operation, &[(q, 4), (k, 4), (v, 4)])?;
    if tokens_first { o.transpose(1, 2) } else { Ok(o) }
}

/// Applies the options to either direction.
macro_rules! options {
    ($attention:expr, $options:expr) => {{
        let (mut attention, options): (_, &AttentionOptions) = ($attention, $options);
        if let Some((left, right)) = options.window {
            attention = attention.window((left, right));
        }
        if options.causal {
            attention = attention.causal();
        }
        if let Some(scale) = options.scale {
            attention = attention.scale(scale);
        }
        attention
    }};
}

impl Operation for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let op = self.name();
        by_float!(op, "q", of[0].dtype(), |T| {
            let (q, k) = (call.read::<T>(op, "q", of[0])?, call.read::<T>(op, "k", of[1])?);
            let v = call.read::<T>(op, "v", of[2])?;
            let q = q.view::<4>()?;
            let [z, h, l, d] = q.shape();
            let (mut o, mut lse) =
                (call.fresh::<T>(z * h * l * d)?, call.fresh::<f32>(if self.keeps { z * h * l } else { 0 })?);
            {
                let (mut o, mut lse) = (o.write(call), lse.write(call));
                let o = match self.tokens_first {
                    true => o.view_mut([z, l, h, d])?.permute([0, 2, 1, 3]).map_err(wrap)?,
                    false => o.view_mut([z, h, l, d])?,
                };
                let mut attention = options!(kernels::attention(q, k.view::<4>()?, v.view::<4>()?, o), &self.options);
                if self.keeps {
                    attention = attention.lse(lse.view_mut([z, h, l])?);
                }
                attention.launch(call.stream()).map_err(wrap)?;
            }
            if self.keeps {
                // An operation runs once; a second run would keep the same numbers.
                let _ = self.kept.set(lse);
            }
            let shape = if self.tokens_first { Shape::from((z, l, h, d)) } else { Shape::from((z, h, l, d)) };
            Ok((o.into_output(call), shape))
        })
    }

    fn gradients(&self, of: &[&Tensor], o: &Tensor, d_o: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let op = self.name();
        let Some(lse) = self.kept.get() else { candle_core::bail!("`attention`: it has kept no sums") };
        let heads_first = |x: &Tensor| if self.tokens_first { x.transpose(1, 2) } else { Ok(x.clone()) };
        let (o, d_o) = (heads_first(o)?, ready(&heads_first(d_o)?, 4)?);
        with(op, &[of[0], of[1], of[2], &o, &d_o], |call, of| {
            by_float!(op, "q", of[0].dtype(), |T| {
                let (q, k) = (call.read::<T>(op, "q", of[0])?, call.read::<T>(op, "k", of[1])?);
                let (v, o) = (call.read::<T>(op, "v", of[2])?, call.read::<T>(op, "o", of[3])?);
                let (d_o, lse) = (call.read::<T>(op, "d_o", of[4])?, lse.read(call, op));
                let (q, k, v) = (q.view::<4>()?, k.view::<4>()?, v.view::<4>()?);
                let (of_q, of_k) = (q.shape(), k.shape());
                let count = |shape: [usize; 4]| shape.iter().product();
                let mut dq = call.fresh::<T>(count(of_q))?;
                let (mut dk, mut dv) = (call.fresh::<T>(count(of_k))?, call.fresh::<T>(count(of_k))?);
                {
                    let (mut dq, mut dk, mut dv) = (dq.write(call), dk.write(call), dv.write(call));
                    let (dq, dk, dv) = (dq.view_mut(of_q)?, dk.view_mut(of_k)?, dv.view_mut(of_k)?);
                    let rows = [of_q[0], of_q[1], of_q[2]];
                    let lse = lse.strided(rows, crate::memory::row_major(rows), 0)?;
                    let (o, d_o) = (o.view::<4>()?, d_o.view::<4>()?);
                    options!(kernels::attention_backward(q, k, v, o, lse, d_o, dq, dk, dv), &self.options)
                        .launch(call.stream())
                        .map_err(wrap)?;
                }
                let of = |gradient: Memory<T>, shape: [usize; 4]| Some(gradient.into_tensor(call, shape.to_vec()));
                Ok(vec![of(dq, of_q), of(dk, of_k), of(dv, of_k)])
            })
        })
    }
}
