//! Work on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a thread's stack: rustc's own threads have more than the default, and deeply nested kernels need it.
const STACK: usize = 64 << 20;

/// What `work` makes of each item, in the order of the items. The next item goes to the first thread that is free.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    map_on(threads, items, || (), |(), item| work(item))
}

/// The same on a number of threads, each with something of its own.
pub fn map_on<T: Sync, R: Send, S>(
    threads: usize,
    items: &[T],
    own: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        let mut own = own();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(&mut own, item);
            results.lock().unwrap_or_else(|e| e.into_inner()).push((at, result));
        }
    };
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
