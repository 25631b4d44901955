//! Cases, and what runs them on a device.
//!
//! A case makes its operands at random, enqueues one operation, and compares. It fails if the result differs by more than its rounding
//! explains, if anything outside the output's elements was written, or if an error was expected and another came. The gaps of operands
//! are poisoned: what reads them does not pass.

pub mod hostile;
mod numbers;
mod operand;

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use triton::metadata::Target;
use triton::{Device, Stream};

pub use numbers::{bound, gradient, normals, operand, order, pairs};
pub use operand::{Operand, Order, Scalar, normal};

/// What went wrong in a case, in words.
#[derive(Debug)]
pub struct Failure(pub String);

impl<E: fmt::Display> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

/// The result of a case.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Numbers of a case, reproducible from its seed.
pub type Random = fastrand::Rng;

type Run = dyn Fn(&Stream, &mut Random) -> Outcome + Send + Sync;

/// One operation on operands of one shape.
pub struct Case {
    name: String,
    run: Box<Run>,
    /// Why it is known to fail.
    known: Option<&'static str>,
    /// The instance that it asks for by name.
    instance: Option<String>,
}

impl Case {
    /// A case of a unique name.
    pub fn new(name: impl Into<String>, run: impl Fn(&Stream, &mut Random) -> Outcome + Send + Sync + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run), known: None, instance: None }
    }

    /// Marks it as failing, with the reason: from then on it passes while it fails, so that a fix is noticed.
    pub fn is_known_to_fail(&mut self, why: &'static str) {
        self.known = Some(why);
    }

    /// Says that it asks for an instance by name, which not every GPU has code of.
    pub fn of_instance(self, instance: impl Into<String>) -> Case {
        Case { instance: Some(instance.into()), ..self }
    }

    /// Whether it failed as the device has no code of the instance.
    fn has_no_code(&self, failure: &Failure) -> bool {
        self.instance.as_ref().is_some_and(|name| failure.0.contains(&format!("there is no instance `{name}`")))
    }

    /// The name: the operation, types, shapes and options.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it.
    ///
    /// # Errors
    /// What went wrong.
    pub fn run(&self, stream: &Stream, seed: u64) -> Outcome {
        // Cases have numbers of their own, whichever of them run.
        let of_name = self.name.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let outcome = (self.run)(stream, &mut Random::with_seed(of_name));
        match (self.known, outcome) {
            (None, outcome) => outcome,
            (Some(_), Err(_)) => Ok(()),
            (Some(why), Ok(())) => Err(Failure(format!("it passes, but is listed as known to fail: {why}"))),
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Case({})", self.name)
    }
}

/// A family of operations.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What `--family` calls it.
    pub name: &'static str,
    /// Makes its cases.
    pub cases: fn() -> Vec<Case>,
}

/// A share of the cases, as many as asked, at random.
pub fn sample(mut cases: Vec<Case>, count: usize, seed: u64) -> Vec<Case> {
    Random::with_seed(seed).shuffle(&mut cases);
    cases.truncate(count);
    cases
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases passed.
    pub passed: usize,
    /// How many ask for an instance that the device has no code of, on a device that one of the targets does not run on.
    pub without_code: usize,
    /// Names of those that did not pass, and why.
    pub failed: Vec<(String, Failure)>,
}

/// Runs cases on a device, each on one of several streams: on the host all of its cores compute, and on a GPU they compile what is launched
/// first. `done` is told after each case.
///
/// # Errors
/// If the device has no stream.
pub fn run(device: &Device, cases: &[Case], seed: u64, done: impl Fn() + Sync) -> triton::Result<Report> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(16);
    let streams = (0..workers).map(|_| device.stream()).collect::<triton::Result<Vec<Stream>>>()?;
    let (next, without_code, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Where a target's code does not run, instances of that target alone do not.
    let runs_all = |capability| Target::ALL.iter().all(|target| target.runs_on(capability));
    let is_older = device.compute_capability().is_some_and(|capability| !runs_all(capability));
    let work = |stream: &Stream| {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            match case.run(stream, seed) {
                Ok(()) => {}
                Err(failure) if is_older && case.has_no_code(&failure) => {
                    without_code.fetch_add(1, Ordering::Relaxed);
                }
                Err(failure) => {
                    if let Ok(mut failed) = failed.lock() {
                        failed.push((case.name.clone(), failure));
                    }
                }
            }
            done();
        }
    };
    std::thread::scope(|scope| streams.iter().for_each(|stream| drop(scope.spawn(move || work(stream)))));
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let without_code = without_code.into_inner();
    Ok(Report { passed: cases.len() - failed.len() - without_code, without_code, failed })
}

/// Compares a result with its reference: ‖found − expected‖ / ‖expected‖ is at most `bound`. A bound of 0 asks for equal numbers.
///
/// # Errors
/// The first element that differs, and the norm.
pub fn compare(what: &str, found: &[f64], expected: &[f64], bound: f64) -> Outcome {
    compare_above(what, found, expected, bound, 0.0)
}

/// The same where numbers less than `least` count as that: of functions whose error is not relative near 0.
///
/// # Errors
/// As of [`compare`].
pub fn compare_above(what: &str, found: &[f64], expected: &[f64], bound: f64, least: f64) -> Outcome {
    if found.len() != expected.len() {
        return Err(Failure(format!("{what}: {} elements instead of {}", found.len(), expected.len())));
    }
    let is_equal = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    let differs = |i: &usize| !is_equal(found[*i], expected[*i]);
    let of_finite =
        |values: &mut dyn Iterator<Item = f64>| values.filter(|v| v.is_finite()).map(|v| v * v).sum::<f64>();
    let norm = of_finite(&mut expected.iter().map(|v| v.abs().max(least))).sqrt();
    let distance = of_finite(&mut found.iter().zip(expected).map(|(a, b)| a - b)).sqrt();
    // A number that is not finite has to be the same one.
    let class = (0..found.len()).filter(differs).find(|&i| !found[i].is_finite() || !expected[i].is_finite());
    let first = class.or_else(|| if distance > bound * norm { (0..found.len()).find(|i| differs(i)) } else { None });
    match first {
        None => Ok(()),
        Some(i) => Err(Failure(format!(
            "{what}: element {i} is {}, but {} is expected; the relative error of all is {:.2e}, at most {bound:.2e} is expected",
            found[i],
            expected[i],
            distance / norm,
        ))),
    }
}

/// That an operation is refused with a message that contains all of these texts.
///
/// # Errors
/// If it is not refused, or with another message.
pub fn refused<T>(result: triton_kernels::Result<T>, texts: &[&str]) -> Outcome {
    match result {
        Ok(_) => Err(Failure("it is not refused".to_string())),
        Err(error) => {
            let message = error.to_string();
            let missing = texts.iter().find(|text| !message.contains(**text));
            missing.map_or(Ok(()), |text| Err(Failure(format!("the message lacks `{text}`: {message}"))))
        }
    }
}

/// The short name of an element type.
pub fn type_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}
