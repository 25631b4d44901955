//! Random programs: the clocks must agree with the explicit graph on the first fault.

use super::super::*;
use super::model::Model;
use super::world::{Id, Step, World, weak};
use fastrand::Rng;

const THREADS: [Id; 6] = [(0, 0), (0, 1), (0, 32), (0, 64), (1, 0), (1, 64)];
const SCOPES: [Option<Scope>; 5] = [None, None, Some(Scope::Cta), Some(Scope::Cluster), Some(Scope::Gpu)];
const SPACES: [Space; 2] = [Space::Shared, Space::Global];

struct Program {
    rng: Rng,
    /// Whether there are strong accesses, and how much memory: programs differ in what they are about.
    strong: bool,
    words: u64,
    /// Whether relaxed accesses and fences are all that orders threads.
    handshakes: bool,
    /// The thread and the agent of each work, and whether it may still access memory.
    works: Vec<(Id, u32, bool)>,
}

impl Program {
    fn access(&mut self, site: u32) -> (Access, Space, u64, u64) {
        let kind = [AccessKind::Read, AccessKind::Read, AccessKind::Write, AccessKind::Atomic][self.rng.usize(..4)];
        let scope = if self.strong { SCOPES[self.rng.usize(..5)] } else { None };
        let bytes = [1, 2, 4, 4, 4, 8][self.rng.usize(..6)];
        let offset = self.rng.u64(..self.words * 4 / bytes.min(4)) * bytes.min(4);
        let value_equal = self.rng.bool();
        let access = Access { kind, scope, proxy: Proxy::Generic, site, value_equal, repeats: 0, read_only: false };
        (access, SPACES[usize::from(self.rng.u8(..4) == 0)], offset, bytes)
    }

    fn step(&mut self, site: u32) -> Step {
        let thread = THREADS[self.rng.usize(..6)];
        let barrier = self.rng.u32(..2);
        let scope = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys][self.rng.usize(..4)];
        if self.handshakes && self.rng.u8(..8) != 0 {
            return self.handshake(site);
        }
        match self.rng.u32(..24) {
            0..6 => {
                let (access, space, offset, bytes) = self.access(site);
                // Lanes 0 and 1 of a warp together, on one address or beside each other.
                let stride = [0, bytes][self.rng.usize(..2)];
                let threads = if self.rng.u8(..4) == 0 { vec![(0, 0), (0, 1)] } else { vec![thread] };
                Step::Access { threads, access, space, offset, stride, bytes }
            }
            6 => Step::Barrier(
                THREADS.into_iter().filter(|t| t.0 == thread.0 && (*t == thread || self.rng.bool())).collect(),
            ),
            7 => Step::Arrive(thread, barrier + 2 * thread.0),
            8 => Step::Wait(thread, barrier + 2 * thread.0),
            9 => Step::ProxyFence(thread, SPACES[usize::from(self.rng.u8(..4) == 0)]),
            10 => {
                let ordering = [Ordering::AcqRel, Ordering::Acquire, Ordering::Release][self.rng.usize(..3)];
                Step::Fence(thread, Fence { scope, ordering, restricted: false })
            }
            11..14 => {
                let kind = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic][self.rng.usize(..3)];
                let ordering = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel];
                let ordering = ordering[self.rng.usize(..4)];
                Step::Sync { thread, kind, ordering, scope, offset: 8 * u64::from(barrier) }
            }
            14 | 15 => {
                // A thread has two agents of its own.
                let agent = 2 * thread.1 + barrier;
                self.works.push((thread, agent, true));
                Step::Issue { thread, work: self.works.len() as u32 - 1, agent }
            }
            choice => {
                if self.works.is_empty() {
                    return Step::Arrive(thread, barrier + 2 * thread.0);
                }
                // More often the last one, which knows more.
                let most = self.works.len();
                let work = if self.rng.bool() { most - 1 } else { self.rng.usize(..most) };
                let (owner, agent, open) = self.works[work];
                if choice < 22 && open {
                    let (access, space, offset, bytes) = self.access(site);
                    let proxy = [Proxy::Async, Proxy::Async, Proxy::Generic][self.rng.usize(..3)];
                    return Step::Work { work: work as u32, access: Access { proxy, ..access }, space, offset, bytes };
                }
                // Complete work accesses nothing more, nor does what its agent began before.
                for other in &mut self.works[..=work] {
                    other.2 &= (other.0.0, other.1) != (owner.0, agent);
                }
                match choice {
                    22 => Step::Complete { work: work as u32, barrier: barrier + 2 * owner.0 },
                    _ => Step::Collect { thread: owner, work: work as u32 },
                }
            }
        }
    }
}

impl Program {
    /// A step of threads that synchronise by relaxed accesses and fences of the cluster, most of them for shared memory.
    fn handshake(&mut self, site: u32) -> Step {
        let (thread, scope) = ([(0, 0), (0, 32), (0, 64)][self.rng.usize(..3)], Scope::Cluster);
        match self.rng.u32(..5) {
            0 => {
                let ordering = [Ordering::Acquire, Ordering::Release][self.rng.usize(..2)];
                Step::Fence(thread, Fence { scope, ordering, restricted: self.rng.u8(..4) != 0 })
            }
            1 | 2 => {
                let kind = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic][self.rng.usize(..3)];
                Step::Sync { thread, kind, ordering: Ordering::Relaxed, scope, offset: 0 }
            }
            _ => {
                let kind = [AccessKind::Read, AccessKind::Write][self.rng.usize(..2)];
                let (space, offset) = (SPACES[self.rng.usize(..2)], 4 * self.rng.u64(..self.words));
                let access = Access { site, ..weak(kind) };
                Step::Access { threads: vec![thread], access, space, offset, stride: 0, bytes: 4 }
            }
        }
    }
}

#[test]
fn clocks_agree_with_the_graph() {
    let mut rng = Rng::with_seed(7);
    // Programs without a fault, with a race, with a missing fence.
    let mut seen = [0; 3];
    for seed in 0..40_000 {
        let (strong, words, handshakes) = (rng.bool(), [1, 2, 8][rng.usize(..3)], rng.u8(..4) == 0);
        let mut program = Program { rng: Rng::with_seed(seed), strong, words, handshakes, works: Vec::new() };
        let (mut world, mut model) = (World::new(), Model::default());
        let mut steps = Vec::new();
        let mut end = 0;
        for site in 0..rng.u32(if handshakes { 32..64 } else { 8..32 }) {
            let step = program.step(site);
            let before = model.clone();
            let faults = model.step(&step);
            // Most programs would have a race soon, and none of what is rare.
            if faults.iter().any(|(kind, ..)| *kind == ConflictKind::Race) && rng.u8(..12) != 0 {
                model = before;
                continue;
            }
            steps.push(step.clone());
            let found = world.step(&step);
            match found {
                Ok(()) => assert!(faults.is_empty(), "seed {seed}: missed {faults:?} of {steps:?}"),
                Err(Conflict { kind, offset, other, .. }) => {
                    // Beyond a byte's last record the earlier ones are forgotten, so the site is one of several.
                    let right = faults.iter().any(|(k, byte, _)| (*k, *byte) == (kind, offset));
                    let known = faults.iter().any(|(.., site)| *site == other.site);
                    assert!(
                        right && known,
                        "seed {seed}: {kind:?} at {offset} with {other:?}, not {faults:?} of {steps:?}"
                    );
                    end = 1 + kind as usize;
                    break;
                }
            }
        }
        seen[end] += 1;
    }
    assert!(seen.iter().all(|programs| *programs > 500), "{seen:?}");
}
