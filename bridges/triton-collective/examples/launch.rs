//! Starts the ranks of a program on one host, as torchrun does:
//! `cargo run -p triton-collective --example launch -- -n 2 -- program arguments…`
//!
//! Each gets `RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `MASTER_ADDR` and `MASTER_PORT`. Lines of their output have the rank before them. When one fails, the
//! others are killed, and the launcher ends as it did.

use clap::Parser;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Starts the ranks of a program on one host.
#[derive(Parser)]
struct Arguments {
    /// How many ranks.
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..))]
    n: u16,
    /// The program, and its arguments.
    #[arg(last = true, required = true)]
    program: Vec<String>,
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> ExitCode {
    let Arguments { n, program } = Arguments::parse();
    match launch(n.into(), &program, &|line| println!("{line}")) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some((rank, status))) => {
            eprintln!("rank {rank} failed ({status}); the others were killed");
            // One that a signal ended has no code.
            ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
        }
        Err(error) => {
            eprintln!("{}: {error}", program[0]);
            ExitCode::from(127)
        }
    }
}

/// Starts the ranks, passes lines of their output on, and waits for them. Returns the first rank that failed, and how.
pub fn launch(ranks: usize, program: &[String], print: &dyn Fn(String)) -> std::io::Result<Ended> {
    // The port is free again when rank 0 takes it.
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let (lines, printed) = channel();
    let mut children = Ranks(Vec::new());
    for rank in 0..ranks {
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]);
        command.env("RANK", rank.to_string()).env("LOCAL_RANK", rank.to_string()).env("WORLD_SIZE", ranks.to_string());
        command.env("MASTER_ADDR", "127.0.0.1").env("MASTER_PORT", port.to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdout.take().into_iter().for_each(|output| pass_on(rank, output, lines.clone()));
        child.stderr.take().into_iter().for_each(|output| pass_on(rank, output, lines.clone()));
        children.0.push(child);
    }
    drop(lines);
    let ended = loop {
        match printed.recv_timeout(LOOK) {
            Ok(line) => print(line),
            Err(RecvTimeoutError::Timeout) => {}
            // All have closed their output, and are asked with a pause.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
        }
        if let Some(ended) = children.ended()? {
            break ended;
        }
    };
    children.kill();
    // What a rank has started may outlive it, and keep its output open.
    while let Ok(line) = printed.recv_timeout(Duration::from_millis(200)) {
        print(line);
    }
    Ok(ended)
}

/// How often the launcher looks whether a rank has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Passes lines of an output on, in a thread that ends with it.
fn pass_on(rank: usize, output: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let _ = to.send(format!("[{rank}] {}", String::from_utf8_lossy(&line)));
        }
    });
}

/// The processes. None outlives the launcher.
struct Ranks(Vec<Child>);

/// The first rank that failed, and how; `None` if none did.
type Ended = Option<(usize, ExitStatus)>;

impl Ranks {
    /// How it ended: when all have, or the first has failed.
    fn ended(&mut self) -> std::io::Result<Option<Ended>> {
        let mut running = false;
        for (rank, child) in self.0.iter_mut().enumerate() {
            match child.try_wait()? {
                Some(status) if !status.success() => return Ok(Some(Some((rank, status)))),
                Some(_) => {}
                None => running = true,
            }
        }
        Ok(if running { None } else { Some(None) })
    }

    fn kill(&mut self) {
        for child in &mut self.0 {
            // One that has ended is not killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.kill();
    }
}
