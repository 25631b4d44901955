//! Persistent programs, at stage 2: a block runs one program after the other, and its producer fills rings for the next one meanwhile.
//!
//! *Before:* a block runs one program, whose loop multiplies what a producer fills. Nothing is multiplied until the first item has
//! arrived, nor while the result is stored. *After:* as many blocks run as are resident together. Block `b` of `B` runs the programs
//! `b`, `b + B`, .. in the order of [`Function::raster`]; items are counted on from program to program. The producer runs ahead by itself: it
//! fills the first items of the next program while the consumers convert and store the result of this one.
//! (CUTLASS calls such a kernel persistent; Osama et al., "Stream-K", PPoPP 2023, section 3, names its schedule data-parallel.)
//!
//! It is done where a producer fills the one ring of a loop of the kernel's own block, and a product of it is in flight; and where
//! the ring and all other buffers lie beside each other in shared memory. A program that may wait for another one is
//! left as it is (`map_programs`).
//!
//! What does not depend on the program is computed once, before the loop over programs. The rest is its body.

use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, BlockData, Function, Inst, InstData, Value, in_flight};
use crate::ops::kinds::BinaryKind;
use crate::ops::{Effect, GridAxis, Op, RingStep};
use crate::passes::Env;
use crate::passes::memory::map_programs;
use crate::span::Span;
use crate::types::{Constant, DType, RingId, Type};

/// Fewest slots of a ring that is worth it: with two, a product waits for its operands in every turn.
pub(crate) const FEWEST_SLOTS: u32 = 3;

/// Most sums of a thread: of four images with 180, whose results are stored in a loop, too, the assembler has each product wait for the one
/// before (`ptxas` C7514).
const MOST_SUMS: usize = 160;

/// Of a loop that `schedule` did not make.
const UNCOUNTED: &str = "a ring's loop that counts no items";

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn persist(func: &mut Function, env: &Env) -> Result<(), String> {
    let Some(main) = MainLoop::of(func, env).filter(|_| env.persistent && func.blocks_of_cluster() == 1) else {
        return Ok(());
    };
    let span = func.insts[main.inst].span;
    Writer { func, main, span, insts: Vec::new() }.write()
}

/// Whether a ring and all buffers, of this many bytes, lie beside each other in shared memory, and as many blocks are
/// resident then as where other buffers share the bytes of the ring. Blocks that are resident together hide each
/// other's stores, too.
pub(crate) fn fits(func: &Function, env: &Env, of_ring: u64, of_all: u64) -> bool {
    let resident = |bytes: u64| env.target.resident_blocks(func.block_threads(), 0, bytes as u32);
    // Each slot has an mbarrier.
    let of_all = of_all + 256;
    of_all <= env.target.shared_bytes().into() && resident(of_all) >= resident(of_ring)
}

/// The loop with the ring, in the kernel's own block.
struct MainLoop {
    inst: Inst,
    /// What asks for the program's index, anywhere.
    programs: Vec<Inst>,
    /// Of the values of the kernel's own block, what depends on the program, or is neither a scalar that nothing but arguments decide nor
    /// a buffer of the ring.
    varies: SideTable<Value, bool>,
}

