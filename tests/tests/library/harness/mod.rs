//! Cases, and what they share.
//!
//! A case makes its operands at random, enqueues one operation, and compares. It fails if an element of the result differs by more than
//! the bound of its error ([`compare`]), if anything outside the output's elements was written, or if an error was expected and another came. The gaps of operands
//! are poisoned: what reads them does not pass.

mod compare;
pub mod hostile;
mod numbers;
mod operand;
mod subject;

use std::fmt;
use triton::Stream;

pub use compare::{agrees, compare, same};
pub use numbers::{gradient, normals, operand, order, pairs};
pub use operand::{Operand, Order, Scalar, normal};
pub(crate) use subject::subject;
pub use subject::{Form, OnTensors, Ready, Subject, Visitor, filled};

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

    /// Whether a failure, in words, is that the device has no code of its instance.
    pub fn has_no_code(&self, failure: &str) -> bool {
        self.instance.as_ref().is_some_and(|name| failure.contains(&format!("there is no instance `{name}`")))
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
    /// Whether a GPU alone runs them in time.
    pub needs_gpu: bool,
}

impl Family {
    /// One that every device runs.
    pub const fn new(name: &'static str, cases: fn() -> Vec<Case>) -> Family {
        Family { name, cases, needs_gpu: false }
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
