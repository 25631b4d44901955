//! What an operation guarantees of values at the edge, and what holds it to that.
//!
//! *Locality*: a NaN or an infinity reaches exactly the results that it is a term of, which have the value that real arithmetic with limits gives;
//! all others have the same bits as without it. *Finite*: where operands are finite and the result can be represented, the result is finite and
//! close to it, whatever the magnitude of intermediate results.

use crate::harness::hostile::{Draw, SPECIALS};
use crate::harness::{Case, Failure, Operand, Order, Outcome, Random, Scalar, agrees, operand, type_name};
use crate::reference::number::Number;
use triton::{Buffer, Stream, View, ViewMut};

/// Arrays, as real numbers.
pub(super) type Arrays = Vec<Vec<f64>>;

/// Arrays of results, with bounds of their errors.
pub(super) type Bounded = Vec<Vec<Number>>;

type Run = dyn Fn(&Stream, &[Vec<f64>]) -> Outcome<Arrays> + Send + Sync;
type Reference = dyn Fn(&[Vec<f64>]) -> Bounded + Send + Sync;
type Numbers = fn(&Draw, &mut Random, usize) -> Vec<f64>;

/// An operation on operands of one shape, as a function from arrays to arrays.
pub(super) struct Subject {
    name: String,
    inputs: Vec<(usize, Draw)>,
    numbers: Numbers,
    /// Whether a result is as near to the reference as it has to be.
    agrees: fn(f64, &Number) -> bool,
    /// Whether each launch has the same bits.
    ordered: bool,
    /// How many operands, from the first on, a number that is not finite is planted in.
    planted: usize,
    /// What is planted.
    specials: &'static [f64],
    run: Box<Run>,
    reference: Box<Reference>,
}

impl Subject {
    /// An operation on elements of type `T`: its operands, what runs it, and its reference.
    pub(super) fn new<T: Scalar>(
        name: impl Into<String>,
        inputs: impl IntoIterator<Item = (usize, Draw)>,
        run: impl Fn(&Stream, &[Vec<f64>]) -> Outcome<Arrays> + Send + Sync + 'static,
        reference: impl Fn(&[Vec<f64>]) -> Bounded + Send + Sync + 'static,
    ) -> Subject {
        Subject {
            name: format!("{} {}", name.into(), type_name::<T>()),
            inputs: inputs.into_iter().collect(),
            numbers: |draw, random, count| draw.numbers::<T>(random, count),
            agrees: agrees::<T>,
            ordered: true,
            planted: usize::MAX,
            specials: &SPECIALS,
            run: Box::new(run),
            reference: Box::new(reference),
        }
    }

    /// With another name.
    pub(super) fn named(self, name: impl Into<String>) -> Subject {
        let of = self.name.rsplit(' ').next().unwrap_or_default();
        Subject { name: format!("{} {of}", name.into()), ..self }
    }

    /// Of an operation whose order of additions is any.
    pub(super) fn unordered(self) -> Subject {
        Subject { ordered: false, ..self }
    }

    /// Plants what is not finite in the first operands alone.
    pub(super) fn planted(self, operands: usize) -> Subject {
        Subject { planted: operands, ..self }
    }

    /// Plants a NaN alone.
    pub(super) fn of_nan(self) -> Subject {
        Subject { specials: &SPECIALS[..1], ..self }
    }

    /// The same operation on other numbers.
    pub(super) fn with_inputs(self, inputs: impl IntoIterator<Item = (usize, Draw)>) -> Subject {
        Subject { inputs: inputs.into_iter().collect(), ..self }
    }

    fn draw(&self, random: &mut Random) -> Arrays {
        self.inputs.iter().map(|(count, draw)| (self.numbers)(draw, random, *count)).collect()
    }

    fn compare(&self, found: &[Vec<f64>], expected: &[Vec<Number>], what: &str) -> Outcome {
        for (o, (found, expected)) in found.iter().zip(expected).enumerate() {
            if found.len() != expected.len() {
                return Err(Failure(format!("result {o} has {} elements instead of {}", found.len(), expected.len())));
            }
            if let Some(i) = (0..found.len()).find(|&i| !(self.agrees)(found[i], &expected[i])) {
                let (found, expected) = (found[i], expected[i].value);
                return Err(Failure(format!(
                    "element {i} of result {o} is {found}, but {expected} is expected; {what}"
                )));
            }
        }
        Ok(())
    }

