//! Vector clocks: which access of a program happens before which.
//!
//! An *agent* is what executes operations in order; agents are warps, the products that warpgroups begin, the copies that warps
//! issue, those of a producer, and the messages of each block of a cluster. Each has a time of its own, and a vector clock: of every agent, the latest time that all lanes of this one
//! come after (Mattern, "Virtual Time and Global States of Distributed Systems", 1989). An access is remembered as its
//! *epoch*, time and agent (Flanagan and Freund, "FastTrack", PLDI 2009), and its
//! lane, since lanes of a warp are ordered by barriers, not by the program. It happens before what a thread does now if the same
//! thread made it, or if its time is in the clock of the thread's warp: one comparison.
//!
//! A barrier ends the times of the agents that meet there, and each learns what any of them knows. The entry of an agent in its
//! own clock is the last time that ended, so the same comparison orders the lanes of a warp. At a warp barrier an agent meets
//! itself.
//!
//! **Invariant:** the accesses of one time are in a clock all or not at all: whatever lets another agent know a time ends it.

use crate::layout::LANES;
use crate::ops::Scope;
use std::ops::Range;

/// Warps of a warpgroup.
const WARPGROUP: usize = crate::ir::rings::WARPGROUP as usize;

/// When a thread accesses memory. Two accesses of a thread without a barrier in between have the same epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch {
    /// The time of its agent; 0 is before the program.
    pub(super) time: u32,
    /// The warp; then products of warpgroups, copies of warps, those of a producer, and messages of blocks.
    pub(super) agent: u16,
    /// The lane of the warp.
    pub(super) lane: u8,
}

/// A thread, and what happened before what it does now.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    /// Of what it does now.
    pub(super) epoch: Epoch,
    /// By agent.
    known: &'a [u32],
}

impl Now<'_> {
    /// Before the program: what every thread follows.
    pub(super) const BEFORE: Now<'static> = Now { epoch: Epoch { time: 0, agent: 0, lane: 0 }, known: &[] };

    /// Whether an earlier access happens before what the thread does now.
    pub(super) fn follows(&self, before: Epoch) -> bool {
        let known = self.known.get(usize::from(before.agent)).copied().unwrap_or(0);
        before.time <= known || (before.agent, before.lane) == (self.epoch.agent, self.epoch.lane)
    }
}

/// The vector clocks of a program's agents.
pub(super) struct Clocks {
    /// By warp, then by the agent that is known: a warp, or the products of one.
    known: Vec<Vec<u32>>,
    /// The warps of the team that runs, of as many teams as there are: all warps, where there is one.
    team: Range<usize>,
}

impl Clocks {
    /// At the start of a program of teams of this many warps. The last one runs.
    pub(super) fn new(warps: u32, teams: u32) -> Clocks {
        let (warps, all) = (warps as usize, (warps * teams) as usize);
        Clocks { known: vec![vec![0; 2 * all]; all], team: all - warps..all }
    }

    /// The number of threads of a team.
    pub(super) fn threads(&self) -> u32 {
        (self.team.len() * LANES) as u32
    }

    /// The next team runs from here on.
    pub(super) fn next_team(&mut self) {
        let warps = self.team.len();
        let first = self.team.end % self.known.len().max(1);
        self.team = first..first + warps;
    }

    /// The first warp of the team that runs.
    pub(super) fn first_warp(&self) -> usize {
        self.team.start
    }

    /// When each warp of the team that runs does what it does now.
    pub(super) fn moments(&self) -> Vec<Epoch> {
        (0..self.threads()).step_by(LANES).map(|thread| self.now(thread).epoch).collect()
    }

    /// Whether every warp of the team that runs follows one of these.
    pub(super) fn follow_any(&self, moments: &[Epoch]) -> bool {
        let mut warps = (0..self.threads()).step_by(LANES);
        warps.all(|thread| moments.iter().any(|&before| self.now(thread).follows(before)))
    }

    /// What the warps of the team that runs tell another team, of all that they have done.
    pub(super) fn tell_team(&mut self) -> Vec<u32> {
        let mut told = Vec::new();
        for agent in self.team.clone() {
            let time = own_time(&self.known[agent], agent);
            self.known[agent][agent] = time;
            join(&mut told, &self.known[agent]);
        }
        told
    }

    /// The team that runs is told something.
    pub(super) fn told_team(&mut self, told: &[u32]) {
        self.known[self.team.clone()].iter_mut().for_each(|known| join(known, told));
    }

