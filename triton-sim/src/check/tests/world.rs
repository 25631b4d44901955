//! Steps of a small program, how they are written, and a machine of two clusters that performs them.
//!
//! Threads are `t0` to `t127` (cluster 0) and `u0` to `u127` (cluster 1): two blocks of two warps each. Shared memory is that
//! of the blocks of rank 0. One step a line:
//!
//! ```text
//! t0 read|write|atom [.cta|.cluster|.gpu] s|g OFFSET BYTES   s: shared memory, g: global memory
//! t0..t2 write s 0 +4 4 [equal] [@N]                         one instruction of a warp: lane l at 0 + 4 l; @N: the one of
//!                                                            step N again, with what is there already
//! barrier t0 t32                                             these threads wait for each other
//! t0 arrive m, t1 wait m                                     an mbarrier
//! t0 proxyfence s|g                                          fence.proxy.async
//! t0 fence [.acquire|.release] .cluster [restrict]           fence.acq_rel.. of a scope, or for shared memory alone
//! t0 load|store|update .acquire|.relaxed.. .gpu OFFSET       a strong access of 4 bytes of global memory
//! t0 issue c, c read|write [async] s 0 4                     asynchronous work, and an access of it
//! c complete m, t0 collect c                                 on an mbarrier; by waiting for its group
//! ```

use super::super::*;
use std::collections::HashMap;

/// A thread: cluster, number.
pub type Id = (u32, u32);

#[derive(Clone, Debug)]
pub enum Step {
    Access { threads: Vec<Id>, access: Access, space: Space, offset: u64, stride: u64, bytes: u64 },
    Barrier(Vec<Id>),
    Arrive(Id, u32),
    Wait(Id, u32),
    ProxyFence(Id, Space),
    Fence(Id, Fence),
    Sync { thread: Id, kind: AccessKind, ordering: Ordering, scope: Scope, offset: u64 },
    Issue { thread: Id, work: u32, agent: u32 },
    Work { work: u32, access: Access, space: Space, offset: u64, bytes: u64 },
    Complete { work: u32, barrier: u32 },
    Collect { thread: Id, work: u32 },
}

#[derive(Debug)]
struct Work {
    thread: Id,
    snapshot: ClockSnapshot,
    agent: u32,
    clock: u32,
}

#[derive(Debug)]
pub struct World {
    clusters: [Causality; 2],
    shadows: [Shadow; 2],
    sync: SyncMap,
    barriers: HashMap<u32, View>,
    works: HashMap<u32, Work>,
    /// Of each thread and agent number: the agent, and its last clock.
    agents: HashMap<(u32, u32), (u32, u32)>,
}

impl World {
    pub fn new() -> World {
        World {
            clusters: [0, 1].map(|cluster| Causality::new(cluster, 2, 2)),
            shadows: [Shadow::of_block(0, 1 << 14), Shadow::new(Space::Global, 1 << 14)],
            sync: SyncMap::new(),
            barriers: HashMap::new(),
            works: HashMap::new(),
            agents: HashMap::new(),
        }
    }

    pub fn shadow(&self, space: Space) -> &Shadow {
        &self.shadows[space as usize]
    }

    pub fn step(&mut self, step: &Step) -> Result<(), Conflict> {
        match step {
            Step::Access { threads, access, space, offset, stride, bytes } => {
                let (cluster, first) = threads[0];
                let accessor = self.clusters[cluster as usize].accessor(first / 32, !0);
                let lanes: Vec<_> =
                    threads.iter().enumerate().map(|(i, t)| (t.1 % 32, offset + stride * i as u64)).collect();
                return self.shadows[*space as usize].access_warp(&lanes, *bytes, &accessor, access);
            }
            Step::Barrier(threads) => self.barrier(threads),
            Step::Arrive((cluster, thread), barrier) => {
                let view = self.barriers.entry(*barrier).or_insert_with(|| View::new(*cluster));
                self.clusters[*cluster as usize].arrive(thread / 32, 1 << (thread % 32), view);
            }
            Step::Wait((cluster, thread), barrier) => {
                if let Some(view) = self.barriers.get(barrier) {
                    self.clusters[*cluster as usize].acquire(thread / 32, 1 << (thread % 32), view);
                }
            }
            Step::ProxyFence((cluster, thread), space) => {
                self.clusters[*cluster as usize].fence_proxy(thread / 32, 1 << (thread % 32), &[*space]);
            }
            Step::Fence((cluster, thread), fence) => {
                self.clusters[*cluster as usize].fence(thread / 32, 1 << (thread % 32), *fence);
            }
            Step::Sync { thread: (cluster, thread), kind, ordering, scope, offset } => {
                let threads = &mut self.clusters[*cluster as usize];
                match kind {
                    AccessKind::Read => self.sync.load(threads, *thread, *offset, *ordering, *scope),
                    AccessKind::Write => self.sync.store(threads, *thread, *offset, *ordering, *scope),
                    AccessKind::Atomic => self.sync.update(threads, *thread, *offset, *ordering, *scope),
                }
            }
            Step::Issue { thread: (cluster, thread), work, agent } => {
                let threads = &mut self.clusters[*cluster as usize];
                let agent = self.agents.entry((*cluster, *agent)).or_insert_with(|| (threads.new_agent(), 0));
                agent.1 += 1;
                let snapshot = threads.snapshot(*thread);
                self.works
                    .insert(*work, Work { thread: (*cluster, *thread), snapshot, agent: agent.0, clock: agent.1 });
            }
            Step::Work { work, access, space, offset, bytes } => {
                let Work { snapshot, agent, clock, .. } = &self.works[work];
                let accessor = snapshot.accessor(Performer::Async { agent: *agent, clock: *clock });
                return self.shadows[*space as usize].access(*offset, *bytes, &accessor, access);
            }
            Step::Complete { work, barrier } => {
                let Work { thread, snapshot, agent, clock } = &self.works[work];
                let view = self.barriers.entry(*barrier).or_insert_with(|| View::new(thread.0));
                view.join(&snapshot.view());
                view.join_epoch(thread.0, *agent, *clock);
            }
            Step::Collect { thread: (cluster, thread), work } => {
                let Work { agent, clock, .. } = self.works[work];
                self.clusters[*cluster as usize].join_epoch(*thread, agent, clock);
            }
        }
        Ok(())
    }

