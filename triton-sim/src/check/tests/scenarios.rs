//! Each rule as a program of a few lines, with what it finds after `->`: `race N`, `fence N` or `read-only N` with the
//! line of the earlier access, or nothing.

use super::super::*;
use super::world::{World, parse, weak};

fn check(name: &str, program: &str) {
    let mut world = World::new();
    for (site, line) in program.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (step, expected) = line.split_once("->").unwrap_or((line, "ok"));
        let found = match world.step(&parse(step, site as u32)) {
            Ok(()) => "ok".to_string(),
            Err(Conflict { kind: ConflictKind::Race, other, .. }) => format!("race {}", other.site),
            Err(Conflict { kind: ConflictKind::ProxyFence, other, .. }) => format!("fence {}", other.site),
            Err(Conflict { kind: ConflictKind::ReadOnly, other, .. }) => format!("read-only {}", other.site),
        };
        assert_eq!(found, expected.trim(), "{name}, line {site}: {line}");
    }
}

/// Checks scenarios: each has a line with its name, and a line `---` stands between two.
pub fn check_all(scenarios: &str) {
    for scenario in scenarios.split("---\n") {
        let (name, program) = scenario.trim_start().split_once('\n').unwrap_or((scenario, ""));
        check(name, program);
    }
}

#[test]
fn each_rule() {
    check_all(SCENARIOS);
}

