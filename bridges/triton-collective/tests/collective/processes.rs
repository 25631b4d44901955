//! Ranks that are processes, which a launcher starts and a signal may end.

#[path = "../../examples/launch.rs"]
mod launcher;

use crate::capture::replays;
use crate::gpus;
use crate::support::{LONG, free_port, options};
use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use triton::Device;
use triton_collective::{Communicator, Error, Place, Reduce, Result};

/// What a process of this test's own executable does.
const PART: &str = "TRITON_COLLECTIVE_PART";

/// In the processes that the tests below start: their part. Elsewhere nothing.
#[test]
fn part() {
    match std::env::var(PART).as_deref() {
        Ok("sum") => end(sum()),
        Ok("capture") => end(Communicator::from_environment(&Device::cpu(), options(LONG)).and_then(|c| replays(&c))),
        Ok("wait") => end(wait()),
        Ok("fail") => end(fail()),
        Ok("place") => end(Place::from_environment().map(drop)),
        Ok(name) => gpus::part(name).map(|part| end(part())).unwrap_or_default(),
        Err(_) => {}
    }
}

/// Ends as a program does: with its error.
fn end(result: Result<()>) {
    let code = match result {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            if matches!(error, Error::Gone { .. }) { 7 } else { 8 }
        }
    };
    std::process::exit(code);
}

fn all_reduce(communicator: &Communicator) -> Result<u32> {
    let stream = communicator.device().stream()?;
    let mut x = stream.tensor(&[communicator.rank() as u32 + 1], [1])?;
    communicator.all_reduce(&stream, &mut x, Reduce::Sum)?;
    Ok(stream.download(&x)?[0])
}

fn sum() -> Result<()> {
    let communicator = Communicator::from_environment(&Device::cpu(), options(LONG))?;
    println!("the sum is {}", all_reduce(&communicator)?);
    Ok(())
}

/// Rank 1 does not come to the second collective, and does not end.
fn wait() -> Result<()> {
    let communicator = Communicator::from_environment(&Device::cpu(), options(LONG))?;
    all_reduce(&communicator)?;
    println!("ready");
    let waits = std::env::var("TRITON_COLLECTIVE_WAITS").unwrap_or_default();
    if waits == communicator.rank().to_string() {
        std::thread::sleep(LONG * 2);
    }
    all_reduce(&communicator).map(drop)
}

/// Rank 1 ends with a code of its own.
fn fail() -> Result<()> {
    let communicator = Communicator::from_environment(&Device::cpu(), options(LONG))?;
    all_reduce(&communicator)?;
    if communicator.rank() == 1 {
        std::process::exit(42);
    }
    std::thread::sleep(LONG * 2);
    Ok(())
}

/// The arguments with which this executable does one part.
fn arguments() -> Vec<String> {
    let executable = std::env::current_exe().expect("this executable").display().to_string();
    [&executable, "processes::part", "--exact", "--nocapture", "--test-threads=1"].map(str::to_string).to_vec()
}

/// The ranks of a part, by the launcher: the rank that failed, its code, and all lines.
fn launch(part: &str, ranks: usize) -> (Option<(usize, Option<i32>)>, Vec<String>) {
    let lines = RefCell::new(Vec::new());
    let print = |line| lines.borrow_mut().push(line);
    let program = [vec!["env".to_string(), format!("{PART}={part}")], arguments()].concat();
    let failed = launcher::launch(ranks, &program, &print).expect("processes");
    (failed.map(|(rank, status)| (rank, status.code())), lines.into_inner())
}

#[test]
fn the_launcher_starts_ranks() {
    let (failed, lines) = launch("sum", 3);
    assert_eq!(failed, None, "{lines:#?}");
    for rank in 0..3 {
        let is_its = |line: &&String| line.starts_with(&format!("[{rank}] ")) && line.ends_with("the sum is 6");
        assert_eq!(lines.iter().filter(is_its).count(), 1, "{lines:#?}");
    }
}

#[test]
fn processes_replay_graphs() {
    let (failed, lines) = launch("capture", 2);
    assert_eq!(failed, None, "{lines:#?}");
}

#[test]
fn the_launcher_ends_as_the_first_rank_that_fails() {
    let start = Instant::now();
    let (failed, lines) = launch("fail", 3);
    assert_eq!(failed, Some((1, Some(42))), "{lines:#?}");
    assert!(start.elapsed() < LONG, "the others are killed");
}

/// A rank as a process, without the launcher.
pub fn start(part: &str, rank: usize, ranks: usize, port: u16, variables: &[(&str, String)]) -> Child {
    let arguments = arguments();
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]).env(PART, part).envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("RANK", rank.to_string()).env("LOCAL_RANK", rank.to_string()).env("WORLD_SIZE", ranks.to_string());
    command.env("MASTER_ADDR", "127.0.0.1").env("MASTER_PORT", port.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
}

#[test]
fn a_killed_process_is_gone_for_the_others() {
    // With rank 0 the process ends to which the others are connected.
    for killed in [1, 0] {
        let port = free_port();
        let mut children: Vec<Child> = (0..3)
            .map(|rank| start("wait", rank, 3, port, &[("TRITON_COLLECTIVE_WAITS", killed.to_string())]))
            .collect();
        let lines = BufReader::new(children[killed].stdout.take().expect("its output")).lines();
        assert!(lines.map_while(std::result::Result::ok).any(|line| line.contains("ready")), "rank {killed} runs");
        let start = Instant::now();
        children[killed].kill().expect("it is killed");
        for (rank, child) in children.into_iter().enumerate() {
            let output = child.wait_with_output().expect("it ends");
            let text = String::from_utf8_lossy(&output.stderr);
            if rank != killed {
                assert_eq!(output.status.code(), Some(7), "rank {rank}: {text}");
                assert!(text.contains(&format!("error: rank {killed} has ended")), "rank {rank}: {text}");
            }
        }
        assert!(start.elapsed() < LONG, "nothing waits for the time-out");
    }
}

#[test]
fn a_missing_variable_is_named() {
    let place = |variables: &[(&str, &str)]| {
        let arguments = arguments();
        let mut command = Command::new(&arguments[0]);
        command.args(&arguments[1..]).env(PART, "place");
        for name in ["RANK", "WORLD_SIZE", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().expect("a process");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(place(&[]).contains("error: RANK is not set: expected a whole number"), "{}", place(&[]));
    let text = place(&[("RANK", "0"), ("WORLD_SIZE", "two")]);
    assert!(text.contains("error: WORLD_SIZE is `two`: expected"), "{text}");
    let text = place(&[("SLURM_PROCID", "0")]);
    assert!(text.contains("error: SLURM_NTASKS is not set"), "{text}");
    assert_eq!(place(&[("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0")]), "");
}

#[test]
fn a_launcher_says_what_it_cannot_start() {
    let error = launcher::launch(2, &["/nowhere/at/all".to_string()], &drop).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}
