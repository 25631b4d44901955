//! Time of the interpreter for one program at stage 2, where it knows the thread of every access: what a test of a large tile takes.

use super::Metadata;
use crate::{Outcome, stats};
use std::time::Instant;
use triton::prelude::*;
use triton_core::interp::{self, Fault, Memory, Program};
use triton_core::ir::{Function, parse};
use triton_core::metadata::{Arg, Specialization, Target};
use triton_core::passes::{self, Env};

/// out = a · b, a tile a program.
#[triton::kernel(configs = [(M = 128, N = 128, K = 64, num_warps = 8)])]
fn product<const M: i32, const N: i32, const K: i32>(a: Tensor<bf16, 2>, b: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let mut sum = zeros::<f32>([M, N]);
    for k in (0..a.dim(1)).step_by(K) {
        sum = dot(a.load([0, k], [M, K]), b.load([k, 0], [K, N]), sum);
    }
    out.store([0, 0], sum);
}

/// How often it is interpreted.
const REPS: usize = 11;

/// Median time in milliseconds of a product of 128 by 128 by 64.
///
/// # Errors
/// If it does not compile or has a race, which is a bug.
pub fn milliseconds() -> Outcome<f64> {
    let func = synchronized(metadata()?)?;
    let extents = [[128, 64], [64, 128], [128, 128]];
    let bytes = [2, 2, 4];
    let mut end = 0;
    let args: Vec<Arg> = extents
        .into_iter()
        .zip(bytes)
        .flat_map(|([rows, columns], bytes)| {
            let start = end;
            end += rows * columns * bytes;
            [Arg::Ptr(start), Arg::Scalar(rows), Arg::Scalar(columns), Arg::Scalar(columns), Arg::Scalar(1)]
        })
        .collect();
    let mut times = Vec::new();
    for _ in 0..REPS {
        let start = Instant::now();
        interp::run(&func, &args, Program { id: [0; 3], grid: [1; 3] }, &Zeros).map_err(|e| e.to_string())?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(stats::median(&times).unwrap_or(0.0))
}

fn metadata() -> triton::Result<Metadata> {
    let stream = Device::cpu().stream()?;
    let (a, b, mut out) = (stream.zeros(1)?, stream.zeros(1)?, stream.zeros(1)?);
    let launch = product::<128, 128, 64>(a.view([1, 1])?, b.view([1, 1])?, out.view_mut([1, 1])?);
    Ok(launch.metadata())
}

/// The function of an instance at stage 2, for what the strongest specialization promises.
fn synchronized(metadata: Metadata) -> Outcome<Function> {
    let mut func = parse::parse(&metadata.configs[0].ir.get()).map_err(|e| e.to_string())?;
    passes::run(passes::OPTIMISE, &mut func, &Env::portable())?;
    let env = Env::new(Target::Sm80, Specialization::Divisible16);
    for list in [passes::SPECIALISE, passes::LAY_OUT, passes::SYNCHRONIZE] {
        passes::run(list, &mut func, &env)?;
    }
    Ok(func)
}

/// Memory of zeros that keeps nothing: what the interpreter computes takes as long with any numbers.
struct Zeros;

impl Memory for Zeros {
    fn load(&self, _: u32, _: &[u64], _: Option<&[u64]>, out: &mut [u64]) -> Result<(), Fault> {
        out.fill(0);
        Ok(())
    }

    fn store(&self, _: u32, _: &[u64], _: Option<&[u64]>, _: &[u64]) -> Result<(), Fault> {
        Ok(())
    }

    fn update(
        &self,
        _: u32,
        addresses: &[u64],
        _: Option<&[u64]>,
        _: &dyn Fn(usize, u64) -> u64,
        _: &mut [u64],
    ) -> Result<(), Fault> {
        Err(Fault {
            element: 0,
            address: addresses.first().copied().unwrap_or(0),
            reason: "for the loads and stores of a product alone".into(),
        })
    }
}
