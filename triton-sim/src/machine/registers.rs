//! `setmaxnreg`: the registers of a block, and the pool that its warpgroups give them to and take them from.
//!
//! A block is launched with the registers of all its threads, the same number for each; `.dec` gives some of a warp's to the
//! block's pool, `.inc` waits until the pool has what it asks for (PTX ISA, "setmaxnreg"). A warp that ends gives back all.
//! Nothing else fills the pool, so that an increase that waits when every other warp waits or has ended is a deadlock.
//!
//! How many a thread has at the launch is the assembler's choice. Where the bounds of the kernel leave it none, it is known:
//!
//! | bounds | registers of a thread |
//! |---|---|
//! | `.maxnreg N` | N, rounded up to a multiple of 8; at most what the next line gives |
//! | `.reqntid` or `.maxntid` of T threads, `.minnctapersm B` | 65536 / (T * B), rounded down to a multiple of 8; T in whole warpgroups |
//! | the same, and this is 256 or more | unknown: no thread can have more than 255 |
//! | neither | unknown |
//!
//! Where it is unknown the pool has no bound: `ptxas` ignores `setmaxnreg` there (C7508), or has chosen something below.

use super::schedule::Flow;
use super::warp::Waiting;
use super::{Block, Cx, Stop};
use crate::faults::Fault;

impl Block {
    /// Whether the pool has this number of registers for each thread of a warp.
    pub(super) fn has_registers(&self, more: u32) -> bool {
        self.free_registers.is_none_or(|free| free >= more)
    }

    /// Gives this number of registers of each thread of a warp to the pool.
    pub(super) fn give_registers(&mut self, count: u32) {
        self.free_registers = self.free_registers.map(|free| free + count);
    }
}

impl Cx<'_, '_> {
    pub(super) fn set_max_registers(&mut self, increase: bool, count: u32) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        self.same_in_warpgroup([u64::from(count), 0, 0])?;
        let Some(before) = self.warp.max_registers else {
            self.warp.max_registers = Some(count);
            return Ok(Flow::Next);
        };
        let wrong = if increase { count < before } else { count > before };
        if wrong {
            let word = if increase { "increases to" } else { "decreases to" };
            let problem = format!("`setmaxnreg` {word} {count} registers, but the warp has {before}");
            self.report(0, Fault::Operand { problem })?;
        }
        match count.checked_sub(before) {
            Some(more) if increase => Ok(Flow::Then(Waiting::Registers { count, more })),
            Some(_) | None => {
                self.warp.max_registers = Some(count);
                self.block_mut().give_registers(before.saturating_sub(count));
                self.run.progress();
                Ok(Flow::Next)
            }
        }
    }

    /// Resumes a warp for which the pool has registers.
    pub(super) fn take_registers(&mut self, index: usize, count: u32, more: u32) {
        let block = self.block_mut();
        block.free_registers = block.free_registers.map(|free| free.saturating_sub(more));
        self.warp.max_registers = Some(count);
        let fragment = &mut self.warp.fragments[index];
        fragment.wait = None;
        fragment.pc += 1;
    }
}
