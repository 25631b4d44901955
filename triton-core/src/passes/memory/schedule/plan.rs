//! Which rings there are to be: the loops that have one, how many slots it has, and whether multicast peers share it.

use super::{Copy, Loop, Plan, STORED, most_stages, overlap, roles, write};
use crate::analysis::defs::Defs;
use crate::ir::{Function, Producer};
use crate::passes::Env;
use crate::passes::memory::multicast::{PEERS, Peers};
use crate::passes::memory::{allocate, persist, sync};

/// Teams that take turns.
const TEAMS: u32 = 2;

impl Plan {
    /// The one with most slots that fits.
    ///
    /// # Errors
    /// None for a function that the verifier accepts.
    pub fn of(func: &Function, env: &Env, loops: Vec<Loop>) -> Result<Plan, String> {
        if let Some(plan) = Plan::in_turns(func, env, &loops)? {
            return Ok(plan);
        }
        let producer = roles::candidate(func, &loops);
        let mut plan = Plan { loops, slots: 2, peers: func.peers, producer, overlaps: false, once: 1, teams: 1 }
            .with_slots(func, env)?;
        if producer.is_none() || plan.loops.is_empty() {
            return Ok(Plan { producer: None, ..plan });
        }
        // While a program reads its item, the producer fills that of the next one, if there is room.
        let all: u64 = func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum();
        let all = all + plan.added(func, plan.slots);
        let once: u64 = plan.loops.iter().flat_map(|of| &of.once).map(|copy| func.buffer_bytes(copy.buffer)).sum();
        if env.persistent && persist::fits(func, env, all, all + once) {
            plan.once = 2;
        }
        let written = |plan: &Plan| {
            let mut written = func.clone();
            write::write(&mut written, plan).map(|()| written)
        };
        let plain = written(&plan)?;
        plan.overlaps = plan.loops.iter().any(|of| overlap::is_possible(&plain, of.inst));
        if plan.overlaps {
            let overlapping = written(&plan)?;
            let producer = roles::decide(&overlapping, env);
            if producer.is_some_and(|producer| roles::has_room(&overlapping, producer, &plain, env)) {
                return Ok(Plan { producer, ..plan });
            }
        }
        Ok(Plan { producer: roles::decide(&plain, env), overlaps: false, ..plan })
    }

    /// That of programs which teams of a warpgroup run in turns, if they do.
    fn in_turns(func: &Function, env: &Env, loops: &[Loop]) -> Result<Option<Plan>, String> {
        let [of] = loops else { return Ok(None) };
        if !env.persistent || func.peers > 1 || !roles::takes_turns(func, of) {
            return Ok(None);
        }
        // All that is not of the ring is results, of which each team has slots of its own.
        let all: u64 = func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum();
        let item = item(func, of);
        let results = u64::from(TEAMS) * (all - item);
        let fits = |&slots: &u32| persist::fits_beside(env, u64::from(slots) * item + results);
        let Some(slots) = (persist::FEWEST_SLOTS..=func.stages(of.inst)).rev().find(fits) else { return Ok(None) };
        let producer = Some(Producer::Warpgroup);
        let loops = vec![of.clone()];
        let plan = Plan { loops, slots, peers: 1, producer, overlaps: false, once: 1, teams: TEAMS };
        let mut written = func.clone();
        write::write(&mut written, &plan)?;
        let is_one = roles::decide(&written, env) == producer && persist::applies(&written, env);
        Ok(is_one.then_some(plan))
    }

