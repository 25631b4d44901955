//! `wgmma`: asynchronous products of a warpgroup.
//!
//! A product is one operation of four warps (PTX ISA, "wgmma.mma_async"): it is complete for each of them when it is for all. The
//! rows of each warp are computed by themselves, with that warp's clock: every warp must have waited for the operands.

use super::access::number;
use super::matrix::{Adder, gather, multiply};
use super::order::{Asynchronous, ClockSnapshot};
use super::schedule::Flow;
use super::warp::{Lanes, Waiting, lanes};
use super::{Cx, Stop};
use crate::code::{Op, Operand, SHARED_BASE, WgmmaOp};
use crate::faults::{AccessKind, Fault, Space};
use crate::hopper::{Chunk, Descriptor, Major};
use std::collections::VecDeque;

/// Unfinished products of a warp.
#[derive(Debug, Default)]
pub(crate) struct WgmmaQueue {
    /// Those of the group that is not committed.
    open: Vec<Job>,
    /// Committed groups, the oldest first.
    groups: VecDeque<Vec<Job>>,
    /// When the last `wgmma.fence` ran.
    fence: Option<u64>,
}

/// A warp's part of a product.
#[derive(Debug)]
struct Job {
    pc: u32,
    /// Which one it is of the warpgroup's, from 0.
    sequence: u64,
    /// Whether it is computed.
    done: bool,
    scale_d: bool,
    a: Option<u64>,
    b: u64,
    snapshot: ClockSnapshot,
}

/// Instructions that the warps of a warpgroup must run alike: `wgmma` and `setmaxnreg`.
#[derive(Debug, Default)]
pub(crate) struct Warpgroup {
    /// What was run, and with which operands; the first entry is number `base`.
    log: VecDeque<(u32, [u64; 3])>,
    base: u64,
    /// How many each warp has run.
    ran: [u64; 4],
    /// The agent of its products.
    agent: Option<u32>,
}

impl Warpgroup {
    /// Whether every warp has run this one.
    pub(super) fn all_ran(&self, sequence: u64) -> bool {
        self.ran.iter().all(|&ran| ran > sequence)
    }
}

impl WgmmaQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }
}

