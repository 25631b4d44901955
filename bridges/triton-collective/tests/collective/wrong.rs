//! Mistakes of one rank: they are typed errors, and the communicator is as good as before.

use crate::support::{How, LONG, join, meeting, options, threads, world};
use std::time::Duration;
use triton::Device;
use triton_collective::{Communicator, Error, Id, Meeting, Place, Reduce, Result};

#[test]
fn mistakes_in_arguments_leave_the_communicator_good() {
    for result in world(How::Together, 2, options(LONG), |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        let (x, mut y) = (stream.tensor(&[1.0f32; 4], [2, 2])?, stream.tensor_zeros::<f32, _>([5])?);

        let error = communicator.all_reduce_into(&stream, &x, &mut y, Reduce::Sum).unwrap_err();
        assert!(matches!(error, Error::Length { operand: "y", found: 5, expected: 4, .. }), "{error}");
        let error = communicator.all_gather(&stream, &x, &mut y).unwrap_err();
        assert!(matches!(error, Error::Length { operand: "y", found: 5, expected: 8, .. }), "{error}");
        assert_eq!(
            error.to_string(),
            "`all_gather`: y has 5 elements, but 8 are expected: the 4 of x of each of 2 ranks"
        );
        let error = communicator.reduce_scatter(&stream, &x, &mut y, Reduce::Sum).unwrap_err();
        assert!(matches!(error, Error::Length { operand: "x", found: 4, expected: 10, .. }), "{error}");

        let mut flags = stream.tensor(&[true], [1])?;
        let error = communicator.all_reduce(&stream, &mut flags, Reduce::Sum).unwrap_err();
        assert_eq!(error.to_string(), "the sum of bool is not defined: of bool there is `Max`, `Min`");
        let mut whole = stream.tensor(&[1i32], [1])?;
        let error = communicator.all_reduce(&stream, &mut whole, Reduce::Average).unwrap_err();
        assert!(error.to_string().starts_with("the average of i32 is not defined"), "{error}");

        let error = communicator.broadcast(&stream, &mut y, 2).unwrap_err();
        assert_eq!(error.to_string(), "there is no rank 2: the world has 2, numbered from 0");
        for peer in [2, communicator.rank()] {
            let error = communicator.send(&stream, &x, peer).unwrap_err();
            assert!(matches!(error, Error::Peer { .. }), "{error}");
            let error = communicator.receive(&stream, &mut y, peer).unwrap_err();
            assert!(matches!(error, Error::Peer { .. }), "{error}");
        }

        let error = communicator.all_reduce_into(&stream, x.transpose(), &mut y, Reduce::Sum).unwrap_err();
        assert!(matches!(error, Error::Runtime(triton::Error::Contiguous { .. })), "{error}");

        // Of a group with a mistake nothing is enqueued.
        let group = communicator.group(&stream, |group| {
            group.send(&x, 1 - communicator.rank())?;
            group.broadcast(&mut y, 7)
        });
        assert!(matches!(group, Err(Error::Peer { found: 7, .. })), "{group:?}");
        communicator.group(&stream, |_| Ok(()))?;

        communicator.check()?;
        communicator.all_reduce(&stream, &mut y, Reduce::Sum)
    }) {
        result.expect("the communicator is still good");
    }
}

/// Both ranks of a world have a mismatch, which names the other one, and nothing works after it.
fn differ(call: impl Fn(&Communicator, &triton::Stream, usize) -> Result<()> + Sync) -> Vec<String> {
    world(How::Together, 2, options(LONG), |communicator| {
        let stream = communicator.device().stream().expect("a stream");
        let error = call(&communicator, &stream, communicator.rank()).unwrap_err();
        assert!(matches!(error, Error::Mismatch { rank, .. } if rank == 1 - communicator.rank()), "{error}");
        assert_eq!(communicator.check(), Err(error.clone()));
        let later = communicator.barrier(&stream).unwrap_err();
        assert!(matches!(&later, Error::Aborted { first, .. } if **first == error), "{later}");
        error.to_string()
    })
}

#[test]
fn different_calls_are_known_to_all_ranks() {
    let texts = differ(|communicator, stream, rank| {
        communicator.all_reduce(stream, &mut stream.tensor_zeros::<f32, _>([4 + rank])?, Reduce::Sum)
    });
    let start = "rank 1 called `all_reduce` to the sum with 5 elements of f32 (call 0), but this rank called `all_reduce` to the sum with 4 elements";
    assert!(texts[0].starts_with(start), "{}", texts[0]);
    let texts = differ(|communicator, stream, rank| match rank {
        0 => communicator.broadcast(stream, &mut stream.tensor_zeros::<f32, _>([4])?, 0),
        _ => communicator.broadcast(stream, &mut stream.tensor_zeros::<i32, _>([4])?, 0),
    });
    assert!(texts[1].contains("elements of f32 (call 0), but this rank"), "{}", texts[1]);
    differ(|communicator, stream, rank| communicator.broadcast(stream, &mut stream.tensor_zeros::<f32, _>([4])?, rank));
    differ(|communicator, stream, rank| {
        let reduce = [Reduce::Max, Reduce::Min][rank];
        communicator.all_reduce(stream, &mut stream.tensor_zeros::<f32, _>([4])?, reduce)
    });
    let texts = differ(|communicator, stream, rank| match rank {
        0 => communicator.barrier(stream),
        _ => communicator.all_reduce(stream, &mut stream.tensor_zeros::<f32, _>([4])?, Reduce::Sum),
    });
    assert!(texts[1].starts_with("rank 0 called `barrier` (call 0), but this rank"), "{}", texts[1]);
}