    /// What a thread knows now.
    pub(super) fn now(&self, thread: u32) -> Now<'_> {
        let (agent, lane) = (self.team.start + thread as usize / LANES, thread as usize % LANES);
        let known = self.known.get(agent).map_or(&[][..], Vec::as_slice);
        let time = own_time(known, agent);
        Now { epoch: Epoch { time, agent: agent as u16, lane: lane as u8 }, known }
    }

    /// A product of a thread's warpgroup, by its number, which counts from 0: it reads after what the thread does now. Nothing follows it until
    /// it is waited for.
    pub(super) fn multiplying(&self, thread: u32, number: u64) -> Now<'_> {
        let Now { epoch, known } = self.now(thread);
        let agent = (self.known.len() + usize::from(epoch.agent) / WARPGROUP) as u16;
        Now { epoch: Epoch { time: product_time(number), agent, lane: 0 }, known }
    }

    /// Every warp waits for its warpgroup's product of this number, all lanes of it: it is done for all warps then (PTX ISA,
    /// "wgmma.mma_async").
    pub(super) fn multiplied(&mut self, number: u64) {
        let warps = self.known.len();
        for warp in self.team.clone() {
            self.known[warp][warps + warp / WARPGROUP] = product_time(number);
        }
    }

    /// What a copy knows that a thread issues: what the thread does. Nothing follows it.
    pub(super) fn copying(&self, thread: u32, time: u32) -> Now<'_> {
        let Now { epoch, known } = self.now(thread);
        let agent = epoch.agent + 2 * self.known.len() as u16;
        Now { epoch: Epoch { time, agent, lane: epoch.lane }, known }
    }

    /// What a bulk copy knows that a producer issues: what that was told. Nothing follows it.
    pub(super) fn producing<'a>(&self, producer: &'a [u32], time: u32) -> Now<'a> {
        Now { epoch: Epoch { time, agent: 3 * self.known.len() as u16, lane: 0 }, known: producer }
    }

    /// A producer is told something.
    pub(super) fn tell(&self, producer: &mut Vec<u32>, told: &[u32]) {
        join(producer, told);
    }

    /// What a lane of each warp tells others, of what all lanes have done before its last barrier.
    pub(super) fn told(&self) -> Vec<u32> {
        let mut told = Vec::new();
        self.known[self.team.clone()].iter().for_each(|known| join(&mut told, known));
        told
    }

    /// What a message knows that another block sends: nothing of this one. Nothing follows it.
    pub(super) fn message(&self, rank: u32) -> Now<'static> {
        let agent = (3 * self.known.len() as u32 + 1 + rank) as u16;
        Now { epoch: Epoch { time: 1, agent, lane: 0 }, known: &[] }
    }

    /// Who made an access.
    pub(super) fn name(&self, epoch: Epoch) -> String {
        let (agent, warps, lane) = (usize::from(epoch.agent), self.known.len(), epoch.lane);
        match agent.checked_div(warps) {
            Some(0) => format!("lane {lane} of warp {agent}"),
            Some(1) => format!("a product of warpgroup {}", agent - warps),
            Some(2) => format!("a copy of lane {lane} of warp {}", agent - 2 * warps),
            Some(_) | None => match agent - 3 * warps {
                0 => "a copy of the producer".into(),
                message => format!("a message of block {}", message - 1),
            },
        }
    }

    /// All warps of the team that runs come to a barrier of this scope.
    pub(super) fn wait(&mut self, scope: Scope) {
        match scope {
            Scope::Warp => self.team.clone().for_each(|agent| self.meet(agent..agent + 1)),
            Scope::Block => self.meet(self.team.clone()),
        }
    }

    /// These agents wait for each other: what they did before happens before what any of them does from now on.
    fn meet(&mut self, agents: Range<usize>) {
        let Some(group) = self.known.get_mut(agents.clone()) else { return };
        let mut joined = vec![0; group.iter().map(Vec::len).max().unwrap_or(0)];
        for (agent, known) in agents.zip(group.iter()) {
            let ended = known.iter().copied().enumerate().chain([(agent, own_time(known, agent))]);
            ended.for_each(|(other, time)| joined[other] = time.max(joined[other]));
        }
        group.iter_mut().for_each(|known| known.clone_from(&joined));
    }
}

/// Adds what another clock knows.
fn join(clock: &mut Vec<u32>, other: &[u32]) {
    clock.resize(clock.len().max(other.len()), 0);
    clock.iter_mut().zip(other).for_each(|(time, &other)| *time = other.max(*time));
}

/// The time of a product. After four billion they are not told apart.
fn product_time(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1)
}

/// The time of an agent: the one after the last that ended. After four billion barriers it stays, and all is taken to be ordered.
fn own_time(known: &[u32], agent: usize) -> u32 {
    known.get(agent).copied().unwrap_or(0).saturating_add(1)
}
