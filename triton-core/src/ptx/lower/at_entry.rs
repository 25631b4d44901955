//! What the entry of the kernel computes, once: functions of the thread and of the block that operations all over the kernel read.
//!
//! - The entry comes before all other code, before the parameters too: what it computes reaches every use, in branches and loops as well.
//! - Nothing writes these registers again. So they hold for the whole kernel, and no branch or loop forgets any of them.
//! - They take registers for the whole kernel, too: what is quick to compute and rarely used is computed where it is used.

use crate::hash::WordMap;
use crate::layout::Layout;
use crate::ptx::Reg;
use std::borrow::Borrow;
use std::hash::Hash;

/// The address of shared memory, and what a thread adds to it, alone and as an address; `None` if that is 0 in every thread.
pub(crate) type SharedThread = (Reg, Option<(Reg, Reg)>);

/// What has been computed at the entry. Only `Lower::once` adds to it, which emits there.
#[derive(Default)]
pub(crate) struct AtEntry {
    /// The thread's index in its team.
    pub thread: Memo<(), Reg>,
    /// The number of its team.
    pub team: Memo<(), Reg>,
    /// The element that a thread holds in register 0, by the layout.
    pub elements: Memo<Layout, Reg>,
    /// Whether bits of the thread's index are 0, by the bits.
    pub guards: Memo<u32, Reg>,
    /// What accesses to shared memory take of the thread, by how far each bit of its index moves the address.
    pub shared_threads: Memo<Vec<u32>, SharedThread>,
    /// Addresses of shared memory, by what the number of a warpgroup adds: see [`crate::ptx::products::wgmma`].
    pub warpgroup_addresses: Memo<(u32, u32, u32), Reg>,
    /// The block's rank in its cluster.
    pub rank: Memo<(), Reg>,
    /// Which program the block runs, along the first two axes, where the function has an order of its own.
    pub program: Memo<(), [Reg; 2]>,
}

/// Results by what they were computed of.
pub(crate) struct Memo<K, V>(WordMap<K, V>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(WordMap::default())
    }
}

impl<K: Eq + Hash, V: Copy> Memo<K, V> {
    /// What has been computed of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key).copied()
    }

    /// Keeps what has been computed of a key.
    pub fn insert(&mut self, key: K, computed: V) {
        self.0.insert(key, computed);
    }
}
