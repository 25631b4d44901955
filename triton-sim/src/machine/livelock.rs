//! Livelocks, and how they are proven: all that a warp observes is the same as before, so that it repeats itself.
//!
//! While nothing happens that another warp could see, a warp is a machine of its own: what it does next follows from its
//! registers and from where its lanes are. Once these repeat, they repeat forever. If that is so of every warp that
//! can run, and no copy is in flight, the launch is a livelock. A warp that has not yet come back may have a long loop
//! before it: there a limit of the options decides, and the report says so.
//!
//! Where to look for the earlier state: at that of a power of two of instructions before (Brent, BIT 20, 1980).

use super::warp::{Lanes, Waiting};
use super::{Cluster, Cx, Run, Warp};
use crate::faults::{Fault, Wait};

/// Instructions without progress before warps are watched: most loops are shorter.
const WATCH_AFTER: u64 = 4096;

/// Why a launch is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// No warp can make progress.
    Deadlock,
    /// Those that can run repeat themselves forever.
    Livelock,
    /// Nothing has changed for as many instructions as `Options::idle_limit` says: another cluster may change something.
    IdleLimit,
    /// All of `Options::max_instructions` have run.
    MaxInstructions,
    /// All of `Options::after_report` have run since the first report.
    AfterReport,
}

/// A state that a warp was in.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Instructions of the launch that had run.
    since: u64,
    /// Lanes, instruction and wait of each fragment.
    fragments: Vec<(u32, u32, Option<Waiting>)>,
    registers: Vec<Lanes>,
    /// Whether the warp has come to it again.
    repeated: bool,
}

/// Backward jumps of a warp without progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Iterations {
    count: u64,
    /// Instructions of the launch that had run at the first.
    since: u64,
}

impl Warp {
    fn positions(&self) -> impl Iterator<Item = (u32, u32, Option<Waiting>)> {
        self.fragments.iter().map(|f| (f.lanes, f.pc, f.wait.clone()))
    }
}

impl Watch {
    fn of(warp: &Warp, since: u64) -> Watch {
        Watch { since, fragments: warp.positions().collect(), registers: warp.registers.clone(), repeated: false }
    }

    fn same(&self, warp: &Warp) -> bool {
        self.fragments.iter().cloned().eq(warp.positions()) && self.registers == warp.registers
    }
}

impl Run<'_> {
    /// Whether what was seen then is still so.
    fn idle_since(&self, then: u64) -> bool {
        self.progressed < then
    }

    /// Whether every warp that can run repeats itself forever. True only if the last round over all warps was without
    /// progress, so that those that wait were asked.
    pub(super) fn livelocked(&self, resident: &[Cluster]) -> bool {
        let stays = |warp: &Warp| {
            let waits = warp.fragments.iter().all(|f| f.wait.is_some());
            waits || warp.watch.as_ref().is_some_and(|w| w.repeated && self.idle_since(w.since))
        };
        let warps = |c: &Cluster| c.blocks.iter().flat_map(|b| &b.warps).all(stays);
        self.idle() > WATCH_AFTER && resident.iter().all(|c| c.pending.is_empty() && warps(c))
    }

    /// The limit that was reached.
    pub(super) fn limit(&self) -> Option<Halt> {
        if self.executed >= self.options.max_instructions {
            Some(Halt::MaxInstructions)
        } else if self.first_report.is_some_and(|then| self.executed - then >= self.options.after_report) {
            Some(Halt::AfterReport)
        } else {
            (self.idle() > self.options.idle_limit).then_some(Halt::IdleLimit)
        }
    }

    /// What stopped the launch, with where each warp is.
    pub(super) fn halted(&self, halt: Halt, waits: Vec<Wait>) -> Fault {
        let (option, limit) = match halt {
            Halt::Deadlock => return Fault::Deadlock { waits },
            Halt::Livelock => return Fault::Livelock { waits },
            Halt::IdleLimit => ("idle_limit", self.options.idle_limit),
            Halt::MaxInstructions => ("max_instructions", self.options.max_instructions),
            Halt::AfterReport => ("after_report", self.options.after_report),
        };
        Fault::Limit { option, limit, idle: self.idle(), ran: self.executed, waits }
    }

    /// The description of a warp that can run.
    pub(super) fn running(&self, warp: &Warp) -> String {
        match warp.iterations {
            Iterations { count, since } if count > 0 && since > self.progressed => {
                format!("runs, {count} iterations of its loop so far")
            }
            Iterations { .. } => "runs".to_string(),
        }
    }
}

impl Cx<'_, '_> {
    /// Counts a jump of the warp.
    pub(super) fn count_iteration(&mut self, target: u32) {
        if target > self.pc {
            return;
        }
        let iterations = &mut self.warp.iterations;
        if iterations.since <= self.run.progressed {
            *iterations = Iterations { count: 0, since: self.run.executed };
        }
        iterations.count += 1;
    }

    /// Compares the warp with what it was, or remembers what it is.
    pub(super) fn watch(&mut self) {
        let idle = self.run.idle();
        if idle < WATCH_AFTER {
            return;
        }
        if let Some(mut watch) = self.warp.watch.take().filter(|w| self.run.idle_since(w.since)) {
            watch.repeated = watch.repeated || watch.same(&self.warp);
            if watch.repeated || idle < 2 * (watch.since - self.run.progressed) {
                self.warp.watch = Some(watch);
                return;
            }
        }
        self.warp.watch = Some(Box::new(Watch::of(&self.warp, self.run.executed)));
    }

    /// The warp has observed something that changes without it.
    pub(super) fn reset_watch(&mut self) {
        self.warp.watch = None;
    }
}
