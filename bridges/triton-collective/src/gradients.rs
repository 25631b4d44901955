//! Gradients in buckets, which are reduced while the backward pass goes on.

use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::reduce::Reduce;
use std::fmt;
use std::ops::Range;
use triton::{Buffer, BufferSlice, BufferSliceMut, Element, Stream, View, ViewMut};

/// How many bytes a bucket has, if its gradients are not larger: as many as PyTorch's `DistributedDataParallel`.
const BUCKET_BYTES: usize = 25 << 20;

/// Gradients begin at multiples of this many bytes, as allocations of a GPU do.
const ALIGNMENT: usize = 256;

/// The gradients of a model that every rank has a copy of, and that learns from other data on each: data parallelism (Li et al., "PyTorch
/// Distributed", 2020, section 3.2).
///
/// Gradients lie in buckets, in the order in which a backward pass finishes them. When the last gradient of a bucket is
/// [`ready`](Gradients::ready), the average of all ranks takes its place, on the communicator's [own stream](Communicator::stream): while layers
/// before it are still worked on. Whatever reads a gradient afterwards, such as an optimiser, waits for it on the device. All ranks get equal
/// bits, so that weights that were equal stay so.
///
/// ```
/// use triton::prelude::*;
/// use triton_collective::{Gradients, Result, on_all};
///
/// # fn main() -> Result<()> {
/// // Two ranks, each a thread; on GPUs `[Device::cuda(0)?, Device::cuda(1)?]`.
/// let sums = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> Result<Vec<f32>> {
///     let stream = communicator.device().stream()?;
///     // A matrix and a bias: the bias's gradient is finished first.
///     let mut gradients = Gradients::<f32>::new(&stream, communicator, &[3, 6])?;
///     let part = if communicator.rank() == 0 { 1.0 } else { 3.0 };
///     // A backward pass writes `gradients.view_mut(1, [2, 3])?`.
///     stream.copy_from_host(&[part; 3], &mut gradients.slice_mut(0)?)?;
///     gradients.ready(0)?;
///     stream.copy_from_host(&[10.0 * part; 6], &mut gradients.slice_mut(1)?)?;
///     gradients.ready(1)?;
///     Ok(stream.download(&gradients.slice(1)?)?)
/// })?;
/// assert_eq!(sums, [[20.0; 6], [20.0; 6]]);
/// # Ok(())
/// # }
/// ```
pub struct Gradients<T: Element> {
    communicator: Communicator,
    buckets: Vec<Bucket<T>>,
    gradients: Vec<Place>,
}

/// Gradients that are reduced at once.
struct Bucket<T> {
    buffer: Buffer<T>,
    gradients: usize,
    ready: usize,
}

/// Where a gradient is.
struct Place {
    bucket: usize,
    start: usize,
    len: usize,
    is_ready: bool,
}

impl<T: Element> Gradients<T> {
    /// Gradients of these lengths, in elements, in the order in which a backward pass finishes them: those of the last layer first. They are zero.
    ///
    /// # Errors
    /// Of memory.
    pub fn new(stream: &Stream, communicator: &Communicator, lengths: &[usize]) -> Result<Gradients<T>> {
        Gradients::with_bucket_bytes(stream, communicator, lengths, BUCKET_BYTES)
    }

    /// The same with buckets of another size than 25 MiB: smaller ones are reduced earlier, larger ones at a higher rate. A gradient that is larger
    /// has a bucket of its own.
    ///
    /// # Errors
    /// Those of [`Gradients::new`].
    pub fn with_bucket_bytes(
        stream: &Stream,
        communicator: &Communicator,
        lengths: &[usize],
        bytes: usize,
    ) -> Result<Gradients<T>> {
        let (most, step) = ((bytes / size_of::<T>()).max(1), ALIGNMENT / size_of::<T>());
        let (mut gradients, mut sizes) = (Vec::<Place>::with_capacity(lengths.len()), Vec::<[usize; 2]>::new());
        for &len in lengths {
            let last = sizes.len().saturating_sub(1);
            match sizes.last_mut() {
                Some([used, count]) if *used + len <= most => {
                    gradients.push(Place { bucket: last, start: *used, len, is_ready: false });
                    (*used, *count) = ((*used + len).next_multiple_of(step), *count + 1);
                }
                _ => {
                    gradients.push(Place { bucket: sizes.len(), start: 0, len, is_ready: false });
                    sizes.push([len.next_multiple_of(step), 1]);
                }
            }
        }
        let bucket = |[used, gradients]: [usize; 2]| Ok(Bucket { buffer: stream.zeros(used)?, gradients, ready: 0 });
        let buckets = sizes.into_iter().map(bucket).collect::<Result<_>>()?;
        Ok(Gradients { communicator: communicator.clone(), buckets, gradients })
    }

    /// How many gradients there are.
    pub fn len(&self) -> usize {
        self.gradients.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gradients.is_empty()
    }

