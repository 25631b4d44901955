//! Threads of the runtime: work that nothing waits for, and work in parallel.

use crate::driver::exit::at_exit;
use crate::lock;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// What is to be done.
struct Queue {
    jobs: VecDeque<Job>,
    /// Threads that are at work.
    workers: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { jobs: VecDeque::new(), workers: 0 });
/// Told when a worker stops.
static STOPPED: Condvar = Condvar::new();

/// As many threads as the machine runs at a time.
fn most() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Does a job on another thread, or here if there can be none. The process does not end before it is done: a driver that is
/// unloaded while it compiles fails.
pub(crate) fn in_background(job: impl FnOnce() + Send + 'static) {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| at_exit(ending));
    let mut queue = lock(&QUEUE);
    queue.jobs.push_back(Box::new(job));
    if queue.workers >= most() {
        return;
    }
    queue.workers += 1;
    drop(queue);
    if thread::Builder::new().name("triton-load".to_string()).spawn(work).is_err() {
        work();
    }
}

extern "C" fn ending() {
    finish();
}

/// Waits until every job is done.
pub(crate) fn finish() {
    let queue = lock(&QUEUE);
    drop(STOPPED.wait_while(queue, |queue| queue.workers > 0).unwrap_or_else(PoisonError::into_inner));
}

/// Does jobs until there are none.
fn work() {
    loop {
        let mut queue = lock(&QUEUE);
        let Some(job) = queue.jobs.pop_front() else {
            queue.workers -= 1;
            STOPPED.notify_all();
            return;
        };
        drop(queue);
        // A job that panics has said so, and the others are done.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// What a function makes of each item, in their order, on as many threads as the machine runs.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let share = || {
        let index = || Some(next.fetch_add(1, Relaxed)).filter(|&index| index < items.len());
        std::iter::from_fn(index).map(|index| (index, make(&items[index]))).collect::<Vec<_>>()
    };
    let mut all = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, share).ok();
        let threads: Vec<_> = (1..most().min(items.len())).filter_map(spawn).collect();
        let mut all = share();
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|&(index, _)| index);
    all.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn jobs_are_done_when_they_are_waited_for() {
        let done = Arc::new(AtomicUsize::new(0));
        for index in 0..100 {
            let done = done.clone();
            in_background(move || {
                assert!(index != 7, "one of them panics");
                done.fetch_add(1, Relaxed);
            });
        }
        finish();
        assert_eq!(done.load(Relaxed), 99);
        finish();
    }

    #[test]
    fn results_stand_in_the_order_of_their_items() {
        for count in [0, 1, 2, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(in_parallel(&items, |item| item * 3), items.iter().map(|item| item * 3).collect::<Vec<_>>());
        }
    }
}
