//! Worlds of threads.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use triton::Device;
use triton_collective::{Communicator, Id, Meeting, Options, Place, Result};

/// How the threads meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    Together,
    Id,
    Address,
    File,
}

/// Long enough for a machine that is busy.
pub const LONG: Duration = Duration::from_secs(60);

pub fn options(timeout: Duration) -> Options {
    Options { timeout, ..Options::default() }
}

/// A port that is free at the moment.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A path that no other test has.
pub fn path(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("triton-collective-{}-{number}-{name}", std::process::id()))
}

/// A meeting of a new world.
pub fn meeting(how: How) -> Meeting {
    match how {
        How::Together | How::Id => Id::new().into(),
        How::Address => Meeting::address(format!("127.0.0.1:{}", free_port())),
        How::File => Meeting::file(path("meeting")),
    }
}

/// Each rank of a world does its work in a thread.
pub fn world<R: Send>(how: How, ranks: usize, options: Options, work: impl Fn(Communicator) -> R + Sync) -> Vec<R> {
    if how == How::Together {
        let all = Communicator::all_with(&vec![Device::cpu(); ranks], options).expect("a world");
        return threads(all, work);
    }
    let meeting = meeting(how);
    join(ranks, meeting, options, |communicator| work(communicator.expect("the ranks meet")))
}

/// Each rank of a world of this size meets the others in a thread.
pub fn join<R: Send>(
    ranks: usize,
    meeting: Meeting,
    options: Options,
    work: impl Fn(Result<Communicator>) -> R + Sync,
) -> Vec<R> {
    threads(0..ranks, |rank| work(Communicator::new(&Device::cpu(), Place::new(rank, ranks), meeting.clone(), options)))
}

/// A thread for each, and what they return.
pub fn threads<X: Send, R: Send>(all: impl IntoIterator<Item = X>, work: impl Fn(X) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = all.into_iter().map(|one| scope.spawn(move || work(one))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a rank panicked")).collect()
    })
}
