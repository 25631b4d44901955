//! The machine that runs a kernel: one warp instruction after another, on one host thread.
//!
//! A launch ([`Run`]) has clusters, a [`Cluster`] has blocks with shared memory and warps. [`Cx`] is one warp with all
//! that its instruction may access; the files of this folder give it the instructions, one family each.
//!
//! Where PTX leaves behaviour unspecified, or kernels rely on more than it says:
//!
//! | what | here |
//! |---|---|
//! | lanes that took different branches | reconverge at the first instruction that both reach; nothing else joins them |
//! | `.aligned` | every lane of the warp must run it, and none may have ended |
//! | `mbarrier.try_wait` | waits until the phase ends; a program cannot rely on its coming back early |
//! | mbarriers | arrivals and waits that name no scope order the threads of a cluster, as kernels with multicast rely on; with `.cta`, those of the block alone |
//! | `.relaxed` arrivals and waits, at mbarriers and the cluster's barrier | order what fences before the one and after the other order |
//! | `.sync_restrict` fences | release accesses to shared memory of the own block, by whichever thread, and acquire those to shared memory of the cluster; nothing of global memory |
//! | `mapa` with a rank that no block has | gives an address that no access may use, as lanes do that use none |
//! | `st.async`, `red.async` | are done at any later moment; who waits for the mbarrier knows that they are done, and not what their thread did before |
//! | `ld.global.nc` | reads what the launch writes nowhere, before or after, whatever orders them |
//! | `setmaxnreg` | takes from the block's pool of registers: see `registers.rs` |
//! | `fence.mbarrier_init` | must come before copies and other blocks use the mbarrier; a proxy fence counts, too |
//! | `fence.proxy.async` | may stand anywhere between write and use, by whichever thread |
//! | `wgmma` | is one operation of four warps; each warp must know its operands, and is done when all are |
//! | `wgmma.fence` | a warp's earlier accesses come before its later ones (PTX says it of registers) |
//! | `red` of the bulk engine | is relaxed, at the scope of the device |
//! | lanes, and warps of a block, that store equal values by one instruction | do not race |
//! | a barrier without count | expects the warps that have not ended |
//! | a barrier's next phase | is entered by threads that are ordered after the one before, not by those that come next |
//! | `griddepcontrol`, `nanosleep`, `prefetch`, cache hints | do nothing |
//! | `%clock`, `%globaltimer` | count instructions; `%smid` is the cluster's number, modulo the multiprocessors of an H200 |
//!
//! **Invariant:** the host's state after a launch only depends on the text, the arguments and the seed.

mod access;
mod address;
mod alu;
mod async_store;
mod atomic;
mod barrier;
mod bulk;
mod call;
mod collective;
mod copy;
mod lanes;
mod livelock;
mod matrix;
mod mbarrier;
mod order;
mod print;
mod registers;
mod schedule;
mod shuffle;
mod start;
mod warp;
mod wgmma;

use crate::check::{Causality, Shadow};
use crate::code::{Class, Kernel, Op};
use crate::faults::{Fault, Repeats, Report, Site};
use crate::launch::{Options, Ran};
use crate::memory::Memory;
use crate::stats::Statistics;
use async_store::PendingStore;
use barrier::Barrier;
use bulk::{BulkQueue, PendingBulkCopy};
use copy::Copy;
use livelock::{Iterations, Watch};
use mbarrier::Mbarrier;
use order::{ClockSnapshot, Globals, Remote, View};
use schedule::Flow;
use std::collections::{BTreeMap, HashMap, HashSet};
use warp::{CopyQueue, Fragment, Lanes, Waiting};
use wgmma::{Warpgroup, WgmmaQueue};

pub(crate) use start::launch;

/// The most blocks that a report tells apart.
const MAX_BLOCKS: usize = 1 << 16;

/// The launch ends here; the reports say why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop;

