//! Random numbers and dropout.

use super::{order, pairs};
use crate::harness::{Case, Failure, Operand, Outcome, Scalar, compare, refused, same, type_name};
use crate::reference::dropout as reference;
use crate::reference::number::{Number, erf};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::dropout::dropout;
use triton_kernels::functions;

/// Uniform and normal numbers.
#[triton::kernel(targets = ["sm_80"])]
fn numbers_kernel(uniform: TensorMut<f32, 1>, normal: TensorMut<f32, 1>, seed: u64) {
    let at = program_id(0) * 256;
    let counter = (at + arange(0, 256)).to::<u64>();
    uniform.store([at], functions::rand(seed, counter));
    normal.store([at], functions::randn(seed, counter));
}

/// Integers below a bound.
#[triton::kernel(targets = ["sm_80"])]
fn integers_kernel(out: TensorMut<u32, 1>, seed: u64, first: u64, bound: u32) {
    let at = program_id(0) * 256;
    out.store([at], functions::randint(seed, first + (at + arange(0, 256)).to::<u64>(), bound));
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    published(&mut cases);
    distributions(&mut cases);
    integers(&mut cases);
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    cases.push(Case::new("dropout refuses other probabilities", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        let of_x = x.view([3, 4])?;
        for p in [1.0, -0.1, f32::NAN] {
            refused(
                dropout(of_x, p, 0, 0, y.view_mut([3, 4])?).launch(stream),
                &["`p` is", "a probability less than 1"],
            )?;
        }
        Ok(())
    }));
    cases
}

/// The known answers of Random123.
const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
    ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

fn of_words(stream: &Stream, counter: [u32; 4], key: [u32; 2], expected: [u32; 4]) -> Outcome {
    let (x, mut out) = (stream.upload(&counter)?, stream.zeros::<u32>(4)?);
    known_kernel(x.view([4])?, out.view_mut([4])?, key[0], key[1]).launch(stream, 1)?;
    let found = stream.download(&out)?;
    if found == expected { Ok(()) } else { Err(Failure(format!("{found:08x?} instead of {expected:08x?}"))) }
}

/// The four words of a counter.
#[triton::kernel(targets = ["sm_80"])]
fn known_kernel(x: Tensor<u32, 1>, out: TensorMut<u32, 1>, k0: u32, k1: u32) {
    let one = zeros::<u32>([1]);
    let (a, b, c, d) =
        functions::philox(one + x.get([0]), one + x.get([1]), one + x.get([2]), one + x.get([3]), k0, k1);
    out.store([0], a);
    out.store([1], b);
    out.store([2], c);
    out.store([3], d);
}

fn published(cases: &mut Vec<Case>) {
    for (i, (counter, key, expected)) in KNOWN.into_iter().enumerate() {
        cases.push(Case::new(format!("philox published {i}"), move |stream, _| {
            of_words(stream, counter, key, expected)?;
            let found = reference::philox(counter, key);
            if found == expected { Ok(()) } else { Err(Failure(format!("the reference: {found:08x?}"))) }
        }));
    }
    for i in 0..20 {
        cases.push(Case::new(format!("philox random {i}"), move |stream, random| {
            let counter = [0; 4].map(|_: u32| random.u32(..));
            let key = [0; 2].map(|_: u32| random.u32(..));
            of_words(stream, counter, key, reference::philox(counter, key))
        }));
    }
}

/// The distance of Kolmogorov and Smirnov from a distribution, times √n.
fn distance(mut found: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
    found.sort_by(f64::total_cmp);
    let n = found.len() as f64;
    let of = |(i, x): (usize, &f64)| ((i + 1) as f64 / n - below(*x)).max(below(*x) - i as f64 / n);
    found.iter().enumerate().map(of).fold(0.0, f64::max) * n.sqrt()
}

fn distributions(cases: &mut Vec<Case>) {
    for i in 0..8 {
        cases.push(Case::new(format!("rand and randn {i}"), move |stream, random| {
            let n = 1000 + 1000 * i;
            let seed = random.u64(..);
            let (mut uniform, mut normal) = (stream.zeros::<f32>(n)?, stream.zeros::<f32>(n)?);
            numbers_kernel(uniform.view_mut([n])?, normal.view_mut([n])?, seed).launch(stream, n.div_ceil(256))?;
            let (uniform, normal) = (stream.download(&uniform)?, stream.download(&normal)?);
            for (counter, found) in uniform.iter().enumerate() {
                let [word, ..] = reference::philox([counter as u32, 0, 0, 0], [seed as u32, (seed >> 32) as u32]);
                same("rand", &[f64::from(*found)], &[f64::from(word >> 8) / 2f64.powi(24)])?;
            }
            // Exceeded by one in 10⁸.
            let of = |of: Vec<f32>| of.into_iter().map(f64::from).collect::<Vec<f64>>();
            let below = |x: f64| 0.5 * (1.0 + erf(x / 2f64.sqrt()));
            let found = [distance(of(uniform), |x| x), distance(of(normal), below)];
            if found.iter().all(|d| *d < 3.1) { Ok(()) } else { Err(Failure(format!("distances of {found:?}"))) }
        }));
    }
}