const SCENARIOS: &str = "
barriers order
t0 write s 0 4
barrier t0 t1 t32
t1 read s 0 4
t32 read s 0 4
t2 read s 0 4 -> race 0
---
unordered accesses race, whichever comes first
t0 write s 0 4
t1 read s 0 4 -> race 0
t32 read s 4 4
t0 write s 4 4 -> race 2
t0 write s 8 4
t64 write s 8 4 -> race 4
---
what is read through the read-only path is not written, in whatever order
t0 read nc g 0 8
t0 write g 6 2 -> read-only 0
t0 write g 0 4 -> read-only 0
---
reads do not race
t0 read s 0 4
t1 read s 0 4
t64 read s 0 4
u0 read g 0 4
t0 read g 0 4
---
a thread is in order
t0 write s 0 4
t0 read s 0 4
t0 write s 0 4
t0 arrive m
t0 write s 0 4
t0 read s 0 4
---
what comes after an arrival is not covered by it
t0 write s 0 4
t0 arrive m
t0 write s 4 4
t1 wait m
t1 read s 0 4
t1 read s 4 4 -> race 2
---
what happened before is transitive
t0 write s 0 4
t0 arrive m
t1 wait m
t1 arrive n
t64 wait n
t64 write s 0 4
t0 read s 0 4 -> race 5
---
a mistake is reported once
t0 write s 0 4
t1 read s 0 4 -> race 0
t1 read s 0 4
t2 read s 0 4
t2 write s 0 4 -> race 2
t3 write s 0 4 -> race 4
---
many readers, then one writer: all must be known
t0..t32 read s 0 +0 4
t32..t64 read s 0 +0 4
t64..t96 read s 0 +0 4
barrier t0..t32 t64..t96
t0 write s 0 4 -> race 1
---
many readers, then one writer that knows all
t0..t32 read s 0 +0 4
t32..t64 read s 0 +0 4
t96 read s 0 4
barrier t0..t64 t96
t5 write s 0 4
---
one lane of many readers is missing
t0..t32 read s 0 +0 4
barrier t0..t17 t18..t32 t33
t33 write s 0 4 -> race 0
---
reads that spilled are forgotten after a write that knows them
t0 read s 0 4
t1 read s 0 4
t32 read s 0 4
barrier t0 t1 t32
t32 write s 0 4
barrier t0 t32
t0 write s 0 4
---
bytes beside each other do not conflict
t0 write s 0 1
t1 write s 1 1
t2 write s 2 2
t3 write s 4 4
t4 write s 8 8
t5 read s 3 1 -> race 2
---
words split into halves and bytes keep what they know
t0 write s 0 4
barrier t0 t1
t1 write s 2 1
t2 read s 1 1 -> race 0
t0 read s 0 2
t0 read s 2 1 -> race 2
t1 read s 3 1
---
reads that spilled are split too
t0 read s 0 4
t1 read s 0 4
t2 write s 3 1 -> race 0
barrier t0 t1 t2
t2 write s 0 2
---
an access that overlaps two cells
t0 write s 4 4
t1 read s 0 8 -> race 0
t2 write s 4094 2
t3 read s 4088 16 -> race 2
t4 write s 4097 1 -> race 3
t5 write s 4097 2 -> race 4
---
an instruction of a warp: each lane its own word, swizzled or not
t0..t32 write s 0 +4 4
barrier t0..t32
t32..t64 write s 0 +4 4 -> race 0
---
lanes of an instruction that write different values
t0..t4 write s 0 +0 4 -> race 0
---
lanes of an instruction that write one value
t0..t4 write s 0 +0 4 equal
t1 read s 0 4 -> race 0
---
lanes of one warp need an order between instructions
t0..t32 write s 0 +0 4 equal
t0..t32 write s 0 +0 4 equal -> race 0
barrier t0..t32
t0..t32 write s 0 +0 4 equal
---
one store of a block may write a value again
t0..t32 write s 0 +0 4 equal
t32..t64 write s 0 +0 4 equal @0
t32 write s 0 4 -> race 0
---
what one store wrote again is read after all of its writers
t0 write g 0 4
t32 write g 0 4 @0
barrier t0 t33
t33 read g 0 4 -> race 0
---
but not in another block
t0 write g 0 4
t64 write g 0 4 @0 -> race 0
u0 write g 4 4
t0 write g 4 4 @2 -> race 2
---
lanes of an instruction that are atomic
t0..t32 atom .cta s 0 +0 4
t0..t32 atom .cta s 0 +0 4
t32..t64 atom .cta s 0 +0 4
t64 atom .cta s 0 4 -> race 1
---
strong accesses in each other's scope
t0 write .gpu g 0 4
u0 read .gpu g 0 4
u0 atom .gpu g 0 4
t64 atom .gpu g 0 4
u64 read .cluster g 0 4 -> race 0
---
cluster scope within a cluster
t0 atom .cluster g 0 4
t64 atom .cluster g 0 4
u0 atom .cluster g 0 4 -> race 0
---
block scope between clusters, whose blocks have the same rank
t0 atom .cta g 0 4
u0 atom .cta g 0 4 -> race 0
---
strong against weak
t0 atom .gpu g 0 4
t1 read g 0 4 -> race 0
t2 write g 4 4
t3 read .gpu g 4 4 -> race 2
---
atomics that nothing orders are all remembered
t0 atom .gpu g 0 4
t1 atom .gpu g 0 4
t1 arrive m
t2 wait m
t2 read g 0 4 -> race 0
---
an ordered strong read does not stand for a weak one
t0 read g 0 4
barrier t0 t1
t1 read .gpu g 0 4
t2 write .gpu g 0 4 -> race 0
---
message passing between clusters
t0 write g 0 4
t0 store .release .gpu 64
u0 load .acquire .gpu 64
u0 read g 0 4
u1 read g 0 4 -> race 0
---
a relaxed store gives nothing
t0 write g 0 4
t0 store .relaxed .gpu 64
u0 load .acquire .gpu 64
u0 read g 0 4 -> race 0
---
a release of the block between clusters
t0 write g 0 4
t0 store .release .cta 64
u0 load .acquire .gpu 64
u0 read g 0 4 -> race 0
---
an acquire of the block
t0 write g 0 4
t0 store .release .gpu 64
t32 load .acquire .cta 64
t32 read g 0 4
t64 load .acquire .cta 64
t64 read g 0 4 -> race 0
---
an acquire of the cluster
t0 write g 0 4
t0 store .release .gpu 64
t64 load .acquire .cluster 64
t64 read g 0 4
u0 load .acquire .cluster 64
u0 read g 0 4 -> race 0
---
an atomic continues a release, a store ends it
t0 write g 0 4
t0 store .release .gpu 64
t1 update .relaxed .gpu 64
u0 load .acquire .gpu 64
u0 read g 0 4
t1 store .relaxed .gpu 64
u1 load .acquire .gpu 64
u1 read g 0 4 -> race 0
---
a ticket of many: the last one knows all
t0 write g 0 4
t64 write g 4 4
u0 write g 8 4
t0 update .acq_rel .gpu 64
t64 update .acq_rel .gpu 64
u0 update .acq_rel .gpu 64
u0 read g 0 4
u0 read g 4 4
t64 read g 0 4
t64 read g 8 4 -> race 2
---
what happened before passes through a third cluster's thread and its barrier
t0 write g 0 4
t0 store .release .gpu 64
u0 load .acquire .gpu 64
barrier u0 u64
u64 store .release .gpu 68
t64 load .acquire .gpu 68
t64 read g 0 4
u64 write g 0 4 -> race 6
---
a copy is not its thread: it races until it is waited for
t0 issue c
c write async s 0 16
t0 read s 0 4 -> race 1
t0 collect c
t0 read s 4 4
t1 read s 8 4 -> race 1
---
a copy that completes on an mbarrier
t0 issue c
c write async s 0 16
c complete m
t32 wait m
t32 read s 0 16
t0 write s 0 4 -> race 1
---
a copy starts from what its thread did
t0 write g 0 4
t0 read s 0 4
t0 issue c
c read g 0 4
c write async s 0 4
t1 write s 4 4
c write async s 4 4 -> race 5
---
what a thread does after a copy is not before it
t0 issue c
t0 write s 0 4
c read s 0 4 -> race 1
---
two copies of one agent are not ordered by that
t0 issue c1
t0 issue c2
c1 write async s 0 4
c2 write async s 0 4 -> race 2
---
a copy that follows a completed one of its agent
t0 issue c1
c1 write async s 0 4
t0 collect c1
t0 issue c2
c2 write async s 0 4
---
a later clock of an agent covers an earlier one
t0 issue c1
t0 issue c2
c1 write async s 0 4
c2 write async s 4 4
t0 collect c2
t0 read s 0 8
---
waiting for the earlier does not cover the later
t0 issue c1
t0 issue c2
c1 write async s 0 4
c2 write async s 4 4
t0 collect c1
t0 read s 0 8 -> race 3
---
copies of two agents, both waited for and passed on
t0 issue c1
t0 issue d1
c1 write s 0 4
d1 write s 4 4
t0 collect c1
t0 collect d1
barrier t0 t32
t32 read s 0 8
t32 write s 0 8
---
a slot is used again once its readers arrived
t0..t2 read s 0 +4 4
t0 arrive m
t1 arrive m
t32 wait m
t32 issue c
c write async s 0 8
---
a slot is used again too early
t0..t2 read s 0 +4 4
t0 arrive m
t32 wait m
t32 issue c
c write async s 0 8 -> race 0
---
a generic write needs a proxy fence before an asynchronous access
t0 write s 0 4
t0 issue c
c read async s 0 4 -> fence 0
c read async s 0 4
---
an asynchronous write is no better
t0 write s 0 4
t0 issue c
c write async s 0 4 -> fence 0
---
a fence of the writer, then a barrier
t0 write s 0 4
t0 proxyfence s
barrier t0 t32
t32 issue c
c read async s 0 4
---
a fence after the barrier counts too
t0 write s 0 4
barrier t0 t32
t32 proxyfence s
t32 issue c
c read async s 0 4
---
a fence on another thread between them
t0 write s 0 4
t0 arrive m
t1 wait m
t1 proxyfence s
t1 arrive n
t2 wait n
t2 issue c
c read async s 0 4
---
a fence beside the path does not count
t0 write s 0 4
t1 proxyfence s
barrier t0 t1 t2
t2 issue c
c read async s 0 4 -> fence 0
---
a fence before the write does not count
t0 proxyfence s
t0 write s 0 4
t0 issue c
c read async s 0 4 -> fence 1
---
a fence for the other space does not count
t0 write g 0 4
t0 proxyfence s
t0 issue c
c read async g 0 4 -> fence 0
t0 write g 4 4
t0 proxyfence g
t0 issue d
d read async g 4 4
---
without an order it is a race, whatever the fences
t0 write s 0 4
t1 proxyfence s
t1 issue c
c read async s 0 4 -> race 0
---
generic reads need no fence before an asynchronous write; nor asynchronous writes before generic accesses
t0 read s 0 4
t0 issue c
c write async s 0 4
t0 collect c
t0 read s 0 4
t0 write s 0 4
---
asynchronous copies by the generic proxy need the fence, after the wait
t0 issue c
c write s 0 4
t0 collect c
t0 issue d
d read async s 0 4 -> fence 1
c write s 4 4
t0 collect c
t0 proxyfence s
t0 issue d
d read async s 4 4
---
the fence of a copy by the generic proxy passes a barrier
t0 issue c
c write s 0 4
t0 collect c
t0 proxyfence s
barrier t0 t32
t32 issue d
d read async s 0 4
---
the fence of a copy is kept when another one is waited for
t0 issue c1
c1 write s 0 4
t0 collect c1
t0 proxyfence s
t0 issue d1
t0 collect d1
t0 issue e1
e1 read async s 0 4
---
an ordered strong write of one block does not stand for that of another
t0 atom .cta s 0 4
barrier t0 t64
t64 atom .cta s 0 4
t65 atom .cta s 0 4 -> race 0
---
a fence of the block acquires within the block
t0 write g 0 4
t0 store .release .gpu 64
t32 load .relaxed .gpu 64
t32 fence .cta
t32 read g 0 4
t64 load .relaxed .gpu 64
t64 fence .cta
t64 read g 0 4 -> race 0
---
asynchronous work of two threads on fenced memory
t0 write s 0 4
t1 write s 4 4
t0 proxyfence s
barrier t0 t1
t0 issue c
c read async s 0 8 -> fence 1
";

