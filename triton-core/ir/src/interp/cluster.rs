//! Clusters: several blocks that run one program together, and exchange tiles; or peers, which share what they load.
//!
//! Each block is a machine of its own, with values and shared memory of its own. They run the program's instructions in turn, so that what
//! one waits for has been done: what is wrong in any order is found by the protocol, not by the order. A message is an agent of its own,
//! which follows nothing that its receiver did, and which nothing follows before it is received. So the bytes that it writes are those of
//! no other buffer before, and a thread that reads them early is unordered with it.

use super::clock::Now;
use super::copies::{Message, Source};
use super::positions::{By, Position, Tile};
use super::shadow::AccessKind;
use super::threads::check_agent;
use super::{Machine, ProgramFault, RunError};
use crate::ir::{InstData, Value};
use crate::ops::Op;
use crate::span::Span;

/// Runs the body of a function on all blocks of a cluster, of which each executes an instruction before any executes the next one.
pub(super) fn run(blocks: &mut [Machine<'_>]) -> Result<(), RunError> {
    let Some(&Machine { func, .. }) = blocks.first() else { return Ok(()) };
    if let [block] = blocks {
        return block.block(func.body).map(|_| ());
    }
    for (_, inst) in func.block(func.body) {
        let done = if let Op::ClusterGather { x, .. } | Op::ClusterScatter { x, .. } = inst.op {
            exchange(blocks, inst, x)
        } else if let Op::ClusterArrive {} = inst.op {
            blocks.iter_mut().try_for_each(Machine::arrive)
        } else if let Op::ClusterWait {} = inst.op {
            wait(blocks)
        } else if let Op::ClusterSend { buffer, value, .. } = inst.op {
            send(blocks, inst, buffer, value)
        } else if let Op::ClusterReceive { buffer } = inst.op {
            blocks.iter_mut().try_for_each(|block| block.receive(buffer))
        } else {
            blocks.iter_mut().try_for_each(|block| block.instruction(inst))?;
            Ok(())
        };
        done.map_err(|what| blocks[0].error(inst, &what))?;
    }
    agree(blocks)
}

/// Whether all blocks have filled the same items of the rings that they fill together.
fn agree(blocks: &[Machine<'_>]) -> Result<(), RunError> {
    let [first, others @ ..] = blocks else { return Ok(()) };
    for other in others {
        let (own, its) = (&first.threads.rings.together, &other.threads.rings.together);
        let fills = own.iter().map(Some).chain([None]).zip(its.iter().map(Some).chain([None]));
        if let Some((Some(fill), _) | (None, Some(fill))) = fills.into_iter().find(|(a, b)| a != b) {
            let what = format!("blocks of a cluster differ in how they fill item {} of {}", fill.item, fill.buffer);
            return Err(RunError::Fault(ProgramFault::new(first.func, Span::NONE, first.program.id, what)));
        }
    }
    Ok(())
}

/// What every block has for each of them, as values.
fn exchange(blocks: &mut [Machine<'_>], inst: &InstData, x: Value) -> Result<(), String> {
    let (func, result) = (blocks[0].func, inst.results[0]);
    let shape = func.ty(result).shape;
    let (exchange, _) = func.exchange(inst).ok_or("an exchange of other tiles")?;
    let given: Vec<Vec<u64>> = blocks.iter().map(|block| block.value(x).to_vec()).collect();
    for (to, block) in (0..).zip(blocks) {
        let mut all = vec![0; shape.elements() as usize];
        for (from, tile) in (0..).zip(&given) {
            for (element, &bits) in (0..).zip(tile) {
                let (part, receiver) = exchange.part(element);
                if receiver.is_none_or(|receiver| receiver == to) {
                    all[exchange.received(part, from) as usize] = bits;
                }
            }
        }
        block.bind(&[result], vec![all]);
    }
    Ok(())
}

fn wait(blocks: &mut [Machine<'_>]) -> Result<(), String> {
    if let Some(block) = blocks.iter().find(|block| !block.threads.mailbox.arrived) {
        return Err(format!("block {} waits for others, and has not arrived", block.rank));
    }
    blocks.iter_mut().for_each(|block| block.threads.mailbox.waited = true);
    Ok(())
}

/// Every block sends its tile to all of them.
fn send(blocks: &mut [Machine<'_>], inst: &InstData, buffer: Value, value: Value) -> Result<(), String> {
    let func = blocks[0].func;
    let (exchange, _) = func.exchange(inst).ok_or("messages of other tiles")?;
    let mem = func.mem(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
    let width = u64::from(mem.bits() / 8);
    for from in 0..blocks.len() {
        let sender = &mut blocks[from];
        if !sender.threads.mailbox.waited {
            return Err(format!("block {from} sends messages to others, which may not have begun"));
        }
        let by_one = Tile { shape: func.ty(value).shape, layout: func.layout_id(value), mem: None, by: By::One };
        let positions = sender.threads.positions.of(func, by_one);
        let tile = sender.value(value).to_vec();
        for (to, receiver) in (0..).zip(blocks.iter_mut()) {
            let start = receiver.value(buffer)[0];
            let write = |&Position { element, .. }: &Position| {
                let (part, receiver) = exchange.part(element);
                let first = start + u64::from(mem.offset(exchange.received(part, from as u32))) * width;
                receiver.is_none_or(|receiver| receiver == to).then_some((first..first + width, tile[element as usize]))
            };
            receiver
                .deliver(buffer, Message { from: from as u32, writes: positions.iter().filter_map(write).collect() })?;
        }
    }
    Ok(())
}

impl Machine<'_> {
    fn arrive(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.threads.mailbox.arrived, true) {
            return Err(format!("block {} has arrived already", self.rank));
        }
        Ok(())
    }

    /// A message may be written from now on.
    fn deliver(&mut self, buffer: Value, message: Message) -> Result<(), String> {
        let threads = &mut self.threads;
        let sent = threads.mailbox.sent.entry(buffer).or_default();
        if sent.iter().any(|other| other.from == message.from) || threads.mailbox.received.contains(&buffer) {
            return Err(format!("{buffer} is sent messages once more: its mbarrier has one phase"));
        }
        let now = threads.clocks.message(message.from);
        for (bytes, _) in &message.writes {
            let checked = check_agent(&threads.clocks, &mut threads.shared, &now, bytes.clone(), AccessKind::Write);
            checked.map_err(|why| format!("{buffer} in shared memory: {why}"))?;
        }
        for (bytes, _) in &message.writes {
            threads.shared.remember(bytes.clone(), &now, AccessKind::Write);
        }
        sent.push(message);
        Ok(())
    }

    /// Every thread has waited for the messages to a buffer.
    fn receive(&mut self, buffer: Value) -> Result<(), String> {
        let messages = self.threads.mailbox.sent.remove(&buffer).unwrap_or_default();
        if messages.len() as u32 != self.func.cluster {
            return Err(format!(
                "{buffer} waits for messages that {} blocks do not send",
                self.func.cluster - messages.len() as u32
            ));
        }
        self.threads.mailbox.received.insert(buffer);
        for (bytes, bits) in messages.into_iter().flat_map(|message| message.writes) {
            self.threads.shared.land(bytes.clone(), &Now::BEFORE);
            self.threads.write(bytes, bits, Source { buffer, item: 0 })?;
        }
        Ok(())
    }

    /// The buffer that has messages in flight at the end of a program, if there is one.
    pub(super) fn unreceived(&self) -> Option<Value> {
        self.threads.mailbox.sent.keys().min_by_key(|buffer| buffer.0).copied()
    }
}
