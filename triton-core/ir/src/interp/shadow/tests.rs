//! Which accesses race, by the rules one by one and against a definition that remembers everything.

use super::{AccessKind, Shadow};
use crate::interp::clock::Clocks;
use crate::layout::LANES;
use crate::ops::Scope;
use crate::ops::kinds::AtomicKind;

/// What happens in a program of four warps: an operation of some threads on one byte, or a barrier.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Wait(Scope),
    Does(AccessKind, Vec<u32>),
}

const ADD: AccessKind = AccessKind::Update(AtomicKind::Add);
const MAX: AccessKind = AccessKind::Update(AtomicKind::Max);

/// The first access that races, and the one that it races with: their kinds and threads.
type Race = ((AccessKind, u32), (AccessKind, u32));

fn run(events: &[Event]) -> Option<(usize, Race)> {
    let (mut clocks, mut shadow) = (Clocks::new(4, 1), Shadow::default());
    // At the end of a page, of which four bytes are on the next one.
    let bytes = 252..260;
    for (at, event) in events.iter().enumerate() {
        let (kind, threads) = match event {
            Event::Wait(scope) => {
                clocks.wait(*scope);
                continue;
            }
            Event::Does(kind, threads) => (*kind, threads),
        };
        for &thread in threads {
            if let Err(other) = shadow.check(bytes.clone(), &clocks.now(thread), kind) {
                let other_thread = u32::from(other.agent) * LANES as u32 + u32::from(other.lane);
                return Some((at, ((kind, thread), (other.kind, other_thread))));
            }
        }
        threads.iter().for_each(|&thread| shadow.remember(bytes.clone(), &clocks.now(thread), kind));
    }
    None
}

/// The same by definition: no barrier of both threads is between two accesses of different operations and threads, whose kinds
/// do not commute. All that the first access of the first such operation races with.
fn defined(events: &[Event]) -> Option<(usize, Vec<Race>)> {
    let warp = |thread: u32| thread / LANES as u32;
    for (at, event) in events.iter().enumerate() {
        let Event::Does(kind, threads) = event else { continue };
        for &thread in threads {
            let mut races = Vec::new();
            for (before, earlier) in events[..at].iter().enumerate() {
                let Event::Does(did, others) = earlier else { continue };
                let between = &events[before..at];
                let block = between.contains(&Event::Wait(Scope::Block));
                let of_warp = between.contains(&Event::Wait(Scope::Warp));
                if block || kind == did && *kind != AccessKind::Write {
                    continue;
                }
                let unordered = others.iter().filter(|&&o| o != thread && !(of_warp && warp(o) == warp(thread)));
                races.extend(unordered.map(|&other| ((*kind, thread), (*did, other))));
            }
            if !races.is_empty() {
                return Some((at, races));
            }
        }
    }
    None
}

/// `write 0:3 0:4, warp, read 1:0`: operations with their threads as `warp:lane`, and barriers.
fn events(text: &str) -> Vec<Event> {
    let event = |words: &str| {
        let mut words = words.split_whitespace();
        let kind = match words.next() {
            Some("read") => AccessKind::Read,
            Some("write") => AccessKind::Write,
            Some("add") => ADD,
            Some("max") => MAX,
            Some("warp") => return Event::Wait(Scope::Warp),
            Some("block") => return Event::Wait(Scope::Block),
            word => panic!("{word:?} is not an event"),
        };
        let thread = |word: &str| {
            let (warp, lane) = word.split_once(':').expect("warp:lane");
            warp.parse::<u32>().expect("a warp") * LANES as u32 + lane.parse::<u32>().expect("a lane")
        };
        Event::Does(kind, words.map(thread).collect())
    };
    text.split(',').map(event).collect()
}