impl Cx<'_, '_> {
    pub(super) fn wgmma_fence(&mut self) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        self.warp.wgmma.fence = Some(self.warp.time);
        // All accesses to registers come before it (PTX ISA, "wgmma.fence"), so every load of the warp has been performed, and
        // what is written after it is not what they read. Writes are ordered along with them, which PTX does not say.
        self.synchronise(self.mask);
        Ok(Flow::Next)
    }

    pub(super) fn wgmma(&mut self, op: &WgmmaOp) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let scale_d = self.uniform(op.scale_d, "scale-d")? & 1 != 0;
        let b = self.uniform(op.b, "a matrix descriptor")?;
        let a = match op.a {
            Operand::Registers(_) => None,
            Operand::Descriptor(src) => Some(self.uniform(src, "a matrix descriptor")?),
        };
        let sequence = self.same_in_warpgroup([a.unwrap_or(0), b, u64::from(scale_d)])?;
        self.check_registers(op, scale_d)?;
        let snapshot = self.snapshot(0);
        // Products run in order: one that waits keeps the later ones.
        let late = self.warp.wgmma.groups.iter().flatten().chain(&self.warp.wgmma.open).any(|j| !j.done);
        let mut job = Job { pc: self.pc, sequence, done: false, scale_d, a, b, snapshot };
        if !late && self.run.rng.bool() {
            self.compute(&mut job, op)?;
        }
        self.warp.wgmma.open.push(job);
        for &d in &op.d {
            self.warp.locked[d as usize] += 1;
        }
        if let Operand::Registers(a) = &op.a {
            for &a in a {
                self.warp.locked[a as usize] += 1 << 16;
            }
        }
        let shape = op.form.shape;
        self.run.statistics.matrix_operations += 2 * u64::from(shape.m / 4 * shape.n * shape.k);
        Ok(Flow::Next)
    }

    /// Reports warpgroups of a block that ends of which some warps have run more than others.
    pub(super) fn whole_warpgroups(&mut self) -> Result<(), Stop> {
        let uneven = |g: &Warpgroup| g.log.front().map(|(pc, _)| *pc);
        let Some((index, pc)) = self.block().warpgroups.iter().enumerate().find_map(|(i, g)| Some((i, uneven(g)?)))
        else {
            return Ok(());
        };
        let problem = format!("not all warps of warpgroup {index} have run it");
        let (id, warp) = (self.block().id, index as u32 * 4);
        self.run.note(id, warp, 0, pc, Fault::Wgmma { problem })
    }

    /// Reports a warp that does not run what the others of its warpgroup do; counts what it runs.
    pub(super) fn same_in_warpgroup(&mut self, operands: [u64; 3]) -> Result<u64, Stop> {
        let (group, member) = (self.warp.index as usize / 4, self.warp.index as usize % 4);
        if self.block().warps.len() < group * 4 + 4 {
            let problem = format!("warp {} is not in a full warpgroup of four warps", self.warp.index);
            return Err(self.fatal(Fault::Wgmma { problem }));
        }
        let mine = (self.pc, operands);
        let groups = &mut self.block_mut().warpgroups;
        groups.resize_with(groups.len().max(group + 1), Warpgroup::default);
        let g = &mut groups[group];
        let sequence = g.ran[member];
        let at = (sequence - g.base) as usize;
        g.ran[member] += 1;
        let other = g.log.get(at).copied();
        if other.is_none() {
            g.log.push_back(mine);
        }
        while g.ran.iter().all(|&ran| ran > g.base) {
            g.log.pop_front();
            g.base += 1;
        }
        match other {
            Some(other) if other != mine => {
                let site = self.run.site(other.0);
                let problem = if other.0 == mine.0 {
                    format!("the warps of a warpgroup give different operands: {:x?} and {:x?}", operands, other.1)
                } else {
                    format!("another warp of the warpgroup runs {site}")
                };
                Err(self.fatal(Fault::Wgmma { problem }))
            }
            Some(_) | None => Ok(sequence),
        }
    }

    /// Reports registers that are used too early, or without a fence.
    fn check_registers(&mut self, op: &WgmmaOp, scale_d: bool) -> Result<(), Stop> {
        let Some(fence) = self.warp.wgmma.fence else {
            let problem = "no `wgmma.fence` comes before the first `wgmma.mma_async`".to_string();
            return Err(self.fatal(Fault::Wgmma { problem }));
        };
        let fragments = match &op.a {
            Operand::Registers(a) => &a[..],
            Operand::Descriptor(_) => &[],
        };
        for &register in fragments {
            self.check_read(register)?;
        }
        for &register in &op.d {
            let r = register as usize;
            if scale_d && self.warp.locked[r] & 0xffff == 0 {
                self.check_read(register)?;
            }
        }
        for &register in fragments.iter().chain(&op.d) {
            if self.warp.written[register as usize] > fence {
                let name = &self.run.kernel.registers[register as usize];
                let problem = format!("`{name}` was written after the last `wgmma.fence`");
                self.report(0, Fault::Wgmma { problem })?;
                break;
            }
        }
        Ok(())
    }

    pub(super) fn wgmma_commit(&mut self) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let queue = &mut self.warp.wgmma;
        let group = std::mem::take(&mut queue.open);
        queue.groups.push_back(group);
        Ok(Flow::Next)
    }

    pub(super) fn wgmma_wait(&mut self, most: u32) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let queue = &self.warp.wgmma;
        let count = queue.groups.len().saturating_sub(most as usize);
        let group = self.warp.index as usize / 4;
        if let Some(last) = queue.groups.iter().take(count).flatten().map(|job| job.sequence).max() {
            if !self.block().warpgroups[group].all_ran(last) {
                return Ok(Flow::Retry(Waiting::Warpgroup { group, sequence: last }));
            }
            self.complete_products(group, last)?;
        }
        for job in self.warp.wgmma.groups.drain(..count).flatten() {
            let kernel = self.run.kernel;
            let Some(Op::Wgmma(op)) = kernel.instructions.get(job.pc as usize).map(|i| &i.op) else { continue };
            for &d in &op.d {
                self.warp.locked[d as usize] -= 1;
            }
            if let Operand::Registers(a) = &op.a {
                for &a in a {
                    self.warp.locked[a as usize] -= 1 << 16;
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Does all parts of a warpgroup's products up to one that all its warps have run; this warp learns that.
    fn complete_products(&mut self, group: usize, last: u64) -> Result<(), Stop> {
        let kernel = self.run.kernel;
        let me = self.warp.index as usize;
        for w in group * 4..group * 4 + 4 {
            // The machine works on the warp that it holds.
            let mut other = std::mem::take(&mut self.block_mut().warps[w]);
            if w != me {
                std::mem::swap(&mut self.warp, &mut other);
            }
            let mut queue = std::mem::take(&mut self.warp.wgmma);
            let mut result = Ok(());
            for job in
                queue.groups.iter_mut().flatten().chain(&mut queue.open).filter(|j| j.sequence <= last && !j.done)
            {
                if let Some(Op::Wgmma(op)) = kernel.instructions.get(job.pc as usize).map(|i| &i.op) {
                    result = result.and_then(|()| self.compute(job, op));
                }
            }
            self.warp.wgmma = queue;
            if w != me {
                std::mem::swap(&mut self.warp, &mut other);
            }
            self.block_mut().warps[w] = other;
            result?;
        }
        if let Some(agent) = self.block().warpgroups[group].agent {
            for lane in lanes(self.mask) {
                self.join_epoch(lane, (agent, last as u32 + 1));
            }
        }
        Ok(())
    }

    /// Does a product.
    fn compute(&mut self, job: &mut Job, op: &WgmmaOp) -> Result<(), Stop> {
        job.done = true;
        let cluster = &mut *self.cluster;
        let warpgroup = &mut cluster.blocks[self.b].warpgroups[self.warp.index as usize / 4];
        let agent = *warpgroup.agent.get_or_insert_with(|| cluster.agents.new_agent());
        let stamp = (agent, job.sequence as u32 + 1);
        let shape = op.form.shape;
        let first = self.warp.index % 4 * 32;
        let at = std::mem::replace(&mut self.pc, job.pc);
        let a = match (&op.a, job.a) {
            (Operand::Registers(registers), _) => {
                let values: Vec<Lanes> = registers.iter().map(|&r| self.warp.registers[r as usize]).collect();
                let mut a = gather(op.form.a_fragment(), op.form.a, &values, first, shape.k, false);
                if op.negate[0] {
                    a.iter_mut().for_each(|v| *v = -*v);
                }
                a
            }
            (Operand::Descriptor(_), bits) => {
                let rows = self.warp.index % 4 * 16;
                self.operand(job, stamp, bits.unwrap_or(0), op, 0, rows..rows + 16)?
            }
        };
        let b = self.operand(job, stamp, job.b, op, 1, 0..shape.n)?;
        self.pc = at;
        let mut d: Vec<Lanes> = op.d.iter().map(|&r| self.warp.registers[r as usize]).collect();
        if !job.scale_d {
            d.fill([0; 32]);
        }
        let adder = Adder::new(90, op.form.a, op.form.d, op.form.satfinite, true);
        multiply(op.form.accumulator(), adder, shape.k, (&a, &b), &mut d, first);
        for (&register, value) in op.d.iter().zip(d) {
            self.warp.registers[register as usize] = value;
            self.warp.defined[register as usize] = u32::MAX;
        }
        Ok(())
    }

    /// Lines of an operand in shared memory.
    fn operand(
        &mut self,
        job: &Job,
        stamp: (u32, u32),
        bits: u64,
        op: &WgmmaOp,
        endpoint: usize,
        lines: std::ops::Range<u32>,
    ) -> Result<Vec<f64>, Stop> {
        let element = if endpoint == 0 { op.form.a } else { op.form.b };
        let major = if op.transposed[endpoint] { Major::Mn } else { Major::K };
        let k = op.form.shape.k;
        let descriptor = match Descriptor::decode(bits) {
            Ok(descriptor) => descriptor,
            Err(problem) => return Err(self.fatal(Fault::Descriptor { bits, problem: problem.to_string() })),
        };
        let extent = if endpoint == 0 { op.form.shape.m } else { op.form.shape.n };
        let width = if op.transposed[endpoint] { 16 / element.bytes() } else { 1 };
        let inside = |c: &Chunk| c.mn < lines.end && c.mn + width > lines.start;
        let chunks: Vec<Chunk> = descriptor.chunks(major, element, extent).filter(inside).collect();
        let end = self.block().shared.len() as u32;
        let mut out = vec![0.0; (lines.len() as u32 * k) as usize];
        let by = Asynchronous { stamp, proxy: true };
        let outside = |c: &&Chunk| c.address < SHARED_BASE || c.address + 16 > end;
        if let Some(chunk) = chunks.iter().find(outside) {
            let near = format!("shared memory is {SHARED_BASE:#x} to {end:#x}; the descriptor is {bits:#018x}");
            let (address, access) = (u64::from(chunk.address), AccessKind::Read);
            return Err(self.fatal(Fault::OutOfBounds { space: Space::Shared, address, bytes: 16, access, near }));
        }
        let mut runs: Vec<u32> = chunks.iter().map(|c| c.address).collect();
        runs.sort_unstable();
        runs.dedup();
        for run in runs.chunk_by(|a, b| a + 16 == *b) {
            self.check_async_read(&job.snapshot, run[0], 16 * run.len() as u32, by)?;
        }
        let bytes = element.bytes() as usize;
        let sign = if op.negate[endpoint] { -1.0 } else { 1.0 };
        let shared = &self.cluster.blocks[self.b].shared;
        for chunk in &chunks {
            let data = &shared[chunk.address as usize..][..16];
            for (i, part) in data.chunks_exact(bytes).enumerate() {
                let i = i as u32;
                let (line, at) = match major {
                    Major::K => (chunk.mn, chunk.k + i),
                    Major::Mn => (chunk.mn + i, chunk.k),
                };
                if let Some(line) = line.checked_sub(lines.start).filter(|&l| l < lines.len() as u32) {
                    out[(line * k + at) as usize] = sign * element.value(number(part));
                }
            }
        }
        Ok(out)
    }
}
