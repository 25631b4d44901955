//! Persistent programs, at stage 2: a block runs one program after the other, and fills its ring for the next one meanwhile.
//!
//! *Before:* a block runs one program, whose loop multiplies what bulk copies bring. Nothing is multiplied until the first item has
//! arrived, nor while the result is stored. *After:* as many blocks run as are resident together. Block `b` of `B` runs the programs
//! `b`, `b + B`, .. in the order of [`Function::raster`]; items are counted on from program to program. The last turns of a program's loop
//! have no items of its own to fill, and fill the first ones of the next program. They arrive while the result is converted and stored.
//! (CUTLASS calls such a kernel persistent; Osama et al., "Stream-K", PPoPP 2023, section 3, names its schedule data-parallel.)
//!
//! Turns can tell which item of the next program they fill where the loop counts up from 0 by a constant, as often in every program, and at
//! least as often as items are filled ahead. Otherwise the first items of the next program are filled after the loop.
//!
//! It is done where a loop of the kernel's own block has the one ring, which bulk copies fill, and a product of it is
//! in flight; where what is loaded follows from the program's index, the arguments and the loop's counter; and where
//! the ring and all other buffers lie beside each other in shared memory. A program that may wait for another one is
//! left as it is (`map_programs`).
//!
//! What does not depend on the program is computed once, before the loop over programs. The rest is its body.

use crate::analysis::defs::Defs;
use crate::analysis::remat::{self, Divisions, Remat, Supply};
use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, BlockData, Function, Inst, InstData, Value, in_flight};
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{Effect, GridAxis, Location, Op, Values};
use crate::passes::Env;
use crate::passes::memory::map_programs;
use crate::span::Span;
use crate::types::{Constant, DType};

/// Fewest slots of a ring that is worth it: with two, a product waits for its operands in every turn.
pub(crate) const FEWEST_SLOTS: u32 = 3;

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
    let resident = |bytes: u64| env.target.resident_blocks(func.threads(), 0, bytes as u32);
    // Each slot has an mbarrier.
    let of_all = of_all + 256;
    of_all <= env.target.shared_bytes().into() && resident(of_all) >= resident(of_ring)
}

/// The loop with the ring, in the kernel's own block.
struct MainLoop {
    inst: Inst,
    /// The fills before it, in order.
    fills: Vec<Inst>,
    /// What asks for the program's index, anywhere.
    programs: Vec<Inst>,
    defs: Defs,
    /// Of the values of the kernel's own block and of the loop's, what depends on the program or the loop's counter, or
    /// is neither a scalar that nothing but arguments decide nor a buffer of the ring.
    varies: SideTable<Value, bool>,
}

