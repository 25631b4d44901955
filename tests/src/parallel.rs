//! Work on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a thread's stack: rustc's own threads have more than the default, and deeply nested kernels need it.
const STACK: usize = 64 << 20;

/// What `work` makes of each item, in the order of the items. The next item goes to the first thread that is free.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(item);
            results.lock().unwrap_or_else(|e| e.into_inner()).push((at, result));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, worker).expect("a thread");
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
