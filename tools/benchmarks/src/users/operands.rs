//! What every row of `users` has: operands, the instances of its spellings, and the comparison with its reference.

use crate::kernels::{Number, Value};
use crate::{Outcome, data};
use triton::{Buffer, Element, Stream, bf16, f16};

/// Elements behind a result, which must stay unchanged.
const SLACK: usize = 64;

/// How a kernel accesses memory; the entries of our side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelling {
    /// By pointers under masks, as Triton's tutorials do.
    Pointers,
    /// By views.
    Views,
}

impl Spelling {
    /// Both.
    pub const ALL: [Spelling; 2] = [Spelling::Pointers, Spelling::Views];

    /// The entry.
    pub fn name(self) -> &'static str {
        match self {
            Spelling::Pointers => "pointers",
            Spelling::Views => "views",
        }
    }
}

/// A row with its operands on a device.
pub trait Row {
    /// The names of the instances of a spelling; the first is taken where none is measured. None if the row has not this spelling.
    fn instances(&self, spelling: Spelling) -> Vec<String>;

    /// Overwrites the results with what is none.
    ///
    /// # Errors
    /// Of the device.
    fn poison(&mut self, stream: &Stream) -> Outcome;

    /// Enqueues an instance of a spelling, by its number.
    ///
    /// # Errors
    /// Those of a launch.
    fn launch(&mut self, stream: &Stream, spelling: Spelling, instance: usize) -> Outcome;

    /// The relative error of the results, NaN if one is missing, and how many elements behind them were written.
    ///
    /// # Errors
    /// Of the device.
    fn compare(&self, stream: &Stream) -> Outcome<(f64, u64)>;
}

/// An operand that is read.
pub struct Input<T: Element> {
    /// On the host.
    pub host: Vec<T>,
    /// On the device.
    pub device: Buffer<T>,
}

impl<T: Element> Input<T> {
    /// These values.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(stream: &Stream, host: Vec<T>) -> Outcome<Input<T>> {
        Ok(Input { device: stream.upload(&host)?, host })
    }
}

impl<T: Value> Input<T> {
    /// Random values.
    ///
    /// # Errors
    /// Of the device.
    pub fn random(stream: &Stream, len: usize, seed: u64) -> Outcome<Input<T>> {
        Input::new(stream, data::random(len, seed))
    }
}

/// An element type of results.
pub trait Poison: Number {
    /// What [`Number::to_f64`] takes for NaN.
    const NOTHING: Self;
}

impl Poison for f32 {
    const NOTHING: f32 = f32::NAN;
}

impl Poison for f16 {
    const NOTHING: f16 = f16::NAN;
}

impl Poison for bf16 {
    const NOTHING: bf16 = bf16::NAN;
}

impl Poison for i32 {
    const NOTHING: i32 = i32::MIN;
}

/// A result.
pub struct Output<T: Poison> {
    /// With elements behind the result.
    pub device: Buffer<T>,
    len: usize,
}

impl<T: Poison> Output<T> {
    /// Of this many elements.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(stream: &Stream, len: usize) -> Outcome<Output<T>> {
        Ok(Output { device: stream.zeros(len + SLACK)?, len })
    }

    /// Overwrites it with what is not a result.
    ///
    /// # Errors
    /// Of the device.
    pub fn poison(&mut self, stream: &Stream) -> Outcome {
        Ok(stream.fill(&mut self.device, T::NOTHING)?)
    }

    /// The result, and how many elements behind it were written.
    ///
    /// # Errors
    /// Of the device.
    pub fn found(&self, stream: &Stream) -> Outcome<(Vec<T>, u64)> {
        let mut found = stream.download(&self.device)?;
        let stray = found[self.len..].iter().filter(|v| !v.to_f64().is_nan()).count();
        found.truncate(self.len);
        Ok((found, stray as u64))
    }
}

/// An extent as a kernel's argument.
///
/// # Errors
/// If no `i32` counts it.
pub fn int(extent: usize) -> Outcome<i32> {
    i32::try_from(extent).map_err(|_| format!("{extent} elements are more than an `i32` counts").into())
}
