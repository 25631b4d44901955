//! Meetings: what else comes to the address, files that were left, and the next meeting at the same place.

use crate::support::{How, LONG, free_port, join, options, path, threads, world};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use triton::Device;
use triton_collective::{Communicator, Error, Meeting, Place, Reduce, Result};

fn sum(communicator: Result<Communicator>) -> Result<u32> {
    let communicator = communicator?;
    let stream = communicator.device().stream()?;
    let mut x = stream.tensor(&[communicator.rank() as u32 + 1], [1])?;
    communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
    Ok(stream.download(&x)?[0])
}

/// A connection to rank 0, once it listens.
fn connect(port: u16) -> TcpStream {
    let start = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(start.elapsed() < LONG, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What a rank says first.
fn greeting(version: u32, world: u32, rank: u32) -> Vec<u8> {
    let words = [&version.to_le_bytes()[..], &[0; 16], &world.to_le_bytes(), &rank.to_le_bytes()];
    [&b"TRITCOLL"[..], &words.concat()].concat()
}

#[test]
fn strangers_do_not_disturb_a_meeting() {
    let port = free_port();
    let address = Meeting::address(format!("127.0.0.1:{port}"));
    let came = Barrier::new(2);
    let results = threads(0..3, |rank| {
        // They come before the other ranks, and stay.
        let _strangers = if rank == 2 { strangers(port) } else { Vec::new() };
        if rank != 0 {
            came.wait();
        }
        sum(Communicator::new(&Device::cpu(), Place::new(rank, 3), address.clone(), options(LONG)))
    });
    assert_eq!(results, [Ok(6), Ok(6), Ok(6)]);
}

/// Connections that say what no rank says, and one that says nothing.
fn strangers(port: u16) -> Vec<TcpStream> {
    let wrong: [Vec<u8>; 6] = [
        Vec::new(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0xff; 4096],
        greeting(99, 3, 2),
        greeting(1, 3, u32::MAX),
        greeting(1, 3, 0),
    ];
    let say = |bytes: &Vec<u8>| {
        let mut stream = connect(port);
        stream.write_all(bytes).expect("bytes are sent");
        stream
    };
    let streams: Vec<TcpStream> = wrong.iter().map(say).collect();
    // One is closed in the middle of its greeting.
    let mut part = connect(port);
    part.write_all(&greeting(1, 3, 2)[..9]).expect("bytes are sent");
    drop(part);
    // One comes as rank 2, and dies: the number is free again.
    let mut dead = connect(port);
    dead.write_all(&greeting(1, 3, 2)).expect("bytes are sent");
    let mut answer = [0; 12];
    dead.read_exact(&mut answer).expect("an answer");
    drop(dead);
    streams
}

#[test]
fn a_rank_that_speaks_something_else_is_gone() {
    // Unknown kinds, a length beyond all, gathers before the others come, a message to a rank that there is not.
    let gather = [&[1][..], &[0; 4], &3u64.to_le_bytes(), b"abc"].concat();
    let message = [&[2][..], &7u32.to_le_bytes(), &0u64.to_le_bytes()].concat();
    let long = [&[1][..], &[0; 4], &u64::MAX.to_le_bytes()].concat();
    for bytes in [vec![0xee; 64], long, gather.repeat(3), message] {
        let port = free_port();
        let address = Meeting::address(format!("127.0.0.1:{port}"));
        threads(0..3, |rank| {
            if rank == 2 {
                let mut stream = connect(port);
                stream.write_all(&greeting(1, 3, 2)).expect("bytes are sent");
                stream.write_all(&bytes).expect("bytes are sent");
                // Until rank 0 has closed it.
                let _ = stream.read_to_end(&mut Vec::new());
                return;
            }
            let place = Place::new(rank, 3);
            let error = sum(Communicator::new(&Device::cpu(), place, address.clone(), options(LONG))).unwrap_err();
            // The first gather is one, of a rank that does not say what it calls.
            assert!(matches!(error, Error::Gone { rank: 2, .. } | Error::Mismatch { rank: 2, .. }), "{error}");
        });
    }
}

#[test]
fn another_service_at_the_address_is_named() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = Meeting::address(listener.local_addr().expect("an address").to_string());
    threads([true, false], |serves| {
        if serves {
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").expect("bytes are sent");
            return;
        }
        let place = Place::new(1, 2);
        let error = Communicator::new(&Device::cpu(), place, address.clone(), options(LONG)).unwrap_err();
        assert!(matches!(error, Error::Meeting { .. }), "{error}");
        assert!(error.to_string().contains("does not speak the protocol"), "{error}");
    });
}

#[test]
fn a_file_that_was_left_does_no_harm() {
    // Another live meeting, whose number is not that of the file.
    let port = free_port();
    let other = Meeting::address(format!("127.0.0.1:{port}"));
    let dead = free_port();
    let nonce = "0123456789abcdef0123456789abcdef";
    let left = [
        String::new(),
        "not one of ours".to_string(),
        format!("triton-collective 1\n{nonce}\n127.0.0.1:{dead}\n"),
        format!("triton-collective 1\n{nonce}\n127.0.0.1:{port}\n"),
    ];
    threads([0, 1, 2], |part| match part {
        0 | 1 => {
            let place = Place::new(part, 2);
            // Rank 1 comes after the others are done.
            std::thread::sleep(Duration::from_millis(600 * part as u64));
            let result = sum(Communicator::new(&Device::cpu(), place, other.clone(), options(LONG)));
            assert_eq!(result, Ok(3));
        }
        _ => {
            for text in &left {
                let path = path("left");
                std::fs::write(&path, text).expect("a file is written");
                let meeting = Meeting::file(&path);
                let results = threads(0..2, |rank| {
                    // The others read what was left.
                    std::thread::sleep(Duration::from_millis(if rank == 0 { 60 } else { 0 }));
                    sum(Communicator::new(&Device::cpu(), Place::new(rank, 2), meeting.clone(), options(LONG)))
                });
                assert_eq!(results, [Ok(3), Ok(3)], "{text}");
                assert!(!path.exists(), "rank 0 removes the file");
            }
        }
    });
}

#[test]
fn the_next_meeting_may_be_at_the_same_place() {
    let address = Meeting::address(format!("127.0.0.1:{}", free_port()));
    for meeting in [address, Meeting::file(path("again")), triton_collective::Id::new().into()] {
        for result in join(3, meeting.clone(), options(LONG), |first| -> Result<()> {
            let first = first?;
            // While the first one is still used.
            let place = Place::new(first.rank(), 3);
            let second = Communicator::new(&Device::cpu(), place, meeting.clone(), options(LONG))?;
            assert_eq!(sum(Ok(second)), Ok(6));
            assert_eq!(sum(Ok(first)), Ok(6));
            Ok(())
        }) {
            result.unwrap_or_else(|error| panic!("{meeting:?}: {error}"));
        }
    }
}

#[test]
fn a_large_vector_goes_through() {
    for result in world(How::File, 2, options(LONG), |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        // More than the system holds of a connection.
        let x = stream.tensor(&vec![communicator.rank() as u64; 1 << 20], [1 << 20])?;
        let mut y = stream.tensor_zeros::<u64, _>([1 << 20])?;
        communicator.group(&stream, |group| {
            group.send(&x, 1 - communicator.rank())?;
            group.receive(&mut y, 1 - communicator.rank())
        })?;
        assert!(stream.download(&y)?.iter().all(|value| *value == 1 - communicator.rank() as u64));
        Ok(())
    }) {
        result.expect("a large message");
    }
}