fn integers(cases: &mut Vec<Case>) {
    for bound in [0, 1, 2, 3, 6, 10, 1000, 1 << 16, 1 << 31, (1 << 31) + 1, u32::MAX] {
        cases.push(Case::new(format!("randint {bound}"), move |stream, random| {
            let (n, seed, first) = (3001, random.u64(..), random.u64(..1 << 63));
            let mut out = stream.zeros::<u32>(n)?;
            integers_kernel(out.view_mut([n])?, seed, first, bound).launch(stream, n.div_ceil(256))?;
            let found = stream.download(&out)?;
            let of = |at: u64| {
                let counter = first + at;
                let key = [seed as u32, (seed >> 32) as u32];
                let [low, high, ..] = reference::philox([counter as u32, (counter >> 32) as u32, 0, 0], key);
                ((((u128::from(high) << 32) | u128::from(low)) * u128::from(bound)) >> 64) as u32
            };
            if let Some(at) = (0..n).find(|&at| found[at] != of(at as u64)) {
                return Err(Failure(format!("number {at} is {}, not {}", found[at], of(at as u64))));
            }
            let among = f64::from(bound.max(1));
            let wrong = if bound <= 10 {
                let (mean, deviation) = (n as f64 / among, (n as f64 * (1.0 - 1.0 / among) / among).sqrt());
                let count = |v: u32| found.iter().filter(|found| **found == v).count() as f64;
                (0..bound.max(1)).any(|v| (count(v) - mean).abs() > 6.0 * deviation)
            } else {
                // Exceeded by one in 10⁸.
                distance(found.iter().map(|v| f64::from(*v)).collect(), |x| (x + 1.0) / among) > 3.1
            };
            if wrong { Err(Failure(format!("they are not uniform below {bound}"))) } else { Ok(()) }
        }));
    }
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 2, 9], &[0, 1, 2, 4, 31, 127, 128, 129]);
    shapes.extend([[1, 1023], [1, 1024], [1, 1025], [8, 128], [3, 1032], [16, 64], [5, 1001]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        let orders = [order(turn), order(turn / 3)];
        let name = format!("dropout {} {shape:?} {orders:?}", type_name::<T>());
        cases.push(Case::new(name, move |stream, random| {
            let p = [0.0, 0.1, 0.5, 0.9, 0.999][random.usize(..5)];
            let seed = random.u64(..);
            let offset = if random.bool() { random.u64(..) } else { 0 };
            let x = Operand::<T, 2>::normal(shape, orders[0], random);
            let y = Operand::<T, 2>::output(shape, orders[1]);
            let scale = reference::scale(p);
            let of = |(at, x): (usize, f64)| {
                let place = [at / shape[1], at % shape[1]];
                if reference::stays(place, shape[1], p, seed, offset) { Number::from(x) * scale } else { 0.0.into() }
            };
            let expected: Vec<Number> = x.values().into_iter().enumerate().map(of).collect();
            let memory = x.upload(stream)?;
            for _ in 0..2 {
                let mut found = y.upload(stream)?;
                dropout(x.view(&memory)?, p, seed, offset, y.view_mut(&mut found)?).launch(stream)?;
                let found = y.download(stream, &found)?;
                compare::<T>("y", &found, &expected)?;
                if found.iter().zip(&expected).any(|(a, b)| (*a == 0.0) != (b.value == 0.0) && b.value.abs() > 1e-6) {
                    return Err(Failure("other elements are dropped".to_string()));
                }
            }
            Ok(())
        }));
    }
    cases.push(Case::new(format!("dropout {} share", type_name::<T>()), |stream, random| {
        let (n, p) = (20_000, 0.3);
        let x = Operand::<T, 2>::new([100, 200], order(0), || 1.0);
        let y = Operand::<T, 2>::output([100, 200], order(0));
        let (memory, mut found) = (x.upload(stream)?, y.upload(stream)?);
        dropout(x.view(&memory)?, p, random.u64(..), 0, y.view_mut(&mut found)?).launch(stream)?;
        let dropped = y.download(stream, &found)?.iter().filter(|y| **y == 0.0).count() as f64;
        let deviations = (dropped - n as f64 * f64::from(p)).abs() / (n as f64 * 0.21).sqrt();
        if deviations < 6.0 { Ok(()) } else { Err(Failure(format!("{dropped} of {n} are dropped"))) }
    }));
}
