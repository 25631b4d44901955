//! Mbarriers: phases that complete when all arrivals and all bytes are there (PTX ISA, "mbarrier").

use super::address::LaneAccess;
use super::order::{Epoch, View};
use super::schedule::Flow;
use super::warp::{Waiting, lanes};
use super::{Block, Cluster, Cx, Origin, Run, Stop};
use crate::code::{Addr, MbarrierOp, MbarrierOrder, Reg, Src, WaitFor, Window};
use crate::faults::{AccessKind, Fault, MbarrierProblem};

/// The most arrivals and bytes of a phase.
const MAX: i64 = (1 << 20) - 1;

/// An mbarrier object.
#[derive(Debug)]
pub(crate) struct Mbarrier {
    /// Arrivals that a phase needs.
    pub expected: u32,
    /// Arrivals that are missing.
    pub pending: u32,
    /// Bytes that are missing.
    pub tx: i64,
    /// Phases that have ended.
    pub phase: u64,
    /// The merged clocks of the threads of its block that arrived in this phase, and of completed copies.
    pub arrived: View,
    /// The same of other blocks: a wait with `.cta` scope does not acquire it.
    pub arrived_remote: View,
    /// The merged clocks of the last phase.
    pub completed: View,
    /// The same of other blocks.
    pub completed_remote: View,
    /// The thread that initialized it.
    pub initializer: Epoch,
    /// Whether `fence.mbarrier_init` (or a proxy fence) came after that.
    pub fenced: bool,
    /// The phase of the cluster's barrier that its maker came to after that: what follows it knows the mbarrier, also if
    /// the arrival was relaxed.
    pub published: Option<u64>,
    /// The last use by each thread of the cluster: clock and instruction.
    pub used: Vec<(u32, u32)>,
    /// The agent of copies that complete here.
    pub agent: Option<u32>,
}

impl Mbarrier {
    /// Ends the phase if nothing is missing.
    fn complete(&mut self, cluster: u32) {
        if self.pending == 0 && self.tx == 0 {
            self.phase += 1;
            self.pending = self.expected;
            self.completed = std::mem::replace(&mut self.arrived, View::new(cluster));
            self.completed_remote = std::mem::replace(&mut self.arrived_remote, View::new(cluster));
        }
    }

    /// The state that an arrival returns, and a wait for it takes.
    fn state(&self) -> u64 {
        (self.phase << 32) | u64::from(self.pending)
    }
}

impl Block {
    /// The mbarrier that bytes of shared memory belong to.
    pub(super) fn mbarrier_at(&self, offset: u32, bytes: u32) -> Option<u32> {
        if self.mbarriers.is_empty() {
            return None;
        }
        self.mbarriers.range(offset.saturating_sub(7)..offset + bytes).next().map(|(at, _)| *at)
    }
}

