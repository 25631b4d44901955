//! Scheduling: which cluster, block, warp and fragment of a warp runs next, in an order that a seed chooses; and the
//! report if none can.

use super::livelock::Halt;
use super::shuffle::Shuffled;
use super::warp::{Fragment, Waiting};
use super::{Cluster, Cx, Run, Stop, Warp};
use crate::code::{Instr, Op};
use crate::faults::{Fault, Wait};

/// Instructions of a fragment after which another one of its warp runs: else a loop that waits for it would not end.
const FRAGMENT_QUANTUM: u32 = 256;

/// The most instructions that a warp runs before another one may.
const QUANTUM: u32 = 512;

/// Steps without progress, of all resident clusters, after which one more cluster starts.
const STALL_LIMIT: u64 = 50_000;

/// What comes after an instruction, for the lanes that ran it.
pub enum Flow {
    /// The next one.
    Next,
    /// Another one.
    Jump(u32),
    /// Nothing.
    Exit,
    /// The same again, when this holds.
    Retry(Waiting),
    /// The next one, when this holds.
    Then(Waiting),
    /// The same, of these lanes alone and then of the others: they do not belong together.
    Split(u32),
}

impl Run<'_> {
    /// Runs every cluster of the grid.
    pub fn grid(&mut self, clusters: u32) -> Result<(), Stop> {
        let mut waiting = Shuffled::new(clusters, &mut self.rng);
        let mut resident: Vec<Cluster> = Vec::new();
        let mut last = 0;
        loop {
            if resident.is_empty() || self.idle() > last + STALL_LIMIT {
                if let Some(index) = waiting.next() {
                    let cluster = self.start(index);
                    resident.push(cluster);
                } else if resident.is_empty() {
                    return Ok(());
                }
                last = self.idle();
            }
            last = last.min(self.idle());
            let mut moved = false;
            let progressed = self.progressed;
            let mut index = 0;
            while index < resident.len() {
                moved |= self.round(&mut resident[index])?;
                if resident[index].ended() {
                    let mut cluster = resident.swap_remove(index);
                    self.end(&mut cluster)?;
                    moved = true;
                } else {
                    index += 1;
                }
            }
            let halt = if resident.is_empty() && waiting.is_empty() {
                None
            } else if let Some(limit) = self.limit() {
                Some(limit)
            } else if resident.is_empty() {
                None
            } else if !moved {
                Some(Halt::Deadlock)
            } else {
                let livelocked = progressed == self.progressed && self.livelocked(&resident);
                livelocked.then_some(Halt::Livelock)
            };
            match halt {
                None => {}
                Some(halt @ (Halt::MaxInstructions | Halt::AfterReport)) => return Err(self.stuck(&resident, halt)),
                Some(halt @ (Halt::Deadlock | Halt::Livelock | Halt::IdleLimit)) => match waiting.next() {
                    Some(index) => {
                        let cluster = self.start(index);
                        resident.push(cluster);
                        self.progress();
                    }
                    None => return Err(self.stuck(&resident, halt)),
                },
            }
        }
    }

    /// Gives every warp of a cluster a turn, in a new order; says whether anything moved.
    fn round(&mut self, cluster: &mut Cluster) -> Result<bool, Stop> {
        let mut order = std::mem::take(&mut cluster.order);
        self.rng.shuffle(&mut order);
        let mut moved = false;
        let mut result = Ok(());
        for &(b, w) in &order {
            let quantum = self.rng.u32(1..=QUANTUM);
            let warp = std::mem::take(&mut cluster.blocks[b as usize].warps[w as usize]);
            let mut cx = Cx { run: self, cluster, b: b as usize, warp, mask: 0, pc: 0 };
            match cx.quantum(quantum) {
                Ok(any) => moved |= any,
                Err(stop) => result = Err(stop),
            }
            let warp = cx.warp;
            cluster.blocks[b as usize].warps[w as usize] = warp;
            result?;
            // Asynchronous work is done at any moment.
            if !cluster.pending.is_empty() && self.rng.u32(..4) == 0 {
                let pick = self.rng.usize(..cluster.pending.len());
                self.complete_at(cluster, pick)?;
                moved = true;
            }
        }
        cluster.order = order;
        if !moved && !cluster.pending.is_empty() {
            let pick = self.rng.usize(..cluster.pending.len());
            self.complete_at(cluster, pick)?;
            moved = true;
        }
        Ok(moved)
    }

    /// The report of a deadlock: no warp of the launch can make progress.
    fn stuck(&mut self, resident: &[Cluster], halt: Halt) -> Stop {
        let mut waits = Vec::new();
        let mut divergence = None;
        for cluster in resident.iter() {
            for block in &cluster.blocks {
                for warp in &block.warps {
                    for fragment in &warp.fragments {
                        let reason = self.reason(cluster, warp, fragment);
                        if let Some(Waiting::Lanes(needed) | Waiting::WarpSync(needed)) = fragment.wait {
                            // Those that are farthest behind.
                            let found = (block.id, warp.index, fragment.clone(), needed);
                            if divergence.as_ref().is_none_or(|(.., f, _): &(_, _, Fragment, _)| fragment.pc < f.pc) {
                                divergence = Some(found);
                            }
                        }
                        waits.push(Wait {
                            block: block.id,
                            warp: warp.index,
                            lanes: fragment.lanes,
                            site: self.site(fragment.pc),
                            reason,
                        });
                    }
                }
            }
        }
        if let (Some((block, warp, fragment, needed)), Halt::Deadlock) = (divergence, halt) {
            let elsewhere =
                waits.iter().find(|w| w.block == block && w.warp == warp && w.lanes & needed & !fragment.lanes != 0);
            let why = match elsewhere {
                Some(other) => format!("lanes {:#010x} are at {}", other.lanes & needed, other.site),
                None => "the others have ended".to_string(),
            };
            let fault = Fault::Divergence { here: fragment.lanes, needed, why };
            return self.report_at(block, warp, fragment.lanes.trailing_zeros(), fragment.pc, fault);
        }
        // One that runs, if there is one: the others may wait for it.
        let warps = resident.iter().flat_map(|c| &c.blocks).flat_map(|b| b.warps.iter().map(move |w| (b.id, w)));
        let all = warps.flat_map(|(id, w)| w.fragments.iter().map(move |f| (id, w.index, f)));
        let first = all.min_by_key(|(.., f)| f.wait.is_some());
        let (block, warp, lane, pc) =
            first.map_or(([0; 3], 0, 0, 0), |(id, w, f)| (id, w, f.lanes.trailing_zeros(), f.pc));
        let fault = self.halted(halt, waits);
        self.report_at(block, warp, lane, pc, fault)
    }

    /// The description of what a fragment waits for.
    fn reason(&self, cluster: &Cluster, warp: &Warp, fragment: &Fragment) -> String {
        match &fragment.wait {
            None => self.running(warp),
            Some(Waiting::Lanes(mask)) => {
                format!("lanes {:#010x} of its warp to reach this instruction", mask & !fragment.lanes)
            }
            Some(Waiting::WarpSync(mask)) => format!("lanes {:#010x} of its warp", mask & !fragment.lanes),
            Some(Waiting::Bar { id, .. }) => {
                let block = cluster.blocks.iter().find(|b| b.warps.iter().any(|w| std::ptr::eq(w, warp)));
                let (arrived, expected) = block.map_or((0, 0), |b| b.arrivals(usize::from(*id), None));
                format!("barrier {id}: {arrived} of {expected} threads have arrived")
            }
            Some(Waiting::Registers { count, more }) => {
                let block = cluster.blocks.iter().find(|b| b.warps.iter().any(|w| std::ptr::eq(w, warp)));
                let free = block.and_then(|b| b.free_registers).unwrap_or(0);
                format!(
                    "`setmaxnreg` asks for {count} registers of each thread, {more} more than the warp has; the block's pool \
                     has {free}, and only `setmaxnreg.dec` refills it"
                )
            }
            Some(Waiting::Warpgroup { group, .. }) => {
                format!("the other warps of warpgroup {group} to reach a product")
            }
            Some(Waiting::Cluster { .. }) => {
                format!("the cluster's barrier: {} of {} threads have arrived", cluster.arrived, cluster.live())
            }
            Some(Waiting::Mbarrier { rank, offset, phase }) => {
                let found = cluster.blocks.get(*rank as usize).and_then(|b| b.mbarriers.get(offset));
                match found {
                    Some(m) => format!(
                        "phase {phase} of the mbarrier at {offset:#x}: {} arrivals and {} bytes are missing",
                        m.pending, m.tx
                    ),
                    None => format!("the mbarrier at {offset:#x}, which is no longer one"),
                }
            }
        }
    }
}

