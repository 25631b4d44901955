//! Rank 0: it lets the others in, and has the hub.
//!
//! Each connection has a thread that reads and one that writes, so that no rank waits for another one's connection. What is malformed ends its
//! connection, and nothing else.

use super::Meet;
use super::frame::{Down, Greeting, Up, write_version};
use crate::error::Result;
use crate::exchange::hub::Hub;
use crate::exchange::mailbox::{Event, Mailbox, Sink};
use crate::exchange::member::{Link, Local, Member};
use crate::exchange::{Exchange, Failure, deadline, left};
use std::io::{self, BufReader, BufWriter};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// How long a connection has to say who it is.
const GREETING: Duration = Duration::from_secs(5);
/// How often rank 0 looks for new connections.
const LOOK: Duration = Duration::from_millis(3);
/// How long rank 0, when it leaves, waits until the others have what was delivered to them.
const FLUSH: Duration = Duration::from_secs(5);

/// Lets all other ranks in.
pub(super) fn serve(listener: TcpListener, meet: Meet<'_>) -> Result<Arc<dyn Exchange>> {
    let world = meet.place.world;
    listener.set_nonblocking(true).map_err(|error| meet.failed(error))?;
    let (greeted, greetings) = channel();
    let mut guests = Guests { came: (0..world).map(|_| None).collect(), refused: None };
    loop {
        // Errors of accepting are of one connection.
        while let Ok((stream, _)) = listener.accept() {
            let greeted = greeted.clone();
            let greet = move || {
                if let Ok(guest) = greet(stream) {
                    let _ = greeted.send(guest);
                }
            };
            spawn("greeting", greet).map_err(|error| meet.failed(error))?;
        }
        match greetings.recv_timeout(LOOK.min(left(meet.deadline))) {
            Ok((greeting, stream)) => guests.judge(greeting, stream, meet),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let mut missing = guests.missing();
        if missing.is_empty() {
            guests.forget_closed();
            missing = guests.missing();
            if missing.is_empty() {
                break;
            }
        }
        if left(meet.deadline).is_zero() {
            guests.tell(&Down::TimedOut(missing.clone()));
            return Err(meet.timed_out(missing, guests.refused.as_deref().unwrap_or_default()));
        }
    }
    // From here on nothing more is let in, and the port is free.
    drop(listener);
    open(guests, meet).map_err(|error| meet.failed(error))
}

fn spawn(what: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(format!("collective {what}")).spawn(work).map(drop)
}

/// Reads who a connection is.
fn greet(mut stream: TcpStream) -> io::Result<(Greeting, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(GREETING))?;
    let greeting = Greeting::read(&mut stream)?;
    write_version(&mut stream)?;
    Ok((greeting, stream))
}

/// Those who have come to the meeting.
struct Guests {
    came: Vec<Option<TcpStream>>,
    /// Why the last one was refused.
    refused: Option<String>,
}

impl Guests {
    fn missing(&self) -> Vec<usize> {
        (1..self.came.len()).filter(|rank| self.came[*rank].is_none()).collect()
    }

    /// A rank that has given up meanwhile may come again.
    fn forget_closed(&mut self) {
        for guest in &mut self.came {
            guest.take_if(|stream| !is_open(stream));
        }
    }

    /// Tells all. One that does not listen will be missed later.
    fn tell(&mut self, what: &Down) {
        for stream in self.came.iter_mut().flatten() {
            let _ = what.write(stream);
        }
    }

    /// Lets a connection in, or says why not.
    fn judge(&mut self, greeting: Greeting, mut stream: TcpStream, meet: Meet<'_>) {
        let Greeting { nonce, world, rank } = greeting;
        let expected = self.came.len();
        let mut refuse = |reason: String, is_final| {
            let _ = Down::Refused { reason, is_final }.write(&mut stream);
        };
        if nonce != meet.nonce {
            return refuse("another meeting is at the address".to_string(), false);
        }
        let reason = if world as usize != expected {
            format!("rank 0 says that its world has {expected}; give all ranks the same world size")
        } else if rank as usize >= expected {
            format!("ranks are numbered from 0 to {}", expected - 1)
        } else if rank == 0 || self.came[rank as usize].as_ref().is_some_and(is_open) {
            "another process has this rank; number them from 0, each once".to_string()
        } else {
            self.came[rank as usize] = Some(stream);
            let missing = self.missing();
            return self.tell(&Down::Missing(missing));
        };
        self.refused = Some(format!("rank {rank} of a world of {world} was refused"));
        refuse(reason, true);
    }
}

