//! Tutorial 06.

use super::{names, programs};
use crate::Outcome;
use crate::reference::{error_of_rows, some_rows};
use crate::users::attention::*;
use crate::users::cases::{Case, Kernel};
use crate::users::operands::{Input, Output, Row, Spelling, int};
use triton::{Stream, f16};

/// Attention of heads that lie one behind the other.
pub struct Attention {
    is_causal: bool,
    shape: [usize; 3],
    q: Input<f16>,
    k: Input<f16>,
    v: Input<f16>,
    out: Output<f16>,
}

impl Attention {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Attention> {
        let len = case.shape.iter().product();
        let random = |i: u64| Input::random(stream, len, seed.wrapping_add(i << 31));
        Ok(Attention {
            is_causal: case.kernel == Kernel::CausalAttention,
            shape: case.shape,
            q: random(0)?,
            k: random(1)?,
            v: random(2)?,
            out: Output::new(stream, len)?,
        })
    }
}

impl Row for Attention {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match (spelling, self.is_causal) {
            (Spelling::Pointers, true) => names!(attention_pointers_pool::<true>()),
            (Spelling::Pointers, false) => names!(attention_pointers_pool::<false>()),
            (Spelling::Views, true) => names!(attention_views_pool::<true>()),
            (Spelling::Views, false) => names!(attention_views_pool::<false>()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.out.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let [heads, tokens, columns] = self.shape;
        let (q, k, v, out) = (&self.q.device, &self.k.device, &self.v.device, &mut self.out.device);
        let scale = 1.0 / (columns as f32).sqrt();
        let grid = |bm: i32| (programs(tokens, bm), heads);
        match spelling {
            Spelling::Pointers => {
                let (sh, sm, n) = (int(tokens * columns)?, int(columns)?, int(tokens)?);
                // SAFETY: the operands have as many heads, and blocks divide their rows.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    if self.is_causal {
                        let launch = attention_pointers_tuned::<true>(q, k, v, out, sh, sm, n, scale);
                        launch.choose(instance).launch(stream, |of| grid(of.BM))?;
                    } else {
                        let launch = attention_pointers_tuned::<false>(q, k, v, out, sh, sm, n, scale);
                        launch.choose(instance).launch(stream, |of| grid(of.BM))?;
                    }
                }
            }
            Spelling::Views => {
                let shape = self.shape;
                let (q, k, v, out) = (q.view(shape)?, k.view(shape)?, v.view(shape)?, out.view_mut(shape)?);
                if self.is_causal {
                    let launch = attention_views_tuned::<true>(q, k, v, out, scale).choose(instance);
                    launch.launch(stream, |of| grid(of.BM))?;
                } else {
                    let launch = attention_views_tuned::<false>(q, k, v, out, scale).choose(instance);
                    launch.launch(stream, |of| grid(of.BM))?;
                }
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.out.found(stream)?;
        let [heads, tokens, columns] = self.shape;
        let expected = |r: usize| {
            let (head, row) = (r / tokens, r % tokens);
            let seen = if self.is_causal { row + 1 } else { tokens };
            let of_head = |x: &'_ [f16]| x[head * tokens * columns..][..seen * columns].to_vec();
            let (keys, values) = (of_head(&self.k.host), of_head(&self.v.host));
            let query: Vec<f64> = self.q.host[r * columns..][..columns].iter().map(|v| v.to_f64()).collect();
            let score =
                |key: &[f16]| query.iter().zip(key).map(|(a, b)| a * b.to_f64()).sum::<f64>() / (columns as f64).sqrt();
            let scores: Vec<f64> = keys.chunks(columns).map(score).collect();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mut sums = vec![0.0; columns];
            for (weight, value) in weights.iter().zip(values.chunks(columns)) {
                sums.iter_mut().zip(value).for_each(|(sum, v)| *sum += weight * v.to_f64() / total);
            }
            sums
        };
        let rows = some_rows(heads * tokens, tokens * columns);
        Ok((error_of_rows(&found, [columns; 2], &rows, expected), stray))
    }
}
