//! The CPU device: programs of a grid run by the interpreter, in parallel on threads.

pub(crate) mod memory;
mod registry;
mod share;

use crate::error::{Error, Result};
use crate::reach::Reach;
use memory::CpuMemory;
use share::Share;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use triton_ir::interp::{self, Program, ProgramFault};
use triton_ir::ir::Function;
use triton_ir::metadata::Arg;
use triton_ir::span::Span;

/// Programs run on the calling thread for this long before threads are started: starting them costs about as much.
const ALONE: Duration = Duration::from_micros(200);

/// Runs every program of a grid, over the buffers that are alive and memory of other owners.
///
/// # Errors
/// The error of the program with the lowest index (x varies fastest), whatever the order of the threads.
pub(crate) fn run(func: &Function, args: &[Arg], foreign: &[Reach], grid: [u32; 3]) -> Result<()> {
    let memory = CpuMemory::with(foreign);
    // A panic is a bug in the interpreter; it must not end the user's program.
    let message = "the interpreter panicked; please report this as a bug";
    let panicked = |program| Error::Program(ProgramFault::new(func, Span::NONE, program, message));
    each(grid, |program| interp::run(func, args, program, &memory).map_err(Error::from), panicked)
}

/// Calls `body` for every program of a grid, on as many threads as the machine has. `panicked` says what a panic of it is.
fn each<E: Send>(
    grid: [u32; 3],
    body: impl Fn(Program) -> Result<(), E> + Sync,
    panicked: impl Fn([u32; 3]) -> E + Sync,
) -> Result<(), E> {
    let [x, y, z] = grid.map(u64::from);
    let total = x * y * z;
    let one = &|index: u64| {
        let id = [index % x, index / x % y, index / (x * y)].map(|i| i as u32);
        catch_unwind(AssertUnwindSafe(|| body(Program { id, grid }))).unwrap_or_else(|_| Err(panicked(id)))
    };

    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let start = Instant::now();
    let mut first = 0;
    while first < total && (threads == 1 || start.elapsed() < ALONE) {
        one(first)?;
        first += 1;
    }
    if first == total {
        return Ok(());
    }

    let left = total - first;
    let workers = threads.min(left);
    let share = Share::new(first, total, (left / (workers * 8)).clamp(1, 1024));
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // If a thread cannot be started, the others do the work.
            if std::thread::Builder::new().spawn_scoped(scope, || share.work(one)).is_err() {
                break;
            }
        }
        share.work(one);
    });
    share.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// Runs a grid whose programs at `bad` fail, and checks that each below the first of them ran once.
    fn check(grid: [u32; 3], bad: &[u64], expected: Option<u64>) {
        let total = grid.iter().map(|&n| u64::from(n)).product::<u64>();
        let ran: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
        let body = |program: Program| {
            let [x, y, z] = program.id.map(u64::from);
            let index = x + u64::from(grid[0]) * (y + u64::from(grid[1]) * z);
            ran[index as usize].fetch_add(1, Relaxed);
            std::thread::sleep(Duration::from_micros(20));
            if bad.contains(&index) { Err(index) } else { Ok(()) }
        };
        let result = each(grid, body, |_| u64::MAX);
        let must = expected.map_or(total, |i| i + 1);
        assert!(ran[..must as usize].iter().all(|n| n.load(Relaxed) == 1), "{grid:?}");
        assert_eq!(result.err(), expected, "{grid:?}");
    }

    #[test]
    fn grids() {
        check([1, 1, 1], &[], None);
        check([5, 3, 7], &[], None);
        check([2000, 1, 1], &[], None);
        check([3, 3, 3], &[0], Some(0));
        check([1000, 2, 1], &[1999, 700, 701, 1500], Some(700));
        check([0, 2, 1], &[], None);
    }
}