impl MainLoop {
    fn of(func: &Function, env: &Env) -> Option<MainLoop> {
        let mut rings = func.rings.keys();
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
            in_flight::is_product(&data.op) && data.results.iter().any(|sum| func.yielded(body).contains(sum))
        };
        let bytes = |&(_, buffer): &(Inst, Value)| func.buffer_bytes(buffer);
        let buffers = func.buffers();
        let of_ring = buffers.iter().filter(|&&(_, buffer)| func.ring_of(buffer).is_some()).map(bytes).sum();
        let fits = fits(func, env, of_ring, buffers.iter().map(bytes).sum());
        let walk = func.walk();
        // Which program failed is not known of a block that runs several.
        let asserts = walk.iter().any(|&inst| matches!(func.insts[inst].op, Op::Assert { .. }));
        if !func.rings[ring].fill.is_bulk()
            || func.rings[ring].slots < FEWEST_SLOTS
            || !func.block(body).any(goes_on)
            || !fits
            || asserts
            || walk.iter().any(|&inst| map_programs::waits(func, inst))
        {
            return None;
        }
        let before = insts.iter().take_while(|&&other| other != inst);
        let is_fill = |&inst: &Inst| matches!(func.insts[inst].op, Op::RingFill { .. });
        let fills = before.copied().filter(is_fill).collect();
        let mut varies = SideTable::new(false);
        for (_, data) in func.block(func.body) {
            let mut fixed = data.op.effect() == Effect::Pure && !matches!(data.op, Op::ProgramId { .. });
            data.for_each_operand(|v| fixed &= !varies[v]);
            for &result in &data.results {
                varies[result] = (!fixed || func.place_of[result].is_some()) && func.ring_of(result).is_none();
            }
        }
        func.block(body).for_each(|(_, data)| data.results.iter().for_each(|&result| varies[result] = true));
        let programs = walk.into_iter().filter(|&inst| matches!(func.insts[inst].op, Op::ProgramId { .. })).collect();
        let main = MainLoop { inst, fills, programs, defs: Defs::of(func), varies };
        let mut operands = Vec::new();
        main.fills.iter().for_each(|&fill| func.insts[fill].for_each_operand(|v| operands.push(v)));
        main.slice(func, operands).is_some().then_some(main)
    }

    /// What computes scalars once more for another program; `None` if something cannot.
    fn slice(&self, func: &Function, values: impl IntoIterator<Item = Value>) -> Option<Vec<Inst>> {
        let supply = |v: Value| if self.varies[v] { Supply::Recomputed } else { Supply::Available };
        let remat = Remat { func, defs: &self.defs, tiles: false, divisions: Divisions::Any, reads: None };
        remat.slice(values, supply)
    }

    /// Whether the last iterations of the loop fill the first items of the next program; if so, the end of the loop and its step.
    fn ahead(&self, func: &Function) -> Option<(Value, Value)> {
        let Op::For { start, end, step } = func.insts[self.inst].op else { return None };
        let constant = |value: Value| {
            let value = self.defs.constant(func, value)?;
            value.as_int().filter(|_| value.dtype == DType::I32)
        };
        let counts = constant(start) == Some(0) && constant(step).is_some_and(|step| step > 0) && !self.varies[end];
        let same = self.last(func).is_some_and(|when| !self.varies[when]);
        let known = func.block(func.insts[self.inst].regions[0]).all(|(_, data)| {
            let Op::RingFill { from, .. } = data.op else { return true };
            !from.any(|v| self.slice(func, [v]).is_none())
        });
        (counts && same && known).then_some((end, step))
    }

    /// Whether there is the last one of the items that are filled before the loop.
    fn last(&self, func: &Function) -> Option<Value> {
        let Op::RingFill { when, .. } = func.insts[*self.fills.last()?].op else { return None };
        Some(when)
    }
}

/// The programs of a launch: how many along each axis, and in a plane of the first two.
struct Grid {
    extents: [Value; 3],
    plane: Value,
}

