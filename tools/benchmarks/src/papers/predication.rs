//! ISAAC, section 8.3: what bounds checks cost. One product, of extents that tiles divide, by kernels of the same tile, the same warps and
//! the same order of sums: by pointers that access every element, by pointers under masks, and by views, whose accesses are checked.
//!
//! Nothing is loaded ahead in any of the three (`num_stages = 1`), as their rings would be filled by other instructions: what differs is
//! the checks alone; on Hopper also who stores results of 16 bits to a view: bulk copies, which check themselves. Their rates are therefore
//! below those of the library's instances.

use crate::case::{Case, DType, scaled};
use crate::coordinator::Schedule;
use crate::kernels::Value;
use crate::shapes::Layouts;
use crate::stats::{self, Spread};
use crate::timing::Timer;
use crate::{Common, Outcome, data, reference, table};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::Serialize;
use triton::prelude::*;

/// Most time of a kernel with checks over that of the one without: what the paper finds of predicates in PTX.
const TARGET: f64 = 1.02;

/// c = a · b by pointers; all extents are multiples of the tile. With CHECKED every access is under a mask of its indices, without under
/// `true`.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 128, BN = 128, BK = 16, CHECKED = false, num_warps = 8, num_stages = 1),
    (T = f32, BM = 128, BN = 128, BK = 16, CHECKED = true, num_warps = 8, num_stages = 1),
    (T = bf16, BM = 128, BN = 128, BK = 32, CHECKED = false, num_warps = 8, num_stages = 1),
    (T = bf16, BM = 128, BN = 128, BK = 32, CHECKED = true, num_warps = 8, num_stages = 1),
])]
fn by_pointers<T: Float, const BM: i32, const BN: i32, const BK: i32, const CHECKED: bool>(
    a: Ptr<T>,
    b: Ptr<T>,
    c: PtrMut<T>,
    m: i32,
    n: i32,
    k: i32,
) {
    let i = (program_id(0) * BM + arange(0, BM)).expand_dims(1);
    let j = (program_id(1) * BN + arange(0, BN)).expand_dims(0);
    let mut acc = zeros::<f32>([BM, BN]);
    for step in (0..k).step_by(BK) {
        let (u, v) = ((step + arange(0, BK)).expand_dims(0), (step + arange(0, BK)).expand_dims(1));
        let (x, y) = if CHECKED {
            (load(a + (i * k + u), (i < m) & (u < k)), load(b + (v * n + j), (v < k) & (j < n)))
        } else {
            (load(a + (i * k + u), true), load(b + (v * n + j), true))
        };
        acc = dot(x, y, acc);
    }
    if CHECKED {
        store(c + (i * n + j), acc.to::<T>(), (i < m) & (j < n));
    } else {
        store(c + (i * n + j), acc.to::<T>(), true);
    }
}

/// The same by views.
#[triton::kernel(configs = [
    (T = f32, BM = 128, BN = 128, BK = 16, num_warps = 8, num_stages = 1),
    (T = bf16, BM = 128, BN = 128, BK = 32, num_warps = 8, num_stages = 1),
])]
fn by_views<T: Float, const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
    }
    c.store([m, n], acc.to::<T>());
}

/// How elements are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// By pointers, all of them.
    Pointers,
    /// By pointers, under masks.
    Masks,
    /// By views.
    Views,
}

const ALL: [Access; 3] = [Access::Pointers, Access::Masks, Access::Views];

/// An element type with these kernels.
trait Multiplied: Value<Out = Self> {
    /// Rows and columns of a tile, and the K of an iteration.
    const TILE: [usize; 3];

    /// Enqueues a product of extents that are multiples of the tile.
    ///
    /// # Errors
    /// Of the launch.
    fn multiply(
        access: Access,
        shape: [usize; 3],
        stream: &Stream,
        operands: (&Buffer<Self>, &Buffer<Self>, &mut Buffer<Self>),
    ) -> Outcome;
}

