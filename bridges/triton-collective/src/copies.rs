//! Copies between GPUs of one process by their copy engines: what ranks that are threads hand each other so that one device waits for the other.
//!
//! A rank opens memory, in which the others then copy. What passes between the threads are events of what is enqueued, by a [`Board`]: a thread waits until
//! another one has enqueued, and never for a device. So all is in order on the devices, and a stream waits for nothing but work that is enqueued.
//!
//! The copies are on streams of their own, one for each peer, apart from the [order](Stream::external) that the runtime gives to uses of an allocation: parts of one
//! array are written by kernels while others are copied.

use crate::error::{Error, Result};
use crate::exchange::Exchange;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use triton::{Device, Event, Operand, Region, Stream};

/// How long a thread looks for another one's event without a pause.
const BRISK: Duration = Duration::from_millis(2);

/// What the ranks of one process hand each other.
pub(crate) struct Board {
    /// From each rank to each, the row of the first one after the other.
    lanes: Vec<Mutex<Lane>>,
    world: usize,
}

/// From one rank to another, first in, first out.
#[derive(Default)]
struct Lane {
    opened: VecDeque<Opened>,
    copied: VecDeque<Copied>,
}

/// Memory that may be written behind an event.
struct Opened {
    free: Arc<Event>,
    region: Region,
}

/// Elements that have arrived at an event.
struct Copied {
    arrival: Arc<Event>,
    start: usize,
    len: usize,
}

impl Board {
    /// For ranks on these devices; `None` unless each may write the memory of all others.
    pub(crate) fn new(devices: &[Device]) -> Option<Arc<Board>> {
        let pairs = || devices.iter().flat_map(|one| devices.iter().map(move |other| (one, other)));
        let reach = pairs().all(|(one, other)| one.ordinal().is_some() && one.can_access_peer(other));
        if !reach || pairs().any(|(one, other)| one.enable_peer_access(other).is_err()) {
            return None;
        }
        let world = devices.len();
        Some(Arc::new(Board { lanes: (0..world * world).map(|_| Mutex::default()).collect(), world }))
    }

    fn lane(&self, from: usize, to: usize) -> MutexGuard<'_, Lane> {
        lock(&self.lanes[from * self.world + to])
    }
}

/// The copies of one rank.
pub(crate) struct Copies {
    board: Arc<Board>,
    rank: usize,
    exchange: Arc<dyn Exchange>,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The streams of copies to each rank, once there was one.
    streams: Vec<Option<Stream>>,
    /// What is open: the own memory, then that of each rank which has been taken.
    own: Option<Region>,
    theirs: Vec<Option<Region>>,
    /// What copies read, and the end of the last one to each rank.
    sources: Vec<Region>,
    ends: Vec<Option<Arc<Event>>>,
}

impl Copies {
    pub(crate) fn new(board: Arc<Board>, rank: usize, exchange: Arc<dyn Exchange>, timeout: Duration) -> Copies {
        Copies { board, rank, exchange, timeout, state: Mutex::default() }
    }

    fn world(&self) -> usize {
        self.board.world
    }