impl MainLoop {
    fn of(func: &Function, env: &Env) -> Option<MainLoop> {
        let mut rings = func.rings.keys().filter(|&ring| !func.is_drained(ring));
        let (ring, None) = (rings.next()?, rings.next()) else { return None };
        let insts = &func.blocks[func.body].insts;
        // The ring of a loop inside it is not its own.
        let waits = |(_, data): (Inst, &InstData)| matches!(data.op, Op::RingWait { ring: own, .. } if own == ring);
        let has_ring = |&&inst: &&Inst| {
            matches!(func.insts[inst].op, Op::For { .. }) && func.block(func.insts[inst].regions[0]).any(waits)
        };
        let inst = *insts.iter().find(has_ring)?;
        let body = func.insts[inst].regions[0];
        let goes_on = |(_, data): (Inst, &InstData)| {
            let carried = |&sum: &Value| func.yielded(body).contains(&sum) && func.registers(sum) <= MOST_SUMS;
            in_flight::is_product(&data.op) && data.results.iter().any(carried)
        };
        let bytes = |&(_, buffer): &(Inst, Value)| func.buffer_bytes(buffer);
        let buffers = func.buffers();
        let of_ring = buffers.iter().filter(|&&(_, buffer)| func.is_bulk(buffer)).map(bytes).sum();
        let fits = fits(func, env, of_ring, buffers.iter().map(bytes).sum());
        let walk = func.walk();
        // Which program failed is not known of a block that runs several.
        let asserts = walk.iter().any(|&inst| matches!(func.insts[inst].op, Op::Assert { .. }));
        if func.producer.is_none()
            || func.rings[ring].slots < FEWEST_SLOTS
            || !func.block(body).any(goes_on)
            || !fits
            || asserts
            || walk.iter().any(|&inst| map_programs::waits(func, inst))
        {
            return None;
        }
        let mut varies = SideTable::new(false);
        for (_, data) in func.block(func.body) {
            let mut fixed = data.op.effect() == Effect::Pure && !matches!(data.op, Op::ProgramId { .. });
            data.for_each_operand(|v| fixed &= !varies[v]);
            for &result in &data.results {
                varies[result] = (!fixed || func.place_of[result].is_some()) && func.ring_of(result).is_none();
            }
        }
        let programs = walk.into_iter().filter(|&inst| matches!(func.insts[inst].op, Op::ProgramId { .. })).collect();
        Some(MainLoop { inst, programs, varies })
    }
}

/// A ring whose slots are stored and copied to global memory after the loop: the first item of a program, and how many it has.
#[derive(Clone, Copy)]
struct Results {
    ring: RingId,
    first: Value,
    items: i128,
}

/// The programs of a launch: how many along each axis, and in a plane of the first two.
struct Grid {
    extents: [Value; 3],
    plane: Value,
}

struct Writer<'a> {
    func: &'a mut Function,
    main: MainLoop,
    span: Span,
    /// What is written so far.
    insts: Vec<Inst>,
}

