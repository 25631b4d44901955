//! Barriers of a block and of a cluster.

use super::order::View;
use super::schedule::Flow;
use super::warp::{Waiting, lanes};
use super::{Block, Cx, Stop, Warp};
use crate::code::{Bar, Bool, Op, Reg, Scope, Src};
use crate::faults::Fault;
use std::collections::BTreeMap;

/// One of the 16 barriers of a block.
#[derive(Debug)]
pub(crate) struct Barrier {
    /// Lanes that have arrived, by warp.
    arrived: BTreeMap<u32, u32>,
    /// How many threads must; known with the first.
    expected: Expected,
    /// Completions.
    pub generation: u64,
    /// The merged clocks of those that arrived.
    view: View,
    /// Predicates of a reduction: lanes that arrived, and those in which it holds.
    votes: (u32, u32),
    /// The last completions that are still waited for: generation, its merged clock, votes, waiting lanes.
    done: Vec<(u64, View, (u32, u32), u32)>,
    /// Lanes that wait for the running generation.
    waiting: u32,
    /// A thread of each arrival, and its clock; and those of the generation before.
    arrival_epochs: Vec<(u32, u32)>,
    before: Vec<(u32, u32)>,
}

/// Threads that a barrier expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// No thread has arrived yet.
    Unknown,
    /// All of the block.
    AllWarps,
    /// This many.
    Count(u32),
}

impl Barrier {
    /// A barrier at which no thread has arrived.
    pub(super) fn new(cluster: u32) -> Barrier {
        Barrier {
            arrived: BTreeMap::new(),
            expected: Expected::Unknown,
            generation: 0,
            view: View::new(cluster),
            votes: (0, 0),
            done: Vec::new(),
            waiting: 0,
            arrival_epochs: Vec::new(),
            before: Vec::new(),
        }
    }
}

impl Block {
    /// Lanes of each warp that have not ended. `held` is the warp that the machine holds.
    fn live_lanes<'a>(&'a self, held: Option<&'a Warp>) -> impl Iterator<Item = (u32, u32)> + 'a {
        let known = move |(w, warp): (usize, &'a Warp)| held.filter(|h| h.index as usize == w).unwrap_or(warp).live();
        (0u32..).zip(self.warps.iter().enumerate().map(known))
    }

    /// Threads that have arrived at a barrier, and those that it expects. A warp counts as a whole one, however many lanes it
    /// has, once all have arrived that have not ended.
    pub(super) fn arrivals(&self, id: usize, held: Option<&Warp>) -> (u32, u32) {
        let barrier = &self.barriers[id];
        let arrived = self.live_lanes(held).map(|(w, live)| {
            let lanes = barrier.arrived.get(&w);
            lanes.map_or(0, |lanes| if live & !lanes == 0 { 32 } else { lanes.count_ones() })
        });
        (arrived.sum(), self.expects(barrier.expected, held))
    }

    /// How many threads that is: without a count, those of the warps that have not ended.
    fn expects(&self, expected: Expected, held: Option<&Warp>) -> u32 {
        match expected {
            Expected::Count(count) => count,
            Expected::AllWarps | Expected::Unknown => {
                self.live_lanes(held).filter(|(_, live)| *live != 0).count() as u32 * 32
            }
        }
    }
}

impl Cx<'_, '_> {
    pub(super) fn bar(
        &mut self,
        kind: Bar,
        aligned: bool,
        id: Src,
        count: Option<Src>,
        reduce: Option<(Reg, Src)>,
    ) -> Result<Flow, Stop> {
        if aligned && let Some(wait) = self.aligned()? {
            return Ok(wait);
        }
        let id = self.uniform(id, "the barrier's number")?;
        let barrier = id as u32;
        if id > 15 {
            let problem = "a block has the barriers 0 to 15".to_string();
            return Err(self.fatal(Fault::Barrier { barrier, problem }));
        }
        let count = match count {
            Some(src) => Some(self.uniform(src, "the barrier's count of threads")? as u32),
            None => None,
        };
        if let Some(count) = count
            && (!count.is_multiple_of(32) || count == 0)
        {
            let problem = format!("the count must be a multiple of 32 and more than 0, but is {count}");
            return Err(self.fatal(Fault::Barrier { barrier, problem }));
        }
        let votes = match reduce {
            Some((_, src)) => (self.mask.count_ones(), self.truth(src)?.count_ones()),
            None => (0, 0),
        };
        let id = id as usize;
        let stamp = self.check_phase_order(id)?;
        let view = self.release(self.mask);
        let (warp, mask) = (self.warp.index, self.mask);
        let b = &mut self.cluster.blocks[self.b].barriers[id];
        // The count is of the threads that take part (PTX ISA, "bar"), so no thread stands for another one.
        let lanes = b.arrived.entry(warp).or_insert(0);
        if *lanes & mask != 0 {
            let problem = "the threads arrive a second time before all others have arrived".to_string();
            return Err(self.fatal(Fault::Barrier { barrier, problem }));
        }
        *lanes |= mask;
        let before = std::mem::replace(&mut b.expected, count.map_or(Expected::AllWarps, Expected::Count));
        b.view.join(&view);
        b.arrival_epochs.push(stamp);
        b.votes = (b.votes.0 + votes.0, b.votes.1 + votes.1);
        let generation = b.generation;
        let waits = kind != Bar::Arrive;
        b.waiting += if waits { mask.count_ones() } else { 0 };
        let (arrived, expected) = self.block().arrivals(id, Some(&self.warp));
        let earlier = self.block().expects(before, Some(&self.warp));
        if before != Expected::Unknown && earlier != expected {
            let problem =
                format!("this instruction expects {expected} threads, an earlier one of the same phase {earlier}");
            return Err(self.fatal(Fault::Barrier { barrier, problem }));
        }
        if arrived > expected {
            let problem = format!("{arrived} threads have arrived, of {expected}");
            return Err(self.fatal(Fault::Barrier { barrier, problem }));
        }
        self.complete(id);
        self.run.progress();
        Ok(if waits { Flow::Then(Waiting::Bar { id: id as u8, generation }) } else { Flow::Next })
    }

