//! Ranks of several processes: rank 0 listens, and its process has the hub; the others connect to it.

mod connect;
mod file;
mod frame;
mod serve;

use super::{Exchange, left};
use crate::error::{Error, Result};
use crate::place::Place;
use connect::{Attempt, attempt};
pub(crate) use file::meet_by_file;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A meeting of ranks.
#[derive(Clone, Copy)]
struct Meet<'a> {
    place: Place,
    /// Where, for messages.
    address: &'a str,
    nonce: frame::Nonce,
    timeout: Duration,
    deadline: Instant,
}

impl Meet<'_> {
    /// These ranks did not come in time.
    fn timed_out(&self, missing: Vec<usize>, reason: &str) -> Error {
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        let operation = format!("the meeting at {}{reason}", self.address);
        Error::Timeout { operation, seconds: self.timeout.as_secs_f64(), missing }
    }

    fn failed(&self, reason: impl ToString) -> Error {
        Error::Meeting { address: self.address.to_string(), reason: reason.to_string() }
    }

    /// The rank does not fit.
    fn refused(&self, reason: String) -> Error {
        Error::World { rank: self.place.rank, world: self.place.world, reason }
    }
}

/// How long a rank waits before it tries again.
const PAUSE: Duration = Duration::from_millis(10);
/// How long rank 0 waits for a port that is in use.
const IN_USE: Duration = Duration::from_secs(2);

/// Meets at `host:port`, of rank 0.
pub(crate) fn meet_at(address: &str, place: Place, timeout: Duration, deadline: Instant) -> Result<Arc<dyn Exchange>> {
    let meet = Meet { place, address, nonce: 0, timeout, deadline };
    if !address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
        return Err(meet.failed("expected a host and a port, as in `node1:29500`"));
    }
    if place.rank == 0 {
        return serve::serve(bind(meet)?, meet);
    }
    let (mut missing, mut reason) = (vec![0], String::new());
    loop {
        match address.to_socket_addrs() {
            Err(error) => reason = error.to_string(),
            Ok(candidates) => {
                for candidate in candidates {
                    match attempt(candidate, meet, &mut missing)? {
                        Attempt::Joined(member) => return Ok(member),
                        Attempt::Again(why) => reason = why,
                        Attempt::Malformed(why) => return Err(meet.failed(format!("{why}; use a free port"))),
                    }
                }
            }
        }
        if left(deadline).is_zero() {
            return Err(meet.timed_out(missing, &reason));
        }
        sleep(PAUSE.min(left(deadline)));
    }
}

/// Listens at the address, or at its port on all interfaces where the address is a name that the host has elsewhere.
fn bind(meet: Meet<'_>) -> Result<TcpListener> {
    let start = Instant::now();
    loop {
        let candidates: Vec<SocketAddr> = meet.address.to_socket_addrs().map_err(|e| meet.failed(e))?.collect();
        let everywhere = candidates.first().map(|candidate| (Ipv4Addr::UNSPECIFIED, candidate.port()));
        let bound = TcpListener::bind(&candidates[..]).or_else(|error| match everywhere {
            Some(everywhere) if error.kind() == io::ErrorKind::AddrNotAvailable => TcpListener::bind(everywhere),
            _ => Err(error),
        });
        match bound {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                let waits = start.elapsed() < IN_USE && !left(meet.deadline).is_zero();
                if !waits || error.kind() != io::ErrorKind::AddrInUse {
                    return Err(
                        meet.failed(format!("rank 0 cannot listen there: {error}; use a free port of its host"))
                    );
                }
            }
        }
        sleep(PAUSE);
    }
}