    /// The case that a NaN and infinities are local.
    pub(super) fn locality(self) -> Case {
        Case::new(format!("locality of {}", self.name), move |stream, random| {
            let ordinary = self.draw(random);
            let before = (self.run)(stream, &ordinary)?;
            self.compare(&before, &(self.reference)(&ordinary), "all numbers are ordinary")?;
            let planted = self
                .inputs
                .iter()
                .enumerate()
                .take(self.planted)
                .filter(|(_, (count, draw))| draw.is_free() && *count > 0);
            for (input, (count, _)) in planted {
                for &special in self.specials {
                    let (mut arrays, place) = (ordinary.clone(), random.usize(..*count));
                    arrays[input][place] = special;
                    let what = format!("{special} at element {place} of operand {input}");
                    let (found, expected) = ((self.run)(stream, &arrays)?, (self.reference)(&arrays));
                    self.compare(&found, &expected, &what)?;
                    let untouched = (self.reference)(&ordinary);
                    for (o, found) in found.iter().enumerate() {
                        let changed = |i: usize| expected[o][i].value.to_bits() != untouched[o][i].value.to_bits();
                        let differs = |i: &usize| !changed(*i) && found[*i].to_bits() != before[o][*i].to_bits();
                        if let Some(i) = (0..found.len()).find(differs).filter(|_| self.ordered) {
                            let (found, before) = (found[i], before[o][i]);
                            let text = format!("element {i} of result {o} is {found}, and {before} without; {what}");
                            return Err(Failure(text));
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// The case that finite operands give what is finite.
    pub(super) fn finite(self) -> Case {
        let name = match self.name.starts_with("known: ") {
            true => self.name.clone(),
            false => format!("finite results of {}", self.name),
        };
        Case::new(name, move |stream, random| {
            for _ in 0..3 {
                let arrays = self.draw(random);
                let what = format!("operands are {arrays:?}");
                self.compare(&(self.run)(stream, &arrays)?, &(self.reference)(&arrays), &what)?;
            }
            Ok(())
        })
    }
}

/// An operand in the memory of a device.
pub(super) struct On<T: Scalar, const R: usize> {
    operand: Operand<T, R>,
    buffer: Buffer<T>,
}

/// Numbers in the memory of a device.
pub(super) fn put<T: Scalar, const R: usize>(
    stream: &Stream,
    shape: [usize; R],
    order: Order,
    numbers: &[f64],
) -> Outcome<On<T, R>> {
    let operand = operand::<T, R>(shape, order, numbers);
    let buffer = operand.upload(stream)?;
    Ok(On { operand, buffer })
}

/// Room for a result.
pub(super) fn room<T: Scalar, const R: usize>(stream: &Stream, shape: [usize; R], order: Order) -> Outcome<On<T, R>> {
    let operand = Operand::<T, R>::output(shape, order);
    let buffer = operand.upload(stream)?;
    Ok(On { operand, buffer })
}

impl<T: Scalar, const R: usize> On<T, R> {
    pub(super) fn view(&self) -> Outcome<View<'_, T, R>> {
        Ok(self.operand.view(&self.buffer)?)
    }

    pub(super) fn view_mut(&mut self) -> Outcome<ViewMut<'_, T, R>> {
        Ok(self.operand.view_mut(&mut self.buffer)?)
    }

    pub(super) fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    pub(super) fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    pub(super) fn get(&self, stream: &Stream) -> Outcome<Vec<f64>> {
        self.operand.download(stream, &self.buffer)
    }
}

/// The operation on each row of the first array.
pub(super) fn by_rows<A>(x: &[A], columns: usize, f: impl Fn(usize, &[A]) -> Vec<Number>) -> Vec<Number> {
    x.chunks(columns).enumerate().flat_map(|(i, row)| f(i, row)).collect()
}
