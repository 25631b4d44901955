//! A client of the language server protocol: just enough to ask a server on stdio about one file.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long one question may take. The first waits for the analysis of the whole crate.
const ANSWER: Duration = Duration::from_secs(120);
/// How long the server may take to end.
const END: Duration = Duration::from_secs(5);
/// How long a server that said it is ready must stay so: between two stages of loading it may say so too early.
const SETTLED: Duration = Duration::from_secs(1);
/// The error codes that mean "ask again": the content was modified, or the server cancelled.
const AGAIN: [i64; 2] = [-32801, -32802];

/// A running server. It ends when this is dropped.
pub(super) struct Server {
    child: Child,
    input: ChildStdin,
    inbox: Receiver<Value>,
    asked: i64,
    /// The last `experimental/serverStatus`.
    status: Value,
}

impl Server {
    /// Starts a server in a folder; what it prints as errors goes into a file.
    pub(super) fn start(program: &Path, dir: &Path, log: &Path) -> Result<Server, String> {
        let errors = File::create(log).map_err(|e| format!("{}: {e}", log.display()))?;
        let mut child = Command::new(program)
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the language server has no standard input and output".into());
        };
        let (sender, inbox) = channel();
        // The thread ends with the server's output.
        std::thread::spawn(move || read(BufReader::new(output), &sender));
        Ok(Server { child, input, inbox, asked: 0, status: Value::Null })
    }

    /// Sends a message that has no answer.
    pub(super) fn notify(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Asks, and asks again as long as the server says that the content was modified meanwhile.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.request_within(ANSWER, method, params)
    }

    fn request_within(&mut self, limit: Duration, method: &str, params: &Value) -> Result<Value, String> {
        let deadline = Instant::now() + limit;
        loop {
            self.asked += 1;
            let id = self.asked;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
            let answer = loop {
                let Some(message) = self.receive(deadline)? else {
                    return Err(format!("the language server did not answer {method} in {} s", limit.as_secs()));
                };
                if message["id"] == id {
                    break message;
                }
            };
            match answer["error"]["code"].as_i64() {
                None => return Ok(answer["result"].clone()),
                Some(code) if AGAIN.contains(&code) => std::thread::sleep(Duration::from_millis(100)),
                Some(_) => return Err(format!("the language server answered {method} with {}", answer["error"])),
            }
        }
    }

    /// Waits until the server has loaded the workspace, and expects that it is content with it.
    pub(super) fn wait_until_loaded(&mut self, limit: Duration) -> Result<(), String> {
        let deadline = Instant::now() + limit;
        loop {
            let ready = self.status["quiescent"] == true;
            let until = if ready { deadline.min(Instant::now() + SETTLED) } else { deadline };
            if self.receive(until)?.is_some() {
                continue;
            }
            return match (ready, self.status["health"].as_str()) {
                (true, Some("ok")) => Ok(()),
                (true, _) => Err(format!("the language server loaded it in part: {}", self.status["message"])),
                (false, _) => Err(format!("the language server was still loading after {} s", limit.as_secs())),
            };
        }
    }

    /// The next answer or notification, or nothing if the time is over. The server's own questions are answered here.
    fn receive(&mut self, deadline: Instant) -> Result<Option<Value>, String> {
        loop {
            let message = match self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err("the language server ended".into()),
            };
            if message["method"].is_null() {
                return Ok(Some(message));
            }
            if !message["id"].is_null() {
                // It registers capabilities and shows progress: there is nothing to say to that.
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }))?;
            } else if message["method"] == "experimental/serverStatus" {
                self.status = message["params"].clone();
                return Ok(Some(message));
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .map_err(|e| format!("the language server takes no messages: {e}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A polite end lets it stop its own children; whether it works does not matter, the kill makes sure.
        let _ = self.request_within(END, "shutdown", &Value::Null);
        let _ = self.notify("exit", &Value::Null);
        let deadline = Instant::now() + END;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads messages until the output ends or the receiver is gone.
fn read(mut output: impl BufRead, messages: &Sender<Value>) {
    while let Some(message) = message(&mut output) {
        if messages.send(message).is_err() {
            return;
        }
    }
}

fn message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().ok();
        }
    }
    let mut body = vec![0; length?];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The address of a file or folder.
pub(super) fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.display().to_string().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
