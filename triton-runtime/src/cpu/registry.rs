//! The live blocks by address, and the snapshot that launches share until a block is allocated or freed.
//!
//! **Invariant:** a snapshot holds every block that was alive when it was taken, and keeps it.
//!
//! Generic over the handle of a block, so that `models` can check this under every interleaving.

use std::collections::BTreeMap;
use std::sync::Arc;

/// All live blocks. Callers guard it by one lock.
pub(crate) struct Registry<B> {
    blocks: BTreeMap<u64, B>,
    snapshot: Option<Arc<[B]>>,
}

/// What remains of a freed block. Dropping it frees memory, which can take long: not under the lock.
pub(crate) type Garbage<B> = (Option<B>, Option<Arc<[B]>>);

impl<B: Clone> Registry<B> {
    /// No blocks.
    pub(crate) const fn new() -> Registry<B> {
        Registry { blocks: BTreeMap::new(), snapshot: None }
    }

    /// A block at this address is alive from now on.
    pub(crate) fn insert(&mut self, address: u64, block: B) -> Garbage<B> {
        (self.blocks.insert(address, block), self.snapshot.take())
    }

    /// The block at this address is not visible to later launches.
    pub(crate) fn remove(&mut self, address: u64) -> Garbage<B> {
        (self.blocks.remove(&address), self.snapshot.take())
    }

    /// The blocks that are alive, by address.
    pub(crate) fn snapshot(&mut self) -> Arc<[B]> {
        let blocks = &self.blocks;
        self.snapshot.get_or_insert_with(|| blocks.values().cloned().collect()).clone()
    }
}
