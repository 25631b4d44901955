//! Rotary embedding, selective scan, Fourier transforms and histograms.

use super::{names, programs};
use crate::reference::{error_of_rows, some_rows};
use crate::users::cases::Case;
use crate::users::operands::{Input, Output, Row, Spelling, int};
use crate::users::scans::*;
use crate::{Outcome, data};
use triton::{Stream, f16};

/// Rotary embedding.
pub struct Rotary {
    shape: [usize; 3],
    x: Input<f16>,
    cos: Input<f32>,
    sin: Input<f32>,
    out: Output<f16>,
}

impl Rotary {
    /// With random vectors.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Rotary> {
        let [heads, positions, columns] = case.shape;
        let half = columns / 2;
        let angle = |i: usize| (i / half) as f64 * 10_000f64.powf(-((i % half) as f64) / half as f64);
        let of = |f: fn(f64) -> f64| (0..positions * half).map(|i| f(angle(i)) as f32).collect();
        Ok(Rotary {
            shape: case.shape,
            x: Input::random(stream, heads * positions * columns, seed)?,
            cos: Input::new(stream, of(f64::cos))?,
            sin: Input::new(stream, of(f64::sin))?,
            out: Output::new(stream, heads * positions * columns)?,
        })
    }
}

impl Row for Rotary {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(rotary_pointers_pool()),
            Spelling::Views => names!(rotary_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.out.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let [heads, positions, columns] = self.shape;
        let (x, cos, sin, out) = (&self.x.device, &self.cos.device, &self.sin.device, &mut self.out.device);
        match spelling {
            Spelling::Pointers => {
                let count = int(positions)?;
                // SAFETY: the operands have as many heads and positions, which masks keep.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = rotary_pointers_tuned(x, cos, sin, out, count).choose(instance);
                    launch.launch(stream, |of| (programs(positions, of.ROWS), heads))?;
                }
            }
            Spelling::Views => {
                let (shape, half) = (self.shape, [positions, columns / 2]);
                let (x, out) = (x.view(shape)?, out.view_mut(shape)?);
                let launch = rotary_views_tuned(x, cos.view(half)?, sin.view(half)?, out).choose(instance);
                launch.launch(stream, |of| (programs(positions, of.ROWS), heads))?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.out.found(stream)?;
        let [_, positions, columns] = self.shape;
        let expected = |i: usize| {
            let (at, place) = (i % (positions * columns) / 2, i / 2 * 2);
            let (cos, sin) = (f64::from(self.cos.host[at]), f64::from(self.sin.host[at]));
            let (a, b) = (self.x.host[place].to_f64(), self.x.host[place + 1].to_f64());
            if i.is_multiple_of(2) { a * cos - b * sin } else { a * sin + b * cos }
        };
        Ok((data::error::<f16>(&found, expected), stray))
    }
}

/// A selective scan.
pub struct Scan {
    steps: usize,
    channels: usize,
    a: Input<f32>,
    b: Input<f32>,
    h: Output<f32>,
}

impl Scan {
    /// With random terms and random factors from 0 to 1.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Scan> {
        let [steps, channels, _] = case.shape;
        let mut factors = data::random::<f32>(steps * channels, seed);
        factors.iter_mut().for_each(|a| *a = 1.0 / (1.0 + a.abs()));
        Ok(Scan {
            steps,
            channels,
            a: Input::new(stream, factors)?,
            b: Input::random(stream, steps * channels, seed.wrapping_add(1 << 31))?,
            h: Output::new(stream, steps * channels)?,
        })
    }
}

