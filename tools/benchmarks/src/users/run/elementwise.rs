//! Tutorials 01, 04 and 07.

use super::{names, programs};
use crate::users::cases::{Case, DROPPED};
use crate::users::elementwise::*;
use crate::users::operands::{Input, Output, Row, Spelling, int};
use crate::{Outcome, data};
use triton::Stream;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Tutorial 01.
    Add,
    /// Tutorial 04.
    Dropout,
    /// Tutorial 07.
    Asin,
}

/// Addition, dropout or arcsine.
pub struct Elementwise {
    function: Function,
    n: usize,
    seed: u64,
    x: Input<f32>,
    y: Input<f32>,
    out: Output<f32>,
}

impl Elementwise {
    /// With random operands, of the arcsine from −1 to 1.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(function: Function, case: &Case, stream: &Stream, seed: u64) -> Outcome<Elementwise> {
        let n = case.shape[0];
        let mut x = data::random::<f32>(n, seed);
        if function == Function::Asin {
            x.iter_mut().for_each(|x| *x /= 1.0 + x.abs());
        }
        let second = if function == Function::Add { n } else { 0 };
        Ok(Elementwise {
            function,
            n,
            seed,
            x: Input::new(stream, x)?,
            y: Input::random(stream, second, seed.wrapping_add(1 << 31))?,
            out: Output::new(stream, n)?,
        })
    }
}

impl Row for Elementwise {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match (self.function, spelling) {
            (Function::Add, Spelling::Pointers) => names!(add_pointers_pool()),
            (Function::Add, Spelling::Views) => names!(add_views_pool()),
            (Function::Dropout, Spelling::Pointers) => names!(dropout_pointers_pool()),
            (Function::Dropout, Spelling::Views) => names!(dropout_views_pool()),
            (Function::Asin, Spelling::Pointers) => names!(asin_pointers_pool()),
            (Function::Asin, Spelling::Views) => names!(asin_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.out.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (len, n, seed) = (self.n, int(self.n)?, self.seed);
        let (x, y, out) = (&self.x.device, &self.y.device, &mut self.out.device);
        match spelling {
            // SAFETY: the operands have n elements, and masks keep every access below n.
            #[allow(unsafe_code, reason = "kernels over raw pointers")]
            Spelling::Pointers => unsafe {
                match self.function {
                    Function::Add => {
                        let launch = add_pointers_tuned(x, y, out, n).choose(instance);
                        launch.launch(stream, |of| programs(len, of.BLOCK))?;
                    }
                    Function::Dropout => {
                        let launch = dropout_pointers_tuned(x, out, n, DROPPED, seed).choose(instance);
                        launch.launch(stream, |of| programs(len, of.BLOCK))?;
                    }
                    Function::Asin => {
                        let launch = asin_pointers_tuned(x, out, n).choose(instance);
                        launch.launch(stream, |of| programs(len, of.BLOCK))?;
                    }
                }
            },
            Spelling::Views => {
                let (x, out) = (x.view([len])?, out.view_mut([len])?);
                match self.function {
                    Function::Add => {
                        let launch = add_views_tuned(x, y.view([len])?, out).choose(instance);
                        launch.launch(stream, |of| programs(len, of.BLOCK))?;
                    }
                    Function::Dropout => {
                        let launch = dropout_views_tuned(x, out, DROPPED, seed).choose(instance);
                        launch.launch(stream, |of| programs(len, of.BLOCK))?;
                    }
                    Function::Asin => {
                        let launch = asin_views_tuned(x, out).choose(instance);
                        launch.launch(stream, |of| programs(len, of.BLOCK))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.out.found(stream)?;
        let (x, y) = (&self.x.host, &self.y.host);
        let error = match self.function {
            Function::Add => data::error(&found, |i| f64::from(x[i]) + f64::from(y[i])),
            Function::Dropout => {
                let kept = found.iter().filter(|v| **v != 0.0).count() as f64 / self.n as f64;
                let (p, n) = (f64::from(DROPPED), self.n as f64);
                // Beyond six standard deviations the share of what is kept is wrong.
                if (kept - (1.0 - p)).abs() > 6.0 * (p * (1.0 - p) / n).sqrt() {
                    return Ok((f64::NAN, stray));
                }
                data::error(&found, |i| if found[i] == 0.0 { 0.0 } else { f64::from(x[i]) / (1.0 - p) })
            }
            Function::Asin => data::error(&found, |i| f64::from(x[i]).asin()),
        };
        Ok((error, stray))
    }
}
