//! The rules of clusters: what the text says of them, whatever the order in which blocks do it, which the interpreter knows.

use crate::ir::{Function, InstData, Value};
use crate::layout::access;
use crate::ops::Op;
use crate::ops::cluster::Exchange;

/// Blocks of a cluster meet in the kernel's own block, so that all of them do.
pub(super) fn check_function(func: &Function) -> Result<(), String> {
    if !func.cluster.is_power_of_two() || func.cluster > Exchange::MOST_BLOCKS {
        return Err(format!("{} is not a number of blocks of a cluster: 1, 2, 4, 8 or 16", func.cluster));
    }
    if !matches!(func.peers, 1 | 2) || func.peers > 1 && func.cluster > 1 {
        return Err(format!("{} is not a number of programs of a cluster: 1, or 2 of a block each", func.peers));
    }
    let meets = |op: &Op| {
        let exchanges = matches!(op, Op::ClusterGather { .. } | Op::ClusterScatter { .. } | Op::ClusterRank {});
        let messages = matches!(op, Op::ClusterSend { .. } | Op::ClusterReceive { .. });
        exchanges || messages || matches!(op, Op::ClusterArrive {} | Op::ClusterWait {})
    };
    let own: Vec<_> = func.blocks[func.body].insts.iter().collect();
    for inst in func.walk() {
        let data = &func.insts[inst];
        if !meets(&data.op) {
            continue;
        }
        let name = data.op.mnemonic();
        if func.cluster == 1 {
            return Err(format!("`{name}` where one block runs a program"));
        }
        if !own.contains(&&inst) && data.op != (Op::ClusterRank {}) {
            return Err(format!("`{name}` in a region, which other blocks may not run"));
        }
        if let Some((exchange, _)) = func.exchange(data)
            && exchange.blocks != func.cluster
        {
            return Err(format!("`{name}` of {} blocks in a cluster of {}", exchange.blocks, func.cluster));
        }
    }
    let mailboxes = func.mailboxes();
    for (number, &buffer) in mailboxes.iter().enumerate() {
        let count = |is: &dyn Fn(&Op) -> bool| func.walk().iter().filter(|&&inst| is(&func.insts[inst].op)).count();
        let received = count(&|op| *op == Op::ClusterReceive { buffer });
        let stored = count(
            &|op| matches!(*op, Op::SharedStore { buffer: b, .. } | Op::RingFill { buffer: b, .. } if b == buffer),
        );
        if mailboxes[..number].contains(&buffer) || received != 1 || stored > 0 {
            return Err(format!("{buffer} does not receive its messages once, and nothing else"));
        }
    }
    Ok(())
}

/// Threads can send a tile to the buffer.
pub(super) fn check_buffer(func: &Function, data: &InstData, buffer: Value) -> Result<(), String> {
    let mem = func.mem(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
    let Op::ClusterSend { value, axis, .. } = data.op else { return Ok(()) };
    let fits = func.exchange(data).zip(func.layout(value)).and_then(|((exchange, _), layout)| {
        let part = exchange.part_layout(layout, func.ty(value).shape, axis)?;
        access::vector(&part, &exchange.part_memory(mem)?)
    });
    if fits.is_none() || mem.bits() < 32 {
        return Err(format!("threads cannot send {value} to {buffer}"));
    }
    Ok(())
}
