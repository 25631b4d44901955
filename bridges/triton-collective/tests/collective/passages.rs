//! Parts of an array that ranks pass to each other beside other work.

use crate::gpus::gpus;
use crate::support::{How, LONG, options, world};
use std::time::{Duration, Instant};
use triton::Device;
use triton_collective::{Communicator, Error, Result, on_all};

/// Elements of a part.
const LEN: usize = 1000;

/// Each rank adds to what comes from the rank before, passes it on, and sends to all what has been everywhere: an all-reduce.
fn around(communicator: &Communicator) -> Result<()> {
    let (rank, world) = (communicator.rank(), communicator.world());
    let stream = communicator.device().stream()?;
    let ahead = |ranks: usize| (rank + ranks) % world;
    for round in 0..10 {
        let own = |rank: usize, part: usize| (round * 1000 + rank * 100 + part) as i64;
        let expected: Vec<i64> = (0..world).map(|part| (0..world).map(|rank| own(rank, part)).sum()).collect();
        let mut y = stream.tensor(&vec![-1; world * LEN], [world * LEN])?;
        let mut passage = communicator.passage(&stream, &mut y)?.expect("ranks have a passage");
        let (mut held, mut sums) = (Vec::new(), 0);
        for step in 0..world {
            let part = ahead(2 * world - 1 - step);
            let here = part * LEN..(part + 1) * LEN;
            if step > 0 {
                passage.receive(&stream, y.narrow_mut(0, here.clone())?, ahead(world - 1), here.start)?;
                sums = stream.download(&y)?[here.start];
            }
            let sum = stream.tensor(&vec![sums + own(rank, part); LEN], [LEN])?;
            let to = if step + 1 < world { vec![ahead(1)] } else { (1..world).map(ahead).collect() };
            for peer in to {
                passage.send(&stream, &sum, peer, here.start)?;
            }
            held.push((part, sum));
        }
        for part in (1..world).map(ahead) {
            passage.receive(&stream, y.narrow_mut(0, part * LEN..(part + 1) * LEN)?, part, part * LEN)?;
        }
        passage.finish(&stream)?;
        let (found, (_, last)) = (stream.download(&y)?, held.pop().expect("the own part"));
        for part in 0..world {
            let of = if part == rank { stream.download(&last)? } else { found[part * LEN..][..LEN].to_vec() };
            assert!(of.iter().all(|sum| *sum == expected[part]), "rank {rank}, part {part}: {} {expected:?}", of[0]);
        }
    }
    Ok(())
}

#[test]
fn what_is_passed_around_has_been_everywhere() {
    for how in [How::Together, How::Address] {
        for ranks in [2, 3, 5] {
            world(how, ranks, options(LONG), |communicator| around(&communicator))
                .into_iter()
                .for_each(|done| done.expect("it is passed"));
        }
    }
}

#[test]
fn what_is_passed_around_has_been_on_all_gpus() {
    let Some((gpus, _alone)) = gpus() else { return };
    on_all(&gpus, around).expect("it is passed");
}

/// What does not fit is found before anything is enqueued.
fn mistakes(communicator: &Communicator) -> Result<()> {
    let (stream, other) = (communicator.device().stream()?, 1 - communicator.rank());
    let (x, mut y) = (stream.tensor(&[1.0f32; 6], [2, 3])?, stream.tensor_zeros::<f32, _>([4])?);
    let ids = stream.tensor(&[1i32], [1])?;
    let mut passage = communicator.passage(&stream, &mut y)?.expect("ranks have a passage");
    for peer in [communicator.rank(), 2] {
        let error = passage.send(&stream, x.narrow(0, ..1)?, peer, 0).unwrap_err();
        assert!(matches!(error, Error::Peer { world: 2, .. }), "{error}");
    }
    let error = passage.send(&stream, x.narrow(0, ..1)?, other, 2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a passage: x has 3 elements, but 2 are expected: from element 2 of 4 on there are no more"
    );
    let error = passage.receive(&stream, &mut y, other, usize::MAX).unwrap_err();
    assert!(matches!(error, Error::Length { found: 4, expected: 0, .. }), "{error}");
    let error = passage.send(&stream, &ids, other, 0).unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    let error = passage.send(&stream, x.transpose(), other, 0).unwrap_err();
    assert!(matches!(error, Error::Runtime(triton::Error::Contiguous { .. })), "{error}");
    passage.finish(&stream)?;
    communicator.barrier(&stream)?;
    communicator.synchronize(&stream)
}

/// One rank ends before it sends; the other one need not wait until the time is out.
fn unfinished(communicator: &Communicator) -> Result<()> {
    let (stream, rank) = (communicator.device().stream()?, communicator.rank());
    let (x, mut y) = (stream.tensor(&[1u8], [1])?, stream.tensor_zeros::<u8, _>([2])?);
    let mut passage = communicator.passage(&stream, &mut y)?.expect("ranks have a passage");
    passage.send(&stream, &x, 1 - rank, rank)?;
    passage.receive(&stream, y.narrow_mut(0, 1 - rank..2 - rank)?, 1 - rank, 1 - rank)?;
    if rank == 1 {
        drop(passage);
        return communicator.barrier(&stream);
    }
    passage.receive(&stream, y.narrow_mut(0, 1..)?, 1, 1)
}

#[test]
fn mistakes_leave_a_passage_good() {
    on_all(&[Device::cpu(), Device::cpu()], mistakes).expect("the passage is still good");
    let Some((gpus, _alone)) = gpus() else { return };
    on_all(&gpus, mistakes).expect("the passage is still good");
}

#[test]
fn an_unfinished_passage_is_the_end_of_both() {
    let ends = |devices: &[Device]| {
        let begun = Instant::now();
        let all = Communicator::all_with(devices, options(LONG)).expect("a world");
        for result in crate::support::threads(all, |communicator| unfinished(&communicator)) {
            let error = result.expect_err("the world has ended");
            assert!(matches!(error, Error::Gone { .. } | Error::Aborted { .. }), "{error}");
        }
        assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
    };
    ends(&[Device::cpu(), Device::cpu()]);
    let Some((gpus, _alone)) = gpus() else { return };
    ends(&gpus);
}

/// Other ranks than threads of one call have no passage on GPUs, and a world of one has none.
#[test]
fn a_world_of_one_has_no_passage() -> Result<()> {
    let one = Communicator::alone(&Device::cpu())?;
    let stream = one.device().stream()?;
    assert!(!one.has_passage(&stream) && one.passage(&stream, &mut stream.tensor(&[1u8], [1])?)?.is_none());
    Ok(())
}

#[test]
fn a_rank_that_opens_nothing_is_a_timeout() {
    let Some((gpus, _alone)) = gpus() else { return };
    let all = Communicator::all_with(&gpus, options(Duration::from_secs(2))).expect("a world");
    let results = crate::support::threads(all, |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        if communicator.rank() == 1 {
            std::thread::sleep(Duration::from_secs(5));
            return Ok(());
        }
        let (x, mut y) = (stream.tensor(&[1u8], [1])?, stream.tensor_zeros::<u8, _>([2])?);
        let mut passage = communicator.passage(&stream, &mut y)?.expect("ranks have a passage");
        passage.send(&stream, &x, 1, 0)
    });
    assert!(matches!(&results[0], Err(Error::Timeout { missing, .. }) if missing[..] == [1]), "{results:?}");
}
