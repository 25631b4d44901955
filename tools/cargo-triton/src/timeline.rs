//! What the warps of a block do beside each other, in warp instructions of the simulator: copies, waits, products, barriers.

use crate::lines::{At, Line};
use serde::Serialize;
use std::collections::BTreeMap;
use triton_sim::Ran;

/// Events of the warps of a block.
#[derive(Debug, Serialize)]
pub struct Timeline {
    note: String,
    lanes: Vec<String>,
    steps: u64,
    events: Vec<Event>,
}

/// An instruction, or several alike in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Event {
    lane: usize,
    from: u64,
    to: u64,
    kind: &'static str,
    text: String,
    /// The number of its line of PTX, from 0.
    ptx: usize,
    at: Option<At>,
}

/// Events of a warp that are shown: a few turns of a loop.
const MOST: usize = 160;

/// Instructions alike within this many steps are one event.
const NEAR: u64 = 64;

/// Warp instructions that are taken down.
pub const TRACED: usize = 400_000;

/// What an instruction is shown as; nothing of arithmetic.
fn kind(code: &str) -> Option<&'static str> {
    let code =
        code.split_once(' ').filter(|(guard, _)| guard.starts_with('@')).map_or(code, |(_, rest)| rest.trim_start());
    let kinds: [(&str, &[&str]); 6] = [
        (
            "wait",
            &[
                "cp.async.wait",
                "mbarrier.try_wait",
                "mbarrier.test_wait",
                "wgmma.wait_group",
                "cp.async.bulk.wait",
                "barrier.cluster.wait",
            ],
        ),
        ("copy", &["cp.async"]),
        ("multiply", &["wgmma.mma_async", "mma.sync"]),
        ("barrier", &["bar.sync", "barrier", "bar.arrive", "mbarrier.arrive", "fence"]),
        ("load", &["ld.global", "ld.shared", "ldmatrix"]),
        ("store", &["st.global", "st.shared", "stmatrix", "red.", "atom."]),
    ];
    kinds.iter().find(|(_, names)| names.iter().any(|name| code.starts_with(name))).map(|(kind, _)| *kind)
}

/// The timeline of the first block of a run, by the lines of its PTX.
pub fn of(trace: &[Ran], ptx: &[Line]) -> Timeline {
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    let mut events: BTreeMap<u32, Vec<Event>> = BTreeMap::new();
    let block = trace.first().map(|ran| ran.block);
    for ran in trace.iter().filter(|ran| Some(ran.block) == block) {
        let before = last.insert(ran.warp, ran.time).unwrap_or(ran.time.saturating_sub(1));
        let line = (ran.line as usize).saturating_sub(1);
        let Some(Line(text, at)) = ptx.get(line) else { continue };
        let code = text.trim().trim_end_matches(';');
        let Some(kind) = kind(code) else { continue };
        let of_warp = events.entry(ran.warp).or_default();
        // What waits has done so since the instruction before it.
        let from = if kind == "wait" || kind == "barrier" { before } else { ran.time.saturating_sub(1) };
        if let Some(event) = of_warp.last_mut()
            && (event.kind, event.at) == (kind, *at)
            && from <= event.to + NEAR
        {
            event.to = ran.time;
        } else if of_warp.len() < MOST {
            let text = code.chars().take(120).collect();
            of_warp.push(Event { lane: 0, from, to: ran.time, kind, text, ptx: line, at: *at });
        }
    }
    let first = events.values().flatten().map(|event| event.from).min().unwrap_or(0);
    let lanes = events.keys().map(|warp| format!("warp {warp}")).collect();
    let mut shown: Vec<Event> = Vec::new();
    for (lane, of_warp) in events.into_values().enumerate() {
        let moved = |event: Event| Event { lane, from: event.from - first, to: event.to - first, ..event };
        shown.extend(of_warp.into_iter().map(moved));
    }
    let steps = shown.iter().map(|event| event.to).max().unwrap_or(0);
    let note = "One block of the launch on the simulator, which runs warps in a random order: lengths are warp instructions of the block, and no time of a GPU.";
    Timeline { note: note.into(), lanes, steps, events: shown }
}

#[cfg(test)]
mod tests {
    use super::{kind, of};
    use crate::lines::Line;
    use triton_sim::Ran;

    #[test]
    fn instructions_are_told_apart() {
        for (code, expected) in [
            ("cp.async.wait_group 1", Some("wait")),
            ("@%p1 cp.async.bulk.tensor.2d.shared::cluster.global [%r1], [%r2]", Some("copy")),
            ("wgmma.wait_group.sync.aligned 0", Some("wait")),
            ("wgmma.mma_async.sync.aligned.m64n8k16", Some("multiply")),
            ("add.s32 %r1, %r2, %r3", None),
        ] {
            assert_eq!(kind(code), expected, "{code}");
        }
    }

    #[test]
    fn a_wait_lasts_since_the_instruction_before() {
        let ptx = [Line("add.s32 %r1;".into(), None), Line("bar.sync 0;".into(), Some((0, 3, 1)))];
        let ran = |time, warp, line| Ran { time, block: [0; 3], warp, line };
        let timeline = of(&[ran(1, 0, 1), ran(2, 1, 1), ran(9, 0, 2), ran(10, 1, 2)], &ptx);
        let spans: Vec<_> = timeline.events.iter().map(|event| (event.lane, event.from, event.to)).collect();
        assert_eq!((spans, timeline.lanes.len(), timeline.steps), (vec![(0, 0, 8), (1, 1, 9)], 2, 9));
    }
}