impl Cx<'_, '_> {
    pub(super) fn mbarrier(&mut self, window: Window, addr: Addr, op: &MbarrierOp) -> Result<Flow, Stop> {
        if let MbarrierOp::PendingCount(dst, state) = op {
            let out = self.read(*state)?.map(|s| s & 0xffff_ffff);
            self.write(*dst, &out)?;
            return Ok(Flow::Next);
        }
        let addresses = self.addresses(addr)?;
        let all = self.mask;
        if let MbarrierOp::Wait { done, phase, blocking, acquire } = op {
            return self.wait(window, addresses, *done, *phase, *blocking, *acquire);
        }
        let operand = |cx: &mut Self, src: Option<Src>, none: u64| match src {
            Some(src) => cx.read(src),
            None => Ok([none; 32]),
        };
        let (first, second, state) = match op {
            MbarrierOp::Init(count) | MbarrierOp::ExpectTx(count) | MbarrierOp::CompleteTx(count) => {
                (self.read(*count)?, [0; 32], None)
            }
            MbarrierOp::Arrive { state, count, expect, .. } => {
                (operand(self, *count, 1)?, operand(self, *expect, 0)?, *state)
            }
            MbarrierOp::Inval
            | MbarrierOp::CopyArrive { .. }
            | MbarrierOp::Wait { .. }
            | MbarrierOp::PendingCount(..) => ([0; 32], [0; 32], None),
        };
        let mut states = [0; 32];
        for lane in lanes(all) {
            self.mask = 1 << lane;
            let access = LaneAccess { bytes: 8, align: 8, access: AccessKind::Atomic };
            let (rank, offset) = self.locate_shared(lane, window, addresses[lane], access)?;
            match op {
                MbarrierOp::Init(_) => self.init(lane, rank, offset, first[lane])?,
                MbarrierOp::Inval => {
                    self.check_initialized(lane, rank, offset)?;
                    let ended = self.cluster.blocks[rank as usize].mbarriers.remove(&offset);
                    for (thread, (clock, pc)) in (0..).zip(ended.map_or(Vec::new(), |m| m.used)) {
                        self.order_after(lane, (rank, offset), &Epoch::of(thread, clock, pc))?;
                    }
                }
                MbarrierOp::Arrive { drop, completes, release, .. } => {
                    if state.is_some() && rank as usize != self.b {
                        let problem = format!(
                            "the mbarrier is of block {rank} of the cluster and gives no state: use `_` for it"
                        );
                        return Err(self.fatal_in(lane, Fault::Operand { problem }));
                    }
                    self.check_initialized(lane, rank, offset)?;
                    let phase = self.cluster.blocks[rank as usize].mbarriers[&offset].phase;
                    self.use_of(lane, rank, offset, Some((offset, phase)));
                    states[lane] = self.cluster.blocks[rank as usize].mbarriers[&offset].state();
                    if second[lane] != 0 {
                        self.expect(lane, rank, offset, second[lane] as i64)?;
                    }
                    let view = self.release_arrival(lane, rank as usize != self.b, *release);
                    self.arrive(lane, rank, offset, first[lane], *drop, view)?;
                    if !completes && self.cluster.blocks[rank as usize].mbarriers[&offset].phase != phase {
                        return Err(self.problem(lane, offset, MbarrierProblem::Completes));
                    }
                }
                MbarrierOp::ExpectTx(_) => {
                    self.use_initialized(lane, rank, offset)?;
                    self.expect(lane, rank, offset, i64::from(first[lane] as u32))?;
                }
                MbarrierOp::CompleteTx(_) => {
                    self.use_initialized(lane, rank, offset)?;
                    self.expect(lane, rank, offset, -i64::from(first[lane] as u32))?;
                    let cluster = self.cluster.index;
                    let m = self.cluster.blocks[rank as usize].mbarriers.get_mut(&offset);
                    m.into_iter().for_each(|m| m.complete(cluster));
                }
                MbarrierOp::CopyArrive { noinc } => {
                    self.use_initialized(lane, rank, offset)?;
                    self.copy_arrive(lane, rank, offset, *noinc)?;
                }
                MbarrierOp::Wait { .. } | MbarrierOp::PendingCount(..) => {}
            }
        }
        self.mask = all;
        self.run.progress();
        if let Some(state) = state {
            self.write(state, &states)?;
        }
        Ok(Flow::Next)
    }

    fn problem(&mut self, lane: usize, offset: u32, problem: MbarrierProblem) -> Stop {
        self.fatal_in(lane, Fault::Mbarrier { address: u64::from(offset), problem })
    }

    fn init(&mut self, lane: usize, rank: u32, offset: u32, count: u64) -> Result<(), Stop> {
        let count = count & 0xffff_ffff;
        if count == 0 || count > MAX as u64 {
            return Err(self.problem(lane, offset, MbarrierProblem::Count { count }));
        }
        let block = &self.cluster.blocks[rank as usize];
        if block.mbarrier_at(offset, 8).is_some() {
            return Err(self.problem(lane, offset, MbarrierProblem::InitialisedTwice));
        }
        self.check_lane_access(lane, rank, offset, 8, AccessKind::Write)?;
        let initializer = self.epoch(lane);
        let expected = count as u32;
        let nothing = self.empty_view();
        let object = Mbarrier {
            expected,
            pending: expected,
            tx: 0,
            phase: 0,
            arrived: nothing.clone(),
            arrived_remote: nothing.clone(),
            completed: nothing.clone(),
            completed_remote: nothing,
            initializer,
            fenced: false,
            published: None,
            used: Vec::new(),
            agent: None,
        };
        self.cluster.blocks[rank as usize].mbarriers.insert(offset, object);
        Ok(())
    }