impl Row for Scan {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(scan_pointers_pool()),
            Spelling::Views => names!(scan_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.h.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (steps, channels) = (self.steps, self.channels);
        let (a, b, h) = (&self.a.device, &self.b.device, &mut self.h.device);
        match spelling {
            Spelling::Pointers => {
                let (t, c) = (int(steps)?, int(channels)?);
                // SAFETY: the operands have as many steps and channels, which masks keep.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = scan_pointers_tuned(a, b, h, t, c).choose(instance);
                    launch.launch(stream, |of| programs(channels, of.C))?;
                }
            }
            Spelling::Views => {
                let shape = [steps, channels];
                let launch = scan_views_tuned(a.view(shape)?, b.view(shape)?, h.view_mut(shape)?).choose(instance);
                launch.launch(stream, |of| programs(channels, of.C))?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.h.found(stream)?;
        let channels = self.channels;
        let mut state = vec![0.0f64; channels];
        let mut states = Vec::with_capacity(found.len());
        for (a, b) in self.a.host.chunks(channels).zip(self.b.host.chunks(channels)) {
            for (state, (a, b)) in state.iter_mut().zip(a.iter().zip(b)) {
                *state = f64::from(*a) * *state + f64::from(*b);
                states.push(*state);
            }
        }
        Ok((data::error(&found, |i| states[i]), stray))
    }
}

/// Fourier transforms of rows of complex numbers.
pub struct Fft {
    rows: usize,
    points: usize,
    x: Input<f32>,
    out: Output<f32>,
}

impl Fft {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Fft> {
        let [rows, points, _] = case.shape;
        let len = rows * points * 2;
        Ok(Fft { rows, points, x: Input::random(stream, len, seed)?, out: Output::new(stream, len)? })
    }
}

impl Row for Fft {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(fft_pointers_pool()),
            Spelling::Views => names!(fft_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.out.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (rows, shape) = (self.rows, [self.rows, self.points, 2]);
        let (x, out) = (&self.x.device, &mut self.out.device);
        match spelling {
            // SAFETY: the operands have as many rows as there are programs, of the points that the instances are for.
            #[allow(unsafe_code, reason = "kernels over raw pointers")]
            Spelling::Pointers => unsafe {
                fft_pointers_tuned(x, out).choose(instance).launch(stream, |_| rows)?;
            },
            Spelling::Views => {
                fft_views_tuned(x.view(shape)?, out.view_mut(shape)?).choose(instance).launch(stream, |_| rows)?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.out.found(stream)?;
        let points = self.points;
        let turn = |i: usize| (-std::f64::consts::TAU * i as f64 / points as f64).sin_cos();
        let turns: Vec<(f64, f64)> = (0..points).map(turn).collect();
        let expected = |r: usize| {
            let row: Vec<f64> = self.x.host[r * 2 * points..][..2 * points].iter().map(|v| f64::from(*v)).collect();
            let sum = |frequency: usize| {
                row.chunks(2).enumerate().fold([0.0, 0.0], |[re, im], (i, z)| {
                    let (sin, cos) = turns[i * frequency % points];
                    [re + z[0] * cos - z[1] * sin, im + z[0] * sin + z[1] * cos]
                })
            };
            (0..points).flat_map(sum).collect()
        };
        let rows = some_rows(self.rows, 4 * points * points);
        Ok((error_of_rows(&found, [2 * points; 2], &rows, expected), stray))
    }
}

/// Counts of bytes.
pub struct Histogram {
    n: usize,
    x: Input<u8>,
    counts: Output<i32>,
}

impl Histogram {
    /// With random bytes.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Histogram> {
        let n = case.shape[0];
        let bytes = data::random::<i8>(n, seed).into_iter().map(|byte| byte as u8).collect();
        Ok(Histogram { n, x: Input::new(stream, bytes)?, counts: Output::new(stream, 256)? })
    }
}

impl Row for Histogram {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(histogram_pointers_pool()),
            Spelling::Views => names!(histogram_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.counts.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let n = self.n;
        let (x, counts) = (&self.x.device, &mut self.counts.device);
        stream.fill(&mut counts.slice_mut(..256)?, 0)?;
        match spelling {
            Spelling::Pointers => {
                let len = int(n)?;
                // SAFETY: masks keep accesses of x below n, and there is a count for each byte.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = histogram_pointers_tuned(x, counts, len).choose(instance);
                    launch.launch(stream, |of| programs(n, of.BLOCK))?;
                }
            }
            Spelling::Views => {
                let launch = histogram_views_tuned(x.view([n])?, counts.view_mut([256])?).choose(instance);
                launch.launch(stream, |of| programs(n, of.BLOCK))?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.counts.found(stream)?;
        let mut counts = [0u32; 256];
        self.x.host.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        Ok((data::error(&found, |i| f64::from(counts[i])), stray))
    }
}