/// A launch that runs.
pub(crate) struct Run<'m> {
    /// The code.
    kernel: &'m Kernel,
    /// The architecture: 90 for `sm_90a`.
    sm: u32,
    /// Blocks along each axis.
    grid: [u32; 3],
    /// Threads of a block along each axis.
    threads: [u32; 3],
    /// Warps of a block.
    warps: u32,
    /// Blocks of a cluster along each axis.
    cluster: [u32; 3],
    /// Whether the launch or the kernel named a cluster.
    clustered: bool,
    /// Bytes of dynamic shared memory.
    dynamic: u32,
    /// The parameters.
    params: Vec<u8>,
    /// Addresses of the module's variables.
    variables: Vec<u64>,
    memory: &'m mut Memory,
    options: &'m Options,
    rng: fastrand::Rng,
    reports: Vec<Report>,
    /// By group of instructions and kind of fault.
    reported: HashMap<(u32, &'static str), Reported>,
    statistics: Statistics,
    trace: Vec<Ran>,
    printed: String,
    /// Order of accesses to global memory.
    globals: Globals,
    /// Instructions that ran, and how many at the last progress.
    executed: u64,
    progressed: u64,
    /// How many had run at the first report.
    first_report: Option<u64>,
    /// Numbers asynchronous work.
    next: u64,
}

/// The index of a report.
#[derive(Debug, Default)]
struct Reported {
    /// Its number.
    index: usize,
    instructions: HashSet<u32>,
    blocks: HashSet<[u32; 3]>,
}

/// Blocks that share their shared memory.
pub(crate) struct Cluster {
    /// Number in the grid.
    index: u32,
    blocks: Vec<Block>,
    /// Every warp: block and number.
    order: Vec<(u32, u32)>,
    /// Asynchronous work in flight.
    pending: Vec<Pending>,
    agents: Causality,
    /// Completions of the cluster's barrier.
    phase: u64,
    /// Threads that have arrived at it, and their merged clocks.
    arrived: u32,
    /// Those of them that have ended.
    left: u32,
    arriving: View,
    /// The merged clock of the last completion.
    complete: View,
}

/// A block.
pub(crate) struct Block {
    /// In the grid.
    id: [u32; 3],
    warps: Vec<Warp>,
    /// Threads that have not ended.
    live: u32,
    shared: Vec<u8>,
    shadow: Shadow,
    barriers: [Barrier; 16],
    mbarriers: BTreeMap<u32, Mbarrier>,
    /// Accesses of other blocks to this block's memory: it must not end before them.
    remote: Vec<Remote>,
    /// The merged clocks of its threads that have ended.
    last: View,
    /// `wgmma` instructions of each warpgroup, to compare those of its warps.
    warpgroups: Vec<Warpgroup>,
    /// Registers that `setmaxnreg` gave back, in those of a warp's thread; none if the registers at the launch are unknown.
    free_registers: Option<u32>,
}

/// A warp of a block.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// Number in the block.
    pub index: u32,
    /// Lanes that exist: all but in the last warp of some blocks.
    pub launched: u32,
    /// Lanes that have ended.
    pub exited: u32,
    /// The others.
    pub fragments: Vec<Fragment>,
    /// A value for each register and lane.
    pub registers: Vec<Lanes>,
    /// Lanes in which a register was written.
    pub defined: Vec<u32>,
    /// Instructions that ran: the time of the next two.
    pub time: u64,
    /// When an ordinary instruction last wrote a register.
    pub written: Vec<u64>,
    /// How many unfinished `wgmma` use a register: as accumulator in the low half, as fragment of A in the high half.
    pub locked: Vec<u32>,
    /// Unfinished `wgmma`.
    pub wgmma: WgmmaQueue,
    /// Local memory of each lane, made at the first access, and which bytes were written.
    pub local: Vec<(Vec<u8>, Vec<bool>)>,
    /// Bulk copies of each lane.
    pub bulk: Vec<BulkQueue>,
    /// `cp.async` of each lane.
    pub copies: Vec<CopyQueue>,
    /// The phase of the cluster's barrier that each lane has arrived at and not yet waited for.
    pub cluster_phase: [Option<u64>; 32],
    /// Registers of a thread, as `setmaxnreg` left them; none if they are unknown.
    pub max_registers: Option<u32>,
    /// An earlier state, to detect a repetition.
    pub watch: Option<Box<Watch>>,
    /// Iterations of its loops.
    pub iterations: Iterations,
}

/// Work that was started.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Its number.
    pub id: u64,
    /// Who began it: rank of the block, warp, lane, and at which instruction.
    pub origin: Origin,
    /// The clock at its start.
    pub snapshot: ClockSnapshot,
    /// The work.
    pub work: Work,
}