#[test]
fn a_message_of_another_length_or_type_is_refused() {
    for result in world(How::Together, 3, options(LONG), |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        let error = match communicator.rank() {
            0 => {
                communicator.send(&stream, &stream.tensor(&[1u32, 2], [2])?, 1)?;
                return communicator.send(&stream, &stream.tensor(&[1u32, 2], [2])?, 2);
            }
            1 => communicator.receive(&stream, &mut stream.tensor_zeros::<u32, _>([3])?, 0).unwrap_err(),
            _ => communicator.receive(&stream, &mut stream.tensor_zeros::<f32, _>([2])?, 0).unwrap_err(),
        };
        assert!(matches!(error, Error::Mismatch { rank: 0, .. }), "{error}");
        let sent = "rank 0 called `send` to rank ";
        assert!(error.to_string().starts_with(sent) && error.to_string().contains("with 2 elements of u32"), "{error}");
        Ok(())
    }) {
        result.expect("the sender has sent");
    }
}

#[test]
fn a_place_has_to_fit_its_world() {
    for (rank, world) in [(0, 0), (2, 2), (9, 3), (0, usize::MAX)] {
        let place = Place::new(rank, world);
        for meeting in [Id::new().into(), Meeting::address("127.0.0.1:1"), Meeting::file("/nowhere/at/all")] {
            let error = Communicator::new(&Device::cpu(), place, meeting, options(LONG)).unwrap_err();
            assert!(matches!(error, Error::World { .. }), "{error}");
        }
    }
    assert!(matches!(Communicator::all(&[]), Err(Error::World { .. })));
}

/// Two ranks that do not belong together come to one meeting: one is refused at once, the other one waits in vain for its own.
fn refused(how: How, places: [Place; 2]) {
    let short = options(Duration::from_millis(1500));
    let meeting = meeting(how);
    let errors = threads(places, |place| {
        // The first one is there first.
        std::thread::sleep(Duration::from_millis(if place == places[0] { 0 } else { 300 }));
        Communicator::new(&Device::cpu(), place, meeting.clone(), short).map(drop).unwrap_err()
    });
    assert!(matches!(&errors[0], Error::Timeout { missing, .. } if !missing.is_empty()), "{how:?}: {}", errors[0]);
    assert!(matches!(errors[1], Error::World { .. }), "{how:?}: {}", errors[1]);
}

#[test]
fn ranks_that_do_not_belong_together_are_refused() {
    let places = |first: (usize, usize), second: (usize, usize)| {
        [first, second].map(|(rank, world)| Place { rank, world, local_rank: rank + world })
    };
    let hows = [How::Id, How::Address, How::File];
    threads(hows, |how| refused(how, places((0, 2), (1, 3))));
    // Two of one number: the one that comes later is refused, and the third number is missing.
    let twice = |how| {
        let meeting = meeting(how);
        let errors = threads([0, 1, 1], |rank| {
            let (place, options) = (Place::new(rank, 3), options(Duration::from_millis(1500)));
            Communicator::new(&Device::cpu(), place, meeting.clone(), options).map(drop).unwrap_err()
        });
        let (timeouts, others): (Vec<Error>, Vec<Error>) =
            errors.into_iter().partition(|error| matches!(error, Error::Timeout { missing, .. } if *missing == [2]));
        assert_eq!((timeouts.len(), others.len()), (2, 1), "{how:?}: {others:?}");
        let text = others[0].to_string();
        assert!(text.starts_with("rank 1 of a world of 3: another"), "{how:?}: {text}");
    };
    threads(hows, twice);
}

#[test]
fn an_address_has_a_port() {
    for address in ["", "localhost", ":80", "localhost:x"] {
        let all = join(2, Meeting::address(address), options(LONG), |one| one.map(drop).unwrap_err());
        for error in all {
            assert!(matches!(error, Error::Meeting { .. }), "{error}");
        }
    }
    let (taken, _listener) = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        (listener.local_addr().expect("an address").to_string(), listener)
    };
    let place = Place::new(0, 2);
    let short = options(Duration::from_millis(50));
    let error = Communicator::new(&Device::cpu(), place, Meeting::address(taken), short).unwrap_err();
    assert!(error.to_string().contains("use a free port"), "{error}");
    let nowhere = Meeting::file("/nowhere/at/all");
    let error = Communicator::new(&Device::cpu(), place, nowhere, short).unwrap_err();
    assert!(matches!(error, Error::Meeting { .. }), "{error}");
}
