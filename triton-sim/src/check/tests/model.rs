//! The same steps over the explicit happens-before graph: slow, and simple enough to trust.

use super::super::*;
use super::world::{Id, Step};
use std::collections::HashMap;

/// A step of one agent. `before` has a bit for each earlier event that happened before it, and for itself; `shared` is the same
/// for accesses to shared memory, which more fences order.
type Event = usize;

#[derive(Clone)]
struct Done {
    event: Event,
    block: (u32, u32),
    access: Access,
    space: Space,
    bytes: std::ops::Range<u64>,
}

/// What a strong store of an address gives.
#[derive(Clone, Copy)]
struct Given {
    event: Event,
    /// How far it reaches, and whose it is.
    scope: Scope,
    from: Id,
    /// Whether it is for shared memory alone.
    restricted: bool,
}

#[derive(Clone, Default)]
pub struct Model {
    before: Vec<u128>,
    shared: Vec<u128>,
    fences: Vec<(Event, Space)>,
    done: Vec<Done>,
    last: HashMap<Id, Event>,
    barriers: HashMap<u32, Vec<Event>>,
    released: HashMap<u64, Vec<Given>>,
    thread_fences: HashMap<Id, Vec<(Event, Scope, bool)>>,
    pending: HashMap<Id, Vec<Given>>,
    /// Issue, thread, agent.
    works: HashMap<u32, (Event, Id, u32)>,
    /// Of each cluster and agent: work and access.
    work_done: HashMap<(u32, u32), Vec<(u32, Event)>>,
}

/// What may be reported of a step: kind, byte, site of the earlier access.
pub type Faults = Vec<(ConflictKind, u64, u32)>;

impl Model {
    fn event(&mut self, after: &[Event]) -> Event {
        let event = self.before.len();
        assert!(event < 128);
        self.before.push(after.iter().fold(1 << event, |all, other| all | self.before[*other]));
        self.shared.push(after.iter().fold(1 << event, |all, other| all | self.shared[*other]));
        event
    }

    fn next(&mut self, thread: Id, after: &[Event]) -> Event {
        let mut after = after.to_vec();
        after.extend(self.last.get(&thread));
        let event = self.event(&after);
        self.last.insert(thread, event);
        event
    }

    /// The next event of a thread, which acquires these.
    fn acquire(&mut self, thread: Id, given: &[Given], restricted: bool) -> Event {
        let all = |given: &&Given| !restricted && !given.restricted;
        let after: Vec<Event> = given.iter().filter(all).map(|given| given.event).collect();
        let event = self.next(thread, &after);
        for given in given {
            self.shared[event] |= self.shared[given.event];
        }
        event
    }

    fn ordered(&self, a: Event, b: Event, space: Space) -> bool {
        let before = if space == Space::Shared { &self.shared } else { &self.before };
        before[b] >> a & 1 == 1
    }

    pub fn step(&mut self, step: &Step) -> Faults {
        match step {
            Step::Access { threads, access, space, offset, stride, bytes } => {
                let mut faults = Faults::new();
                let earlier = self.done.len();
                for (i, &thread) in threads.iter().enumerate() {
                    let event = self.next(thread, &[]);
                    let start = offset + stride * i as u64;
                    let bytes = start..start + bytes;
                    let block = (thread.0, thread.1 / 64);
                    let done = Done { event, block, access: *access, space: *space, bytes };
                    faults.extend(self.faults(&done, earlier));
                    self.done.push(done);
                }
                return faults;
            }
            Step::Barrier(threads) => {
                let all: Vec<Event> = threads.iter().map(|thread| self.next(*thread, &[])).collect();
                let met = self.event(&all);
                for thread in threads {
                    self.next(*thread, &[met]);
                }
            }
            Step::Arrive(thread, barrier) => {
                let event = self.next(*thread, &[]);
                self.barriers.entry(*barrier).or_default().push(event);
            }
            Step::Wait(thread, barrier) => {
                let after = self.barriers.get(barrier).cloned().unwrap_or_default();
                self.next(*thread, &after);
            }
            Step::ProxyFence(thread, space) => {
                let event = self.next(*thread, &[]);
                self.fences.push((event, *space));
            }
            Step::Fence(thread, Fence { scope, ordering, restricted }) => {
                let mut given = self.pending.get(thread).cloned().unwrap_or_default();
                given.retain(|given| *ordering != Ordering::Release && meets(*thread, *scope, given.from, given.scope));
                let event = self.acquire(*thread, &given, *restricted);
                // Shared memory is that of the blocks of rank 0.
                let of_another = *restricted && thread.1 / 64 != 0;
                if *ordering != Ordering::Acquire && !of_another {
                    self.thread_fences.entry(*thread).or_default().push((event, *scope, *restricted));
                }
            }
            Step::Sync { thread, kind, ordering, scope, offset } => {
                self.sync(*thread, *kind, *ordering, *scope, *offset)
            }
            Step::Issue { thread, work, agent } => {
                let event = self.next(*thread, &[]);
                self.works.insert(*work, (event, *thread, *agent));
            }
            Step::Work { work, access, space, offset, bytes } => {
                let (issue, thread, agent) = self.works[work];
                let event = self.event(&[issue]);
                self.work_done.entry((thread.0, agent)).or_default().push((*work, event));
                let (bytes, block) = (*offset..offset + bytes, (thread.0, thread.1 / 64));
                let done = Done { event, block, access: *access, space: *space, bytes };
                let faults = self.faults(&done, self.done.len());
                self.done.push(done);
                return faults;
            }
            Step::Complete { work, barrier } => {
                let mut after = self.completed(*work);
                after.push(self.works[work].0);
                let event = self.event(&after);
                self.barriers.entry(*barrier).or_default().push(event);
            }
            Step::Collect { thread, work } => {
                let after = self.completed(*work);
                self.next(*thread, &after);
            }
        }
        Faults::new()
    }

