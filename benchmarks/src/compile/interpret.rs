//! Time of the interpreter for one program at stage 2, where it knows the thread of every access: what a test of a large tile takes.

use super::Metadata;
use crate::{Outcome, stats};
use std::sync::Mutex;
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
    let memory = Bytes(Mutex::new(vec![0; end as usize]));
    let mut times = Vec::new();
    for _ in 0..REPS {
        let start = Instant::now();
        interp::run(&func, &args, Program { id: [0; 3], grid: [1; 3] }, &memory).map_err(|e| e.to_string())?;
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
    let mut func = parse::parse(&metadata.configs[0].ir).map_err(|e| e.to_string())?;
    passes::run(passes::OPTIMISE, &mut func, &Env::portable())?;
    let env = Env::new(Target::Sm80, Specialization::Divisible16);
    for list in [passes::SPECIALISE, passes::LAY_OUT, passes::SYNCHRONIZE] {
        passes::run(list, &mut func, &env)?;
    }
    Ok(func)
}

/// Global memory from address 0 on.
struct Bytes(Mutex<Vec<u8>>);

impl Bytes {
    /// Calls `f` with each element and its bytes.
    fn each(
        &self,
        width: u32,
        addresses: &[u64],
        mask: Option<&[u64]>,
        mut f: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), Fault> {
        let mut memory = self.0.lock().unwrap_or_else(|e| e.into_inner());
        for (element, &address) in addresses.iter().enumerate() {
            if mask.is_none_or(|mask| mask[element] != 0) {
                let bytes = memory.get_mut(address as usize..).and_then(|rest| rest.get_mut(..width as usize));
                let fault = || Fault { element, address, reason: "outside memory".into() };
                f(element, bytes.ok_or_else(fault)?);
            }
        }
        Ok(())
    }
}

impl Memory for Bytes {
    fn load(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, out: &mut [u64]) -> Result<(), Fault> {
        self.each(width, addresses, mask, |element, bytes| out[element] = bits(bytes))
    }

    fn store(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, values: &[u64]) -> Result<(), Fault> {
        self.each(width, addresses, mask, |element, bytes| {
            bytes.copy_from_slice(&values[element].to_le_bytes()[..bytes.len()]);
        })
    }

    fn update(
        &self,
        width: u32,
        addresses: &[u64],
        mask: Option<&[u64]>,
        replace: &dyn Fn(usize, u64) -> u64,
        out: &mut [u64],
    ) -> Result<(), Fault> {
        self.each(width, addresses, mask, |element, bytes| {
            out[element] = bits(bytes);
            bytes.copy_from_slice(&replace(element, out[element]).to_le_bytes()[..bytes.len()]);
        })
    }
}

/// Little-endian.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}
