//! A meeting by a file: rank 0 listens at a port that is free, and writes where into a file that all ranks can read.
//!
//! A file that an earlier meeting left does no harm: rank 0 replaces it, a number in it keeps ranks from what listens at its address now, and they
//! read it again until they are let in. Rank 0 removes it when all have come.

use super::connect::{Attempt, attempt};
use super::frame::Nonce;
use super::{Meet, PAUSE, serve};
use crate::error::Result;
use crate::exchange::{Exchange, left};
use crate::id::random;
use crate::place::Place;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The first line of a file.
const TITLE: &str = "triton-collective 1";

/// Meets by the file of this path.
pub(crate) fn meet_by_file(
    path: &Path,
    place: Place,
    timeout: Duration,
    deadline: Instant,
) -> Result<Arc<dyn Exchange>> {
    let name = path.display().to_string();
    let meet = Meet { place, address: &name, nonce: 0, timeout, deadline };
    if place.rank == 0 { found(path, meet) } else { join(path, meet) }
}

/// Rank 0's part.
fn found(path: &Path, meet: Meet<'_>) -> Result<Arc<dyn Exchange>> {
    let nonce = Nonce::from(random()) << 64 | Nonce::from(random());
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|e| meet.failed(e))?;
    let port = listener.local_addr().map_err(|e| meet.failed(e))?.port();
    let mut text = format!("{TITLE}\n{nonce:032x}\n");
    // From this host, and from others.
    for ip in [Some(IpAddr::from(Ipv4Addr::LOCALHOST)), outside()].into_iter().flatten() {
        text += &format!("{}\n", SocketAddr::new(ip, port));
    }
    let written =
        Written::write(path, text).map_err(|error| meet.failed(format!("rank 0 cannot write the file: {error}")))?;
    let member = serve::serve(listener, Meet { nonce, ..meet });
    drop(written);
    member
}

/// The address by which other hosts reach this one. Nothing is sent.
fn outside() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// A file that is removed when it has done its work, unless another one has its place.
struct Written {
    path: PathBuf,
    text: String,
}

impl Written {
    /// Readers see all of it, or what was there before.
    fn write(path: &Path, text: String) -> io::Result<Written> {
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{:016x}.tmp", random()));
        fs::write(&part, &text)?;
        if let Err(error) = fs::rename(&part, path) {
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        Ok(Written { path: path.to_owned(), text })
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // If it cannot be removed, the next meeting replaces it.
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The part of the others.
fn join(path: &Path, meet: Meet<'_>) -> Result<Arc<dyn Exchange>> {
    let (mut missing, mut reason) = (vec![0], String::new());
    loop {
        match fs::read_to_string(path) {
            Err(error) => reason = error.to_string(),
            Ok(text) => match parse(&text) {
                None => reason = "the file is not one that rank 0 writes".to_string(),
                Some((nonce, addresses)) => {
                    for address in addresses {
                        match attempt(address, Meet { nonce, ..meet }, &mut missing)? {
                            Attempt::Joined(member) => return Ok(member),
                            Attempt::Again(why) | Attempt::Malformed(why) => reason = why,
                        }
                    }
                }
            },
        }
        if left(meet.deadline).is_zero() {
            return Err(meet.timed_out(missing, &reason));
        }
        sleep(PAUSE.min(left(meet.deadline)));
    }
}

fn parse(text: &str) -> Option<(Nonce, Vec<SocketAddr>)> {
    let mut lines = text.lines();
    if lines.next()? != TITLE {
        return None;
    }
    let nonce = Nonce::from_str_radix(lines.next()?, 16).ok()?;
    Some((nonce, lines.map(|line| line.parse().ok()).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_are_written() {
        let text = format!("{TITLE}\n{:032x}\n127.0.0.1:4000\n[::1]:4000\n", 1u128 << 90);
        let (nonce, addresses) = parse(&text).expect("a file");
        assert_eq!((nonce, addresses.len()), (1 << 90, 2));
        for text in ["", "triton-collective 2\n1\n", &format!("{TITLE}\nx\n"), &format!("{TITLE}\n1\n127.0.0.1\n")] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
