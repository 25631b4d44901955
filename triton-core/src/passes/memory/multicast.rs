//! Multicast: multicast peers run as a cluster, and share what they load, at stage 2.
//!
//! *Before:* the programs of a product that are peers along the first axis load the same tiles of one operand. *After:* two of them are
//! a cluster ([`Function::peers`]), a block each. The buffer of that operand is
//! [shared](crate::ir::RingBuffer::shared): each block copies half of it to both. So an item of the ring is filled when
//! its slot is free in both blocks, which wait for each other there, and nowhere else. Half as many bytes of the
//! operand come from the L2 cache. (PTX ISA, "cp.async.bulk.tensor", `.multicast::cluster`.)
//!
//! It is for views whose rows do not begin at multiples of 32 bytes: of each row of a box more sectors are read than are used, and products
//! wait for the L2 cache (`Image::takes_pitches` decides at the launch). Elsewhere waiting for another block costs more than it saves.
//!
//! Where the programs are odd along the first axis, one block of the last cluster has no program. It multiplies what is
//! out of bounds, so that its peer is as any other, and stores nothing: what follows the loop is under a condition. So
//! what comes before may load from views alone, and not write.
//!
//! `schedule` asks which buffers are shared (`Peers::shared`), as it makes the ring; this pass writes the condition.

use crate::analysis::defs::Defs;
use crate::analysis::remat::{Divisions, Remat, Supply};
use crate::ir::{Block, BlockData, Function, Inst, InstData, Value};
use crate::ops::kinds::CompareKind;
use crate::ops::{Effect, GridAxis, Location, Op};
use crate::passes::Env;

/// Programs of a cluster.
pub(crate) const PEERS: u32 = 2;

/// What peers along the first axis have in common.
pub(crate) struct Peers<'a> {
    func: &'a Function,
    /// The loop's counter.
    counter: Value,
    defs: &'a Defs,
}

impl<'a> Peers<'a> {
    /// Of a function whose loop, in its own block, loads what peers may share; `None` if they do not step through it together, or the
    /// block without a program could do harm.
    pub(crate) fn of(func: &'a Function, defs: &'a Defs, env: &Env, inst: Inst) -> Option<Peers<'a>> {
        let (body, region) = (&func.blocks[func.body].insts, *func.insts[inst].regions.first()?);
        let at = body.iter().position(|&other| other == inst)?;
        let Op::For { start, end, step } = func.insts[inst].op else { return None };
        if !env.multicast || func.blocks_of_cluster() > 1 || func.raster.is_none() {
            return None;
        }
        let peers = Peers { func, counter: func.blocks[region].params[0], defs };
        let together = peers.are_same(&[start, end, step]);
        let mut before = body[..at].iter().chain(&func.blocks[region].insts);
        (together && before.all(|&inst| peers.is_harmless(inst))).then_some(peers)
    }

    /// Whether each of the tiles that an iteration loads from these locations is the same in both programs. One has to be, and another not.
    pub(crate) fn shared(&self, locations: impl Iterator<Item = Location>) -> Option<Vec<bool>> {
        let shared: Vec<bool> = locations.map(|from| !from.any(|v| !self.are_same(&[v]))).collect();
        (shared.contains(&true) && shared.contains(&false)).then_some(shared)
    }

    /// Whether these values are scalars that are the same in both programs, in the same iteration.
    fn are_same(&self, values: &[Value]) -> bool {
        let (func, defs) = (self.func, self.defs);
        let supply = |v: Value| match defs.op(func, v) {
            Some(Op::ProgramId { axis: GridAxis(0) }) => Supply::Unavailable,
            Some(_) => Supply::Recomputed,
            None if v == self.counter || func.params.iter().any(|param| param.value == v) => Supply::Available,
            None => Supply::Unavailable,
        };
        let remat = Remat { func, defs, tiles: false, divisions: Divisions::Any, reads: None };
        remat.slice(values.iter().copied(), supply).is_some()
    }

    /// Whether a program that does not exist may execute an instruction.
    fn is_harmless(&self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let of_loop = matches!(
            data.op,
            Op::Load { from: Location::View { .. }, .. }
                | Op::Dot { .. }
                | Op::DotWait { .. }
                | Op::SharedAlloc { .. }
                | Op::SharedStore { .. }
                | Op::Yield { .. }
        );
        of_loop
            || data.op.effect() == Effect::Pure
                && data.op.cannot_fail(|v| self.defs.constant(self.func, v))
                && data.regions.is_empty()
    }
}

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn multicast(func: &mut Function) -> Result<(), String> {
    if func.peers == 1 {
        return Ok(());
    }
    let body = func.blocks[func.body].insts.clone();
    // The loop ends with the wait for its last product; loops after it are each program's own.
    let is_wait = |&inst: &Inst| matches!(func.insts[inst].op, Op::DotWait { .. });
    let last = body.iter().position(is_wait).ok_or("peers whose loop does not end with a wait for its product")?;
    let (before, after) = body.split_at(last + 1);
    let span = func.insts[before[last]].span;
    let mut insts = before.to_vec();
    let program = func.compute(Op::ProgramId { axis: GridAxis(0) }, span, &mut insts)?;
    let programs = func.compute(Op::NumPrograms { axis: GridAxis(0) }, span, &mut insts)?;
    let cond = func.compute(Op::Compare { kind: CompareKind::Lt, a: program, b: programs }, span, &mut insts)?;
    let mut region = |insts: Vec<Inst>| -> Block {
        let region = func.blocks.push(BlockData { params: Vec::new(), insts });
        func.append_structured(region, Op::Yield {}, Vec::new(), Vec::new(), &[], span);
        region
    };
    let regions = vec![region(after.to_vec()), region(Vec::new())];
    let exists = InstData { op: Op::If { cond }, args: Vec::new(), regions, results: Vec::new(), span };
    insts.push(func.insts.push(exists));
    let body = func.body;
    func.blocks[body].insts = insts;
    Ok(())
}