#[test]
fn written_bytes() {
    let mut world = World::new();
    let cases = [
        ("t0 write s 4 4", 4, 4, None),
        ("t0 write s 4 4", 0, 8, Some(0)),
        ("t0 read s 8 4", 4, 8, Some(8)),
        ("t0 write s 9 1", 9, 1, None),
        ("t0 write s 8 1", 4, 8, Some(10)),
        ("t0 write s 4092 8", 4092, 12, Some(4100)),
        ("t0 read s 16380 8", 16384, 4, None),
    ];
    for (line, offset, bytes, expected) in cases {
        assert!(world.step(&parse(line, 0)).is_ok(), "{line}");
        assert_eq!(world.shadow(Space::Shared).first_unwritten(offset, bytes), expected, "{line}");
    }
}

#[test]
fn a_conflict_says_where_and_who() {
    let mut world = World::new();
    assert!(world.step(&parse("t34..t37 write s 4094 +2 2", 7)).is_ok());
    let conflict = world.step(&parse("t70 read .gpu s 4088 16", 9)).expect_err("a race");
    let Conflict { kind, offset, current: now, other } = conflict;
    assert_eq!((kind, offset), (ConflictKind::Race, 4094));
    assert_eq!((now.site, now.thread, now.block, now.kind, now.scope), (9, 70, 1, AccessKind::Read, Some(Scope::Gpu)));
    assert_eq!((other.site, other.thread, other.block, other.kind, other.lanes), (7, 34, 0, AccessKind::Write, 1 << 2));
}

