//! Synchronisation through strong accesses: what a release, or a relaxed store after a fence, passes to an acquire.

use super::{Causality, Ordering, Scope, View};
use std::collections::{BTreeMap, BTreeSet};

/// Threads that a release reaches. Both sides name all they are in, up to their scope: so they meet if each one's scope
/// includes the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ScopeInstance {
    Block(u32, u8),
    Cluster(u32),
    Device,
}

/// What was released at which address, as the release sequences of C++ (and PTX ISA, "Release and Acquire Patterns"). An address
/// stands for all bytes of the accesses that begin there.
#[derive(Debug, Default)]
pub struct SyncMap {
    released: BTreeMap<(u64, ScopeInstance), View>,
    /// Addresses of which a cluster, or a block of it, may have some.
    near: BTreeMap<u32, BTreeSet<u64>>,
}

impl SyncMap {
    /// Nothing was released.
    pub fn new() -> SyncMap {
        SyncMap::default()
    }

    /// A strong load of a thread.
    pub fn load(&self, threads: &mut Causality, thread: u32, address: u64, ordering: Ordering, scope: Scope) {
        let scope_instances = scope_instances(threads, thread);
        for level in scope.levels() {
            let Some(view) = self.released.get(&(address, scope_instances[level])) else { continue };
            if ordering.acquires() {
                threads.acquire(thread / 32, 1 << (thread % 32), view);
            } else {
                threads.relaxed_acquire(thread, level, view);
            }
        }
    }

    /// A strong store of a thread: later loads see it alone.
    pub fn store(&mut self, threads: &mut Causality, thread: u32, address: u64, ordering: Ordering, scope: Scope) {
        self.forget(address, 1);
        self.publish(threads, thread, address, ordering, scope);
    }

    /// An atomic read and write of a thread: continues what was released before.
    pub fn update(&mut self, threads: &mut Causality, thread: u32, address: u64, ordering: Ordering, scope: Scope) {
        self.load(threads, thread, address, ordering, scope);
        self.publish(threads, thread, address, ordering, scope);
    }

    /// Something else wrote these bytes: a weak store, a copy. A load of that acquires nothing.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let last = address.saturating_add(bytes.max(1) - 1);
        let range = (address, ScopeInstance::Block(0, 0))..=(last, ScopeInstance::Device);
        while let Some((&key, _)) = self.released.range(range.clone()).next() {
            self.released.remove(&key);
        }
    }

    /// A cluster has ended: no thread is left that could acquire what was released to it alone.
    pub fn end(&mut self, cluster: u32) {
        for address in self.near.remove(&cluster).unwrap_or_default() {
            let range = (address, ScopeInstance::Block(cluster, 0))..=(address, ScopeInstance::Block(cluster, u8::MAX));
            while let Some((&key, _)) = self.released.range(range.clone()).next() {
                self.released.remove(&key);
            }
            self.released.remove(&(address, ScopeInstance::Cluster(cluster)));
        }
    }

    fn publish(&mut self, threads: &mut Causality, thread: u32, address: u64, ordering: Ordering, scope: Scope) {
        let scope_instances = scope_instances(threads, thread);
        let view = ordering.releases().then(|| threads.release(thread));
        for level in scope.levels() {
            let Some(view) = view.clone().or_else(|| threads.fenced_release(thread, level)) else { continue };
            self.near.entry(threads.cluster()).or_default().insert(address);
            self.released.entry((address, scope_instances[level])).and_modify(|all| all.join(&view)).or_insert(view);
        }
    }
}

/// Those that a thread is in, by the levels of a scope.
fn scope_instances(threads: &Causality, thread: u32) -> [ScopeInstance; 3] {
    let cluster = threads.cluster();
    [ScopeInstance::Block(cluster, threads.block(thread / 32)), ScopeInstance::Cluster(cluster), ScopeInstance::Device]
}
