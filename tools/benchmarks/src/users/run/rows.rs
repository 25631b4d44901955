//! Tutorial 02, the largest elements of rows, and group norm.

use super::{names, programs};
use crate::Outcome;
use crate::reference::{error_of_rows, some_rows};
use crate::users::cases::{CHANNELS, Case, EPSILON};
use crate::users::operands::{Input, Output, Row, Spelling, int};
use crate::users::rows::*;
use triton::{Stream, f16};

/// Registers of a multiprocessor.
const REGISTERS: usize = 65536;

/// Softmax.
pub struct Softmax {
    rows: usize,
    columns: usize,
    /// Columns of a tile.
    tile: i32,
    /// Programs of the tutorial: as many as are resident at once.
    resident: usize,
    x: Input<f32>,
    out: Output<f32>,
}

impl Softmax {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Softmax> {
        let [rows, columns, _] = case.shape;
        let (x, mut out) = (Input::random(stream, rows * columns, seed)?, Output::new(stream, rows * columns)?);
        let tile = if columns <= 1024 { 1024 } else { 4096 };
        // As the tutorial does: what the registers of a multiprocessor hold, on each multiprocessor.
        let (c, r) = (int(columns)?, int(rows)?);
        let launch = softmax_pointers_tuned(&mut out.device, &x.device, c, c, r, c);
        let loaded = launch.find(|of| of.N == tile).load(stream.device())?;
        // Of the image that runs: buffers are aligned, and rows of whole vectors are divisible.
        let image = if columns.is_multiple_of(16) { "divisible16" } else { "aligned16" };
        let runs = loaded.iter().find(|info| info.specialization.name() == image);
        let registers = runs.map_or(REGISTERS / 2048, |info| info.registers as usize);
        let occupancy = (REGISTERS / (registers.max(1) * 32 * 8)).max(1);
        let resident = (stream.device().multiprocessors() as usize * occupancy).min(rows);
        Ok(Softmax { rows, columns, tile, resident, x, out })
    }
}

