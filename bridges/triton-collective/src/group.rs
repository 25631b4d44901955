//! Calls that are enqueued together. What each takes is checked here.

use crate::call::{Call, Kind};
use crate::error::{Error, Result};
use crate::place::Place;
use crate::reduce::Reduce;
use triton::{DType, Device, Element, IntoView, IntoViewMut, Operand};

/// Calls of a communicator that are enqueued together: what [`Communicator::group`](crate::Communicator::group) gives to its closure.
///
/// Its methods are those of the [communicator](crate::Communicator), without the stream, and have the same errors.
#[derive(Debug)]
pub struct Group<'c, 'a> {
    place: Place,
    device: &'c Device,
    operands: Vec<Operand<'a>>,
    calls: Vec<Call>,
}

/// An operand of a call that is checked.
struct Checked {
    dtype: DType,
    count: usize,
    /// Its number among those of the group.
    index: usize,
}

impl<'c, 'a> Group<'c, 'a> {
    pub(crate) fn new(place: Place, device: &'c Device) -> Group<'c, 'a> {
        Group { place, device, operands: Vec::new(), calls: Vec::new() }
    }

    /// The operands, and the calls.
    ///
    /// # Errors
    /// [`Error::Peer`] of sends to the own rank that are not received, which would wait for ever.
    pub(crate) fn finish(self) -> Result<(Vec<Operand<'a>>, Vec<Call>)> {
        let Place { rank, world, .. } = self.place;
        let count = |kind: Kind| self.calls.iter().filter(|call| call.kind == kind).count();
        if count(Kind::Send { peer: rank }) != count(Kind::Receive { peer: rank }) {
            return Err(Error::Peer { found: rank, world });
        }
        Ok((self.operands, self.calls))
    }

