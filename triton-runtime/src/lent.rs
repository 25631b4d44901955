//! How a stream lends memory, and takes it back.
//!
//! **Invariant:** what a stream keeps [rests](Allocation::rest): all of its uses come before what the stream does next, and it does not name the
//! stream, which would keep itself alive. What a captured stream keeps is its graph's, and has the order of the stream that the capture was
//! asked of.

use crate::allocation::Allocation;
use crate::error::{Error, Result};
use crate::kept::{Lent, Owner};
use crate::stream::Stream;
use std::any::Any;
use std::sync::Arc;

/// What memory that a stream lends has of a buffer: a value with a `stream` and a `buffer`.
macro_rules! lent {
    ($name:ident) => {
        impl<T: Element> $name<T> {
            /// The elements as an array of this shape, in row-major order: see [`Buffer::view`](crate::Buffer::view).
            ///
            /// # Errors
            /// [`Error::View`](crate::Error::View) if there are too few elements, [`Error::Extent`](crate::Error::Extent).
            pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'_, T, R>> {
                self.buffer.view(shape)
            }

            /// The elements as a mutable array of this shape, in row-major order: see [`Buffer::view`](crate::Buffer::view).
            ///
            /// # Errors
            /// [`Error::View`](crate::Error::View) if there are too few elements, [`Error::Extent`](crate::Error::Extent).
            pub fn view_mut<const R: usize>(&mut self, shape: [usize; R]) -> Result<ViewMut<'_, T, R>> {
                self.buffer.view_mut(shape)
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                self.buffer.len()
            }

            /// Whether it has no element.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The stream whose order it is in.
            pub fn stream(&self) -> &Stream {
                &self.stream
            }

            /// The device whose memory it is in.
            pub fn device(&self) -> &Device {
                self.stream.device()
            }

            /// The address of the first element on the device.
            pub fn address(&self) -> u64 {
                self.buffer.address()
            }
        }

        impl<T: Element> sealed::Sealed for $name<T> {}

        impl<T: Element> DeviceData for $name<T> {
            type Item = T;

            fn as_slice(&self) -> BufferSlice<'_, T> {
                self.buffer.as_slice()
            }
        }

        impl<T: Element> DeviceDataMut for $name<T> {
            fn as_mut_slice(&mut self) -> BufferSliceMut<'_, T> {
                self.buffer.as_mut_slice()
            }
        }

        impl<T: Element> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (name, element) = (stringify!($name), std::any::type_name::<T>());
                write!(f, "{name}([{element}; {}] of {:?})", self.len(), self.stream)
            }
        }
    };
}
pub(crate) use lent;

/// The allocation that was kept.
pub(crate) fn allocation(owner: Owner) -> Option<Arc<Allocation>> {
    (owner as Arc<dyn Any + Send + Sync>).downcast().ok()
}

/// Bytes of as many elements.
pub(crate) fn bytes<T>(len: usize, stream: &Stream) -> Result<usize> {
    let all = (len as u64).saturating_mul(size_of::<T>() as u64);
    len.checked_mul(size_of::<T>()).ok_or_else(|| Error::out_of_memory(all, stream.device().to_string()))
}

impl Stream {
    /// Takes the smallest memory that has as many bytes. If there is none, the largest is freed: a larger one will take its place.
    pub(crate) fn take(&self, kind: Lent, bytes: usize) -> Option<Arc<Allocation>> {
        let mut kept = self.kept();
        if let Some(found) = kept.take(kind, bytes).and_then(allocation) {
            found.wake(self);
            return Some(found);
        }
        let largest = kept.take_largest(kind);
        drop(kept);
        self.give_up(largest);
        None
    }

    /// Keeps memory that was lent. What cannot be ordered is freed by its owner.
    pub(crate) fn give_back(&self, kind: Lent, allocation: &Arc<Allocation>) {
        if allocation.rest(self).is_ok() {
            self.kept().push(kind, allocation.clone());
        }
    }

    /// Frees memory that rested, in the order of this stream.
    pub(crate) fn give_up(&self, all: impl IntoIterator<Item = Owner>) {
        all.into_iter().filter_map(allocation).for_each(|allocation| allocation.wake(self));
    }

    /// Frees, in the order of this stream, what it keeps for later launches: [scratch](Stream::scratch), [workspaces](Stream::workspace) and
    /// [constants](Stream::constants) that are not in use. What graphs use stays.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::best().stream()?;
    /// drop(stream.workspace::<f32>(1 << 20)?);
    /// stream.trim();
    /// # Ok(())
    /// # }
    /// ```
    pub fn trim(&self) {
        // What a captured stream has is its graph's.
        if !self.is_captured() {
            let all: Vec<Owner> = self.kept().drain().collect();
            self.give_up(all);
        }
    }
}