impl Cx<'_, '_> {
    /// Runs up to this many instructions of the warp; says whether any ran.
    fn quantum(&mut self, steps: u32) -> Result<bool, Stop> {
        let mut moved = false;
        for _ in 0..steps {
            let Some(index) = self.choose()? else { break };
            self.step(index)?;
            moved = true;
            if self.warp.fragments.len() > 1 {
                self.warp.merge();
            }
            self.watch();
        }
        Ok(moved)
    }

    /// The fragment that runs next: the one that is farthest behind, so that the others are caught up with; but each has its
    /// turn.
    fn choose(&mut self) -> Result<Option<usize>, Stop> {
        let mut best: Option<usize> = None;
        let mut index = 0;
        while index < self.warp.fragments.len() {
            if self.ready(index)? {
                let key = |f: &Fragment| (f.streak / FRAGMENT_QUANTUM, f.pc);
                let fragment = &self.warp.fragments[index];
                if best.is_none_or(|b| key(fragment) < key(&self.warp.fragments[b])) {
                    best = Some(index);
                }
            }
            index += 1;
        }
        if let Some(best) = best {
            let all = &mut self.warp.fragments;
            if all.len() == 1 {
                all[0].streak = 0;
            } else {
                all[best].streak += 1;
            }
        }
        Ok(best)
    }

