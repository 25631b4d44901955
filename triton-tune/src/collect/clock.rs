//! The clock of the multiprocessors, as `nvidia-smi` tells it every second. The driver's own library does not.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads the clock until it is dropped.
pub(super) struct Clock {
    mhz: Arc<AtomicU32>,
    child: Option<Child>,
}

impl Clock {
    /// Starts to read; where there is no such program the clock is unknown.
    pub fn start() -> Clock {
        let mhz = Arc::new(AtomicU32::new(0));
        let mut command = Command::new("nvidia-smi");
        command.args(["--query-gpu=clocks.sm", "--format=csv,noheader,nounits", "--id=0", "--loop=1"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok();
        if let Some(lines) = child.as_mut().and_then(|child| child.stdout.take()) {
            let mhz = mhz.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(lines).lines().map_while(Result::ok) {
                    mhz.store(line.trim().parse().unwrap_or(0), Ordering::Relaxed);
                }
            });
        }
        Clock { mhz, child }
    }

    /// MHz; 0 if it is unknown.
    pub fn mhz(&self) -> u32 {
        self.mhz.load(Ordering::Relaxed)
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