    fn with_slots(self, func: &Function, env: &Env) -> Result<Plan, String> {
        let mut plan = self;
        if plan.loops.iter().any(|of| !of.stored.is_empty()) && !plan.fits(func, env, 2)? {
            plan.loops.iter_mut().for_each(Loop::wait_for_stored);
        }
        if let [of] = &mut plan.loops[..]
            && share(func, env, of)
        {
            plan.peers = PEERS;
        }
        let (most, limit) = (most_stages(func), u64::from(env.target.shared_bytes()));
        let bytes: u64 = func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum();
        // A block that runs several programs stores the result of one while it fills the ring for the next one, if as
        // many blocks are resident as where these share bytes.
        if let [of] = &plan.loops[..]
            && env.persistent
            && plan.peers == 1
            && of.block == func.body
            && of.copies.iter().all(|copy| copy.bulk)
            && of.in_flight.is_some()
            && of.stored.is_empty()
        {
            let item = item(func, of);
            let shared = item * u64::from(most).min(limit / item.max(1));
            let beside = |slots: &u32| persist::fits(func, env, shared, bytes + plan.added(func, *slots));
            if let Some(slots) = (persist::FEWEST_SLOTS..=most).rev().find(beside) {
                return Ok(Plan { slots, ..plan });
            }
        }
        for slots in (2..=most).rev() {
            if plan.fits(func, env, slots)? {
                return Ok(plan);
            }
        }
        plan.loops.retain(|of| func.stages_of[of.inst].is_some());
        // Peers share the copies of a ring, and there is none.
        if !plan.loops.iter().any(|of| of.copies.iter().any(|copy| copy.shared)) {
            plan.peers = 1;
        }
        Ok(plan)
    }

    /// Whether the memory of a block has room for rings of this many slots, which it has from then on.
    fn fits(&mut self, func: &Function, env: &Env, slots: u32) -> Result<bool, String> {
        self.slots = slots;
        let limit = u64::from(env.target.shared_bytes());
        let bytes: u64 = func.buffers().iter().map(|&(_, buffer)| func.buffer_bytes(buffer)).sum();
        // Mostly all buffers fit beside each other; a ring that does not fit alone fits nowhere.
        Ok(bytes + self.added(func, slots) <= limit
            || self.largest(func) <= limit && self.allocated(func, env)? <= limit)
    }

    /// What rings of this many slots add, in bytes.
    fn added(&self, func: &Function, slots: u32) -> u64 {
        let of = |of: &Loop| {
            let slots = slots.min(func.stages(of.inst)) + of.held();
            item(func, of) * u64::from(slots - 1) + stored(func, of) * u64::from(STORED - 1)
        };
        self.loops.iter().map(of).sum()
    }

    /// The bytes of the largest ring.
    fn largest(&self, func: &Function) -> u64 {
        let of = |of: &Loop| item(func, of) * u64::from(self.slots.min(func.stages(of.inst)) + of.held());
        self.loops.iter().map(of).max().unwrap_or(0)
    }

    /// The bytes that are allocated where it is written.
    fn allocated(&self, func: &Function, env: &Env) -> Result<u64, String> {
        let mut scheduled = func.clone();
        write::write(&mut scheduled, self)?;
        sync::sync(&mut scheduled, env)?;
        allocate::allocate(&mut scheduled, env)
    }
}

/// The bytes of an item of a loop's ring.
fn item(func: &Function, of: &Loop) -> u64 {
    of.copies.iter().map(|copy| func.buffer_bytes(copy.buffer)).sum()
}

/// The bytes of what threads store in a turn of a loop.
fn stored(func: &Function, of: &Loop) -> u64 {
    of.stored.iter().map(|of| func.buffer_bytes(of.buffer)).sum()
}

impl Loop {
    /// Gives the slots of what threads store up: each product is waited for.
    fn wait_for_stored(&mut self) {
        if !std::mem::take(&mut self.stored).is_empty() {
            self.in_flight = None;
        }
    }
}

/// Lets multicast peers share the copies of the one loop, where they load the same; whether they do.
fn share(func: &Function, env: &Env, of: &mut Loop) -> bool {
    let Loop { block, inst, ref mut copies, in_flight, .. } = *of;
    if block != func.body || !copies.iter().all(|copy| copy.bulk) || in_flight.is_none() || !of.stored.is_empty() {
        return false;
    }
    let defs = Defs::of(func);
    let peers = Peers::of(func, &defs, env, inst);
    let shared = peers.and_then(|of| of.shared(copies.iter().map(|copy| copy.from)));
    let halves = |(copy, &shared): (&Copy, &bool)| {
        !shared || func.bulk_copy(copy.buffer, copy.rounding.is_some(), PEERS, copy.from).is_some()
    };
    let Some(shared) = shared.filter(|shared| copies.iter().zip(shared).all(halves)) else { return false };
    copies.iter_mut().zip(shared).for_each(|(copy, shared)| copy.shared = shared);
    true
}
