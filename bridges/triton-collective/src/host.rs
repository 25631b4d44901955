//! Collectives of devices whose memory is the host's: the CPU and the simulator. Bytes are exchanged, and combined by plain loops in the order of the ranks,
//! so that every rank has the same bits.

use crate::backend::Backend;
use crate::call::{Call, Descriptor, Kind, agree};
use crate::error::{Error, Result};
use crate::exchange::{Exchange, deadline};
use crate::place::Place;
use crate::reduce::{Reduce, combine};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use triton::{Operand, Region, Stream};

/// Of one rank.
pub(crate) struct Host(Arc<Shared>);

/// What captured work has, too.
struct Shared {
    place: Place,
    timeout: Duration,
    exchange: Arc<dyn Exchange>,
    /// The number of the next collective.
    number: Mutex<u64>,
    failure: Mutex<Option<Error>>,
}

impl Host {
    pub(crate) fn new(place: Place, timeout: Duration, exchange: Arc<dyn Exchange>) -> Host {
        Host(Arc::new(Shared { place, timeout, exchange, number: Mutex::default(), failure: Mutex::default() }))
    }
}

impl Backend for Host {
    fn enqueue(&self, stream: &Stream, operands: &[Operand<'_>], calls: Vec<Call>) -> Result<()> {
        self.0.usable()?;
        let shared = self.0.clone();
        let work = move |stream: &Stream, regions: &[Region]| Ok(shared.run(stream, regions, &calls)?);
        Ok(stream.external(operands, work)?)
    }

    fn synchronize(&self, stream: &Stream) -> Result<()> {
        // The work was done in the calls.
        stream.synchronize()?;
        self.0.usable()
    }

    fn check(&self) -> Result<()> {
        match (lock(&self.0.failure).clone(), self.0.exchange.gone()) {
            (Some(first), _) => Err(first),
            (None, Some(rank)) => Err(Error::Gone { rank }),
            (None, None) => Ok(()),
        }
    }

    fn leave(&self, in_order: bool) {
        self.0.exchange.leave(in_order);
        // Graphs may have calls yet.
        lock(&self.0.failure).get_or_insert(Error::Gone { rank: self.0.place.rank });
    }
}

impl Shared {
    /// Refuses calls after a failure.
    fn usable(&self) -> Result<()> {
        let failure = lock(&self.failure);
        failure.as_ref().map_or(Ok(()), |first| Err(Error::Aborted { first: Box::new(first.clone()) }))
    }

    /// Does the calls of a group: what is sent first, as that waits for nothing, and what is received last.
    fn run(&self, stream: &Stream, regions: &[Region], calls: &[Call]) -> Result<()> {
        self.usable()?;
        let done = (0..3).try_for_each(|stage| {
            let of_stage = |call: &&Call| match call.kind {
                Kind::Send { .. } => stage == 0,
                Kind::AllReduce(_)
                | Kind::AllGather
                | Kind::ReduceScatter(_)
                | Kind::Broadcast { .. }
                | Kind::Barrier => stage == 1,
                Kind::Receive { .. } => stage == 2,
            };
            calls.iter().filter(of_stage).try_for_each(|call| self.call(stream, regions, call))
        });
        if let Err(error) = &done {
            lock(&self.failure).get_or_insert_with(|| error.clone());
        }
        done
    }

    fn call(&self, stream: &Stream, regions: &[Region], call: &Call) -> Result<()> {
        let output = call.output.and_then(|output| regions.get(output));
        let input = call.input.and_then(|input| regions.get(input));
        let write = |bytes: &[u8]| output.map_or(Ok(()), |output| Ok(output.write(stream, bytes)?));
        match call.kind {
            Kind::AllReduce(reduce) => write(&reduced(call, reduce, &elements(&self.gather(stream, call, input)?))?),
            Kind::AllGather => write(&elements(&self.gather(stream, call, input)?).concat()),
            Kind::ReduceScatter(reduce) => {
                let all = self.gather(stream, call, input)?;
                let own = |part: &[u8]| {
                    let len = part.len() / self.place.world;
                    self.place.rank * len..(self.place.rank + 1) * len
                };
                let parts: Vec<&[u8]> = elements(&all).into_iter().map(|part| &part[own(part)]).collect();
                write(&reduced(call, reduce, &parts)?)
            }
            Kind::Broadcast { root } => {
                // The others bring nothing but what they call.
                let input = input.filter(|_| root == self.place.rank);
                let all = self.gather(stream, call, input)?;
                elements(&all).get(root).map_or(Ok(()), |part| write(part))
            }
            Kind::Barrier => self.gather(stream, call, None).map(drop),
            Kind::Send { peer } => {
                let message = message(Descriptor::new(call, 0), stream, input)?;
                self.exchange.send(peer, message).map_err(|failure| failure.of("`send`", self.timeout))
            }
            Kind::Receive { peer } => {
                let received = self.exchange.receive(peer, deadline(self.timeout));
                let received =
                    received.map_err(|failure| failure.of(&format!("`receive` from rank {peer}"), self.timeout))?;
                let (sent, bytes) = Descriptor::split(&received).unzip();
                Descriptor::new(call, 0).check_sent(sent, peer)?;
                write(bytes.unwrap_or_default())
            }
        }
    }

    /// The messages of all ranks, which have called the same.
    fn gather(&self, stream: &Stream, call: &Call, input: Option<&Region>) -> Result<Vec<Arc<[u8]>>> {
        // Threads that share a rank take turns.
        let mut number = lock(&self.number);
        let ours = Descriptor::new(call, *number);
        let brought = self.exchange.all_gather(message(ours, stream, input)?, deadline(self.timeout));
        let all = brought.map_err(|failure| failure.of(&ours.to_string(), self.timeout))?;
        *number += 1;
        drop(number);
        let called = all.iter().map(|bytes| Descriptor::split(bytes).map(|(called, _)| called));
        agree(self.place.rank, &called.collect::<Vec<_>>(), ours)?;
        Ok(all)
    }
}

/// The elements of messages.
fn elements(messages: &[Arc<[u8]>]) -> Vec<&[u8]> {
    messages.iter().map(|bytes| bytes.get(Descriptor::LEN..).unwrap_or_default()).collect()
}

/// The elements of all ranks as one.
fn reduced(call: &Call, reduce: Reduce, parts: &[&[u8]]) -> Result<Vec<u8>> {
    combine(reduce, call.dtype, parts).ok_or(Error::Type { dtype: call.dtype, reduce })
}

/// What is called, and its input.
fn message(call: Descriptor, stream: &Stream, input: Option<&Region>) -> Result<Vec<u8>> {
    let mut bytes = call.to_bytes().to_vec();
    if let Some(input) = input {
        bytes.resize(Descriptor::LEN + input.bytes(), 0);
        input.read(stream, &mut bytes[Descriptor::LEN..])?;
    }
    Ok(bytes)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
