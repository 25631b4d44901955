//! Tutorial 05.

use super::programs;
use crate::reference::{error_of_rows, some_rows};
use crate::users::cases::{Case, EPSILON};
use crate::users::layer_norm::*;
use crate::users::locked::*;
use crate::users::operands::{Input, Output, Row, Spelling, int};
use crate::{Outcome, data};
use triton::{Buffer, Stream, f16};

/// The mean and 1 / √(variance + ε) of a row.
fn moments(row: &[f16]) -> (f64, f64) {
    let (row, n) = (row.iter().map(|v| v.to_f64()), row.len() as f64);
    let mean = row.clone().sum::<f64>() / n;
    let variance = row.map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    (mean, 1.0 / (variance + f64::from(EPSILON)).sqrt())
}

/// Layer norm.
pub struct Forward {
    rows: usize,
    columns: usize,
    x: Input<f16>,
    w: Input<f16>,
    b: Input<f16>,
    y: Output<f16>,
    mean: Buffer<f32>,
    rstd: Buffer<f32>,
}

impl Forward {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Forward> {
        let [rows, columns, _] = case.shape;
        Ok(Forward {
            rows,
            columns,
            x: Input::random(stream, rows * columns, seed)?,
            w: Input::random(stream, columns, seed.wrapping_add(1 << 31))?,
            b: Input::random(stream, columns, seed.wrapping_add(2 << 31))?,
            y: Output::new(stream, rows * columns)?,
            mean: stream.zeros(rows)?,
            rstd: stream.zeros(rows)?,
        })
    }
}

impl Row for Forward {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => super::names!(layer_norm_pointers_pool()),
            Spelling::Views => super::names!(layer_norm_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.y.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (rows, columns) = (self.rows, self.columns);
        let (x, w, b, y) = (&self.x.device, &self.w.device, &self.b.device, &mut self.y.device);
        let (mean, rstd) = (&mut self.mean, &mut self.rstd);
        match spelling {
            Spelling::Pointers => {
                let n = int(columns)?;
                // SAFETY: programs are as many as rows, and masks keep the columns.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = layer_norm_pointers_tuned(x, y, w, b, mean, rstd, n, n, EPSILON).choose(instance);
                    launch.launch(stream, |_| rows)?;
                }
            }
            Spelling::Views => {
                let shape = [rows, columns];
                let (x, y, w, b) = (x.view(shape)?, y.view_mut(shape)?, w.view([columns])?, b.view([columns])?);
                let (mean, rstd) = (mean.view_mut([rows])?, rstd.view_mut([rows])?);
                let launch = layer_norm_views_tuned(x, y, w, b, mean, rstd, EPSILON).choose(instance);
                launch.launch(stream, |_| rows)?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.y.found(stream)?;
        let columns = self.columns;
        let expected = |r: usize| {
            let row = &self.x.host[r * columns..][..columns];
            let (mean, rstd) = moments(row);
            let affine = self.w.host.iter().zip(&self.b.host);
            row.iter().zip(affine).map(|(v, (w, b))| (v.to_f64() - mean) * rstd * w.to_f64() + b.to_f64()).collect()
        };
        Ok((error_of_rows(&found, [columns; 2], &some_rows(self.rows, 8 * columns), expected), stray))
    }
}

/// The gradients of layer norm.
pub struct Backward {
    rows: usize,
    columns: usize,
    /// Rows of partial sums.
    groups: usize,
    x: Input<f16>,
    w: Input<f16>,
    dy: Input<f16>,
    mean: Input<f32>,
    rstd: Input<f32>,
    dx: Output<f16>,
    partial_dw: Buffer<f16>,
    partial_db: Buffer<f16>,
    dw: Output<f16>,
    db: Output<f16>,
    /// Locks, and behind them flags.
    locks: Buffer<i32>,
    /// The sums of columns that are expected of `dw` and `db`.
    sums: [Vec<f64>; 2],
}

impl Backward {
    /// With random operands, and the moments of their rows.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Backward> {
        let [rows, columns, _] = case.shape;
        // The tutorial's.
        let groups = if columns <= 1024 {
            256
        } else if columns <= 4096 {
            128
        } else if columns <= 8192 {
            96
        } else {
            64
        };
        let x = Input::<f16>::random(stream, rows * columns, seed)?;
        let dy = Input::<f16>::random(stream, rows * columns, seed.wrapping_add(2 << 31))?;
        let of_rows: Vec<(f64, f64)> = parallel(x.host.chunks(columns).collect(), |row: &&[f16]| moments(row));
        let mut sums = [vec![0.0; columns], vec![0.0; columns]];
        let all = x.host.chunks(columns).zip(dy.host.chunks(columns)).zip(&of_rows);
        for ((x, dy), (mean, rstd)) in all {
            for (c, (x, dy)) in x.iter().zip(dy).enumerate() {
                sums[0][c] += dy.to_f64() * (x.to_f64() - mean) * rstd;
                sums[1][c] += dy.to_f64();
            }
        }
        let (mean, rstd) = of_rows.into_iter().map(|(mean, rstd)| (mean as f32, rstd as f32)).unzip();
        Ok(Backward {
            rows,
            columns,
            groups,
            x,
            w: Input::random(stream, columns, seed.wrapping_add(1 << 31))?,
            dy,
            mean: Input::new(stream, mean)?,
            rstd: Input::new(stream, rstd)?,
            dx: Output::new(stream, rows * columns)?,
            partial_dw: stream.zeros(groups * columns)?,
            partial_db: stream.zeros(groups * columns)?,
            dw: Output::new(stream, columns)?,
            db: Output::new(stream, columns)?,
            locks: stream.zeros(2 * groups)?,
            sums,
        })
    }
}

