//! A process that serves requests: ours or the peers'.

use crate::protocol::{Reply, Request};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A side that runs. It has work only between a request and its reply, so that the other has the GPU to itself meanwhile.
pub struct Side {
    name: String,
    command: Command,
    child: Child,
    requests: ChildStdin,
    replies: Receiver<String>,
    /// Why it will never reply again.
    lost: Option<String>,
}

impl Side {
    /// Starts a program. Its standard error is ours.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(name: &str, mut command: Command) -> Result<Side, String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| format!("{name}: cannot start {command:?}: {e}"))?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{name}: the program has no standard input or output"));
        };
        let (sender, replies) = channel();
        // Reading has no time limit of its own, so that it is done elsewhere.
        std::thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .take_while(|line| sender.send(line.clone()).is_ok())
                .count()
        });
        Ok(Side { name: name.to_string(), command, child, requests, replies, lost: None })
    }

    /// Ends the program and starts it again.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn restart(&mut self) -> Result<(), String> {
        let mut command = Command::new(self.command.get_program());
        command.args(self.command.get_args());
        // Ended first: both would not fit on the device.
        self.end();
        *self = Side::start(&self.name, command)?;
        Ok(())
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks, and waits for the reply.
    ///
    /// # Errors
    /// If the side says that it failed, ends, or says nothing for too long.
    pub fn ask(&mut self, request: &Request, seconds: u64) -> Result<Reply, String> {
        if let Some(why) = &self.lost {
            return Err(why.clone());
        }
        let name = &self.name;
        let line = serde_json::to_string(request).map_err(|e| format!("{name}: {e}"))?;
        // A failure to write means that the side has ended, which reading tells, too.
        let _ = writeln!(self.requests, "{line}").and_then(|()| self.requests.flush());
        let why = match self.replies.recv_timeout(Duration::from_secs(seconds)) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(Reply::Failed(message)) => return Err(format!("{name}: {message}")),
                Ok(reply) => return Ok(reply),
                Err(error) => format!("{name}: not a reply ({error}): {line}"),
            },
            Err(RecvTimeoutError::Timeout) => format!("{name}: no reply within {seconds} s to {line}"),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                format!("{name}: the program ended ({status}); what it said is above")
            }
        };
        // A late reply would be taken for that to the next request.
        Err(self.lost.insert(why).clone())
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // One that hangs in a driver call would not notice that its input has ended.
        self.end();
    }
}