    /// Whether a fragment can run; one whose wait is over is resumed.
    fn ready(&mut self, index: usize) -> Result<bool, Stop> {
        let Some(wait) = self.warp.fragments[index].wait.clone() else { return Ok(true) };
        let over = match &wait {
            Waiting::Lanes(needed) => *needed & self.warp.live() & !self.warp.fragments[index].lanes == 0,
            Waiting::WarpSync(mask) => self.warp_sync_complete(*mask),
            Waiting::Bar { id, generation } => self.block().barriers[usize::from(*id)].generation > *generation,
            Waiting::Cluster { phase } => self.cluster.phase > *phase,
            Waiting::Registers { more, .. } => self.block().has_registers(*more),
            Waiting::Warpgroup { group, sequence } => self.block().warpgroups[*group].all_ran(*sequence),
            Waiting::Mbarrier { rank, offset, phase } => {
                let found = self.cluster.blocks.get(*rank as usize).and_then(|b| b.mbarriers.get(offset));
                found.is_none_or(|m| m.phase != *phase)
            }
        };
        if !over {
            return Ok(false);
        }
        match wait {
            Waiting::Lanes(_) | Waiting::Mbarrier { .. } | Waiting::Warpgroup { .. } => {
                self.warp.fragments[index].wait = None
            }
            Waiting::WarpSync(mask) => self.warp_sync(mask),
            Waiting::Bar { id, generation } => self.bar_done(index, id, generation)?,
            Waiting::Cluster { .. } => self.cluster_done(index),
            Waiting::Registers { count, more } => self.take_registers(index, count, more),
        }
        self.run.progress();
        Ok(true)
    }