    /// Reports an arrival that nothing orders after all of the generation before: it may as well be part of that. Gives the
    /// arriving thread and its clock.
    fn check_phase_order(&mut self, id: usize) -> Result<(u32, u32), Stop> {
        let lane = self.mask.trailing_zeros() as usize % 32;
        let (thread, clock) = (self.thread(lane), self.clock(lane));
        let (agents, rank) = (&self.cluster.agents, self.b as u8);
        let unordered =
            |&&(agent, clock): &&(u32, u32)| agent != thread && !agents.happened_before(thread, rank, agent, clock);
        if let Some(&(other, _)) = self.block().barriers[id].before.iter().find(unordered) {
            let problem = format!(
                "nothing orders this arrival after that of warp {} in the previous phase: it may arrive in that phase, too; give \
                 each group of threads a barrier of its own, or make them wait for each other",
                other / 32 % self.run.warps.max(1)
            );
            self.report(lane, Fault::Barrier { barrier: id as u32, problem })?;
        }
        Ok((thread, clock))
    }

    /// Completes a barrier's generation if all are there.
    fn complete(&mut self, id: usize) {
        let cluster = self.cluster.index;
        let (arrived, expected) = self.block().arrivals(id, Some(&self.warp));
        if arrived == 0 || arrived < expected {
            return;
        }
        let b = &mut self.block_mut().barriers[id];
        let (done, before) = (std::mem::take(&mut b.done), std::mem::take(&mut b.arrival_epochs));
        let next = Barrier { generation: b.generation + 1, done, before, ..Barrier::new(cluster) };
        let old = std::mem::replace(b, next);
        if old.waiting != 0 {
            b.done.push((old.generation, old.view, old.votes, old.waiting));
        }
    }

