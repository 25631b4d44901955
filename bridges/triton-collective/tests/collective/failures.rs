//! Ranks that end, or do not come: the others have a typed error, and what was complete stays theirs.

use crate::support::{How, LONG, meeting, options, threads, world};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use triton::{Device, Stream};
use triton_collective::{Communicator, Error, Place, Reduce, Result};

/// Of what times out. Ranks that meet by then do so on a busy machine, too.
const SHORT: Duration = Duration::from_secs(1);
/// Far below `LONG`, for what is known at once.
const SOON: Duration = Duration::from_secs(20);

fn sum(communicator: &Communicator, stream: &Stream) -> Result<Vec<u32>> {
    let mut x = stream.tensor(&[1u32, communicator.rank() as u32], [2])?;
    communicator.all_reduce(stream, &mut x, Reduce::Sum)?;
    Ok(stream.download(&x)?)
}

#[test]
fn a_rank_that_drops_is_gone_for_the_others() {
    for how in [How::Together, How::Address] {
        // With rank 0 the process ends whose memory the bytes go through.
        for first in [2, 0] {
            let start = Instant::now();
            world(how, 3, options(LONG), |communicator| {
                let stream = communicator.device().stream().expect("a stream");
                assert_eq!(sum(&communicator, &stream), Ok(vec![3, 3]));
                if communicator.rank() == first {
                    return;
                }
                let error = sum(&communicator, &stream).unwrap_err();
                assert!(matches!(error, Error::Gone { rank, .. } if rank == first), "{how:?}: {error}");
                let later = communicator.synchronize(&stream).unwrap_err();
                assert!(matches!(&later, Error::Aborted { first, .. } if **first == error), "{how:?}: {later}");
            });
            assert!(start.elapsed() < SOON, "{how:?}: nothing waits for the time-out");
        }
    }
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    threads([How::Together, How::File], |how| {
        let all_failed = Barrier::new(3);
        world(how, 3, options(SHORT), |communicator| {
            let stream = communicator.device().stream().expect("a stream");
            if communicator.rank() == 1 {
                all_failed.wait();
            }
            let error = sum(&communicator, &stream).unwrap_err();
            assert!(matches!(&error, Error::Timeout { missing, .. } if *missing == [1]), "{how:?}: {error}");
            let text = "`all_reduce` to the sum with 2 elements of u32 (call 0): after 1 s rank 1 has not come";
            assert!(error.to_string().starts_with(text), "{error}");
            if communicator.rank() != 1 {
                all_failed.wait();
            }
        });
    });
}

#[test]
fn a_message_that_is_not_sent_is_a_timeout() {
    threads([How::Together, How::File], |how| {
        let received = Barrier::new(2);
        world(how, 2, options(SHORT), |communicator| {
            let stream = communicator.device().stream().expect("a stream");
            let mut x = stream.tensor(&[0u8], [1]).expect("a tensor");
            if communicator.rank() == 0 {
                let error = communicator.receive(&stream, &mut x, 1).unwrap_err();
                assert!(matches!(&error, Error::Timeout { missing, .. } if *missing == [1]), "{how:?}: {error}");
                assert!(matches!(communicator.send(&stream, &x, 1), Err(Error::Aborted { .. })));
            }
            received.wait();
        });
    });
}

#[test]
fn a_meeting_without_all_is_a_timeout() {
    threads([How::Id, How::Address, How::File], |how| {
        // Without the last rank, and without rank 0.
        for came in [0..2, 1..3] {
            let meeting = meeting(how);
            let missing = if came.start == 0 { 2 } else { 0 };
            threads(came, |rank| {
                let place = Place::new(rank, 3);
                let error = Communicator::new(&Device::cpu(), place, meeting.clone(), options(SHORT)).unwrap_err();
                let Error::Timeout { missing: found, .. } = &error else { panic!("{how:?}: {error}") };
                // What else is missing only rank 0 knows.
                assert!(*found == [missing], "{how:?}: {error}");
            });
        }
    });
}

#[test]
fn a_panic_ends_all_ranks_at_once() {
    for how in [How::Together, How::File] {
        let start = Instant::now();
        let ended = world(how, 3, options(LONG), |communicator| {
            let rank = communicator.rank();
            let run = move || {
                let stream = communicator.device().stream().expect("a stream");
                let mut x = stream.tensor(&[0u8], [1]).expect("a tensor");
                match communicator.rank() {
                    2 => std::panic::resume_unwind(Box::new("a bug of the program")),
                    // Each waits for the other one, and none for rank 2.
                    rank => communicator.receive(&stream, &mut x, 1 - rank).unwrap_err(),
                }
            };
            (rank, std::thread::spawn(run).join())
        });
        for (rank, result) in ended {
            assert_eq!(result.is_err(), rank == 2);
            assert!(result.is_err() || matches!(result, Ok(Error::Gone { rank: 2, .. })), "{how:?}");
        }
        assert!(start.elapsed() < SOON, "{how:?}: nothing waits for the time-out");
    }
}

#[test]
fn ranks_that_are_done_do_not_disturb_the_others() {
    for how in [How::Together, How::Address] {
        for first in 0..3 {
            let gone = Barrier::new(3);
            world(how, 3, options(LONG), |communicator| {
                let stream = communicator.device().stream().expect("a stream");
                assert_eq!(sum(&communicator, &stream), Ok(vec![3, 3]));
                let rank = communicator.rank();
                let peer = (0..3).find(|peer| *peer != rank && *peer != first).expect("another rank");
                if rank == first {
                    drop(communicator);
                    gone.wait();
                    return;
                }
                gone.wait();
                let (x, mut y) = (
                    stream.tensor(&[rank as u64], [1]).expect("a tensor"),
                    stream.tensor(&[9u64], [1]).expect("a tensor"),
                );
                communicator.send(&stream, &x, peer).expect("the peer is still there");
                communicator.receive(&stream, &mut y, peer).expect("the peer has sent");
                assert_eq!(stream.download(&y), Ok(vec![peer as u64]));
                communicator.check().expect("nothing has failed");
                let error = communicator.send(&stream, &x, first).unwrap_err();
                assert!(matches!(error, Error::Gone { rank, .. } if rank == first), "{how:?}: {error}");
            });
        }
    }
}

#[test]
fn the_last_collective_is_complete_for_all() {
    for how in [How::Together, How::Address, How::File] {
        for round in 0..15 {
            for result in world(how, 2 + round % 3, options(LONG), |communicator| {
                let stream = communicator.device().stream()?;
                // Dropped as soon as it returns.
                sum(&communicator, &stream)
            }) {
                result.unwrap_or_else(|error| panic!("{how:?}: {error}"));
            }
        }
    }
}

#[test]
fn a_graph_that_outlives_its_communicator_is_refused() {
    let communicators = Communicator::all(&[Device::cpu(), Device::cpu()]).expect("a world");
    let stream = Device::cpu().stream().expect("a stream");
    for (rank, communicator) in communicators.into_iter().enumerate() {
        let mut x = stream.tensor(&[1u8], [1]).expect("a tensor");
        let graph = stream.capture(|stream| Ok(communicator.all_reduce(stream, &mut x, Reduce::Sum)?));
        drop(communicator);
        let error = Error::from(graph.expect("a capture").launch(&stream).unwrap_err());
        let Error::Aborted { first, .. } = &error else { panic!("{error}") };
        assert!(matches!(**first, Error::Gone { rank: gone, .. } if gone == rank), "{error}");
    }
}