/// Who began asynchronous work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub rank: usize,
    pub warp: u32,
    pub lane: usize,
    pub pc: u32,
}

/// The work.
#[derive(Debug)]
pub(crate) enum Work {
    /// `cp.async`
    Copy(Copy),
    /// `cp.async.bulk`
    Bulk(PendingBulkCopy),
    /// `st.async`, `red.async`
    Store(PendingStore),
}

impl Work {
    /// What a report calls it.
    fn name(&self) -> &'static str {
        match self {
            Work::Copy(_) | Work::Bulk(_) => "a copy",
            Work::Store(_) => "an asynchronous store",
        }
    }
}

/// A warp at an instruction.
pub(crate) struct Cx<'a, 'm> {
    run: &'a mut Run<'m>,
    cluster: &'a mut Cluster,
    /// Rank of the warp's block in the cluster.
    b: usize,
    /// The warp, taken out of its block.
    warp: Warp,
    /// Lanes that run the instruction.
    mask: u32,
    pc: u32,
}

impl Run<'_> {
    /// Something happened that another warp may wait for.
    fn progress(&mut self) {
        self.progressed = self.executed;
    }

    /// Instructions since the last progress.
    fn idle(&self) -> u64 {
        self.executed - self.progressed
    }

    /// An instruction's position.
    fn site(&self, pc: u32) -> Site {
        self.kernel.sites.get(pc as usize).cloned().unwrap_or_default()
    }

    /// Adds a report; the launch ends.
    fn report_at(&mut self, block: [u32; 3], warp: u32, lane: u32, pc: u32, fault: Fault) -> Stop {
        let _ = self.note(block, warp, lane, pc, fault);
        Stop
    }

    /// Adds a report, or counts it if this instruction, or one of its group, has the same already; the launch ends if there are
    /// too many.
    fn note(&mut self, block: [u32; 3], warp: u32, lane: u32, pc: u32, fault: Fault) -> Result<(), Stop> {
        let group = self.kernel.groups.get(pc as usize).copied().unwrap_or(pc);
        let index = self.reports.len();
        let known =
            self.reported.entry((group, fault.name())).or_insert_with(|| Reported { index, ..Reported::default() });
        known.instructions.insert(pc);
        if known.blocks.len() < MAX_BLOCKS {
            known.blocks.insert(block);
        }
        match self.reports.get_mut(known.index) {
            Some(Report { repeats, .. }) => {
                repeats.times += 1;
                repeats.instructions = known.instructions.len() as u32 - 1;
                repeats.blocks = known.blocks.len() as u32 - 1;
            }
            None => {
                let (kernel, site, repeats) = (self.kernel.name.clone(), self.site(pc), Repeats::default());
                self.first_report.get_or_insert(self.executed);
                self.reports.push(Report { fault, kernel, site, block, warp, lane, repeats });
            }
        }
        if self.reports.len() < self.options.max_reports { Ok(()) } else { Err(Stop) }
    }

    /// Takes down that an instruction ran.
    fn trace(&mut self, block: [u32; 3], warp: u32, pc: u32) {
        if self.trace.len() < self.options.trace {
            let line = self.kernel.sites.get(pc as usize).map_or(0, |site| site.pos.line);
            self.trace.push(Ran { time: self.executed, block, warp, line });
        }
    }

    fn count(&mut self, op: &Op) {
        let s = &mut self.statistics;
        s.instructions += 1;
        match op.class() {
            Class::Arithmetic => s.arithmetic += 1,
            Class::Control => s.control += 1,
            Class::Memory => s.memory += 1,
            Class::Matrix => s.matrix += 1,
        }
    }
}

impl Cluster {
    /// Whether no thread is left.
    fn ended(&self) -> bool {
        self.blocks.iter().all(|b| b.live == 0)
    }

    /// Threads that have not ended.
    fn live(&self) -> u32 {
        self.blocks.iter().map(|b| b.live).sum()
    }
}

