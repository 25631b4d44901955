//! The vector clocks of the threads of one cluster, and how they are merged ("a thread knows an epoch": it happened
//! before).

use super::thread::{Copies, Thread};
use super::{Accessor, Fence, Performer, Scope, Space, View, lanes_of};
use std::rc::Rc;

/// The most groups of 32 agents that a record can name.
const MAX_GROUPS: u32 = 1 << 16;

/// A snapshot of a thread's vector clock: where asynchronous work starts from, what a fence publishes. A clone is
/// cheap.
#[derive(Clone, Debug)]
pub struct ClockSnapshot {
    cluster: u32,
    block: u8,
    agent: u32,
    clock: u32,
    thread: Thread,
}

impl ClockSnapshot {
    /// Everything up to this point, for others to acquire.
    pub fn view(&self) -> View {
        let mut view = self.thread.view.clone();
        self.thread.publish(&mut view, self.cluster, self.agent, self.clock);
        view
    }

    /// An agent that acts from this point on, whatever its thread does meanwhile.
    pub fn accessor(&self, performer: Performer) -> Accessor<'_> {
        Accessor {
            cluster: self.cluster,
            block: self.block,
            warp: self.agent / 32,
            lanes: 1 << (self.agent % 32),
            clock: self.clock,
            threads: std::slice::from_ref(&self.thread),
            performer,
        }
    }
}

/// What fences of a thread do for relaxed accesses, at each level of [`Scope::levels`].
#[derive(Debug, Default)]
struct Fences {
    /// Where the last fence stood: relaxed stores publish it.
    released: [Option<Rc<ClockSnapshot>>; 3],
    /// Where the last one stood that is for shared memory alone, if it came after that of the cluster.
    restricted: Option<Rc<ClockSnapshot>>,
    /// What relaxed loads saw: the next fence acquires it.
    pending: [Option<View>; 3],
}

/// The threads of a cluster, and their vector clocks. Threads are agents `32 * warp + lane`; warps are numbered through
/// all blocks.
#[derive(Debug)]
pub struct Causality {
    cluster: u32,
    warps_per_block: u32,
    /// Of each warp.
    clocks: Vec<u32>,
    /// 32 for each warp.
    threads: Vec<Thread>,
    fences: Vec<Fences>,
    next_agent: u32,
}

impl Causality {
    /// A cluster of this many blocks; its number is its own among all of the launch.
    pub fn new(cluster: u32, blocks: u32, warps_per_block: u32) -> Causality {
        let warps_per_block = warps_per_block.max(1);
        let warps = blocks * warps_per_block;
        Causality {
            cluster,
            warps_per_block,
            clocks: vec![1; warps as usize],
            threads: vec![Thread::new(cluster); warps as usize * 32],
            fences: (0..warps * 32).map(|_| Fences::default()).collect(),
            next_agent: warps * 32,
        }
    }

    /// A new agent for asynchronous work. Its clocks are the caller's: from 1, and never falling. Two accesses of one agent
    /// are not ordered by that. Who learns a clock of it must learn what all knew that began its work up to that clock: either
    /// it is one thread's, or the clock counts phases of a barrier.
    pub fn new_agent(&mut self) -> u32 {
        let agent = self.next_agent;
        // Agents beyond the limit share the last one: that may hide a race, but reports no false one.
        self.next_agent = (agent + 1).min(MAX_GROUPS * 32 - 1);
        agent
    }

    /// An agent for each lane of a warp: this one and the 31 after it.
    pub fn new_agents(&mut self) -> u32 {
        let first = self.next_agent.next_multiple_of(32).min((MAX_GROUPS - 1) * 32);
        self.next_agent = (first + 32).min(MAX_GROUPS * 32 - 1);
        first
    }

