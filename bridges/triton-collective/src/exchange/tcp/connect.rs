//! The other ranks: they connect to rank 0.

use super::Meet;
use super::frame::{Down, Greeting, MOST, Up, read_version};
use crate::error::Result;
use crate::exchange::mailbox::{Mailbox, Sink};
use crate::exchange::member::{Link, Member};
use crate::exchange::{Exchange, Failure, left, lock};
use std::io::{self, BufReader, BufWriter};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long an address has to answer.
const CONNECT: Duration = Duration::from_secs(2);
/// How long after its time-out a rank waits for rank 0 to say who is missing.
const VERDICT: Duration = Duration::from_secs(1);
/// How long a rank that leaves waits for the hub to close the connection. Without that its last words may be lost with the process.
const GOODBYE: Duration = Duration::from_secs(2);

/// What came of trying an address.
pub(super) enum Attempt {
    Joined(Arc<dyn Exchange>),
    /// It may succeed later, and why it did not.
    Again(String),
    /// Something else answers there.
    Malformed(String),
}

/// Connects, and waits until all ranks have come. `missing` is the ranks that have not, as far as rank 0 has said.
///
/// # Errors
/// The rank does not fit in, or the time-out.
pub(super) fn attempt(address: SocketAddr, meet: Meet<'_>, missing: &mut Vec<usize>) -> Result<Attempt> {
    let patience = CONNECT.min(left(meet.deadline)).max(Duration::from_millis(1));
    let stream = match TcpStream::connect_timeout(&address, patience) {
        Ok(stream) => stream,
        Err(error) => return Ok(Attempt::Again(error.to_string())),
    };
    // Where nothing listens at a port that the system gives to those who connect, one may connect to itself.
    if stream.local_addr().is_ok_and(|own| own == address) {
        return Ok(Attempt::Again("nothing listens there".to_string()));
    }
    let mut reader = BufReader::new(stream);
    match greet(&mut reader, meet, missing) {
        Ok(Down::Welcome) => match open(reader, meet.place.world) {
            Ok(member) => Ok(Attempt::Joined(member)),
            Err(error) => Err(meet.failed(error)),
        },
        Ok(Down::TimedOut(ranks)) => Err(meet.timed_out(ranks, "")),
        Ok(Down::Refused { reason, is_final: true }) => Err(meet.refused(reason)),
        Ok(Down::Refused { reason, is_final: false }) => Ok(Attempt::Again(reason)),
        Ok(Down::Missing(_) | Down::Event(_)) => Ok(Attempt::Malformed("it does not greet".to_string())),
        // The end of a time-out has one of two names.
        Err(error) if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind()) => {
            Err(meet.timed_out(missing.clone(), ""))
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(Attempt::Malformed(error.to_string())),
        Err(error) => Ok(Attempt::Again(error.to_string())),
    }
}

/// Says who this is, and waits for the answer.
fn greet(reader: &mut BufReader<TcpStream>, meet: Meet<'_>, missing: &mut Vec<usize>) -> io::Result<Down> {
    let stream = reader.get_mut();
    stream.set_nodelay(true)?;
    // Ranks are at most 2¹⁶.
    let (world, rank) = (meet.place.world as u32, meet.place.rank as u32);
    Greeting { nonce: meet.nonce, world, rank }.write(stream)?;
    let wait = |reader: &BufReader<TcpStream>| reader.get_ref().set_read_timeout(Some(left(meet.deadline) + VERDICT));
    wait(reader)?;
    read_version(reader)?;
    loop {
        wait(reader)?;
        match Down::read(reader, meet.place.world)? {
            Down::Missing(ranks) => *missing = ranks,
            answer @ (Down::Welcome | Down::TimedOut(_) | Down::Refused { .. } | Down::Event(_)) => return Ok(answer),
        }
    }
}

/// A rank whose connection stands.
fn open(mut reader: BufReader<TcpStream>, world: usize) -> io::Result<Arc<dyn Exchange>> {
    let stream = reader.get_ref().try_clone()?;
    stream.set_read_timeout(None)?;
    let mailbox = Arc::new(Mailbox::new(world));
    let (ends, ended) = channel();
    let to = mailbox.clone();
    let read = move || {
        while let Ok(Down::Event(event)) = Down::read(&mut reader, world) {
            to.deliver(event);
        }
        to.close();
        let _ = reader.get_ref().shutdown(Shutdown::Both);
        drop::<std::sync::mpsc::Sender<()>>(ends);
    };
    thread::Builder::new().name("collective reader".to_string()).spawn(read)?;
    let remote = Remote { stream: Mutex::new(Some(BufWriter::new(stream))), ended: Mutex::new(ended) };
    Ok(Arc::new(Member::new(mailbox, remote)))
}

/// The link of a rank in another process than the hub.
struct Remote {
    /// Until it leaves.
    stream: Mutex<Option<BufWriter<TcpStream>>>,
    /// Is disconnected when nothing more is read.
    ended: Mutex<Receiver<()>>,
}

impl Remote {
    fn write(&self, up: &Up) {
        let mut stream = lock(&self.stream);
        if let Some(to) = stream.as_mut()
            && up.write(to).is_err()
        {
            // The thread that reads sees it, after all that came before, and says it to those who wait.
            let _ = to.get_ref().shutdown(Shutdown::Both);
        }
    }
}

/// Refuses what a frame does not hold.
fn check(bytes: &[u8]) -> Result<(), Failure> {
    // A gather's frame has the bytes of all ranks, but what is refused here is far beyond what one process has.
    if bytes.len() as u64 <= MOST {
        return Ok(());
    }
    Err(Failure::Refused { reason: format!("{} bytes are sent at once, but {MOST} are the most", bytes.len()) })
}

impl Link for Remote {
    fn bring(&self, bytes: Vec<u8>) -> Result<(), Failure> {
        check(&bytes)?;
        self.write(&Up::Bring(bytes));
        Ok(())
    }

    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        check(&bytes)?;
        self.write(&Up::Send { to, bytes });
        Ok(())
    }

    fn expire(&self) {
        self.write(&Up::Expire);
    }

    fn leave(&self, in_order: bool) {
        self.write(&Up::Leave { in_order });
        let Some(stream) = lock(&self.stream).take() else { return };
        let _ = stream.get_ref().shutdown(Shutdown::Write);
        let _ = lock(&self.ended).recv_timeout(GOODBYE);
        let _ = stream.get_ref().shutdown(Shutdown::Both);
    }
}
