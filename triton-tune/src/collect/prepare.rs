//! Instances are compiled and loaded ahead, by all threads.

use super::check::CHECKS;
use super::operands::AnyLaunch;
use super::plan::Job;
use super::products::Products;
use crate::error::Result;
use crate::jit::{self, Refused};
use rayon::prelude::*;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use triton::metadata::Target;
use triton::selection::Code;
use triton::{DType, Kernel, Stream};

/// Registers, bytes of shared memory, and bytes of local memory of a thread.
type Info = (u32, u32, u32);

/// An instance that can be launched.
pub(super) struct Prepared {
    pub kernel: &'static Kernel,
    /// What the compiler estimates.
    pub cycles: f64,
    /// Of each sample what its code takes, or why it cannot be loaded.
    pub infos: Vec<Result<Info, Refused>>,
    /// The checks that its code is for.
    pub checks: Vec<usize>,
}

/// How many, and time of a thread for them.
type Time = (usize, Duration);

/// What was spent.
pub(super) struct Spent {
    pub compiled: Time,
    pub loaded: Time,
}

/// An instance that is compiled, and the code of its samples; nothing where a device has no code.
struct Compiled {
    kernel: &'static Kernel,
    cycles: f64,
    codes: Vec<Result<Option<Code>, Refused>>,
    checks: Vec<(usize, Option<Code>)>,
}

/// Prepares some instances, in their order.
pub(super) fn prepare(
    jobs: &[&Job],
    targets: &[Target],
    products: &mut HashMap<DType, Box<dyn Products>>,
    stream: &Stream,
) -> Result<(Vec<Result<Prepared, Refused>>, Spent)> {
    let compile = |job: &&Job| {
        let start = Instant::now();
        let kernel = job.instance.compile(targets);
        let time = start.elapsed();
        (kernel.map(|kernel| (kernel, jit::cycles(kernel))), time)
    };
    let kernels: Vec<_> = jobs.par_iter().map(compile).collect();
    let compiled = (kernels.len(), kernels.iter().map(|(_, time)| *time).sum());
    // Launches borrow the operands, so that one thread asks which code they take.
    let with_codes = jobs.iter().zip(kernels).map(|(job, (kernel, _))| {
        let products = products.get_mut(&job.instance.ty);
        let products = products.ok_or_else(|| Refused::new("type", "there are no products of the type"))?;
        kernel.and_then(|(kernel, cycles)| codes(job, kernel, cycles, products.as_mut(), stream))
    });
    let with_codes: Vec<_> = with_codes.collect();
    let loaded: Vec<_> = with_codes.into_par_iter().map(|compiled| compiled.and_then(load)).collect();
    let (mut count, mut time) = (0, Duration::ZERO);
    let prepared = loaded.into_iter().map(|loaded| {
        loaded.map(|(prepared, of_one)| {
            count += of_one.0;
            time += of_one.1;
            prepared
        })
    });
    let prepared = prepared.collect();
    Ok((prepared, Spent { compiled, loaded: (count, time) }))
}

/// The code that an instance's launches take.
fn codes(
    job: &Job,
    kernel: &'static Kernel,
    cycles: f64,
    products: &mut dyn Products,
    stream: &Stream,
) -> Result<Compiled, Refused> {
    let instance = &job.instance;
    let refused = |error: triton::Error| Refused::new("code", error);
    let mut codes = Vec::new();
    let mut odd = false;
    for sample in &job.samples {
        let mut code = None;
        let run = &mut |launch: &dyn AnyLaunch, programs| {
            code = launch.code(stream, programs)?;
            Ok(())
        };
        let made = products.with(instance, kernel, sample.extents, sample.splits, run);
        codes.push(made.map(|()| code).map_err(refused));
        odd |= !super::operands::is_aligned(instance, sample.extents);
    }
    let mut checks = Vec::new();
    for check in 0..if odd { CHECKS.len() } else { 1 } {
        let mut code = None;
        let run = &mut |launch: &dyn AnyLaunch, programs| {
            code = launch.code(stream, programs)?;
            Ok(())
        };
        products.with_check(instance, kernel, check, stream, run).map_err(refused)?;
        checks.push((check, code));
    }
    Ok(Compiled { kernel, cycles, codes, checks })
}

/// Loads the code of an instance.
fn load(compiled: Compiled) -> Result<(Prepared, Time), Refused> {
    let Compiled { kernel, cycles, codes, checks } = compiled;
    let (mut count, mut spent) = (0, Duration::ZERO);
    let mut seen = Vec::new();
    let mut load = |code: &Code| {
        let start = Instant::now();
        let info = code.info().map_err(|error| Refused::new("driver", error))?;
        // It prints as its kernel and the number of its image.
        let name = format!("{code:?}");
        if !seen.contains(&name) {
            seen.push(name);
            count += 1;
            spent += start.elapsed();
        }
        Ok((info.registers, info.shared_bytes, info.local_bytes))
    };
    let nothing = Ok((0, 0, 0));
    let infos = codes.into_iter().map(|code| code.and_then(|code| code.as_ref().map_or(nothing.clone(), &mut load)));
    let infos: Vec<Result<Info, Refused>> = infos.collect();
    for (_, code) in &checks {
        code.as_ref().map_or(nothing.clone(), &mut load)?;
    }
    let checks = checks.into_iter().map(|(check, _)| check).collect();
    Ok((Prepared { kernel, cycles, infos, checks }, (count, spent)))
}