impl Warp {
    /// A warp with this many lanes at the first instruction.
    pub fn new(index: u32, lanes: u32, kernel: &Kernel) -> Warp {
        let count = kernel.registers.len();
        let launched = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
        Warp {
            index,
            launched,
            fragments: vec![Fragment { lanes: launched, pc: 0, wait: None, streak: 0 }],
            registers: vec![[0; 32]; count],
            defined: vec![0; count],
            written: vec![0; count],
            locked: vec![0; count],
            bulk: std::iter::repeat_with(BulkQueue::default).take(32).collect(),
            copies: std::iter::repeat_with(CopyQueue::default).take(32).collect(),
            max_registers: kernel.max_registers,
            ..Warp::default()
        }
    }

    /// Lanes that have not ended.
    pub fn live(&self) -> u32 {
        self.launched & !self.exited
    }

    /// Joins fragments at the same instruction and do not wait for something else.
    pub fn merge(&mut self) {
        let mut i = 0;
        while i < self.fragments.len() {
            let mut j = i + 1;
            while j < self.fragments.len() {
                let (a, b) = (&self.fragments[i], &self.fragments[j]);
                // Lanes that wait for some of the warp are not joined by others.
                let takes = |f: &Fragment, others: u32| match f.wait {
                    None => true,
                    Some(Waiting::Lanes(needed)) => others & !needed == 0,
                    Some(_) => false,
                };
                if a.pc == b.pc && takes(a, b.lanes) && takes(b, a.lanes) {
                    let other = self.fragments.swap_remove(j);
                    let fragment = &mut self.fragments[i];
                    fragment.lanes |= other.lanes;
                    fragment.wait = None;
                    fragment.streak = fragment.streak.max(other.streak);
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }
}

impl Pending {
    /// Whether it is a bulk copy or a store to the shared memory of a block.
    fn writes_to(&self, rank: u32) -> bool {
        match &self.work {
            Work::Copy(_) => false,
            Work::Bulk(bulky) => bulky.writes_to(rank),
            Work::Store(store) => store.writes_to(rank),
        }
    }
}

impl Cx<'_, '_> {
    fn block(&self) -> &Block {
        &self.cluster.blocks[self.b]
    }

    fn block_mut(&mut self) -> &mut Block {
        &mut self.cluster.blocks[self.b]
    }

    /// Reports a fault after which the launch can continue.
    fn report(&mut self, lane: usize, fault: Fault) -> Result<(), Stop> {
        let (id, warp) = (self.block().id, self.warp.index);
        self.run.note(id, warp, lane as u32, self.pc, fault)
    }

    /// Reports a fault after which the launch ends.
    fn fatal(&mut self, fault: Fault) -> Stop {
        self.fatal_in(self.mask.trailing_zeros().min(31) as usize, fault)
    }

    /// The same, of a lane.
    fn fatal_in(&mut self, lane: usize, fault: Fault) -> Stop {
        let (id, warp) = (self.block().id, self.warp.index);
        self.run.report_at(id, warp, lane as u32, self.pc, fault)
    }

    /// What to wait for if these lanes of the warp, or those of them that have not ended, are not all here. Lanes that are here
    /// must be named.
    fn together(&mut self, needed: u32) -> Result<Option<Flow>, Stop> {
        if self.mask & !needed != 0 {
            let why = format!("lanes {:#010x} are not named in their own mask {needed:#010x}", self.mask & !needed);
            return Err(self.fatal(Fault::Divergence { here: self.mask, needed, why }));
        }
        let absent = needed & self.warp.live() & !self.mask;
        Ok((absent != 0).then_some(Flow::Retry(Waiting::Lanes(needed))))
    }

    /// The same for an instruction on matrices, which every lane of a whole warp takes part in.
    fn whole_warp(&mut self) -> Result<Option<Flow>, Stop> {
        if self.warp.launched != u32::MAX {
            let why = "the block has no more threads".to_string();
            return Err(self.fatal(Fault::Divergence { here: self.mask, needed: u32::MAX, why }));
        }
        self.aligned()
    }

    /// The same for an `.aligned` instruction: every lane of the warp, and none may have ended.
    fn aligned(&mut self) -> Result<Option<Flow>, Stop> {
        if self.warp.exited != 0 {
            let (here, needed) = (self.mask, self.warp.launched);
            let why = format!("lanes {:#010x} have ended", self.warp.exited);
            return Err(self.fatal(Fault::Divergence { here, needed, why }));
        }
        self.together(self.warp.launched)
    }
}