    /// Of one cluster.
    fn barrier(&mut self, threads: &[Id]) {
        let mut masks: Vec<(u32, u32)> = Vec::new();
        for (_, thread) in threads {
            match masks.iter_mut().find(|(warp, _)| *warp == thread / 32) {
                Some((_, mask)) => *mask |= 1 << (thread % 32),
                None => masks.push((thread / 32, 1 << (thread % 32))),
            }
        }
        self.clusters[threads[0].0 as usize].barrier(&masks);
    }
}

/// Reads one step, whose site is this number.
pub fn parse(line: &str, site: u32) -> Step {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: &str| word.trim_start_matches('+').parse::<u64>().unwrap_or_else(|_| panic!("{word}: {line}"));
    let scope = words.iter().find_map(|word| match *word {
        ".cta" => Some(Scope::Cta),
        ".cluster" => Some(Scope::Cluster),
        ".gpu" => Some(Scope::Gpu),
        _ => None,
    });
    let ordering = match words.get(2).copied() {
        Some(".acquire") => Ordering::Acquire,
        Some(".release") => Ordering::Release,
        Some(".acq_rel") => Ordering::AcqRel,
        _ => Ordering::Relaxed,
    };
    let space = if words.contains(&"g") { Space::Global } else { Space::Shared };
    let proxy = if words.contains(&"async") { Proxy::Async } else { Proxy::Generic };
    let kind = |word: &str| match word {
        "read" | "load" => AccessKind::Read,
        "write" | "store" => AccessKind::Write,
        _ => AccessKind::Atomic,
    };
    let again = words.iter().find_map(|word| word.strip_prefix('@')).map(|site| number(site) as u32);
    let (site, repeats) = again.map_or((site, 0), |site| (site, !0));
    let (value_equal, read_only) = (words.contains(&"equal"), words.contains(&"nc"));
    let access = Access { scope, proxy, site, value_equal, repeats, read_only, ..weak(kind(words[1])) };
    let at = words.iter().position(|word| ["s", "g"].contains(word)).map_or(0, |at| at + 1);
    let name = |word: &str| word.bytes().fold(0, |name, byte| name * 256 + u32::from(byte));
    let last = words[words.len() - 1];
    match words[1] {
        _ if words[0] == "barrier" => Step::Barrier(words[1..].iter().flat_map(|word| ids(word)).collect()),
        "read" | "write" | "atom" if words[0].starts_with(['t', 'u']) => {
            let threads = ids(words[0]);
            let stride = if words[at + 1].starts_with('+') { number(words[at + 1]) } else { 0 };
            let bytes = number(words[at + 1 + usize::from(words[at + 1].starts_with('+'))]);
            Step::Access { threads, access, space, offset: number(words[at]), stride, bytes }
        }
        "read" | "write" | "atom" => {
            let (offset, bytes) = (number(words[at]), number(words[at + 1]));
            Step::Work { work: name(words[0]), access, space, offset, bytes }
        }
        "arrive" => Step::Arrive(ids(words[0])[0], name(last)),
        "wait" => Step::Wait(ids(words[0])[0], name(last)),
        "proxyfence" => Step::ProxyFence(ids(words[0])[0], space),
        "fence" => {
            let ordering = if ordering == Ordering::Relaxed { Ordering::AcqRel } else { ordering };
            let restricted = words.contains(&"restrict");
            Step::Fence(ids(words[0])[0], Fence { scope: scope.unwrap_or(Scope::Sys), ordering, restricted })
        }
        "load" | "store" | "update" => {
            let (thread, scope) = (ids(words[0])[0], scope.unwrap_or(Scope::Sys));
            Step::Sync { thread, kind: kind(words[1]), ordering, scope, offset: number(last) }
        }
        "issue" => Step::Issue { thread: ids(words[0])[0], work: name(last), agent: name(last) / 256 },
        "complete" => Step::Complete { work: name(words[0]), barrier: name(last) },
        "collect" => Step::Collect { thread: ids(words[0])[0], work: name(last) },
        _ => panic!("not a step: {line}"),
    }
}

/// `t3` or `t0..t4`.
fn ids(word: &str) -> Vec<Id> {
    let one = |word: &str| -> Id {
        (u32::from(word.starts_with('u')), word[1..].parse().unwrap_or_else(|_| panic!("no thread: {word}")))
    };
    match word.split_once("..") {
        Some((first, end)) => (one(first).1..one(end).1).map(|thread| (one(first).0, thread)).collect(),
        None => vec![one(word)],
    }
}

/// A weak access of the generic proxy.
pub(super) fn weak(kind: AccessKind) -> Access {
    let proxy = Proxy::Generic;
    Access { kind, scope: None, proxy, site: 0, value_equal: false, repeats: 0, read_only: false }
}