impl Writer<'_> {
    fn write(mut self) -> Result<(), String> {
        let (main, own) = (self.main.inst, self.func.body);
        let body = self.func.blocks[own].insts.clone();
        let at = body.iter().position(|&inst| inst == main).ok_or("a loop that is in no block")?;
        let (before, after) = (&body[..at], &body[at + 1..]);
        let (outside, inside): (Vec<Inst>, Vec<Inst>) = before.iter().partition(|&&inst| self.is_outside(inst));

        // Before the loop over programs.
        self.insts = outside;
        let (block, blocks) = (self.op(Op::BlockId {})?, self.op(Op::NumBlocks {})?);
        let mut extents = [block; 3];
        for (axis, extent) in (0..).zip(&mut extents) {
            *extent = self.op(Op::NumPrograms { axis: GridAxis(axis) })?;
        }
        let plane = self.binary(BinaryKind::Mul, extents[0], extents[1])?;
        let programs = self.binary(BinaryKind::Mul, plane, extents[2])?;
        let none = self.constant(0)?;
        let prologue = std::mem::take(&mut self.insts);

        // Its body. A turn carries the item, as the loop does, and those of results.
        let results = self.results(after)?;
        let params: Vec<Value> =
            [block, none].iter().chain(results.iter().map(|_| &none)).map(|&v| self.func.copy_value(v)).collect();
        let (index, item) = (params[0], params[1]);
        let current = self.program(index, &Grid { extents, plane })?;
        self.insts.extend(inside);
        self.insts.push(main);
        *self.func.insts[main].args.last_mut().ok_or(UNCOUNTED)? = item;
        let last = *self.func.insts[main].results.last().ok_or(UNCOUNTED)?;
        // The first turn of the next program releases the item of the last product, as every turn does that of the one before.
        self.insts.extend(after);
        let mut yields = vec![last];
        for (of, &item) in results.iter().zip(&params[2..]) {
            let items = self.constant(of.items)?;
            yields.push(self.binary(BinaryKind::Add, item, items)?);
        }
        let insts = std::mem::take(&mut self.insts);
        let firsts: WordMap<Value, Value> =
            results.iter().map(|of| of.first).zip(params[2..].iter().copied()).collect();
        after.iter().for_each(|&inst| {
            self.func.insts[inst].map_operands(|v| firsts.get(&v).copied().unwrap_or(v));
        });
        let inits = vec![none; yields.len()];
        let region = self.func.blocks.push(BlockData { params, insts });
        self.func.append_structured(region, Op::Yield {}, yields, Vec::new(), &[], self.span);
        self.rename(region, &self.of_program(current));

        self.func.blocks[own].insts = prologue;
        let each = Op::For { start: block, end: programs, step: blocks };
        let types: Vec<Type> = inits.iter().map(|&v| self.func.ty(v)).collect();
        self.func.append_structured(own, each, inits, vec![region], &types, self.span);
        Ok(())
    }

    /// The rings of what a program stores after its loop.
    fn results(&self, after: &[Inst]) -> Result<Vec<Results>, String> {
        let mut results: Vec<Results> = Vec::new();
        let item_of = |inst: &Inst| {
            let Some(RingStep::Drain(buffer, item)) = self.func.insts[*inst].op.ring_step() else { return None };
            Some((self.func.ring_of(buffer)?.0, item))
        };
        for (ring, item) in after.iter().filter_map(item_of) {
            if let Some(of) = results.iter_mut().find(|of| of.ring == ring) {
                of.items += 1;
                continue;
            }
            let made = after.iter().find(|&&inst| self.func.insts[inst].results.first() == Some(&item));
            let Some(Op::Binary { a: first, .. }) = made.map(|&inst| self.func.insts[inst].op) else {
                return Err(format!("items of {ring} that are not counted from a first one"));
            };
            results.push(Results { ring, first, items: 1 });
        }
        Ok(results)
    }

    /// Whether an instruction is done once for all programs.
    fn is_outside(&self, inst: Inst) -> bool {
        let results = &self.func.insts[inst].results;
        !results.is_empty() && results.iter().all(|&v| !self.main.varies[v])
    }

    /// The indices of a program, by its number in the order of [`Function::raster`].
    fn program(&mut self, number: Value, grid: &Grid) -> Result<[Value; 3], String> {
        let Grid { extents: [columns, rows, _], plane } = *grid;
        let (third, number) = self.divide(number, plane)?;
        let Some(width) = self.func.raster else {
            let (second, first) = self.divide(number, columns)?;
            return Ok([first, second, third]);
        };
        let width = self.constant(width.into())?;
        let in_band = self.binary(BinaryKind::Mul, rows, width)?;
        let (band, number) = self.divide(number, in_band)?;
        let first = self.binary(BinaryKind::Mul, band, width)?;
        // The last band may be narrower.
        let left = self.binary(BinaryKind::Sub, columns, first)?;
        let width = self.binary(BinaryKind::Min, left, width)?;
        let (second, inside) = self.divide(number, width)?;
        Ok([self.binary(BinaryKind::Add, first, inside)?, second, third])
    }

    /// Quotient and remainder.
    fn divide(&mut self, a: Value, b: Value) -> Result<(Value, Value), String> {
        let quotient = self.binary(BinaryKind::Div, a, b)?;
        let whole = self.binary(BinaryKind::Mul, quotient, b)?;
        Ok((quotient, self.binary(BinaryKind::Sub, a, whole)?))
    }

    /// What each `program_id` is in the program of these indices.
    fn of_program(&self, indices: [Value; 3]) -> WordMap<Value, Value> {
        let of = |&inst: &Inst| {
            let Op::ProgramId { axis } = self.func.insts[inst].op else { return None };
            Some((self.func.insts[inst].results[0], indices[usize::from(axis.0)]))
        };
        self.main.programs.iter().filter_map(of).collect()
    }

    /// Replaces the index of the program in a block and inside it.
    fn rename(&mut self, block: Block, program: &WordMap<Value, Value>) {
        let mut inside = Vec::new();
        self.func.blocks[block].insts.iter().for_each(|&inst| self.func.walk_inst(inst, &mut inside));
        inside.iter().for_each(|&inst| self.func.insts[inst].map_operands(|v| program.get(&v).copied().unwrap_or(v)));
        for block in self.func.blocks.keys().collect::<Vec<_>>() {
            self.func.blocks[block].insts.retain(|inst| !self.main.programs.contains(inst));
        }
    }

    fn constant(&mut self, value: i128) -> Result<Value, String> {
        self.op(Op::Const { value: Constant::int(DType::I32, value) })
    }

    fn binary(&mut self, kind: BinaryKind, a: Value, b: Value) -> Result<Value, String> {
        self.op(Op::Binary { kind, a, b })
    }

    fn op(&mut self, op: Op) -> Result<Value, String> {
        self.func.compute(op, self.span, &mut self.insts)
    }
}
