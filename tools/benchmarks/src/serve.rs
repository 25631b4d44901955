//! Our side of the comparison.

mod users;

use crate::case::{Case, DType, Op};
use crate::kernels::{Choice, Number, Operands, Value, shipped};
use crate::products::{self, Asked};
use crate::protocol::{Entry, Reply, Request, Work};
use crate::tiles::{self, Tiled};
use crate::timing::Timer;
use crate::{Outcome, data, reference};
use clap::Args;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use triton::{Buffer, Device, Stream, bf16, f16};

/// Elements after the last operand, which must stay unchanged.
const SLACK: usize = 4096;

/// Options of `serve`.
#[derive(Args, Debug)]
pub struct Options {
    /// Where kernels run
    #[arg(long, default_value = "cuda")]
    device: String,
    /// What the implementations are called
    #[arg(long, default_value = "ours")]
    entry: String,
    /// Matrix products by the instances that the rows of the library's table choose, without what it has learned
    #[arg(long)]
    rows: bool,
}

/// Processes requests until there are no more.
///
/// # Errors
/// If no more can be read or written. What goes wrong with a request is its reply.
pub fn serve(options: &Options) -> Outcome {
    let mut side: Option<Prepared> = None;
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

/// What requests are about.
enum Prepared {
    Cases(Box<Side>),
    Users(Box<users::Side>),
}

fn answer(options: &Options, side: &mut Option<Prepared>, request: Request) -> Outcome<Reply> {
    match (request, side) {
        // Ours has one implementation of each.
        (Request::Prepare { cases, users, seed, flush_mib, entries: _ }, side) => {
            let device = options.device.parse()?;
            let (reply, new) = if users.is_empty() {
                let new = Side::new(&device, cases, seed, flush_mib)?;
                let new = if options.rows { new.by_rows()? } else { new };
                (new.ready(&options.entry), Prepared::Cases(Box::new(new)))
            } else {
                let new = users::Side::new(&device, users, seed, flush_mib)?;
                (new.ready(), Prepared::Users(Box::new(new)))
            };
            *side = Some(new);
            Ok(reply)
        }
        (Request::Check(work), Some(Prepared::Cases(side))) => side.check(&work),
        (Request::Check(work), Some(Prepared::Users(side))) => side.check(&work),
        (Request::Time { work, warmup, reps }, Some(Prepared::Cases(side))) => {
            Ok(Reply::Timed(side.time(&work, warmup, reps)?))
        }
        (Request::Time { work, warmup, reps }, Some(Prepared::Users(side))) => {
            Ok(Reply::Timed(side.time(&work, warmup, reps)?))
        }
        (Request::Check(_) | Request::Time { .. }, None) => Err("`prepare` comes first".into()),
    }
}

/// Everything that is prepared.
pub struct Side {
    timer: Timer,
    cases: Vec<Case>,
    /// The instances of products, by the case, that the library does not choose itself.
    asked: BTreeMap<String, Asked>,
    f32s: Memory<f32>,
    f16s: Memory<f16>,
    bf16s: Memory<bf16>,
    f64s: Memory<f64>,
    i8s: Memory<i8>,
    memory: u64,
}

impl Side {
    /// Makes inputs for the cases.
    ///
    /// # Errors
    /// Of the device, mostly because memory runs out.
    pub fn new(device: &Device, cases: Vec<Case>, seed: u64, flush_mib: u32) -> triton::Result<Side> {
        let timer = Timer::new(device, flush_mib)?;
        let lengths = |dtype| {
            [0, 1, 2].map(|i| {
                let of_type = cases.iter().filter(|case| case.dtype == dtype);
                of_type.map(|case| case.offset + case.lengths()[i] + SLACK).max().unwrap_or(0)
            })
        };
        let types = [DType::F32, DType::F16, DType::Bf16, DType::F64, DType::I8];
        let bytes = |dtype: DType| {
            let [x, y, out] = lengths(dtype);
            ((x + y) * dtype.bytes() + out * dtype.bytes_of_result()) as u64
        };
        let bytes = types.into_iter().map(bytes).sum::<u64>();
        let memory = bytes + (u64::from(flush_mib) << 20);
        Ok(Side {
            f32s: Memory::new(&timer.stream, lengths(DType::F32), seed)?,
            f16s: Memory::new(&timer.stream, lengths(DType::F16), seed.wrapping_add(1 << 32))?,
            bf16s: Memory::new(&timer.stream, lengths(DType::Bf16), seed.wrapping_add(2 << 32))?,
            f64s: Memory::new(&timer.stream, lengths(DType::F64), seed.wrapping_add(3 << 32))?,
            i8s: Memory::new(&timer.stream, lengths(DType::I8), seed.wrapping_add(4 << 32))?,
            timer,
            cases,
            asked: BTreeMap::new(),
            memory,
        })
    }

    /// The same, with products as the rows of the library's table choose.
    ///
    /// # Errors
    /// If no row is for a product.
    fn by_rows(self) -> Outcome<Side> {
        let products = self.cases.iter().filter(|case| case.op == Op::Matmul);
        let asked =
            products.map(|case| Ok((case.name.clone(), Asked::plan(&products::row(case)?)))).collect::<Outcome<_>>()?;
        Ok(Side { asked, ..self })
    }

    fn ready(&self, entry: &str) -> Reply {
        let note = |case: &Case| match self.asked.get(&case.name) {
            Some(_) => products::row(case).map_or(String::new(), |plan| plan.to_string()),
            None if case.op.is_elementwise() => shipped(case.dtype).to_string(),
            None => tiles::note(case),
        };
        let entries = self
            .cases
            .iter()
            .map(|case| Entry { work: Work { case: case.name.clone(), entry: entry.to_string() }, note: note(case) });
        ready(self.timer.stream.device(), entries.collect(), self.memory)
    }

    fn case(&self, work: &Work) -> Outcome<Case> {
        let found = self.cases.iter().find(|case| case.name == work.case);
        found.cloned().ok_or_else(|| format!("there is no case `{}`", work.case).into())
    }

    fn check(&mut self, work: &Work) -> Outcome<Reply> {
        let case = self.case(work)?;
        let (stream, asked) = (&self.timer.stream, self.asked.get(&case.name));
        match case.dtype {
            DType::F32 => self.f32s.check(stream, &case, asked),
            DType::F16 => self.f16s.check(stream, &case, asked),
            DType::Bf16 => self.bf16s.check(stream, &case, asked),
            DType::F64 => self.f64s.check(stream, &case, asked),
            DType::I8 => self.i8s.check(stream, &case, asked),
        }
    }

    fn time(&mut self, work: &Work, warmup: u32, reps: u32) -> Outcome<Vec<f64>> {
        let case = self.case(work)?;
        self.time_choice(&case, shipped(case.dtype), warmup, reps)
    }

    /// Times one instance.
    ///
    /// # Errors
    /// Of the launches.
    pub fn time_choice(&mut self, case: &Case, choice: Choice, warmup: u32, reps: u32) -> Outcome<Vec<f64>> {
        let (timer, asked) = (&mut self.timer, self.asked.get(&case.name));
        match case.dtype {
            DType::F32 => timer.time(warmup, reps, |stream| self.f32s.run(stream, case, choice, asked)),
            DType::F16 => timer.time(warmup, reps, |stream| self.f16s.run(stream, case, choice, asked)),
            DType::Bf16 => timer.time(warmup, reps, |stream| self.bf16s.run(stream, case, choice, asked)),
            DType::F64 => timer.time(warmup, reps, |stream| self.f64s.run(stream, case, choice, asked)),
            DType::I8 => timer.time(warmup, reps, |stream| self.i8s.run(stream, case, choice, asked)),
        }
    }
}

/// The reply of our side when everything is prepared.
pub fn ready(device: &Device, entries: Vec<Entry>, memory: u64) -> Reply {
    let mut versions = BTreeMap::from([("triton-dsl".to_string(), env!("CARGO_PKG_VERSION").to_string())]);
    if let Some(version) = device.driver_version() {
        versions.insert("CUDA driver API".to_string(), format!("{}.{}", version / 1000, version % 1000 / 10));
    }
    Reply::Ready { device: device.name().to_string(), versions, entries, memory }
}

/// Inputs and output of one element type, for all cases.
struct Memory<T: Value> {
    x: Vec<T>,
    y: Vec<T>,
    device_x: Buffer<T>,
    device_y: Buffer<T>,
    out: Buffer<T::Out>,
}

impl<T: Tiled> Memory<T> {
    fn new(stream: &Stream, lengths: [usize; 3], seed: u64) -> triton::Result<Memory<T>> {
        let (x, y) = (data::random(lengths[0], seed), data::random(lengths[1], seed.wrapping_add(1 << 31)));
        let (device_x, device_y, out) = (stream.upload(&x)?, stream.upload(&y)?, stream.zeros(lengths[2])?);
        Ok(Memory { x, y, device_x, device_y, out })
    }

    /// Enqueues a case; `choice` is for elementwise ones, `asked` for products.
    fn run(&mut self, stream: &Stream, case: &Case, choice: Choice, asked: Option<&Asked>) -> Outcome {
        if !case.op.is_elementwise() {
            let operands = Operands { x: &self.device_x, y: &self.device_y, out: &mut self.out };
            return match asked {
                Some(asked) => Ok(asked.of(products::product(case, operands)?).launch(stream)?),
                None => T::launch_views(case, stream, operands),
            };
        }
        let [x, y, out] = case.lengths().map(|length| case.offset..case.offset + length);
        let (x, y) = (self.device_x.slice(x)?, self.device_y.slice(y)?);
        let mut out = self.out.slice_mut(out)?;
        let n = i32::try_from(case.n).unwrap_or(i32::MAX);
        // SAFETY: each slice has `n` elements; a copy ignores y.
        #[allow(unsafe_code, reason = "kernels over raw pointers")]
        unsafe {
            T::launch(case.op, choice, stream, &x, &y, &mut out, n)
        }
    }

    fn check(&mut self, stream: &Stream, case: &Case, asked: Option<&Asked>) -> Outcome<Reply> {
        let [x, y, out] = case.lengths();
        let end = case.offset + out + SLACK;
        let mut written = self.out.slice_mut(..end)?;
        // SAFETY: the slice has this many elements.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            T::poison(stream, &mut written, i32::try_from(end).unwrap_or(i32::MAX))?;
        }
        self.run(stream, case, shipped(case.dtype), asked)?;
        let found = stream.download(&self.out.slice(..end)?)?;
        let (before, rest) = found.split_at(case.offset);
        let (result, behind) = rest.split_at(out);
        let (x, y) = (&self.x[case.offset..][..x], &self.y[case.offset..][..y]);
        let error = reference::error(case, x, y, result);
        let columns = if case.op.is_elementwise() { case.n } else { case.shape[1] };
        let apart = result.chunks(case.pitch.max(columns)).flat_map(|row| row.iter().skip(columns));
        let stray = before.iter().chain(behind).chain(apart).filter(|v| !v.to_f64().is_nan()).count();
        Ok(Reply::Checked { error: (!error.is_nan()).then_some(error), bound: case.bound, stray: stray as u64 })
    }
}
