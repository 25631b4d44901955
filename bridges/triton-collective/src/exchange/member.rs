//! One rank: its mailbox, and its link to the hub.

use super::hub::Hub;
use super::mailbox::{Mailbox, Parts};
use super::{Exchange, Failure, lock};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long after its time-out a rank waits for the hub to say which ranks did not come.
const VERDICT: Duration = Duration::from_secs(5);

/// How a rank reaches the hub.
pub(crate) trait Link: Send + Sync {
    /// Comes to the gather.
    fn bring(&self, bytes: Vec<u8>) -> Result<(), Failure>;
    /// Sends.
    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), Failure>;
    /// Says that its time-out is over.
    fn expire(&self);
    /// Says that it takes no more part.
    fn leave(&self, in_order: bool);
}

/// A rank of a world.
pub(crate) struct Member<L> {
    mailbox: Arc<Mailbox>,
    link: L,
    /// Held during a gather: threads that share a rank take turns.
    gather: Mutex<()>,
}

impl<L: Link> Member<L> {
    pub(crate) fn new(mailbox: Arc<Mailbox>, link: L) -> Member<L> {
        Member { mailbox, link, gather: Mutex::new(()) }
    }
}

impl<L: Link> Exchange for Member<L> {
    fn all_gather(&self, bytes: Vec<u8>, deadline: Instant) -> Result<Parts, Failure> {
        let _turn = lock(&self.gather);
        self.link.bring(bytes)?;
        self.mailbox.gathered(deadline).unwrap_or_else(|| {
            self.link.expire();
            // The hub is with rank 0.
            let silent = Failure::Timeout { missing: vec![0] };
            self.mailbox.gathered(deadline + VERDICT).unwrap_or(Err(silent))
        })
    }

    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        match self.mailbox.hindered_from(to) {
            Some(failure) => Err(failure),
            None => self.link.send(to, bytes),
        }
    }

    fn receive(&self, from: usize, deadline: Instant) -> Result<Arc<[u8]>, Failure> {
        let missing = || Err(Failure::Timeout { missing: vec![from] });
        self.mailbox.message(from, deadline).unwrap_or_else(missing)
    }

    fn gone(&self) -> Option<usize> {
        self.mailbox.failed()
    }

    fn leave(&self, in_order: bool) {
        self.link.leave(in_order);
    }
}

/// The link of a rank that is in the hub's process.
pub(crate) struct Local {
    pub(crate) hub: Arc<Hub>,
    pub(crate) rank: usize,
}

impl Link for Local {
    fn bring(&self, bytes: Vec<u8>) -> Result<(), Failure> {
        // One rank's gathers take turns. If one has failed, so has the world, and its failure is in the mailbox.
        let _ = self.hub.bring(self.rank, bytes.into());
        Ok(())
    }

    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        let refused = |_| Failure::Refused { reason: format!("there is no rank {to}") };
        self.hub.send(self.rank, to, bytes.into()).map_err(refused)
    }

    fn expire(&self) {
        self.hub.expire(self.rank);
    }

    fn leave(&self, in_order: bool) {
        self.hub.leave(self.rank, in_order);
    }
}