    /// See [`Communicator::all_reduce`](crate::Communicator::all_reduce).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn all_reduce<T: Element, const R: usize>(
        &mut self,
        x: impl IntoViewMut<'a, T, R>,
        reduce: Reduce,
    ) -> Result<()> {
        defined(reduce, T::DTYPE)?;
        let x = self.write("x", x)?;
        self.push(Kind::AllReduce(reduce), &x, x.count, Some(x.index), Some(x.index));
        Ok(())
    }

    /// See [`Communicator::all_reduce_into`](crate::Communicator::all_reduce_into).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn all_reduce_into<T: Element, const R: usize, const S: usize>(
        &mut self,
        x: impl IntoView<'a, T, R>,
        y: impl IntoViewMut<'a, T, S>,
        reduce: Reduce,
    ) -> Result<()> {
        defined(reduce, T::DTYPE)?;
        let (x, y) = (self.read("x", x)?, self.write("y", y)?);
        length("`all_reduce_into`", "y", &y, Some(x.count), || format!("as many as x has, {}", x.count))?;
        self.push(Kind::AllReduce(reduce), &x, x.count, Some(x.index), Some(y.index));
        Ok(())
    }

    /// See [`Communicator::all_gather`](crate::Communicator::all_gather).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn all_gather<T: Element, const R: usize, const S: usize>(
        &mut self,
        x: impl IntoView<'a, T, R>,
        y: impl IntoViewMut<'a, T, S>,
    ) -> Result<()> {
        let (x, y) = (self.read("x", x)?, self.write("y", y)?);
        let world = self.place.world;
        length("`all_gather`", "y", &y, x.count.checked_mul(world), || {
            format!("the {} of x of each of {world} ranks", x.count)
        })?;
        self.push(Kind::AllGather, &x, x.count, Some(x.index), Some(y.index));
        Ok(())
    }

    /// See [`Communicator::reduce_scatter`](crate::Communicator::reduce_scatter).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn reduce_scatter<T: Element, const R: usize, const S: usize>(
        &mut self,
        x: impl IntoView<'a, T, R>,
        y: impl IntoViewMut<'a, T, S>,
        reduce: Reduce,
    ) -> Result<()> {
        defined(reduce, T::DTYPE)?;
        let (x, y) = (self.read("x", x)?, self.write("y", y)?);
        let world = self.place.world;
        length("`reduce_scatter`", "x", &x, y.count.checked_mul(world), || {
            format!("the {} of y for each of {world} ranks", y.count)
        })?;
        self.push(Kind::ReduceScatter(reduce), &x, y.count, Some(x.index), Some(y.index));
        Ok(())
    }

    /// See [`Communicator::broadcast`](crate::Communicator::broadcast).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn broadcast<T: Element, const R: usize>(&mut self, x: impl IntoViewMut<'a, T, R>, root: usize) -> Result<()> {
        self.peer(root)?;
        let x = self.write("x", x)?;
        self.push(Kind::Broadcast { root }, &x, x.count, Some(x.index), Some(x.index));
        Ok(())
    }

    /// See [`Communicator::send`](crate::Communicator::send).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn send<T: Element, const R: usize>(&mut self, x: impl IntoView<'a, T, R>, peer: usize) -> Result<()> {
        self.peer(peer)?;
        let x = self.read("x", x)?;
        self.push(Kind::Send { peer }, &x, x.count, Some(x.index), None);
        Ok(())
    }

    /// See [`Communicator::receive`](crate::Communicator::receive).
    ///
    /// # Errors
    /// Those of the communicator's method that are found before anything is enqueued.
    pub fn receive<T: Element, const R: usize>(&mut self, x: impl IntoViewMut<'a, T, R>, peer: usize) -> Result<()> {
        self.peer(peer)?;
        let x = self.write("x", x)?;
        self.push(Kind::Receive { peer }, &x, x.count, None, Some(x.index));
        Ok(())
    }

    /// See [`Communicator::barrier`](crate::Communicator::barrier).
    pub fn barrier(&mut self) {
        let dtype = DType::U8;
        self.calls.push(Call { kind: Kind::Barrier, dtype, count: 0, input: None, output: None });
    }

    fn push(&mut self, kind: Kind, operand: &Checked, count: usize, input: Option<usize>, output: Option<usize>) {
        self.calls.push(Call { kind, dtype: operand.dtype, count, input, output });
    }

    fn read<T: Element, const R: usize>(&mut self, name: &'static str, x: impl IntoView<'a, T, R>) -> Result<Checked> {
        self.operand(name, Operand::read(x)?)
    }

    fn write<T: Element, const R: usize>(
        &mut self,
        name: &'static str,
        x: impl IntoViewMut<'a, T, R>,
    ) -> Result<Checked> {
        self.operand(name, Operand::write(x)?)
    }

    fn operand(&mut self, what: &'static str, operand: Operand<'a>) -> Result<Checked> {
        if operand.device() != self.device {
            let (found, expected) = (operand.device().to_string(), self.device.to_string());
            return Err(Error::Device { what, found, expected });
        }
        let checked = Checked { dtype: operand.dtype(), count: operand.len(), index: self.operands.len() };
        self.operands.push(operand);
        Ok(checked)
    }

    /// Refuses a rank that the world does not have.
    fn peer(&self, found: usize) -> Result<()> {
        let world = self.place.world;
        if found < world { Ok(()) } else { Err(Error::Peer { found, world }) }
    }
}

fn defined(reduce: Reduce, dtype: DType) -> Result<()> {
    if reduce.is_defined(dtype) { Ok(()) } else { Err(Error::Type { dtype, reduce }) }
}

/// Refuses another number of elements; `None` is more than there can be.
fn length(
    operation: &'static str,
    operand: &'static str,
    found: &Checked,
    expected: Option<usize>,
    reason: impl FnOnce() -> String,
) -> Result<()> {
    if Some(found.count) == expected {
        return Ok(());
    }
    let expected = expected.unwrap_or(usize::MAX);
    Err(Error::Length { operation, operand, found: found.count, expected, reason: reason() })
}