    /// Reports an operation on what is not an mbarrier, or on one whose initialization does not happen before.
    pub(super) fn check_initialized(&mut self, lane: usize, rank: u32, offset: u32) -> Result<(), Stop> {
        match self.cluster.blocks[rank as usize].mbarriers.get(&offset) {
            None => Err(self.problem(lane, offset, MbarrierProblem::NotInitialised)),
            Some(m) if rank as usize != self.b && !m.fenced => {
                Err(self.problem(lane, offset, MbarrierProblem::NotFenced))
            }
            Some(m) => {
                let initializer = m.initializer.clone();
                if m.published.is_none_or(|phase| self.cluster.phase <= phase) {
                    self.order_after(lane, (rank, offset), &initializer)?;
                }
                Ok(())
            }
        }
    }

    /// The address of the mbarrier at which a copy to the shared memory of blocks completes: all of them have one there, of
    /// which the instruction names that of `owner`.
    pub(super) fn completion_mbarrier(
        &mut self,
        lane: usize,
        window: Window,
        address: u64,
        owner: u32,
        ranks: &[u32],
    ) -> Result<u32, Stop> {
        let access = LaneAccess { bytes: 8, align: 8, access: AccessKind::Atomic };
        let (found, offset) = self.locate_shared(lane, window, address, access)?;
        if found != owner {
            let problem = format!("the mbarrier is of block {found}, and not of the block that receives the copy");
            return Err(self.fatal_in(lane, Fault::Operand { problem }));
        }
        for &rank in ranks {
            if self.cluster.blocks[rank as usize].live == 0 {
                let what = format!("a copy to block {rank} of the cluster, which has ended");
                return Err(self.fatal_in(lane, Fault::UnfinishedAtExit { what }));
            }
            self.check_initialized(lane, rank, offset)?;
        }
        Ok(offset)
    }

    /// A lane itself uses an mbarrier, which must not end before, nor must its block.
    fn use_initialized(&mut self, lane: usize, rank: u32, offset: u32) -> Result<(), Stop> {
        self.check_initialized(lane, rank, offset)?;
        self.use_of(lane, rank, offset, None);
        Ok(())
    }

    /// The same where that is known, and may be an arrival for a phase.
    fn use_of(&mut self, lane: usize, rank: u32, offset: u32, arrival: Option<(u32, u64)>) {
        self.remote_access(lane, rank, arrival);
        let (thread, clock, pc) = (self.thread(lane) as usize, self.clock(lane), self.pc);
        if let Some(m) = self.cluster.blocks[rank as usize].mbarriers.get_mut(&offset) {
            m.used.resize(m.used.len().max(thread + 1), (0, 0));
            m.used[thread] = (clock, pc);
        }
    }

    fn expect(&mut self, lane: usize, rank: u32, offset: u32, bytes: i64) -> Result<(), Stop> {
        let Some(m) = self.cluster.blocks[rank as usize].mbarriers.get_mut(&offset) else { return Ok(()) };
        m.tx += bytes;
        let pending = m.tx;
        if pending.abs() > MAX {
            return Err(self.problem(lane, offset, MbarrierProblem::Bytes { pending }));
        }
        Ok(())
    }

    /// Counts arrivals.
    pub(super) fn arrive(
        &mut self,
        lane: usize,
        rank: u32,
        offset: u32,
        count: u64,
        drop: bool,
        view: Option<View>,
    ) -> Result<(), Stop> {
        let (cluster, remote) = (self.cluster.index, rank as usize != self.b);
        let Some(m) = self.cluster.blocks[rank as usize].mbarriers.get_mut(&offset) else { return Ok(()) };
        let count = count & 0xffff_ffff;
        if count == 0 {
            return Err(self.problem(lane, offset, MbarrierProblem::Count { count }));
        }
        if count > u64::from(m.pending) {
            let expected = m.expected;
            return Err(self.problem(lane, offset, MbarrierProblem::TooManyArrivals { expected }));
        }
        m.pending -= count as u32;
        if drop {
            m.expected -= count as u32;
        }
        if let Some(view) = view {
            if remote { &mut m.arrived_remote } else { &mut m.arrived }.join(&view);
        }
        if m.pending == 0 && m.tx < 0 {
            let pending = m.tx;
            return Err(self.problem(lane, offset, MbarrierProblem::Bytes { pending }));
        }
        m.complete(cluster);
        Ok(())
    }