#[test]
fn rules() {
    let cases = [
        ("write 0:3, read 0:3, write 0:3", ""),
        ("write 0:3, read 0:4", "read 0:4 after write 0:3"),
        ("write 0:3, warp, read 0:4", ""),
        ("write 0:3, block, read 0:4", ""),
        ("write 0:3, warp, read 1:3", "read 1:3 after write 0:3"),
        ("write 0:3, block, read 1:3", ""),
        // A barrier orders what comes before it with what comes after it, and nothing else.
        ("block, write 0:3, read 1:3", "read 1:3 after write 0:3"),
        ("warp, write 0:3, read 0:4, warp", "read 0:4 after write 0:3"),
        ("write 0:3, block, warp, write 1:0, read 0:3", "read 0:3 after write 1:0"),
        ("read 0:0, warp, block, write 2:0", ""),
        ("read 0:0, block, write 2:0, warp, read 0:0", "read 0:0 after write 2:0"),
        // Of many readers, one is enough for a race with a thread of another warp, but not with one of theirs.
        ("read 0:0 0:1 0:2, write 0:0", "write 0:0 after read 0:1"),
        ("read 0:0 0:1 0:2, write 0:1", "write 0:1 after read 0:0"),
        ("read 0:0 0:1 0:2, warp, write 0:1", ""),
        ("read 0:0 0:1 0:2, warp, write 1:1", "write 1:1 after read 0:0"),
        ("read 0:0, read 1:0, read 2:0, warp, write 2:5", "write 2:5 after read 0:0"),
        ("read 0:0 1:0 2:0, block, read 3:0, write 3:0", ""),
        ("read 0:0 1:0, block, read 3:0 3:1, write 3:0", "write 3:0 after read 3:1"),
        // A read after a barrier is in the place of one before it.
        ("read 0:0, warp, read 0:1, write 0:0", "write 0:0 after read 0:1"),
        ("read 0:0, warp, read 0:0, write 0:1", "write 0:1 after read 0:0"),
        // Updates of one kind commute.
        ("add 0:0 1:0, add 2:0 0:1, block, read 3:0", ""),
        ("add 0:0, add 1:0, read 1:0", "read 1:0 after add 0:0"),
        ("add 0:0, max 0:1", "max 0:1 after add 0:0"),
        ("read 0:0, add 0:0, read 0:0, write 0:0", ""),
        ("read 0:0, add 1:0", "add 1:0 after read 0:0"),
        ("add 0:0, read 0:0, write 1:0", "write 1:0 after add 0:0"),
        ("add 0:0, warp, read 0:1 0:2, read 1:0", "read 1:0 after add 0:0"),
        ("add 0:0, block, write 1:0, add 1:0 1:1", "add 1:1 after write 1:0"),
        // The accesses of one operation are simultaneous; each of them counts.
        ("write 0:0 0:1 3:7", ""),
        ("write 0:0 3:7, read 3:7", "read 3:7 after write 0:0"),
        ("write 0:0 3:7, block, read 3:7", ""),
        ("write 0:0 0:1 0:0, read 0:0", "read 0:0 after write 0:1"),
        ("write 0:0 0:1 0:1, read 0:1", "read 0:1 after write 0:0"),
        ("read 0:1, write 0:0 0:1", "write 0:0 after read 0:1"),
        ("read 0:1, write 0:1 0:0", "write 0:0 after read 0:1"),
    ];
    let show = |(kind, thread): (AccessKind, u32)| {
        let word = match kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Update(kind) => kind.name(),
        };
        format!("{word} {}:{}", thread / LANES as u32, thread % LANES as u32)
    };
    for (text, expected) in cases {
        let found = run(&events(text));
        let found = found.map_or(String::new(), |(_, (one, two))| format!("{} after {}", show(one), show(two)));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn random_programs_race_where_the_definition_says() {
    let (mut state, mut races) = (1_u64, 0);
    let mut below = |n: u64| {
        // Knuth's generator, of which the high bits are random.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..100_000 {
        // Mostly barriers, or there is a race at once.
        let event = |below: &mut dyn FnMut(u64) -> u64| match below(16) {
            0..=4 => Event::Wait(Scope::Block),
            5..=8 => Event::Wait(Scope::Warp),
            9..=10 => Event::Does(AccessKind::Write, threads(below, 3)),
            11..=12 => Event::Does([ADD, MAX][below(2) as usize], threads(below, 4)),
            _ => Event::Does(AccessKind::Read, threads(below, 5)),
        };
        let events: Vec<Event> = (0..2 + below(12)).map(|_| event(&mut below)).collect();
        match (run(&events), defined(&events)) {
            (None, None) => {}
            (Some((at, race)), Some((expected, all))) => {
                assert!(at == expected && all.contains(&race), "{race:?} at {at}: {events:?}");
                races += 1;
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}: {events:?}"),
        }
    }
    assert!((10_000..90_000).contains(&races), "{races} races");
}

/// Some of three lanes of three warps: often the same ones.
fn threads(below: &mut dyn FnMut(u64) -> u64, most: u64) -> Vec<u32> {
    let (count, warps) = (1 + below(most), 1 + below(3));
    (0..count).map(|_| (below(warps) * LANES as u64 + below(3)) as u32).collect()
}
