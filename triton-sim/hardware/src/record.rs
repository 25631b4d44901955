//! Runs all programs on a GPU and keeps what they store.
//!
//! A failed launch or one that never ends takes the process with it. So another process runs the programs and tells this
//! one each output; when it fails or is silent for too long, a new one continues after the program that failed.

use crate::archive::{Archive, Record, Run};
use crate::device::{Failure, Gpu};
use crate::{Program, matrix, programs};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long one program may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How long all of them may.
const LIMIT: Duration = Duration::from_secs(150);

/// Runs everything and writes `dir/chip.bin`.
///
/// # Errors
/// There is no GPU, or the file cannot be written. A program that fails is recorded with its error.
pub fn record(dir: &Path) -> Result<(), String> {
    let programs = programs()?;
    let device = Gpu::open()?.name;
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    println!("{device}: {} programs", programs.len());
    let start = Instant::now();
    let mut runs: Vec<Run> = Vec::new();
    while runs.len() < programs.len() {
        if start.elapsed() > LIMIT {
            println!("{:?} are over: the rest is left out", LIMIT);
            runs.resize(programs.len(), Run::Failed("no time left".into()));
            break;
        }
        runs.extend(process(runs.len(), &programs, start)?);
    }
    let seconds = start.elapsed().as_secs_f64();
    let failed = runs.iter().filter(|r| matches!(r, Run::Failed(_))).count();
    let mut wrong = 0;
    for (program, run) in programs.iter().zip(&runs) {
        if let Run::Output(output) = run {
            for problem in matrix::verify::problems(program, output) {
                println!("{}: {problem}", program.name);
                wrong += 1;
            }
        }
    }
    let records = programs.iter().zip(runs);
    let records = records.map(|(program, run)| Record { name: program.name.clone(), hash: program.hash(), run });
    let archive = Archive { device, records: records.collect() };
    let file = archive.write().map_err(|e| e.to_string())?;
    let path = dir.join("chip.bin");
    std::fs::write(&path, &file).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{} programs in {seconds:.1} s, {failed} failed, {wrong} exact matrices wrong", programs.len());
    println!("{}: {} bytes", path.display(), file.len());
    Ok(())
}

/// What one process says until it ends, from a program on; at least one entry.
fn process(first: usize, programs: &[Program], start: Instant) -> Result<Vec<Run>, String> {
    let itself = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut child = Command::new(itself)
        .args(["run", &first.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start a process: {e}"))?;
    let mut output = child.stdout.take().ok_or("a process without output")?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        while let Some(run) = receive(&mut output) {
            if sender.send(run).is_err() {
                break;
            }
        }
    });
    let mut runs = Vec::new();
    while first + runs.len() < programs.len() {
        let run = next(&receiver);
        let ended = matches!(run, Err(_) | Ok(Run::Failed(_)));
        let run = run.unwrap_or_else(Run::Failed);
        let name = &programs[first + runs.len()].name;
        match &run {
            Run::Output(output) => println!("{:6.1} s {name}: {} bytes", start.elapsed().as_secs_f64(), output.len()),
            Run::Failed(error) => println!("{:6.1} s {name}: FAILED: {error}", start.elapsed().as_secs_f64()),
        }
        runs.push(run);
        if ended || start.elapsed() > LIMIT {
            break;
        }
    }
    // It may have ended already.
    let _ = child.kill();
    child.wait().map_err(|e| e.to_string())?;
    Ok(runs)
}

fn next(receiver: &Receiver<Run>) -> Result<Run, String> {
    receiver.recv_timeout(TIMEOUT).map_err(|error| match error {
        RecvTimeoutError::Timeout => format!("no end after {TIMEOUT:?}"),
        RecvTimeoutError::Disconnected => "the process ended".into(),
    })
}

/// One message: 1 for an output or 0 for an error, the length, the bytes.
fn receive(from: &mut impl Read) -> Option<Run> {
    let (mut kind, mut length) = ([0; 1], [0; 8]);
    from.read_exact(&mut kind).ok()?;
    from.read_exact(&mut length).ok()?;
    let mut data = vec![0; usize::try_from(u64::from_le_bytes(length)).ok()?];
    from.read_exact(&mut data).ok()?;
    Some(if kind == [1] { Run::Output(data) } else { Run::Failed(String::from_utf8_lossy(&data).into_owned()) })
}

fn send(kind: u8, data: &[u8]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let message = [&[kind], (data.len() as u64).to_le_bytes().as_slice(), data].concat();
    out.write_all(&message).and_then(|()| out.flush()).map_err(|e| e.to_string())
}

/// Runs programs from a number on, each twice over different bytes, and tells the outputs to the process that waits.
///
/// # Errors
/// The argument is not a number, there is no GPU, or the output is closed.
pub fn run(first: &str) -> Result<(), String> {
    let first: usize = first.parse().map_err(|_| format!("`{first}` is not a number"))?;
    let gpu = Gpu::open()?;
    for program in programs()?.iter().skip(first) {
        let both = gpu.run(program, 0).and_then(|output| Ok((gpu.run(program, 0xff)?, output)));
        match both {
            Ok((again, output)) => {
                let differ = |result: &&crate::ResultVector| {
                    (0..result.offsets.len()).any(|i| result.bits(&output, i) != result.bits(&again, i))
                };
                if let Some(result) = program.results.iter().find(differ) {
                    eprintln!("{}: two runs differ in {}", program.name, result.form);
                }
                send(1, &output)?;
            }
            Err(Failure::Text(error) | Failure::Launch(error)) => return send(0, error.as_bytes()),
        }
    }
    Ok(())
}
