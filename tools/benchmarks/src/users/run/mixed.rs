//! Products of `f16` with `i8`.

use super::products::{has, product_row};
use super::{names, programs};
use crate::reference::{error_of_rows, some_rows};
use crate::users::cases::{Case, layers};
use crate::users::mixed::*;
use crate::users::operands::{Input, Output, Row, Spelling, int};
use crate::{Outcome, data};
use triton::{Stream, f16};

/// Linear layers of `f16` with weights of `i8`, of the same activations.
pub struct Linear {
    shape: [usize; 3],
    layers: usize,
    a: Input<f16>,
    /// \[N, K\] of each layer.
    b: Input<i8>,
    /// Of all of them.
    scale: Input<f32>,
    /// \[M, N\] of each layer.
    c: Output<f16>,
}

impl Linear {
    /// With random operands; the scales make numbers of about one of the weights.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Linear> {
        let [m, n, k] = case.shape;
        let layers = layers(case.shape);
        let mut scale = data::random::<f32>(n, seed.wrapping_add(2 << 31));
        scale.iter_mut().for_each(|scale| *scale /= 128.0);
        Ok(Linear {
            shape: case.shape,
            layers,
            a: Input::random(stream, m * k, seed)?,
            b: Input::random(stream, layers * n * k, seed.wrapping_add(1 << 31))?,
            scale: Input::new(stream, scale)?,
            c: Output::new(stream, layers * m * n)?,
        })
    }
}

impl Row for Linear {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(w8a16_pointers_pool()),
            Spelling::Views => names!(w8a16_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.c.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let [m, n, k] = self.shape;
        let (a, scale) = (&self.a.device, &self.scale.device);
        let grid = |bm: i32, bn: i32| (programs(m, bm), programs(n, bn));
        for layer in 0..self.layers {
            let b = self.b.device.slice(layer * n * k..(layer + 1) * n * k)?;
            let mut c = self.c.device.slice_mut(layer * m * n..(layer + 1) * m * n)?;
            match spelling {
                Spelling::Pointers => {
                    let (mi, ni, ki) = (int(m)?, int(n)?, int(k)?);
                    // SAFETY: the operands have these extents and strides, and masks keep every access in them.
                    #[allow(unsafe_code, reason = "kernels over raw pointers")]
                    unsafe {
                        let launch = w8a16_pointers_tuned(a, &b, scale, &mut c, mi, ni, ki, ki, 1, ki, 1, ni, 1);
                        launch.choose(instance).launch(stream, |of| grid(of.BM, of.BN))?;
                    }
                }
                Spelling::Views => {
                    let (a, b, c) = (a.view([m, k])?, b.view([n, k])?, c.view_mut([m, n])?);
                    let launch = w8a16_views_tuned(a, b, scale.view([n])?, c).choose(instance);
                    launch.launch(stream, |of| grid(of.BM, of.BN))?;
                }
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.c.found(stream)?;
        let [m, n, k] = self.shape;
        // Of the results of all layers, one below the other.
        let expected = |r: usize| {
            let row: Vec<f64> = self.a.host[r % m * k..][..k].iter().map(|v| v.to_f64()).collect();
            let column = |(b, scale): (&[i8], &f32)| {
                row.iter().zip(b).map(|(a, b)| a * f64::from(*b)).sum::<f64>() * f64::from(*scale)
            };
            self.b.host[r / m * n * k..][..n * k].chunks(k).zip(&self.scale.host).map(column).collect()
        };
        Ok((error_of_rows(&found, [n; 2], &some_rows(self.layers * m, n * k), expected), stray))
    }
}

/// The product of tutorial 03 with a right operand of `i8`.
pub struct Mixed {
    shape: [usize; 3],
    tile: [usize; 3],
    a: Input<f16>,
    b: Input<i8>,
    c: Output<f16>,
}

impl Mixed {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Mixed> {
        let [m, n, k] = case.shape;
        Ok(Mixed {
            shape: case.shape,
            tile: case.tile,
            a: Input::random(stream, m * k, seed)?,
            b: Input::random(stream, k * n, seed.wrapping_add(1 << 31))?,
            c: Output::new(stream, m * n)?,
        })
    }
}

impl Row for Mixed {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        let is = |tile: [i32; 3]| has(self.tile, tile);
        match spelling {
            Spelling::Pointers => {
                let members = mixed_pointers_pool().members().iter().map(|member| member.choice());
                members.filter(|of| is([of.BM, of.BN, of.BK])).map(|of| of.to_string()).collect()
            }
            Spelling::Views => {
                let members = mixed_views_pool().members().iter().map(|member| member.choice());
                members.filter(|of| is([of.BM, of.BN, of.BK])).map(|of| of.to_string()).collect()
            }
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.c.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, _instance: usize) -> Outcome {
        let ([m, n, k], tile) = (self.shape, self.tile);
        let (a, b, c) = (&self.a.device, &self.b.device, &mut self.c.device);
        match spelling {
            Spelling::Pointers => {
                let (mi, ni, ki) = (int(m)?, int(n)?, int(k)?);
                // SAFETY: the operands are row-major matrices of these extents; masks and `% m` keep every access in them.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = mixed_pointers_tuned(a, b, c, mi, ni, ki, ki, 1, ni, 1, ni, 1);
                    let launch = launch.find(|of| has(tile, [of.BM, of.BN, of.BK]));
                    launch.launch(stream, |of| programs(m, of.BM) * programs(n, of.BN))?;
                }
            }
            Spelling::Views => {
                let launch = mixed_views_tuned(a.view([m, k])?, b.view([k, n])?, c.view_mut([m, n])?);
                let launch = launch.find(|of| has(tile, [of.BM, of.BN, of.BK]));
                launch.launch(stream, |of| (programs(m, of.BM), programs(n, of.BN)))?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.c.found(stream)?;
        let [m, n, k] = self.shape;
        let expected = |r: usize| product_row(&self.a.host[r * k..][..k], &self.b.host, n, f64::from);
        Ok((error_of_rows(&found, [n; 2], &some_rows(m, n * k), expected), stray))
    }
}
