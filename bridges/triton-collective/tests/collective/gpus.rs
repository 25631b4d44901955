//! The same on GPUs by NCCL, where there are two of them; a line says SKIPPED where not.

use crate::capture::replays;
use crate::processes::start;
use crate::support::{LONG, free_port, options};
use crate::values::check_all;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use triton::Device;
use triton_collective::{Communicator, Error, Id, Options, Place, Reduce, Result, on_all};

/// Long enough for a GPU, short enough to wait for.
const SHORT: Duration = Duration::from_secs(5);

/// Two GPUs, which one test uses at a time.
pub fn gpus() -> Option<([Device; 2], MutexGuard<'static, ()>)> {
    match (Device::cuda(0), Device::cuda(1)) {
        (Ok(first), Ok(second)) => Some(([first, second], alone())),
        (Err(error), _) | (_, Err(error)) => {
            println!("SKIPPED: {error}");
            None
        }
    }
}

/// One GPU.
fn gpu() -> Option<Device> {
    let found = Device::cuda(0);
    found.map_err(|error| println!("SKIPPED: {error}")).ok()
}

/// How many GPUs the ranks of a test have: two processes may share one, which NCCL then takes for GPUs of two hosts.
fn shared() -> Option<(usize, MutexGuard<'static, ()>)> {
    let count = Device::all().len() - 1;
    if count == 0 {
        println!("SKIPPED: no GPU");
        return None;
    }
    Some((count.min(2), alone()))
}

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The variables of NCCL of a rank.
fn variables(gpus: usize, rank: usize) -> Vec<(&'static str, String)> {
    if gpus > 1 {
        Vec::new()
    } else {
        vec![("NCCL_HOSTID", format!("host{rank}")), ("NCCL_SOCKET_IFNAME", "lo".into())]
    }
}

/// Two ranks, each a process of a GPU, that do a part.
fn ranks(part: &str, gpus: usize) -> Vec<Child> {
    let port = free_port();
    (0..2).map(|rank| start(part, rank, 2, port, &variables(gpus, rank))).collect()
}

/// How they end: their codes and what they say.
fn ends(children: Vec<Child>) -> Vec<(Option<i32>, String)> {
    let output = |child: Child| child.wait_with_output().expect("it ends");
    let end = |child| {
        let output = output(child);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).trim().to_string())
    };
    children.into_iter().map(end).collect()
}

/// What a process of the tests does on its GPU.
pub fn part(name: &str) -> Option<fn() -> Result<()>> {
    match name {
        "gpu-values" => Some(values),
        "gpu-wait" => Some(wait),
        "gpu-late" => Some(late),
        "gpu-differs" => Some(differs),
        _ => None,
    }
}

fn communicator(options: Options) -> Result<Communicator> {
    let place = Place::from_environment()?;
    let gpus = Device::all().len() - 1;
    Communicator::from_environment(&Device::cuda(place.local_rank % gpus.max(1))?, options)
}

fn values() -> Result<()> {
    let communicator = communicator(options(LONG))?;
    check_all(&communicator, &[0, 7, 4097])?;
    replays(&communicator)
}

/// Calls until one fails.
fn wait() -> Result<()> {
    let communicator = communicator(options(SHORT * 2))?;
    let stream = communicator.device().stream()?;
    let mut x = stream.tensor_zeros::<f32, _>([1 << 20])?;
    loop {
        communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
        communicator.synchronize(&stream)?;
        println!("ready");
    }
}

/// Rank 1 comes to one call and not to the next.
fn late() -> Result<()> {
    let communicator = communicator(options(SHORT))?;
    let stream = communicator.device().stream()?;
    let mut x = stream.tensor_zeros::<f32, _>([1 << 20])?;
    communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
    communicator.synchronize(&stream)?;
    if communicator.rank() == 1 {
        std::thread::sleep(SHORT * 2);
        return Ok(());
    }
    communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
    // It does not know of the communicator, and ends when that is aborted.
    stream.synchronize()?;
    communicator.synchronize(&stream)
}