    /// The accesses of a work, and of all that its agent began before. Works of an agent have rising numbers.
    fn completed(&self, work: u32) -> Vec<Event> {
        let (_, thread, agent) = self.works[&work];
        let all = self.work_done.get(&(thread.0, agent)).into_iter().flatten();
        all.filter(|(other, _)| *other <= work).map(|(_, event)| *event).collect()
    }

    fn sync(&mut self, thread: Id, kind: AccessKind, ordering: Ordering, scope: Scope, offset: u64) {
        let acquires = matches!(ordering, Ordering::Acquire | Ordering::AcqRel);
        let mut after = Vec::new();
        if kind != AccessKind::Write {
            for given in self.released.get(&offset).cloned().unwrap_or_default() {
                if meets(thread, scope, given.from, given.scope) {
                    if acquires {
                        after.push(given);
                    } else {
                        // What a later fence acquires is limited by this load too.
                        let given = Given { scope: given.scope.min(scope), ..given };
                        self.pending.entry(thread).or_default().push(given);
                    }
                }
            }
        }
        let event = self.acquire(thread, &after, false);
        if kind == AccessKind::Write {
            self.released.remove(&offset);
        }
        if kind != AccessKind::Read {
            let given = self.released.entry(offset).or_default();
            if matches!(ordering, Ordering::Release | Ordering::AcqRel) {
                given.push(Given { event, scope, from: thread, restricted: false });
            } else {
                let fences = self.thread_fences.get(&thread).into_iter().flatten();
                given.extend(fences.map(|&(event, far, restricted)| {
                    let scope = scope.min(far);
                    Given { event, scope, from: thread, restricted }
                }));
            }
        }
    }

    /// What of the first accesses conflicts with one.
    fn faults(&self, current: &Done, earlier: usize) -> Faults {
        let mut faults = Faults::new();
        for byte in current.bytes.clone() {
            let touch: Vec<(usize, &Done)> = self
                .done
                .iter()
                .enumerate()
                .filter(|(_, d)| d.space == current.space && d.bytes.contains(&byte))
                .collect();
            for &(index, other) in &touch {
                let writes = current.access.kind.writes() || other.access.kind.writes();
                let one_value = index >= earlier && current.access.value_equal;
                if writes
                    && !self.ordered(other.event, current.event, current.space)
                    && !one_value
                    && !strong(current, other)
                {
                    faults.push((ConflictKind::Race, byte, other.access.site));
                }
            }
            // All lanes of an instruction write at once.
            let last = touch.iter().rev().find(|(_, other)| other.access.kind.writes());
            let last = last.map(|(_, last)| last.access.site);
            for (_, other) in touch.iter().filter(|(_, other)| Some(other.access.site) == last) {
                let proxies = (other.access.proxy, current.access.proxy) == (Proxy::Generic, Proxy::Async);
                let fenced = self.fences.iter().any(|(fence, space)| {
                    *space == current.space
                        && self.ordered(other.event, *fence, *space)
                        && self.ordered(*fence, current.event, *space)
                });
                if proxies && !fenced && self.ordered(other.event, current.event, current.space) {
                    faults.push((ConflictKind::ProxyFence, byte, other.access.site));
                }
            }
        }
        faults
    }
}

/// Whether each is in the other's scope.
fn meets(a: Id, a_scope: Scope, b: Id, b_scope: Scope) -> bool {
    match a_scope.min(b_scope) {
        Scope::Cta => a.0 == b.0 && a.1 / 64 == b.1 / 64,
        Scope::Cluster => a.0 == b.0,
        Scope::Gpu | Scope::Sys => true,
    }
}

fn strong(a: &Done, b: &Done) -> bool {
    match (a.access.scope, b.access.scope) {
        (Some(x), Some(y)) => meets((a.block.0, a.block.1 * 64), x, (b.block.0, b.block.1 * 64), y),
        (Some(_) | None, _) => false,
    }
}
