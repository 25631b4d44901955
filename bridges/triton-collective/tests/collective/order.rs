//! Threads with delays: results do not depend on who comes first.

use crate::support::{How, LONG, options, world};
use std::time::Duration;
use triton_collective::{Communicator, Reduce, Result};

/// One program of collectives, the same for all ranks but for delays, and the order in groups.
fn program(communicator: &Communicator, seed: u64) -> Result<Vec<u64>> {
    let (rank, world) = (communicator.rank(), communicator.world());
    let stream = communicator.device().stream()?;
    let (mut shared, mut own) =
        (fastrand::Rng::with_seed(seed), fastrand::Rng::with_seed(seed ^ (rank as u64 + 1) << 32));
    let mut x = stream.tensor(&[rank as u64 + 1; 5], [5])?;
    for _ in 0..8 {
        if own.bool() {
            std::thread::sleep(Duration::from_micros(own.u64(0..300)));
        }
        match shared.u8(0..5) {
            0 => communicator.all_reduce(&stream, &mut x, Reduce::Sum)?,
            1 => communicator.broadcast(&stream, &mut x, shared.usize(0..world))?,
            2 => communicator.barrier(&stream)?,
            3 => {
                let mut part = stream.tensor_zeros::<u64, _>([5])?;
                let mut all = stream.tensor_zeros::<u64, _>([5 * world])?;
                communicator.all_gather(&stream, &x, &mut all)?;
                communicator.reduce_scatter(&stream, &all, &mut part, Reduce::Max)?;
                stream.copy(&part, &mut x)?;
            }
            _ => exchange(communicator, &stream, &mut x, &mut own)?,
        }
    }
    Ok(stream.download(&x)?)
}

/// Each rank sends to each, itself too, in any order.
fn exchange(
    communicator: &Communicator,
    stream: &triton::Stream,
    x: &mut triton::Tensor<u64, 1>,
    own: &mut fastrand::Rng,
) -> Result<()> {
    let world = communicator.world();
    let mut received = Vec::new();
    for _ in 0..world {
        received.push(stream.tensor_zeros::<u64, _>([5])?);
    }
    let mut order: Vec<usize> = (0..world).collect();
    own.shuffle(&mut order);
    let (sent, first) = (&*x, own.bool());
    communicator.group(stream, |group| {
        let mut sends = order.iter();
        if first {
            sends.by_ref().try_for_each(|peer| group.send(sent, *peer))?;
        }
        for (peer, to) in received.iter_mut().enumerate() {
            group.receive(to, peer)?;
        }
        sends.try_for_each(|peer| group.send(sent, *peer))
    })?;
    let mut sums = vec![0u64; 5];
    for (peer, from) in received.iter().enumerate() {
        for (sum, value) in sums.iter_mut().zip(stream.download(from)?) {
            *sum = sum.wrapping_mul(31).wrapping_add(value.wrapping_mul(peer as u64 + 1));
        }
    }
    Ok(stream.copy_from_host(&sums, x)?)
}

#[test]
fn results_do_not_depend_on_delays() {
    for seed in 0..20 {
        let ranks = 2 + seed as usize % 4;
        let run = |how| -> Vec<Vec<u64>> {
            let results = world(how, ranks, options(LONG), |one| program(&one, seed));
            results.into_iter().map(|result| result.expect("a program of collectives")).collect()
        };
        let first = run(How::Together);
        assert_eq!(run(How::Id), first, "seed {seed}");
        if seed % 5 == 0 {
            assert_eq!(run(How::Address), first, "seed {seed}");
        }
    }
}

#[test]
fn messages_of_two_ranks_keep_their_order() {
    for how in [How::Together, How::File] {
        for result in world(how, 3, options(LONG), |communicator| -> Result<()> {
            let stream = communicator.device().stream()?;
            let mut x = stream.tensor_zeros::<u32, _>([1])?;
            if communicator.rank() != 0 {
                for i in 0..100 {
                    let x = stream.tensor(&[communicator.rank() as u32 * 1000 + i], [1])?;
                    communicator.send(&stream, &x, 0)?;
                }
                return Ok(());
            }
            for i in 0..100 {
                for peer in [2, 1] {
                    communicator.receive(&stream, &mut x, peer)?;
                    assert_eq!(stream.download(&x)?, [peer as u32 * 1000 + i]);
                }
            }
            Ok(())
        }) {
            result.expect("messages");
        }
    }
}

#[test]
fn two_threads_share_a_rank() {
    for result in world(How::Id, 2, options(LONG), |communicator| {
        // One thread waits for a message while another one calls collectives, of which the last lets the peer send it.
        let work = |receives: bool| -> Result<()> {
            let stream = communicator.device().stream()?;
            let mut x = stream.tensor(&[1u8, 2], [2])?;
            if receives {
                return communicator.receive(&stream, &mut x, 1 - communicator.rank());
            }
            communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
            communicator.send(&stream, &x, 1 - communicator.rank())
        };
        crate::support::threads([true, false], work)
    }) {
        result.into_iter().for_each(|one| one.expect("a collective"));
    }
}