    /// Runs the next instruction of a fragment.
    fn step(&mut self, index: usize) -> Result<(), Stop> {
        let Fragment { lanes, pc, .. } = self.warp.fragments[index];
        let kernel = self.run.kernel;
        let Some(Instr { guard, op }) = kernel.instructions.get(pc as usize) else {
            return self.exit(index, lanes);
        };
        self.pc = pc;
        self.mask = lanes;
        if let Some((register, negated)) = guard {
            let set = self.predicate(*register)?;
            self.mask &= if *negated { !set } else { set };
        }
        self.run.executed += 1;
        self.warp.time += 1;
        let mut flow = if self.mask == 0 { Flow::Next } else { self.execute(op)? };
        let others = lanes & !self.mask;
        if let Flow::Split(part) = flow {
            self.warp.fragments.push(Fragment { lanes: self.mask & !part, pc, wait: None, streak: 0 });
            self.warp.fragments[index].lanes &= part | others;
            self.mask = part;
            flow = self.execute(op)?;
        }
        // An instruction that is retried is counted when it is done.
        if !matches!(flow, Flow::Retry(_)) {
            self.run.count(op);
            let id = self.block().id;
            self.run.trace(id, self.warp.index, pc);
        }
        let fragment = &mut self.warp.fragments[index];
        match flow {
            Flow::Next => fragment.pc = pc + 1,
            Flow::Jump(target) => {
                fragment.pc = target;
                fragment.lanes = self.mask;
            }
            Flow::Exit => return self.exit(index, self.mask),
            // Lanes that were split are not split again.
            Flow::Split(_) => {}
            Flow::Retry(wait) | Flow::Then(wait) => {
                fragment.wait = Some(wait);
                fragment.lanes = self.mask;
            }
        }
        if others != 0 && self.warp.fragments[index].lanes & others == 0 {
            self.warp.fragments.push(Fragment { lanes: others, pc: pc + 1, wait: None, streak: 0 });
        }
        Ok(())
    }

    /// Ends lanes of a fragment; its others go on.
    fn exit(&mut self, index: usize, lanes: u32) -> Result<(), Stop> {
        self.mask = lanes;
        self.leave(lanes)?;
        self.warp.exited |= lanes;
        if self.warp.live() == 0 {
            let freed = self.warp.max_registers.take().unwrap_or(0);
            self.block_mut().give_registers(freed);
        }
        let fragment = &mut self.warp.fragments[index];
        fragment.lanes &= !lanes;
        fragment.pc += 1;
        if fragment.lanes == 0 {
            self.warp.fragments.swap_remove(index);
        }
        self.run.progress();
        self.threads_left();
        Ok(())
    }