    /// Resumes a fragment whose barrier is complete.
    pub(super) fn bar_done(&mut self, index: usize, id: u8, generation: u64) -> Result<(), Stop> {
        let lanes = self.warp.fragments[index].lanes;
        let b = &mut self.block_mut().barriers[usize::from(id)];
        let mut votes = (0, 0);
        if let Some(at) = b.done.iter().position(|d| d.0 == generation) {
            let done = &mut b.done[at];
            votes = done.2;
            done.3 = done.3.saturating_sub(lanes.count_ones());
            let view = done.1.clone();
            if done.3 == 0 {
                b.done.swap_remove(at);
            }
            self.acquire(lanes, &view);
        }
        let fragment = &mut self.warp.fragments[index];
        fragment.wait = None;
        let pc = fragment.pc;
        fragment.pc += 1;
        let op = self.run.kernel.instructions.get(pc as usize).map(|i| &i.op);
        if let Some(Op::Bar { kind, reduce: Some((dst, _)), .. }) = op {
            let answer = match kind {
                Bar::Popc => votes.1,
                Bar::Combine(Bool::And) => u32::from(votes.0 == votes.1),
                Bar::Combine(Bool::Or | Bool::Xor) => u32::from(votes.1 != 0),
                Bar::Sync | Bar::Arrive => 0,
            };
            (self.mask, self.pc) = (lanes, pc);
            self.write(*dst, &[u64::from(answer); 32])?;
        }
        Ok(())
    }

    pub(super) fn cluster_arrive(&mut self, aligned: bool, release: bool) -> Result<Flow, Stop> {
        if aligned && let Some(wait) = self.aligned()? {
            return Ok(wait);
        }
        let phase = self.cluster.phase;
        for lane in lanes(self.mask) {
            if self.warp.cluster_phase[lane].replace(phase).is_some() {
                let problem = "the thread arrives twice without waiting".to_string();
                return Err(self.fatal_in(lane, Fault::Barrier { barrier: 0, problem }));
            }
        }
        if release {
            let view = self.release(self.mask);
            self.cluster.arriving.join(&view);
        } else {
            for lane in lanes(self.mask) {
                let view = self.fenced_release(lane, Scope::Cluster.level());
                view.into_iter().for_each(|view| self.cluster.arriving.join(&view));
            }
        }
        for lane in lanes(self.mask) {
            let thread = self.thread(lane);
            let all = self.cluster.blocks.iter_mut().flat_map(|b| b.mbarriers.values_mut());
            all.filter(|m| m.fenced && m.initializer.is_of(thread))
                .for_each(|m| m.published = m.published.or(Some(phase)));
        }
        self.cluster.arrived += self.mask.count_ones();
        self.complete_cluster();
        self.run.progress();
        Ok(Flow::Next)
    }

    fn complete_cluster(&mut self) {
        let live = self.cluster.live();
        let cluster = &mut *self.cluster;
        // A thread that has arrived and ended still counts.
        if cluster.arrived != 0 && cluster.arrived >= live + cluster.left {
            cluster.arrived = 0;
            cluster.left = 0;
            cluster.phase += 1;
            cluster.complete = std::mem::replace(&mut cluster.arriving, View::new(cluster.index));
        }
    }

    pub(super) fn cluster_wait(&mut self, aligned: bool) -> Result<Flow, Stop> {
        if aligned && let Some(wait) = self.aligned()? {
            return Ok(wait);
        }
        let first = self.mask.trailing_zeros() as usize;
        let Some(phase) = self.warp.cluster_phase[first] else {
            let problem = "the thread waits without having arrived".to_string();
            return Err(self.fatal(Fault::Barrier { barrier: 0, problem }));
        };
        Ok(Flow::Then(Waiting::Cluster { phase }))
    }

    /// Resumes a fragment that waited for the cluster's barrier.
    pub(super) fn cluster_done(&mut self, index: usize) {
        let fragment = &mut self.warp.fragments[index];
        fragment.wait = None;
        fragment.pc += 1;
        let waited = fragment.lanes;
        for lane in lanes(waited) {
            self.warp.cluster_phase[lane] = None;
        }
        let view = self.cluster.complete.clone();
        self.acquire(waited, &view);
    }

    /// The effect of exited threads on barriers that wait for all.
    pub(super) fn threads_left(&mut self) {
        // Warps of which lanes have ended may be complete with those that are left.
        for id in 0..16 {
            self.complete(id);
        }
        self.complete_cluster();
    }
}