    /// How many buckets they are in.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// The elements of a gradient.
    ///
    /// # Errors
    /// [`Error::Gradient`] if there is none of this number.
    pub fn slice(&self, index: usize) -> Result<BufferSlice<'_, T>> {
        let Place { bucket, start, len, .. } = *self.gradients.get(index).ok_or_else(|| missing(index))?;
        Ok(self.buckets[bucket].buffer.slice(start..start + len)?)
    }

    /// The elements of a gradient, to be written.
    ///
    /// # Errors
    /// Those of [`Gradients::view_mut`].
    pub fn slice_mut(&mut self, index: usize) -> Result<BufferSliceMut<'_, T>> {
        let (bucket, range) = self.written(index)?;
        Ok(self.buckets[bucket].buffer.slice_mut(range)?)
    }

    /// A gradient as an array of this shape, in row-major order.
    ///
    /// # Errors
    /// [`Error::Gradient`] unless it exists and has as many elements.
    pub fn view<const R: usize>(&self, index: usize, shape: [usize; R]) -> Result<View<'_, T, R>> {
        self.check(index, &shape)?;
        Ok(self.slice(index)?.view(shape)?)
    }

    /// A gradient as an array that the backward pass writes.
    ///
    /// # Errors
    /// [`Error::Gradient`] unless it exists and has as many elements, or if it is [`ready`](Gradients::ready) already.
    pub fn view_mut<const R: usize>(&mut self, index: usize, shape: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        self.check(index, &shape)?;
        let (bucket, range) = self.written(index)?;
        let buffer = &mut self.buckets[bucket].buffer;
        let all = buffer.len();
        Ok(buffer.view_mut([all])?.narrow(0, range)?.reshape(shape)?)
    }

    /// Two gradients as arrays that one operation writes, such as those of a matrix and of its bias: each by its number and shape.
    ///
    /// # Errors
    /// Those of [`Gradients::view_mut`], and [`Error::Gradient`] if they are one.
    pub fn pair_mut<const R: usize, const Q: usize>(
        &mut self,
        (first, shape): (usize, [usize; R]),
        (second, other): (usize, [usize; Q]),
    ) -> Result<(ViewMut<'_, T, R>, ViewMut<'_, T, Q>)> {
        self.check(first, &shape)?;
        self.check(second, &other)?;
        if second < first {
            let (b, a) = self.pair_mut((second, other), (first, shape))?;
            return Ok((a, b));
        }
        if first == second {
            return Err(refused(first, "it cannot be written as two"));
        }
        let ((bucket, range), (other_bucket, other_range)) = (self.written(first)?, self.written(second)?);
        // Those of lower numbers come first.
        let (before, after) = self.buckets.split_at_mut(other_bucket);
        if bucket == other_bucket {
            let buffer = &mut after[0].buffer;
            let all = buffer.len();
            let (a, b) = buffer.view_mut([all])?.split_at(0, other_range.start)?;
            let b = b.narrow(0, ..other_range.len())?;
            return Ok((a.narrow(0, range)?.reshape(shape)?, b.reshape(other)?));
        }
        let (a, b) = (&mut before[bucket].buffer, &mut after[0].buffer);
        let [all, all_others] = [a.len(), b.len()];
        let (a, b) = (a.view_mut([all])?.narrow(0, range)?, b.view_mut([all_others])?.narrow(0, other_range)?);
        Ok((a.reshape(shape)?, b.reshape(other)?))
    }

    /// Says that what writes a gradient is enqueued. The last one of a bucket begins the reduction, which waits on the device for what was
    /// enqueued on the bucket; all ranks say it in the same order.
    ///
    /// # Errors
    /// [`Error::Gradient`] of one that does not exist or is ready already; those of [`Communicator::all_reduce`].
    pub fn ready(&mut self, index: usize) -> Result<()> {
        let place = self.gradients.get_mut(index).ok_or_else(|| missing(index))?;
        if place.is_ready {
            return Err(refused(index, "it is ready already; say so once a step"));
        }
        place.is_ready = true;
        let number = place.bucket;
        let bucket = &mut self.buckets[number];
        bucket.ready += 1;
        if bucket.ready < bucket.gradients {
            return Ok(());
        }
        // The next step begins.
        bucket.ready = 0;
        self.gradients.iter_mut().filter(|place| place.bucket == number).for_each(|place| place.is_ready = false);
        let all = bucket.buffer.len();
        let stream = self.communicator.stream()?;
        self.communicator.all_reduce(&stream, bucket.buffer.view_mut([all])?, Reduce::Average)
    }

    /// Checks that the gradients of a step were all ready, so that each bucket was reduced.
    ///
    /// # Errors
    /// [`Error::Gradient`] names the first that is missing.
    pub fn finish(&self) -> Result<()> {
        let begun = |bucket: usize| self.buckets[bucket].ready > 0;
        let missing = self.gradients.iter().position(|place| begun(place.bucket) && !place.is_ready);
        missing.map_or(Ok(()), |index| Err(refused(index, "it is not ready, but others of its bucket are")))
    }

    /// The bucket of a gradient that may be written, and the elements there.
    fn written(&self, index: usize) -> Result<(usize, Range<usize>)> {
        let Place { bucket, start, len, is_ready } = *self.gradients.get(index).ok_or_else(|| missing(index))?;
        if is_ready {
            return Err(refused(index, "it is ready, and others of its bucket are not; write it before `ready`"));
        }
        Ok((bucket, start..start + len))
    }

    fn check(&self, index: usize, shape: &[usize]) -> Result<()> {
        let len = self.gradients.get(index).ok_or_else(|| missing(index))?.len;
        if shape.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent)) == Some(len) {
            return Ok(());
        }
        Err(refused(index, format!("it has {len} elements, which a shape {shape:?} does not")))
    }
}

#[cold]
fn refused(index: usize, reason: impl Into<String>) -> Error {
    Error::Gradient { index, reason: reason.into() }
}

#[cold]
fn missing(index: usize) -> Error {
    refused(index, "it does not exist")
}

impl<T: Element> fmt::Debug for Gradients<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, buckets) = (self.len(), self.buckets());
        write!(f, "Gradients({all} of {} in {buckets} buckets)", std::any::type_name::<T>())
    }
}
