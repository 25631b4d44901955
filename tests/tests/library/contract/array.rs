//! Arrays of any number of axes in memory of any strides, among poison.

use crate::harness::{Failure, Outcome, Random, Scalar};
use triton::{Buffer, Stream};
use triton_kernels::contract::{Modes, ModesMut};

/// How an array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The last axis contiguous, from an aligned address on.
    Rows,
    /// Axes in another order.
    Permuted,
    /// As by [`Rows`](Order::Rows), from the second element of the buffer on, rows three elements longer than the extent.
    Odd,
    /// Every second element, axes in another order.
    Apart,
    /// As by [`Rows`](Order::Rows), and one axis repeats its first elements: of inputs.
    Repeated,
}

impl Order {
    pub(super) const ALL: [Order; 5] = [Order::Rows, Order::Permuted, Order::Odd, Order::Apart, Order::Repeated];
}

/// An array, and where its elements are in a buffer.
pub(super) struct Array<T> {
    pub(super) shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    len: usize,
    /// In the order of the axes.
    values: Vec<T>,
}

impl<T: Scalar> Array<T> {
    /// Elements made one by one, the last axis first.
    pub(super) fn new(
        shape: &[usize],
        order: Order,
        random: &mut Random,
        mut make: impl FnMut(&mut Random) -> f64,
    ) -> Array<T> {
        let (step, pad, offset) = match order {
            Order::Rows | Order::Permuted | Order::Repeated => (1, 0, 0),
            // Only a view begins elsewhere than its buffer.
            Order::Odd => (1, 3, usize::from((1..=5).contains(&shape.len()))),
            Order::Apart => (2, 0, 0),
        };
        // From the innermost on.
        let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
        if matches!(order, Order::Permuted | Order::Apart) {
            random.shuffle(&mut axes);
        }
        let (mut strides, mut next) = (vec![1isize; shape.len()], step);
        for (i, &axis) in axes.iter().enumerate() {
            strides[axis] = next as isize;
            next *= shape[axis].max(1);
            next += if i == 0 { pad } else { 0 };
        }
        let count = shape.iter().product();
        let mut values: Vec<T> = (0..count).map(|_| T::of(make(random))).collect();
        if order == Order::Repeated && !shape.is_empty() {
            let axis = random.usize(..shape.len());
            strides[axis] = 0;
            let inner: usize = shape[axis + 1..].iter().product();
            for i in 0..count {
                values[i] = values[i - i / inner % shape[axis] * inner];
            }
        }
        // Beyond the last element there is poison too.
        Array { shape: shape.to_vec(), strides, offset, len: offset + next + 16, values }
    }

    /// Whole numbers from −3 to 3, of which sums and products are exact.
    pub(super) fn whole(shape: &[usize], order: Order, random: &mut Random) -> Array<T> {
        Array::new(shape, order, random, |random| f64::from(random.i32(-3..=3)))
    }

    /// Poison, which an operation is to overwrite.
    pub(super) fn output(shape: &[usize], order: Order, random: &mut Random) -> Array<T> {
        let mut array = Array::new(shape, order, random, |_| 0.0);
        array.values.fill(T::POISON);
        array
    }

    pub(super) fn values(&self) -> Vec<f64> {
        self.values.iter().map(|v| v.value()).collect()
    }

    /// The places of the elements in the buffer, in the order of the axes.
    fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len()).map(|mut i| {
            let mut place = self.offset;
            for axis in (0..self.shape.len()).rev() {
                place += i % self.shape[axis] * self.strides[axis] as usize;
                i /= self.shape[axis];
            }
            place
        })
    }

    pub(super) fn upload(&self, stream: &Stream) -> triton::Result<Buffer<T>> {
        let mut memory = vec![T::POISON; self.len];
        self.places().zip(&self.values).for_each(|(place, value)| memory[place] = *value);
        stream.upload(&memory)
    }

    /// The elements of the buffer after an operation.
    pub(super) fn download(&self, stream: &Stream, buffer: &Buffer<T>) -> Outcome<Vec<f64>> {
        let mut memory = stream.download(buffer)?;
        let mut found = Vec::with_capacity(self.values.len());
        for place in self.places() {
            found.push(memory[place].value());
            memory[place] = T::POISON;
        }
        match memory.iter().position(|v| v.to_bits() != T::POISON.to_bits()) {
            None => Ok(found),
            Some(place) => Err(Failure(format!("element {place} of the buffer, beside the output, was overwritten"))),
        }
    }
}

/// The first `R` numbers of a list that has as many.
fn fixed<N: Copy + Default, const R: usize>(list: &[N]) -> [N; R] {
    std::array::from_fn(|i| list.get(i).copied().unwrap_or_default())
}

impl<T: Scalar> Array<T> {
    fn view<'a, const R: usize>(&self, buffer: &'a Buffer<T>) -> triton::Result<Modes<'a, T>> {
        let view = buffer.view([0; R])?.with_offset(self.offset)?;
        Ok(view.as_strided::<R>(fixed(&self.shape), fixed(&self.strides))?.into())
    }

    fn view_mut<'a, const R: usize>(&self, buffer: &'a mut Buffer<T>) -> triton::Result<ModesMut<'a, T>> {
        let view = buffer.view_mut([0; R])?.with_offset(self.offset)?;
        Ok(view.as_strided::<R>(fixed(&self.shape), fixed(&self.strides))?.into())
    }

    /// An operand: by a view where there is one of as many axes.
    pub(super) fn modes<'a>(&self, buffer: &'a Buffer<T>) -> triton::Result<Modes<'a, T>> {
        match self.shape.len() {
            1 => self.view::<1>(buffer),
            2 => self.view::<2>(buffer),
            3 => self.view::<3>(buffer),
            4 => self.view::<4>(buffer),
            5 => self.view::<5>(buffer),
            _ => Ok(Modes::new(buffer, &self.shape, Some(&self.strides))),
        }
    }

    /// The same to be written.
    pub(super) fn modes_mut<'a>(&self, buffer: &'a mut Buffer<T>) -> triton::Result<ModesMut<'a, T>> {
        match self.shape.len() {
            1 => self.view_mut::<1>(buffer),
            2 => self.view_mut::<2>(buffer),
            3 => self.view_mut::<3>(buffer),
            4 => self.view_mut::<4>(buffer),
            5 => self.view_mut::<5>(buffer),
            _ => Ok(ModesMut::new(buffer, &self.shape, Some(&self.strides))),
        }
    }
}
