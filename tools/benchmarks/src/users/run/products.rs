//! Tutorials 03, 08 and 09, and the product of `f16` in given tiles.

use super::{names, programs};
use crate::Outcome;
use crate::reference::{error_of_rows, some_rows};
use crate::users::cases::{Case, GROUPS, groups};
use crate::users::mixed::*;
use crate::users::operands::{Input, Output, Row, Spelling, int};
use crate::users::persistent::*;
use crate::users::products::*;
use triton::{Stream, f16};

/// A row of the product of a row of K elements and a matrix \[K, N\].
pub fn product_row<B: Copy>(a: &[f16], b: &[B], n: usize, to_f64: impl Fn(B) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; n];
    for (a, b) in a.iter().zip(b.chunks(n)) {
        let a = a.to_f64();
        sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * to_f64(*b));
    }
    sums
}

/// Which kernels multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Tutorial 03.
    Plain,
    /// Tutorial 03 with its activation.
    Leaky,
    /// Tutorial 09.
    Persistent,
    /// That of a given tile.
    Tiled,
}

/// A product of matrices of `f16`.
pub struct Product {
    kind: Kind,
    shape: [usize; 3],
    tile: [usize; 3],
    a: Input<f16>,
    b: Input<f16>,
    c: Output<f16>,
}

impl Product {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(kind: Kind, case: &Case, stream: &Stream, seed: u64) -> Outcome<Product> {
        let [m, n, k] = case.shape;
        Ok(Product {
            kind,
            shape: case.shape,
            tile: case.tile,
            a: Input::random(stream, m * k, seed)?,
            b: Input::random(stream, k * n, seed.wrapping_add(1 << 31))?,
            c: Output::new(stream, m * n)?,
        })
    }
}

/// Whether an instance has the tile that a row is about, if it is about one.
pub fn has(tile: [usize; 3], of: [i32; 3]) -> bool {
    tile == [0; 3] || tile == of.map(|side| side as usize)
}

impl Row for Product {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match (self.kind, spelling) {
            (Kind::Persistent, Spelling::Pointers) => names!(persistent_pointers_pool()),
            (Kind::Persistent, Spelling::Views) => names!(persistent_views_pool()),
            (Kind::Tiled, Spelling::Pointers) => Vec::new(),
            (Kind::Tiled, Spelling::Views) => {
                let members = plain_views_pool().members().iter().map(|member| member.choice());
                members.filter(|of| has(self.tile, [of.BM, of.BN, of.BK])).map(|of| of.to_string()).collect()
            }
            (Kind::Leaky, Spelling::Pointers) => names!(matmul_pointers_pool::<true>()),
            (Kind::Plain, Spelling::Pointers) => names!(matmul_pointers_pool::<false>()),
            (Kind::Leaky, Spelling::Views) => names!(matmul_views_pool::<true>()),
            (Kind::Plain, Spelling::Views) => names!(matmul_views_pool::<false>()),
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.c.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        let ([m, n, k], tile) = (self.shape, self.tile);
        let (a, b, c) = (&self.a.device, &self.b.device, &mut self.c.device);
        let tiles = |bm: i32, bn: i32| programs(m, bm) * programs(n, bn);
        let square = |bm: i32, bn: i32| (programs(m, bm), programs(n, bn));
        // A program a multiprocessor, as the tutorial has it.
        let resident = stream.device().multiprocessors() as usize;
        match spelling {
            Spelling::Pointers => {
                let (mi, ni, ki) = (int(m)?, int(n)?, int(k)?);
                // SAFETY: the operands are row-major matrices of these extents; masks and `% m` keep every access in them.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    match self.kind {
                        Kind::Persistent => {
                            let launch = persistent_pointers_tuned(a, b, c, mi, ni, ki, ki, 1, ni, 1, ni, 1);
                            launch.choose(instance).launch(stream, |of| tiles(of.BM, of.BN).min(resident))?;
                        }
                        Kind::Leaky => {
                            let launch = matmul_pointers_tuned::<true>(a, b, c, mi, ni, ki, ki, 1, ni, 1, ni, 1);
                            launch.choose(instance).launch(stream, |of| tiles(of.BM, of.BN))?;
                        }
                        Kind::Tiled => return Err("a given tile has no spelling by pointers".into()),
                        Kind::Plain => {
                            let launch = matmul_pointers_tuned::<false>(a, b, c, mi, ni, ki, ki, 1, ni, 1, ni, 1);
                            launch.choose(instance).launch(stream, |of| tiles(of.BM, of.BN))?;
                        }
                    }
                }
            }
            Spelling::Views => {
                let (a, b, c) = (a.view([m, k])?, b.view([k, n])?, c.view_mut([m, n])?);
                match self.kind {
                    Kind::Persistent => {
                        let launch = persistent_views_tuned(a, b, c).choose(instance);
                        launch.launch(stream, |of| tiles(of.BM, of.BN).min(resident))?;
                    }
                    Kind::Tiled => {
                        let launch = plain_views_tuned(a, b, c).find(|of| has(tile, [of.BM, of.BN, of.BK]));
                        launch.launch(stream, |of| square(of.BM, of.BN))?;
                    }
                    Kind::Leaky => {
                        let launch = matmul_views_tuned::<true>(a, b, c).choose(instance);
                        launch.launch(stream, |of| square(of.BM, of.BN))?;
                    }
                    Kind::Plain => {
                        let launch = matmul_views_tuned::<false>(a, b, c).choose(instance);
                        launch.launch(stream, |of| square(of.BM, of.BN))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.c.found(stream)?;
        let [m, n, k] = self.shape;
        let expected = |r: usize| {
            let mut row = product_row(&self.a.host[r * k..][..k], &self.b.host, n, f16::to_f64);
            if self.kind == Kind::Leaky {
                row.iter_mut().filter(|v| **v < 0.0).for_each(|v| *v *= 0.01);
            }
            row
        };
        Ok((error_of_rows(&found, [n; 2], &some_rows(m, n * k), expected), stray))
    }
}

/// Products of groups, whose operands lie one behind the other.
pub struct Grouped {
    shapes: [[usize; 3]; GROUPS],
    a: Input<f16>,
    b: Input<f16>,
    c: Output<f16>,
    /// Where the operands of each group begin: of a, b and c.
    begins: Input<i64>,
    /// M, N and K of each group.
    sizes: Input<i32>,
}

impl Grouped {
    /// With random operands.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(case: &Case, stream: &Stream, seed: u64) -> Outcome<Grouped> {
        let shapes = groups(case.shape);
        let (mut at, mut begins, mut sizes) = ([0i64; 3], Vec::new(), Vec::new());
        for [m, n, k] in shapes {
            begins.extend(at);
            for (at, len) in at.iter_mut().zip([m * k, k * n, m * n]) {
                *at += i64::from(int(len)?);
            }
            sizes.extend([int(m)?, int(n)?, int(k)?]);
        }
        let [a, b, c] = at.map(|len| len as usize);
        Ok(Grouped {
            shapes,
            a: Input::random(stream, a, seed)?,
            b: Input::random(stream, b, seed.wrapping_add(1 << 31))?,
            c: Output::new(stream, c)?,
            begins: Input::new(stream, begins)?,
            sizes: Input::new(stream, sizes)?,
        })
    }

    /// Where the operands of a group begin.
    fn begin(&self, group: usize) -> [usize; 3] {
        std::array::from_fn(|operand| self.begins.host[group * 3 + operand] as usize)
    }
}

impl Row for Grouped {
    fn instances(&self, spelling: Spelling) -> Vec<String> {
        match spelling {
            Spelling::Pointers => names!(grouped_pointers_pool()),
            Spelling::Views => {
                let one = |name: &String| format!("{name}, a launch a group");
                names!(group_views_pool()).iter().map(one).collect()
            }
        }
    }