    fn peers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.world()).filter(|peer| *peer != self.rank)
    }

    /// Whether memory is open.
    pub(crate) fn is_open(&self) -> bool {
        lock(&self.state).own.is_some()
    }

    /// Lets the others copy into memory, behind what the stream has done with it.
    pub(crate) fn open(self: &Arc<Self>, stream: &Stream, memory: &Operand<'_>) -> Result<()> {
        let own = self.clone();
        let work = move |stream: &Stream, regions: &[Region]| {
            let Some(region) = regions.first() else { return Ok(()) };
            let free = Arc::new(stream.record_event()?);
            let mut state = lock(&own.state);
            state.own = Some(region.clone());
            state.theirs = vec![None; own.world()];
            state.ends = vec![None; own.world()];
            for peer in own.peers() {
                own.board.lane(own.rank, peer).opened.push_back(Opened { free: free.clone(), region: region.clone() });
            }
            Ok(())
        };
        Ok(stream.external(std::slice::from_ref(memory), work)?)
    }

    /// Copies what is on the stream to a peer, to the elements from `start` on of what that has opened. The stream goes on.
    pub(crate) fn send(self: &Arc<Self>, stream: &Stream, x: &Operand<'_>, peer: usize, start: usize) -> Result<()> {
        let own = self.clone();
        let work = move |stream: &Stream, regions: &[Region]| {
            let Some(region) = regions.first() else { return Ok(()) };
            let mut state = lock(&own.state);
            let beside = own.stream(&mut state, stream.device(), peer)?;
            let target = own.opened(&mut state, &beside, peer)?.narrow(start, region.len())?;
            beside.wait(&stream.record_event()?)?;
            region.copy_to_peer(&beside, &target)?;
            let arrival = Arc::new(beside.record_event()?);
            let copied = Copied { arrival: arrival.clone(), start, len: region.len() };
            own.board.lane(own.rank, peer).copied.push_back(copied);
            state.sources.push(region.clone());
            state.ends[peer] = Some(arrival);
            Ok(())
        };
        Ok(stream.external(std::slice::from_ref(x), work)?)
    }

    /// Makes the stream wait until the next copy of a peer has arrived, which is to be that of these elements.
    pub(crate) fn receive(self: &Arc<Self>, stream: &Stream, x: &Operand<'_>, peer: usize, start: usize) -> Result<()> {
        let own = self.clone();
        let work = move |stream: &Stream, regions: &[Region]| {
            let len = regions.first().map_or(0, Region::len);
            let copied = own.take(peer, "a copy", |lane| lane.copied.pop_front())?;
            if (copied.start, copied.len) != (start, len) {
                let of = |start, len| format!("a copy of {len} elements from {start} on");
                let (found, expected) = (of(copied.start, copied.len), of(start, len));
                return Err(Error::Mismatch { rank: peer, found, expected }.into());
            }
            stream.wait(&copied.arrival)
        };
        Ok(stream.external(std::slice::from_ref(x), work)?)
    }

    /// Makes the stream wait until all that was sent is there, and nothing is open any more. All that the peers sent was received.
    pub(crate) fn close(&self, stream: &Stream) -> Result<()> {
        let mut state = lock(&self.state);
        for end in state.ends.iter().flatten() {
            stream.wait(end)?;
        }
        // Of ranks that nothing was sent to.
        for peer in self.peers() {
            if state.theirs[peer].is_none() {
                self.take(peer, "memory to copy to", |lane| lane.opened.pop_front())?;
            }
        }
        let State { own, theirs, sources, ends, .. } = &mut *state;
        *own = None;
        theirs.clear();
        sources.clear();
        ends.clear();
        Ok(())
    }

    /// After a failure: memory that copies may still use, or that others may still copy to, stays allocated.
    pub(crate) fn abandon(&self) {
        let mut state = lock(&self.state);
        let all = std::mem::take(&mut *state);
        std::mem::forget((all.own, all.theirs, all.sources));
        state.streams = all.streams;
    }

    /// The stream of copies to a peer.
    fn stream(&self, state: &mut State, device: &Device, peer: usize) -> Result<Stream> {
        state.streams.resize_with(self.world(), || None);
        if let Some(stream) = &state.streams[peer] {
            return Ok(stream.clone());
        }
        let stream = device.high_priority_stream()?;
        state.streams[peer] = Some(stream.clone());
        Ok(stream)
    }

    /// What a peer has opened. The first time, the stream waits until it may be written.
    fn opened(&self, state: &mut State, stream: &Stream, peer: usize) -> Result<Region> {
        if let Some(region) = &state.theirs[peer] {
            return Ok(region.clone());
        }
        let Opened { free, region } = self.take(peer, "memory to copy to", |lane| lane.opened.pop_front())?;
        stream.wait(&free)?;
        state.theirs[peer] = Some(region.clone());
        Ok(region)
    }

    /// Waits until a peer's thread has enqueued something.
    fn take<T>(&self, peer: usize, what: &str, mut take: impl FnMut(&mut Lane) -> Option<T>) -> Result<T> {
        let start = Instant::now();
        loop {
            if let Some(taken) = take(&mut self.board.lane(peer, self.rank)) {
                return Ok(taken);
            }
            if let Some(rank) = self.exchange.gone() {
                return Err(Error::Gone { rank });
            }
            if start.elapsed() > self.timeout {
                let (operation, seconds) = (format!("{what} of rank {peer}"), self.timeout.as_secs_f64());
                return Err(Error::Timeout { operation, seconds, missing: vec![peer] });
            }
            if start.elapsed() < BRISK {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }
}

/// Locks without caring whether another thread panicked meanwhile: what is guarded is consistent between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