#[test]
fn only_so_many_reads_of_global_memory_are_kept() {
    let mut shadow = Shadow::new(Space::Global, 1 << 40);
    for cluster in 0..1000 {
        let threads = Causality::new(cluster, 1, 1);
        assert!(shadow.access(1 << 20, 4, &threads.accessor(0, !0), &weak(AccessKind::Read)).is_ok());
    }
    let conflict = shadow.access(1 << 20, 4, &Causality::new(1000, 1, 1).accessor(0, 1), &weak(AccessKind::Write));
    assert!(conflict.is_err_and(|conflict| conflict.other.cluster == 984));
}

#[test]
fn lanes_with_asynchronous_agents_of_their_own() {
    let mut threads = Causality::new(0, 1, 1);
    let mut shadow = Shadow::new(Space::Shared, 1024);
    let first = threads.new_agents();
    let lanes: Vec<(u32, u64)> = (0..32).map(|lane| (lane, u64::from(lane ^ 5) * 16)).collect();
    let copies = Accessor { performer: Performer::AsyncLanes { first, clock: 1 }, ..threads.accessor(0, !0) };
    assert!(shadow.access_warp(&lanes, 16, &copies, &weak(AccessKind::Write)).is_ok());
    threads.join_epoch(3, first + 3, 1);
    let race = |lane: u32, shadow: &mut Shadow| {
        shadow.access(u64::from(lane ^ 5) * 16, 16, &threads.accessor(0, 1 << lane), &weak(AccessKind::Read)).is_err()
    };
    assert_eq!([3, 4].map(|lane| race(lane, &mut shadow)), [false, true]);
}