macro_rules! multiplied {
    ($t:ident, $bm:literal, $bn:literal, $bk:literal) => {
        impl Multiplied for $t {
            const TILE: [usize; 3] = [$bm, $bn, $bk];

            fn multiply(
                access: Access,
                [m, n, k]: [usize; 3],
                stream: &Stream,
                (a, b, c): (&Buffer<$t>, &Buffer<$t>, &mut Buffer<$t>),
            ) -> Outcome {
                let grid = (m / $bm, n / $bn);
                if access == Access::Views {
                    let (a, b, c) = (a.view([m, k])?, b.view([k, n])?, c.view_mut([m, n])?);
                    return Ok(by_views::<$t, $bm, $bn, $bk>(a, b, c).launch(stream, grid)?);
                }
                let is_whole = m % $bm == 0 && n % $bn == 0 && k % $bk == 0;
                if !is_whole || a.len() < m * k || b.len() < k * n || c.len() < m * n {
                    return Err(format!("{m} x {n} x {k} are not whole tiles of the operands").into());
                }
                let [m, n, k] = [m, n, k].map(|side| i32::try_from(side).unwrap_or(i32::MAX));
                // SAFETY: tiles divide the extents, so that programs access the m · k, k · n and m · n elements that the
                // buffers have, and no others.
                #[allow(unsafe_code, reason = "kernels over raw pointers")]
                unsafe {
                    if access == Access::Masks {
                        by_pointers::<$t, $bm, $bn, $bk, true>(a, b, c, m, n, k).launch(stream, grid)?;
                    } else {
                        by_pointers::<$t, $bm, $bn, $bk, false>(a, b, c, m, n, k).launch(stream, grid)?;
                    }
                }
                Ok(())
            }
        }
    };
}

multiplied!(f32, 128, 128, 16);
multiplied!(bf16, 128, 128, 32);

/// One product by the three kernels.
#[derive(Debug, Serialize)]
pub struct Overhead {
    case: Case,
    tile: [usize; 3],
    /// By pointers, under masks, by views: milliseconds of each repetition of each block.
    ms: [Vec<Vec<f64>>; 3],
    /// Time under masks, and by views, over that without checks, block by block.
    over: [Option<Spread>; 2],
}

/// Sides of the products.
const SIDES: [usize; 2] = [1024, 2048];

/// Measures products of an element type: squares, smaller where there are to be few elements.
///
/// # Errors
/// Of the device, for a type without these kernels, and if a result is wrong.
pub fn measure(dtype: DType, common: &Common, schedule: &Schedule, n: usize, seed: u64) -> Outcome<Vec<Overhead>> {
    let mut timer = Timer::new(&common.device.parse::<Device>()?, common.flush_mib)?;
    let mut all: Vec<Overhead> = Vec::new();
    for side in SIDES {
        // Whole tiles.
        let side = (scaled([side; 3], n)[0] / 128).max(1) * 128;
        let case = Case::product(dtype, false, Layouts::NN, [side; 3]);
        if all.iter().any(|other| other.case.name == case.name) {
            continue;
        }
        all.push(match dtype {
            DType::F32 => of_case::<f32>(case, &mut timer, schedule, seed)?,
            DType::Bf16 => of_case::<bf16>(case, &mut timer, schedule, seed)?,
            DType::F16 | DType::F64 | DType::I8 => {
                let found = dtype.name();
                return Err(format!("the bounds checks of {found} are not measured: --dtype f32 or bf16").into());
            }
        });
    }
    Ok(all)
}

fn of_case<T: Multiplied>(case: Case, timer: &mut Timer, schedule: &Schedule, seed: u64) -> Outcome<Overhead> {
    let [of_a, of_b, of_c] = case.lengths();
    let (a, b): (Vec<T>, Vec<T>) = (data::random(of_a, seed), data::random(of_b, seed.wrapping_add(1)));
    let stream = timer.stream.clone();
    let (on_a, on_b) = (stream.upload(&a)?, stream.upload(&b)?);
    for access in ALL {
        let mut c = stream.zeros::<T>(of_c)?;
        T::multiply(access, case.shape, &stream, (&on_a, &on_b, &mut c))?;
        let error = reference::error(&case, &a, &b, &stream.download(&c)?);
        if error.is_nan() || error > case.bound {
            let bound = case.bound;
            return Err(format!("WRONG: `{}` by {access:?}: error {error:.2e}, at most {bound:.2e}", case.name).into());
        }
    }
    let mut c = stream.zeros::<T>(of_c)?;
    let mut ms: [Vec<Vec<f64>>; 3] = Default::default();
    for order in stats::plan(ALL.len(), schedule.blocks, &mut SmallRng::seed_from_u64(seed)) {
        for i in order {
            let run = |stream: &Stream| T::multiply(ALL[i], case.shape, stream, (&on_a, &on_b, &mut c));
            ms[i].push(timer.time(schedule.warmup, schedule.reps, run)?);
        }
    }
    let over = [1, 2].map(|i| {
        let blocks = ms[i].iter().zip(&ms[0]);
        let ratios: Vec<f64> =
            blocks.filter_map(|(of, base)| Some(stats::median(of)? / stats::median(base)?)).collect();
        stats::spread(&ratios)
    });
    Ok(Overhead { case, tile: T::TILE, ms, over })
}