    /// Lanes of a warp that access memory now.
    pub fn accessor(&self, warp: u32, lanes: u32) -> Accessor<'_> {
        let accessor = Accessor {
            cluster: self.cluster,
            block: self.block(warp),
            warp,
            lanes,
            clock: self.clock(warp),
            threads: self.threads.get(warp as usize * 32..).unwrap_or_default(),
            performer: Performer::Thread,
        };
        accessor.at(lanes)
    }

    /// A snapshot of a thread, for asynchronous work. What the thread does from now on is not part of it.
    pub fn snapshot(&mut self, thread: u32) -> ClockSnapshot {
        let snapshot = self.present(thread);
        self.tick(thread / 32);
        snapshot
    }

    /// All that happened before, for others to acquire. What the thread does from now on is not part of it.
    pub fn release(&mut self, thread: u32) -> View {
        self.snapshot(thread).view()
    }

    /// A release: merges the clocks of lanes of a warp into a barrier's view.
    pub fn arrive(&mut self, warp: u32, lanes: u32, into: &mut View) {
        let clock = self.clock(warp);
        let mut last: Option<&View> = None;
        for lane in lanes_of(lanes) {
            let agent = warp * 32 + lane;
            let Some(thread) = self.threads.get(agent as usize) else { continue };
            if !last.is_some_and(|last| last.ptr_eq(&thread.view)) {
                into.join(&thread.view);
            }
            thread.publish(into, self.cluster, agent, clock);
            last = Some(&thread.view);
        }
        self.tick(warp);
    }

    /// An acquire: merges a view into the clocks of lanes of a warp.
    pub fn acquire(&mut self, warp: u32, lanes: u32, view: &View) {
        // Lanes that shared their vectors share what comes of them.
        let mut last: Option<(View, View)> = None;
        for lane in lanes_of(lanes) {
            let Some(thread) = self.threads.get_mut((warp * 32 + lane) as usize) else { continue };
            match &last {
                Some((before, after)) if before.ptr_eq(&thread.view) => thread.view = after.clone(),
                Some(_) | None => {
                    let before = thread.view.clone();
                    thread.view.join(view);
                    last = Some((before, thread.view.clone()));
                }
            }
        }
    }

    /// A barrier of lanes of warps: merges the clocks of all.
    pub fn barrier(&mut self, participants: &[(u32, u32)]) {
        let mut all = View::new(self.cluster);
        for &(warp, lanes) in participants {
            self.arrive(warp, lanes, &mut all);
        }
        for &(warp, lanes) in participants {
            self.acquire(warp, lanes, &all);
        }
    }

    /// A thread learns that asynchronous work, which it began itself, is complete up to a clock of its agent. Others learn it
    /// from the thread, or from a view that [`ClockSnapshot::view`] was joined into.
    pub fn join_epoch(&mut self, thread: u32, agent: u32, clock: u32) {
        let cluster = self.cluster;
        let Some(thread) = self.threads.get_mut(thread as usize) else { return };
        if thread.copies.agent != agent {
            let before = std::mem::replace(&mut thread.copies, Copies { agent, ..Copies::default() });
            thread.view.known.set(cluster, before.agent, before.known);
            for (vector_clock, fenced) in thread.view.fenced.iter_mut().zip(before.fenced) {
                vector_clock.set(cluster, before.agent, fenced);
            }
        }
        thread.copies.known = thread.copies.known.max(clock);
    }

    /// `fence.proxy.async` of lanes of a warp, for these spaces.
    pub fn fence_proxy(&mut self, warp: u32, lanes: u32, spaces: &[Space]) {
        let clock = self.clock(warp);
        for lane in lanes_of(lanes) {
            let Some(thread) = self.threads.get_mut((warp * 32 + lane) as usize) else { continue };
            for &space in spaces {
                thread.view.fenced[space as usize] = thread.view.known.clone();
                thread.fenced[space as usize] = clock;
                thread.copies.fenced[space as usize] = thread.copies.known;
                if space == Space::Shared {
                    thread.view.restricted.fence_proxy();
                }
            }
        }
        self.tick(warp);
    }

    /// A fence of lanes of a warp: acquires what relaxed loads saw before; and what it knows then is what relaxed stores
    /// publish from now on.
    pub fn fence(&mut self, warp: u32, lanes: u32, fence: Fence) {
        let Fence { scope, ordering, restricted } = fence;
        for lane in lanes_of(lanes) {
            let agent = warp * 32 + lane;
            for level in scope.levels().filter(|_| ordering.acquires()) {
                let Some(fences) = self.fences.get_mut(agent as usize) else { continue };
                // Another fence may acquire the rest later.
                let pending = if restricted { fences.pending[level].clone() } else { fences.pending[level].take() };
                let Some(view) = pending else { continue };
                let view = if restricted { view.restrict(self.cluster, self.blocks(), None) } else { view };
                self.acquire(warp, 1 << lane, &view);
            }
            let snapshot = Rc::new(self.present(agent));
            let Some(fences) = self.fences.get_mut(agent as usize).filter(|_| ordering.releases()) else { continue };
            if restricted {
                fences.restricted = Some(snapshot);
                continue;
            }
            for level in scope.levels() {
                fences.released[level] = Some(snapshot.clone());
            }
            if scope >= Scope::Cluster {
                fences.restricted = None;
            }
        }
        self.tick(warp);
    }

    /// What a relaxed store of a thread publishes at a level of [`Scope::levels`]: what its fences released.
    pub fn fenced_release(&self, thread: u32, level: usize) -> Option<View> {
        let fences = self.fences.get(thread as usize)?;
        let all = fences.released[level].as_ref().map(|snapshot| snapshot.view());
        // Such a fence reaches the cluster.
        let restricted = fences
            .restricted
            .as_ref()
            .filter(|_| level <= Scope::Cluster.level())
            .map(|snapshot| snapshot.view().restrict(self.cluster, self.blocks(), Some(snapshot.block)));
        match (all, restricted) {
            (Some(mut all), Some(restricted)) => {
                all.join(&restricted);
                Some(all)
            }
            (all, restricted) => all.or(restricted),
        }
    }

    /// A relaxed load of a thread saw what was released at a level: a later fence acquires it.
    pub fn relaxed_acquire(&mut self, thread: u32, level: usize, view: &View) {
        let Some(fences) = self.fences.get_mut(thread as usize) else { return };
        match &mut fences.pending[level] {
            Some(pending) => pending.join(view),
            none => *none = Some(view.clone()),
        }
    }

    /// Whether an epoch of the cluster happened before a thread's current point, as far as it is about the shared memory of
    /// a block.
    pub fn happened_before(&self, thread: u32, rank: u8, agent: u32, clock: u32) -> bool {
        let Some(state) = self.threads.get(thread as usize) else { return false };
        let own = agent == thread && clock <= self.clock(thread / 32);
        let copies = state.copies.agent == agent && state.copies.known >= clock;
        own || copies || state.view.knows_shared(self.cluster, rank, agent, clock)
    }

    /// The number of the cluster.
    pub fn cluster(&self) -> u32 {
        self.cluster
    }

    /// The block of a warp.
    pub fn block(&self, warp: u32) -> u8 {
        (warp / self.warps_per_block) as u8
    }

    /// The blocks of the cluster.
    fn blocks(&self) -> u8 {
        self.block(self.clocks.len() as u32)
    }

    fn present(&self, thread: u32) -> ClockSnapshot {
        let (cluster, warp) = (self.cluster, thread / 32);
        ClockSnapshot {
            cluster,
            block: self.block(warp),
            agent: thread,
            clock: self.clock(warp),
            thread: self.threads.get(thread as usize).cloned().unwrap_or_else(|| Thread::new(cluster)),
        }
    }

    fn clock(&self, warp: u32) -> u32 {
        self.clocks.get(warp as usize).copied().unwrap_or(1)
    }

    fn tick(&mut self, warp: u32) {
        if let Some(clock) = self.clocks.get_mut(warp as usize) {
            *clock = clock.saturating_add(1);
        }
    }
}