/// The results for all items, by all cores.
fn parallel<T: Sync, R: Send>(items: Vec<T>, of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(data::cores()).max(1);
    std::thread::scope(|scope| {
        let part = |part| {
            let of = &of;
            scope.spawn(move || <[T]>::iter(part).map(of).collect::<Vec<R>>())
        };
        let parts: Vec<_> = items.chunks(share).map(part).collect();
        // A panic goes on here.
        let parts = parts.into_iter().map(|part| part.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
        parts.flatten().collect()
    })
}

impl Row for Backward {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => super::names!(layer_norm_dx_pointers_pool()),
            Spelling::Views => super::names!(layer_norm_dx_views_pool()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.dx.poison(stream)?;
        self.dw.poison(stream)?;
        self.db.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let (rows, columns, groups) = (self.rows, self.columns, self.groups);
        let (dy, x, w) = (&self.dy.device, &self.x.device, &self.w.device);
        let (mean, rstd, locks) = (&self.mean.device, &self.rstd.device, &mut self.locks);
        let (dx, dw, db) = (&mut self.dx.device, &mut self.dw.device, &mut self.db.device);
        let (part_w, part_b) = (&mut self.partial_dw, &mut self.partial_db);
        stream.fill(locks, 0)?;
        // Of few rows some groups have none.
        let used = groups.min(rows);
        match spelling {
            Spelling::Pointers => {
                let (n, g, m) = (int(columns)?, int(groups)?, int(used)?);
                // SAFETY: programs are as many as rows, masks keep the columns, and there are `groups` rows of partial sums and twice as
                // many locks.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let of_rows = layer_norm_dx_pointers_tuned(
                        dx,
                        dy,
                        &mut *part_w,
                        &mut *part_b,
                        x,
                        w,
                        mean,
                        rstd,
                        locks,
                        n,
                        n,
                        g,
                    );
                    of_rows.choose(instance).launch(stream, |_| rows)?;
                    let sums = layer_norm_dwdb_pointers_tuned(&*part_w, &*part_b, dw, db, m, n);
                    sums.launch(stream, |of| programs(columns, of.BN))?;
                }
            }
            Spelling::Views => {
                let (shape, partial) = ([rows, columns], [groups, columns]);
                let (locks, counts) = locks.view_mut([2 * groups])?.split_at(0, groups)?;
                let of_rows = layer_norm_dx_views_tuned(
                    dx.view_mut(shape)?,
                    dy.view(shape)?,
                    part_w.view_mut(partial)?,
                    part_b.view_mut(partial)?,
                    x.view(shape)?,
                    w.view([columns])?,
                    mean.view([rows])?,
                    rstd.view([rows])?,
                    locks,
                    counts,
                );
                of_rows.choose(instance).launch(stream, |_| rows)?;
                let (part_w, part_b) = (part_w.view([groups, columns])?, part_b.view([groups, columns])?);
                let (part_w, part_b) = (part_w.narrow(0, ..used)?, part_b.narrow(0, ..used)?);
                let sums =
                    layer_norm_dwdb_views_tuned(part_w, part_b, dw.view_mut([columns])?, db.view_mut([columns])?);
                sums.launch(stream, |of| programs(columns, of.BN))?;
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (columns, n) = (self.columns, self.columns as f64);
        let (dx, mut stray) = self.dx.found(stream)?;
        let expected = |r: usize| {
            let (x, dy) = (&self.x.host[r * columns..][..columns], &self.dy.host[r * columns..][..columns]);
            let (mean, rstd) = moments(x);
            let xhat = x.iter().map(|v| (v.to_f64() - mean) * rstd);
            let wdy = self.w.host.iter().zip(dy).map(|(w, dy)| w.to_f64() * dy.to_f64());
            let c1 = xhat.clone().zip(wdy.clone()).map(|(a, b)| a * b).sum::<f64>() / n;
            let c2 = wdy.clone().sum::<f64>() / n;
            xhat.zip(wdy).map(|(xhat, wdy)| (wdy - (xhat * c1 + c2)) * rstd).collect()
        };
        let mut error = error_of_rows(&dx, [columns; 2], &some_rows(self.rows, 32 * columns), expected);
        for (output, sums) in [&self.dw, &self.db].into_iter().zip(&self.sums) {
            let (found, beside) = output.found(stream)?;
            stray += beside;
            let of_sums = data::error(&found, |i| sums[i]);
            error = if error.is_nan() || of_sums.is_nan() { f64::NAN } else { error.max(of_sums) };
        }
        Ok((error, stray))
    }
}