impl Row for Softmax {
    fn instances(&self, _spelling: Spelling) -> Vec<String> {
        vec![format!("N={} num_warps=8", self.tile)]
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.out.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, _instance: usize) -> Outcome {
        let (rows, tile, resident) = (self.rows, self.tile, self.resident);
        let (x, out) = (&self.x.device, &mut self.out.device);
        match spelling {
            Spelling::Pointers => {
                let (r, c) = (int(rows)?, int(self.columns)?);
                // SAFETY: the operands have as many rows and columns, and masks keep the columns.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = softmax_pointers_tuned(out, x, c, c, r, c).find(|of| of.N == tile);
                    launch.launch(stream, |_| resident)?;
                }
            }
            Spelling::Views => {
                let shape = [rows, self.columns];
                let launch = softmax_views_tuned(x.view(shape)?, out.view_mut(shape)?).find(|of| of.N == tile);
                launch.launch(stream, |_| rows)?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.out.found(stream)?;
        let columns = self.columns;
        let expected = |r: usize| {
            let row = self.x.host[r * columns..][..columns].iter().map(|v| f64::from(*v));
            let top = row.clone().fold(f64::NEG_INFINITY, f64::max);
            let e: Vec<f64> = row.map(|v| (v - top).exp()).collect();
            let sum: f64 = e.iter().sum();
            e.into_iter().map(|e| e / sum).collect()
        };
        Ok((error_of_rows(&found, [columns; 2], &some_rows(self.rows, 8 * columns), expected), stray))
    }
}

/// The largest elements of rows.
pub struct Top {
    rows: usize,
    columns: usize,
    count: usize,
    x: Input<f32>,
    values: Output<f32>,
    places: Output<i32>,
}

impl Top {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Top> {
        let [rows, columns, count] = case.shape;
        let x = Input::random(stream, rows * columns, seed)?;
        let (values, places) = (Output::new(stream, rows * count)?, Output::new(stream, rows * count)?);
        Ok(Top { rows, columns, count, x, values, places })
    }
}

impl Row for Top {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(top_pointers_pool()),
            Spelling::Views => names!(top_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.values.poison(stream)?;
        self.places.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (rows, columns) = (self.rows, self.columns);
        let (x, values, places) = (&self.x.device, &mut self.values.device, &mut self.places.device);
        match spelling {
            Spelling::Pointers => {
                let (r, stride) = (int(rows)?, int(columns)?);
                // SAFETY: the operands have as many rows, which the masks keep, and rows of `stride` and of eight elements.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = top_pointers_tuned(x, values, places, r, stride).choose(instance);
                    launch.launch(stream, |of| programs(rows, of.R))?;
                }
            }
            Spelling::Views => {
                let shape = [rows, self.count];
                let (values, places) = (values.view_mut(shape)?, places.view_mut(shape)?);
                let launch = top_views_tuned(x.view([rows, columns])?, values, places).choose(instance);
                launch.launch(stream, |of| programs(rows, of.R))?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.values.found(stream)?;
        let (places, beside) = self.places.found(stream)?;
        let (columns, count, x) = (self.columns, self.count, &self.x.host);
        let is_there = |(i, place): (usize, &i32)| {
            let place = usize::try_from(*place).ok().filter(|place| *place < columns);
            place.is_some_and(|place| x[i / count * columns + place] == found[i])
        };
        if !places.iter().enumerate().all(is_there) {
            return Ok((f64::NAN, stray + beside));
        }
        let expected = |r: usize| {
            let mut row: Vec<f64> = x[r * columns..][..columns].iter().map(|v| f64::from(*v)).collect();
            row.sort_by(|a, b| b.total_cmp(a));
            row.truncate(count);
            row
        };
        let error = error_of_rows(&found, [count; 2], &some_rows(self.rows, 16 * columns), expected);
        Ok((error, stray + beside))
    }
}

/// Group norm.
pub struct GroupNorm {
    items: usize,
    groups: usize,
    inside: usize,
    x: Input<f16>,
    w: Input<f16>,
    b: Input<f16>,
    out: Output<f16>,
}

impl GroupNorm {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<GroupNorm> {
        let [items, groups, inside] = case.shape;
        let (len, channels) = (items * groups * CHANNELS * inside, groups * CHANNELS);
        Ok(GroupNorm {
            items,
            groups,
            inside,
            x: Input::random(stream, len, seed)?,
            w: Input::random(stream, channels, seed.wrapping_add(1 << 31))?,
            b: Input::random(stream, channels, seed.wrapping_add(2 << 31))?,
            out: Output::new(stream, len)?,
        })
    }
}

impl Row for GroupNorm {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(group_norm_pointers_pool()),
            Spelling::Views => names!(group_norm_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.out.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (all, groups, inside) = (self.items * self.groups, self.groups, self.inside);
        let (x, w, b, out) = (&self.x.device, &self.w.device, &self.b.device, &mut self.out.device);
        match spelling {
            Spelling::Pointers => {
                let (g, i) = (int(groups)?, int(inside)?);
                // SAFETY: programs are as many as groups, whose channels and elements the operands have.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = group_norm_pointers_tuned(x, w, b, out, i, g, EPSILON).choose(instance);
                    launch.launch(stream, |_| all)?;
                }
            }
            Spelling::Views => {
                let (shape, affine) = ([all, CHANNELS, inside], [groups, CHANNELS]);
                let (x, out) = (x.view(shape)?, out.view_mut(shape)?);
                let launch = group_norm_views_tuned(x, w.view(affine)?, b.view(affine)?, out, EPSILON);
                launch.choose(instance).launch(stream, |_| all)?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.out.found(stream)?;
        let (inside, count) = (self.inside, CHANNELS * self.inside);
        let expected = |r: usize| {
            let row = self.x.host[r * count..][..count].iter().map(|v| v.to_f64());
            let mean = row.clone().sum::<f64>() / count as f64;
            let variance = row.clone().map(|v| (v - mean).powi(2)).sum::<f64>() / count as f64;
            let scale = 1.0 / (variance + f64::from(EPSILON)).sqrt();
            let channel = |i: usize| r % self.groups * CHANNELS + i / inside;
            let affine = |(i, v): (usize, f64)| {
                (v - mean) * scale * self.w.host[channel(i)].to_f64() + self.b.host[channel(i)].to_f64()
            };
            row.enumerate().map(affine).collect()
        };
        let rows = some_rows(self.items * self.groups, 8 * count);
        Ok((error_of_rows(&found, [count; 2], &rows, expected), stray))
    }
}