    fn wait(
        &mut self,
        window: Window,
        addresses: [u64; 32],
        done: Reg,
        phase: WaitFor,
        blocking: bool,
        acquire: MbarrierOrder,
    ) -> Result<Flow, Stop> {
        let wanted = match phase {
            WaitFor::Parity(src) | WaitFor::State(src) => self.read(src)?,
        };
        let mut out = 0;
        let mut waits = None;
        for lane in lanes(self.mask) {
            let lane_access = LaneAccess { bytes: 8, align: 8, access: AccessKind::Atomic };
            let (rank, offset) = self.locate_shared(lane, window, addresses[lane], lane_access)?;
            if rank as usize != self.b {
                let problem = format!("the mbarrier is of block {rank} of the cluster, but threads wait for their own");
                return Err(self.fatal_in(lane, Fault::Operand { problem }));
            }
            self.use_initialized(lane, rank, offset)?;
            let m = &self.cluster.blocks[rank as usize].mbarriers[&offset];
            let over = match phase {
                WaitFor::Parity(_) => m.phase & 1 != wanted[lane] & 1,
                WaitFor::State(_) => m.phase != wanted[lane] >> 32,
            };
            if over {
                out |= 1 << lane;
                let now = m.phase;
                let (local, remote) = (m.completed.clone(), m.completed_remote.clone());
                self.acquire_phase(lane, false, acquire, &local);
                self.acquire_phase(lane, true, acquire, &remote);
                self.block_mut().saw_phases(offset, now);
            } else {
                waits = Some(Waiting::Mbarrier { rank, offset, phase: m.phase });
            }
        }
        // It may return early; a program cannot rely on when.
        if let (true, Some(wait)) = (blocking && out == 0, waits) {
            return Ok(Flow::Retry(wait));
        }
        self.write_mask(done, out)?;
        Ok(Flow::Next)
    }

    /// Init fences count for every mbarrier that this thread made.
    pub(super) fn mbarrier_init_fence(&mut self) {
        for lane in lanes(self.mask) {
            let thread = self.thread(lane);
            for block in &mut self.cluster.blocks {
                for m in block.mbarriers.values_mut() {
                    m.fenced |= m.initializer.is_of(thread);
                }
            }
        }
    }
}

impl Run<'_> {
    /// The agent of copies that complete on an mbarrier, and the clock of its running phase.
    pub(super) fn mbarrier_stamp(&mut self, cluster: &mut Cluster, rank: u32, offset: u32) -> Option<(u32, u32)> {
        let m = cluster.blocks.get_mut(rank as usize)?.mbarriers.get_mut(&offset)?;
        let agent = match m.agent {
            Some(agent) => agent,
            None => *m.agent.insert(cluster.agents.new_agent()),
        };
        Some((agent, m.phase as u32 + 1))
    }

    /// Bytes of a copy have arrived, whose block must not end before it knows that; `remote` if they are a thread's of another
    /// block.
    pub(super) fn complete_tx(
        &mut self,
        cluster: &mut Cluster,
        origin: Origin,
        (rank, offset): (u32, u32),
        bytes: u32,
        stamp: (u32, u32),
        remote: bool,
    ) -> Result<(), Stop> {
        let index = cluster.index;
        let Some(block) = cluster.blocks.get_mut(rank as usize) else { return Ok(()) };
        block.expect_end_after(stamp, origin.pc, None);
        let Some(m) = block.mbarriers.get_mut(&offset) else { return Ok(()) };
        m.tx -= i64::from(bytes);
        if remote { &mut m.arrived_remote } else { &mut m.arrived }.join_epoch(index, stamp.0, stamp.1);
        if m.tx.abs() > MAX || m.pending == 0 && m.tx < 0 {
            let problem = MbarrierProblem::Bytes { pending: m.tx };
            self.report_at_origin(cluster, origin, Fault::Mbarrier { address: u64::from(offset), problem })?;
            return Err(Stop);
        }
        m.complete(index);
        self.progress();
        Ok(())
    }
}

impl Cx<'_, '_> {
    /// Reports an ordinary access to an mbarrier.
    pub(super) fn check_mbarrier(&mut self, lane: usize, rank: u32, offset: u32, bytes: u32) -> Result<(), Stop> {
        match self.cluster.blocks[rank as usize].mbarrier_at(offset, bytes) {
            None => Ok(()),
            Some(at) => Err(self.problem(lane, at, MbarrierProblem::Overwritten)),
        }
    }
}
