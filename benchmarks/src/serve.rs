//! Our side of the comparison.

use crate::case::{Case, DType};
use crate::data;
use crate::kernels::{Value, shipped};
use crate::protocol::{Entry, Reply, Request, Work};
use crate::timing::Timer;
use crate::{Outcome, Where};
use clap::Args;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use triton::{Buffer, Device, Stream, f16};

/// Elements behind the last operand, which must stay as they are.
const SLACK: usize = 16;

/// Options of `serve`.
#[derive(Args, Debug)]
pub struct Options {
    /// Where kernels run
    #[arg(long, value_enum, default_value = "cuda")]
    device: Where,
    /// What the implementations are called
    #[arg(long, default_value = "ours")]
    entry: String,
}

/// Works off requests until there are no more.
///
/// # Errors
/// If no more can be read or written. What goes wrong with a request is its reply.
pub fn serve(options: &Options) -> Outcome {
    let mut side: Option<Side> = None;
    for line in std::io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?) {
            Ok(request) => answer(options, &mut side, request).unwrap_or_else(|e| Reply::Failed(e.to_string())),
            Err(error) => Reply::Failed(format!("not a request: {error}")),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&reply)?)?;
        out.flush()?;
    }
    Ok(())
}

fn answer(options: &Options, side: &mut Option<Side>, request: Request) -> Outcome<Reply> {
    match (request, side) {
        (Request::Prepare { cases, seed, flush_mib }, side) => {
            let new = Side::new(&options.device.open()?, cases, seed, flush_mib)?;
            let reply = new.ready(&options.entry);
            *side = Some(new);
            Ok(reply)
        }
        (Request::Check(work), Some(side)) => side.check(&work),
        (Request::Time { work, warmup, reps }, Some(side)) => Ok(Reply::Timed(side.time(&work, warmup, reps)?)),
        (Request::Check(_) | Request::Time { .. }, None) => Err("`prepare` comes first".into()),
    }
}

/// Everything that is prepared.
pub struct Side {
    timer: Timer,
    cases: Vec<Case>,
    f32s: Operands<f32>,
    f16s: Operands<f16>,
    memory: u64,
}

impl Side {
    /// Makes inputs for the cases.
    ///
    /// # Errors
    /// Of the device, mostly for want of memory.
    pub fn new(device: &Device, cases: Vec<Case>, seed: u64, flush_mib: u32) -> triton::Result<Side> {
        let timer = Timer::new(device, flush_mib)?;
        let len = |dtype| {
            let of_type = cases.iter().filter(|case| case.dtype == dtype);
            of_type.map(|case| case.n + case.offset + SLACK).max().unwrap_or(0)
        };
        let (f32s, f16s) = (len(DType::F32), len(DType::F16));
        let memory = 3 * (4 * f32s + 2 * f16s) as u64 + (u64::from(flush_mib) << 20);
        Ok(Side {
            f32s: Operands::new(&timer.stream, f32s, seed)?,
            f16s: Operands::new(&timer.stream, f16s, seed.wrapping_add(1 << 32))?,
            timer,
            cases,
            memory,
        })
    }

    fn ready(&self, entry: &str) -> Reply {
        let entries = self.cases.iter().map(|case| Entry {
            work: Work { case: case.name.clone(), entry: entry.to_string() },
            note: shipped(case.op, case.dtype).to_string(),
        });
        let device = self.timer.stream.device();
        let mut versions = BTreeMap::from([("triton-dsl".to_string(), env!("CARGO_PKG_VERSION").to_string())]);
        if let Some(version) = device.driver_version() {
            versions.insert("CUDA driver API".to_string(), format!("{}.{}", version / 1000, version % 1000 / 10));
        }
        Reply::Ready { device: device.name().to_string(), versions, entries: entries.collect(), memory: self.memory }
    }

    fn case(&self, work: &Work) -> Outcome<Case> {
        let found = self.cases.iter().find(|case| case.name == work.case);
        found.cloned().ok_or_else(|| format!("there is no case `{}`", work.case).into())
    }

    fn check(&mut self, work: &Work) -> Outcome<Reply> {
        let case = self.case(work)?;
        let stream = &self.timer.stream;
        Ok(match case.dtype {
            DType::F32 => self.f32s.check(stream, &case)?,
            DType::F16 => self.f16s.check(stream, &case)?,
        })
    }

    fn time(&mut self, work: &Work, warmup: u32, reps: u32) -> Outcome<Vec<f64>> {
        let case = self.case(work)?;
        self.time_choice(&case, shipped(case.op, case.dtype), warmup, reps).map_err(Into::into)
    }

    /// Times one instance.
    ///
    /// # Errors
    /// Of the launches.
    pub fn time_choice(
        &mut self,
        case: &Case,
        choice: crate::kernels::Choice,
        warmup: u32,
        reps: u32,
    ) -> triton::Result<Vec<f64>> {
        match case.dtype {
            DType::F32 => self.timer.time(warmup, reps, |stream| self.f32s.run(stream, case, choice)),
            DType::F16 => self.timer.time(warmup, reps, |stream| self.f16s.run(stream, case, choice)),
        }
    }
}

/// Inputs and output of one element type, for all cases.
struct Operands<T> {
    x: Vec<T>,
    y: Vec<T>,
    device_x: Buffer<T>,
    device_y: Buffer<T>,
    out: Buffer<T>,
}

impl<T: Value> Operands<T> {
    fn new(stream: &Stream, len: usize, seed: u64) -> triton::Result<Operands<T>> {
        let (x, y) = (data::normal(len, seed), data::normal(len, seed.wrapping_add(1 << 31)));
        let (device_x, device_y, out) = (stream.upload(&x)?, stream.upload(&y)?, stream.zeros(len)?);
        Ok(Operands { x, y, device_x, device_y, out })
    }

    fn run(&mut self, stream: &Stream, case: &Case, choice: crate::kernels::Choice) -> triton::Result<()> {
        let range = case.offset..case.offset + case.n;
        let (x, y) = (self.device_x.slice(range.clone())?, self.device_y.slice(range.clone())?);
        let mut out = self.out.slice_mut(range)?;
        let n = i32::try_from(case.n).unwrap_or(i32::MAX);
        // SAFETY: each slice has `n` elements.
        #[allow(unsafe_code, reason = "kernels over raw pointers")]
        unsafe {
            T::launch(case.op, choice, stream, &x, &y, &mut out, n)
        }
    }

    fn check(&mut self, stream: &Stream, case: &Case) -> triton::Result<Reply> {
        use crate::case::Op;

        let len = self.out.len();
        // SAFETY: the buffer has so many elements.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            T::poison(stream, &mut self.out, i32::try_from(len).unwrap_or(i32::MAX))?;
        }
        self.run(stream, case, shipped(case.op, case.dtype))?;
        let found = stream.download(&self.out)?;
        let (before, rest) = found.split_at(case.offset);
        let (result, behind) = rest.split_at(case.n);
        let (x, y) = (&self.x[case.offset..], &self.y[case.offset..]);
        let (error, bound) = match case.op {
            Op::Copy => (data::error(result, |i| x[i].to_f64()), 0.0),
            Op::Add => (data::error(result, |i| x[i].to_f64() + y[i].to_f64()), T::ROUNDING),
        };
        let stray = before.iter().chain(behind).filter(|v| !v.to_f64().is_nan()).count();
        Ok(Reply::Checked { error: (!error.is_nan()).then_some(error), bound, stray: stray as u64 })
    }
}