    /// Runs an instruction for the lanes of the mask.
    fn execute(&mut self, op: &Op) -> Result<Flow, Stop> {
        match op {
            Op::Nop => {}
            Op::Branch(target) => {
                self.count_iteration(*target);
                return Ok(Flow::Jump(*target));
            }
            Op::Exit => return Ok(Flow::Exit),
            Op::Trap => return Err(self.fatal(Fault::Trap)),
            Op::Alu(f, dst, src) => self.alu(*f, *dst, *src)?,
            Op::Extend { function, dst, src, from_bytes, to_bytes } => {
                self.extend(*function, *dst, *src, *from_bytes, *to_bytes)?;
            }
            Op::Test(f, dst, src) => self.test(*f, *dst, *src)?,
            Op::Alu4(f, dst, src) => self.alu4(*f, *dst, *src)?,
            Op::Divide { function, defined, dst, src } => self.divide(*function, *defined, *dst, *src)?,
            Op::Carry { function, dst, src, sets_carry } => self.carry(*function, *dst, *src, *sets_carry)?,
            Op::Setp { compare, packed, dst, negated, src, combine } => {
                self.setp(*compare, *packed, [*dst, *negated], *src, *combine)?;
            }
            Op::Set { compare, packed, yes, dst, src, combine } => {
                self.set(*compare, *packed, *yes, *dst, *src, *combine)?;
            }
            Op::Move(dst, src) => self.move_all(dst, src)?,
            Op::Lop3 { table, dst, holds, src, combine } => self.lop3(*table, [*dst, *holds], *src, *combine)?,
            Op::Pack { dst, src, bits } => self.pack(*dst, src, *bits)?,
            Op::Unpack { dst, src, bits } => self.unpack(dst, *src, *bits)?,
            Op::Print { src, dst } => self.print(src, dst.as_ref())?,
            Op::AssertFail(src) => return Err(self.assert_fail(src)?),
            Op::Call(call) => return self.call(call),
            Op::Return(back) => return self.call_return(*back),
            Op::Load { window, order, cell, dst, addr, read_only } => {
                self.load(*window, *order, *cell, dst, *addr, *read_only)?;
            }
            Op::Store { window, order, cell, src, addr } => self.store(*window, *order, *cell, src, *addr)?,
            Op::Atom { window, order, bytes, op, dst, src, compare, addr } => {
                self.atom(*window, *order, *bytes, *op, dst, src, *compare, *addr)?;
            }
            Op::ToGeneric(space, dst, src) => self.enter_window(*space, *dst, *src)?,
            Op::FromGeneric(space, dst, src) => self.leave_window(*space, *dst, *src)?,
            Op::IsSpace(space, dst, src) => self.is_space(*space, *dst, *src)?,
            Op::MapA { generic, dst, addr, rank } => self.map_address(*generic, *dst, *addr, *rank)?,
            Op::GetRank { generic, dst, addr } => self.get_rank(*generic, *dst, *addr)?,
            Op::Shuffle { kind, dst, in_bounds, src, members } => {
                return self.shuffle(*kind, *dst, *in_bounds, *src, *members);
            }
            Op::Vote { kind, dst, src, members } => return self.vote(*kind, *dst, *src, *members),
            Op::Match { all, dst, all_equal, src, members } => {
                return self.matching(*all, *dst, *all_equal, *src, *members);
            }
            Op::Redux { function, dst, src, members } => return self.redux(*function, *dst, *src, *members),
            Op::ActiveMask(dst) => self.write(*dst, &[u64::from(self.mask); 32])?,
            Op::Elect { dst, is_leader, members } => return self.elect(*dst, *is_leader, *members),
            Op::WarpSync(mask) => return self.warp_sync_arrive(*mask),
            Op::Bar { kind, aligned, id, count, reduce } => return self.bar(*kind, *aligned, *id, *count, *reduce),
            Op::ClusterArrive { aligned, release } => return self.cluster_arrive(*aligned, *release),
            Op::ClusterWait { aligned } => return self.cluster_wait(*aligned),
            Op::Fence(fence) => self.fence(*fence),
            Op::ProxyFence(spaces) => self.proxy_fence(*spaces),
            Op::MbarrierInitFence => self.mbarrier_init_fence(),
            Op::LoadMatrix { dst, window, addr, transposed } => {
                return self.load_matrix(dst, *window, *addr, *transposed);
            }
            Op::StoreMatrix { src, window, addr, transposed } => {
                return self.store_matrix(src, *window, *addr, *transposed);
            }
            Op::MoveMatrix(dst, src) => return self.move_matrix(*dst, *src),
            Op::Mma { form, d, abc } => return self.mma(form, d, abc),
            Op::CopyAsync { dst, src, bytes, read, ignore } => self.copy_async(*dst, *src, *bytes, *read, *ignore)?,
            Op::CopyCommit => self.copy_commit(),
            Op::CopyWait(pending) => self.copy_wait(*pending)?,
            Op::Mbarrier(window, addr, op) => return self.mbarrier(*window, *addr, op),
            Op::AsyncStore(store) => self.async_store(store)?,
            Op::BulkCopy(copy) => self.bulk_copy(copy)?,
            Op::BulkCommit => self.bulk_commit(),
            Op::BulkWait { pending, read } => self.bulk_wait(*pending, *read)?,
            Op::WgmmaFence => return self.wgmma_fence(),
            Op::WgmmaCommit => return self.wgmma_commit(),
            Op::WgmmaWait(pending) => return self.wgmma_wait(*pending),
            Op::Wgmma(op) => return self.wgmma(op),
            Op::SetMaxRegisters { increase, count } => return self.set_max_registers(*increase, *count),
        }
        Ok(Flow::Next)
    }
}