    fn poison(&mut self, stream: &Stream) -> Outcome {
        self.c.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome {
        match spelling {
            Spelling::Pointers => {
                let (a, b, c) = (&self.a.device, &self.b.device, &mut self.c.device);
                let (begins, sizes) = (&self.begins.device, &self.sizes.device);
                let (count, resident) = (int(GROUPS)?, stream.device().multiprocessors() as usize);
                // SAFETY: the sizes and the offsets are those of the operands, and whole numbers of tiles.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    let launch = grouped_pointers_tuned(a, b, c, begins, sizes, count).choose(instance);
                    launch.launch(stream, |_| resident)?;
                }
            }
            Spelling::Views => {
                for (group, [m, n, k]) in self.shapes.into_iter().enumerate() {
                    let [a, b, c] = self.begin(group);
                    let (a, b) = (self.a.device.slice(a..a + m * k)?, self.b.device.slice(b..b + k * n)?);
                    let mut c = self.c.device.slice_mut(c..c + m * n)?;
                    let launch = group_views_tuned(a.view([m, k])?, b.view([k, n])?, c.view_mut([m, n])?);
                    launch.choose(instance).launch(stream, |of| (programs(m, of.BM), programs(n, of.BN)))?;
                }
            }
        }
        Ok(())
    }

    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)> {
        let (found, stray) = self.c.found(stream)?;
        let mut worst = 0.0f64;
        for (group, [m, n, k]) in self.shapes.into_iter().enumerate() {
            let [a, b, c] = self.begin(group);
            let (a, b) = (&self.a.host[a..][..m * k], &self.b.host[b..][..k * n]);
            let expected = |r: usize| product_row(&a[r * k..][..k], b, n, f16::to_f64);
            let error = error_of_rows(&found[c..][..m * n], [n; 2], &some_rows(m, n * k), expected);
            worst = if worst.is_nan() || error.is_nan() { f64::NAN } else { worst.max(error) };
        }
        Ok((worst, stray))
    }
}
