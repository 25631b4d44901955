//! Captured collectives: a replay is a call.

use crate::support::{How, LONG, options, world};
use triton::{Device, Graph, Stream};
use triton_collective::{Communicator, Error, Reduce, Result};

/// The sum of all ranks' vectors, doubled by a collective of the same graph.
pub fn capture(communicator: &Communicator, stream: &Stream, x: &mut triton::Tensor<u32, 1>) -> Result<Graph> {
    let (rank, world) = (communicator.rank(), communicator.world());
    let mut from = stream.tensor_zeros::<u32, _>([3])?;
    Ok(stream.capture(|stream| {
        communicator.all_reduce(stream, &mut *x, Reduce::Sum)?;
        communicator.group(stream, |group| {
            group.send(&*x, (rank + 1) % world)?;
            group.receive(&mut from, (rank + world - 1) % world)
        })?;
        Ok(communicator.all_reduce_into(stream, &from, &mut *x, Reduce::Sum)?)
    })?)
}

/// Replays equal the same number of calls.
pub fn replays(communicator: &Communicator) -> Result<()> {
    let stream = communicator.device().stream()?;
    let start = [1, 2, communicator.rank() as u32];
    let mut x = stream.tensor(&start, [3])?;
    let graph = capture(communicator, &stream, &mut x)?;
    assert_eq!(stream.download(&x)?, start, "nothing has run");
    let world = communicator.world() as u32;
    let mut expected = [1, 2, world * (world - 1) / 2];
    for time in 0..3 {
        graph.launch(&stream)?;
        // After the first sum, all ranks have the same.
        let sums = if time == 0 { [world, world, 1] } else { [world; 3] };
        for (value, sum) in expected.iter_mut().zip(sums) {
            *value *= sum * world;
        }
        assert_eq!(stream.download(&x)?, expected, "replay {time}");
        // Calls between the replays are in the same order on all ranks.
        communicator.barrier(&stream)?;
    }
    Ok(())
}

#[test]
fn a_captured_collective_is_replayed() {
    for ranks in 1..=3 {
        for result in world(How::Together, ranks, options(LONG), |communicator| replays(&communicator)) {
            result.expect("replays");
        }
    }
}

#[test]
fn an_error_of_ours_comes_out_of_a_capture() {
    let communicator = Communicator::alone(&Device::cpu()).expect("a world of one");
    let stream = communicator.device().stream().expect("a stream");
    let mut x = stream.tensor(&[1u8], [1]).expect("a tensor");
    let error = stream.capture(|stream| Ok(communicator.broadcast(stream, &mut x, 1)?)).unwrap_err();
    assert!(matches!(Error::from(error), Error::Peer { found: 1, .. }));
    let error = stream.capture(|stream| Ok(communicator.synchronize(stream)?)).unwrap_err();
    assert!(matches!(error, triton::Error::Capture { .. }), "{error}");
}