/// Ranks that compare what they call.
fn differs() -> Result<()> {
    let communicator = communicator(Options { checked: true, ..options(SHORT) })?;
    let stream = communicator.device().stream()?;
    let mut x = stream.tensor_zeros::<f32, _>([8])?;
    communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
    communicator.synchronize(&stream)?;
    let part = x.narrow_mut(0, ..4 + communicator.rank())?;
    let error = communicator.all_reduce(&stream, part, Reduce::Sum).unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    Ok(())
}

#[test]
fn one_gpu_is_a_world_of_nccl() {
    let Some(gpu) = gpu() else { return };
    let id = Id::of_gpus().expect("an id");
    let one = Communicator::new(&gpu, Place::new(0, 1), id, options(SHORT)).expect("a world of one");
    check_all(&one, &[0, 1, 7, 1023, 4097]).expect("collectives of one GPU");
    replays(&one).expect("replays");
}

#[test]
fn a_gpu_alone_needs_no_nccl() {
    let Some(gpu) = gpu() else { return };
    let one = Communicator::alone(&gpu).expect("a world of one");
    check_all(&one, &[0, 1, 7, 1023]).expect("copies of one GPU");
    replays(&one).expect("replays");
}

#[test]
fn one_gpu_is_not_two_ranks() {
    let Some(gpu) = gpu() else { return };
    let error = Communicator::all_with(&[gpu.clone(), gpu], options(SHORT)).unwrap_err();
    println!("{error}");
    assert!(matches!(error, Error::Nccl { .. }), "{error}");
}

#[test]
fn every_collective_is_a_plain_loop_on_gpus() {
    let Some((gpus, _alone)) = gpus() else { return };
    on_all(&gpus, |communicator| check_all(communicator, &[0, 1, 7, 1023, 4097])).expect("collectives of GPUs");
}

#[test]
fn graphs_replay_collectives_on_gpus() {
    let Some((gpus, _alone)) = gpus() else { return };
    on_all(&gpus, replays).expect("replays");
}

#[test]
fn processes_are_ranks() {
    let Some((gpus, _alone)) = shared() else { return };
    for (code, text) in ends(ranks("gpu-values", gpus)) {
        assert_eq!(code, Some(0), "{text}");
    }
}

#[test]
fn a_killed_process_is_gone_for_the_other_gpu() {
    let Some((gpus, _alone)) = shared() else { return };
    for killed in [1, 0] {
        let mut children = ranks("gpu-wait", gpus);
        let lines = BufReader::new(children[killed].stdout.take().expect("its output")).lines();
        assert!(lines.map_while(std::result::Result::ok).any(|line| line.contains("ready")), "rank {killed} runs");
        // What it goes on to write is not read.
        let mut other = children[1 - killed].stdout.take().expect("its output");
        let reader = std::thread::spawn(move || std::io::copy(&mut other, &mut std::io::sink()));
        let begun = Instant::now();
        children[killed].kill().expect("it is killed");
        let ended = ends(children);
        let (code, text) = &ended[1 - killed];
        println!("the other one ends after {:?}: {text}", begun.elapsed());
        assert_eq!(*code, Some(7), "{text}");
        assert!(begun.elapsed() < SHORT * 2, "it took {:?}", begun.elapsed());
        reader.join().expect("no panic").expect("its output is read");
    }
}

#[test]
fn a_rank_that_does_not_come_is_a_timeout() {
    let Some((gpus, _alone)) = shared() else { return };
    let begun = Instant::now();
    let ended = ends(ranks("gpu-late", gpus));
    println!("after {:?}: {ended:?}", begun.elapsed());
    assert_eq!((ended[0].0, ended[1].0), (Some(8), Some(0)), "{ended:?}");
}

#[test]
fn checked_ranks_compare_their_calls() {
    let Some((gpus, _alone)) = shared() else { return };
    for (code, text) in ends(ranks("gpu-differs", gpus)) {
        assert_eq!(code, Some(0), "{text}");
    }
}