impl Overhead {
    fn cells(&self) -> Vec<String> {
        let [m, n, k] = self.tile;
        let us = |i: usize| stats::median(&self.ms[i].concat()).map_or(String::new(), |ms| format!("{:.1}", ms * 1e3));
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let over = |i: usize| {
            let spread = self.over[i]?;
            let verdict = if spread.median <= TARGET { "pass" } else { "miss" };
            let [median, min, max] = [spread.median, spread.min, spread.max].map(percent);
            Some(format!("{median:+.1} % [{min:+.1}–{max:+.1}] {verdict}"))
        };
        vec![
            self.case.name.clone(),
            format!("{m}x{n}x{k}"),
            us(0),
            us(1),
            us(2),
            over(0).unwrap_or_default(),
            over(1).unwrap_or_default(),
        ]
    }
}

/// Overheads as a table.
pub fn render(all: &[Overhead]) -> String {
    let head = ["product", "tile", "no checks µs", "masks µs", "views µs", "masks", "views"];
    let rows: Vec<Vec<String>> = all.iter().map(Overhead::cells).collect();
    format!("{}\nTarget: at most {:.0} % more time.\n", table::render(&head, 2, &rows), 100.0 * (TARGET - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use triton::metadata::{Image, KernelMetadata};

    /// How often instructions are in the image of whole vectors, by target: the loads, what is kept in shared memory, the products, the
    /// barriers and the stores.
    fn schedule(of: &KernelMetadata) -> BTreeMap<&'static str, Vec<usize>> {
        let words =
            ["ld.global", "st.shared", "fma.rn.f32", "wgmma.mma_async", "mma.sync", "bar", "cp.async", "st.global"];
        // Where extents gain nothing, aligned rows are all that an image assumes.
        let all = &of.configs[0].images;
        let most = |image: &Image| {
            all.iter().filter(|other| other.target == image.target).map(|other| other.specialization).max()
        };
        let images = all.iter().filter(|image| Some(image.specialization) == most(image));
        let counted = images.map(|image| {
            let text = image.text();
            // A predicate precedes its instruction.
            let opcodes = text.lines().filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')));
            let opcodes: Vec<&str> = opcodes.collect();
            let count = |word: &str| opcodes.iter().filter(|opcode| opcode.starts_with(word)).count();
            (image.target.name(), words.map(count).to_vec())
        });
        counted.collect()
    }

    #[test]
    fn kernels_differ_in_their_checks_alone() {
        let stream = Device::cpu().stream().expect("the CPU");
        macro_rules! check {
            ($t:ident, $bk:literal, $targets:literal) => {
                let (a, mut c) = (stream.zeros::<$t>(4).expect("memory"), stream.zeros::<$t>(4).expect("memory"));
                let plain = schedule(by_pointers::<$t, 128, 128, $bk, false>(&a, &a, &mut c, 2, 2, 2).metadata());
                let masks = schedule(by_pointers::<$t, 128, 128, $bk, true>(&a, &a, &mut c, 2, 2, 2).metadata());
                let view = || a.view([2, 2]).expect("four elements");
                let out = c.view_mut([2, 2]).expect("four elements");
                let views = schedule(by_views::<$t, 128, 128, $bk>(view(), view(), out).metadata());
                assert_eq!(plain.len(), $targets, "{plain:?}");
                assert!(
                    plain.values().all(|counts| counts[0] > 0 && counts[2..5].iter().any(|count| *count > 0)),
                    "{plain:?}"
                );
                assert_eq!(plain, masks);
                // On Hopper bulk copies store what is of 16 bits, and check the bounds themselves.
                let until_stored = |of: &BTreeMap<&'static str, Vec<usize>>| {
                    of.values().map(|counts| counts[..5].to_vec()).collect::<Vec<_>>()
                };
                assert_eq!(until_stored(&plain), until_stored(&views));
            };
        }
        check!(f32, 16, 1);
        check!(bf16, 32, 2);
    }
}
