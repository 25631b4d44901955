//! What threads share in `triton-runtime`, run by loom under every interleaving: `cargo test` in this folder.
//!
//! The files are the runtime's own. Those that use primitives of `std::sync` find loom's in [`sync`]; the others are pure, and
//! a lock of loom stands around them as the runtime's stands there.

#![cfg(test)]

#[path = "../../src/cpu/registry.rs"]
mod registry;
#[path = "../../src/replays.rs"]
mod replays;
#[path = "../../src/cpu/share.rs"]
mod share;
#[path = "../../src/stream_order.rs"]
mod stream_order;

mod streams;

mod sync {
    //! In place of the runtime's `sync`.
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
}

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use registry::Registry;
use share::Share;
use sync::Mutex;

/// Programs on three threads: each below the lowest failure runs once, and that failure is the one reported.
fn programs(total: u64, chunk: u64, bad: &'static [u64]) {
    // Three threads with all their switches take minutes; more than three at inopportune moments have shown nothing new.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let share = Arc::new(Share::new(0, total, chunk));
        let ran: Arc<Vec<AtomicU32>> = Arc::new((0..total).map(|_| AtomicU32::new(0)).collect());
        let work = {
            let (share, ran) = (share.clone(), ran.clone());
            move || {
                share.work(|index| {
                    ran[index as usize].fetch_add(1, Relaxed);
                    if bad.contains(&index) { Err(index) } else { Ok(()) }
                });
            }
        };
        let others = [loom::thread::spawn(work.clone()), loom::thread::spawn(work.clone())];
        work();
        for other in others {
            other.join().expect("no panic");
        }
        drop(work);
        let lowest = bad.iter().copied().min();
        let must = lowest.map_or(total, |index| index + 1);
        for index in 0..total {
            let count = ran[index as usize].load(Relaxed);
            assert!(count == 1 || (count == 0 && index >= must), "program {index} ran {count} times");
        }
        let share = Arc::try_unwrap(share).unwrap_or_else(|_| panic!("all threads are done"));
        assert_eq!(share.finish().err(), lowest);
    });
}

#[test]
fn programs_without_failure() {
    programs(4, 1, &[]);
    programs(5, 2, &[]);
}

#[test]
fn the_lowest_failure_is_reported() {
    programs(3, 1, &[0, 1, 2]);
    programs(4, 1, &[3, 1]);
    programs(5, 2, &[1, 2, 4]);
}

/// Memory that says whether it was freed.
struct Block(Arc<AtomicU32>);

impl Drop for Block {
    fn drop(&mut self) {
        self.0.store(1, Relaxed);
    }
}

/// Launches see the buffers of their time, and keep them, while others come and go.
#[test]
fn snapshots() {
    loom::model(|| {
        let freed: Vec<_> = (0..3).map(|_| Arc::new(AtomicU32::new(0))).collect();
        let block = |i: usize| Arc::new(Block(freed[i].clone()));
        let registry = Arc::new(Mutex::new(Registry::new()));
        drop(registry.lock().unwrap().insert(10, block(0)));
        drop(registry.lock().unwrap().insert(20, block(1)));
        let coming = block(2);

        let launch = {
            let registry = registry.clone();
            loom::thread::spawn(move || {
                let blocks = registry.lock().unwrap().snapshot();
                let kept = blocks.iter().filter(|block| block.0.load(Relaxed) == 0).count();
                assert_eq!(kept, blocks.len(), "a block that a launch sees is freed");
                blocks.len()
            })
        };
        let garbage = registry.lock().unwrap().remove(10);
        drop(garbage);
        assert_eq!(registry.lock().unwrap().snapshot().len(), 1, "a block that is gone is seen");
        let garbage = registry.lock().unwrap().insert(30, coming);
        drop(garbage);
        assert_eq!(registry.lock().unwrap().snapshot().len(), 2, "a new block is not seen");
        assert!((1..=2).contains(&launch.join().unwrap()));
        drop(registry.lock().unwrap().remove(20));
        assert_eq!(freed.iter().map(|freed| freed.load(Relaxed)).collect::<Vec<_>>(), [1, 1, 0]);
    });
}