/// Whether the other side has not closed it.
fn is_open(stream: &TcpStream) -> bool {
    let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let _ = stream.set_nonblocking(false);
    match peeked {
        Ok(bytes) => bytes > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

/// What the thread that writes to a rank is told.
enum Task {
    Write(Down),
    /// Answers when all before it is written.
    Flush(SyncSender<()>),
    Close,
}

/// What is delivered to a rank of another process.
struct Queue(Sender<Task>);

impl Sink for Queue {
    fn deliver(&self, event: Event) {
        // A thread that has ended has closed the connection.
        let _ = self.0.send(Task::Write(Down::Event(event)));
    }
}

/// Makes the hub, with two threads for each of the others, and lets them begin.
fn open(guests: Guests, meet: Meet<'_>) -> io::Result<Arc<dyn Exchange>> {
    let mailbox = Arc::new(Mailbox::new(meet.place.world));
    let mut sinks: Vec<Arc<dyn Sink>> = vec![mailbox.clone()];
    let (mut queues, mut ends) = (Vec::new(), Vec::new());
    for (rank, stream) in guests.came.into_iter().enumerate().filter_map(|(rank, stream)| Some((rank, stream?))) {
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        let (queue, tasks) = channel();
        // Before what a rank that is faster sends to it.
        let _ = queue.send(Task::Write(Down::Welcome));
        sinks.push(Arc::new(Queue(queue.clone())));
        queues.push(queue.clone());
        ends.push((rank, stream, queue, tasks));
    }
    let hub = Arc::new(Hub::new(sinks));
    for (rank, stream, queue, tasks) in ends {
        let reader = stream.try_clone()?;
        spawn("writer", move || write(stream, tasks))?;
        let hub = hub.clone();
        spawn("reader", move || read(rank, reader, &hub, &queue))?;
    }
    Ok(Arc::new(Member::new(mailbox, Central { local: Local { hub, rank: 0 }, queues })))
}

/// Does what a rank asks for, until it leaves.
fn read(rank: usize, stream: TcpStream, hub: &Hub, queue: &Sender<Task>) {
    let mut stream = BufReader::new(stream);
    let in_order = loop {
        let done = match Up::read(&mut stream) {
            Ok(Up::Bring(bytes)) => hub.bring(rank, bytes.into()),
            Ok(Up::Send { to, bytes }) => hub.send(rank, to, bytes.into()),
            Ok(Up::Expire) => {
                hub.expire(rank);
                Ok(())
            }
            Ok(Up::Leave { in_order }) => break in_order,
            // The connection has ended, or speaks something else.
            Err(_) => break false,
        };
        if done.is_err() {
            break false;
        }
    };
    hub.leave(rank, in_order);
    let _ = queue.send(Task::Close);
}

/// Writes what is delivered to a rank, until it leaves.
fn write(stream: TcpStream, tasks: Receiver<Task>) {
    let mut to = BufWriter::new(&stream);
    for task in tasks {
        match task {
            Task::Write(down) => {
                // The thread that reads finds out that the connection has ended.
                let _ = down.write(&mut to);
            }
            Task::Flush(done) => {
                let _ = done.send(());
            }
            Task::Close => break,
        }
    }
    drop(to);
    let _ = stream.shutdown(Shutdown::Both);
}

/// The link of rank 0.
struct Central {
    local: Local,
    queues: Vec<Sender<Task>>,
}

impl Link for Central {
    fn bring(&self, bytes: Vec<u8>) -> Result<(), Failure> {
        self.local.bring(bytes)
    }

    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        self.local.send(to, bytes)
    }

    fn expire(&self) {
        self.local.expire();
    }

    /// The process may end next: what was delivered has to be on its way before.
    fn leave(&self, in_order: bool) {
        self.local.leave(in_order);
        let deadline = deadline(FLUSH);
        let flushes = self.queues.iter().filter_map(|queue| {
            let (done, flushed) = sync_channel(1);
            queue.send(Task::Flush(done)).ok().map(|()| flushed)
        });
        for flushed in flushes.collect::<Vec<_>>() {
            let _ = flushed.recv_timeout(left(deadline));
        }
    }
}
