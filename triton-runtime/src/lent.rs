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