/// A fill of a program's first items: what it fills, the number of the item in the program, from where, and whether there is one.
type PrologueFill = (Value, Value, Location, Value);

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
        let (before, after) = (&body[..at], body[at + 1..].to_vec());
        let (outside, inside): (Vec<Inst>, Vec<Inst>) =
            before.iter().filter(|inst| !self.main.fills.contains(inst)).partition(|&&inst| self.is_outside(inst));

        // Before the loop over programs.
        self.insts = outside;
        let (block, blocks) = (self.op(Op::BlockId {})?, self.op(Op::NumBlocks {})?);
        let mut extents = [block; 3];
        for (axis, extent) in (0..).zip(&mut extents) {
            *extent = self.op(Op::NumPrograms { axis: GridAxis(axis) })?;
        }
        let plane = self.binary(BinaryKind::Mul, extents[0], extents[1])?;
        let (programs, grid) = (self.binary(BinaryKind::Mul, plane, extents[2])?, Grid { extents, plane });
        let none = self.constant(0)?;
        let first = self.program(block, &grid)?;
        let fills = self.prologue_fills(&mut self.of_program(first))?;
        self.fills(&fills, none, None)?;
        let span = self.main.ahead(self.func).map(|(end, step)| self.steps(end, step)).transpose()?;
        let prologue = std::mem::take(&mut self.insts);

        // Its body: what is known of the next program is computed before its own loop, whose first item takes longer to arrive. A turn
        // carries the item, as the loop does, and the program's indices.
        let copies = |func: &mut Function, values: &[Value]| -> Vec<Value> {
            values.iter().map(|&v| func.types.push(func.ty(v))).collect()
        };
        let params = copies(self.func, &[block, none, first[0], first[1], first[2]]);
        let [index, item, ref current @ ..] = params[..] else { return Err(UNCOUNTED.into()) };
        let current = self.of_program([current[0], current[1], current[2]]);
        let next = self.binary(BinaryKind::Add, index, blocks)?;
        let any = self.op(Op::Compare { kind: CompareKind::Lt, a: next, b: programs })?;
        // Behind the last program, what is computed of the next one is that of the last.
        let less = self.constant(-1)?;
        let most = self.binary(BinaryKind::Add, programs, less)?;
        let next = self.binary(BinaryKind::Min, next, most)?;
        let next = self.program(next, &grid)?;
        let mut known = self.of_program(next);
        let fills = self.prologue_fills(&mut known)?;
        let ahead = match (span, self.main.last(self.func)) {
            (Some(span), Some(last)) => {
                self.ahead(span, last, any, known)?;
                Some(last)
            }
            (Some(_) | None, _) => None,
        };
        self.insts.extend(inside);
        self.insts.push(main);
        *self.func.insts[main].args.last_mut().ok_or(UNCOUNTED)? = item;
        let last = *self.func.insts[main].results.last().ok_or(UNCOUNTED)?;
        self.fills_after(ahead, &fills, last, any)?;
        // The first turn of the next program releases the item of the last product, as every turn does that of the one before.
        self.insts.extend(after);
        let insts = std::mem::take(&mut self.insts);
        let region = self.func.blocks.push(BlockData { params, insts });
        let [x, y, z] = next;
        self.func.append_structured(region, Op::Yield {}, vec![last, x, y, z], Vec::new(), &[], self.span);
        self.rename(region, &current);

        self.func.blocks[own].insts = prologue;
        let each = Op::For { start: block, end: programs, step: blocks };
        let [x, y, z] = first;
        let types = [none, x, y, z].map(|v| self.func.ty(v));
        self.func.append_structured(own, each, vec![none, x, y, z], vec![region], &types, self.span);
        Ok(())
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

    /// The steps that a loop from 0 takes, as long as all of them are.
    fn steps(&mut self, end: Value, step: Value) -> Result<Value, String> {
        let (less, one) = (self.constant(-1)?, self.constant(1)?);
        let last = self.binary(BinaryKind::Add, end, less)?;
        let turns = self.binary(BinaryKind::Div, last, step)?;
        let turns = self.binary(BinaryKind::Add, turns, one)?;
        self.binary(BinaryKind::Mul, turns, step)
    }

    /// The first fills of a program of which this is known.
    fn prologue_fills(&mut self, known: &mut WordMap<Value, Value>) -> Result<Vec<PrologueFill>, String> {
        let mut first = Vec::new();
        for fill in self.main.fills.clone() {
            self.span = self.func.insts[fill].span;
            let mut op = self.func.insts[fill].op;
            op.try_map_operands(|v| self.rematerialise(v, known))?;
            if let Op::RingFill { buffer, item, from, when } = op {
                first.push((buffer, item, from, when));
            }
        }
        Ok(first)
    }

    /// Fills the first items of a program from this one on, if there is such a program.
    fn fills(&mut self, fills: &[PrologueFill], first: Value, any: Option<Value>) -> Result<(), String> {
        // The item whose buffers are filled: its number in the program, what it is counted as, and whether there is one.
        let mut open: Option<(Value, Value, Value)> = None;
        for &(buffer, number, from, when) in fills {
            let (_, item, when) = match open.filter(|&(of, ..)| of == number) {
                Some(same) => same,
                None => {
                    let item = self.binary(BinaryKind::Add, first, number)?;
                    let when = any.map_or(Ok(when), |any| self.binary(BinaryKind::And, when, any))?;
                    (number, item, when)
                }
            };
            open = Some((number, item, when));
            let fill = self.func.make(Op::RingFill { buffer, item, from, when }, self.span)?;
            self.insts.push(fill);
        }
        Ok(())
    }

    /// The same after the loop, unless its last turns have done it.
    fn fills_after(
        &mut self,
        ahead: Option<Value>,
        fills: &[PrologueFill],
        first: Value,
        any: Value,
    ) -> Result<(), String> {
        let Some(cond) = ahead else { return self.fills(fills, first, Some(any)) };
        let before = std::mem::take(&mut self.insts);
        self.fills(fills, first, Some(any))?;
        let insts = [Vec::new(), std::mem::replace(&mut self.insts, before)];
        let regions = insts.map(|insts| {
            let region = self.func.blocks.push(BlockData { params: Vec::new(), insts });
            self.func.append_structured(region, Op::Yield {}, Vec::new(), Vec::new(), &[], self.span);
            region
        });
        let (args, results) = (Vec::new(), Vec::new());
        let choice = InstData { op: Op::If { cond }, args, regions: regions.to_vec(), results, span: self.span };
        self.insts.push(self.func.insts.push(choice));
        Ok(())
    }

    /// Lets the iterations of the loop that have no item to fill fill one of the next program, of which this is known. It is at the loop's
    /// counter less the `span` of all turns; there are as many turns if `last` holds, the condition of the last item before the loop.
    fn ahead(&mut self, span: Value, last: Value, any: Value, known: WordMap<Value, Value>) -> Result<(), String> {
        let may = self.binary(BinaryKind::And, last, any)?;
        let before = std::mem::take(&mut self.insts);
        let region = self.func.insts[self.main.inst].regions[0];
        let counter = self.func.blocks[region].params[0];
        let mut known = known;
        // What does not depend on the turn was computed before it.
        let mut whens: WordMap<Value, Value> = WordMap::default();
        for inst in self.func.blocks[region].insts.clone() {
            if let Op::RingFill { buffer, item, mut from, when } = self.func.insts[inst].op {
                self.span = self.func.insts[inst].span;
                if whens.is_empty() {
                    let shifted = self.binary(BinaryKind::Sub, counter, span)?;
                    known.insert(counter, shifted);
                }
                if let Location::View { at, .. } = &mut from {
                    let mut chosen = Vec::with_capacity(at.as_slice().len());
                    for &own in at.as_slice() {
                        let other = self.rematerialise(own, &mut known)?;
                        chosen.push(self.select(when, own, other)?);
                    }
                    *at = Values::new(&chosen).ok_or("a view of too many axes")?;
                }
                let when = match whens.get(&when) {
                    Some(&either) => either,
                    None => {
                        let either = self.binary(BinaryKind::Or, when, may)?;
                        whens.insert(when, either);
                        either
                    }
                };
                self.func.insts[inst].op = Op::RingFill { buffer, item, from, when };
            }
            self.insts.push(inst);
        }
        self.func.blocks[region].insts = std::mem::replace(&mut self.insts, before);
        Ok(())
    }

    fn select(&mut self, cond: Value, a: Value, b: Value) -> Result<Value, String> {
        if a == b { Ok(a) } else { self.op(Op::Select { cond, a, b }) }
    }

    /// A scalar of another program.
    fn rematerialise(&mut self, value: Value, known: &mut WordMap<Value, Value>) -> Result<Value, String> {
        let slice = self.main.slice(self.func, [value]).ok_or("a scalar of this program alone")?;
        remat::repeat(self.func, &slice, known, self.span, &mut self.insts)?;
        Ok(known.get(&value).copied().unwrap_or(value))
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
